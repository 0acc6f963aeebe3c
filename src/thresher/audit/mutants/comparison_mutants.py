"""Break noisy comparisons: sparse vector as four texts print it, and a private bound with a rounded threshold.

Three variants never stop, and one resets its count. Each claims epsilon = 1 for queries of sensitivity 1 against the
threshold 0, and answers every query. The fault is in the accounting, not in the noise, which is exact integer noise on
a grid of 64 steps a unit. None of them is private for any epsilon: with t copies of two queries the loss is at least t
times the epsilon of the noise of one query (`comparison_laws.gptt_log_ratio`).
Reads: made-up data. Writes: nothing. Never: imported outside the audit and its tests.
"""

from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from functools import wraps

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.audit.laws.comparison_laws import one_sided, transcript_law
from thresher.audit.mutants import by_law, by_samples
from thresher.audit.subjects import Pair, Subject
from thresher.mechanisms.bounds import bound_terms, counts_within
from thresher.noise import Entropy, discrete_laplace

Rows = NDArray[np.bool_]

# One unit of a query in steps of the noise, so fine that it stands for the continuous noise of the texts.
_STEPS = 64
_FEW_SAMPLES = 2_000
_FRACTION = Fraction(19, 20)


def broken_svt_itemset_mining(queries: ArrayLike, runs: int, entropy: Entropy) -> Rows:
    """Use a quarter of epsilon for the threshold, three quarters for each query, no stop (Lee, Clifton 2014)."""
    return _answers(queries, runs, entropy, Fraction(1, 4), Fraction(3, 4))


def broken_svt_feature_selection(queries: ArrayLike, runs: int, entropy: Entropy) -> Rows:
    """Use all of epsilon for the threshold, no noise on queries, no stop (Stoddard, Chen, Machanavajjhala 2014)."""
    return _answers(queries, runs, entropy, Fraction(1), None)


def broken_svt_high_dimensional(queries: ArrayLike, runs: int, entropy: Entropy) -> Rows:
    """Use half of epsilon for the threshold, half for each query, no stop (Chen, Xiao, Zhang, Xu 2015): GPTT."""
    return _answers(queries, runs, entropy, Fraction(1, 2), Fraction(1, 2))


def broken_generalised_svt(queries: ArrayLike, runs: int, entropy: Entropy) -> Rows:
    """Use noise for two tops, but set the count of tops to 0 inside the loop (Chen 2018, Algorithm 8 as printed)."""
    most, rows = 2, _answers(queries, runs, entropy, Fraction(1, 2), Fraction(1, 8))
    asking = np.ones(runs, dtype=bool)
    for tops in rows.T:  # a view of the answers to one query, changed in place
        count = np.zeros(runs, dtype=np.int64)  # the fault: inside the loop it never reaches two
        np.logical_and(tops, asking, out=tops)
        count += tops
        asking &= count != most
    return rows


def broken_bound_line(values: tuple[int, ...]) -> Mapping[Hashable, float]:
    """Round the threshold of a private bound down, so that a record moves it by 1, and charge it like the exact one.

    This is the law of the bound where the search stops. It loses too little for samples, but the law shows it.
    """
    margins = counts_within(np.array(values), [1, 2, 4, 8]) - int(_FRACTION * len(values))
    half = one_sided(0.5)
    return dict(transcript_law(margins.tolist(), 1, half, half).items())


def subjects() -> tuple[Subject, ...]:
    """List each variant with the neighbours that refute it. The output is the number of tops in each half."""
    crossed = Pair("each of 16 queries up by one, 16 down by one", _halves(16, 0, 1), _halves(16, 1, 0))
    # All queries move the same way: the loss has no limit for monotone queries either.
    one_way = Pair("128 queries down by one, 128 as they were", _halves(128, 0, 1), _halves(128, 0, 0))
    apart = Pair("each of 128 queries up by one, 128 down by one", _halves(128, 0, 0), _halves(128, 1, -1))
    listed: tuple[tuple[Callable[[ArrayLike, int, Entropy], Rows], tuple[Pair, ...], int], ...] = (
        (broken_svt_itemset_mining, (crossed, one_way), _FEW_SAMPLES),
        (broken_svt_feature_selection, (crossed,), _FEW_SAMPLES),
        (broken_svt_high_dimensional, (crossed, one_way), _FEW_SAMPLES),
        (broken_generalised_svt, (apart,), 10 * _FEW_SAMPLES),
    )
    more = (1,) * 19 + (8,)
    record = Pair("the one far value removed, which moves the rounded threshold", more, more[:-1])
    charged = bound_terms(1, fraction=_FRACTION).epsilon
    return (
        *(by_samples(_counting(mechanism), *pairs, samples=samples) for mechanism, pairs, samples in listed),
        by_law(broken_bound_line, record, charged=charged, missing=1e-12),
    )


def _counting(
    mechanism: Callable[[ArrayLike, int, Entropy], Rows],
) -> Callable[[NDArray[np.int64], int, Entropy], NDArray[np.int64]]:
    """Count the tops in each half of the queries. It is a function of the answers, so it adds no loss."""

    @wraps(mechanism)
    def run(queries: NDArray[np.int64], runs: int, entropy: Entropy) -> NDArray[np.int64]:
        rows = mechanism(queries, runs, entropy)
        return np.asarray(rows.reshape(runs, 2, -1).sum(axis=2))

    return run


def _answers(queries: ArrayLike, runs: int, entropy: Entropy, first: Fraction, second: Fraction | None) -> Rows:
    """Return all answers of `runs` runs, each with one noisy threshold, and noise on queries if `second` is set."""
    steps = np.asarray(queries, dtype=np.int64) * _STEPS
    zeros = np.asarray(discrete_laplace(first, runs, _STEPS, entropy))[:, None]
    if second is None:
        return steps >= zeros
    noise = np.asarray(discrete_laplace(second, runs * steps.size, _STEPS, entropy)).reshape(runs, steps.size)
    return steps + noise >= zeros


def _halves(copies: int, first: int, second: int) -> NDArray[np.int64]:
    return np.repeat(np.array([first, second], dtype=np.int64), copies)
