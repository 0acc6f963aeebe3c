"""Add up whole counts by bucket, and spread bucket totals back over the cells.

Reads: arrays. Writes: nothing. Never: a float before the noise.
"""

import numpy as np
from numpy.typing import NDArray


def bucket_sums(cells: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the exact total of each bucket. Labels are 0, 1, ... without a gap, one for each cell."""
    order = np.argsort(labels, axis=None, kind="stable")
    starts = np.flatnonzero(np.diff(labels.ravel()[order], prepend=-1))
    return np.add.reduceat(cells.ravel()[order], starts)


def spread_evenly(totals: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Give each cell an equal share of the total of its bucket."""
    shares: NDArray[np.float64] = (totals / np.bincount(labels.ravel(), minlength=totals.size))[labels]
    return shares
