"""The records of the book: charges, accounts, reservations, stored releases, states, balances.

Reads: nothing. Writes: nothing. Never: a charge of a family of plans that is not known, or one that does not say what
its losses are about.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from thresher.accounting import FAMILIES, RegionLosses, Spending, Subject, is_paid_by, spending_from_json
from thresher.amounts import Epsilon, rounded_up
from thresher.errors import ArgumentError, BugError
from thresher.ledger.entries import Entry, canonical
from thresher.pages import Meter, Page, Shown

RESERVED, SETTLED, FORFEITED, CANCELLED = "reserved", "settled", "forfeited", "cancelled"
MAX_NAME = 200
_MAX_KEY, _MAX_QUESTION = 200, 100_000


@dataclass(frozen=True, slots=True)
class Charge:
    """Hold the worst case of one plan, which the ledger reserves.

    account, analyst    the account that pays and, if an analyst is named, that analyst's own part of it, which pays too
    key                 the name of the answer, which is charged once for ever
    question            the identity of the question; the same key with another question is refused
    family, subject     the family of the plan, and what its losses are about
    relations           the tables, files or views whose rows are read, each traced to what it is based on
    columns             a hash of the names of the columns of a table in memory without a version; otherwise empty
    """

    account: str
    worst_case: Spending
    key: str
    question: str
    family: str
    subject: Subject
    analyst: str = ""
    relations: tuple[str, ...] = ()
    columns: str = ""

    def __post_init__(self) -> None:
        checked_text(self.account, "account", MAX_NAME)
        checked_key(self.key)
        checked_text(self.question, "question", _MAX_QUESTION)
        checked_analyst(self.analyst)
        if not isinstance(self.worst_case, Spending):
            raise ArgumentError("worst_case", self.worst_case, "it must be a Spending", "Pass an event of accounting")
        check_family(self.family, self.subject)
        for relation in self.relations:
            checked_text(relation, "relation", _MAX_QUESTION)

    def facts(self, owner: str, loss: Mapping[str, int]) -> dict[str, Any]:
        """Return what the line of the reservation says: the charge, who made it, and the losses after it."""
        return {
            **({"columns": self.columns} if self.columns else {}),
            "family": self.family,
            "key": self.key,
            "loss": loss,
            "owner": owner,
            "question": self.question,
            "relations": sorted(self.relations),
            "subject": self.subject,
            "worst_case": self.worst_case,
        }


@dataclass(frozen=True, slots=True)
class Account:
    """The budget of a table (analyst ""), or an analyst's part of it.

    cap         the most that may be spent; None if an analyst's part has no cap
    loss        what counts as spent: the final losses, and open reservations at their worst case
    losses      the final losses only, by region
    coarse      the losses have been shortened, so that they add up to more than was lost
    subject     what the losses are about, from the first charge on; None before it, and for an analyst's part
    relations   the tables, files or views that were charged to it
    steps       of each stream that is charged to it, its last charged step
    restored    the line that last charged what an anchor had seen; 0 if none did. Answers before it cannot be refined
    renamed     the line that gave it its name; 0 if it has its first name
    """

    name: str
    analyst: str
    cap: Epsilon | None
    loss: Epsilon
    losses: tuple[RegionLosses, ...]
    coarse: bool = False
    subject: Subject | None = None
    relations: tuple[str, ...] = ()
    steps: tuple[tuple[str, int], ...] = ()
    restored: int = 0
    renamed: int = 0


@dataclass(frozen=True)
class Reservation:
    """The right to read data once, at this worst case; and, in the book, how it ended.

    sequence    the number of its line; `ended_by`: of the line that ended it
    written     the worst case as text. It is parsed only where it is needed, so a stored answer needs no accounting
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
        """Return the reservation that a line makes."""
        facts = entry.facts
        spending, names = facts["worst_case"], (facts["key"], facts["question"])
        made = cls(entry.sequence, entry.account, entry.analyst, *names, canonical(spending), facts["owner"])
        vars(made)["worst_case"] = spending  # what the property would compute
        return made

    @cached_property
    def worst_case(self) -> Spending:
        """Return the worst case, parsed from its text."""
        return spending_from_json(json.loads(self.written))

    def lost_words(self, day: str) -> str:
        """Return the refusal of a question whose answer was lost on a day."""
        charged = max(amount for loss in self.worst_case.losses() for _, amount in loss.regions())
        return (
            f"the question with the key {self.key!r} was charged {charged} on {day}, and its answer was lost. To ask "
            "anew and pay anew, add key=NAME with a name that was not used before"
        )


