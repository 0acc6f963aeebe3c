"""Release the area under the ROC curve with Cauchy noise scaled to smooth sensitivity: the literature's baseline.

It is for comparison: at the same epsilon `roc_curve` gives the whole curve, and nearly always a closer area.
Reads: arrays, entropy. Writes: nothing. Never: a float of a noisy value. Proof: `smooth_auc.md`.
Citations: Boyd, Lantz, Page, "Differential Privacy for Classifier Evaluation", 2015; Nissim, Raskhodnikova, Smith 2007.
"""

from dataclasses import dataclass
from fractions import Fraction

from numpy.typing import ArrayLike

from thresher.amounts import Amount, Epsilon, exact_fraction, whole_number
from thresher.diagnostics.curves import Curve, binormal_curve, mann_whitney
from thresher.diagnostics.releases import MODEL_CAVEAT
from thresher.diagnostics.scored_rows import ScoredRows, scored_rows
from thresher.errors import ArgumentError
from thresher.mechanisms.cauchy import point_near
from thresher.mechanisms.public_grid import DEFAULT_STEPS, grid_of
from thresher.mechanisms.smooth_median import DEFAULT_SMOOTHING, noise_factor
from thresher.noise import Entropy
from thresher.noise.enclosure import exp_minus
from thresher.noise.entropy import chosen

# Sensitivities are rounded up, so they are smoothed by this much less than the noise allows.
_SLACK = Fraction(1, 1 << 34)
# Bits of a power of e, which is needed only where it is above 1 / 2**40.
_BITS, _MOST_ROWS = 128, 1 << 40
_LEAST_SMOOTHING = Fraction(1, 10**7)


@dataclass(frozen=True, slots=True)
class SmoothAuc:
    """A noisy area. All of it may be shown; the scale of its noise is secret."""

    auc: float
    point: int
    epsilon: Epsilon
    caveats: tuple[str, ...]
    stamp: str

    @property
    def curve(self) -> Curve:
        """Return the symmetric binormal curve of that area: a guess from the area alone."""
        return binormal_curve(self.auc)


def smooth_auc(
    labels: ArrayLike,
    scores: ArrayLike,
    epsilon: Amount,
    *,
    smoothing: Amount | None = None,
    steps: int = DEFAULT_STEPS,
    entropy: Entropy | None = None,
) -> SmoothAuc:
    """Return the point of a grid of [0, 1] next to (area) + (noise factor) (smooth sensitivity) (Cauchy), or an end.

    Rows are read as by `roc_curve`. Without positives or negatives the area is one half.
    Privacy: epsilon, adding or removing one row; numbers of positives and negatives are private too (`smooth_auc.md`).
    Utility: a baseline. Half of the noise lies within noise factor times smooth sensitivity; it has no mean.
    Runtime: a sort of the scores.
    """
    given = scored_rows(labels, scores)
    factor, smooth = constants(epsilon, smoothing)
    grid, source = grid_of(0, 1, steps), chosen(entropy)
    centre, scale = placed_auc(given, grid.steps, factor, smooth)
    point = point_near(centre, scale, grid.steps, source)
    spend = Epsilon.covering(exact_fraction(epsilon, "epsilon"))
    return SmoothAuc(grid.value(point), point, spend, (MODEL_CAVEAT,), source.stamp)


def placed_auc(rows: ScoredRows, steps: int, factor: Fraction, smoothing: Fraction) -> tuple[Fraction, Fraction]:
    """Return where the noise is centred, and its scale, in steps of the grid. Both are secret."""
    positives = int(rows.positive.sum())
    sensitivity = auc_sensitivity(positives, rows.positive.size - positives, smoothing)
    return mann_whitney(rows) * steps, factor * sensitivity * steps


def auc_sensitivity(positives: int, negatives: int, smoothing: Amount) -> Fraction:
    """Return the largest exp(-smoothing k) / max(1, m - k) over k, m being the smaller number. It is secret.

    It lies at k = 0 or at k = m - 1; a power of e is rounded up by less than a factor 1 + 2**-80.
    """
    decay, least = exact_fraction(smoothing, "smoothing"), min(_whole(positives), _whole(negatives))
    if decay < _LEAST_SMOOTHING:
        raise ArgumentError("smoothing", smoothing, "it must be 1e-7 or more", "Pass a part of epsilon")
    if least <= 1:
        return Fraction(1)
    at_first = Fraction(1, least)
    # Beyond 28 the power is below 2**-40, and so below the other.
    exponent = decay * (least - 1)
    return max(at_first, Fraction(exp_minus(exponent, _BITS).high, 1 << _BITS)) if exponent <= 28 else at_first


def constants(epsilon: Amount, smoothing: Amount | None = None) -> tuple[Fraction, Fraction]:
    """Return the multiple of smooth sensitivity that keeps epsilon, and its smoothing. Public."""
    spend = exact_fraction(epsilon, "epsilon")
    smooth = spend * DEFAULT_SMOOTHING if smoothing is None else exact_fraction(smoothing, "smoothing")
    return noise_factor(epsilon, smooth), smooth - _SLACK


def _whole(count: int) -> int:
    number = whole_number(count, "count")
    if not 0 <= number <= _MOST_ROWS:
        raise ArgumentError("count", count, "it must be from 0 to 2**40", "Pass a number of rows")
    return number
