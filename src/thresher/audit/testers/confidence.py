"""Bound a probability, and the logarithm of a ratio of two, exactly from counts (Clopper-Pearson).

Reads: counts. Writes: nothing. Never: a normal approximation. Proof: `confidence.md`.
Citation: Clopper, Pearson, "The use of confidence or fiducial limits", 1934.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

CONFIDENCE = Fraction(999, 1000)


def least_probability(hits: ArrayLike, runs: int, doubt: float) -> NDArray[np.float64]:
    """Return a lower bound: it exceeds the probability of a hit with probability at most `doubt`."""
    from scipy.special import betaincinv  # noqa: PLC0415 - loaded when needed

    count = np.asarray(hits, dtype=np.float64)
    bound = betaincinv(np.maximum(count, 1), runs - count + 1, doubt)
    return np.where(count > 0, bound, 0.0)


def most_probability(hits: ArrayLike, runs: int, doubt: float) -> NDArray[np.float64]:
    """Return an upper bound: it falls below the probability of a hit with probability at most `doubt`."""
    from scipy.special import betaincinv  # noqa: PLC0415 - loaded when needed

    count = np.asarray(hits, dtype=np.float64)
    bound = betaincinv(count + 1, np.maximum(runs - count, 1), 1 - doubt)
    return np.where(count < runs, bound, 1.0)


def least_log_ratio(here: ArrayLike, there: ArrayLike, runs: int, doubt: float) -> NDArray[np.float64]:
    """Return a lower bound of log(P[hit here] / P[hit there]), wrong with probability at most `doubt`."""
    low, high = least_probability(here, runs, doubt / 2), most_probability(there, runs, doubt / 2)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(low) - np.log(high))
