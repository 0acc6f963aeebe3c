"""What a line of the book does to accounts and reservations. The same rules hold for writing and for verifying.

`after_reserving` and `after_ending` compute the losses that a new line will state; `apply` carries a line out, when it
is written and each time the book is verified.

A reservation counts at its worst case from the moment it is written. It ends once, in one of three ways: settled
(charged what was reached if the release shows its stopping levels, else the worst case), forfeited (charged the worst
case), or cancelled (charged nothing, because no data were read). An ending is never undone.
Reads and writes: a `LedgerState`, which is the database, or, when a book is verified, memory.
Never: an account above its cap; a loss below what the lines say. Why the sums are enough: `accounting/composition.md`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from thresher.accounting import (
    UNKNOWN,
    Region,
    RegionLosses,
    Spending,
    Subject,
    account_loss,
    added,
    coarsened,
    first_steps,
    loss_after,
    settled,
)
from thresher.amounts import Epsilon
from thresher.errors import BudgetError, BugError, DeclarationError, LedgerError
from thresher.ledger.entries import Entry
from thresher.ledger.records import (
    CANCELLED,
    FORFEITED,
    RESERVED,
    SETTLED,
    Account,
    Charge,
    Reservation,
    check_family,
    step_of,
)

_ENDS = {"settle": SETTLED, "forfeit": FORFEITED, "cancel": CANCELLED}
# The number of groups whose losses an account keeps apart. Beyond it the longest lists are charged everywhere at their
# largest amount.
MOST_GROUPS = 100_000


class LedgerState(Protocol):
    """The accounts and reservations that lines are applied to: the database, or memory."""

    def account(self, name: str, analyst: str) -> Account | None: ...

    def put_account(self, account: Account) -> None: ...

    def reservation(self, sequence: int) -> Reservation | None: ...

    def put_reservation(self, reserved: Reservation) -> None: ...

    def open_reservations(self, account: str) -> Iterable[Reservation]: ...

    def rename(self, old: str, new: str) -> None: ...


def apply(entry: Entry, state: LedgerState, standing: Sequence[Account] | None = None) -> None:
    """Carry out one line, with the losses that it states. `BugError` if it breaks a rule.

    `standing`: the changed accounts, if they were just computed for this line. Without it, when a book is verified,
    they are computed from the line.
    """
    if entry.kind == "account":
        if state.account(entry.account, entry.analyst) is not None:
            raise BugError(f"account {entry.account} is opened twice")
        state.put_account(Account(entry.account, entry.analyst, _cap(entry), Epsilon(0), ()))
    elif entry.kind == "cap":
        state.put_account(replace(_existing(state, entry.account, entry.analyst), cap=_cap(entry)))
    elif entry.kind == "subject":
        state.put_account(_about(_existing(state, entry.account, ""), entry.facts["subject"]))
    elif entry.kind == "rename":
        if is_used(state.account(entry.facts["to"], "")):
            raise BugError(f"account {entry.account} is renamed to one that has lost something")
        state.rename(_existing(state, entry.account, "").name, entry.facts["to"])
        state.put_account(replace(_existing(state, entry.facts["to"], ""), renamed=entry.sequence))
    elif entry.kind == "restore":
        state.put_account(_restored(entry, _existing(state, entry.account, entry.analyst)))
    elif entry.kind == "reserve":
        _reserve(entry, state, standing)
    elif entry.kind in _ENDS:
        _end(entry, state, standing)


def after_reserving(state: LedgerState, charge: Charge) -> list[Account]:
    """Return the accounts that pay, as they would be after this charge; `BudgetError` if one cannot pay.

    Losses about different subjects cannot be added up, so a charge about another subject than its account's is refused.
    """
    standing, new = [], charge.worst_case.losses()
    for account in _payers(state, charge.account, charge.analyst):
        if not account.analyst:
            _check_subject(account, charge.subject)
        before = [*account.losses, *open_losses(state, account)]
        after = loss_after(before, new).loss
        if account.cap is not None and after > account.cap:
            requested, short_by = account_loss(new).loss, after - account.cap
            payer = f"{account.name} for analyst {account.analyst}" if account.analyst else account.name
            raise BudgetError(payer, requested, requested - min(short_by, requested), short_by)
        standing.append(replace(account, loss=after))
    return standing


def _check_subject(account: Account, subject: Subject) -> None:
    if account.subject == UNKNOWN:
        raise LedgerError(
            f"the account {account.name} is closed. An earlier version of Thresher wrote its entries, and they do not "
            "say whom it protects. What was spent stays spent, and nothing more can be charged to it"
        )
    if account.subject not in (None, subject):
        changed = ", ".join(account.subject.differences(subject))
        raise DeclarationError(
            f"account {account.name}",
            f"it began with another {changed}, and what was lost before cannot be converted. Restore the declaration "
            "as it was. Nothing is charged",
        )


def after_ending(state: LedgerState, reserved: Reservation, kind: str, facts: Mapping[str, Any]) -> list[Account]:
    """Return the accounts that paid, as they would be once this reservation has ended.

    An ending never adds to a loss. Where the bound that is computed now is larger than the loss before, the loss before
    counts.
    """
    spending = _charged_at_end(reserved, kind, facts)
    standing = []
    for account in _payers(state, reserved.account, reserved.analyst):
        final = _with(account, spending)
        found = account_loss([*final.losses, *open_losses(state, account, without=reserved.sequence)]).loss
        standing.append(replace(final, loss=min(found, account.loss)))
    return standing


def is_used(account: Account | None) -> bool:
    """Tell whether an account was ever charged."""
    return account is not None and (account.subject is not None or account.loss.nano > 0)


def told(standing: Iterable[Account]) -> dict[str, int]:
    """Return what a line states about the accounts that it changes: their losses, by analyst."""
    return {account.analyst: account.loss.nano for account in standing}


def _charged_at_end(reserved: Reservation, kind: str, facts: Mapping[str, Any]) -> Spending | None:
    """Return what the end of a reservation charges; None if nothing.

    The loss that was reached is checked even where the worst case is charged.
    """
    if kind == "cancel":
        return None
    if kind == "settle":
        reached = settled(reserved.worst_case, facts["realised"])
        return reached if facts["shows_levels"] is True else reserved.worst_case
    return reserved.worst_case


def open_losses(state: LedgerState, account: Account, without: int | None = None) -> list[RegionLosses]:
    """Return the worst cases of the account's open reservations, but for the reservation `without`."""
    return [
        loss
        for reserved in state.open_reservations(account.name)
        if reserved.sequence != without and account.analyst in ("", reserved.analyst)
        for loss in reserved.worst_case.losses()
    ]


