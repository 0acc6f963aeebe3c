"""A personal decision as a plan: which groups' weighted counts or sums reach a threshold, with exact tails.

Released are the noisy weighted sums; verdicts are read off them. With Y the exact weighted sum of a group, T the least
whole number that meets the condition there, and N = Y + noise: below if N - T <= -a, above if N - T >= b - 1, else
uncertain, where the noise is -a or less with probability at most the miss rate, and b or more with at most the
false-alarm rate. So Y >= T is marked below, and Y < T above, only with these; and Y <= T - (a + b - 1) is reported at
all only if the noise is b or more.
Reads: a weighted read. Writes: nothing. Never: a promise about the count itself, if budgets and data are related.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from thresher.accounting import Spending
from thresher.amounts import Amount, exact_fraction
from thresher.config import decimal_text
from thresher.errors import ArgumentError
from thresher.noise import Entropy, conditional_shift
from thresher.personal.count_plan import decimals, loses, predicted, width
from thresher.personal.personal_release import INDEPENDENT
from thresher.personal.planning import ReadPlan, WeightedRead
from thresher.plan import ABOVE, BELOW, UNCERTAIN, Guarantee, Release, ShownNumber
from thresher.question import Exact

_USUAL = {"miss_rate": "0.05", "false_alarm_rate": "0.10"}


@dataclass(frozen=True, slots=True)
class VerdictPlan(ReadPlan):
    """A personal decision. The noise is `-miss_margin` or less, or `alarm_margin` or more, only with the rates."""

    miss_rate: Fraction
    false_alarm_rate: Fraction
    miss_margin: int
    alarm_margin: int

    @property
    def thresholds(self) -> list[int]:
        """The least weighted sum of each group that reaches its line: the first value that meets the condition.

        Weighted numbers may lie between two values of the grid, where "> 300" and ">= 301" differ. The line is the
        latter for both, and the promise says so.
        """
        asked, number = self.read.atom.at_least, len(self.read.question.groups)
        each = asked if isinstance(asked, tuple) else (asked,) * number
        mean = self.read.weights.mean
        return [math.ceil(at_least * mean) for at_least in each]

    @property
    def clear(self) -> int:
        return self.miss_margin + self.alarm_margin - 1

    @property
    def guarantee(self) -> Guarantee:
        misses, alarms = decimal_text(self.miss_rate), decimal_text(self.false_alarm_rate)
        far, name = width(self.clear, self.read), self.read.atom.aggregate
        sentence = (
            f"For each group by itself, over the noise, and about the weighted {name}, with the line at the first "
            f"value on its grid that meets the condition (301 for > 300): if it reaches the line, the group is "
            f"reported (above or uncertain) except with probability at most {misses}; if it does not, it is marked "
            f"above with probability at most {alarms}, and if it is short of it by {far} or more, it is reported at "
            f"all with probability at most {alarms}. {loses(self.read)}"
        )
        half = width(-(-self.clear // 2), self.read)
        return Guarantee(misses, alarms, half, far, sentence)

    def identity_text(self) -> str:
        return self.read.identity(
            {"miss_rate": decimal_text(self.miss_rate), "false_alarm_rate": decimal_text(self.false_alarm_rate)}
        )

    recall = staticmethod(Release.from_bytes)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Release, Spending]:
        """Draw, and read the verdicts off."""
        return self._release(self.read.sums(exact, entropy), entropy.stamp), self.cost

    def verdicts(self, noisy: Sequence[int]) -> tuple[str, ...]:
        """From the noisy sums alone."""
        seen = [number - line for number, line in zip(noisy, self.thresholds, strict=True)]
        return tuple(
            BELOW if by <= -self.miss_margin else ABOVE if by >= self.alarm_margin - 1 else UNCERTAIN for by in seen
        )

    def _release(self, noisy: list[int], stamp: str) -> Release:
        asked, promise = self.read.question, self.guarantee
        off = decimal_text(self.miss_rate + self.false_alarm_rate)
        shown = ShownNumber(
            f"weighted {self.read.atom.aggregate}",
            tuple(decimals(number, self.read) for number in noisy),
            (width(max(self.miss_margin, self.alarm_margin) - 1, self.read),),
        )
        return Release(
            question=asked.text,
            mechanism="weighted",
            keys=tuple(column.name for column in asked.keys),
            groups=tuple(asked.labels()),
            verdicts=self.verdicts(noisy),
            epsilons=(self.read.share,) * len(noisy),
            half_width=promise.half_width,
            guarantee=promise,
            planned_epsilon=self.read.share,
            spent_epsilon=self.read.share,
            values=(shown,),
            stamp=stamp,
            notes=(
                *asked.notes,
                "Amounts are shares of each person's own budget, not epsilon",
                f"A weighted number is off by more than its half width with probability at most {off}",
                INDEPENDENT,
            ),
        )

    def __str__(self) -> str:
        return (
            f"question    {self.read.question.text}\n"
            f"share       {self.read.share} of each person's own budget at most\n"
            f"predicted   standard deviation {predicted(self.read)}, of the noise {self.read.weights.noise_sd:.4g}\n"
            f"promise     {self.guarantee}\n"
            f"assumption  {INDEPENDENT}\n"
        )


def plan_verdicts(
    read: WeightedRead, miss_rate: Amount | None = None, false_alarm_rate: Amount | None = None
) -> VerdictPlan:
    """The plan of a decision; its price is the share, and how far it can tell apart follows."""
    misses, alarms = _rate(miss_rate, "miss_rate"), _rate(false_alarm_rate, "false_alarm_rate")
    grid, reach = read.weights.grid, read.weights.reach
    below, above = (conditional_shift(0, grid, rate, reach) for rate in (misses, alarms))
    return VerdictPlan(read, misses, alarms, below, above)


def _rate(rate: Amount | None, field: str) -> Fraction:
    found = exact_fraction(_USUAL[field] if rate is None else rate, field)
    if not 0 < found < Fraction(1, 2):
        raise ArgumentError(field, rate, "it lies between 0 and 0.5", f"Pass {_USUAL[field]}, say")
    return found
