"""Draw the median with Cauchy noise scaled to smooth sensitivity, with constants that do keep epsilon.

This is the baseline of the literature. `quantiles.median` is far closer at the same epsilon. The noise is a true Cauchy
number, drawn exactly onto the grid (`cauchy`), so that no rounding of floats weakens the privacy.
Reads: arrays, entropy. Writes: nothing. Never: a float of a noisy value. Proof: `smooth_median.md`.
Citations: Nissim, Raskhodnikova, Smith, "Smooth Sensitivity and Sampling in Private Data Analysis", 2007; Chen,
dissertation 2018, Algorithm 12, whose constants lose up to 0.78 % more than epsilon.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction
from thresher.errors import ArgumentError, BugError
from thresher.mechanisms.cauchy import point_near
from thresher.mechanisms.public_grid import PublicGrid, floats_of, grid_of
from thresher.mechanisms.quantiles import HALF, Quantile
from thresher.noise import Entropy
from thresher.noise.arguments import checked_rate
from thresher.noise.enclosure import certified, exp_minus
from thresher.noise.entropy import chosen

# A part of epsilon, a little below sqrt(3) / 2. For small epsilon it makes the noise factor 2 / epsilon.
DEFAULT_SMOOTHING = Fraction(866_025_403, 10**9)
# The largest exponent of a window that counts, and the least sensitivity that is used, in steps of the grid.
_DEAREST, _LEAST = 600.0, math.exp(-500)
# The relative error of a sensitivity computed in floats. The noise allows for it.
_SLACK = Fraction(1, 1 << 34)
_LEAST_EPSILON, _MOST_EPSILON = Fraction(1, 10**4), 700


def smooth_median(
    values: ArrayLike,
    grid: PublicGrid,
    epsilon: Amount,
    *,
    smoothing: Amount | None = None,
    entropy: Entropy | None = None,
) -> Quantile:
    """Draw the grid point nearest to (lower median) + (noise factor) (smooth sensitivity) (Cauchy), at most an end.

    Privacy: epsilon, adding or removing one record; n is private too (`smooth_median.md`). The scale of the noise is
    secret.
    Utility: a baseline. The noise lies within noise factor times smooth sensitivity with probability one half; it has
    no mean.
    Runtime: a sort of the values, then (w log w) for windows of w = 600 / smoothing records.
    """
    spend = _spend(epsilon)
    smooth = spend * DEFAULT_SMOOTHING if smoothing is None else _smoothing(smoothing, spend)
    source = chosen(entropy)
    centre, scale = placed_median(grid.snapped(values), grid.steps, spend, smooth)
    point = point_near(centre, scale, grid.steps, source)
    return Quantile(point, grid.value(point), HALF, Epsilon.covering(spend), source.stamp)


def placed_median(
    records: NDArray[np.int64], steps: int, epsilon: Fraction, smoothing: Fraction
) -> tuple[int, Fraction]:
    """Return the centre and the scale of the noise, in steps of the grid. Both are secret."""
    sensitivity = max(_largest_window(records, 0, steps, float(smoothing)), _LEAST)
    factor = _factor(epsilon, smoothing + 2 * _SLACK) * (1 + 2 * _SLACK)
    middle = (records.size + 1) // 2
    return int(records[middle - 1]) if middle else 0, factor * Fraction(sensitivity)


def smooth_sensitivity(values: ArrayLike, low: Amount, high: Amount, smoothing: Amount) -> float:
    """Return max over i <= m <= j of (x_j - x_i) exp(-smoothing (j - i - 1)), x_0 = low, x_(n+1) = high. It is secret.

    Runtime: n log n. The best j grows with i, so each half of the i needs one part of the j only.
    """
    decay, grid = exact_fraction(smoothing, "smoothing"), grid_of(low, high, 1)
    if not Fraction(1, 10**7) <= decay <= 1000:
        raise ArgumentError("smoothing", smoothing, "it must lie between 1e-7 and 1000", "Pass a part of epsilon")
    start, end = float(grid.low), float(grid.high)
    records = floats_of(values)
    return _largest_window(np.sort(np.clip(records[~np.isnan(records)], start, end)), start, end, float(decay))


def noise_factor(epsilon: Amount, smoothing: Amount) -> Fraction:
    """Return the least multiple of smooth sensitivity that keeps epsilon, rounded up and proved by intervals."""
    spend = _spend(epsilon)
    return _factor(spend, _smoothing(smoothing, spend))


@lru_cache(maxsize=256)
def _factor(spend: Fraction, smooth: Fraction) -> Fraction:
    e, b, up = float(spend), float(smooth), 1 + 2.0**-40
    within = math.exp(-e) / math.expm1(-e) ** 2
    beyond = math.exp(-e - b) / (math.expm1(-float(spend - smooth)) * math.expm1(-e - b))
    factor = Fraction(math.sqrt(max(within, beyond)) * up)

    def enough(bits: int) -> bool:
        p, q = exp_minus(spend, bits), exp_minus(smooth, bits)
        squares = p / ((1 - p) * (1 - p)), p * q * q / ((q - p) * (1 - p * q))
        return all(square.at_most(factor**2) for square in squares)

    if not certified(enough):
        raise BugError("a noise factor that was rounded up is too small")
    return factor


def _largest_window(records: NDArray[np.generic], low: float, high: float, smoothing: float) -> float:
    """Return the smooth sensitivity of sorted records: all windows around the middle, by halves of their left ends."""
    line = np.concatenate([[low], np.asarray(records, dtype=np.float64), [high]])
    middle, reach = (line.size - 1) // 2, int(_DEAREST / smoothing) + 1
    left, right = line[max(middle - reach, 0) : middle + 1], line[middle : middle + reach + 1]
    first, last, least, most = (np.array([k]) for k in (0, left.size - 1, 0, right.size - 1))
    largest = 0.0
    while first.size:
        mid, lengths = (first + last) // 2, most - least + 1
        begins = np.cumsum(lengths) - lengths
        which = np.repeat(np.arange(first.size), lengths)
        j = np.arange(which.size) + (least - begins)[which]
        gaps = np.maximum(j + (left.size - 1 - mid)[which] - 1, 0)
        widths = (right[j] - left[mid][which]) * np.exp(-smoothing * gaps)
        tops = np.maximum.reduceat(widths, begins)
        largest = max(largest, float(tops.max()))
        best = np.minimum.reduceat(np.where(widths == tops[which], j, right.size), begins)
        halves = np.array([[first, mid - 1, least, best], [mid + 1, last, best, most]])
        first, last, least, most = halves.transpose(1, 0, 2).reshape(4, -1)
        held = first <= last
        first, last, least, most = first[held], last[held], least[held], most[held]
    return largest


def _spend(epsilon: Amount) -> Fraction:
    spend = checked_rate(epsilon, 1)
    if not _LEAST_EPSILON <= spend <= _MOST_EPSILON:
        rule = "for the smooth median it must lie between 0.0001 and 700"
        raise ArgumentError("epsilon", epsilon, rule, "Use quantiles.median")
    return spend


def _smoothing(smoothing: Amount, epsilon: Fraction) -> Fraction:
    smooth = exact_fraction(smoothing, "smoothing")
    if not epsilon / 1000 <= smooth <= epsilon * Fraction(999, 1000):
        rule = "it must lie between 0.001 epsilon and 0.999 epsilon"
        raise ArgumentError("smoothing", smoothing, rule, "Leave it out for 0.866 epsilon")
    return smooth
