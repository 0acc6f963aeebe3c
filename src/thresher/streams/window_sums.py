"""Sums over the last steps: of released counts, and of the estimates of their groups.

    RunningSums         whole numbers over several lengths at once, for windows and alarms
    WindowSums          over one length, and how many of its steps have a value; without bias
    WindowSumSmoother   PeGaSus: each step in the window counts by the latest estimate of its group

The plain sum over w steps has the noise of w counts, with a variance near 2 w / epsilon^2. Below about a thousand steps
that is less noise than in a tree of windows (`tree_windows`). The estimate of a group improves after a step has passed,
so a sum of latest estimates is better than a sum of the estimates of each time.
Reads: released numbers, or true counts inside a mechanism. Writes: nothing. Never: a draw; more rows than the longest
window and one batch need.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.streams.group_deviation import MOST_LONGEST
from thresher.streams.median_smoother import MedianSmoother
from thresher.streams.step_blocks import (
    Numbers,
    Reals,
    block_of,
    checked_between,
    checked_series,
    grouped_steps,
    present_of,
)

MOST_STEPS = 1 << 20
_MOST_SMOOTHED = 1 << 24
# How many numbers are handled together, so that the arrays in use stay in the processor's cache.
_BATCH = 1 << 14


class RunningSums:
    """`for rows in sums.batches(block)`: within the loop, `sums.last(length)` are those rows' windows."""

    def __init__(self, series: int, longest: int) -> None:
        self._longest, self._batch = longest, max(1, _BATCH // series)
        self._ring = np.zeros((self._batch + 1, series), dtype=np.int64)
        # How many steps there were before the batch, and up to each of its rows.
        self._seen, self.ends = 0, np.arange(0)

    def batches(self, block: NDArray[np.int64]) -> Iterator[slice]:
        """Add the block, a batch of rows at a time."""
        for start in range(0, len(block), self._batch):
            rows = slice(start, min(start + self._batch, len(block)))
            self._take(block[rows])
            yield rows

    def last(self, length: int) -> NDArray[np.int64]:
        """Return for each row of the batch the sum of its last `length` steps, or of all steps if there are fewer."""
        size, before = len(self._ring), np.maximum(self.ends - length, 0)
        window: NDArray[np.int64] = self._ring[self.ends % size] - self._ring[before % size]
        return window

    def _take(self, rows: NDArray[np.int64]) -> None:
        self._grow(len(rows))
        self.ends = self._seen + 1 + np.arange(len(rows))
        size = len(self._ring)
        self._ring[self.ends % size] = self._ring[self._seen % size] + np.cumsum(rows, axis=0)
        self._seen += len(rows)

    def _grow(self, rows: int) -> None:
        """Make room for these rows and the longest window before the first of them."""
        size, wanted = len(self._ring), min(self._seen, self._longest) + rows + 1
        if wanted <= size:
            return
        steps = np.arange(max(0, self._seen - size + 1), self._seen + 1)
        ring = np.zeros((min(2 * wanted, self._longest + self._batch + 1), self._ring.shape[1]), dtype=np.int64)
        ring[steps % len(ring)] = self._ring[steps % size]
        self._ring = ring


class WindowSums:
    """Sum the last `length` steps of many series, as steps come.

    Privacy: post-processing of noisy counts. Utility: unbiased; P[the sum is off by a or more] is the tail of
    `NoiseSum((1,) * length)`. Runtime: constant for each number; `length` numbers kept for each series.
    """

    def __init__(self, series: int, length: int) -> None:
        self._series, self.length = checked_series(series), checked_between(length, "length", 1, MOST_STEPS)
        # The last column counts the steps that have a value.
        self._sums = RunningSums(self._series + 1, self.length)

    def steps(self, noisy: ArrayLike, present: ArrayLike | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return for each step the sums over the last `length`, and how many of those steps have a value.

        `present`: which steps have a value; the rows of the others are not looked at.
        """
        block = block_of(noisy, "noisy", self._series)
        return self.of_block(block, present_of(present, len(block)))

    def of_block(
        self, block: NDArray[np.int64], known: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Do the same for a block that was checked."""
        counted = np.column_stack([np.where(known[:, None], block, 0), known])
        sums = np.empty_like(counted)
        for rows in self._sums.batches(counted):
            sums[rows] = self._sums.last(self.length)
        return sums[:, :-1], sums[:, -1]


def backward_means(noisy: ArrayLike, length: int) -> NDArray[np.float64]:
    """Return the mean of the last `length` noisy counts at each step, of fewer at the start: backward smoothing, BS_k.

    Privacy: post-processing. Utility: noise shrinks by sqrt(length); changes within the window are smeared.
    Runtime: linear.
    """
    block = block_of(noisy, "noisy")
    sums, covered = WindowSums(block.shape[1], length).steps(block) if block.size else (block, np.ones(len(block)))
    return np.asarray(sums / covered[:, None]).reshape(np.shape(noisy))


class WindowSumSmoother:
    """Estimate the sum of the last `length` counts, or of all counts while there are fewer.

    Privacy: post-processing. Utility: best effort; it adds medians, whose errors within one group add up.
    Runtime: constant a step, amortised. Memory: two numbers for each group in the window, at most `length` groups.
    Citations: Chen et al. 2017, Algorithm 3 (17 in Chen 2018).
    """

    def __init__(self, series: int, length: int, longest: int = MOST_LONGEST) -> None:
        self.series, self.length = checked_series(series), checked_between(length, "length", 1, _MOST_SMOOTHED)
        # Made when `steps` is first called: `of_values` needs none.
        self._medians: MedianSmoother | None = None
        self._longest = checked_between(longest, "longest", 1, MOST_LONGEST)
        # Closed groups of a window, oldest first, in a ring: their estimates and how many of their steps are inside.
        self._values = np.zeros((self.series, 1))
        self._sizes = np.zeros((self.series, 1), dtype=np.int64)
        self._first, self._groups, self._closed_steps = (np.zeros(self.series, dtype=np.int64) for _ in range(3))
        self._closed_sum = np.zeros(self.series)
        self._open, self._value = np.zeros(self.series, dtype=np.int64), np.zeros(self.series)

    def steps(self, noisy: Numbers, marks: NDArray[np.int8]) -> Reals:
        """Return the sums up to each next step, in order, by medians of groups."""
        if self._medians is None:
            self._medians = MedianSmoother(self.series, self._longest)
        return self.of_values(self._medians.steps(noisy, marks), marks)

    def of_values(self, values: Numbers, marks: NDArray[np.int8]) -> Reals:
        """Return the sums by another smoother's estimates of these steps. Call either this or `steps`, never both."""
        return self.of_block(*grouped_steps(values, marks, self.series))

    def of_block(self, estimates: Reals, joins: NDArray[np.bool_]) -> Reals:
        """Do the same for blocks that were checked."""
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
        """End the open groups of these series with their present estimates."""
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
        """Take one step out of the windows of these series, from their oldest groups."""
        if not rows.size:
            return
        oldest = self._first[rows]
        self._closed_steps[rows] -= 1
        self._closed_sum[rows] -= self._values[rows, oldest]
        self._sizes[rows, oldest] -= 1
        gone = rows[self._sizes[rows, oldest] == 0]
        self._first[gone] = (self._first[gone] + 1) % self._values.shape[1]
        self._groups[gone] -= 1
        # A rounding error must not stay for ever.
        self._closed_sum[gone[self._groups[gone] == 0]] = 0.0

    def _widen(self) -> None:
        """Double the room, and unroll each ring."""
        ring = self._values.shape[1]
        order = (self._first[:, None] + np.arange(ring)) % ring
        more = ((0, 0), (0, ring))
        self._values = np.pad(np.take_along_axis(self._values, order, axis=1), more)
        self._sizes = np.pad(np.take_along_axis(self._sizes, order, axis=1), more)
        self._first[:] = 0
