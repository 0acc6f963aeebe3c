"""The book: the budgets, what is reserved of them, what has been lost, and the stored answers.

    reserve  writes the worst case to disk before any data are read
    settle   writes the loss that was reached, in one transaction with the release; only then is the release handed out

A crash between the two leaves the worst case spent. An idempotency key is charged once for ever: the same key and
question give the stored bytes, the same key and another question are refused.
Reads and writes: one store, one anchor. Never: answers before the charge is on disk; writes after a failed commit.
What is promised and what is not: `docs/ledger.md`.
"""

import math
import time
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from thresher.accounting import Spending
from thresher.accounting.subject import STREAM, TABLE
from thresher.amounts import Epsilon
from thresher.errors import (
    ArgumentError,
    DeclarationError,
    KeyReusedError,
    LedgerCorruptError,
    LedgerError,
    LostAnswerError,
    PendingError,
)
from thresher.ledger.anchor import Anchor
from thresher.ledger.budgets import Budgets, existing
from thresher.ledger.entries import Entry, digest
from thresher.ledger.journal import write_end
from thresher.ledger.leases import LEASE_SECONDS
from thresher.ledger.old_books import is_named_in
from thresher.ledger.owners import process_name
from thresher.ledger.records import (
    FORFEITED,
    MAX_NAME,
    RESERVED,
    Account,
    Charge,
    Recalled,
    Reservation,
    State,
    StoredRelease,
    checked_analyst,
    checked_key,
    checked_text,
    step_of,
)
from thresher.ledger.rules import after_reserving, told
from thresher.ledger.stores import store_for
from thresher.ledger.stores.book_tables import Tables
from thresher.pages import Page, Shown

WAIT_SECONDS = 30.0
_POLL_SECONDS = 0.01
# The letters of a day at the start of a moment: 2026-11-18.
_DAY = 10
_LONGEST_LEASE = 86_400


def open_book(
    url: str,
    *,
    anchor: Path | None = None,
    folder: Path | None = None,
    accept_anchor: bool = False,
    make: bool = True,
    lease_seconds: float = LEASE_SECONDS,
) -> "Book":
    """Open the ledger at `url`, verify all of it, and forfeit the reservations of dead processes.

    anchor           the path of its anchor; by default it lies beside the file of a SQLite ledger
    folder           where the anchor of a ledger in PostgreSQL is kept if no path is named; it may be missing there
    accept_anchor    write a missing anchor anew: for a curator who knows why it is missing
    make             make the ledger if there is none
    lease_seconds    how long a process may show no sign of life before its open reservations are forfeited
    """
    book = closed_book(url, anchor=anchor, folder=folder, lease_seconds=lease_seconds)
    book.recover(accept_anchor=accept_anchor, make=make)
    return book


def closed_book(
    url: str, *, anchor: Path | None = None, folder: Path | None = None, lease_seconds: float = LEASE_SECONDS
) -> "Book":
    """Return the ledger at `url` before it is opened: `recover` opens it."""
    if not 1 <= lease_seconds <= _LONGEST_LEASE:
        rule = f"it must be from 1 to {_LONGEST_LEASE} seconds"
        raise ArgumentError("lease_seconds", lease_seconds, rule, f"Leave it out for {LEASE_SECONDS:.0f}")
    store, usual = store_for(url)
    if anchor is not None:
        place: Anchor | None = Anchor(Path(anchor))
    elif usual is not None:
        place = Anchor(usual)
    else:
        place = None if folder is None else Anchor(folder / "ledger.anchor", optional=True)
    return Book(store, place, lease_seconds=lease_seconds)


