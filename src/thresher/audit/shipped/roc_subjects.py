"""Try private ROC curves and the smooth area.

The hardest neighbours known have one row more in a bin, of either label; for the area, a class with few rows.
Reads: entropy. Writes: nothing. Never: sets a charge.
"""

from collections.abc import Hashable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.audit.laws.noise_laws import cauchy_law
from thresher.audit.subjects import Enumerated, Pair, Sampled, Subject
from thresher.diagnostics.roc_curve import roc_curve
from thresher.diagnostics.scored_rows import scored_rows
from thresher.diagnostics.smooth_auc import constants, placed_auc, smooth_auc
from thresher.mechanisms.histograms import noisy_histogram
from thresher.noise import Entropy

# Label and score of each row.
Rows = tuple[tuple[int, float], ...]

_EPSILON, _STEPS = 1, 1000
_CUT = np.array([0.5])
_FIXED: Mapping[str, Any] = {"thresholds": "fixed"}
_MEDIANS: Mapping[str, Any] = {"depth": 1}


def subjects() -> tuple[Subject, ...]:
    some: Rows = ((1, 0.9), (1, 0.7), (0, 0.6), (1, 0.4), (0, 0.3), (0, 0.1))
    pairs = (
        Pair("one more positive above the threshold", some, (*some, (1, 0.8))),
        Pair("one more negative below the threshold", some, (*some, (0, 0.2))),
        Pair("no row, and one", (), ((1, 0.9),)),
    )
    few, heap = ((1, 0.75),), ((0, 0.5),) * 40
    areas = (
        Pair("the second positive comes, below all negatives", few + heap, ((1, 0.25), *few, *heap)),
        Pair("the third positive comes, below all negatives", 2 * few + heap, ((1, 0.25), *(2 * few), *heap)),
        Pair("the first positive comes", heap, few + heap),
        Pair("no row, and one", (), few),
    )
    counts = roc_curve([1], [1.0], _EPSILON, thresholds=_CUT).split["counts"]
    fixed, medians = (roc_curve([1], [1.0], _EPSILON, **way).epsilon for way in (_FIXED, _MEDIANS))
    whole = "the whole release, rows counted with noise"
    median, area = "the whole release, a median for a threshold", smooth_auc([1], [1.0], _EPSILON).epsilon
    return (
        Sampled("ROC curve, label counts", "two bins, both labels", counts, pairs, _counts, 50_000),
        Sampled("ROC curve, fixed thresholds", whole, fixed, pairs[:1], partial(_released, _FIXED), 1_200),
        Sampled("ROC curve", median, medians, pairs[1:2], partial(_released, _MEDIANS), 1_000),
        Enumerated("smooth area, law", "1,001 points", area, areas, _smooth_law),
    )


def _read(rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    return np.array([row[0] for row in rows], dtype=np.int64), np.array([row[1] for row in rows], dtype=np.float64)


def _counts(rows: Rows, runs: int, entropy: Entropy) -> NDArray[np.float64]:
    """Return the counts that a release is made of. Copies side by side give all runs in one call."""
    both = scored_rows(*_read(rows)).counts(_CUT)
    noisy = [noisy_histogram(np.tile(counts, runs), _EPSILON, "laplace", entropy).counts for counts in both]
    return np.concatenate([counts.reshape(runs, -1) for counts in noisy], axis=1)


def _released(way: Mapping[str, Any], rows: Rows, runs: int, entropy: Entropy) -> NDArray[np.float64]:
    """Return the numbers of releases, a row for each. The rates at the ends are constant and left out."""
    labels, scores = _read(rows)
    shown = []
    for _ in range(runs):
        one = roc_curve(labels, scores, _EPSILON, entropy=entropy, **way)
        rates = one.false_positive_rate[1:-1], one.true_positive_rate[1:-1]
        shown.append(np.concatenate([one.thresholds, *rates, [one.positives, one.negatives, one.rows]]))
    return np.array(shown)


def _smooth_law(rows: Rows) -> Mapping[Hashable, float]:
    centre, scale = placed_auc(scored_rows(*_read(rows)), _STEPS, *constants(Fraction(_EPSILON)))
    return cauchy_law(float(centre), float(scale), _STEPS)
