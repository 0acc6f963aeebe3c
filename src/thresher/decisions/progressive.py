"""Progressive looks (PPWLM): a coarse look at all groups, sharper ones at those that stay undecided. Proof beside.

Levels are fixed beforehand. Noise is refined, never drawn anew, so a group loses the level at which it stops.
Reads: margins, entropy. Writes: nothing. Never: a decided group at a sharper level. Proof: `progressive.md`.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.decisions.climbing import Climb, level_of
from thresher.decisions.verdicts import MISSES, Bound, Level, Verdicts
from thresher.noise import Entropy, smallest_epsilon


@dataclass(frozen=True, slots=True)
class Ladder:
    """Priced levels, each dearer than the one before. `clear` and `bound` as for a `Shift`."""

    levels: tuple[Level, ...]
    scale: int
    clear: int
    bound: Bound = MISSES

    @property
    def epsilon(self) -> Epsilon:
        """The worst case: a group that is looked at to the end."""
        return self.levels[-1].epsilon

    @property
    def half_width(self) -> Fraction:
        """In privacy units."""
        return Fraction(self.levels[-1].steps, self.scale)

    def ladder(self) -> tuple[Level, ...]:
        """Its levels."""
        return self.levels

    def identity(self) -> list[object]:
        """All numbers that the verdicts depend on."""
        levels = [[level.epsilon.to_json(), level.steps, level.certain] for level in self.levels]
        return ["climb", levels, self.scale, self.clear, self.bound]


@lru_cache(maxsize=256)
def ladder_of(
    miss_rate: Fraction, false_alarm_rate: Fraction, steps: int, scale: int, looks: int, first: Epsilon
) -> Ladder:
    """Levels in geometric progression from `first` to the least epsilon that keeps the half width.

    Each look may miss with probability miss_rate / looks. One look, or a first level that is no smaller than the
    last, is a threshold shift: one level, with all of the miss rate.
    """
    last = smallest_epsilon(miss_rate / looks, steps + 1, scale)
    one_look = looks == 1 or first >= last
    epsilons = [smallest_epsilon(miss_rate, steps + 1, scale)] if one_look else geometric(first, last, looks)
    shares = miss_rate / len(epsilons), false_alarm_rate / len(epsilons)
    levels = tuple(level_of(None, epsilon, *shares, scale) for epsilon in epsilons)
    return Ladder(levels, scale, clear=levels[-1].steps + levels[-1].certain + 1)


def geometric(first: Epsilon, last: Epsilon, looks: int) -> list[Epsilon]:
    """`looks` levels, each the same multiple of the one before, in whole nano; fewer if some would coincide."""
    ratio = (last.nano / first.nano) ** (1 / (looks - 1))
    between = {round(first.nano * ratio**j) for j in range(1, looks - 1)}
    nanos = [first.nano, *sorted(nano for nano in between if first.nano < nano < last.nano), last.nano]
    return [Epsilon.from_nano(nano) for nano in nanos]


def climb(margins: NDArray[np.int64], ladder: Ladder, entropy: Entropy | None = None) -> Verdicts:
    """Look at every group, and again at those that are undecided, up to the last level.

    Privacy: a group loses the level at which it stops, which is shown; at worst `ladder.epsilon`.
    Utility: if h >= 0, below with probability at most miss_rate; if h <= -1, above with probability at most
    false_alarm_rate; if h <= -clear, above or uncertain with probability at most that.
    Runtime: linear in the groups, and in the looks for those that stay undecided.
    Citations: Ghayyur et al. (MIDE), Algorithm 2; gradual release, Koufogiannis et al. 2015; `progressive.md`.
    """
    way = Climb(margins, ladder.bound, ladder.scale, entropy)
    for level in ladder.levels:
        way.look(level.epsilon, level.steps, level.certain)
        if not way.undecided.size:
            break
    return way.verdicts(ladder.epsilon, ladder.clear)
