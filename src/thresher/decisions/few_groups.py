"""Looks for few groups: each group is measured more and more finely by itself, until its verdict is clear.

There are thirteen levels. Misses and wrong *above*s keep to their shares at each of them, whether it is reached or not,
so any stop that follows from what was seen is allowed. The last level has four fifths of the miss rate: it costs at
most a tenth more than one look of the same half width, and clear groups stop long before it.
Reads: margins, entropy. Writes: nothing. Never: looks at a decided group again; lets the number of groups move a line.
Proof: `few_groups.md`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.decisions.aim import Asked
from thresher.decisions.ladder import Climb, level_of
from thresher.decisions.look import Look, Price, ReachingLook, cheaper
from thresher.decisions.margin import TrueMargins
from thresher.decisions.verdicts import Level, Verdicts, counted_wrong
from thresher.decisions.words import look_details, reaching_details
from thresher.noise import Entropy, smallest_epsilon
from thresher.plan import Statements

# The levels, in parts of the last one.
_PARTS = tuple(Fraction(part, 800) for part in (50, 63, 79, 100, 126, 158, 200, 252, 316, 400, 504, 632, 800))
# The last level's shares of the miss rate and of the sure rate. The other levels divide the rest evenly.
_LAST_MISSES, _LAST_SURE = Fraction(4, 5), Fraction(1, 2)
# With this many false alarms allowed, or more, some groups may stay uncertain; the more, the finer the level.
_SOME_UNCERTAIN, _GROWTH = 5, 7


@dataclass(frozen=True, slots=True)
class FewGroupsLadder(ReachingLook):
    """Priced levels; the climb ends after level j if at most `enough[j]` groups are undecided.

    follows_limit   whether the limit pays only for a wider half width than the usual one
    wrong_above   how many groups are wrongly above, at most, at all levels together, but for `delta`
    """

    levels: tuple[Level, ...]
    enough: tuple[int, ...]
    wrong_above: int
    delta: Fraction
    sure_rate: Fraction
    scale: int = 1
    told: str = ""
    follows_limit: bool = False
    each_group_stops = True
    certifies = False
    how = "each group is measured with less and less noise, and no further once its verdict is clear"

    @property
    def epsilon(self) -> Epsilon:
        """Return the worst case: the loss of a group that is looked at to the end."""
        return self.levels[-1].epsilon

    @property
    def half_width(self) -> Fraction:
        """Return the half width of the last look."""
        return Fraction(self.levels[-1].steps)

    @property
    def clear(self) -> int:
        return self.levels[-1].steps + self.levels[-1].certain + 1

    @property
    def top(self) -> Epsilon:
        """Return the last level."""
        return self.epsilon

    def details(self, asked: Asked, price: Price) -> Statements:
        """Return how it decides and what it may cost, and how a half width that was asked for is kept."""
        return look_details(asked, self, price) if asked.aim.asked_width else reaching_details(asked, self)

    def document(self, asked: Asked, price: Price) -> dict[str, Any]:
        """Return what a plan says of a half width that was asked for, for JSON."""
        return Look.document(self, asked, price) if asked.aim.asked_width else {}

    def affordable(self, asked: Asked, price: Price, limit: Epsilon) -> str | None:
        """Return what to change so that it costs at most `limit`: a half width that was asked for is never widened."""
        if asked.aim.asked_width:
            return cheaper(asked, price, limit)
        return ReachingLook.affordable(self, asked, price, limit)

    def ladder(self) -> tuple[Level, ...]:
        return self.levels

    def decide(self, truth: TrueMargins, entropy: Entropy | None = None) -> Verdicts:
        """Look at each group, and again at undecided ones."""
        return climb_alone(truth.margins(), self, entropy)


@lru_cache(maxsize=256)
def levels_alone(miss_rate: Fraction, sure_rate: Fraction, width: int, limit: Epsilon | None) -> tuple[Level, ...]:
    """Return the levels that end at a half width of `width` units, or at what the limit pays for, if there is one."""
    last = smallest_epsilon(_LAST_MISSES * miss_rate, width + 1)
    last = last if limit is None else min(last, limit)
    epsilons = sorted({math.ceil(part * last.nano) for part in _PARTS})
    before = (1 - _LAST_MISSES) / (len(_PARTS) - 1) * miss_rate, (1 - _LAST_SURE) / (len(_PARTS) - 1) * sure_rate
    shares = [before] * (len(epsilons) - 1) + [(_LAST_MISSES * miss_rate, _LAST_SURE * sure_rate)]
    return tuple(
        level_of(None, Epsilon.from_nano(nano), *share, 1) for nano, share in zip(epsilons, shares, strict=True)
    )


def uncertain_enough(alarms: Fraction, levels: Sequence[Level]) -> tuple[int, ...]:
    """Return how many groups may stay undecided after each level, if `alarms` false alarms are allowed: 0 below 5."""
    if alarms < _SOME_UNCERTAIN:
        return (0,) * len(levels)
    grown, last = (alarms / _SOME_UNCERTAIN) ** _GROWTH, levels[-1].epsilon.nano
    return tuple(math.floor(min(alarms, grown * level.epsilon.nano / last)) for level in levels)


def climb_alone(margins: NDArray[np.int64], ladder: FewGroupsLadder, entropy: Entropy | None = None) -> Verdicts:
    """Look at each group, and again at undecided ones, until few enough are left.

    Privacy: a group loses the level at which it stops, which is shown; at worst `ladder.epsilon`.
    Utility: P[below | qualifies] <= miss_rate and P[above | does not] <= sure_rate for each group by itself; the bound
    on the number of reported groups that do not qualify fails with probability at most delta.
    Runtime: linear in the groups, and in the looks for those that stay undecided.
    Citation: decision specification L.13.3 and L.13.5; `few_groups.md`.
    """
    way = Climb(margins, 1, entropy)
    for level, enough in zip(ladder.levels, ladder.enough, strict=True):
        way.look(level.epsilon, level.steps, level.certain)
        if way.undecided.size <= enough:
            break
    bound = counted_wrong(way.judgement, ladder.wrong_above, 1 - ladder.delta)
    return way.verdicts(ladder.epsilon, level.steps + level.certain + 1, count_bound=bound)
