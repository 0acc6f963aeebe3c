"""Break diagnostics: uncharged searches for a range, cells chosen by data, true totals, sums with too little noise.

Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.laws.comparison_laws import Noise, log_probability, one_sided
from thresher.audit.laws.noise_laws import cauchy_law
from thresher.audit.mutants import ONE, by_law, by_samples
from thresher.audit.shipped.residual_subjects import LAW_PAIRS, LOOKS, TOTAL, Records, Rows, looks_law
from thresher.audit.subjects import Pair, Subject
from thresher.diagnostics.smooth_auc import constants
from thresher.noise import Entropy, discrete_laplace

_SMALL = Epsilon("0.2")
_STEPS = 1000
# Predictions are whole multiples of 1/1024, so that rounding is not the fault; the bin is the top one of 64.
_GRID = 1024
_LEFT, _RIGHT = 1008, 1024

# Positives and negatives, above the threshold and not.
Counts = tuple[tuple[int, int], tuple[int, int]]


def subjects() -> tuple[Subject, ...]:
    near = tuple((float(i), 0.5 * i) for i in range(8))
    far = Pair("one more row, far from all others", near, (*near, (100.0, -50.0)))
    positive = Pair("one more positive", ((30, 10), (12, 28)), ((31, 10), (12, 28)))
    second = Pair("the second positive comes, tied with the negatives", 1, 2)
    records = ((1010, 1), (1015, 0), (1020, 1))
    top = Pair("one more record in the top bin of 64", records, (*records, (1016, 1)))
    last = Pair("a record more in the last bin", (2, 2, 2, 2), (2, 2, 2, 3))
    return (
        by_law(broken_residual_looks, *LAW_PAIRS, charged=TOTAL, missing=1e-6),
        by_samples(broken_residual_box, far),
        by_samples(broken_roc_true_totals, positive),
        by_law(broken_smooth_area_of_these_rows, second, charged=_SMALL),
        by_samples(broken_binned_residuals, top),
        by_law(broken_bin_merging, last),
    )


def broken_residual_looks(records: Records) -> Mapping[Hashable, float]:
    """Charge the first search for the range only, although each one depends on the data."""
    return looks_law(records, rest=lambda _: TOTAL - LOOKS.epsilon)


def broken_residual_box(rows: Rows, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Add noise to the counts of cells, but let one row decide which cells are counted."""
    table = np.array(rows)
    counts, _, _ = np.histogram2d(table[:, 0], table[:, 1], bins=2)
    cells = counts.astype(np.int64).ravel()
    noise: NDArray[np.int64] = discrete_laplace(ONE, runs * cells.size, entropy=entropy)
    return np.asarray(cells + noise.reshape(runs, cells.size))


def broken_roc_true_totals(counts: Counts, runs: int, entropy: Entropy) -> NDArray[np.float64]:
    """Divide by the true numbers of positives and negatives, which are private too and show in the rates."""
    rates = []
    for above, below in counts:
        noisy = above + np.asarray(discrete_laplace(ONE, runs, entropy=entropy))
        rates.append(noisy / (above + below))
    return np.stack(rates, axis=1)


def broken_smooth_area_of_these_rows(positives: int) -> Mapping[Hashable, float]:
    """Scale the noise by how far the area of these rows can move, which jumps with their number and reveals it.

    This is the law of a noisy area of one half, where the smaller class has `positives` rows.
    """
    factor, _ = constants(_SMALL)
    scale = float(factor * Fraction(_STEPS, positives))
    return cauchy_law(_STEPS / 2, scale, _STEPS)


def broken_binned_residuals(records: tuple[tuple[int, int], ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Add noise for the width of a bin, although a record moves the sum by its whole prediction."""
    width = _RIGHT - _LEFT
    predicted, labels = (np.array(column, dtype=np.int64) for column in zip(*records, strict=True))
    exact = len(records), predicted.sum(), (labels * _GRID - predicted).sum()
    scales = 2, width, _GRID + width
    shares = Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)
    noisy = [
        value + discrete_laplace(ONE.fraction * share, runs, scale, entropy)
        for value, scale, share in zip(exact, scales, shares, strict=True)
    ]
    return np.stack(noisy, axis=1)


def broken_bin_merging(sizes: Sequence[int], cutoff: int = 3, noise: Noise | None = None) -> Mapping[Hashable, float]:
    """Merge bins with one noisy cutoff: a first top shows that it is low, yet later comparisons use it too."""
    law, blur = dict[Hashable, float](), noise or one_sided(float(ONE))
    for closed in itertools.product([False, True], repeat=len(sizes)):
        margins, size = [], 0
        for more, top in zip(sizes, closed, strict=True):
            size += more
            margins.append(float(size - cutoff))
            size = 0 if top else size
        law[closed] = math.exp(log_probability(closed, margins, blur, blur))
    return law
