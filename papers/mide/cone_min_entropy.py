"""Measure min-entropy tightly: the least entropy over the cone of posteriors t / sum of t, each t in e^-eps to e^eps.

The box of the paper lets each posterior have its own extreme sum of all others, which roughly doubles the loss; here
all have one sum. At the minimum every t is at an end, so the state is two numbers: T, the sum of t, and M, the sum
of t ln t; entropy is ln T - M / T. If fractions of groups may be high, the best M for each T puts the highest levels
high first. Along that path entropy falls and then rises, so bisection finds its lowest point.
Reads: levels and counts. Writes: nothing. Never: a bound that the relaxed path does not prove.
Proof: `cone_min_entropy.md`.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.accounting.branching import RelaxedState
from thresher.accounting.min_entropy import MinEntropy, least_entropy
from thresher.amounts import Epsilon

# How many levels are free, and T and M with all of their groups low.
ConeState = tuple[int, float, float]


def cone_min_entropy(losses: ArrayLike | Sequence[Epsilon], counts: ArrayLike | None = None) -> MinEntropy:
    """Return the tight min-entropy of losses by group; `counts` as in `box_min_entropy`, whose result is smaller."""
    return least_entropy(ConeRelaxation, losses, counts)


class ConeRelaxation:
    """The relaxation by parts of groups, for levels in increasing order with their counts."""

    def __init__(self, levels: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        # Posteriors do not change when every t is divided by the same number; by the largest, nothing overflows.
        log_highs, log_lows = levels - levels[-1], -levels - levels[-1]
        highs, lows = np.exp(log_highs), np.exp(log_lows)
        raises, gains = highs - lows, highs * log_highs - lows * log_lows
        self._raises: list[float] = raises.tolist()
        self._gains: list[float] = gains.tolist()
        self._counts: list[int] = counts.tolist()
        self._sum_raises = np.concatenate([[0.0], np.cumsum(counts * raises)]).tolist()
        self._sum_gains = np.concatenate([[0.0], np.cumsum(counts * gains)]).tolist()
        self.root: ConeState = (len(self._counts), float(np.dot(counts, lows)), float(np.dot(counts, lows * log_lows)))

    def look(self, state: ConeState) -> RelaxedState:
        free, total, moment = state
        turning = self._turning_level(state)
        if turning == free:
            value = _entropy(total, moment)
            return RelaxedState(value, value, 0.0)
        total, moment = self._start(state, turning)
        amount = min(self._pull(turning, total, moment) / self._raises[turning] ** 2, float(self._counts[turning]))
        low = self._after(turning, total, moment, amount)
        below = math.floor(amount)
        around = [below, below + 1] if below < self._counts[turning] else [below]
        high = min(self._after(turning, total, moment, count) for count in around)
        return RelaxedState(min(low, high), high, amount if turning == free - 1 else float(self._counts[free - 1]))

    def child(self, state: ConeState, count: int) -> ConeState | None:
        free, total, moment = state
        if free == 1 or not 0 <= count <= self._counts[free - 1]:
            return None
        return free - 1, total + count * self._raises[free - 1], moment + count * self._gains[free - 1]

    def _turning_level(self, state: ConeState) -> int:
        """Return the lowest level whose groups lower entropy if the levels above it are all high; `free` if none."""
        lowest, none = 0, state[0]
        while lowest < none:
            middle = (lowest + none) // 2
            if self._raises[middle] ** 2 > 0 and self._pull(middle, *self._start(state, middle)) > 0:
                none = middle
            else:
                lowest = middle + 1
        return none

    def _start(self, state: ConeState, level: int) -> tuple[float, float]:
        """Return T and M if every free level above `level` is high."""
        free, total, moment = state
        # The difference first: it is exactly 0 for the highest free level, where T may be far smaller than the sums.
        return (
            total + (self._sum_raises[free] - self._sum_raises[level + 1]),
            moment + (self._sum_gains[free] - self._sum_gains[level + 1]),
        )

    def _pull(self, level: int, total: float, moment: float) -> float:
        """Return a number above 0 if entropy falls as this level rises; over `raise` squared, the best count."""
        return total * (self._gains[level] - self._raises[level]) - moment * self._raises[level]

    def _after(self, level: int, total: float, moment: float, count: float) -> float:
        return _entropy(total + count * self._raises[level], moment + count * self._gains[level])


def _entropy(total: float, moment: float) -> float:
    return math.log(total) - moment / total
