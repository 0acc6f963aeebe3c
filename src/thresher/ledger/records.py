"""What the book hands out: reservations, stored releases, balances.

Reads: tables in an open transaction. Writes: nothing. Never: an account that does not exist.
"""

from dataclasses import dataclass
from typing import Any

from thresher.accounting import Spending
from thresher.amounts import Epsilon
from thresher.errors import ArgumentError, KeyReusedError, LedgerCorruptError, LostAnswerError
from thresher.ledger.charge import MAX_NAME, checked_text
from thresher.ledger.entries import digest
from thresher.ledger.rules import FORFEITED, RESERVED, Account, Reserved
from thresher.ledger.stores.statements import Tables


@dataclass(frozen=True, slots=True)
class Reservation:
    """The right to read data once, at this worst case."""

    sequence: int
    account: str
    analyst: str
    key: str
    worst_case: Spending


@dataclass(frozen=True, slots=True)
class StoredRelease:
    """The answer that a key has had already. Handing it out again costs nothing."""

    body: bytes


@dataclass(frozen=True, slots=True)
class State:
    """What a stream goes on from after a release: kept under its name until the next one replaces it.

    Whatever in it is secret is sealed by whoever hands it over: the book only keeps it.
    """

    name: str
    body: bytes

    def __post_init__(self) -> None:
        checked_text(self.name, "state", MAX_NAME)
        if not isinstance(self.body, bytes):
            raise ArgumentError("state", type(self.body).__name__, "it must be bytes", "Encode it first")


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a key was charged for, and its answer; None while it is still being answered, or if it was lost."""

    question: str
    body: bytes | None
    lost: bool


@dataclass(frozen=True, slots=True)
class Balance:
    """A budget: `spent` counts reservations at their worst case; `reserved` is how many have not ended."""

    account: str
    analyst: str
    cap: Epsilon | None
    spent: Epsilon
    remaining: Epsilon | None
    reserved: int


def replayed(tables: Tables, found: Reserved, account: str, question: str) -> StoredRelease | None:
    """What a known key gets: its stored release, a refusal, or None while it is still being answered."""
    if (found.account, found.question) != (account, question):
        raise KeyReusedError(f"the key {found.key!r} belongs to another question: take a new key for this one")
    if found.state == FORFEITED:
        raise LostAnswerError(
            f"the key {found.key!r} was charged and its answer was lost in a crash: only a new key, charged anew, asks"
        )
    if found.state == RESERVED:
        return None
    body = tables.release(found.sequence)
    if body is None:
        raise LedgerCorruptError(f"the release of reservation {found.sequence} is missing")
    return StoredRelease(body)


def settlement(realised: Spending, release: bytes, state: State | None, *, shows_levels: bool) -> dict[str, Any]:
    """What the line of a settlement says, once each part of it is checked."""
    if not isinstance(release, bytes):
        raise ArgumentError("release", type(release).__name__, "it must be bytes", "Encode it first")
    if not isinstance(realised, Spending):
        raise ArgumentError("realised", type(realised).__name__, "it must be a spending", "Pass what was reached")
    if not isinstance(shows_levels, bool):
        raise ArgumentError("shows_levels", shows_levels, "it must be True or False", "Say what the release shows")
    if state is not None and not isinstance(state, State):
        raise ArgumentError("state", type(state).__name__, "it must be a State", "Pass State(name, body)")
    kept = {} if state is None else {"state": {"body": digest(state.body), "name": state.name}}
    return {"realised": realised.to_json(), "release": digest(release), "shows_levels": shows_levels, **kept}


def existing(tables: Tables, account: str) -> Account:
    held = tables.account(checked_text(account, "account", MAX_NAME), "")
    if held is None:
        raise ArgumentError("account", account, "there is no such budget", "Declare the table and open its account")
    return held


def balance_of(tables: Tables, held: Account) -> Balance:
    waiting = [r for r in tables.open_reservations(held.name) if held.analyst in ("", r.analyst)]
    remaining = None if held.cap is None else held.cap - held.loss
    return Balance(held.name, held.analyst, held.cap, held.loss, remaining, len(waiting))
