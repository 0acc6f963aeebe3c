"""The journal: the lines of a book in a store, with an anchor outside. Each line is written to disk, or not at all.

A journal is opened only when all of it is verified. After a failed commit nobody knows what is on disk, so the journal
stops: it writes nothing until it is opened again, which verifies all of it.
Reads and writes: one store, one anchor. Never: goes on after a failure that it does not understand.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from thresher.amounts import Epsilon
from thresher.errors import LedgerError, LedgerStoppedError
from thresher.ledger import anchor as anchors
from thresher.ledger.entries import Entry, Head
from thresher.ledger.old_books import subjects_of
from thresher.ledger.owners import is_gone, process_name
from thresher.ledger.records import RESERVED, Account, Reservation
from thresher.ledger.rules import after_ending, apply, told
from thresher.ledger.stores.book_tables import CommitFailedError, Tables
from thresher.ledger.stores.database import DatabaseStore
from thresher.ledger.verify import Verification, verified_book

Write = Callable[..., Entry]


class Journal:
    """The journal of one book. Threads may share it; before a fork its connections are closed in both processes."""

    def __init__(
        self,
        store: DatabaseStore[Any],
        anchor: anchors.Anchor | None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store, self._anchor, self._clock = store, anchor, clock
        self._stopped: str | None = "it has not been verified yet"
        self._first: str | None = None

    def recover(self, *, accept_anchor: bool = False, make: bool = False) -> Verification:
        """Open or reopen the book: check all of it, then allow writing. There is no other way out of a stop."""
        self._stopped = "it has not been verified since it was opened"
        try:
            return self._recover(accept_anchor=accept_anchor, make=make)
        except BaseException as error:
            # The last steps of opening are allowed to write. If one fails, that permission is taken back.
            self._stopped = "it could not be opened again"
            self._store.close()
            if isinstance(error, OSError) and self._anchor:
                raise LedgerError(
                    f"the anchor {self._anchor.path} cannot be read or written ({error.strerror}). "
                    "Check its folder, the rights on it, and the disk"
                ) from error
            raise

    def _recover(self, *, accept_anchor: bool, make: bool) -> Verification:
        self._store.close()
        self._store.prepare(make=make, migrate=lambda tables: self._migrate(tables, accept_anchor=accept_anchor))
        # The anchor is read before the book, because another process may add to both in between.
        known = self._anchor.read() if self._anchor else None
        with self._store.reading() as tables:
            report = verified_book(tables)
            first = tables.hash_at(1)
            if known is not None:
                anchors.check(known, first, tables.hash_at(known[1].sequence), report.head)
        if self._anchor and known is None and report.entries > 1 and not accept_anchor:
            if self._anchor.read() is not None:
                # Another process has just begun this book, and wrote its anchor after it was read above.
                return self._recover(accept_anchor=accept_anchor, make=make)
            raise anchors._missing(self._anchor.path)
        # This must come before the anchor follows the book, and before a stored answer is handed out again.
        self._store.make_durable()
        self._stopped = None
        self._first = first or self._begin()
        if self._anchor:
            self._anchor.move(self._first, Head(1, self._first) if first is None else report.head)
        self._forfeit_orphans()
        return report

    def _migrate(self, tables: Tables, *, accept_anchor: bool) -> None:
        """Add to an older book a line for each charged account that says what its losses are about.

        An older copy, a book without its anchor and a damaged book are refused, and stay as they were.
        """
        head = tables.head()
        known = self._anchor.read() if self._anchor else None
        if known is not None:
            anchors.check(known, tables.hash_at(1), tables.hash_at(known[1].sequence), head)
        elif self._anchor and head.sequence > 1 and not accept_anchor:
            raise anchors._missing(self._anchor.path)
        verified_book(tables, before_version_3=True)
        for account, subject in subjects_of(Entry.read(*line) for _, *line in tables.lines()).items():
            self._write(tables, "subject", account, "", {"subject": subject})

    def _begin(self) -> str:
        """Write the first line, unless another process was faster. Return its hash, which names the book."""
        with self._writing() as (tables, write):
            if tables.head().sequence == 0:
                write("book", "", "", {"made_by": process_name()})
            return tables.hash_at(1) or ""

    def _forfeit_orphans(self) -> None:
        """Forfeit the reservations of processes that are certainly gone, because their answers can never come."""
        with self._store.reading() as tables:
            orphans = [reserved for reserved in tables.open_reservations() if is_gone(reserved.owner)]
        for orphan in orphans:
            with self._writing() as (tables, write):
                found = tables.reservation(orphan.sequence)
                if found is not None and found.state == RESERVED:
                    write_end(tables, write, found, "forfeit", {})

    def verify(self) -> Verification:
        """Check the chain, every sum and every release again; `LedgerCorruptError` names the first bad entry."""
        with self._store.reading() as tables:
            return verified_book(tables)

    def close(self) -> None:
        """Close the connections. The book is not used again until `recover`."""
        self._stopped = "it was closed"
        self._store.close()

    @contextmanager
    def _writing(self) -> Iterator[tuple[Tables, Write]]:
        """Open one writing transaction; after its commit the anchor follows. A failed commit stops the book."""
        self._check_running()
        head: Head | None = None
        try:
            with self._store.writing() as tables:

                def write(*line: Any) -> Entry:
                    nonlocal head
                    entry = self._write(tables, *line)
                    head = entry.head
                    return entry

                yield tables, write
        except CommitFailedError as error:
            self._stopped = "a commit failed, and what is on disk is unknown"
            raise LedgerStoppedError(
                f"{self._stopped}. No answer is given. Reopen the ledger, which verifies it"
            ) from error
        if head is not None and self._first is not None and self._anchor:
            try:
                self._anchor.move(self._first, head)
            except OSError as error:
                self._stopped = "the anchor could not be written"
                raise LedgerStoppedError(f"{self._stopped}. The charge stands, and no answer is given") from error

    def _write(
        self,
        tables: Tables,
        kind: str,
        account: str,
        analyst: str,
        facts: dict[str, Any],
        standing: Sequence[Account] | None = None,
    ) -> Entry:
        """Carry out one more line, and add it to the book."""
        # The time is for people to read. The order of lines is that of their numbers, so a clock set back does no harm.
        now = self._clock().isoformat(timespec="milliseconds")
        entry = Entry.after(tables.head(), now, kind, account, analyst, facts)
        apply(entry, tables, standing)
        tables.append(entry)
        return entry

    def _check_running(self) -> None:
        if self._stopped is not None:
            raise LedgerStoppedError(f"the ledger is stopped, because {self._stopped}. Reopen it, which verifies it")


def write_end(tables: Tables, write: Write, held: Reservation, kind: str, facts: dict[str, Any]) -> Epsilon:
    """Write the line that ends a reservation, with the losses after it. Return the loss of the account."""
    standing = after_ending(tables, held, kind, facts)
    said = {**facts, "loss": told(standing), "reservation": held.sequence}
    write(kind, held.account, held.analyst, said, standing)
    return standing[0].loss
