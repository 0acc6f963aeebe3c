"""Define the frozen Plan that all families of questions share.

    Plan = need + worst-case cost + guarantee + run(exact, entropy) -> (release, what was reached)

Planning reads no private data, so a plan, its price and its refusal may be shown to anybody.
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
    """Describe what any family releases: bytes that the ledger stores under a key."""

    def to_bytes(self) -> bytes: ...

    def handed_out(self, key: str) -> Self: ...


Given = TypeVar("Given", bound=Released)
Given_co = TypeVar("Given_co", bound=Released, covariant=True)

# How wide the labels of a plan are.
LABEL = 11
Statements = list[tuple[str, str]]


class Explained(Shown):
    """Describe a plan as it is shown: statements with labels."""

    __slots__ = ()

    def explanation(self) -> Statements:
        """Return what the plan reads, costs and promises: a label and a sentence for each statement."""
        raise NotImplementedError

    def document(self) -> dict[str, Any]:
        """Return the plan for JSON."""
        raise NotImplementedError

    def details(self) -> Statements:
        """Return how the answer is measured: for those who ask for it."""
        return []

    def page(self, *, details: bool = False) -> Page:
        """Return the page of the plan; with `details`, also how the answer is measured."""
        statements = [*self.explanation(), *(self.details() if details else [])]
        return Page(tuple(Fact(label or " ", text, LABEL) for label, text in statements), self.document())

    def __str__(self) -> str:
        return "".join(f"{label:<{LABEL}}{visible(text)}\n" for label, text in self.explanation())


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Explained, Generic[Given_co]):
    """A question of any family, with its price. Everything here is computed once, when it is planned.

    family     which family planned it; the ledger stores it with the charge, and refuses a family that it does not know
    account    whose budget pays
    subject    what the losses of the account are about
    identity   what makes two questions the same, and what makes two measurements the same
    need       what must be read; None if the question needs no data
    cost       the worst case that is reserved; None if nothing is charged
    epsilon    what the worst case comes to for one protected unit
    limits     what one question may cost, by the name of the limit
    written_key    the key in the question's text, if there is one
    key_is_fixed   no other key may be passed: the key of a refinement follows from that of the answer it refines
    shows_levels   the release shows the level at which each group stopped, so that the rest is given back
    called     what messages call the question
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
    key_is_fixed: bool = False
    shows_levels: bool = False
    called: str = "the question"

    def affordable(self, limit: Epsilon) -> str | None:
        """Return what to change so that the question costs at most `limit`, in words; None if nothing would help."""
        raise NotImplementedError

    @property
    def price_in_words(self) -> str:
        """Return what the question costs, in words."""
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
        """Return the release that is stored as `body` under `key`."""
        raise NotImplementedError

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Given_co, Spending | None]:
        """Draw and decide. Return the release, and what it really cost (None: the worst case)."""
        raise NotImplementedError

    def state_after(self, release: Any) -> tuple[str, bytes] | None:  # noqa: ARG002
        """Return the name and the bytes of a state that the ledger stores with the release; None if there is none."""
        return None


def subject_of(table: Table) -> Subject:
    """Return what the losses of a table's account are about."""
    if table.people is not None:
        return Subject(TABLE, table.people.unit)
    unit = None if table.contribution is None else table.contribution.unit
    return Subject(TABLE if table.own_budgets is None else PERSONAL, unit)


def subject_of_stream(declared: StreamDeclaration) -> Subject:
    """Return what the losses of a stream are about: whom it protects, in how many consecutive steps, and its clock."""
    if declared.people is not None:
        # It adds up all steps of a person, as an account of people does with questions.
        return Subject(TABLE, declared.people.unit)
    unit = None if declared.polled is None else declared.polled.unit
    return Subject(STREAM, unit, declared.start.isoformat(), declared.step_seconds, declared.protected_steps)