class Book(Budgets, Shown):
    """An open ledger. Every budget and every charge is a line of its journal."""

    def page(self, *, analyst: str | None = None, last: int = 10) -> Page:
        """Return budgets, losses by region and the last entries; with `analyst`, what that analyst may see."""
        from thresher.ledger.book_page import book_page  # noqa: PLC0415 - few ledgers are shown

        return book_page(self, analyst, last)

    def reserve(self, charge: Charge, wait_seconds: float = WAIT_SECONDS) -> Reservation | StoredRelease:
        """Charge the worst case, on disk; or return the stored answer of this key, which costs nothing.

        Raises `BudgetError` or `DeclarationError` (the account is about another subject), with nothing charged;
        `KeyReusedError`, `LostAnswerError` (charged earlier, answer lost), or, when another process is still answering
        this key after `wait_seconds`, `PendingError`.
        """
        if not isinstance(wait_seconds, int | float) or not 0 <= wait_seconds < math.inf:
            rule = "it must be a finite number of seconds, 0 or more"
            raise ArgumentError("wait_seconds", wait_seconds, rule, "Pass 0 to not wait")
        # A stopped book does not even hand out stored answers: they may not be on disk.
        self._check_running()
        with self._reading() as tables:
            known = tables.reservation_of(charge.analyst, charge.key)
            if known is not None:
                stored = _replayed(tables, known, charge.account, charge.question)
            else:
                # Most refusals are raised here, before the lock is taken, so that other askers need not wait.
                existing(tables, charge.account)
                seen, standing = tables.head(), after_reserving(tables, charge)
        if known is not None:
            return stored or self._await(charge, wait_seconds)
        with self._writing() as (tables, write):
            if tables.head() != seen:
                # Another process has written since the book was read above.
                known = tables.reservation_of(charge.analyst, charge.key)
                standing = [] if known is not None else after_reserving(tables, charge)
            if known is None:
                _check_relations(tables, charge)
                facts = charge.facts(process_name(), told(standing))
                made = Reservation.of_line(write("reserve", charge.account, charge.analyst, facts, standing))
                tables.put_lease(made.sequence, tables.now() + self.leases.milliseconds)
        if known is None:
            self.leases.hold(made.sequence)
            return made
        return self._await(charge, wait_seconds)

    def answered(self, account: str, key: str, question: str, analyst: str = "") -> StoredRelease | None:
        """Return the stored answer of this key, or None. Charges nothing; refuses a known key as `reserve` does."""
        self._check_running()
        with self._reading() as tables:
            found = tables.reservation_of(checked_analyst(analyst), checked_key(key))
            return None if found is None else _replayed(tables, found, account, question)

    def recalled(self, account: str, key: str, analyst: str = "") -> Recalled | None:
        """Return the question that this key was charged for on this account, and its answer: for a refinement."""
        self._check_running()
        with self._reading() as tables:
            found = tables.reservation_of(checked_analyst(analyst), checked_key(key))
            if found is None or found.account != account:
                return None
            stored = None if found.state == FORFEITED else _replayed(tables, found, account, found.question)
            restored = found.sequence < existing(tables, account).restored
            return Recalled(found.question, None if stored is None else stored.body, found.state == FORFEITED, restored)

    def is_pending(self, key: str, analyst: str = "") -> bool:
        """Tell whether a key is reserved, by a process that lives or by one whose lease has not been ended yet."""
        with self._reading() as tables:
            found = tables.reservation_of(analyst, key)
        return found is not None and found.state == RESERVED

    def await_end(self, key: str, analyst: str = "") -> None:
        """Wait until the reservation of a key has ended, or its lease has run out and it is forfeited.

        A lease that is not renewed and does not run out was written by a clock that was set back since: `PendingError`.
        """
        lease, changed = -1, time.monotonic()
        while True:
            with self._reading() as tables:
                found = tables.reservation_of(analyst, key)
                if found is None or found.state != RESERVED:
                    return
                until = tables.lease(found.sequence)
                lapsed = until < tables.now()
            if lapsed:
                with self._writing():
                    continue
            if until != lease:
                lease, changed = until, time.monotonic()
            elif time.monotonic() > changed + 2 * self.leases.seconds:
                raise PendingError(
                    f"entry {found.sequence} is reserved by a process that shows no sign of life, until a moment that "
                    "the clock does not reach: was it set back? It is charged. To go on, end it with: "
                    f"thresher ledger forfeit {found.sequence}"
                )
            time.sleep(_POLL_SECONDS)

    def _await(self, charge: Charge, wait_seconds: float) -> StoredRelease:
        """Wait for the stored answer of a key that is charged already, and return it."""
        key, deadline = charge.key, time.monotonic() + wait_seconds
        while True:
            with self._reading() as tables:
                found = tables.reservation_of(charge.analyst, key)
                stored = None if found is None else _replayed(tables, found, charge.account, charge.question)
                lapsed = found is not None and stored is None and tables.lease(found.sequence) < tables.now()
            # The commit that this loop waits for may have failed and stopped the book.
            self._check_running()
            if stored is not None:
                return stored
            if found is None:
                raise PendingError(
                    f"another process gave up the key {key!r} before any data were read. Nothing is charged: ask again "
                    "with the same key"
                )
            if lapsed:
                # Its owner shows no sign of life. A writing transaction forfeits it, and the next look says so.
                with self._writing():
                    continue
            if time.monotonic() >= deadline:
                raise PendingError(
                    f"the key {key!r} is charged already and is being answered elsewhere. Ask again later with the "
                    "same key, at no further cost"
                )
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
        """Store the release and charge the loss that was reached, in one transaction. Return the account's loss.

        Hand the release out only after this returns. The difference to the worst case is given back only if the release
        shows the stopping level of every group (`shows_levels`), because an ex-post loss is a statement about the
        output. A `state` replaces the state that was kept before it under its name.
        """
        if not isinstance(release, bytes):
            raise ArgumentError("release", type(release).__name__, "it must be bytes", "Encode it first")
        if not isinstance(realised, Spending):
            raise ArgumentError("realised", type(realised).__name__, "it must be a Spending", "Pass the loss reached")
        if not isinstance(shows_levels, bool):
            raise ArgumentError("shows_levels", shows_levels, "it must be True or False", "Pass False if in doubt")
        if state is not None and not isinstance(state, State):
            raise ArgumentError("state", type(state).__name__, "it must be a State", "Pass State(name, body)")
        kept = {} if state is None else {"state": {"body": digest(state.body), "name": state.name}}
        facts = {"realised": realised, "release": digest(release), "shows_levels": shows_levels, **kept}
        return self._end("settle", reservation, facts, release, state)

    def state(self, name: str) -> bytes | None:
        """Return the state that was last kept under a name, or None."""
        self._check_running()
        with self._reading() as tables:
            return tables.state(checked_text(name, "name", MAX_NAME))

    def restored_step(self, account: str, key: str) -> int:
        """Return the last step that an anchor saw, of the stream of this step's key; -1 if no backup was restored.

        An earlier step that the ledger does not hold was lost with the backup: it is charged, and never drawn again.
        """
        named = step_of(key)
        with self._reading() as tables:
            restored = existing(tables, account).restored
            line = next(tables.lines(restored - 1), None) if restored else None
        if named is None or line is None:
            return -1
        seen: dict[str, int] = dict(Entry.read(line[1], line[2]).facts["steps"])
        return seen.get(named[0], -1)

    def forfeit(self, reservation: Reservation) -> Epsilon:
        """End a reservation without an answer, where data may have been read. Charge its worst case."""
        return self._end("forfeit", reservation, {})

    def cancel(self, reservation: Reservation) -> Epsilon:
        """End a reservation and give all of it back. Only for a caller who knows that no data were read."""
        return self._end("cancel", reservation, {})

    def _end(
        self,
        kind: str,
        reservation: Reservation,
        facts: dict[str, Any],
        release: bytes | None = None,
        state: State | None = None,
    ) -> Epsilon:
        if not isinstance(reservation, Reservation) or not isinstance(reservation.sequence, int):
            raise ArgumentError("reservation", reservation, "it must be a Reservation", "Pass what reserve returned")
        self.leases.drop(reservation.sequence)
        try:
            return self._ended(kind, reservation, facts, release, state)
        except LedgerError:
            self._unended.add(reservation.sequence)
            raise

    def _ended(
        self,
        kind: str,
        reservation: Reservation,
        facts: dict[str, Any],
        release: bytes | None,
        state: State | None,
    ) -> Epsilon:
        with self._writing() as (tables, write):
            found = tables.reservation(reservation.sequence)
            if found is None or not _is_of(tables, reservation, found):
                raise ArgumentError("reservation", reservation.sequence, "it was never made", "Call reserve again")
            if found.state == FORFEITED:
                raise LostAnswerError(
                    f"the key {found.key!r} was charged, and its answer is not given: this process showed no sign of "
                    f"life for {self.leases.seconds:g} seconds, so its reservation was forfeited"
                )
            if found.state != RESERVED:
                raise ArgumentError("reservation", reservation.sequence, "it has ended already", "Call reserve again")
            loss = write_end(tables, write, found, kind, facts)
            if release is not None:
                tables.put_release(found.sequence, release)
            if state is not None:
                tables.put_state(state.name, found.sequence, state.body)
        return loss


