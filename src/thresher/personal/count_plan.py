"""Personal counts and sums as a plan: a noisy weighted number for each group, with a half width that is promised.

Reads: a weighted read. Writes: nothing. Never: a promise about what people without a budget would have added.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from thresher.amounts import exact_fraction
from thresher.codec import decoded, handed_out
from thresher.config import decimal_text
from thresher.errors import ArgumentError
from thresher.guarantee import Guarantee
from thresher.noise import Entropy, conditional_shift
from thresher.personal.answers import PersonalCounts
from thresher.personal.personal_release import INDEPENDENT
from thresher.personal.planning import ReadPlan, WeightedRead, charge_of
from thresher.question import Exact

_USUAL_CONFIDENCE = "0.95"


@dataclass(frozen=True, slots=True, kw_only=True)
class CountPlan(ReadPlan[PersonalCounts]):
    """A personal count with its promise."""

    predicted_sd: str

    def recall(self, body: bytes, key: str) -> PersonalCounts:
        """Hand out a stored answer again."""
        return handed_out(decoded(PersonalCounts, body), key, repeated=True)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[PersonalCounts, None]:
        """Draw, and divide by the mean weight."""
        question = self.read.question
        release = PersonalCounts(
            question=question.text,
            aggregate=self.read.atom.aggregate,
            keys=tuple(column.name for column in question.keys),
            groups=tuple(question.labels()),
            estimates=tuple(decimals(noisy, self.read) for noisy in self.read.sums(exact, entropy)),
            predicted_sd=self.predicted_sd,
            share=self.read.share,
            guarantee=self.guarantee,
            assumption=INDEPENDENT,
            stamp=entropy.stamp,
            notes=question.notes,
        )
        return release, None

    def __str__(self) -> str:
        return page(self, f"half width  {decimal_text(self.guarantee.half_width or Fraction(0))}")


def plan_count(read: WeightedRead) -> CountPlan:
    """Return the plan of a count; its price is the share, and its promise follows."""
    confidence = read.options.confidence
    sure = exact_fraction(_USUAL_CONFIDENCE if confidence is None else confidence, "confidence")
    if not Fraction(1, 2) <= sure < 1:
        raise ArgumentError("confidence", confidence, "it lies from 0.5 to below 1", "Pass 0.95, say")
    margin = conditional_shift(0, read.weights.grid, (1 - sure) / 2, read.weights.reach)
    # The noise stays below the margin, in weights, on either side.
    facts = {"confidence": decimal_text(sure), **weighting(read)}
    promise = Guarantee("weighted count", half_width=width(margin - 1, read), facts=facts)
    return CountPlan(**charge_of(read, "personal count", promise), predicted_sd=predicted(read))


def page(plan: ReadPlan[Any], *lines: str) -> str:
    """Return what is shown of a plan; `lines` are its own."""
    read = plan.read
    told = [
        f"question    {read.question.text}",
        f"share       {read.share} of each person's own budget at most",
        *lines,
        f"predicted   standard deviation {predicted(read)}, of the noise {read.weights.noise_sd:.4g}",
        f"promise     {plan.guarantee}",
        f"assumption  {INDEPENDENT}",
    ]
    return "\n".join(told) + "\n"


def decimals(weighted: int, read: WeightedRead) -> str:
    """A weighted sum in units of what is counted, with three decimals more than its grid has."""
    fine = _places(read)
    return decimal_text(Fraction(round(fine * weighted / read.unit), fine))


def _places(read: WeightedRead) -> int:
    places: int = 10 ** (2 + len(str(math.ceil(read.atom.steps))))
    return places


def width(weights: int, read: WeightedRead) -> Fraction:
    """A distance in the same units, never rounded down, and with room for the rounding of what it is about."""
    fine = _places(read)
    return Fraction(math.ceil(fine * weights / abs(read.unit) + Fraction(1, 2)), fine)


def predicted(read: WeightedRead) -> str:
    return f"{read.weights.predicted_sd / float(read.atom.steps):.4g}"


def weighting(read: WeightedRead) -> dict[str, str]:
    """Return the facts of a promise that say how a number is weighted, and what everybody loses at most."""
    budget = "what they have left of their own budget" if read.options.leftovers else "their own budget"
    return {"aggregate": read.atom.aggregate, "budget": budget, "share": str(read.share)}
