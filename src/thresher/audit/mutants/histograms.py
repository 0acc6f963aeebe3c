"""Broken histograms: each level of a tree at the whole budget, clusters and grids from true counts, a true argmax.

Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.subjects import Pair, Sampled, Subject
from thresher.mechanisms.histograms.adaptive_grid import coarse_grid
from thresher.mechanisms.histograms.ahp import clusters, shares_of
from thresher.mechanisms.histograms.buckets import bucket_sums
from thresher.noise import Entropy, discrete_laplace

_EPSILON = Epsilon(1)
_SAMPLES = 20_000


def subjects() -> tuple[Subject, ...]:
    more = Pair("one more record in the first of four cells", (3, 5, 2, 4), (4, 5, 2, 4))
    apart = Pair("one more record sets two cells apart", (40, 56), (40, 57))
    larger = Pair("one more record, and the grid is finer", 16_000, 16_001)
    return (
        Sampled(
            "broken_hierarchy_levels",
            "a tree of two levels, the whole epsilon at each",
            _EPSILON,
            (more,),
            broken_hierarchy_levels,
            _SAMPLES,
        ),
        Sampled(
            "broken_clusters", "cells clustered by their true counts", _EPSILON, (apart,), broken_clusters, _SAMPLES
        ),
        Sampled(
            "broken_grid_size",
            "a grid sized by the true number of records",
            _EPSILON,
            (larger,),
            broken_grid_size,
            _SAMPLES,
        ),
        Sampled(
            "broken_worst_sum", "the worst sum chosen without noise", _EPSILON, (more,), broken_worst_sum, _SAMPLES
        ),
    )


def broken_hierarchy_levels(cells: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """What is wrong: a record counts at every level, so the levels have to share the budget."""
    counts = np.array(cells)
    exact = np.concatenate([counts.reshape(2, -1).sum(axis=1), counts])
    return exact + discrete_laplace(_EPSILON, runs * exact.size, entropy=entropy).reshape(runs, exact.size)


def broken_clusters(cells: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """What is wrong: totals are noisy, and which cells they are totals of tells the rest."""
    first, second = shares_of(_EPSILON.fraction)
    labels = clusters(np.array(cells), first, second)
    sums = bucket_sums(np.array(cells), labels)
    noisy = sums + discrete_laplace(_EPSILON, runs * sums.size, entropy=entropy).reshape(runs, sums.size)
    return np.concatenate([np.tile(labels, (runs, 1)), noisy[:, labels]], axis=1)


def broken_grid_size(records: int, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """What is wrong: the shape of the output depends on the number of records, which nobody has paid for."""
    side, _ = coarse_grid((64, 64), records, _EPSILON.fraction).shape
    corner = discrete_laplace(_EPSILON, runs, entropy=entropy)
    return np.stack([np.full(runs, side), corner], axis=1)


def broken_worst_sum(cells: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """What is wrong: which cell differs most from the mean is as telling as its count."""
    counts = np.array(cells)
    distances = np.abs(counts.size * counts - counts.sum())
    worst = int(np.argmax(distances))
    return np.stack([np.full(runs, worst), counts[worst] + discrete_laplace(_EPSILON, runs, entropy=entropy)], axis=1)
