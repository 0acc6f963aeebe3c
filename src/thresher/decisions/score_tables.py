"""What one noisy margin says about false alarms: a public table of scores, one for each level and weight.

A group is reported if its noisy margin lies above the line, and by a coin if it lies on it. Its score is what the
certificate is charged for it (near the line) or credited (far below it). The scores of all groups are added up as
whole numbers, so that one group's score can be taken out of the sum without a trace.
What the certificate rests on is decided for all margins at once, by `expectations`:

    (B)  a reported group's score is 0 or more, an unreported one's at least -weight * false_alarm_rate
    (N)  a group that does not qualify, at whatever margin: E[exp(weight (reported - false_alarm_rate) - score)] <= 1
    (U)  a group that qualifies, given that it is not reported: E[exp(-score)] <= 1

(B) is decided in whole numbers. (N) and (U) are computed in floats whose error is below 2e-10, and must stay 1e-9 below
one; a table that lies in between is refused.
Reads: noisy margins and coins, tables. Writes: nothing. Never: a sample of margins instead of their supremum. Proof:
`score_tables.md`.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.decisions.score_levels import is_level
from thresher.errors import BugError
from thresher.noise import conditional_shift
from thresher.noise.chances import CHANCES
from thresher.noise.enclosure import Enclosure, certified, exp_minus

# Scores are counted in units of 2**-20.
SCORE = 1 << 20
# Bounds are kept with this much room for the floats' error.
_MOST = 1 - 1e-9
# The largest weight and the most bins for which the floats' error is bounded.
HEAVIEST, _MOST_BINS = 5, 1000
_FIRST_REDUCTION, _GROWTH, _REDUCTIONS = 5e-5, 1.6, 32


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Scores of noisy margins v = h + X at one level, for margins that a unit moves by at most 1.

    reported   v > -steps, or v = -steps and the group's coin, of chance `boundary`, was lucky
    starts     where the bins begin, rising; the first bin has no beginning, and -steps alone is a bin
    values     the score of each bin, in units of 2**-20; the bin at -steps has two: without luck, then with luck
    """

    level: Fraction
    weight: Fraction
    false_alarm_rate: Fraction
    steps: int
    boundary: Fraction
    starts: NDArray[np.int64]
    values: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.values.size != self.starts.size + 2 or (np.diff(self.starts) <= 0).any():
            raise BugError("a score table must have rising bins with one score each, and two for the bin on the line")
        if not {-self.steps, 1 - self.steps} <= set(self.starts.tolist()):
            raise BugError("the line of a score table must be a bin by itself")
        self.starts.setflags(write=False)
        self.values.setflags(write=False)

    @property
    def on_line(self) -> int:
        """Return the place of the score of an unlucky group on the line; the scores after it are of reported groups."""
        return int(np.searchsorted(self.starts, -self.steps)) + 1

    def reported(self, noisy: NDArray[np.int64], lucky: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Tell which groups are reported."""
        reported: NDArray[np.bool_] = (noisy > -self.steps) | ((noisy == -self.steps) & lucky)
        return reported

    def scores(self, noisy: NDArray[np.int64], lucky: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the score of each group, in units of 2**-20."""
        # From the line on, each bin is one place further: the line has two scores.
        return self.values[np.searchsorted(self.starts, noisy, side="right") + self.reported(noisy, lucky)]

    def with_values(self, values: NDArray[np.int64]) -> "ScoreTable":
        """Return the table with other scores."""
        return replace(self, values=values)


def blank_table(
    level: Fraction, miss_rate: Fraction, false_alarm_rate: Fraction, weight: Fraction, starts: NDArray[np.int64]
) -> ScoreTable:
    """Return a table of zeros."""
    steps, boundary = line_of(level, miss_rate)
    values = np.zeros(starts.size + 2, dtype=np.int64)
    return ScoreTable(level, weight, false_alarm_rate, steps, boundary, starts, values)


@lru_cache(maxsize=4096)
def line_of(level: Fraction, miss_rate: Fraction) -> tuple[int, Fraction]:
    """Return the steps and the boundary with which a group at margin 0 is missed with probability `miss_rate`.

    The boundary is rounded up to a whole number of 2**-32, so misses are rarer by less than that.
    """
    steps = conditional_shift(0, level, miss_rate) - 1

    def exact(bits: int) -> int:
        formula: Enclosure = boundary_formula(exp_minus(level, bits), steps, Enclosure.of(miss_rate, bits))
        return formula.floor(CHANCES.bit_length() - 1)

    # The boundary is transcendental, so it is never a whole number of units, and the next one lies above it.
    return steps, Fraction(min(certified(exact) + 1, CHANCES), CHANCES)


def boundary_formula(p: Any, steps: int, missed: Any) -> Any:
    """Return the chance at v = -s for which P[0 is not reported] = p^s (1 - chance (1-p)) / (1+p) is the miss rate."""
    return (1 - missed * (1 + p) / p**steps) / (1 - p)


@dataclass(frozen=True, slots=True)
class Expectations:
    """Hold the two suprema of a table, (N) and (U), and whether the bounds of (B) hold (`score_tables.md`)."""

    not_qualifying: float
    unreported: float
    bounded: bool

    @property
    def kept(self) -> bool:
        """Tell whether (N), (U) and (B) all hold, with room for the error of floats."""
        # Each is compared by itself: a comparison with NaN is false.
        return self.bounded and self.not_qualifying <= _MOST and self.unreported <= _MOST


def expectations(table: ScoreTable) -> Expectations:
    """Return the suprema of (N) and (U) over all margins."""
    if not is_level(table.level) or table.weight > HEAVIEST or table.starts.size > _MOST_BINS:
        raise BugError("the error of the check is not bounded for such a level, weight or number of bins")
    on_line, chance, rate = table.on_line, float(table.boundary), float(table.level)
    weights = np.exp(_exponents(table))
    cells = np.delete(weights, on_line)
    cells[on_line] = (1 - chance) * weights[on_line] + chance * weights[on_line + 1]
    # The law of an unreported group below the line is geometric: its mean is the mean just left of the line.
    left = _means_before(rate, table.starts[:on_line], weights[:on_line].tolist())[-1]
    p, unlucky = math.exp(-rate), -math.expm1(-rate) * (1 - chance)
    unreported = (unlucky * weights[on_line] + p * left) / (unlucky + p)
    return Expectations(
        supremum(rate, table.starts, cells),
        float(unreported) * math.exp(table.weight * table.false_alarm_rate),
        _bounded(table),
    )


def supremum(rate: float, starts: NDArray[np.int64], weights: NDArray[np.float64]) -> float:
    """Return the largest E[weight of the bin of h + X] over all whole h <= -1, X discrete Laplace noise of this rate.

    At h, x places above the start of its bin and y below its end, it is W + c (p^x (left - W) + p^y (right - W)), where
    left and right are the means of the weights just outside the bin and c = p / (1+p).
    """
    cut = int(np.searchsorted(starts, 0))
    if cut == starts.size or starts[cut] != 0:
        starts, weights = np.insert(starts, cut, 0), np.insert(weights, cut, weights[cut])
    # Now no bin holds both -1 and 0: the first cut + 1 bins are those of groups that do not qualify.
    left = _means_before(rate, starts, weights.tolist())
    right = _means_before(rate, -starts[::-1], weights[::-1].tolist())[::-1]
    p = math.exp(-rate)
    share = p / (1 + p)
    first = weights[0] + share * max(0.0, right[0] - weights[0])
    if not cut:
        return float(first)
    own = weights[1 : cut + 1]
    down, up = share * (np.array(left[:cut]) - own), share * (np.array(right[1 : cut + 1]) - own)
    across = np.exp(-rate * (np.diff(starts[: cut + 1]) - 1))
    best = np.maximum(own + down + across * up, own + across * down + up)
    # With both means below, the top lies inside the bin if neither side outweighs the other from end to end.
    inside = (down < 0) & (up < 0) & (across * down >= up) & (across * up >= down)
    top = own - 2 * np.sqrt(np.maximum(down * up, 0) * across)
    return float(max(first, best.max(), np.where(inside, top, -np.inf).max()))


def verified_table(table: ScoreTable) -> ScoreTable:
    """Return the table if it keeps all three conditions; otherwise fail."""
    if not expectations(table).kept:
        raise BugError(f"the score table of level {table.level} and weight {table.weight} does not keep its promise")
    return table


def lowered(table: ScoreTable) -> ScoreTable:
    """Return the table with all scores but the outermost raised as little as makes it keep its conditions."""
    for raised in _reductions():
        values = table.values.copy()
        values[1:-1] += raised
        if expectations(safer := table.with_values(values)).kept:
            return safer
    raise BugError(f"no score table for level {table.level} and weight {table.weight} was found")


def _reductions() -> Iterable[int]:
    yield 0
    for i in range(_REDUCTIONS):
        yield math.ceil(SCORE * math.log1p(_FIRST_REDUCTION * _GROWTH**i))


def _exponents(table: ScoreTable) -> NDArray[np.float64]:
    """Return the exponent of (N) for each value: what a report gains, less the score."""
    gains = np.full(table.values.size, float(-table.weight * table.false_alarm_rate))
    gains[table.on_line + 1 :] = float(table.weight * (1 - table.false_alarm_rate))
    return gains - table.values / SCORE


def _means_before(rate: float, starts: NDArray[np.int64], weights: list[float]) -> list[float]:
    """Return for each start the mean of the weights before it, with p^d (1-p) / p at distance d >= 1."""
    lengths = np.diff(starts) * rate
    stay, leave = np.exp(-lengths).tolist(), (-np.expm1(-lengths)).tolist()
    mean = weights[0]
    means = [mean]
    for old, new, weight in zip(stay, leave, weights[1:], strict=False):
        mean = old * mean + new * weight
        means.append(mean)
    return means


def _bounded(table: ScoreTable) -> bool:
    unreported, reported = np.split(table.values, [table.on_line + 1])
    least = math.ceil(-table.weight * table.false_alarm_rate * SCORE)
    return bool((reported >= 0).all() and (unreported >= least).all())
