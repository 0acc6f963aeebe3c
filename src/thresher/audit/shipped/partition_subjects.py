"""Try partitions of a histogram: their exact laws on a few cells, and samples of both kinds of DAWA.

Reads: entropy. Writes: nothing. Never: sets a charge.
"""

from collections.abc import Hashable, Mapping
from fractions import Fraction
from functools import partial
from itertools import product
from math import ceil, exp, prod

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.subjects import Enumerated, Pair, Sampled, Subject
from thresher.mechanisms.histograms import noisy_histogram
from thresher.mechanisms.histograms.deviations import Deviations, deviations
from thresher.mechanisms.histograms.partition_argmin import noisy_prices, shift
from thresher.mechanisms.histograms.partition_law import partition_by_law, partition_chances
from thresher.noise import Entropy

Counts = tuple[int, ...]

_LAW_EPSILON, _SAMPLED_EPSILON, _ARGMIN_EPSILON = Epsilon(1), Epsilon(2), Epsilon(4)
_CALLS = 5_000
# Charges are public. At this one no partition of a few cells is rare, and the argmin comes closest to its cost.
_CHARGE = Fraction(4)
# Noise of this many scales or more is left out of the exact law; it has the probability below.
_SCALES = 15
_LEFT_OUT = 5 * exp(-_SCALES)
_SIX = (
    Pair("six empty cells, and a record in one of them", (0, 0, 0, 0, 0, 0), (0, 0, 0, 1, 0, 0)),
    Pair("a step, and a record beside it", (0, 0, 0, 4, 4, 4), (0, 0, 1, 4, 4, 4)),
)


def subjects() -> tuple[Subject, ...]:
    eight = (
        Pair(
            "two equal neighbours, one of which gains a record", (0, 5, 4, 12, 9, 5, 4, 4), (0, 5, 4, 12, 10, 5, 4, 4)
        ),
        Pair("four empty cells, one of which gains a record", (0, 0, 0, 0, 18, 15, 0, 13), (0, 0, 1, 0, 18, 15, 0, 13)),
        Pair("eight empty cells, one of which gains a record", (0,) * 8, (0, 0, 0, 0, 1, 0, 0, 0)),
    )
    three = (
        Pair("three empty cells, and a record in the middle", (0, 0, 0), (0, 1, 0)),
        Pair("a step, and a record beside it", (0, 2, 2), (1, 2, 2)),
    )
    every, argmin = "every partition of eight cells", "every partition of three cells"
    return (
        Enumerated("dawa, law of partitions", every, _LAW_EPSILON, eight, _law),
        Enumerated("dawa-argmin, law of partitions", argmin, _ARGMIN_EPSILON, three, _argmin_law, missing=_LEFT_OUT),
        Sampled("dawa, partition", "as it is drawn", _SAMPLED_EPSILON, _SIX, _law_draws, _CALLS),
        Sampled("dawa-argmin, partition", "as it is drawn", _SAMPLED_EPSILON, _SIX, _argmin_draws),
        *(
            Sampled(name, "partition and counts", _charged(name), _SIX, partial(_released, name), _CALLS // 5)
            for name in ("dawa", "dawa-argmin")
        ),
    )


def ends_of_cheapest(prices: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each run whether a bucket of the cheapest partition ends after each cell but the last.

    Prices are given by length, run and start. In a tie the last bucket is the shortest.
    """
    lengths, runs, cells = prices.shape
    best, last = np.zeros((cells + 1, runs), dtype=np.int64), np.zeros((cells + 1, runs), dtype=np.int64)
    for end in range(1, cells + 1):
        best[end] = best[end - 1] + prices[0, :, end - 1]
        for k in range(1, min(lengths, end.bit_length())):
            total = best[end - (1 << k)] + prices[k, :, end - (1 << k)]
            better = total < best[end]
            best[end], last[end] = np.where(better, total, best[end]), np.where(better, k, last[end])
    ends, at, every = np.zeros((runs, cells + 1), dtype=np.bool_), np.full(runs, cells), np.arange(runs)
    while at.any():
        at = np.maximum(at - (1 << last[at, every]), 0)
        ends[every, at] = True
    return ends[:, 1:cells]


def _law(counts: Counts) -> Mapping[Hashable, float]:
    return {lengths: float(chance) for lengths, chance in partition_chances(counts, _LAW_EPSILON).items()}


def _argmin_law(counts: Counts) -> Mapping[Hashable, float]:
    """Return the law over all combinations of noise up to fifteen scales, each with its cheapest partition."""
    seen, epsilon = deviations(np.array(counts, dtype=np.int64)), _ARGMIN_EPSILON.fraction
    candidates = [(k, start) for k in range(seen.lengths) for start in range(seen.cells - (1 << k) + 1)]
    rates = [float(epsilon / shift(1 << k, seen.unit)) for k, _ in candidates]
    noises = np.array(list(product(*(range(ceil(_SCALES / rate)) for rate in rates))), dtype=np.int64)
    chances = prod(-np.expm1(-rate) * np.exp(-rate * noises[:, i]) for i, rate in enumerate(rates))
    prices = np.repeat(seen.costs[:, None, :], noises.shape[0], axis=1) + int(_CHARGE / epsilon * seen.unit)
    for i, (k, start) in enumerate(candidates):
        prices[k, :, start] -= noises[:, i]
    outputs, place = np.unique(ends_of_cheapest(prices), axis=0, return_inverse=True)
    sums = np.bincount(place.ravel(), weights=chances)
    return {tuple(output.tolist()): float(chance) for output, chance in zip(outputs, sums, strict=True)}


def _law_draws(counts: Counts, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    ends = np.zeros((runs, len(counts)), dtype=np.bool_)
    for run in range(runs):
        ends[run, np.cumsum(partition_by_law(counts, _SAMPLED_EPSILON, entropy=entropy))[:-1]] = True
    return ends


def _argmin_draws(counts: Counts, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Draw one partition for each run: copies side by side are priced in one call, and no bucket crosses two copies."""
    seen, epsilon = deviations(np.array(counts, dtype=np.int64)), _SAMPLED_EPSILON.fraction
    copies = Deviations(np.tile(seen.costs, (1, runs)))
    prices = noisy_prices(copies, epsilon, _CHARGE / epsilon, entropy)
    return ends_of_cheapest(prices.reshape(seen.lengths, runs, seen.cells))


def _released(mechanism: str, counts: Counts, runs: int, entropy: Entropy) -> NDArray[np.float64]:
    """Return all that is released: the bucket of each cell, then the numbers."""
    shown = [noisy_histogram(counts, _SAMPLED_EPSILON, mechanism, entropy) for _ in range(runs)]
    return np.array([[*(one.parts if one.parts is not None else ()), *one.counts] for one in shown])


def _charged(mechanism: str) -> Epsilon:
    return noisy_histogram(_SIX[0].here, _SAMPLED_EPSILON, mechanism).epsilon
