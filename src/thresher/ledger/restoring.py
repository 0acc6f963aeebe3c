"""A ledger that was restored from a backup: charge what its anchor has seen, and go on.

The backup has forgotten lines, and with them losses, keys and refinements. The anchor knows how much each account had
lost, but not where, so each account is charged with that sum in every region. No answer of before can be refined,
because its refinement may be among what was forgotten; and steps of streams that the anchor has seen are never drawn.
Reads: the anchor. Writes: one line for each account, then the anchor. Never: gives back what the backup still knows.
"""

from dataclasses import dataclass

from thresher.amounts import Epsilon
from thresher.errors import ArgumentError, LedgerRolledBackError
from thresher.ledger.anchor import Anchor, AnchoredAccount, AnchoredBook
from thresher.ledger.book import Book
from thresher.ledger.entries import Head
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
    seen = anchor.read()
    if seen is None:
        raise ArgumentError(
            "anchor", str(anchor.path), "there is no such file", "Name the newest anchor of this ledger with --anchor"
        )
    return book.restored(lambda tables, write: _charge(tables, write, seen), seen)


def _charge(tables: Tables, write: Write, seen: AnchoredBook) -> Restored:
    """Write the lines of a restoration, in one transaction."""
    _check(tables, seen, tables.head())
    before = tables.head().sequence
    # A copy that is as long went on without what the anchor saw, so that the losses of both came about.
    went_on = before >= seen.head.sequence
    for reserved in tables.open_reservations():
        write_end(tables, write, reserved, "forfeit", {})
    anchored = {(held.name, held.analyst): held for held in seen.accounts}
    for name, analyst, cap, loss, facts in tables.totals():
        anchored.setdefault(
            (name, analyst), AnchoredAccount(name, analyst, cap, loss, steps_in(facts), is_by_step(facts))
        )
    # A table's own account comes before the parts of its analysts.
    ordered = sorted(anchored.values(), key=lambda held: (held.name, held.analyst))
    charged = tuple(_raise(tables, write, held, went_on=went_on and held in seen.accounts) for held in ordered)
    return Restored(charged, max(0, seen.head.sequence - before))


def _raise(tables: Tables, write: Write, held: AnchoredAccount, *, went_on: bool) -> tuple[str, str, Epsilon, Epsilon]:
    """Charge one account with the larger of the two losses, or with both; raise its cap if it would not hold that."""
    account = tables.account(held.name, held.analyst)
    before = Epsilon(0) if account is None else account.loss
    anchored = Epsilon.from_nano(held.loss)
    loss = before + anchored if went_on else max(before, anchored)
    if account is None:
        cap = loss.nano if held.cap is None else max(held.cap, loss.nano)
        write("account", held.name, held.analyst, {"cap": cap})
    elif account.cap is not None and account.cap < loss:
        write("cap", held.name, held.analyst, {"cap": loss.nano})
    steps = [list(step) for step in held.steps]
    facts = {"by_step": held.by_step, "loss": {held.analyst: loss.nano}, "steps": steps}
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
