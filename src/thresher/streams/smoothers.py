"""Smoothers: estimates of each step's counts from noisy counts. Medians of groups are in `median_smoother`.

    AverageSmoother      the mean of the last group
    JamesSteinSmoother   the noisy count of the step, moved towards the mean as far as noise explains the spread
    AdaptiveSmoother     without groups: at each step the longest backward mean with which all shorter ones agree

They are best effort: how far a group is from flat is not known, and a mean over counts that change has an unknown bias,
so no error is promised. Where noise levels mix, `weights` are the nano-epsilon of each measurement; 0 leaves it out.
Reads: noisy counts and marks. Writes: nothing. Never: a true count, a draw; so smoothing is free.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount
from thresher.errors import ArgumentError
from thresher.noise.arguments import checked_rate
from thresher.streams.step_blocks import (
    Numbers,
    Reals,
    block_of,
    checked_between,
    checked_series,
    checked_weights,
    grouped_steps,
)
from thresher.streams.window_sums import RunningSums

# Measurements recommend this where most counts are near zero, and 2.0 where they are far above the noise.
SPARSE = 3.0
_MOST_STRICTNESS = 1000.0


class AverageSmoother:
    """The mean of the last group; with weights, the mean of least variance: each number by its epsilon squared.

    Privacy: post-processing of released numbers. Utility: 1 / n of the variance of one number if the group is flat; no
    promise otherwise. Runtime: constant a step. Citations: Chen et al. 2017, equation 5.5 in Chen 2018.
    """

    def __init__(self, series: int) -> None:
        self.series = checked_series(series)
        self._total, self._weight = np.zeros(self.series), np.zeros(self.series)

    def steps(self, noisy: Numbers, marks: NDArray[np.int8], weights: NDArray[np.int64] | None = None) -> Reals:
        """Return the estimates of the next steps, in order. While a group has no measurement, its estimate is 0."""
        numbers, joins = grouped_steps(noisy, marks, self.series)
        precision = (
            np.ones(numbers.shape)
            if weights is None
            else np.square(checked_weights(weights, numbers.shape), dtype=float)
        )
        values = np.zeros(numbers.shape)
        for step, weight in enumerate(precision):
            self._total *= joins[step]
            self._weight *= joins[step]
            self._total += weight * numbers[step]
            self._weight += weight
            np.divide(self._total, self._weight, out=values[step], where=self._weight > 0)
        return values


class JamesSteinSmoother:
    """Estimate by avg + max(0, 1 - (n - 3) tau^2 / sum of squares about avg) * (own - avg), in groups of 4 or more.

    tau^2 is the variance of the noise at `epsilon_p`; shorter groups are left as they are. In print the last term is
    the step's own count and the factor may be below 0: both are far worse than no smoothing at all.
    Privacy: post-processing. Utility: hardly better than plain noise; for comparison. Runtime: constant a step.
    Citations: Efron, Morris 1973 (towards the mean, n - 3); equation 5.7 in Chen 2018, corrected.
    """

    def __init__(self, series: int, epsilon_p: Amount) -> None:
        self.series = checked_series(series)
        rate = float(checked_rate(epsilon_p, 1, "epsilon_p"))
        # 2p / (1-p)^2 with p = exp(-rate)
        self._variance = 0.5 / np.sinh(rate / 2) ** 2
        self._size, self._mean, self._squares = (np.zeros(self.series) for _ in range(3))

    def steps(self, noisy: Numbers, marks: NDArray[np.int8]) -> Reals:
        """Return the estimates of the next steps, in order."""
        numbers, joins = grouped_steps(noisy, marks, self.series)
        values = np.empty(numbers.shape)
        for step, own in enumerate(numbers):
            self._size *= joins[step]
            self._mean *= joins[step]
            self._squares *= joins[step]
            self._size += 1
            # Welford's way: the sum of squares about the mean without a difference of large numbers.
            before = own - self._mean
            self._mean += before / self._size
            self._squares += before * (own - self._mean)
            shrunk = 1 - np.maximum(self._size - 3, 0) * self._variance / np.maximum(self._squares, 1e-300)
            values[step] = self._mean + np.maximum(shrunk, 0) * (own - self._mean)
        return values


class AdaptiveSmoother:
    """Estimate many series that carry noise at one epsilon, as steps come.

    Privacy: post-processing. Utility: best effort. On quiet streams the error is far below the noise of one count;
    after a change it is the noise of a short window. `strictness`: 3 for sparse counts, 2 for dense ones. Estimates may
    be negative.
    Runtime: about log2(longest) passes over each block; up to `longest` numbers kept for each series.
    Citations: Lepski 1991 (choosing a window by comparing intervals).
    """

    def __init__(self, series: int, epsilon: Amount, strictness: float = SPARSE, longest: int = 1 << 14) -> None:
        self._series = checked_series(series)
        if not (isinstance(strictness, int | float) and 0 < strictness <= _MOST_STRICTNESS):
            raise ArgumentError("strictness", strictness, "it must be above 0 and at most 1000", "Pass 2 or 3")
        self._radius = strictness * math.sqrt(2) / float(checked_rate(epsilon, 1))
        self._longest = checked_between(longest, "longest", 1, 1 << 20)
        self._sums = RunningSums(self._series, self._longest)

    def steps(self, noisy: ArrayLike) -> NDArray[np.float64]:
        """Return the estimates of these steps. Leave a step without a value out of the block."""
        block = block_of(noisy, "noisy", self._series)
        estimates = np.empty(block.shape, dtype=np.float64)
        for rows in self._sums.batches(block):
            estimates[rows] = self._estimates()
        return estimates

    def _estimates(self) -> NDArray[np.float64]:
        """Return the estimates of one batch.

        The highest low end and the lowest high end of shorter windows decide whether a longer one agrees. The first
        window that disagrees ends the search: a longer one that agrees by chance reaches past the same change.
        """
        best = self._sums.last(1).astype(np.float64)
        low, high, agrees = best - self._radius, best + self._radius, np.ones(best.shape, dtype=np.bool_)
        length, ends = 2, self._sums.ends
        while length <= min(self._longest, int(ends[-1])):
            radius = self._radius / math.sqrt(length)
            mean = self._sums.last(length) / length
            least, most = mean - radius, mean + radius
            agrees &= (least <= high) & (most >= low) & (ends >= length)[:, None]
            np.copyto(best, mean, where=agrees)
            np.maximum(low, least, out=low)
            np.minimum(high, most, out=high)
            length *= 2
        return best
