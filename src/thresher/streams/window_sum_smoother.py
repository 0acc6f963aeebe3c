"""Window sums of PeGaSus: every step in the window by the latest estimate of its group.

    sums = WindowSumSmoother(series=128, length=48).steps(noisy, marks)

A group goes on being estimated after a step has passed, so this is better than adding up what was said at the time. The
window is a line of groups: one number and one length each, so a step costs the same whatever the window.
Reads: noisy counts and marks, or estimates made of them. Writes: nothing. Never: a true count, a draw.
"""

import numpy as np
from numpy.typing import NDArray

from thresher.streams.group_deviation import MOST_LONGEST
from thresher.streams.smoothers import MedianSmoother, Numbers, Reals, read_steps
from thresher.streams.step_blocks import checked_between, checked_series

_MOST_LENGTH = 1 << 24


class WindowSumSmoother:
    """Estimates of the sum of the last `length` counts; of all of them as long as there are fewer.

    Privacy: post-processing. Utility: best effort; what is added are medians, whose errors in one group add up.
    Runtime: constant a step, amortised; two numbers a group in the window, `length` groups at most.
    Citations: Chen et al. 2017, Algorithm 3 (17 in Chen 2018).
    """

    def __init__(self, series: int, length: int, longest: int = MOST_LONGEST) -> None:
        self.series, self.length = checked_series(series), checked_between(length, "length", 1, _MOST_LENGTH)
        self._smoother = MedianSmoother(self.series, longest)
        # Closed groups of a window, oldest first, in a ring: their estimates and how many of their steps are inside.
        self._values = np.zeros((self.series, 1))
        self._sizes = np.zeros((self.series, 1), dtype=np.int64)
        self._first, self._groups, self._closed_steps = (np.zeros(self.series, dtype=np.int64) for _ in range(3))
        self._closed_sum = np.zeros(self.series)
        self._open, self._value = np.zeros(self.series, dtype=np.int64), np.zeros(self.series)

    def steps(self, noisy: Numbers, marks: NDArray[np.int8]) -> Reals:
        """The sums up to each next step, in order, by medians of groups."""
        return self.of_values(self._smoother.steps(noisy, marks), marks)

    def of_values(self, values: Numbers, marks: NDArray[np.int8]) -> Reals:
        """The same by estimates that a smoother gave already for these steps. A window takes one of the two ways."""
        estimates, joins = read_steps(values, marks, self.series)
        sums = np.empty(estimates.shape)
        for step, estimate in enumerate(estimates):
            self._close(np.flatnonzero(~joins[step] & (self._open > 0)))
            self._open *= joins[step]
            self._open += 1
            self._value = estimate
            # A group longer than the window fills it.
            np.minimum(self._open, self.length, out=self._open)
            self._drop(np.flatnonzero(self._open + self._closed_steps > self.length))
            sums[step] = self._closed_sum + self._open * estimate
        return sums

    def _close(self, rows: NDArray[np.intp]) -> None:
        """The open groups of these series end with the estimates they have."""
        if not rows.size:
            return
        if self._groups[rows].max() == self._values.shape[1]:
            self._widen()
        ring = self._values.shape[1]
        places = (self._first[rows] + self._groups[rows]) % ring
        sizes, values = self._open[rows], self._value[rows]
        self._values[rows, places], self._sizes[rows, places] = values, sizes
        self._groups[rows] += 1
        self._closed_steps[rows] += sizes
        self._closed_sum[rows] += sizes * values

    def _drop(self, rows: NDArray[np.intp]) -> None:
        """One step leaves the windows of these series, from their oldest groups."""
        if not rows.size:
            return
        oldest = self._first[rows]
        self._closed_steps[rows] -= 1
        self._closed_sum[rows] -= self._values[rows, oldest]
        self._sizes[rows, oldest] -= 1
        gone = rows[self._sizes[rows, oldest] == 0]
        self._first[gone] = (self._first[gone] + 1) % self._values.shape[1]
        self._groups[gone] -= 1
        # What rounding may have left must not stay for ever.
        self._closed_sum[gone[self._groups[gone] == 0]] = 0.0

    def _widen(self) -> None:
        """Twice the room, each ring unrolled."""
        ring = self._values.shape[1]
        order = (self._first[:, None] + np.arange(ring)) % ring
        more = ((0, 0), (0, ring))
        self._values = np.pad(np.take_along_axis(self._values, order, axis=1), more)
        self._sizes = np.pad(np.take_along_axis(self._sizes, order, axis=1), more)
        self._first[:] = 0
