"""Looks at fixed levels that leave clear groups alone, until none is uncertain or a certificate is reached.

The levels are climbed as in `ladder.py`: misses and wrong *above*s keep to their shares at each level, so any
stop that follows from what was seen is allowed. Decided groups lose less than the others.
Reads: margins, entropy. Writes: nothing. Never: looks at a decided group again. Proof: `three_way.md`.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.decisions.certificate import most_successes
from thresher.decisions.ladder import Climb, level_of
from thresher.decisions.look import ReachingLook
from thresher.decisions.margin import TrueMargins
from thresher.decisions.verdicts import SEEN_ABOVE, SEEN_BELOW, SEEN_BETWEEN, Level, Verdicts, counted_wrong
from thresher.noise import Entropy
from thresher.release import Certificate


@dataclass(frozen=True, slots=True)
class CountedErrors:
    """The most groups that are wrongly above, and the most that qualify and are below, with confidence 1 - delta."""

    wrong_above: int
    hidden: int
    delta: Fraction
    aim: Fraction

    def certificate(self, verdict: NDArray[np.int8]) -> Certificate:
        """Return the certificate: at most |uncertain| + wrong_above reported, of |below| - hidden or more in all."""
        above, between, below = (int((verdict == seen).sum()) for seen in (SEEN_ABOVE, SEEN_BETWEEN, SEEN_BELOW))
        listed, wrong = between + min(self.wrong_above, above), below - self.hidden
        share = min(Fraction(1), Fraction(listed, wrong)) if wrong > 0 else Fraction(bool(listed))
        return Certificate(Fraction(math.ceil(share * 10**6), 10**6), 1 - self.delta, self.aim)


@dataclass(frozen=True, slots=True)
class ThreeWayLadder(ReachingLook):
    """Priced levels; the climb ends when no group is uncertain, or the certificate is reached."""

    levels: tuple[Level, ...]
    errors: CountedErrors | None
    sure_rate: Fraction
    scale: int = 1
    told: str = ""
    each_group_stops = True
    how = "groups are measured at fixed levels of noise, and no further once they are decided"

    @property
    def epsilon(self) -> Epsilon:
        """Return the worst case: the loss of a group that is looked at to the end."""
        return self.levels[-1].epsilon

    @property
    def certifies(self) -> bool:
        return self.errors is not None

    @property
    def half_width(self) -> Fraction:
        """Return the half width of the last look; measuring may end before it."""
        return Fraction(self.levels[-1].steps)

    @property
    def clear(self) -> int:
        return self.levels[-1].steps + self.levels[-1].certain + 1

    def ladder(self) -> tuple[Level, ...]:
        return self.levels

    @property
    def top(self) -> Epsilon:
        """Return the last level."""
        return self.epsilon

    def decide(self, truth: TrueMargins, entropy: Entropy | None = None) -> Verdicts:
        """Look at each group, and again at uncertain ones."""
        return climb_three_ways(truth.margins(), self, entropy)


@lru_cache(maxsize=256)
def three_way_ladder(
    miss_rate: Fraction, sure_rate: Fraction, epsilons: tuple[Epsilon, ...], errors: CountedErrors | None
) -> ThreeWayLadder:
    """Return levels that share both rates evenly."""
    shares = miss_rate / len(epsilons), sure_rate / len(epsilons)
    levels = tuple(level_of(None, epsilon, *shares, 1) for epsilon in epsilons)
    return ThreeWayLadder(levels, errors, sure_rate)


def counted_errors(
    groups: int, miss_rate: Fraction, sure_rate: Fraction, delta: Fraction, aim: Fraction
) -> CountedErrors:
    """Return how many errors of each kind are not exceeded, each except with half of delta: groups are independent."""
    return CountedErrors(
        most_successes(groups, sure_rate, delta / 2), most_successes(groups, miss_rate, delta / 2), delta, aim
    )


def climb_three_ways(margins: NDArray[np.int64], ladder: ThreeWayLadder, entropy: Entropy | None = None) -> Verdicts:
    """Look at each group, and again at uncertain ones, until the stop.

    Privacy: a group loses the level at which it stops, which is shown; at worst `ladder.epsilon`.
    Utility: P[below | qualifies] <= miss_rate and P[above | does not] <= sure_rate for each group by itself; the
    certificate fails with probability at most delta.
    Runtime: linear in the groups, and in the looks for those that stay uncertain.
    Citation: decision specification F.4 (T) and (C), on the margin; `three_way.md`.
    """
    way = Climb(margins, 1, entropy)
    for level in ladder.levels:
        way.look(level.epsilon, level.steps, level.certain)
        if not way.undecided.size:
            break
        if ladder.errors is not None and ladder.errors.certificate(way.judgement).reached:
            break
    clear = level.steps + level.certain + 1
    if ladder.errors is None:
        return way.verdicts(ladder.epsilon, clear)
    bound = counted_wrong(way.judgement, ladder.errors.wrong_above, 1 - ladder.errors.delta)
    return way.verdicts(ladder.epsilon, clear, ladder.errors.certificate(way.judgement), bound)
