"""What is asked of the book: a charge, with all that its line will say; and the texts that the book takes.

Reads: nothing. Writes: nothing. Never: a plan of an unknown family, or one whose losses are about nobody knows what.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thresher.accounting import FAMILIES, Spending, Subject
from thresher.errors import ArgumentError, BugError

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
        if not isinstance(self.family, str) or self.family not in FAMILIES:
            raise BugError(f"the ledger does not know the family of plans {self.family!r}: nothing is charged")
        if not isinstance(self.subject, Subject) or self.subject.kind != FAMILIES[self.family]:
            raise BugError(f"a plan of the family {self.family} does not say what its losses are about")

    def facts(self, owner: str, loss: Mapping[str, int]) -> dict[str, Any]:
        """What the line of the reservation says: the charge, who made it, and the losses that it leaves."""
        return {
            "family": self.family,
            "key": self.key,
            "loss": loss,
            "owner": owner,
            "question": self.question,
            "subject": self.subject.to_json(),
            "worst_case": self.worst_case.to_json(),
        }


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
