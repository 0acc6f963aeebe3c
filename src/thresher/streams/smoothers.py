"""Smoothers of PeGaSus: the noisy counts of one group stand in for each other.

    values = MedianSmoother(series=128).steps(noisy, marks)     # float64 (steps, series)

    AverageSmoother      the mean of the last group
    MedianSmoother       its median
    JamesSteinSmoother   the step's own noisy count, drawn towards the mean as far as noise explains the spread

They are best effort: how far a group is from flat is not known, so no error is promised. Where noise levels mix,
`weights` tells at how many nano-epsilon each number was measured; 0 leaves it out.
Reads: noisy counts and marks. Writes: nothing. Never: a true count, a draw; so smoothing costs nothing.
"""

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount
from thresher.errors import ArgumentError
from thresher.noise.arguments import checked_rate
from thresher.streams.group_deviation import MOST_LONGEST
from thresher.streams.running_median import RunningMedians
from thresher.streams.step_blocks import checked_between, checked_series, values_of
from thresher.streams.step_release import JOINS

Reals = NDArray[np.float64]
Numbers = NDArray[np.int64] | NDArray[np.float64]
# Far above any epsilon in nano; sums of so many stay exact.
_MOST_WEIGHT = 1 << 40


class AverageSmoother:
    """The mean of the last group; with weights, that of the least variance: each number by its epsilon squared.

    Privacy: post-processing of what is released. Utility: variance 1 / n of one number's if the group is flat; no
    promise otherwise. Runtime: constant a step. Citations: Chen et al. 2017, equation 5.5 in Chen 2018.
    """

    def __init__(self, series: int) -> None:
        self.series = checked_series(series)
        self._total, self._weight = np.zeros(self.series), np.zeros(self.series)

    def steps(self, noisy: Numbers, marks: NDArray[np.int8], weights: NDArray[np.int64] | None = None) -> Reals:
        """The estimate of each next step, in order. Where nothing was measured in a group yet, it is 0."""
        numbers, joins = read_steps(noisy, marks, self.series)
        precision = (
            np.ones(numbers.shape) if weights is None else np.square(read_weights(weights, numbers.shape), dtype=float)
        )
        values = np.zeros(numbers.shape)
        for step, precise in enumerate(precision):
            self._total *= joins[step]
            self._weight *= joins[step]
            self._total += precise * numbers[step]
            self._weight += precise
            np.divide(self._total, self._weight, out=values[step], where=self._weight > 0)
        return values


class MedianSmoother:
    """The median of the last group; with weights, the weighted one, each number by its epsilon.

    A group longer than `longest` is begun anew. Privacy: post-processing. Utility: as the mean, and steadier against
    single steps that do not belong. Runtime: a search among the distinct numbers of the group. Citations: as above.
    """

    def __init__(self, series: int, longest: int = MOST_LONGEST) -> None:
        self.series = checked_series(series)
        self._medians = RunningMedians(self.series, checked_between(longest, "longest", 1, MOST_LONGEST))

    def steps(self, noisy: Numbers, marks: NDArray[np.int8], weights: NDArray[np.int64] | None = None) -> Reals:
        """The estimate of each next step, in order. Where nothing was measured in a group yet, it is 0."""
        numbers, joins = read_steps(noisy, marks, self.series)
        counted = np.ones(numbers.shape, dtype=np.int64) if weights is None else read_weights(weights, numbers.shape)
        return self._medians.steps(numbers, joins, counted)


class JamesSteinSmoother:
    """avg + max(0, 1 - (n - 3) tau^2 / sum of squares about avg) * (own - avg), from four steps of a group on.

    tau^2 is the variance of the noise at `epsilon_p`; shorter groups are left as they are. In print the last term is
    the step's own count and the factor may be below 0: both are far worse than no smoothing at all.
    Privacy: post-processing. Utility: hardly below plain noise; here for comparison. Runtime: constant a step.
    Citations: Efron, Morris 1973 (towards the mean, n - 3); equation 5.7 in Chen 2018, corrected.
    """

    def __init__(self, series: int, epsilon_p: Amount) -> None:
        self.series = checked_series(series)
        rate = float(checked_rate(epsilon_p, 1, "epsilon_p"))
        # 2p / (1-p)^2 with p = exp(-rate)
        self._variance = 0.5 / np.sinh(rate / 2) ** 2
        self._size, self._mean, self._squares = (np.zeros(self.series) for _ in range(3))

    def steps(self, noisy: Numbers, marks: NDArray[np.int8]) -> Reals:
        """The estimate of each next step, in order."""
        numbers, joins = read_steps(noisy, marks, self.series)
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


def read_steps(noisy: Numbers, marks: NDArray[np.int8], series: int) -> tuple[Reals, NDArray[np.bool_]]:
    """Noisy numbers as floats, and whether each step joins the group before it. Both laid out by steps."""
    numbers, marked = values_of(noisy, "noisy", series), np.asarray(marks)
    marked = marked[:, None] if marked.ndim == 1 else marked
    if marked.dtype.kind not in "iu" or marked.shape != numbers.shape:
        rule = "there must be one mark for every noisy count"
        raise ArgumentError("marks", f"{marked.dtype.name} of shape {marked.shape}", rule, "Pass what the grouper gave")
    return np.ascontiguousarray(numbers), np.ascontiguousarray(marked == JOINS)


def read_weights(weights: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.int64]:
    array = np.asarray(weights)
    array = array[:, None] if array.ndim == 1 else array
    if array.dtype.kind not in "iu" or array.shape != shape or (array.size and array.min() < 0):
        rule = "there must be one whole number, 0 or more, for every noisy count"
        raise ArgumentError("weights", f"{array.dtype.name} of shape {array.shape}", rule, "Pass nano-epsilon")
    return np.minimum(array, _MOST_WEIGHT).astype(np.int64, order="C")