def _reserve(entry: Entry, state: LedgerState, standing: Sequence[Account] | None) -> None:
    # Lines of versions 1 and 2 state neither. Opening such a book adds a line with the subject of each account.
    subject = entry.facts.get("subject")
    if subject is not None or "family" in entry.facts:
        check_family(entry.facts.get("family"), subject)
    for account in _payers(state, entry.account, entry.analyst) if standing is None else standing:
        after = replace(account, loss=_loss(entry, account))
        if not account.analyst:
            after = _reading(after if account.subject == subject else _about(after, subject), entry)
        state.put_account(after)
    state.put_reservation(Reservation.of_line(entry))


def _reading(account: Account, entry: Entry) -> Account:
    """Return the account with the relations that a charge reads, and with the step of a stream that it pays for."""
    relations = tuple(sorted({*account.relations, *entry.facts.get("relations", ())}))
    step = step_of(entry.facts["key"])
    return replace(account, relations=relations, steps=_later(account.steps, () if step is None else (step,)))


def _later(steps: Iterable[tuple[str, int]], more: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Return the last step of each stream, of two lists of them."""
    last = dict(steps)
    for stream, step in more:
        last[stream] = max(step, last.get(stream, step))
    return tuple(sorted(last.items()))


def _restored(entry: Entry, account: Account) -> Account:
    """Return an account of an older copy, charged with all that an anchor saw of it, in every region.

    The anchor knows the sum only. Where each step of a stream has a region of its own, the sum is charged to every step
    up to the last one that the anchor saw.
    """
    loss, seen = _loss(entry, account), [(stream, step) for stream, step in entry.facts["steps"]]
    if loss < account.loss:
        raise BugError(f"the account {account.name} is restored to less than it has lost")
    steps, subject = _later(account.steps, seen), account.subject
    # An account that was never charged in the copy has no subject there; the anchor knows it.
    by_step = entry.facts.get("by_step", False) if subject is None else subject.protected_steps is not None
    where = first_steps(max(step for _, step in steps)) if by_step and steps else Region.everything()
    losses = (RegionLosses.of_region(where, loss),) if loss.nano else ()
    return replace(account, loss=loss, losses=losses, steps=steps, restored=entry.sequence)


def _about(account: Account, subject: Subject | None) -> Account:
    """Return the account with its subject, which is set once for ever."""
    if subject is None or account.subject is not None:
        raise BugError(f"a line is about another subject than its account {account.name}")
    return replace(account, subject=subject)


def _end(entry: Entry, state: LedgerState, standing: Sequence[Account] | None) -> None:
    reserved = state.reservation(entry.facts["reservation"])
    if reserved is None or reserved.state != RESERVED:
        raise BugError("a line ends a reservation that was never made, or has ended")
    if (reserved.account, reserved.analyst) != (entry.account, entry.analyst):
        raise BugError("a line ends a reservation of another account")
    for account in _as_said(entry, state, reserved) if standing is None else standing:
        state.put_account(account)
    state.put_reservation(replace(reserved, state=_ENDS[entry.kind], ended_by=entry.sequence))


def _as_said(entry: Entry, state: LedgerState, reserved: Reservation) -> list[Account]:
    """Return the accounts that paid for a reservation, with the losses that the line which ends it states."""
    spending, standing = _charged_at_end(reserved, entry.kind, entry.facts), []
    for account in _payers(state, entry.account, entry.analyst):
        loss = _loss(entry, account)
        if loss > account.loss:
            raise BugError("the end of a reservation makes a loss larger")
        standing.append(replace(_with(account, spending), loss=loss))
    return standing


def _with(account: Account, spending: Spending | None) -> Account:
    """Return the account with one more final spending among its losses."""
    if spending is None:
        return account
    losses = added([*account.losses, *spending.losses()])
    if sum(len(loss.amounts) for loss in losses) <= MOST_GROUPS:
        return replace(account, losses=losses)
    return replace(account, losses=coarsened(losses, MOST_GROUPS), coarse=True)


def _loss(entry: Entry, account: Account) -> Epsilon:
    """Return the loss that a line states for an account. A loss above the cap is refused."""
    loss = Epsilon.from_nano(entry.facts["loss"][account.analyst])
    if account.cap is not None and loss > account.cap:
        raise BugError(f"the loss of {account.name} is above its cap")
    return loss


def _payers(state: LedgerState, name: str, analyst: str) -> list[Account]:
    """Return the table's account and, if one is named, the analyst's part, which the first question opens uncapped."""
    payers = [_existing(state, name, "")]
    if analyst:
        payers.append(state.account(name, analyst) or Account(name, analyst, None, Epsilon(0), ()))
    return payers


def _existing(state: LedgerState, name: str, analyst: str) -> Account:
    account = state.account(name, analyst)
    if account is None:
        raise BugError(f"a line names the account {name}, which was never opened")
    return account


def _cap(entry: Entry) -> Epsilon:
    return Epsilon.from_nano(entry.facts["cap"])
