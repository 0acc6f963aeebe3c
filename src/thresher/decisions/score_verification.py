"""Whether a score table keeps what the certificate rests on, decided for every margin at once.

    (B)  a reported group's score is 0 or more, an unreported one's at least -weight * false_alarm_rate
    (N)  a group that does not qualify, at whatever margin: E[exp(weight (reported - false_alarm_rate) - score)] <= 1
    (U)  a group that qualifies, given that it is not reported: E[exp(-score)] <= 1

(B) is decided in whole numbers. (N) and (U) are computed in floats whose error is below 2e-10, and must stay 1e-9 below
one; a table that lies in between is refused, never believed.
Reads: tables. Writes: nothing. Never: a sample of margins instead of their supremum. Proof: `score_tables.md`.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.decisions.score_levels import is_level
from thresher.decisions.score_tables import SCORE, ScoreTable
from thresher.errors import BugError

_MOST = 1 - 1e-9
# What the bound of the floats' error is counted for.
HEAVIEST, _MOST_BINS = 5, 1000
_FIRST_REDUCTION, _GROWTH, _REDUCTIONS = 5e-5, 1.6, 32


@dataclass(frozen=True, slots=True)
class Expectations:
    """The two suprema, and whether the bounds of (B) hold."""

    not_qualifying: float
    unreported: float
    bounded: bool

    @property
    def kept(self) -> bool:
        """Whether all three hold, with room for the floats' error."""
        # Each by itself: a number that is none compares as false.
        return self.bounded and self.not_qualifying <= _MOST and self.unreported <= _MOST


def expectations(table: ScoreTable) -> Expectations:
    """The suprema of (N) and (U) over all margins there are."""
    if not is_level(table.level) or table.weight > HEAVIEST or table.starts.size > _MOST_BINS:
        raise BugError("the error of the check is not bounded for such a level, weight or number of bins")
    on_line, chance, rate = table.on_line, float(table.boundary), float(table.level)
    weights = np.exp(_exponents(table))
    cells = np.delete(weights, on_line)
    cells[on_line] = (1 - chance) * weights[on_line] + chance * weights[on_line + 1]
    # Where an unreported group lies below the line the law is geometric: its mean is the one just left of the line.
    left = _means_before(rate, table.starts[:on_line], weights[:on_line].tolist())[-1]
    p, unlucky = math.exp(-rate), -math.expm1(-rate) * (1 - chance)
    unreported = (unlucky * weights[on_line] + p * left) / (unlucky + p)
    return Expectations(
        supremum(rate, table.starts, cells),
        float(unreported) * math.exp(table.weight * table.false_alarm_rate),
        _bounded(table),
    )


def supremum(rate: float, starts: NDArray[np.int64], weights: NDArray[np.float64]) -> float:
    """The largest E[weight of the bin of h + X] over all whole h <= -1, X discrete Laplace noise of this rate.

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


def verified(table: ScoreTable) -> ScoreTable:
    """The table, if it keeps all three."""
    if not expectations(table).kept:
        raise BugError(f"the score table of level {table.level} and weight {table.weight} does not keep its promise")
    return table


def lowered(table: ScoreTable) -> ScoreTable:
    """The table with all scores but the outermost raised by as little as makes it keep its promises."""
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
    """The exponent of (N), of every value: what is gained by a report less the score."""
    gains = np.full(table.values.size, float(-table.weight * table.false_alarm_rate))
    gains[table.on_line + 1 :] = float(table.weight * (1 - table.false_alarm_rate))
    return gains - table.values / SCORE


def _means_before(rate: float, starts: NDArray[np.int64], weights: list[float]) -> list[float]:
    """For each start, the mean of the weights of what lies before it, p^d (1-p) / p at distance d >= 1."""
    lengths = np.diff(starts) * rate
    stay, leave = np.exp(-lengths).tolist(), (-np.expm1(-lengths)).tolist()
    mean = weights[0]
    means = [mean]
    for kept, new, weight in zip(stay, leave, weights[1:], strict=False):
        mean = kept * mean + new * weight
        means.append(mean)
    return means


def _bounded(table: ScoreTable) -> bool:
    unreported, reported = np.split(table.values, [table.on_line + 1])
    least = math.ceil(-table.weight * table.false_alarm_rate * SCORE)
    return bool((reported >= 0).all() and (unreported >= least).all())
