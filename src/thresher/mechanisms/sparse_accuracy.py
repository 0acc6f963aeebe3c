"""How wrong a sparse vector's answers may be, computed for the noise that is drawn.

An answer is wrong by more than w only if v - z - offset leaves the interval [-w-1, w], for one query or another. Given
the threshold's noise z the queries' noises are independent, so the chance that none of k does is a sum over z.
Reads: public terms. Writes: nothing. Never: data, a draw, a chance rounded down. Proof: `sparse_accuracy.md`.
"""

import math

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount, exact_fraction, whole_number
from thresher.errors import ArgumentError
from thresher.mechanisms.sparse_terms import SparseTerms

Reals = NDArray[np.float64]

# z beyond so many scales has probability 2 e**-40 at most, which counts as a failure, as does all rounding.
_SCALES = 40
_LEFT_OUT = 1e-12
# Blocks of z that are judged by their worst end.
_BLOCKS = 1 << 13
# Far more than the rounding of the sums below.
_FLOAT_ROOM = 1e-9
_LEAST_MISS_RATE = 1e-9


def within(terms: SparseTerms, queries: int, miss_rate: Amount) -> int:
    """The least w found such that, with probability 1 - miss_rate, no answer to `queries` queries is off by more.

    Every top has query >= threshold - w, every bottom query <= threshold + w ("below": the reverse). It holds for
    queries chosen one by one in the light of the answers, too: it is a statement about the noise alone.
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
    """An upper bound of the chance that some answer to so many queries is off by more than `width`."""
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
    """P[v < x] and P[v >= x] for the one-sided law."""
    steps = rate * np.maximum(x, 0)
    return -np.expm1(-steps), np.exp(-steps)


def _laplace(x: Reals, rate: float) -> tuple[Reals, Reals]:
    """P[v < x] and P[v >= x] for the two-sided law."""
    both = 1 + math.exp(-rate)
    # The smaller one is exact; the other is what is left.
    below, above = np.exp(-rate * (1 - np.minimum(x, 0))) / both, np.exp(-rate * np.maximum(x, 1)) / both
    return np.where(x >= 1, 1 - above, below), np.where(x >= 1, above, 1 - below)


def _checked(queries: int, miss_rate: Amount) -> tuple[int, float]:
    count, rate = whole_number(queries, "queries"), float(exact_fraction(miss_rate, "miss_rate"))
    if count < 1:
        raise ArgumentError("queries", queries, "it must be 1 or more", "Pass how many queries are asked")
    if not _LEAST_MISS_RATE <= rate < 1:
        raise ArgumentError("miss_rate", miss_rate, "it must be below 1, and at least 1e-9", "Pass 0.05, say")
    return count, rate
