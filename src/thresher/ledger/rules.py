"""What a line of the book does to accounts and reservations: the one set of rules, for writing and for verifying.

A reservation counts at its worst case from the moment it is written. It ends in exactly one of three ways: settled
(what was reached, and only if the release shows its stopping levels, else the worst case), forfeited (the worst case),
or cancelled (nothing, because no data was read). There is no way back.
Reads and writes: a `Desk`, which is the database, or, when a book is verified, memory.
Never: an account above its cap; a loss below what the lines say. Why the sums are enough: `accounting/composition.md`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from thresher.accounting import (
    RegionLosses,
    Spending,
    account_loss,
    added,
    coarsened,
    loss_after,
    settled,
    spending_from_json,
)
from thresher.amounts import Epsilon
from thresher.errors import BudgetError, BugError
from thresher.ledger.entries import Entry

RESERVED, SETTLED, FORFEITED, CANCELLED = "reserved", "settled", "forfeited", "cancelled"
# Groups an account keeps apart; past it the longest lists are charged everywhere at their largest amount.
MOST_GROUPS = 100_000


@dataclass(frozen=True, slots=True)
class Account:
    """A budget: of a table (analyst ""), or of an analyst on it. `losses` are final, `loss` counts reservations too."""

    name: str
    analyst: str
    cap: Epsilon | None
    loss: Epsilon
    losses: tuple[RegionLosses, ...]


@dataclass(frozen=True, slots=True)
class Reserved:
    """A reservation and what became of it; `sequence` is its line, `ended_by` the line that ended it."""

    sequence: int
    account: str
    analyst: str
    key: str
    question: str
    worst_case: Spending
    owner: str
    state: str
    ended_by: int | None


class Desk(Protocol):
    """Where accounts and reservations lie while a line is applied."""

    def account(self, name: str, analyst: str) -> Account | None: ...

    def put_account(self, account: Account) -> None: ...

    def reservation(self, sequence: int) -> Reserved | None: ...

    def put_reservation(self, reserved: Reserved) -> None: ...

    def open_reservations(self, account: str) -> Iterable[Reserved]: ...


def apply(entry: Entry, desk: Desk) -> None:
    """Carry out one line. Raises `BudgetError` if an account cannot pay, `BugError` if the line breaks a rule."""
    if entry.kind == "account":
        if desk.account(entry.account, entry.analyst) is not None:
            raise BugError(f"account {entry.account} is opened twice")
        desk.put_account(Account(entry.account, entry.analyst, _cap(entry), Epsilon(0), ()))
    elif entry.kind == "cap":
        account = _existing(desk, entry.account, entry.analyst)
        cap = _cap(entry)
        if account.loss > cap:
            raise BugError(f"the cap of {entry.account} is set below its loss")
        desk.put_account(replace(account, cap=cap))
    elif entry.kind == "reserve":
        _reserve(entry, desk)
    elif entry.kind in ("settle", "forfeit", "cancel"):
        _end(entry, desk)


def charged(reserved: Reserved, entry: Entry) -> Spending | None:
    """What the line that ends a reservation charges; None for nothing."""
    if entry.kind == "cancel":
        return None
    if entry.kind == "settle" and entry.facts["shows_levels"]:
        return settled(reserved.worst_case, spending_from_json(entry.facts["realised"]))
    return reserved.worst_case


def open_losses(desk: Desk, account: Account, without: int | None = None) -> list[RegionLosses]:
    """Worst cases of the account's reservations that have not ended."""
    return [
        loss
        for reserved in desk.open_reservations(account.name)
        if reserved.sequence != without and account.analyst in ("", reserved.analyst)
        for loss in reserved.worst_case.losses()
    ]


def after_reserving(desk: Desk, name: str, analyst: str, worst_case: Spending) -> list[Account]:
    """The accounts that pay, as they would stand with this reservation; `BudgetError` if one cannot."""
    standing = []
    for account in _payers(desk, name, analyst):
        before = [*account.losses, *open_losses(desk, account)]
        after = loss_after(before, worst_case.losses()).loss
        if account.cap is not None and after > account.cap:
            requested, short_by = account_loss(worst_case.losses()).loss, after - account.cap
            payer = f"{name} for analyst {analyst}" if account.analyst else name
            raise BudgetError(payer, requested, requested - min(short_by, requested), short_by)
        standing.append(replace(account, loss=after))
    return standing


def _reserve(entry: Entry, desk: Desk) -> None:
    worst_case = spending_from_json(entry.facts["worst_case"])
    for account in after_reserving(desk, entry.account, entry.analyst, worst_case):
        desk.put_account(account)
    desk.put_reservation(
        Reserved(
            entry.sequence,
            entry.account,
            entry.analyst,
            entry.facts["key"],
            entry.facts["question"],
            worst_case,
            entry.facts["owner"],
            RESERVED,
            None,
        )
    )


def _end(entry: Entry, desk: Desk) -> None:
    reserved = desk.reservation(entry.facts["reservation"])
    if reserved is None or reserved.state != RESERVED:
        raise BugError("a reservation ends once, and after it was made")
    spending = charged(reserved, entry)
    for account in _payers(desk, entry.account, entry.analyst):
        losses = account.losses
        if spending is not None:
            losses = coarsened(added([*losses, *spending.losses()]), MOST_GROUPS)
        loss = account_loss([*losses, *open_losses(desk, account, without=reserved.sequence)]).loss
        desk.put_account(replace(account, losses=losses, loss=loss))
    state = {"settle": SETTLED, "forfeit": FORFEITED, "cancel": CANCELLED}[entry.kind]
    desk.put_reservation(replace(reserved, state=state, ended_by=entry.sequence))


def _payers(desk: Desk, name: str, analyst: str) -> list[Account]:
    """The table's account, and the analyst's own, which is opened without a cap by the first question."""
    payers = [_existing(desk, name, "")]
    if analyst:
        payers.append(desk.account(name, analyst) or Account(name, analyst, None, Epsilon(0), ()))
    return payers


def _existing(desk: Desk, name: str, analyst: str) -> Account:
    account = desk.account(name, analyst)
    if account is None:
        raise BugError(f"a line names the account {name}, which was never opened")
    return account


def _cap(entry: Entry) -> Epsilon:
    return Epsilon.from_nano(entry.facts["cap"])
