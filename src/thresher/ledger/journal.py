"""The journal: the lines of a book in a store, with an anchor outside. Each line is written to disk, or not at all.

A journal is opened only when all of it is verified. After a failed commit nobody knows what is on disk, so the journal
stops: it writes nothing until it is opened again, which verifies all of it. The last line that this process has seen is
remembered: a store that lacks it, as after a failover to an older copy, stops the journal as well.
Reads and writes: one store, one anchor. Never: goes on after a failure that it does not understand.
"""

import logging
import platform
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar

from thresher.amounts import Epsilon
from thresher.errors import LedgerCorruptError, LedgerError, LedgerRolledBackError, LedgerStoppedError
from thresher.ledger import anchor as anchors
from thresher.ledger.anchor import AnchoredAccount, AnchoredBook
from thresher.ledger.entries import Entry, Head
from thresher.ledger.leases import LEASE_SECONDS, Leases
from thresher.ledger.old_books import subjects_of
from thresher.ledger.owners import is_gone, process_name
from thresher.ledger.records import RESERVED, Account, Reservation
from thresher.ledger.rules import after_ending, apply, told
from thresher.ledger.stores.book_tables import CommitFailedError, Tables, is_by_step, lines_in, steps_in
from thresher.ledger.stores.database import DatabaseStore
from thresher.ledger.verify import Verification, verified_book

Write = Callable[..., Entry]
T = TypeVar("T")
_log = logging.getLogger("thresher.ledger")
_CLOSED = "it was closed"
_SET_BACK = "the ledger was set back to an older copy while it was open"


