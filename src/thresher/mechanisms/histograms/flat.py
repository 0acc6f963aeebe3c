"""Make the two simplest noisy histograms: noise on each cell, and a noisy total spread evenly.

Reads: counts, entropy. Writes: nothing. Never: a float before the noise. Proof: `flat.md`.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon
from thresher.mechanisms.histograms.estimate import NoisyHistogram, checked_counts, checked_epsilon
from thresher.noise import Entropy, discrete_laplace
from thresher.noise.entropy import chosen


def laplace(counts: ArrayLike, epsilon: Amount, *, entropy: Entropy | None = None) -> NoisyHistogram:
    """Add discrete Laplace noise to each cell.

    Privacy: epsilon, because a record lies in one cell.
    Utility: each cell is unbiased with variance near 2 / epsilon**2; a sum over k cells has k times that.
    Runtime: linear in the cells.
    Citations: Dwork, McSherry, Nissim, Smith 2006; Ghosh, Roughgarden, Sundararajan 2009 (whole numbers).
    """
    cells, amount, source = checked_counts(counts), checked_epsilon(epsilon), chosen(entropy)
    noise = discrete_laplace(amount, cells.size, entropy=source).reshape(cells.shape)
    return NoisyHistogram(_plain(cells + noise), Epsilon.covering(amount), "laplace", source.stamp)


def uniform(counts: ArrayLike, epsilon: Amount, *, entropy: Entropy | None = None) -> NoisyHistogram:
    """Spread a noisy total evenly over the cells. It is the baseline that a mechanism which measures cells must beat.

    Privacy: epsilon, because a record moves the total by 1.
    Utility: a cell errs by its distance from the mean, and by the noise of the total divided by the number of cells.
    Runtime: linear in the cells.
    """
    cells, amount, source = checked_counts(counts), checked_epsilon(epsilon), chosen(entropy)
    total = int(cells.sum()) + int(discrete_laplace(amount, 1, entropy=source)[0])
    spread = np.full(cells.shape, total / cells.size)
    return NoisyHistogram(
        spread, Epsilon.covering(amount), "uniform", source.stamp, np.zeros(cells.shape, dtype=np.int64)
    )


def _plain(noisy: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return plain floats, which is post-processing. The result has a stamp of its own for seeded noise."""
    return np.asarray(noisy).view(np.ndarray).astype(np.float64)
