"""Sums over the last so many steps, for any number of lengths at once, of many series in lockstep.

A ring of cumulative sums: a window is the difference of two of its rows. The sums may wrap around; differences do not,
because every window fits. The ring grows with the stream, up to what the longest window needs.
Reads: released numbers, or true counts inside a mechanism. Writes: nothing. Never: more rows than the longest window
needs, and one batch.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

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
