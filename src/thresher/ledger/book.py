"""The book: what may be lost, what is reserved, what has been lost, and what was answered for it.

    reserve  the worst case, durably, before any data is read
    settle   what was reached, in one transaction with the release; only then is the release handed out

A crash between the two leaves the worst case spent. An idempotency key is charged once for ever: the same key and
question give the stored bytes, the same key and another question are refused.
Reads and writes: one store, one anchor. Never: answers before the charge is on disk; writes after a failed commit.
What is promised and what is not: `docs/ledger.md`.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from thresher.accounting import RegionLosses, Spending, Subject
from thresher.amounts import Amount, Epsilon, whole_number
from thresher.errors import (
    ArgumentError,
    LedgerError,
    LedgerStoppedError,
    PendingError,
)
from thresher.ledger import anchor as anchors
from thresher.ledger.charge import MAX_NAME, Charge, checked_analyst, checked_key, checked_text
from thresher.ledger.entries import Entry, Head
from thresher.ledger.old_books import subjects_of
from thresher.ledger.owners import is_gone, this_process
from thresher.ledger.records import (
    Balance,
    Recalled,
    Reservation,
    State,
    StoredRelease,
    balance_of,
    existing,
    replayed,
    settlement,
)
from thresher.ledger.rules import (
    FORFEITED,
    RESERVED,
    Account,
    after_reserving,
    apply,
    facts_of_end,
    open_losses,
    told,
)
from thresher.ledger.stores import store_for
from thresher.ledger.stores.database import DatabaseStore
from thresher.ledger.stores.statements import CommitFailedError, Tables
from thresher.ledger.verify import Verification, verified

WAIT_SECONDS = 30.0
_POLL_SECONDS = 0.01


def open_book(url: str, *, anchor: Path | None = None, accept_anchor: bool = False, make: bool = True) -> "Book":
    """Open the ledger at `url`, verify it whole, and forfeit what dead processes reserved. `make`: if there is none.

    `anchor` says where its anchor lies; a SQLite ledger keeps it beside the file by default. `accept_anchor` makes a
    missing anchor anew: for a curator who knows why it is missing.
    """
    store, usual = store_for(url)
    place = usual if anchor is None else Path(anchor)
    book = Book(store, None if place is None else anchors.Anchor(place))
    book.recover(accept_anchor=accept_anchor, make=make)
    return book


class Book:
    """An open ledger. Safe to share between threads; a fork closes its connections first, in parent and child alike."""

    def __init__(
        self,
        store: DatabaseStore[Any],
        anchor: anchors.Anchor | None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store, self._anchor, self._clock = store, anchor, clock
        self._stopped: str | None = "it has not been verified yet"
        self._first: str | None = None

    # Opening and checking

    def recover(self, *, accept_anchor: bool = False, make: bool = False) -> Verification:
        """Open or reopen: check everything, then allow writing. The only way out of a stop."""
        self._stopped = "it has not been verified since it was opened"
        try:
            return self._recover(accept_anchor=accept_anchor, make=make)
        except BaseException as error:
            # Half-way is stopped: whatever was allowed for the last steps is taken back.
            self._stopped = "it could not be opened again"
            self._store.close()
            if isinstance(error, OSError) and self._anchor:
                raise LedgerError(
                    f"the anchor {self._anchor.path} cannot be read or written ({error.strerror}): "
                    "check its folder, its rights and the disk"
                ) from error
            raise

    def _recover(self, *, accept_anchor: bool, make: bool) -> Verification:
        self._store.close()
        self._store.prepare(make=make, migrate=lambda tables: self._migrate(tables, accept_anchor=accept_anchor))
        # Before the view of the book is taken: another process may move both on in between.
        known = self._anchor.read() if self._anchor else None
        with self._store.reading() as tables:
            report = verified(tables)
            first = tables.hash_at(1)
            if known is not None:
                anchors.check(known, first, tables.hash_at(known[1].sequence), report.head)
        if self._anchor and known is None and report.entries > 1 and not accept_anchor:
            if self._anchor.read() is not None:
                # Another process has just begun this book, and its anchor came between our two looks.
                return self._recover(accept_anchor=accept_anchor, make=make)
            raise anchors.missing(self._anchor.path)
        # Before the anchor follows it, or a stored answer is handed out again.
        self._store.make_durable()
        self._stopped = None
        self._first = first or self._begin()
        if self._anchor:
            self._anchor.move(self._first, Head(1, self._first) if first is None else report.head)
        self._forfeit_orphans()
        return report

    def _migrate(self, tables: Tables, *, accept_anchor: bool) -> None:
        """Write what an older book lacks: one line for each charged account, which says what its losses are about.

        Only in the latest state of a book that is whole; otherwise it stays as it was.
        """
        head = tables.head()
        known = self._anchor.read() if self._anchor else None
        if known is not None:
            anchors.check(known, tables.hash_at(1), tables.hash_at(known[1].sequence), head)
        elif self._anchor and head.sequence > 1 and not accept_anchor:
            raise anchors.missing(self._anchor.path)
        verified(tables, before_version_3=True)
        for account, subject in subjects_of(Entry.read(*line) for _, *line in tables.lines()).items():
            self._write(tables, "subject", account, "", {"subject": subject.to_json()})

    def verify(self) -> Verification:
        """Derive the chain, every sum and every release again; `LedgerCorruptError` names the first bad entry."""
        with self._store.reading() as tables:
            return verified(tables)

    def close(self) -> None:
        self._stopped = "it was closed"
        self._store.close()

    # Budgets

    def open_account(self, account: str, cap: Amount) -> None:
        """A budget for a table."""
        name, amount = checked_text(account, "account", MAX_NAME), Epsilon(cap)
        with self._writing() as (tables, write):
            if tables.account(name, "") is not None:
                raise ArgumentError("account", account, "it is open already", "Change its cap with set_cap")
            write("account", name, "", {"cap": amount.nano})

    def set_cap(self, account: str, cap: Amount, analyst: str = "") -> None:
        """Change a cap, or give one to an analyst. Never below what is spent."""
        amount = Epsilon(cap)
        checked_analyst(analyst)
        with self._writing() as (tables, write):
            existing(tables, account)
            held = tables.account(account, analyst)
            if held is not None and amount < held.loss:
                raise ArgumentError("cap", cap, f"{held.loss} is spent already", f"Pass {held.loss} or more")
            kind = "account" if held is None else "cap"
            write(kind, account, analyst, {"cap": amount.nano})

    def keep_budgets(self, caps: Mapping[str, Amount]) -> None:
        """Give each table this budget: a new account, or a new cap if it has another. Never below what is spent."""
        wanted = {checked_text(name, "account", MAX_NAME): Epsilon(cap) for name, cap in caps.items()}
        with self._store.reading() as tables:
            held = {name: tables.account(name, "") for name in wanted}
        if all(account is not None and account.cap == wanted[name] for name, account in held.items()):
            return
        with self._writing() as (tables, write):
            for name, amount in wanted.items():
                account = tables.account(name, "")
                if account is not None and amount < account.loss:
                    fix = f"Declare {account.loss} or more"
                    raise ArgumentError(f"budget of {name}", amount, f"{account.loss} is spent already", fix)
                if account is None or account.cap != amount:
                    write("account" if account is None else "cap", name, "", {"cap": amount.nano})

    def balance(self, account: str, analyst: str = "") -> Balance:
        checked_analyst(analyst)
        with self._store.reading() as tables:
            existing(tables, account)
            held = tables.account(account, analyst) or Account(account, analyst, None, Epsilon(0), ())
            return balance_of(tables, held)

    def balances(self) -> list[Balance]:
        with self._store.reading() as tables:
            return [balance_of(tables, held) for held in tables.accounts()]

    def subjects(self) -> dict[str, Subject]:
        """What the losses of each charged account are about."""
        with self._store.reading() as tables:
            return {held.name: held.subject for held in tables.accounts() if held.subject is not None}

    def losses(self, account: str) -> list[RegionLosses]:
        """The table's losses by region, reservations included: the curator's view."""
        with self._store.reading() as tables:
            held = existing(tables, account)
            return [*held.losses, *open_losses(tables, held)]

    def entries(self, after: int = 0) -> list[Entry]:
        """The lines after a number, in order."""
        if not 0 <= whole_number(after, "after") < 1 << 62:
            raise ArgumentError("after", after, "it must be the number of a line", "Pass 0 for all")
        with self._store.reading() as tables:
            return [Entry.read(document, stored_hash) for _, document, stored_hash in tables.lines(after)]

    # Spending

    def reserve(self, charge: Charge, wait_seconds: float = WAIT_SECONDS) -> Reservation | StoredRelease:
        """Charge the worst case, durably; or give back what this key was answered before.

        Raises `BudgetError` or `DeclarationError` (the account is about another subject), with nothing charged;
        `KeyReusedError`, `LostAnswerError` (charged earlier, answer lost), or, when another process is still answering
        this key after `wait_seconds`, `PendingError`.
        """
        if not isinstance(wait_seconds, int | float) or not 0 <= wait_seconds < math.inf:
            raise ArgumentError("wait_seconds", wait_seconds, "it must be a number of seconds", "Pass 0 to not wait")
        # Not even a stored answer leaves a stopped book: whether it is on disk is what nobody knows.
        self._check_running()
        account, analyst, key = charge.account, charge.analyst, charge.key
        with self._store.reading() as tables:
            existing(tables, account)
            known = tables.reservation_of(analyst, key) is not None
            if not known:
                # Most refusals end here, without making other askers wait for the lock.
                after_reserving(tables, charge)
        if not known:
            with self._writing() as (tables, write):
                if tables.reservation_of(analyst, key) is None:
                    loss = told(after_reserving(tables, charge))
                    entry = write("reserve", account, analyst, charge.facts(this_process(), loss))
                    return Reservation(entry.sequence, account, analyst, key, charge.worst_case)
        return self._await(charge, wait_seconds)

    def answered(self, account: str, key: str, question: str, analyst: str = "") -> StoredRelease | None:
        """What this key was answered before, if it was: a look that charges nothing. Refuses as `reserve` does."""
        self._check_running()
        with self._store.reading() as tables:
            found = tables.reservation_of(checked_analyst(analyst), checked_key(key))
            return None if found is None else replayed(tables, found, account, question)

    def recalled(self, account: str, key: str, analyst: str = "") -> Recalled | None:
        """What this key was charged for on this account, and its answer: for whoever goes on from there."""
        self._check_running()
        with self._store.reading() as tables:
            found = tables.reservation_of(checked_analyst(analyst), checked_key(key))
            if found is None or found.account != account:
                return None
            stored = None if found.state == FORFEITED else replayed(tables, found, account, found.question)
            return Recalled(found.question, None if stored is None else stored.body, found.state == FORFEITED)

    def _await(self, charge: Charge, wait_seconds: float) -> StoredRelease:
        """The stored answer of a key that is charged already, once it is there."""
        key, deadline = charge.key, time.monotonic() + wait_seconds
        while True:
            with self._store.reading() as tables:
                found = tables.reservation_of(charge.analyst, key)
                stored = None if found is None else replayed(tables, found, charge.account, charge.question)
            # The book may have been stopped while we waited, by the very commit we waited for.
            self._check_running()
            if stored is not None:
                return stored
            if found is None:
                raise PendingError(f"the key {key!r} was just given up elsewhere, uncharged: ask again with it")
            if time.monotonic() >= deadline:
                raise PendingError(f"the key {key!r} is charged, and being answered elsewhere: ask again with it")
            time.sleep(_POLL_SECONDS)

    def settle(
        self,
        reservation: Reservation,
        realised: Spending,
        release: bytes,
        *,
        shows_levels: bool = False,
        state: State | None = None,
    ) -> Epsilon:
        """Store the release and charge what was reached, at once. Hand the release out only after this returns.

        The difference to the worst case is given back only if the release shows the stopping level of every group
        (`shows_levels`): an ex-post loss is a statement about the output. Returns the account's loss. A `state` is
        kept in the same transaction, in place of the one before it.
        """
        facts = settlement(realised, release, state, shows_levels=shows_levels)
        return self._end("settle", reservation, facts, release, state)

    def state(self, name: str) -> bytes | None:
        """What was last kept under a name, if anything was."""
        self._check_running()
        with self._store.reading() as tables:
            return tables.state(checked_text(name, "name", MAX_NAME))

    def forfeit(self, reservation: Reservation) -> Epsilon:
        """No answer will come, though data may have been read: the worst case is lost."""
        return self._end("forfeit", reservation, {})

    def cancel(self, reservation: Reservation) -> Epsilon:
        """Give everything back. Only for a caller who knows that no data was read: the source was never reached."""
        return self._end("cancel", reservation, {})

    # Inside

    def _end(
        self,
        kind: str,
        reservation: Reservation,
        facts: dict[str, Any],
        release: bytes | None = None,
        state: State | None = None,
    ) -> Epsilon:
        if not isinstance(reservation, Reservation) or not isinstance(reservation.sequence, int):
            raise ArgumentError("reservation", reservation, "it must be what reserve returned", "Pass that")
        with self._writing() as (tables, write):
            found = tables.reservation(reservation.sequence)
            if found is None or found.state != RESERVED or found.key != reservation.key:
                raise ArgumentError(
                    "reservation", reservation.sequence, "it has ended already, or was never made", "Reserve anew"
                )
            write(kind, found.account, found.analyst, facts_of_end(tables, found, kind, facts))
            if release is not None:
                tables.put_release(found.sequence, release)
            if state is not None:
                tables.put_state(state.name, found.sequence, state.body)
            return existing(tables, found.account).loss

    @contextmanager
    def _writing(self) -> Iterator[tuple[Tables, Callable[..., Entry]]]:
        """One writing transaction; afterwards the anchor follows. A failed commit stops the book."""
        self._check_running()
        head: Head | None = None
        try:
            with self._store.writing() as tables:

                def write(kind: str, account: str, analyst: str, facts: dict[str, Any]) -> Entry:
                    nonlocal head
                    entry = self._write(tables, kind, account, analyst, facts)
                    head = entry.head
                    return entry

                yield tables, write
        except CommitFailedError as error:
            self._stopped = "a commit failed, and what is on disk is unknown"
            raise LedgerStoppedError(f"{self._stopped}: nothing was granted. Reopen it, which verifies it") from error
        if head is not None and self._first is not None and self._anchor:
            try:
                self._anchor.move(self._first, head)
            except OSError as error:
                self._stopped = "the anchor could not be written"
                raise LedgerStoppedError(f"{self._stopped}: the charge stands, no answer is given") from error

    def _write(self, tables: Tables, kind: str, account: str, analyst: str, facts: dict[str, Any]) -> Entry:
        """Carry out one more line, and add it to the book."""
        entry = Entry.after(tables.head(), self._now(), kind, account, analyst, facts)
        apply(entry, tables)
        tables.append(entry)
        return entry

    def _check_running(self) -> None:
        if self._stopped is not None:
            raise LedgerStoppedError(f"the ledger does not write: {self._stopped}. Reopen it, which verifies it")

    def _begin(self) -> str:
        """Write the first line, unless another process was faster; its hash names the book."""
        with self._writing() as (tables, write):
            if tables.head().sequence == 0:
                write("book", "", "", {"made_by": this_process()})
            return tables.hash_at(1) or ""

    def _forfeit_orphans(self) -> None:
        """Reservations of processes that are certainly gone are spent: their answers can never come."""
        with self._store.reading() as tables:
            orphans = [reserved for reserved in tables.open_reservations() if is_gone(reserved.owner)]
        for orphan in orphans:
            with self._writing() as (tables, write):
                found = tables.reservation(orphan.sequence)
                if found is not None and found.state == RESERVED:
                    write("forfeit", found.account, found.analyst, facts_of_end(tables, found, "forfeit", {}))

    def _now(self) -> str:
        """For people to read. Order comes from the sequence alone, so a clock set back changes nothing."""
        return self._clock().isoformat(timespec="milliseconds")