class Journal:
    """The journal of one book. Threads may share it; before a fork its connections are closed in both processes."""

    def __init__(
        self,
        store: DatabaseStore[Any],
        anchor: anchors.Anchor | None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self._store, self._anchor, self._clock = store, anchor, clock
        self._stopped: str | None = "it has not been verified yet"
        self._first: str | None = None
        # The last line that this process has seen, whatever anchor there is.
        self._seen: Head | None = None
        # Reservations of this book that could not be ended. They are forfeited when the book recovers.
        self._unended: set[int] = set()
        self.leases = Leases(self._renew, lease_seconds)

    @property
    def anchor(self) -> anchors.Anchor | None:
        """Return the anchor of the book, if it has one."""
        return self._anchor

    @property
    def stopped(self) -> bool:
        """Tell whether the book stopped after a failure, and must be opened again before it is used."""
        return self._stopped not in (None, _CLOSED)

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
                raise _unwritable(self._anchor, error) from error
            raise

    def _recover(self, *, accept_anchor: bool, make: bool) -> Verification:
        self._store.close()
        if self._anchor and make:
            # A folder that is missing is the ledger's fault before it is the anchor's.
            self._store.check_place(make=make)
            self._anchor.check_place()
        self._store.prepare(make=make, migrate=lambda tables: self._migrate(tables, accept_anchor=accept_anchor))
        # The anchor is read before the book, because another process may add to both in between.
        known = self._anchor.read() if self._anchor else None
        with self._store.reading() as tables:
            report = verified_book(tables)
            first = tables.hash_at(1)
            self._compare(tables, self._seen, known)
            accounts = _anchored(tables)
        new_host = self._anchor is not None and known is None and report.entries > 1 and not accept_anchor
        if self._anchor and new_host and not self._anchor.optional:
            if self._anchor.read() is not None:
                # Another process has just begun this book, and wrote its anchor after it was read above.
                return self._recover(accept_anchor=accept_anchor, make=make)
            raise anchors.missing_anchor(self._anchor.path)
        # This must come before the anchor follows the book, and before a stored answer is handed out again.
        self._store.make_durable()
        self._stopped = None
        self._first = first or self._begin()
        self._seen = Head(1, self._first) if first is None else report.head
        # From here on the file must be there: it is written in place.
        self._make_anchor(AnchoredBook(self._first, self._seen, accounts), known)
        if new_host:
            self._note_new_host(report)
        self._end_orphans()
        return report

    def _make_anchor(self, seen: AnchoredBook, known: AnchoredBook | None) -> None:
        """Write the anchor anew, on disk, unless another process has moved it since. An optional one may be lacking."""
        if self._anchor is None:
            return
        try:
            if known is None or known.head.sequence <= seen.head.sequence:
                self._anchor.make(seen, unless_later=True)
        except OSError as error:
            if not self._anchor.optional:
                raise
            self._anchor = None
            _log.warning(
                "The ledger opens without an anchor, which would show that it is not an older copy: its folder cannot "
                "be written (%s). Name a place for one with [ledger] anchor",
                error.strerror,
            )

    def _note_new_host(self, report: Verification) -> None:
        """Say that this host has no anchor yet, and write a line about it, once for each host."""
        host = platform.node()
        if self._anchor:
            _log.warning("This host has no anchor of the ledger yet. One is made now: %s", self._anchor.path)
        if host not in report.hosts:
            with self._writing() as (_, write):
                write("anchor", "", "", {"host": host, "kept": self._anchor is not None})

    def _migrate(self, tables: Tables, *, accept_anchor: bool) -> None:
        """Bring the rows of an older book up to date, and add what its lines do not say of accounts.

        An older copy, a book without its anchor and a damaged book are refused, and stay as they were.
        """
        head = tables.head()
        known = self._anchor.read() if self._anchor else None
        if known is not None:
            anchors.check(known, tables.hash_at(1), tables.hash_at(known.head.sequence), head)
        elif self._anchor and not self._anchor.optional and head.sequence > 1 and not accept_anchor:
            raise anchors.missing_anchor(self._anchor.path)
        budgets = verified_book(tables, of_an_older_version=True).budgets
        for budget in budgets:
            tables.put_account(budget)
        silent = {budget.name for budget in budgets if budget.subject is None and not budget.analyst}
        for account, subject in subjects_of(Entry.read(*line) for _, *line in tables.lines()).items():
            if account in silent:
                self._write(tables, "subject", account, "", {"subject": subject})

    def restored(self, charge: Callable[[Tables, Write], T], seen: AnchoredBook) -> T:
        """Open a book that was restored from a backup, once `charge` has charged to it what the anchor has seen.

        The book is verified first, and what is charged is one transaction. Then the anchor is written anew.
        """
        try:
            return self._restored(charge, seen)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError) and self._anchor:
                raise _unwritable(self._anchor, error) from error
            raise

    def _restored(self, charge: Callable[[Tables, Write], T], seen: AnchoredBook) -> T:
        self._stopped = "it has not been verified since it was opened"
        self._store.close()
        self._store.prepare(make=False, migrate=lambda tables: self._migrate(tables, accept_anchor=True))
        with self._store.reading() as tables:
            verified_book(tables)
        self._store.make_durable()
        # The numbers of lines mean other lines now.
        self._unended.clear()
        anchor, self._anchor, self._stopped, self._seen = self._anchor, None, None, None
        try:
            with self._writing() as (tables, write):
                result = charge(tables, write)
        finally:
            self._stopped, self._anchor = "it has not been verified since it was restored", anchor
        if anchor:
            with self._store.reading() as tables:
                anchor.make(AnchoredBook(seen.book, tables.head(), _anchored(tables)))
        self.recover()
        return result

    def _begin(self) -> str:
        """Write the first line, unless another process was faster. Return its hash, which names the book."""
        with self._writing() as (tables, write):
            if tables.head().sequence == 0:
                write("book", "", "", {"made_by": process_name()})
            return tables.hash_at(1) or ""

    def _end_orphans(self) -> None:
        """Forfeit what can never be answered: reservations of dead processes, and those that could not be ended."""
        with self._reading() as tables:
            orphans = [
                reserved
                for reserved in tables.open_reservations()
                if reserved.sequence in self._unended or is_gone(reserved.owner)
            ]
        for orphan in orphans:
            with self._writing() as (tables, write):
                found = tables.reservation(orphan.sequence)
                if found is not None and found.state == RESERVED:
                    write_end(tables, write, found, "forfeit", {})
        self._unended.clear()

    def verify(self) -> Verification:
        """Check the chain, every sum and every release again; `LedgerCorruptError` names the first bad entry."""
        with self._reading() as tables:
            return verified_book(tables)

    def close(self) -> None:
        """Close the connections. The book is not used again until `recover`."""
        self._stopped = _CLOSED
        self.leases.drop_all()
        self._store.close()

    @contextmanager
    def _reading(self) -> Iterator[Tables]:
        """Open one reading transaction, on a book that was not set back."""
        seen = self._seen
        with self._store.reading() as tables:
            self._compare(tables, seen, None)
            yield tables

    @contextmanager
    def _writing(self) -> Iterator[tuple[Tables, Write]]:
        """Open one writing transaction; after its commit the anchor follows. A failed commit stops the book.

        Under the lock the book is compared with what this process and the anchor have seen, and every reservation whose
        lease has run out is forfeited.
        """
        self._check_running()
        head: Head | None = None
        accounts: tuple[AnchoredAccount, ...] = ()
        try:
            with self._store.writing() as tables:

                def write(*line: Any) -> Entry:
                    nonlocal head
                    entry = self._write(tables, *line)
                    head = entry.head
                    return entry

                # What other threads have seen while this one waited for the lock counts too.
                self._compare(tables, self._seen, self._anchored() if self._first else None)
                _forfeit_lapsed(tables, write)
                yield tables, write
                if head is not None and self._anchor:
                    accounts = _anchored(tables)
        except CommitFailedError as error:
            self._stop("a commit failed, and what is on disk is unknown")
            raise LedgerStoppedError(
                f"{self._stopped}. No answer is given. Reopen the ledger, which verifies it"
            ) from error
        if head is not None:
            self._follow(head, accounts)

    def _follow(self, head: Head, accounts: tuple[AnchoredAccount, ...]) -> None:
        """Remember the line that was just committed, here and in the anchor."""
        if self._seen is None or self._seen.sequence < head.sequence:
            self._seen = head
        if self._first is not None and self._anchor:
            try:
                self._anchor.follow(AnchoredBook(self._first, head, accounts))
            except (OSError, LedgerCorruptError) as error:
                self._stop("the anchor could not be written")
                raise LedgerStoppedError(f"{self._stopped}. The charge stands, and no answer is given") from error

    def _anchored(self) -> AnchoredBook | None:
        """Read the anchor in the middle of a transaction. One that has vanished, or cannot be read, stops the book."""
        if self._anchor is None:
            return None
        try:
            known = self._anchor.read()
        except (OSError, LedgerCorruptError) as error:
            self._stop("its anchor cannot be read")
            raise LedgerStoppedError(
                f"the anchor {self._anchor.path} cannot be read. Nothing is charged. Restore it from a backup"
            ) from error
        if known is None:
            self._stop("its anchor has vanished")
            raise LedgerStoppedError(
                f"the anchor {self._anchor.path} has vanished while the ledger was open. Nothing is charged. Restore "
                "it from a backup, or, if this is the latest state of the ledger, make a new one with: "
                "thresher ledger verify --accept-anchor"
            )
        return known

    def _compare(self, tables: Tables, seen: Head | None, known: AnchoredBook | None) -> None:
        """Stop at a book that lacks the last line that this process, or the anchor, has seen."""
        head = tables.head()
        if seen is not None and seen != head and tables.hash_at(seen.sequence) != seen.hash:
            self._stop(_SET_BACK)
            raise LedgerRolledBackError(
                f"{_SET_BACK}: this process has seen entry {seen.sequence}, and the ledger now ends at entry "
                f"{head.sequence}, without it. Nothing is charged and no answer is given. Restore the newest copy of "
                "the ledger. If there is none, charge what its anchor has seen with: thresher ledger accept-restore"
            )
        if known is not None and known.head != head:
            try:
                anchors.check(known, tables.hash_at(1), tables.hash_at(known.head.sequence), head)
            except LedgerError:
                self._stop(_SET_BACK)
                raise

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

    def _renew(self, held: Collection[int]) -> None:
        """Extend the leases of reservations of this process, if they have not run out. No line is written.

        What goes wrong here is not raised, because nobody waits for it: the lease runs out, and its owner learns of it.
        """
        if self._stopped is not None:
            return
        try:
            with self._store.writing() as tables:
                now = tables.now()
                for sequence in held:
                    if tables.lease(sequence) >= now:
                        tables.put_lease(sequence, now + self.leases.milliseconds)
        except (LedgerError, CommitFailedError):
            return

    def _stop(self, why: str) -> None:
        self._stopped = why
        self.leases.drop_all()

    def _check_running(self) -> None:
        if self._stopped is not None:
            raise LedgerStoppedError(f"the ledger is stopped, because {self._stopped}. Reopen it, which verifies it")


def write_end(tables: Tables, write: Write, held: Reservation, kind: str, facts: dict[str, Any]) -> Epsilon:
    """Write the line that ends a reservation, with the losses after it. Return the loss of the account."""
    standing = after_ending(tables, held, kind, facts)
    said = {**facts, "loss": told(standing), "reservation": held.sequence}
    write(kind, held.account, held.analyst, said, standing)
    return standing[0].loss


def _unwritable(anchor: anchors.Anchor, error: OSError) -> LedgerError:
    return LedgerError(
        f"the anchor {anchor.path} cannot be read or written ({error.strerror}). Check its folder, the rights on it, "
        "and the disk"
    )


def _forfeit_lapsed(tables: Tables, write: Write) -> None:
    """Forfeit the reservations whose lease has run out: whatever became of their owners, their answers are lost."""
    for reserved in tables.lapsed():
        write_end(tables, write, reserved, "forfeit", {})


def _anchored(tables: Tables) -> tuple[AnchoredAccount, ...]:
    return tuple(
        AnchoredAccount(name, analyst, cap, loss, steps_in(facts), is_by_step(facts), *lines_in(facts))
        for name, analyst, cap, loss, facts in tables.totals()
    )
