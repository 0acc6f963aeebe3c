"""Count cells that look alike together (AHP): a first noisy measurement forms clusters, a second one counts them.

Reads: counts, entropy. Writes: nothing. Never: a cluster that depends on anything but the first measurement.
Proof: `ahp.md`.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon
from thresher.mechanisms.histograms.buckets import bucket_sums, spread_evenly
from thresher.mechanisms.histograms.estimate import NoisyHistogram, checked_counts, checked_epsilon
from thresher.noise import Entropy, discrete_laplace
from thresher.noise.entropy import chosen

FIRST_SHARE = Fraction(17, 20)
_CUTOFF = 0.35


def ahp(counts: ArrayLike, epsilon: Amount, *, entropy: Entropy | None = None) -> NoisyHistogram:
    """Spread noisy totals evenly over clusters of cells whose noisy counts are similar.

    Privacy: epsilon: 17/20 for a noisy count of each cell, 3/20 for the totals of clusters, which are disjoint.
    Utility: no promise for a cell; good where many cells are nearly equal, above all where many are empty.
    Runtime: a sort of the cells, and one step for each distinct noisy count.
    Citations: Zhang, Chen, Xu, Meng, Xie, "Towards Accurate Histogram Publication under Differential Privacy", 2014.
    """
    cells, amount, source = checked_counts(counts), checked_epsilon(epsilon), chosen(entropy)
    first, second = ahp_shares(amount)
    look = cells + discrete_laplace(first, cells.size, entropy=source).reshape(cells.shape)
    labels = clusters(np.asarray(look).view(np.ndarray), first, second)
    sums = bucket_sums(cells, labels)
    totals = np.asarray(sums + discrete_laplace(second, sums.size, entropy=source)).view(np.ndarray)
    estimate = spread_evenly(totals.astype(np.float64), labels)
    return NoisyHistogram(estimate, Epsilon.covering(amount), "ahp", source.stamp, labels)


def ahp_shares(amount: Fraction) -> tuple[Fraction, Fraction]:
    """Return the shares for the counts of cells and for the totals of clusters."""
    return amount * FIRST_SHARE, amount * (1 - FIRST_SHARE)


def clusters(look: NDArray[np.int64], first: Fraction, second: Fraction) -> NDArray[np.int64]:
    """Label the cells by cluster, from the noisy counts `look` alone.

    Counts of at most 0.35 log(cells) / `first` become 0. Then values join the cluster before them, in their order, as
    long as that adds no more squared error (spread inside the cluster, and the noise of its total) than a new cluster.
    """
    cutoff = _CUTOFF * math.log(look.size) / float(first)
    values, inverse, sizes = np.unique(np.where(look <= cutoff, 0, look), return_inverse=True, return_counts=True)
    noise = 2 / float(second) ** 2
    label, labels = 0, [0]
    count, mean = float(sizes[0]), float(values[0])
    for value, size in zip(values[1:].tolist(), sizes[1:].tolist(), strict=True):
        both = count + size
        spread = count * size / both * (value - mean) ** 2
        if spread + noise / both <= noise / count + noise / size:
            count, mean = both, mean + (value - mean) * size / both
        else:
            label, count, mean = label + 1, float(size), float(value)
        labels.append(label)
    return np.array(labels, dtype=np.int64)[inverse].reshape(look.shape)
