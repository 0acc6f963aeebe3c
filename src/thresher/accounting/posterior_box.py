"""Bound the least entropy over a box, as in the MIDE paper: posteriors from e^-eps / S+ to e^eps / S-, with sum one.

Here S+ and S- are the sums of e^eps and of e^-eps over all groups (eq. 10 of the paper). Entropy is concave, so its
minimum is at a vertex: all groups at an end except one. With entropy replaced by its chord in each group, the optimum
fills the steepest chords first: that gives the lower bound. With the true entropy of the one group that is partly
filled, the same point gives a value that is attained.
Reads: levels and counts. Writes: nothing. Never: a bound that the chords do not prove.
Proof: `min_entropy.md`.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.accounting.branching import RelaxedState

# How many levels are free, the slack that is left, and the entropy so far (with all free groups low).
BoxState = tuple[int, float, float]


@dataclass(frozen=True, slots=True)
class _Chords:
    """The lowest levels, steepest chord first, with running totals of the slack they take and the entropy they give.

    `highest_at` is the place of the highest of these levels in that order.
    """

    order: list[int]
    taken: list[float]
    given: list[float]
    highest_at: int


class BoxRelaxation:
    """The chord relaxation for levels in increasing order with their counts."""

    def __init__(self, levels: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        lows = np.exp(-levels - _log_total(levels, counts))
        highs = np.exp(np.minimum(0.0, levels - _log_total(-levels, counts)))
        slack = max(0.0, 1.0 - float(np.dot(counts, lows)))
        # No group can take more than the whole slack. This limit makes chords steeper and excludes no point.
        widths = np.minimum(highs - lows, slack)
        gains = _entropy(lows + widths) - _entropy(lows)
        slopes = np.divide(gains, widths, out=np.zeros_like(gains), where=widths > 0)
        self._slopes, self._room, self._gain = slopes, counts * widths, counts * gains
        self._lows: list[float] = lows.tolist()
        self._widths: list[float] = widths.tolist()
        self._gains: list[float] = gains.tolist()
        self._counts: list[int] = counts.tolist()
        self._below = np.concatenate([[0.0], np.cumsum(self._room)]).tolist()
        self._full = np.concatenate([[0.0], np.cumsum(self._gain)]).tolist()
        self._chords: dict[int, _Chords] = {}
        all_low = float(np.dot(counts, _entropy(lows)))
        self.root: BoxState = (len(self._counts), min(slack, self._below[-1]), all_low)

    def look(self, state: BoxState) -> RelaxedState:
        free, slack, entropy = state
        chords = self._chords_below(free)
        place = min(bisect_left(chords.taken, slack), free - 1)
        partly = chords.order[place]
        before, gained = (chords.taken[place - 1], chords.given[place - 1]) if place else (0.0, 0.0)
        low = entropy + gained + float(self._slopes[partly]) * (slack - before)
        high = entropy + gained + self._filled(partly, slack - before)
        top = free - 1
        if self._fits(top, slack):
            high = min(high, entropy + self._filled(top, slack))
        if self._fits(top, slack - self._below[top]):
            high = min(high, entropy + self._full[top] + self._filled(top, slack - self._below[top]))
        return RelaxedState(low, high, self._amount(top, chords, place, slack - before))

    def child(self, state: BoxState, count: int) -> BoxState | None:
        free, slack, entropy = state
        top = free - 1
        left = slack - count * self._widths[top]
        if free == 1 or not 0 <= count <= self._counts[top] or left < 0 or left > self._below[top]:
            return None
        return top, left, entropy + count * self._gains[top]

    def _chords_below(self, free: int) -> _Chords:
        if free not in self._chords:
            order = np.argsort(self._slopes[:free], kind="stable")
            taken, given = np.cumsum(self._room[order]), np.cumsum(self._gain[order])
            highest_at = int(np.flatnonzero(order == free - 1)[0])
            self._chords[free] = _Chords(order.tolist(), taken.tolist(), given.tolist(), highest_at)
        return self._chords[free]

    def _amount(self, top: int, chords: _Chords, place: int, rest: float) -> float:
        """Return how many groups of the top level are filled, with fractions."""
        if chords.highest_at == place:
            return rest / self._widths[top] if self._widths[top] > 0 else 0.0
        return float(self._counts[top]) if chords.highest_at < place else 0.0

    def _fits(self, level: int, slack: float) -> bool:
        return 0 <= slack <= self._counts[level] * self._widths[level]

    def _filled(self, level: int, slack: float) -> float:
        """Return the entropy gained if one level takes the slack: full groups, and one with the rest."""
        width, low = self._widths[level], self._lows[level]
        if width <= 0 or slack <= 0:
            return 0.0
        full = min(int(slack / width), self._counts[level])
        rest = max(0.0, slack - full * width) if full < self._counts[level] else 0.0
        return full * self._gains[level] + _term(low + rest) - _term(low)


def _log_total(exponents: NDArray[np.float64], counts: NDArray[np.int64]) -> float:
    """Return the log of the sum of counts * e^exponents, without overflow."""
    largest = float(exponents.max())
    return largest + math.log(float(np.dot(counts, np.exp(exponents - largest))))


def _entropy(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return -p ln p, which is 0 at 0."""
    return -p * np.log(np.where(p > 0, p, 1.0))


def _term(p: float) -> float:
    return -p * math.log(p) if p > 0 else 0.0
