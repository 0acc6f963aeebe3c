"""Compute how far off the answers of a sparse vector may be, for the noise that is drawn.

An answer is wrong by more than w only if v - z - offset leaves the interval [-w-1, w], for one query or another. Given
the threshold's noise z the queries' noises are independent, so the probability that none of k does is a sum over z.
Reads: public terms. Writes: nothing. Never: data, a draw, a chance rounded down. Proof: `sparse_accuracy.md`.
"""

import math

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount, exact_fraction, whole_number
from thresher.errors import ArgumentError
from thresher.mechanisms.sparse_terms import SparseTerms

Reals = NDArray[np.float64]

# z lies beyond this many scales with probability at most 2 e**-40. That counts as a failure, and so does rounding.
_SCALES = 40
_LEFT_OUT = 1e-12
# The number of blocks of z; each is judged by its worst end.
_BLOCKS = 1 << 13
# Far more than the rounding of the sums below.
_FLOAT_ROOM = 1e-9
_LEAST_MISS_RATE = 1e-9


def within(terms: SparseTerms, queries: int, miss_rate: Amount) -> int:
    """Return a width w: with probability at least 1 - miss_rate, no answer to `queries` queries is off by more than w.

    Each top has query >= threshold - w, each bottom query <= threshold + w (side "below": the reverse). It is a
    statement about the noise alone, so it also holds for queries chosen one by one by the answers so far.
    """
    count, rate = _checked(queries, miss_rate)
    low, high = -1, 1
    while failure(terms, count, high) > rate:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if failure(terms, count, middle) <= rate else (middle, high)
    return high


def failure(terms: SparseTerms, queries: int, width: int) -> float:
    """Return an upper bound of the probability that some answer to `queries` queries is off by more than `width`."""
    rate, query_rate = float(terms.threshold_rate), float(terms.query_rate)
    far = math.ceil(_SCALES / rate)
    step = max(1, -(-far * (1 if terms.one_sided else 2) // _BLOCKS))
    starts = np.arange(0 if terms.one_sided else -far, far + step, step, dtype=float)
    law = _geometric if terms.one_sided else _laplace
    mass = law(starts, rate)[1] - law(starts + step, rate)[1]
    # Too low: v - z - offset <= -width-2, worst where z is largest; too high: >= width+1, worst where z is smallest.
    low, _ = law(starts + step - 1 + terms.offset - width - 1, query_rate)
    _, high = law(starts + terms.offset + width + 1, query_rate)
    with np.errstate(divide="ignore"):
        some = -np.expm1(queries * np.log1p(-np.minimum(low + high, 1)))
    return math.fsum(mass * some) * (1 + _FLOAT_ROOM) + _LEFT_OUT


def _geometric(x: Reals, rate: float) -> tuple[Reals, Reals]:
    """Return P[v < x] and P[v >= x] for the one-sided law."""
    steps = rate * np.maximum(x, 0)
    return -np.expm1(-steps), np.exp(-steps)


def _laplace(x: Reals, rate: float) -> tuple[Reals, Reals]:
    """Return P[v < x] and P[v >= x] for the two-sided law."""
    both = 1 + math.exp(-rate)
    # The smaller one is computed directly, so that it keeps its digits; the other is 1 less that.
    below, above = np.exp(-rate * (1 - np.minimum(x, 0))) / both, np.exp(-rate * np.maximum(x, 1)) / both
    return np.where(x >= 1, 1 - above, below), np.where(x >= 1, above, 1 - below)


def _checked(queries: int, miss_rate: Amount) -> tuple[int, float]:
    count, rate = whole_number(queries, "queries"), float(exact_fraction(miss_rate, "miss_rate"))
    if count < 1:
        raise ArgumentError("queries", queries, "it must be 1 or more", "Pass how many queries are asked")
    if not _LEAST_MISS_RATE <= rate < 1:
        raise ArgumentError("miss_rate", miss_rate, "it must be below 1, and at least 1e-9", "Pass 0.05, say")
    return count, rate
