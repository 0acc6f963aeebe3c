"""What the book takes, keeps and hands out: charges, accounts, reservations, stored releases, states, balances.

Reads: nothing. Writes: nothing. Never: a charge of a plan of an unknown family, or one whose losses are about nobody
knows what.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from thresher.accounting import FAMILIES, RegionLosses, Spending, Subject, spending_from_json
from thresher.amounts import Epsilon
from thresher.errors import ArgumentError, BugError
from thresher.ledger.entries import Entry, canonical
from thresher.pages import Meter, Page, Shown

RESERVED, SETTLED, FORFEITED, CANCELLED = "reserved", "settled", "forfeited", "cancelled"
MAX_NAME = 200
_MAX_KEY, _MAX_QUESTION = 200, 100_000


@dataclass(frozen=True, slots=True)
class Charge:
    """The worst case of one plan, as the book is to reserve it.

    account, analyst    whose budgets pay: the account, and, if an analyst is named, also the analyst's own part of it
    key                 names the answer, and is charged once for ever
    question            what makes it this question; the same key with another question is refused
    family, subject     of which family the plan is, and what its losses are about
    """

    account: str
    worst_case: Spending
    key: str
    question: str
    family: str
    subject: Subject
    analyst: str = ""

    def __post_init__(self) -> None:
        checked_text(self.account, "account", MAX_NAME)
        checked_key(self.key)
        checked_text(self.question, "question", _MAX_QUESTION)
        checked_analyst(self.analyst)
        if not isinstance(self.worst_case, Spending):
            raise ArgumentError("worst_case", self.worst_case, "it must be a spending", "Pass an event of accounting")
        check_family(self.family, self.subject)

    def facts(self, owner: str, loss: Mapping[str, int]) -> dict[str, Any]:
        """What the line of the reservation says: the charge, who made it, and the losses that it leaves."""
        return {
            "family": self.family,
            "key": self.key,
            "loss": loss,
            "owner": owner,
            "question": self.question,
            "subject": self.subject,
            "worst_case": self.worst_case,
        }


@dataclass(frozen=True, slots=True)
class Account:
    """A budget: of a table (analyst ""), or of an analyst on it. `losses` are final, `loss` counts reservations too.

    `coarse`: the losses have been shortened, so that they add up to more than was lost. `subject`: what they are about,
    from the first charge on; None before it, and of an analyst's part, which has that of its account.
    """

    name: str
    analyst: str
    cap: Epsilon | None
    loss: Epsilon
    losses: tuple[RegionLosses, ...]
    coarse: bool = False
    subject: Subject | None = None


@dataclass(frozen=True)
class Reservation:
    """The right to read data once, at this worst case; and, in the book, what became of it.

    sequence    its line; `ended_by`, the line that ended it
    written     the worst case as text: read only where it is needed, so that a stored answer needs no accounting
    owner       the process that made it
    """

    sequence: int
    account: str
    analyst: str
    key: str
    question: str
    written: str
    owner: str
    state: str = RESERVED
    ended_by: int | None = None

    @classmethod
    def of_line(cls, entry: Entry) -> "Reservation":
        """The reservation that a line makes."""
        facts = entry.facts
        spending, names = facts["worst_case"], (facts["key"], facts["question"])
        made = cls(entry.sequence, entry.account, entry.analyst, *names, canonical(spending), facts["owner"])
        vars(made)["worst_case"] = spending  # as the property would find it
        return made

    @cached_property
    def worst_case(self) -> Spending:
        return spending_from_json(json.loads(self.written))


@dataclass(frozen=True, slots=True)
class StoredRelease:
    """The answer that a key has had already. Handing it out again costs nothing."""

    body: bytes


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a key was charged for, and its answer; None while it is still being answered, or if it was lost."""

    question: str
    body: bytes | None
    lost: bool


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
class Balance(Shown):
    """A budget: `spent` counts reservations at their worst case; `reserved` is how many have not ended."""

    account: str
    analyst: str
    cap: Epsilon | None
    spent: Epsilon
    remaining: Epsilon | None
    reserved: int

    @property
    def share(self) -> float | None:
        """What share of the cap is spent; None if there is no cap."""
        return None if not self.cap else self.spent.nano / self.cap.nano

    @property
    def in_words(self) -> str:
        """What is spent, and of how much."""
        return f"{self.spent} of {'no cap' if self.cap is None else self.cap} spent"

    def page(self, *, wide: int = 9) -> Page:
        """Return what is shown of it, with a label of this width: no entry, and nobody else's budget."""
        told = Meter("budget", f"{self.account}: {self.in_words}", self.share, wide)
        amounts = {
            "account": self.account,
            "cap": None if self.cap is None else self.cap.to_json(),
            "spent": self.spent.to_json(),
        }
        return Page((told,), {"budget": amounts})


def check_family(family: object, subject: object) -> None:
    """Refuse a family of plans that is not known, or one that is charged for something else than it is about."""
    if not isinstance(family, str) or family not in FAMILIES:
        raise BugError(f"the ledger does not know the family of plans {family!r}: nothing is charged")
    if not isinstance(subject, Subject) or subject.kind != FAMILIES[family]:
        raise BugError(f"a plan of the family {family} does not say what its losses are about")


def checked_key(key: object) -> str:
    return checked_text(key, "key", _MAX_KEY)


def checked_analyst(analyst: object) -> str:
    """Return the name of an analyst, or an empty one for nobody in particular."""
    return checked_text(analyst, "analyst", MAX_NAME, empty=True)


def checked_text(value: object, field: str, longest: int, *, empty: bool = False) -> str:
    """Return a text that every store can keep."""
    if not isinstance(value, str) or not (value or empty) or len(value) > longest or "\x00" in value:
        raise ArgumentError(field, value, f"it must be a text of 1 to {longest} characters", "Pass a shorter name")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ArgumentError(field, value, "it must be valid Unicode", "Remove the lone surrogate") from None
    return value
