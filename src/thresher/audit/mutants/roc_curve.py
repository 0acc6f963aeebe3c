"""Broken ROC curves: rates over true numbers of positives and negatives, and an area with noise for these rows only.

Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

import math
from collections.abc import Hashable, Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.subjects import Enumerated, Pair, Sampled, Subject
from thresher.diagnostics.smooth_auc import constants
from thresher.noise import Entropy, discrete_laplace

_EPSILON, _SMALL = Epsilon(1), Epsilon("0.2")
_STEPS = 1000

# Positives and negatives, above the threshold and not.
Counts = tuple[tuple[int, int], tuple[int, int]]


def subjects() -> tuple[Subject, ...]:
    fewer: Counts = ((30, 10), (12, 28))
    return (
        Sampled(
            "broken_roc_true_totals",
            "rates of noisy counts over true totals",
            _EPSILON,
            (Pair("one more positive", fewer, ((31, 10), (12, 28))),),
            broken_roc_true_totals,
            20_000,
        ),
        Enumerated(
            "broken_smooth_area_of_these_rows",
            "noise for how far the area of these rows can move, not smoothed",
            _SMALL,
            (Pair("the second positive comes, on a level with the negatives", 1, 2),),
            broken_smooth_area_of_these_rows,
        ),
    )


def broken_roc_true_totals(counts: Counts, runs: int, entropy: Entropy) -> NDArray[np.float64]:
    """What is wrong: numbers of positives and negatives are private too, and a rate shows what it was divided by."""
    rates = []
    for above, below in counts:
        noisy = above + np.asarray(discrete_laplace(_EPSILON, runs, entropy=entropy))
        rates.append(noisy / (above + below))
    return np.stack(rates, axis=1)


def broken_smooth_area_of_these_rows(positives: int) -> Mapping[Hashable, float]:
    """The law of a noisy area around one half, where so many positives are the smaller class.

    What is wrong: the scale of the noise jumps with the number of rows, and tells it.
    """
    factor, _ = constants(_SMALL)
    scale = float(factor * Fraction(_STEPS, positives))
    edges = (np.arange(_STEPS) + 0.5 - _STEPS / 2) / scale
    inside = np.arctan2(np.diff(edges), 1 + edges[1:] * edges[:-1])
    masses = np.array([math.atan2(1, -edges[0]), *inside, math.atan2(1, edges[-1])]) / math.pi
    return dict(enumerate(masses.tolist()))
