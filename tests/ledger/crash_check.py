"""What must hold after any crash: every answer that left is stored and paid for; every sum is what the lines say."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ledger import crash_answers as answers

from thresher.errors import LedgerError, ThresherError
from thresher.ledger import Book, StoredRelease, open_book


@dataclass
class Findings:
    """What was looked at and what was wrong."""

    counts: Counter = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def __iadd__(self, other: "Findings") -> "Findings":
        self.counts += other.counts
        self.wrong += other.wrong
        return self

    def __str__(self) -> str:
        return ", ".join(f"{count} {name}" for name, count in sorted(self.counts.items()))


def check(url: str, emitted: dict[str, bytes], anchor: Path | None = None, *, accept_anchor: bool = False) -> Findings:
    """Open the book that a dead worker left, and compare it with what left the worker."""
    found = Findings(Counter(trials=1, compared=len(emitted)))
    try:
        book = open_book(url, anchor=anchor, accept_anchor=accept_anchor)
    except LedgerError as error:
        found.counts["refused"] += 1
        found.wrong.append(f"not opened: {type(error).__name__}: {error}")
        return found
    try:
        _check_sums(book, found)
        _check_answers(book, emitted, found)
        book.verify()
    finally:
        book.close()
    return found


def _check_sums(book: Book, found: Findings) -> None:
    """Derived here by addition alone: every worker asks about the whole table, so amounts add up."""
    made, owed = {}, Counter()
    for entry in book.entries():
        if entry.kind == "reserve":
            made[entry.sequence] = entry
            for payer in {"", entry.analyst}:
                owed[payer] += answers.worst_nano(entry.facts["key"])
        elif entry.kind in ("settle", "forfeit"):
            reservation = made.pop(entry.facts["reservation"])
            key = reservation.facts["key"]
            given_back = answers.worst_nano(key) - answers.charged_nano(key) if entry.kind == "settle" else 0
            for payer in {"", reservation.analyst}:
                owed[payer] -= given_back
        found.counts[entry.kind] += 1
    for balance in book.balances():
        if balance.spent.nano != owed[balance.analyst]:
            found.wrong.append(f"account {balance.analyst!r}: {balance.spent.nano} nano, owed {owed[balance.analyst]}")
        if balance.reserved:
            found.wrong.append(f"{balance.reserved} reservations of dead workers are open still")
    if made:
        found.wrong.append(f"reservations {sorted(made)} have not ended")


def _check_answers(book: Book, emitted: dict[str, bytes], found: Findings) -> None:
    before = len(book.entries())
    for key, body in emitted.items():
        try:
            stored = answers.reserve(book, key)
        except ThresherError as error:
            stored = error
        if not isinstance(stored, StoredRelease) or stored.body != body or body != answers.release(key):
            found.counts["forgotten"] += 1
            found.wrong.append(f"the answer to {key} left, but the book has {type(stored).__name__}")
            if not isinstance(stored, StoredRelease | ThresherError):
                book.cancel(stored)
    if len(book.entries()) != before and not found.counts["forgotten"]:
        found.wrong.append("handing out stored answers wrote lines")
