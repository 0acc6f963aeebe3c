"""Break histograms: levels at the whole budget, clusters, grids and sums from true counts, a published first stage.

In a published first stage of DAWA single cells have no noise, other buckets have half the scale that the proof needs,
and prices are cut at zero. All buckets that hold the changed cell compete with single cells that do not move, and each
comparison shows by itself.
Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon
from thresher.audit.mutants import ONE, by_samples
from thresher.audit.shipped.partition_subjects import ends_of_cheapest
from thresher.audit.subjects import MOST_SAMPLES, Pair, Sampled
from thresher.mechanisms.histograms.adaptive_grid import coarse_grid
from thresher.mechanisms.histograms.ahp import ahp_shares, clusters
from thresher.mechanisms.histograms.buckets import bucket_sums
from thresher.mechanisms.histograms.dawa import curve, spread_totals
from thresher.mechanisms.histograms.deviations import Deviations, deviations
from thresher.mechanisms.histograms.estimate import NoisyHistogram, checked_counts, checked_epsilon
from thresher.mechanisms.histograms.partition_argmin import cheapest, shift
from thresher.noise import Entropy, discrete_laplace
from thresher.noise.entropy import chosen

# The share of the first stage; the rest pays for the totals.
_SHARE = Fraction(1, 4)


def subjects() -> tuple[Sampled, ...]:
    more = Pair("one more record in the first of four cells", (3, 5, 2, 4), (4, 5, 2, 4))
    apart = Pair("one more record sets two cells apart", (40, 56), (40, 57))
    larger = Pair("one more record, and the grid is finer", 16_000, 16_001)
    # Each bucket of two or more cells competes with single cells here, and a record in the middle moves most of them.
    flat = Pair("six empty cells, and a record in one of them", (0, 0, 0, 0, 0, 0), (0, 0, 0, 1, 0, 0))
    return (
        by_samples(broken_hierarchy_levels, more),
        by_samples(broken_clusters, apart),
        by_samples(broken_grid_size, larger),
        by_samples(broken_worst_sum, more),
        by_samples(broken_dawa_silent_singletons, flat, samples=MOST_SAMPLES),
        by_samples(broken_dawa_as_published, flat),
    )


def broken_hierarchy_levels(cells: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Spend the whole budget at each level, although a record counts in each of them."""
    counts = np.array(cells)
    exact = np.concatenate([counts.reshape(2, -1).sum(axis=1), counts])
    return exact + discrete_laplace(ONE, runs * exact.size, entropy=entropy).reshape(runs, exact.size)


def broken_clusters(cells: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Add noise to the totals of clusters, but form the clusters from true counts."""
    first, second = ahp_shares(ONE.fraction)
    labels = clusters(np.array(cells), first, second)
    sums = bucket_sums(np.array(cells), labels)
    noisy = sums + discrete_laplace(ONE, runs * sums.size, entropy=entropy).reshape(runs, sums.size)
    return np.concatenate([np.tile(labels, (runs, 1)), noisy[:, labels]], axis=1)


def broken_grid_size(records: int, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Choose the shape of the output by the true number of records, which is not charged."""
    side, _ = coarse_grid((64, 64), records, ONE.fraction).shape
    corner = discrete_laplace(ONE, runs, entropy=entropy)
    return np.stack([np.full(runs, side), corner], axis=1)


def broken_worst_sum(cells: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Choose the cell that differs most from the mean without noise."""
    counts = np.array(cells)
    distances = np.abs(counts.size * counts - counts.sum())
    worst = int(np.argmax(distances))
    return np.stack([np.full(runs, worst), counts[worst] + discrete_laplace(ONE, runs, entropy=entropy)], axis=1)


@dataclass(frozen=True, slots=True)
class Fault:
    """Hold the faults besides single cells without noise, and the epsilon that is claimed."""

    half_scale: bool = False
    clip: bool = False
    epsilon: Fraction = ONE.fraction


def broken_dawa_silent_singletons(
    counts: tuple[int, ...], runs: int, entropy: Entropy, fault: Fault | None = None
) -> NDArray[np.bool_]:
    """Choose a partition by noisy argmin at epsilon 1, with no noise on single cells."""
    seen = deviations(np.array(counts, dtype=np.int64))
    charge = _SHARE / (1 - _SHARE) / ONE.fraction
    return ends_of_cheapest(_prices(seen, charge, runs, entropy, fault or Fault()))


def broken_dawa_as_published(counts: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Leave single cells without noise, halve the scale of the noise that the proof needs, cut prices at zero."""
    return broken_dawa_silent_singletons(counts, runs, entropy, Fault(half_scale=True, clip=True))


def broken_dawa(counts: ArrayLike, epsilon: Amount, *, entropy: Entropy | None = None) -> NoisyHistogram:
    """Run DAWA with all three faults in its first stage: the mechanism behind published accuracies."""
    cells, amount, source = checked_counts(counts), checked_epsilon(epsilon), chosen(entropy)
    order, first = curve(cells), amount * _SHARE
    line = cells.ravel()[order]
    seen = deviations(line)
    charge = 1 / (amount - first)
    prices = _prices(seen, charge, 1, source, Fault(half_scale=True, clip=True, epsilon=first))
    spread, _ = spread_totals(line, cheapest(prices[:, 0]), amount - first, "prefix", source)
    estimate = np.empty(cells.size)
    estimate[order] = spread
    return NoisyHistogram(estimate.reshape(cells.shape), Epsilon.covering(amount), "broken_dawa", source.stamp)


def _prices(seen: Deviations, charge: Fraction, runs: int, entropy: Entropy, fault: Fault) -> NDArray[np.int64]:
    """Return prices of buckets by length, run and start, in units of 1 / M."""
    prices = np.repeat(seen.costs[:, None, :], runs, axis=1)
    for k in range(1, seen.lengths):
        windows = seen.cells - (1 << k) + 1
        spread = shift(1 << k, seen.unit) // (2 if fault.half_scale else 1)
        noise = discrete_laplace(fault.epsilon, runs * windows, sensitivity=spread, entropy=entropy).view(np.ndarray)
        prices[k, :, :windows] += noise.reshape(runs, windows)
    if fault.clip:
        np.maximum(prices, 0, out=prices)
    prices += int(charge * seen.unit)
    return prices
