"""Sliding windows over released counts: their plain sums and means. Free, and without bias.

The sum over w steps strays by the sum of w noises, of variance near 2 w / epsilon^2; below about a thousand steps that
is less than a tree of windows pays (`tree_windows`).
Reads: noisy counts. Writes: nothing. Never: a true count.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.streams.running_sums import RunningSums
from thresher.streams.step_blocks import block_of, checked_between, checked_series, present_of

MOST_STEPS = 1 << 20


class WindowSums:
    """The sums of the last `length` steps of many series, as steps come.

    Privacy: post-processing of noisy counts. Utility: unbiased; P[sum strays by a or more] is the tail of
    `NoiseSum((1,) * length)`. Runtime: constant for each number; `length` numbers kept for each series.
    """

    def __init__(self, series: int, length: int) -> None:
        self._series, self.length = checked_series(series), checked_between(length, "length", 1, MOST_STEPS)
        self._sums, self._covered = RunningSums(self._series, self.length), RunningSums(1, self.length)

    def steps(self, noisy: ArrayLike, present: ArrayLike | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each step the sums over the last `length`, and how many of those steps have a value.

        `present`: which steps have one; what stands in the rows of the others is not looked at.
        """
        block = block_of(noisy, "noisy", self._series)
        known = present_of(present, len(block))
        sums, covered = np.empty_like(block), np.empty(len(block), dtype=np.int64)
        for rows in self._sums.batches(np.where(known[:, None], block, 0)):
            sums[rows] = self._sums.last(self.length)
        for rows in self._covered.batches(known[:, None].astype(np.int64)):
            covered[rows] = self._covered.last(self.length)[:, 0]
        return sums, covered


def backward_means(noisy: ArrayLike, length: int) -> NDArray[np.float64]:
    """The mean of the last `length` noisy counts at each step, of fewer at the start: backward smoothing, BS_k.

    Privacy: post-processing. Utility: noise shrinks by sqrt(length); what changes within the window is smeared.
    Runtime: linear.
    """
    block = block_of(noisy, "noisy")
    sums, covered = WindowSums(block.shape[1], length).steps(block) if block.size else (block, np.ones(len(block)))
    return np.asarray(sums / covered[:, None]).reshape(np.shape(noisy))
