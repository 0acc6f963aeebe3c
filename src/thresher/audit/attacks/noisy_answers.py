"""Score cells when each answer of the tester has noise of its own: scores still grow with the count.

The score of a cell is minus the number of answers that another cell is larger; read both ways, plus the number of
answers that it is larger. A sum of thousands of answers averages their noise out, and nothing limits how often one may
ask.
Reads: made-up or public counts, entropy. Writes: nothing. Never: more than 2**30 draws in one call.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.errors import ArgumentError
from thresher.noise import Entropy, discrete_laplace

Whole = NDArray[np.int64]
Reals = NDArray[np.float64]
_MOST_DRAWS = 1 << 30
# How many answers are drawn at once, so that they stay in the processor's cache.
_CHUNK = 1 << 18


def noisy_scores(
    cells: Whole, first: Fraction, second: Fraction, passes: int, entropy: Entropy, *, both_ways: bool
) -> tuple[Reals, Reals]:
    """Return a score for each cell and an unbiased estimate of its variance given the noisy threshold.

    The threshold is 0 with integer noise of rate `first`; every answer has its own integer noise of rate `second`.
    """
    if cells.size**2 * passes > _MOST_DRAWS:
        rule = f"with noisy answers, cells times cells times passes must be at most {_MOST_DRAWS:,}"
        raise ArgumentError("counts", f"{cells.size:,} cells, {passes} passes", rule, "Take part of the histogram")
    threshold = int(discrete_laplace(first, 1, entropy=entropy)[0])
    scores, variances = np.zeros(cells.size, dtype=np.int64), np.zeros(cells.size)
    width = max(1, _CHUNK // cells.size)
    for start in range(0, cells.size, width):
        these = slice(start, start + width)
        tops = _asked(threshold - cells[:, None] + cells[None, these], second, passes, entropy)
        # For k answers yes of n, k (n - k) / (n - 1) is the variance of k, on average.
        varies = tops * (passes - tops) / (passes - 1)
        scores[these] -= tops.sum(axis=0)
        variances[these] += varies.sum(axis=0)
        if both_ways:
            scores += tops.sum(axis=1)
            variances += varies.sum(axis=1)
    return scores.astype(float), variances


def least_step(second: Fraction) -> float:
    """Return a multiple: one more in a count raises the score by at least this times the score's variance, on average.

    With p = exp(-rate) an answer is top with probability s(t) = p^t / (1+p) if the difference is t >= 1 too small.
    One more makes s(t) into s(t+1) = p s(t), a step of (1-p) s(t), and the variance s (1-s) is below s(t). For t <= 0
    the probability of bottom is p^(1-t) / (1+p), and the step is (1-p) / p of it.
    """
    return -math.expm1(-float(second))


def _asked(lacking: Whole, second: Fraction, passes: int, entropy: Entropy) -> Whole:
    """Count how often each difference, `lacking` below the noisy threshold, was answered to reach it."""
    tops = np.zeros(lacking.shape, dtype=np.int64)
    for _ in range(passes):
        noise = np.asarray(discrete_laplace(second, lacking.size, entropy=entropy))
        tops += noise.reshape(lacking.shape) >= lacking
    return tops
