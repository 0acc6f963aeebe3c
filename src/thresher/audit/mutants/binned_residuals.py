"""Broken binned residuals (PriBRP, step 3 as printed): sums whose sensitivity is taken for that inside a bin.

Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.subjects import Pair, Sampled, Subject
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
