"""Broken binned residuals: sums with the sensitivity of those inside a bin, as printed; one cutoff for all bins.

Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.comparison_laws import Noise, log_probability, one_sided
from thresher.audit.subjects import Enumerated, Pair, Sampled, Subject
from thresher.noise import Entropy, discrete_laplace

_EPSILON = Epsilon(1)
# Predictions are whole numbers of 1/1024, so that rounding is not what is wrong; the bin is the top one of 64.
_GRID = 1024
_LEFT, _RIGHT = 1008, 1024

Records = tuple[tuple[int, int], ...]


def subjects() -> tuple[Subject, ...]:
    records: Records = ((1010, 1), (1015, 0), (1020, 1))
    return (
        Sampled(
            "broken_binned_residuals",
            "binned residuals as printed: noise for the width of a bin",
            _EPSILON,
            (Pair("one more record in the top bin of 64", records, (*records, (1016, 1))),),
            broken_binned_residuals,
            20_000,
        ),
        Enumerated(
            "broken_bin_merging",
            "bins joined with one noisy cutoff, not a fresh one for each",
            _EPSILON,
            (Pair("a record more in the last bin", (2, 2, 2, 2), (2, 2, 2, 3)),),
            _kept_cutoff,
        ),
    )


def broken_binned_residuals(records: Records, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """What is wrong: a record that comes or goes moves the sum by its prediction, not by the width of a bin."""
    width = _RIGHT - _LEFT
    predicted, labels = (np.array(column, dtype=np.int64) for column in zip(*records, strict=True))
    exact = len(records), predicted.sum(), (labels * _GRID - predicted).sum()
    scales = 2, width, _GRID + width
    shares = Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)
    noisy = [
        value + discrete_laplace(_EPSILON.fraction * share, runs, scale, entropy)
        for value, scale, share in zip(exact, scales, shares, strict=True)
    ]
    return np.stack(noisy, axis=1)


def broken_bin_merging_law(
    sizes: Sequence[int], cutoff: int, threshold: Noise, query: Noise
) -> dict[tuple[bool, ...], float]:
    """What is wrong: after a top the noisy cutoff is known to be low, and all later comparisons still hang on it."""
    law = {}
    for closed in itertools.product([False, True], repeat=len(sizes)):
        margins, size = [], 0
        for more, top in zip(sizes, closed, strict=True):
            size += more
            margins.append(float(size - cutoff))
            size = 0 if top else size
        law[closed] = math.exp(log_probability(closed, margins, threshold, query))
    return law


def _kept_cutoff(sizes: tuple[int, ...]) -> Mapping[Hashable, float]:
    noise = one_sided(float(_EPSILON.fraction))
    return dict(broken_bin_merging_law(sizes, 3, noise, noise).items())