@dataclass(frozen=True, slots=True)
class StoredRelease:
    """Hold the stored answer of a key. Showing it again is free.

    paid_on     the day on which it was settled, in UTC
    columns     a hash of the names of the columns that its table had, if the table was one in memory
    """

    body: bytes
    paid_on: str = ""
    columns: str = ""


@dataclass(frozen=True, slots=True)
class Recalled:
    """The question that a key was charged for, and its answer: None while it is being answered, or if it was lost.

    restored    the answer is older than a restored backup: a refinement of it may have been forgotten
    """

    question: str
    body: bytes | None
    lost: bool
    restored: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """The state from which a stream continues after a release. It is kept under its name until the next replaces it.

    The caller must seal what is secret in it: the book only keeps the bytes.
    """

    name: str
    body: bytes

    def __post_init__(self) -> None:
        checked_text(self.name, "state", MAX_NAME)
        if not isinstance(self.body, bytes):
            raise ArgumentError("state", type(self.body).__name__, "its body must be bytes", "Encode it first")


@dataclass(frozen=True, slots=True)
class Balance(Shown):
    """Hold what is left of a budget. `spent` counts open reservations at their worst case; `reserved` counts them."""

    account: str
    analyst: str
    cap: Epsilon | None
    spent: Epsilon
    remaining: Epsilon | None
    reserved: int

    @property
    def share(self) -> float | None:
        """Return the share of the cap that is spent; None if there is no cap, or a cap of 0."""
        return None if self.cap is None or not self.cap.nano else self.spent.nano / self.cap.nano

    @property
    def in_words(self) -> str:
        """Return the amounts spent and permitted as text."""
        return f"{self.spent} spent, no limit" if self.cap is None else f"{self.spent} of {self.cap} spent"

    def page(self) -> Page:
        """Return the page that shows this budget, and nothing else of the ledger."""
        # Rounded for people; the ledger's own page and the document give exact amounts.
        spent = rounded_up(self.spent.fraction)
        text = f"{spent} spent, no limit" if self.cap is None else f"{spent} of {self.cap} spent"
        meter = Meter("budget", f"{self.account}: {text}", self.share)
        amounts = {
            "account": self.account,
            "cap": None if self.cap is None else self.cap.to_json(),
            "spent": self.spent.to_json(),
        }
        return Page((meter,), {"budget": amounts})


def check_family(family: object, subject: object) -> None:
    """Refuse a family of plans that is not known, or a subject of another kind than the family has."""
    if not isinstance(family, str) or family not in FAMILIES:
        raise BugError(f"the ledger does not know the family of plans {family!r}. Nothing is charged")
    if not isinstance(subject, Subject) or not is_paid_by(family, subject):
        raise BugError(f"a plan of the family {family} does not say what its losses are about")


def step_of(key: str) -> tuple[str, int] | None:
    """Return the stream and the step that a key names; None for the key of a question."""
    stream, _, step = key.rpartition("/")
    return (stream, int(step)) if stream.startswith("stream/") and step.isdecimal() else None


def checked_key(key: object) -> str:
    """Return the key, or refuse it."""
    return checked_text(key, "key", _MAX_KEY)


def checked_analyst(analyst: object) -> str:
    """Return the name of an analyst; it is empty where no analyst is named."""
    return checked_text(analyst, "analyst", MAX_NAME, empty=True)


def checked_text(value: object, field: str, longest: int, *, empty: bool = False) -> str:
    """Return a text that every store can keep, or refuse it."""
    if not isinstance(value, str) or not (value or empty) or len(value) > longest or "\x00" in value:
        rule = f"it must be a text of {0 if empty else 1} to {longest:,} characters, and none may be NUL"
        raise ArgumentError(field, value, rule, "Pass such a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ArgumentError(field, value, "it must be valid Unicode", "Remove the half of a surrogate pair") from None
    return value
