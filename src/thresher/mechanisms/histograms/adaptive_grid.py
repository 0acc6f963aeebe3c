"""Count the blocks of a coarse grid, then of a grid that is finer where the first counts are larger (AG).

Reads: counts, entropy. Writes: nothing. Never: a grid that depends on the true total; it depends on a noisy one.
Proof: `adaptive_grid.md`.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon
from thresher.mechanisms.histograms.buckets import bucket_sums, spread_evenly
from thresher.mechanisms.histograms.estimate import NoisyHistogram, checked_counts, checked_epsilon
from thresher.noise import Entropy, discrete_laplace
from thresher.noise.entropy import chosen

TOTAL_SHARE = Fraction(1, 20)
_FIRST_SHARE = Fraction(1, 2)
_LEAST_LINES = 10


@dataclass(frozen=True, slots=True)
class GridShares:
    """Hold the cost of each of the three measurements."""

    total: Fraction
    coarse: Fraction
    fine: Fraction


@dataclass(frozen=True, slots=True)
class Coarse:
    """Hold the first grid: the block of each cell, and the numbers of blocks down and across."""

    labels: NDArray[np.int64]
    shape: tuple[int, int]


def adaptive_grid(counts: ArrayLike, epsilon: Amount, *, entropy: Entropy | None = None) -> NoisyHistogram:
    """Spread noisy counts of blocks evenly over their cells; blocks are smaller where counts are large. Two dimensions.

    Privacy: epsilon: a record is counted once in the total, once in the first grid and once in the second; the grids
    depend on public sizes and on earlier outputs only.
    Utility: no promise for a cell, because counts in a block are assumed to be even. The total of a first block has
    less noise than each of its two measurements.
    Runtime: a sort of the cells.
    Citations: Qardaji, Yang, Li, "Differentially Private Grids for Geospatial Data", 2013.
    """
    cells, amount, source = checked_counts(counts, (2,)), checked_epsilon(epsilon), chosen(entropy)
    shares = grid_shares(amount)
    total = int(cells.sum()) + int(discrete_laplace(shares.total, 1, entropy=source)[0])
    coarse = coarse_grid(cells.shape, total, amount - shares.total)
    first = _measured(cells, coarse.labels, shares.coarse, source)
    labels = fine_grid(coarse, first, shares.fine)
    second = _measured(cells, labels, shares.fine, source)
    estimate = estimate_from_grids(coarse, first, labels, second)
    return NoisyHistogram(estimate, Epsilon.covering(amount), "ag", source.stamp, labels)


def grid_shares(amount: Fraction) -> GridShares:
    """Split the amount: a twentieth for the total, and half of the rest for each grid."""
    rest = amount * (1 - TOTAL_SHARE)
    return GridShares(amount * TOTAL_SHARE, rest * _FIRST_SHARE, rest * (1 - _FIRST_SHARE))


def coarse_grid(shape: tuple[int, ...], total: int, amount: Fraction) -> Coarse:
    """Make max(10, sqrt(total epsilon / 10) / 4) blocks along each axis, or as many as the axis has cells."""
    wished = max(_LEAST_LINES, math.ceil(math.sqrt(max(total, 0) * float(amount) / 10) / 4))
    down, across = (min(wished, size) for size in shape)
    rows, columns = (_bands(size, lines) for size, lines in zip(shape, (down, across), strict=True))
    return Coarse(rows[:, None] * across + columns[None, :], (down, across))


def fine_grid(coarse: Coarse, first: NDArray[np.int64], amount: Fraction) -> NDArray[np.int64]:
    """Label the cells by part: a block with noisy count c gets sqrt(c epsilon / 5) parts along each axis."""
    down, across = coarse.shape
    wished = np.maximum(np.ceil(np.sqrt(np.maximum(first, 0) * (float(amount) / 5))), 1).astype(np.int64)
    inside = []
    for axis, (lines, size) in enumerate(zip((down, across), coarse.labels.shape, strict=True)):
        band = _bands(size, lines)
        heights = np.bincount(band)
        place = np.arange(size) - np.searchsorted(band, band)
        block_heights = heights[np.arange(first.size) // across if axis == 0 else np.arange(first.size) % across]
        parts = np.minimum(wished, block_heights)
        own = np.expand_dims(place, 1 - axis) * parts[coarse.labels] // block_heights[coarse.labels]
        inside.append((parts, own))
    (down_parts, row), (across_parts, column) = inside
    sizes = down_parts * across_parts
    before = np.cumsum(sizes) - sizes
    labels: NDArray[np.int64] = before[coarse.labels] + row * across_parts[coarse.labels] + column
    return labels


def estimate_from_grids(
    coarse: Coarse, first: NDArray[np.int64], labels: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Estimate the cells by least squares from two equally noisy grids.

    The estimate of a first block weighs its own count and the sum of its parts by inverse variance. The difference is
    divided equally among the parts, and a part equally among its cells.
    """
    block_of = np.zeros(second.size, dtype=np.int64)
    block_of[labels.ravel()] = coarse.labels.ravel()
    parts = np.bincount(block_of, minlength=first.size)
    below = bucket_sums(second, block_of)
    # The sum of k parts has k times the variance of the block's own count, so it weighs 1 / (k + 1).
    gap = (first - below) * (parts / (parts + 1.0))
    return spread_evenly(second + (gap / parts)[block_of], labels)


def _bands(size: int, lines: int) -> NDArray[np.int64]:
    """Return for each of `size` rows in which of `lines` nearly equal bands it lies. No band is empty."""
    return np.arange(size, dtype=np.int64) * lines // size


def _measured(
    cells: NDArray[np.int64], labels: NDArray[np.int64], share: Fraction, entropy: Entropy
) -> NDArray[np.int64]:
    sums = bucket_sums(cells, labels)
    return np.asarray(sums + discrete_laplace(share, sums.size, entropy=entropy)).view(np.ndarray)
