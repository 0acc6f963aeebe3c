"""What every family speaks: a frozen Plan.

    Plan = need + worst-case cost + guarantee + run(exact, entropy) -> (release, what was reached)

Planning touches no data, so a plan, its price and its refusal may be shown to anybody.
Reads: nothing. Writes: nothing. Never: data, noise, a ledger.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, Self, TypeVar

from thresher.accounting import Spending, Subject
from thresher.accounting.subject import PERSONAL, STREAM, TABLE
from thresher.amounts import Epsilon
from thresher.config import StreamDeclaration, Table
from thresher.guarantee import Guarantee
from thresher.noise import Entropy
from thresher.pages import Fact, Page, Shown, visible
from thresher.question import AnyNeed, Exact, Identity


class Released(Protocol):
    """What any family releases: bytes that the ledger keeps, handed out under a key."""

    def to_bytes(self) -> bytes: ...

    def handed_out(self, key: str) -> Self: ...


Given = TypeVar("Given", bound=Released)
Given_co = TypeVar("Given_co", bound=Released, covariant=True)


LABEL = 11
Statements = list[tuple[str, str]]


class Explained(Shown):
    """A plan as it is shown: labelled statements."""

    __slots__ = ()

    def explanation(self) -> Statements:
        """Return what it reads, costs and promises: a label and a sentence for each statement."""
        raise NotImplementedError

    def document(self) -> dict[str, Any]:
        """Return the plan for JSON."""
        raise NotImplementedError

    def details(self) -> Statements:
        """Return how it is measured, for those who want to know."""
        return []

    def page(self, *, details: bool = False) -> Page:
        """Return what is shown of it, and how it is measured if `details` are wanted."""
        statements = [*self.explanation(), *(self.details() if details else [])]
        return Page(tuple(Fact(label or " ", text, LABEL) for label, text in statements), self.document())

    def __str__(self) -> str:
        return "".join(f"{label:<{LABEL}}{visible(text)}\n" for label, text in self.explanation())


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Explained, Generic[Given_co]):
    """A question with its price, of whatever family. Everything here is computed once, when it is planned.

    family     of which family it is; the ledger keeps it with the charge, and refuses one that it does not know
    account    whose budget pays, and `subject`: what its losses are about
    identity   what makes it this question, and what makes its measurement the same
    need       what must be read; None if the question needs no data
    cost       the worst case that is reserved, None if nothing is; `epsilon` is what it comes to for one unit
    limits     what one question may cost, by the name of the limit
    written_key    the key that the question names itself, if it does
    shows_levels   the release shows every group's stopping level, so that what was not reached is given back
    """

    family: str
    account: str
    subject: Subject
    identity: Identity
    need: AnyNeed | None
    cost: Spending | None
    epsilon: Epsilon
    guarantee: Guarantee
    limits: Mapping[str, Epsilon | None] = field(default_factory=dict)
    written_key: str | None = None
    # Whether no other key may be passed: that of a refinement follows from the answer that it refines.
    key_is_fixed: bool = False
    shows_levels: bool = False
    # What it is called where it failed.
    called: str = "the question"

    def affordable(self, limit: Epsilon) -> str | None:
        """Say what to change so that it costs at most `limit`; None if nothing would help."""
        raise NotImplementedError

    @property
    def price_in_words(self) -> str:
        """What the question costs, in words."""
        return f"{'at most ' if self.shows_levels else ''}epsilon {self.epsilon}"

    def document(self) -> dict[str, Any]:
        """Return the plan for JSON."""
        return {
            "family": self.family,
            "account": self.account,
            "epsilon": self.epsilon.to_json(),
            "guarantee": self.guarantee.document(),
        }

    def recall(self, body: bytes, key: str) -> Given_co:
        """Hand out a stored release again."""
        raise NotImplementedError

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Given_co, Spending | None]:
        """Draw and decide: the release, and what it really cost (None: the worst case)."""
        raise NotImplementedError

    def state_after(self, release: Any) -> tuple[str, bytes] | None:  # noqa: ARG002
        """Name what is to be kept in the ledger together with the release, if anything is."""
        return None


def subject_of(table: Table) -> Subject:
    """What the budget of a table is about."""
    unit = None if table.contribution is None else table.contribution.unit
    return Subject(TABLE if table.own_budgets is None else PERSONAL, unit)


def subject_of_stream(declared: StreamDeclaration) -> Subject:
    """What the account of a stream is about: whom it protects in how many consecutive steps, and its clock."""
    unit = None if declared.polled is None else declared.polled.unit
    return Subject(STREAM, unit, declared.start.isoformat(), declared.step_seconds, declared.protected_steps)
