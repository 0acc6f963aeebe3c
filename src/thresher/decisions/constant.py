"""Questions whose answer does not depend on the data: given at once, free of charge.

Reads: a question. Writes: nothing. Never: data, noise, a budget.
"""

import json
from dataclasses import dataclass
from typing import Any

from thresher.accounting import Spending
from thresher.amounts import Epsilon
from thresher.decisions.rules import Terms
from thresher.decisions.verdicts import MISSES, Bound
from thresher.noise import Entropy
from thresher.plan import ABOVE, BELOW, UNCERTAIN, Guarantee, OldPlan, Release
from thresher.question import Exact, Need, Question


@dataclass(frozen=True, slots=True)
class ConstantPlan(OldPlan):
    """Answered without data, free of charge: a formula that holds always or never, or a rate that asks for nothing.

    `told` is given in the second case: why every group may be called uncertain.
    """

    question: Question
    bound: Bound = MISSES
    told: str = ""
    shows_levels: bool = False

    @property
    def need(self) -> Need | None:
        return None

    @property
    def cost(self) -> Spending | None:
        return None

    @property
    def epsilon(self) -> Epsilon:
        return Epsilon(0)

    @property
    def notes(self) -> tuple[str, ...]:
        return self.question.notes

    @property
    def guarantee(self) -> Guarantee:
        # Reported unseen, none is missed and any may be wrong; the other way round if none is reported.
        rates = ("0", "0") if not self.told else ("0", "1") if self.bound == MISSES else ("1", "0")
        return Guarantee(*rates, "0", "0", f"{self._always()}: nothing was read and nothing is charged.")

    recall = staticmethod(Release.from_bytes)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Release, Spending | None]:  # noqa: ARG002
        """All groups at once, from the formula alone."""
        question, nothing = self.question, Epsilon(0)
        verdict = UNCERTAIN if self.told else ABOVE if question.formula else BELOW
        release = Release(
            question=question.text,
            mechanism="none",
            keys=tuple(column.name for column in question.keys),
            groups=tuple(question.labels()),
            verdicts=(verdict,) * len(question.groups),
            epsilons=(nothing,) * len(question.groups),
            half_width=self.guarantee.half_width,
            guarantee=self.guarantee,
            planned_epsilon=nothing,
            spent_epsilon=nothing,
            bound=self.bound,
            notes=question.notes,
        )
        return release, None

    def __str__(self) -> str:
        return f"question    {self.question.text}\nepsilon     0\npromise     {self.guarantee.sentence}\n"

    def document(self) -> dict[str, Any]:
        return {
            "question": self.question.text,
            "groups": len(self.question.groups),
            "epsilon": "0",
            "guarantee": {name: getattr(self.guarantee, name) for name in Guarantee.__slots__},
        }

    @property
    def account(self) -> str:
        return self.question.table.name

    @property
    def written_key(self) -> str | None:
        return self.question.options.get("key")

    @property
    def limits(self) -> dict[str, Epsilon | None]:
        return {}

    def identity_text(self) -> str:
        return json.dumps({"bound": self.bound, "question": self.question.text})

    def affordable(self, limit: Epsilon) -> None:
        """It costs nothing."""

    def _always(self) -> str:
        if self.told:
            return self.told
        if not self.question.groups:
            return "No declared group can be in the answer"
        return "Always true, no data needed" if self.question.formula else "Always false, no data needed"


def needs_no_data(terms: Terms) -> str:
    """Why a rate of half or more costs nothing."""
    if terms.bound == MISSES:
        return (
            "A miss rate of half or more needs no data: all groups are reported unseen, and nothing is promised about "
            "false alarms"
        )
    return (
        "A false alarm rate of half or more needs no data: no group is reported, and nothing is promised about misses"
    )
