"""Personal counts and sums as a plan: a noisy weighted number for each group, with a half width that is promised.

Reads: a weighted read. Writes: nothing. Never: a promise about what people without a budget would have added.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from thresher.accounting import Spending
from thresher.amounts import Amount, exact_fraction
from thresher.codec import decoded, handed_out
from thresher.config import decimal_text
from thresher.errors import ArgumentError
from thresher.noise import Entropy, conditional_shift
from thresher.personal.answers import PersonalCounts
from thresher.personal.personal_release import INDEPENDENT
from thresher.personal.planning import ReadPlan, WeightedRead
from thresher.plan import Guarantee
from thresher.question import Exact

_USUAL_CONFIDENCE = "0.95"


@dataclass(frozen=True, slots=True)
class CountPlan(ReadPlan):
    """A personal count with its promise. `margin`: the noise stays below it, in weights, on either side."""

    confidence: Fraction
    margin: int

    @property
    def half_width(self) -> str:
        return width(self.margin - 1, self.read)

    @property
    def guarantee(self) -> Guarantee:
        sentence = (
            f"For each group by itself, over the noise: with probability {decimal_text(self.confidence)} or more, the "
            f"number is within {self.half_width} of the weighted {self.read.atom.aggregate}. {loses(self.read)}"
        )
        return Guarantee("", "", self.half_width, "", sentence)

    def identity_text(self) -> str:
        return self.read.identity({"confidence": decimal_text(self.confidence)})

    def recall(self, body: bytes, key: str) -> PersonalCounts:
        """Hand out a stored answer again."""
        return handed_out(decoded(PersonalCounts, body), key, repeated=True)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[PersonalCounts, Spending]:
        """Draw, and divide by the mean weight."""
        sums = self.read.sums(exact, entropy)
        return self._release(sums, entropy.stamp), self.cost

    def _release(self, sums: list[int], stamp: str) -> PersonalCounts:
        asked = self.read.question
        return PersonalCounts(
            question=asked.text,
            aggregate=self.read.atom.aggregate,
            keys=tuple(column.name for column in asked.keys),
            groups=tuple(asked.labels()),
            estimates=tuple(decimals(noisy, self.read) for noisy in sums),
            half_width=self.half_width,
            confidence=decimal_text(self.confidence),
            predicted_sd=predicted(self.read),
            share=self.read.share,
            sentence=self.guarantee.sentence,
            stamp=stamp,
            notes=asked.notes,
        )

    def __str__(self) -> str:
        return (
            f"question    {self.read.question.text}\n"
            f"share       {self.read.share} of each person's own budget at most\n"
            f"half width  {self.half_width}\n"
            f"predicted   standard deviation {predicted(self.read)}, of the noise {self.read.weights.noise_sd:.4g}\n"
            f"promise     {self.guarantee}\n"
            f"assumption  {INDEPENDENT}\n"
        )


def plan_count(read: WeightedRead, confidence: Amount | None = None) -> CountPlan:
    """The plan of a count; its price is the share, and its promise follows."""
    sure = exact_fraction(_USUAL_CONFIDENCE if confidence is None else confidence, "confidence")
    if not Fraction(1, 2) <= sure < 1:
        raise ArgumentError("confidence", confidence, "it lies from 0.5 to below 1", "Pass 0.95, say")
    return CountPlan(read, sure, conditional_shift(0, read.weights.grid, (1 - sure) / 2, read.weights.reach))


def decimals(weighted: int, read: WeightedRead) -> str:
    """A weighted sum in units of what is counted, with three decimals more than its grid has."""
    fine = _places(read)
    return decimal_text(Fraction(round(fine * weighted / read.unit), fine))


def _places(read: WeightedRead) -> int:
    places: int = 10 ** (2 + len(str(math.ceil(read.atom.steps))))
    return places


def width(weights: int, read: WeightedRead) -> str:
    """A distance in the same units, never rounded down, and with room for the rounding of what it is about."""
    fine = _places(read)
    return decimal_text(Fraction(math.ceil(fine * weights / abs(read.unit) + Fraction(1, 2)), fine))


def predicted(read: WeightedRead) -> str:
    return f"{read.weights.predicted_sd / float(read.atom.steps):.4g}"


def loses(read: WeightedRead) -> str:
    """What everybody is promised, and how the numbers are meant."""
    what = "what they have left of their own budget" if read.leftovers else "their own budget"
    return (
        f"Everybody counts by {what}, up to a cap, and loses at most {read.share} of it; who has none is not read. "
        "The weighted number is divided by the mean weight of the public roster."
    )