def _is_of(tables: Tables, reservation: Reservation, found: Reservation) -> bool:
    """Tell whether a reservation is the one that the book holds, whose account may have been renamed since."""
    then = replace(found, state=RESERVED, ended_by=None)
    if existing(tables, found.account).renamed > found.sequence:
        then = replace(then, account=reservation.account)
    return then == reservation


def _check_relations(tables: Tables, charge: Charge) -> None:
    """Refuse rows that have lost something under another account: a new name is not a new budget."""
    new = set(charge.relations) - set(existing(tables, charge.account).relations)
    for held in tables.accounts() if new else []:
        both = _shared(new, held.relations) or _perhaps_shared(tables, new, held)
        if held.name == charge.account or not both:
            continue
        raise DeclarationError(
            f"account {charge.account}",
            f"it reads {both[0]}, which has spent {held.loss} of the budget of {held.name}: the same rows have one "
            f"budget. {_one_account(held, charge, both[0])}. Nothing is charged",
        )


def _one_account(held: Account, charge: Charge, relation: str) -> str:
    """Say how rows that lost something under one account are to be declared, so that they are paid from it again."""
    unit = None if held.subject is None else held.subject.unit
    renamed = f"run: thresher ledger rename {held.name} {charge.account}"
    if held.subject is not None and held.subject.kind != TABLE:
        began = "It counts another kind of loss, which cannot be moved. Go on with what it was declared for"
        return f"If {held.name} is the old name, {renamed}" if held.subject == charge.subject else began
    if unit is None:
        only = f"Each row is a person of one table only, so declare {relation} once"
        return f"{only}; or, if {held.name} is the old name of this table, {renamed}"
    return (
        f'Give both one account: [accounts.{held.name}] with budget = "{held.cap}" and unit = "{unit}", and '
        f'account = "{held.name}" in place of the budget of each; or, if {held.name} is the old name, {renamed}'
    )


