"""The adaptive smoother: at every step the longest backward mean up to which all agree.

Means over 1, 2, 4, ... steps have noise that shrinks by the square root; each gets an interval of `strictness` standard
deviations to either side. As long as the counts hold still the intervals meet; a window that reaches back past a change
soon misses a shorter one, and then neither it nor a longer one is used.
Reads: noisy counts. Writes: nothing. Never: a true count; a promise: means over counts that change are biased by an
unknown amount.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount
from thresher.errors import ArgumentError
from thresher.noise.arguments import checked_rate
from thresher.streams.running_sums import RunningSums
from thresher.streams.step_blocks import block_of, checked_between, checked_series

# What the measurements recommend where most counts are near zero, and where they are far above the noise.
SPARSE, DENSE = 3.0, 2.0
_MOST_STRICTNESS = 1000.0


class AdaptiveSmoother:
    """Estimates of many series that carry noise at one epsilon, as steps come.

    Privacy: post-processing. Utility: best effort; on quiet streams far below the noise of one count, after a change
    the noise of a short window. `strictness`: 3 for sparse counts, 2 for dense ones. Estimates may be negative.
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
        """The estimates of these steps. A step without a value is left out of the block, as if it had not been."""
        block = block_of(noisy, "noisy", self._series)
        estimates = np.empty(block.shape, dtype=np.float64)
        for rows in self._sums.batches(block):
            estimates[rows] = self._estimates()
        return estimates

    def _estimates(self) -> NDArray[np.float64]:
        """Of one batch: the highest low end and the lowest high end so far decide whether a longer window agrees.

        The first that does not is the end: longer ones that happen to agree again reach past the same change.
        """
        kept = self._sums.last(1).astype(np.float64)
        low, high, agrees = kept - self._radius, kept + self._radius, np.ones(kept.shape, dtype=np.bool_)
        length, seen = 2, self._sums.seen
        while length <= min(self._longest, int(seen[-1])):
            radius = self._radius / math.sqrt(length)
            mean = self._sums.last(length) / length
            least, most = mean - radius, mean + radius
            agrees &= (least <= high) & (most >= low) & (seen >= length)[:, None]
            np.copyto(kept, mean, where=agrees)
            np.maximum(low, least, out=low)
            np.minimum(high, most, out=high)
            length *= 2
        return kept
