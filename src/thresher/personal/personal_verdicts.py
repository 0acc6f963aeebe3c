"""Plan a personal decision: which groups' weighted counts or sums reach a threshold, with exact tails.

The noisy weighted sums are released, and verdicts follow from them. Let Y be the exact weighted sum of a group, T the
least whole number that meets the condition there, and N = Y + noise. The verdict is below if N - T <= -a, above if
N - T >= b - 1, else uncertain. The noise is -a or less with probability at most the miss rate, and b or more with
probability at most the false-alarm rate. So Y >= T is marked below, and Y < T above, only with these probabilities; and
Y <= T - (a + b - 1) is reported at all only if the noise is b or more.
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
    """A personal decision.

    The noise is `-miss_margin` or less with probability at most the miss rate, and `alarm_margin` or more with
    probability at most the false-alarm rate. `thresholds` are the least weighted sums of each group that reach the
    first value that meets the condition: weighted numbers may lie between two values of the grid, where "> 300" and
    ">= 301" differ, and both are decided as the latter, as the promise says. A group that is `clear` short of its
    threshold is reported with probability at most the false-alarm rate.
    """

    miss_margin: int
    alarm_margin: int
    thresholds: tuple[int, ...]
    clear: int

    def recall(self, body: bytes, key: str) -> Release:
        """Hand out a stored answer again."""
        return handed_out(decoded(Release, body), key, repeated=True)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Release, None]:
        """Draw the noise, and decide."""
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
                f"Amounts are shares of {read.facts['budget']}, not epsilon",
                f"A weighted number is off by more than its half width with probability at most {off}",
                INDEPENDENT,
            ),
        )
        return release, None

    def verdicts(self, noisy: Sequence[int]) -> tuple[str, ...]:
        """Return the verdicts that follow from the noisy sums alone."""
        gaps = [number - threshold for number, threshold in zip(noisy, self.thresholds, strict=True)]
        return tuple(
            BELOW if gap <= -self.miss_margin else ABOVE if gap >= self.alarm_margin - 1 else UNCERTAIN for gap in gaps
        )


def plan_verdicts(read: WeightedRead) -> VerdictPlan:
    """Return the plan of a decision. Its price is the share of budgets; how fine it is follows from that."""
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
    exact = exact_fraction(_USUAL[field] if rate is None else rate, field)
    if not 0 < exact < Fraction(1, 2):
        raise ArgumentError(field, rate, "it must lie between 0 and 0.5", f"Pass {_USUAL[field]}, say")
    return exact
