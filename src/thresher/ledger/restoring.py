"""A ledger that was restored from a backup: charge what its anchor has seen, and go on.

The backup has forgotten lines, and with them losses, keys and refinements. The anchor knows how much each account had
lost, but not where, so each account is charged with that sum in every region. No answer of before can be refined,
because its refinement may be among what was forgotten; and steps of streams that the anchor has seen are never drawn.
Reads: the anchor. Writes: one line for each account, then the anchor. Never: gives back what the backup still knows.
"""

from dataclasses import dataclass, replace

from thresher.amounts import Epsilon
from thresher.errors import ArgumentError, LedgerRolledBackError
from thresher.ledger.anchor import Anchor, AnchoredAccount, AnchoredBook
from thresher.ledger.book import Book
from thresher.ledger.entries import Entry, Head
from thresher.ledger.journal import Write, write_end
from thresher.ledger.stores.book_tables import Tables, is_by_step, steps_in


@dataclass(frozen=True, slots=True)
class Restored:
    """What was charged: for each account its loss in the backup and now; and the lines that were forgotten."""

    charged: tuple[tuple[str, str, Epsilon, Epsilon], ...]
    forgotten: int


def accept_restore(book: Book, anchor: Anchor) -> Restored:
    """Charge to a book what the anchor has seen of it, and let the anchor follow the book. The book is open afterwards.

    Refuses an anchor of another book, and one that the book is not behind: then there is nothing to accept.
    """
    try:
        seen = anchor.read()
    except OSError as error:
        fix = "Name the newest anchor of this ledger with --anchor"
        raise ArgumentError("anchor", str(anchor.path), f"it cannot be read ({error.strerror})", fix) from error
    if seen is None:
        raise ArgumentError(
            "anchor", str(anchor.path), "there is no such file", "Name the newest anchor of this ledger with --anchor"
        )
    if not seen.knows_losses:
        raise LedgerRolledBackError(
            f"the anchor {anchor.path} is of an earlier version and does not say what each account had lost, so nobody "
            "knows what to charge. Restore the newest copy of the ledger, or a newer anchor. Nothing was changed"
        )
    return book.restored(lambda tables, write: _charge(tables, write, seen), seen)


def _charge(tables: Tables, write: Write, seen: AnchoredBook) -> Restored:
    """Write the lines of a restoration, in one transaction."""
    _check(tables, seen, tables.head())
    before = tables.head().sequence
    for reserved in tables.open_reservations():
        write_end(tables, write, reserved, "forfeit", {})
    anchored = {(held.name, held.analyst): held for held in _by_name(tables, seen)}
    for held in _unseen(tables):
        anchored.setdefault((held.name, held.analyst), held)
    # A table's own account comes before the parts of its analysts.
    ordered = sorted(anchored.values(), key=lambda held: (held.name, held.analyst))
    apart = _went_on(tables, seen, before)
    anchor = [seen.head.sequence, _last_restored(seen)]
    charged = tuple(_raise(tables, write, held, anchor, apart=apart) for held in ordered)
    return Restored(charged, max(0, seen.head.sequence - before))


def _by_name(tables: Tables, seen: AnchoredBook) -> list[AnchoredAccount]:
    """Return the accounts that the anchor saw. If the backup forgot a rename, each may be any of them."""
    known = {held.name: held for held in tables.accounts() if not held.analyst}
    same = [
        not held.renamed or (held.name in known and known[held.name].renamed == held.renamed)
        for held in seen.accounts
        if not held.analyst
    ]
    if all(same):
        return list(seen.accounts)
    most: dict[str, int] = {}
    for held in seen.accounts:
        most[held.analyst] = max(held.loss, most.get(held.analyst, 0))
    steps = tuple(sorted({step for held in seen.accounts for step in held.steps}))
    either = {(held.name, held.analyst): held for held in (*_unseen(tables), *seen.accounts)}
    return [
        replace(held, loss=most.get(held.analyst, held.loss), steps=() if held.analyst else steps, by_step=False)
        for held in either.values()
    ]


def _unseen(tables: Tables) -> list[AnchoredAccount]:
    """Return the accounts of the backup as an anchor that has seen no loss of theirs would know them."""
    return [
        AnchoredAccount(name, analyst, cap, 0, steps_in(facts), is_by_step(facts))
        for name, analyst, cap, _, facts in tables.totals()
    ]


def _went_on(tables: Tables, seen: AnchoredBook, length: int) -> bool:
    """Say whether the book was charged after it was set back, so that its losses and the anchor's are of other answers.

    That is certain if the book is as long as the anchor's, or was restored from another anchor before. A shorter book
    is taken for an older copy that nobody has used.
    """
    then = {held.name: held.restored for held in seen.accounts if not held.analyst}
    now = {held.name: held.restored for held in tables.accounts() if not held.analyst and held.name in then}
    if length < seen.head.sequence and all(then[name] == line for name, line in now.items()):
        return False
    # What a later anchor of the same history saw is charged already.
    lines = (Entry.read(document, stored) for _, document, stored in tables.lines())
    restored = (entry.facts.get("anchor") for entry in lines if entry.kind == "restore")
    return not any(made and made[0] >= seen.head.sequence and made[1] == _last_restored(seen) for made in restored)


def _last_restored(seen: AnchoredBook) -> int:
    """Return the line that last restored the book, as the anchor knows it."""
    return max((held.restored for held in seen.accounts), default=0)


def _raise(
    tables: Tables, write: Write, held: AnchoredAccount, anchor: list[int], *, apart: bool
) -> tuple[str, str, Epsilon, Epsilon]:
    """Charge one account with the larger of the two losses, or, if they are of other answers, with both.

    Its cap is raised if it would not hold the loss.
    """
    account = tables.account(held.name, held.analyst)
    before = Epsilon(0) if account is None else account.loss
    seen = Epsilon.from_nano(held.loss)
    loss = before + seen if apart else max(before, seen)
    if account is None:
        cap = loss.nano if held.cap is None else max(held.cap, loss.nano)
        write("account", held.name, held.analyst, {"cap": cap})
    elif account.cap is not None and account.cap < loss:
        write("cap", held.name, held.analyst, {"cap": loss.nano})
    facts = {
        "anchor": anchor,
        "by_step": held.by_step,
        "loss": {held.analyst: loss.nano},
        "steps": [list(step) for step in held.steps],
    }
    write("restore", held.name, held.analyst, facts)
    return held.name, held.analyst, before, loss


def _check(tables: Tables, seen: AnchoredBook, head: Head) -> None:
    if tables.hash_at(1) != seen.book:
        raise LedgerRolledBackError(
            "the anchor belongs to another ledger. Name an anchor of this ledger with --anchor. Nothing was changed"
        )
    if tables.hash_at(seen.head.sequence) == seen.head.hash:
        raise ArgumentError(
            "anchor",
            f"entry {seen.head.sequence}",
            f"the ledger contains all that this anchor has seen, and ends at entry {head.sequence}",
            "There is nothing to accept: use the ledger as it is",
        )