def _perhaps_shared(tables: Tables, new: Collection[str], held: Account) -> list[str]:
    """Return the relations that an account may have read before an earlier version of its book was brought up to date.

    Its lines do not say what they read, so another table of the same name counts as the same.
    """
    if held.relations or held.subject is None or held.subject.kind == STREAM:
        return []
    questions = [reserved.question for reserved in tables.reservations() if reserved.account == held.name]
    return sorted(relation for relation in new if is_named_in(relation, held.name, questions))


def _shared(new: Collection[str], known: Collection[str]) -> list[str]:
    """Return the relations that both lists hold. A folder, which ends with a slash, holds the files in it."""
    both = set(new).intersection(known)
    for some, others in ((new, known), (known, new)):
        folders = tuple(relation for relation in others if relation.endswith("/"))
        both.update(relation for relation in some if folders and relation.startswith(folders))
    return sorted(both)


def _replayed(tables: Tables, found: Reservation, account: str, question: str) -> StoredRelease | None:
    """Return the stored release of a known key, or None while it is being answered; refuse another question."""
    if (found.account, found.question) != (account, question):
        raise KeyReusedError(
            f"the key {found.key!r} belongs to another question, or to this question under another version of the rows "
            "or other declarations. Ask this question with another key"
        )
    if found.state == FORFEITED:
        raise LostAnswerError(found.lost_words(tables.line_at(found.ended_by)["at"][:_DAY]))
    if found.state == RESERVED:
        return None
    body = tables.release(found.sequence)
    if body is None:
        raise LedgerCorruptError(f"the release of reservation {found.sequence} is missing. Restore a backup")
    settled, reserved = (tables.line_at(number) for number in (found.ended_by, found.sequence))
    return StoredRelease(body, settled["at"][:_DAY], reserved["facts"].get("columns", ""))
