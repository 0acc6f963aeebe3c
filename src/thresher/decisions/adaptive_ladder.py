"""Progressive looks at levels chosen by what was seen (DPPWLM): the next level is expected to keep most secret.

The choice depends on the noise. Each look therefore keeps its share of the error rates given everything seen before
(`noise/tails.md`), which proves the miss rate; for the printed algorithm it is not proved.
Reads: margins, entropy. Writes: nothing. Never: looks at a decided group again; passes the reserved level. Proof:
`adaptive_ladder.md`.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from thresher.accounting import box_min_entropy
from thresher.amounts import Epsilon
from thresher.decisions.ladder import Climb, Climbing, geometric_levels, level_of, rungs_of
from thresher.decisions.look import Mechanism
from thresher.decisions.margin import TrueMargins
from thresher.decisions.verdicts import Level, Verdicts, opposite
from thresher.errors import BugError
from thresher.noise import Entropy, conditional_shift, history_shift, smallest_epsilon, smallest_refinement

# How often the last levels are adjusted to each other.
_SETTLING = 8


@dataclass(frozen=True, slots=True)
class AdaptiveLadder(Climbing):
    """Coarse levels to choose between, each interval divided into `fine` steps; the last level is the worst case.

    Thresholds move by what was seen of each group, never further than for all that could have been seen.
    best_effort   the levels may run out before the half width is reached: the answer then states the one reached
    """

    coarse: tuple[Epsilon, ...]
    miss_rate: Fraction
    false_alarm_rate: Fraction
    steps: int
    scale: int
    clear: int
    fine: int = 3
    best_effort: bool = False
    told: str = ""
    levels_move = True
    how = (
        "each group is measured with less and less noise until it is decided; each next level is chosen by what was "
        "seen so far"
    )

    @property
    def epsilon(self) -> Epsilon:
        """Return the worst case."""
        return self.coarse[-1]

    @property
    def half_width(self) -> Fraction:
        """Return the half width in privacy units; best effort may end with a wider one."""
        return Fraction(self.steps, self.scale)

    def ladder(self) -> tuple[Level, ...]:
        """Return the coarse levels, as they would be climbed if none were skipped or divided."""
        before = (None, *self.coarse)
        return tuple(level_of(before[j], epsilon, *self.shares(1), self.scale) for j, epsilon in enumerate(self.coarse))

    def decide(self, truth: TrueMargins, entropy: Entropy | None = None) -> Verdicts:
        """Look at each group, and again at undecided ones, at levels chosen by what was seen."""
        return explore(truth.margins(self.scale), self, entropy)

    def steps_at(self, level: Fraction, first_rate: Fraction) -> int:  # noqa: ARG002 - the form of all looks
        """Return the half width that was aimed at, in steps."""
        return self.steps

    def shares(self, levels: int) -> tuple[Fraction, Fraction]:
        """Return the rates of misses and of false alarms that belong to this number of coarse levels."""
        part = Fraction(levels, len(self.coarse))
        return part * self.miss_rate, part * self.false_alarm_rate


@dataclass(frozen=True, slots=True)
class Rungs:
    """Where the climb stands: the level reached, and the coarse levels still ahead."""

    reached: Epsilon
    ahead: tuple[Epsilon, ...]


@dataclass(frozen=True, slots=True)
class NextLook:
    """A look that may come next. It takes the error rates of `taken` coarse levels; `end` is the highest last level."""

    level: Level
    taken: int
    end: Epsilon
    then: Rungs


@lru_cache(maxsize=256)
def adaptive_ladder_of(
    miss_rate: Fraction, false_alarm_rate: Fraction, steps: int, scale: int, looks: int, first: Epsilon
) -> AdaptiveLadder:
    """Return coarse levels in geometric progression; the last keeps the half width whatever was seen before.

    With one look, or a first level that is not below the last, the ladder is a threshold shift.
    """
    last = smallest_epsilon(miss_rate / looks, steps + 1, scale)
    if looks == 1 or first >= last:
        coarse = [smallest_epsilon(miss_rate, steps + 1, scale)]
    else:
        coarse = geometric_levels(first, last, looks)
        # A dearer last level moves the level before it, which makes the last level dearer still, by less and less.
        for _ in range(_SETTLING):
            coarse = geometric_levels(
                first, smallest_refinement(coarse[-2], miss_rate / len(coarse), steps + 1, scale), looks
            )
        coarse[-1] = smallest_refinement(coarse[-2], miss_rate / len(coarse), steps + 1, scale)
    if len(coarse) == 1:
        reach = conditional_shift(0, coarse[0], false_alarm_rate, scale)
    else:
        reach = _reach(miss_rate, false_alarm_rate, steps)
    return AdaptiveLadder(tuple(coarse), miss_rate, false_alarm_rate, steps, scale, clear=steps + reach)


def explore(margins: NDArray[np.int64], ladder: AdaptiveLadder, entropy: Entropy | None = None) -> Verdicts:
    """Look at each group, and again at undecided ones at the level with the largest expected min-entropy.

    Privacy: a group loses the level at which it stops, which is shown; at worst `ladder.epsilon`.
    Utility: as `climb`; with best effort the half width is the one reached.
    Runtime: linear in the groups, plus a dozen min-entropies for each look.
    Citations: Ghayyur et al. (MIDE), Algorithms 3 and 4, with corrected indices, shares and shifts:
    `adaptive_ladder.md`.
    """
    way, rungs = Climb(margins, ladder.scale, entropy), Rungs(ladder.coarse[0], ladder.coarse[1:])
    level = level_of(None, rungs.reached, *ladder.shares(1), ladder.scale)
    way.look(level.epsilon, level.steps, level.certain)
    for step in climbing(way, rungs, ladder):
        level, rungs = step.level, step.then
    ran_out = ladder.best_effort and not rungs.ahead
    return way.verdicts(ladder.epsilon, level.steps + level.certain + 1 if ran_out else ladder.clear)


def climbing(way: Climb, rungs: Rungs, ladder: AdaptiveLadder) -> Iterator[NextLook]:
    """Look again until all groups are decided or no levels are left. Yield each step after it was taken."""
    while way.undecided.size and rungs.ahead:
        step = most_secret(way, rungs, ladder)
        way.look(step.level.epsilon, *_shifts(way.seen, rungs.reached, step, ladder))
        rungs = step.then
        yield step


def most_secret(way: Climb, rungs: Rungs, ladder: AdaptiveLadder) -> NextLook:
    """Return the step after which the paper's min-entropy is expected to be largest; of equals the cheapest."""
    settled, seen = [(float(epsilon), groups) for epsilon, groups in way.losses if groups], way.seen
    best, most = None, -1.0
    for step in steps_ahead(rungs, ladder):
        stay = undecided_chance(seen, step.level, rungs.reached, ladder.scale).sum()
        still = min(math.ceil(stay), seen.size)
        expected = ((float(step.level.epsilon), seen.size - still), (float(step.end), still))
        losses = [*settled, *(loss for loss in expected if loss[1])]
        secret = box_min_entropy([epsilon for epsilon, _ in losses], [groups for _, groups in losses]).low
        if secret > most:
            best, most = step, secret
    if best is None:
        raise BugError("undecided groups are left, and no level to look at them")
    return best


