"""Count blocks of each size with noise and reconcile them (HB), so that sums over ranges have little noise.

The blocks form a tree over the cells whose nodes have `branching` children along each axis. A grid of any size gives an
uneven tree, so nothing is padded. Each level but the root gets an equal share of epsilon; least squares reconciles
them.
Reads: counts, entropy. Writes: nothing. Never: a float before the noise. Proof: `hierarchical.md`.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon
from thresher.mechanisms.histograms.estimate import MOST_CELLS, NoisyHistogram, checked_counts, checked_epsilon
from thresher.noise import Entropy, discrete_laplace
from thresher.noise.arguments import checked_whole
from thresher.noise.entropy import chosen

_Number = TypeVar("_Number", np.int64, np.float64)


def hierarchical(
    counts: ArrayLike, epsilon: Amount, *, branching: int | None = None, entropy: Entropy | None = None
) -> NoisyHistogram:
    """Reconcile noisy counts of blocks of all sizes by least squares. The default `branching` suits sums over ranges.

    Privacy: epsilon: a record is counted once in each of the h levels, each measured with epsilon / h.
    Utility: unbiased, with the least variance of all unbiased linear combinations of the measurements. A range is a sum
    of about 2 (branching - 1) h nodes instead of all its cells; a single cell is noisier than with `laplace`.
    Runtime: linear in the cells.
    Citations: Hay, Rastogi, Miklau, Suciu 2010 (consistency); Qardaji, Yang, Li 2013 (branching).
    """
    cells, amount, source = checked_counts(counts), checked_epsilon(epsilon), chosen(entropy)
    side = max(cells.shape)
    width = best_branching(side, cells.ndim)
    if branching is not None:
        width = checked_whole(branching, "branching", 2, MOST_CELLS, "Leave it out")
    levels = blocks(cells, width)
    share = amount / len(levels)
    noisy = [level + discrete_laplace(share, level.size, entropy=source).reshape(level.shape) for level in levels]
    estimate = estimate_from_levels([np.asarray(level, dtype=np.float64).view(np.ndarray) for level in noisy], width)
    return NoisyHistogram(estimate, Epsilon.covering(amount), "hb", source.stamp)


def best_branching(side: int, dimensions: int = 1) -> int:
    """Return the branching with the smallest mean variance of a range, by a formula of the grid alone.

    For a given height h the formulas grow with b, so the least b with b**h >= side is the only candidate.
    """
    heights = range(1, max(side - 1, 1).bit_length() + 1)
    candidates = [(_least_base(side, h), h) for h in heights]
    return min((_cost(b, h, dimensions), b) for b, h in candidates)[1]


def blocks(cells: NDArray[np.int64], branching: int) -> list[NDArray[np.int64]]:
    """Return the exact counts of the nodes level by level, from the children of the root to the cells."""
    levels = [cells]
    while max(levels[0].shape) > branching:
        levels.insert(0, _grouped(levels[0], branching))
    return levels


def estimate_from_levels(measured: Sequence[NDArray[np.float64]], branching: int) -> NDArray[np.float64]:
    """Return the least-squares estimate of the cells from equally noisy levels, top first (`hierarchical.md`).

    Upwards, it finds each node's best estimate from its own subtree and the variance in units of one measurement.
    Downwards, it divides the difference between a parent and the sum of its children in proportion to their variances.
    """
    best, variance = [measured[-1]], [np.ones(measured[-1].shape)]
    for own in reversed(measured[:-1]):
        below, doubt = _grouped(best[0], branching), _grouped(variance[0], branching)
        best.insert(0, (own * doubt + below) / (doubt + 1))
        variance.insert(0, doubt / (doubt + 1))
    estimate = best[0]
    for lower, doubt in zip(best[1:], variance[1:], strict=True):
        gap = (estimate - _grouped(lower, branching)) / _grouped(doubt, branching)
        estimate = lower + doubt * _repeated(gap, branching, lower.shape)
    return estimate


def _grouped(values: NDArray[_Number], branching: int) -> NDArray[_Number]:
    """Add up blocks of `branching` along each axis; the last block of an axis may be smaller."""
    for axis, size in enumerate(values.shape):
        values = np.add.reduceat(values, np.arange(0, size, branching), axis=axis)
    return values


def _repeated(values: NDArray[np.float64], branching: int, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Give each member the value of its block, cut to a shape whose last blocks may be smaller."""
    for axis, size in enumerate(shape):
        values = np.repeat(values, branching, axis=axis).take(range(size), axis=axis)
    return values


def _least_base(side: int, height: int) -> int:
    """Return the least b >= 2 with b**height >= side, by bisection on whole numbers."""
    low, high = 2, max(side, 2)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if middle**height >= side else (middle + 1, high)
    return low


def _cost(b: int, h: int, dimensions: int) -> int:
    """Return three times the formula, a whole number. In two dimensions the rim of a range decides, b h**2 an axis."""
    return 3 * (b - 1) * h**3 - 2 * (b + 1) * h**2 if dimensions == 1 else 3 * b * h**2
