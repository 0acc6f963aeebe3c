"""Turn counts between thresholds into ROC curves, rates and areas.

No noise is added here: of exact counts, these functions give the ordinary statistics.
Reads: counts, points. Writes: nothing. Never: a draw.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.diagnostics.scored_rows import ScoredRows

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Points from (0, 0) to (1, 1) that never fall, joined by straight lines."""

    false_positive_rate: Floats
    true_positive_rate: Floats

    @property
    def area(self) -> float:
        """Return the area below the curve."""
        return float(np.trapezoid(self.true_positive_rate, self.false_positive_rate))


@dataclass(frozen=True, slots=True, eq=False)
class CountedCurve:
    """A curve made of counts, and the totals that they were divided by. Without totals above 0 there is no area."""

    curve: Curve
    positives: float
    negatives: float

    @property
    def area(self) -> float | None:
        return self.curve.area if min(self.positives, self.negatives) > 0 else None


def curve_of_counts(positives: ArrayLike, negatives: ArrayLike) -> CountedCurve:
    """Return the curve of counts between falling thresholds, exact or noisy: above the first, ..., not above the last.

    Isotonic regression makes the running sums never fall; they are cut off at 0 and divided by the last sum. If that is
    0 for positives or negatives, the curve is the diagonal.
    """
    from scipy.optimize import isotonic_regression  # noqa: PLC0415 - loaded when needed

    sums = (np.cumsum(np.asarray(counts, dtype=np.float64)) for counts in (negatives, positives))
    above = [np.maximum(isotonic_regression(line).x, 0.0) for line in sums]
    totals = [float(sums[-1]) for sums in above]
    if min(totals) <= 0:
        even = np.linspace(0.0, 1.0, above[0].size + 1)
        return CountedCurve(Curve(even, even), totals[1], totals[0])
    rates = [np.concatenate([[0.0], sums / total]) for sums, total in zip(above, totals, strict=True)]
    return CountedCurve(Curve(rates[0], rates[1]), totals[1], totals[0])


def exact_curve(rows: ScoredRows) -> CountedCurve:
    """Return the ordinary ROC curve: each score is a threshold. Secret, unless the rows are public."""
    return curve_of_counts(*rows.counts(np.unique(rows.scores)[::-1]))


def mann_whitney(rows: ScoredRows) -> Fraction:
    """Return the chance that a positive row scores above a negative one, ties half; one half without a pair. Secret."""
    above, below = rows.scores[rows.positive], np.sort(rows.scores[~rows.positive])
    if not (above.size and below.size):
        return Fraction(1, 2)
    wins = np.searchsorted(below, above) + np.searchsorted(below, above, side="right")
    return Fraction(int(wins.sum()), 2 * above.size * below.size)


def auc_error(found: float | None, truth: float) -> float:
    """Return how far off an area is. An undefined area counts as one half, which the diagonal has."""
    return abs((0.5 if found is None else found) - truth)


def binormal_curve(area: float, points: int = 512) -> Curve:
    """Return the symmetric binormal curve of an area: TPR = Phi(a + Phi^-1(FPR)), a = sqrt(2) Phi^-1(area).

    Half of the points lie evenly along each axis, because the curve is steep at one end.
    """
    from scipy.special import ndtr, ndtri  # noqa: PLC0415

    lift = np.sqrt(2.0) * ndtri(np.clip(area, 1e-9, 1 - 1e-9))
    even = (np.arange(points) + 0.5) / points
    across = np.sort(np.concatenate([even, ndtr(ndtri(even) - lift)]))
    up = np.maximum.accumulate(ndtr(ndtri(across) + lift))
    return Curve(np.concatenate([[0.0], across, [1.0]]), np.concatenate([[0.0], up, [1.0]]))
