"""Sums of the last steps: of released counts as they are, and of the estimates of their groups.

    RunningSums         over any number of lengths at once, of whole numbers; what windows and alarms are made of
    WindowSums          over one length, with how many of its steps have a value; without bias
    WindowSumSmoother   PeGaSus: every step in the window by the latest estimate of its group

The plain sum over w steps strays by the sum of w noises, of variance near 2 w / epsilon^2; below about a thousand steps
that is less than a tree of windows pays (`tree_windows`). A group goes on being estimated after a step has passed, so
its latest estimates are better than adding up what was said at the time.
Reads: released numbers, or true counts inside a mechanism. Writes: nothing. Never: a draw; more rows than the longest
window needs, and one batch.
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
# Numbers looked at together: the arrays in use stay in the processor's cache.
_BATCH = 1 << 14


class RunningSums:
    """`for rows in sums.batches(block)`: within the loop, `sums.last(length)` are those rows' windows."""

    def __init__(self, series: int, longest: int) -> None:
        self._longest, self._batch = longest, max(1, _BATCH // series)
        self._ring = np.zeros((self._batch + 1, series), dtype=np.int64)
        self._seen, self._ends = 0, np.arange(0)

    @property
    def seen(self) -> NDArray[np.intp]:
        """How many steps there have been at each row of the batch."""
        return self._ends

    def batches(self, block: NDArray[np.int64]) -> Iterator[slice]:
        """Takes the block in, a batch of rows at a time."""
        for start in range(0, len(block), self._batch):
            rows = slice(start, min(start + self._batch, len(block)))
            self._take(block[rows])
            yield rows

    def last(self, length: int) -> NDArray[np.int64]:
        """For each row of the batch the sum of its last `length` steps; of all there were, if they are fewer."""
        size, before = len(self._ring), np.maximum(self._ends - length, 0)
        window: NDArray[np.int64] = self._ring[self._ends % size] - self._ring[before % size]
        return window

    def _take(self, rows: NDArray[np.int64]) -> None:
        self._grow(len(rows))
        self._ends = self._seen + 1 + np.arange(len(rows))
        size = len(self._ring)
        self._ring[self._ends % size] = self._ring[self._seen % size] + np.cumsum(rows, axis=0)
        self._seen += len(rows)

    def _grow(self, rows: int) -> None:
        """Room for these rows and the longest window before the first of them, or for all there is."""
        size, wanted = len(self._ring), min(self._seen, self._longest) + rows + 1
        if wanted <= size:
            return
        kept = np.arange(max(0, self._seen - size + 1), self._seen + 1)
        ring = np.zeros((min(2 * wanted, self._longest + self._batch + 1), self._ring.shape[1]), dtype=np.int64)
        ring[kept % len(ring)] = self._ring[kept % size]
        self._ring = ring


class WindowSums:
    """The sums of the last `length` steps of many series, as steps come.

    Privacy: post-processing of noisy counts. Utility: unbiased; P[sum strays by a or more] is the tail of
    `NoiseSum((1,) * length)`. Runtime: constant for each number; `length` numbers kept for each series.
    """

    def __init__(self, series: int, length: int) -> None:
        self._series, self.length = checked_series(series), checked_between(length, "length", 1, MOST_STEPS)
        # The last column counts the steps that have a value.
        self._sums = RunningSums(self._series + 1, self.length)

    def steps(self, noisy: ArrayLike, present: ArrayLike | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each step the sums over the last `length`, and how many of those steps have a value.

        `present`: which steps have one; what stands in the rows of the others is not looked at.
        """
        block = block_of(noisy, "noisy", self._series)
        return self.of_block(block, present_of(present, len(block)))

    def of_block(
        self, block: NDArray[np.int64], known: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The same of a block that was checked."""
        counted = np.column_stack([np.where(known[:, None], block, 0), known])
        sums = np.empty_like(counted)
        for rows in self._sums.batches(counted):
            sums[rows] = self._sums.last(self.length)
        return sums[:, :-1], sums[:, -1]


def backward_means(noisy: ArrayLike, length: int) -> NDArray[np.float64]:
    """The mean of the last `length` noisy counts at each step, of fewer at the start: backward smoothing, BS_k.

    Privacy: post-processing. Utility: noise shrinks by sqrt(length); what changes within the window is smeared.
    Runtime: linear.
    """
    block = block_of(noisy, "noisy")
    sums, covered = WindowSums(block.shape[1], length).steps(block) if block.size else (block, np.ones(len(block)))
    return np.asarray(sums / covered[:, None]).reshape(np.shape(noisy))


class WindowSumSmoother:
    """Estimates of the sum of the last `length` counts; of all of them as long as there are fewer.

    Privacy: post-processing. Utility: best effort; what is added are medians, whose errors in one group add up.
    Runtime: constant a step, amortised; two numbers a group in the window, `length` groups at most.
    Citations: Chen et al. 2017, Algorithm 3 (17 in Chen 2018).
    """

    def __init__(self, series: int, length: int, longest: int = MOST_LONGEST) -> None:
        self.series, self.length = checked_series(series), checked_between(length, "length", 1, _MOST_SMOOTHED)
        # Made when it is first needed: often estimates are there already.
        self._medians: MedianSmoother | None = None
        self._longest = checked_between(longest, "longest", 1, MOST_LONGEST)
        # Closed groups of a window, oldest first, in a ring: their estimates and how many of their steps are inside.
        self._values = np.zeros((self.series, 1))
        self._sizes = np.zeros((self.series, 1), dtype=np.int64)
        self._first, self._groups, self._closed_steps = (np.zeros(self.series, dtype=np.int64) for _ in range(3))
        self._closed_sum = np.zeros(self.series)
        self._open, self._value = np.zeros(self.series, dtype=np.int64), np.zeros(self.series)

    def steps(self, noisy: Numbers, marks: NDArray[np.int8]) -> Reals:
        """The sums up to each next step, in order, by medians of groups."""
        if self._medians is None:
            self._medians = MedianSmoother(self.series, self._longest)
        return self.of_values(self._medians.steps(noisy, marks), marks)

    def of_values(self, values: Numbers, marks: NDArray[np.int8]) -> Reals:
        """The same by estimates that a smoother gave already for these steps. A window takes one of the two ways."""
        return self.of_block(*grouped_steps(values, marks, self.series))

    def of_block(self, estimates: Reals, joins: NDArray[np.bool_]) -> Reals:
        """The same of blocks that were checked."""
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