@lru_cache(maxsize=1024)
def steps_ahead(rungs: Rungs, ladder: AdaptiveLadder) -> tuple[NextLook, ...]:
    """Return the looks that may come next, cheapest first. None leads above the worst case; all keep the half width.

    With best effort the half width may be given up.
    """
    path, left, found = (rungs.reached, *rungs.ahead), len(rungs.ahead), []
    for taken in range(1, left + ladder.best_effort):
        low, high = path[taken - 1].nano, path[taken].nano
        for part in range(1, ladder.fine + 1):
            epsilon = Epsilon.from_nano(low + part * (high - low) // ladder.fine)
            end = ladder.epsilon if ladder.best_effort else _end(epsilon, left - taken, ladder)
            if rungs.reached < epsilon and end <= ladder.epsilon:
                found.append((epsilon, taken, end))
    if not ladder.best_effort:
        last = _end(rungs.reached, left, ladder)
        found.append((last, left, last))
    return tuple(
        NextLook(
            level_of(rungs.reached, epsilon, *ladder.shares(taken), ladder.scale),
            taken,
            end,
            Rungs(epsilon, rungs.ahead[taken:]),
        )
        for epsilon, taken, end in sorted(found, key=lambda offer: offer[0])
    )


def undecided_chance(seen: NDArray[np.int64], level: Level, reached: Epsilon, scale: int) -> NDArray[np.float64]:
    """Return how likely each group stays undecided, estimated in floats from what was seen. No promise rests on it.

    Refining moves v by a rest that is 0 with some probability and otherwise as wide as the noise (`noise/gradual.md`).
    """
    coarse, fine = (math.exp(-float(epsilon) / scale) for epsilon in (reached, level.epsilon))
    still = ((1 - coarse) / (1 - fine)) ** 2 * fine / coarse
    inside = (seen >= -level.steps) & (seen < level.certain)
    moved = _below(seen + level.steps, coarse) - _below(seen - level.certain, coarse)
    return still * inside + (1 - still) * moved


def _below(at_most: NDArray[np.int64], p: float) -> NDArray[np.float64]:
    """Return P[X <= x] of discrete Laplace noise."""
    far = p ** np.abs(at_most + (at_most >= 0)).astype(np.float64) / (1 + p)
    return np.where(at_most >= 0, 1 - far, far)


def _shifts(
    seen: NDArray[np.int64], reached: Epsilon, step: NextLook, ladder: AdaptiveLadder
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    missed, alarmed = ladder.shares(step.taken)
    levels = reached, step.level.epsilon
    low = history_shift(seen, *levels, missed, ladder.scale)
    return low - 1, history_shift(opposite(seen), *levels, alarmed, ladder.scale) - 1


def _end(reached: Epsilon, left: int, ladder: AdaptiveLadder) -> Epsilon:
    """Return the level at which the half width is kept with all of the miss rate that is left."""
    return smallest_refinement(reached, ladder.shares(left)[0], ladder.steps + 1, ladder.scale)


def _reach(miss_rate: Fraction, false_alarm_rate: Fraction, steps: int) -> int:
    """Return how far noise of the last look goes with at most its share of false alarms: see `adaptive_ladder.md`."""
    if false_alarm_rate >= miss_rate:
        return steps + 1
    # Both logarithms by their distance from 1, so that rates close to each other or to one half lose no digits.
    longer = math.log1p(miss_rate / false_alarm_rate - 1) / math.log1p(1 / (2 * miss_rate) - 1)
    return math.ceil((steps + 1) * (1 + longer) * (1 + 1e-12))


MECHANISMS: Mapping[str, Mechanism] = {
    "dppwlm": Mechanism(
        "dppwlm", lambda asked: rungs_of(asked.aim, adaptive_ladder_of), frozenset({"levels", "first_epsilon"})
    )
}
