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

from thresher.amounts import Amount, exact_fraction
from thresher.codec import decoded, handed_out
from thresher.config import decimal_text
from thresher.errors import ArgumentError
from thresher.guarantee import ABOVE, BELOW, UNCERTAIN, Guarantee
from thresher.noise import Entropy, conditional_shift
from thresher.personal.personal_release import INDEPENDENT
from thresher.personal.weighted_read import PersonalPlan, WeightedRead
from thresher.question import Exact
from thresher.release import Release, ShownNumber

_USUAL = {"miss_rate": "0.05", "false_alarm_rate": "0.10"}


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictPlan(PersonalPlan[Release]):
    """A personal decision. The noise is `-miss_margin` or less, or `alarm_margin` or more, only with the rates.

    `thresholds`: the least weighted sum of each group that reaches its line, the first value that meets the condition.
    Weighted numbers may lie between two values of the grid, where "> 300" and ">= 301" differ. The line is the latter
    for both, and the promise says so. A group that is `clear` short of it is reported with the false-alarm rate only.
    """

    miss_margin: int
    alarm_margin: int
    thresholds: tuple[int, ...]
    clear: int

    def recall(self, body: bytes, key: str) -> Release:
        """Hand out a stored answer again."""
        return handed_out(decoded(Release, body), key, repeated=True)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Release, None]:
        """Draw, and read the verdicts off."""
        read, question = self.read, self.read.question
        noisy = read.sums(exact, entropy)
        off = decimal_text((self.guarantee.miss_rate or 0) + (self.guarantee.false_alarm_rate or Fraction(0)))
        shown = ShownNumber(
            f"weighted {read.atom.aggregate}",
            tuple(read.decimals(number) for number in noisy),
            (decimal_text(read.width(max(self.miss_margin, self.alarm_margin) - 1)),),
        )
        release = Release(
            question=question.text,
            mechanism="weighted",
            keys=tuple(column.name for column in question.keys),
            groups=tuple(question.labels()),
            verdicts=self.verdicts(noisy),
            epsilons=(read.share,) * len(noisy),
            guarantee=self.guarantee,
            planned_epsilon=read.share,
            spent_epsilon=read.share,
            values=(shown,),
            stamp=entropy.stamp,
            notes=(
                *question.notes,
                "Amounts are shares of each person's own budget, not epsilon",
                f"A weighted number is off by more than its half width with probability at most {off}",
                INDEPENDENT,
            ),
        )
        return release, None

    def verdicts(self, noisy: Sequence[int]) -> tuple[str, ...]:
        """Return the verdicts that follow from the noisy sums alone."""
        seen = [number - line for number, line in zip(noisy, self.thresholds, strict=True)]
        return tuple(
            BELOW if by <= -self.miss_margin else ABOVE if by >= self.alarm_margin - 1 else UNCERTAIN for by in seen
        )


def plan_verdicts(read: WeightedRead) -> VerdictPlan:
    """Return the plan of a decision; its price is the share, and how far it can tell apart follows."""
    misses = _rate(read.options.get("miss_rate"), "miss_rate")
    alarms = _rate(read.options.get("false_alarm_rate"), "false_alarm_rate")
    below, above = (conditional_shift(0, read.weights.grid, rate, read.weights.reach) for rate in (misses, alarms))
    asked, mean = read.atom.at_least, read.weights.mean
    each = asked if isinstance(asked, tuple) else (asked,) * len(read.question.groups)
    clear = below + above - 1
    promise = Guarantee(
        "weighted decision", misses, alarms, read.width(-(-clear // 2)), read.width(clear), facts=read.facts
    )
    return VerdictPlan(
        **read.charge("personal decision", promise),
        miss_margin=below,
        alarm_margin=above,
        thresholds=tuple(math.ceil(at_least * mean) for at_least in each),
        clear=clear,
    )


def _rate(rate: Amount | None, field: str) -> Fraction:
    found = exact_fraction(_USUAL[field] if rate is None else rate, field)
    if not 0 < found < Fraction(1, 2):
        raise ArgumentError(field, rate, "it lies between 0 and 0.5", f"Pass {_USUAL[field]}, say")
    return found
