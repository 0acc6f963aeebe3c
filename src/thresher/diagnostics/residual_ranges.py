"""Find where fitted values and residuals lie: a coarse bound around zero, then the range that holds nearly all.

The bound is the first doubling that holds three quarters of the records by a noisy count, doubled once more. (With a
share near 1, noise in the threshold could carry the bound past all records.) Inside the bound records are counted in a
few equal bands, with noise, and those neighbouring bands are kept whose counts exceed a price for each band by most.
Where these bands are few, they are cut into bands and counted again, for as much epsilon again.
Reads: records, entropy. Writes: nothing. Never: an exact end of the data. Proof: `residual_ranges.md`.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.mechanisms.bounds import PrivateBound, private_bound
from thresher.noise import Entropy, discrete_laplace

Span = tuple[float, float]
Column = NDArray[np.float64]

COARSE_FRACTION = Fraction(3, 4)
_WIDER = 2
_FEW, _MANY = 16, 32
# n epsilon for each band: with this much, counts of an even spread are twice the scale of the noise.
_CLEAR = 2
_MOST_LOOKS = 3
# The price of a band: a tenth of its share of an even spread, or the scale of the noise.
_THIN = Fraction(1, 10)
_FARTHEST = float(1 << 62)


@dataclass(frozen=True, slots=True)
class NarrowedRange:
    """A range, what it cost, and whether no bound that was tried seemed to hold enough records."""

    span: Span
    epsilon: Epsilon
    capped: bool


@dataclass(frozen=True, slots=True)
class Looks:
    """How a range is narrowed: in looks, each a noisy count of `bands` bands at `epsilon`, each band priced at `price`.

    There are at most `most` looks, and none after a look that keeps more than 1 / `short` of the bands.
    """

    bands: int
    epsilon: Epsilon
    price: float
    most: int
    short: int = 4

    def taken(self, records: Column, span: Span, entropy: Entropy) -> tuple[Span, int]:
        """Return the range that is left at the end, and the number of looks."""
        for done in range(1, self.most + 1):
            noisy = band_counts(records, span, self.bands) + discrete_laplace(self.epsilon, self.bands, entropy=entropy)
            first, last = best_stretch(noisy, self.price)
            span = span_of_bands(span, first, last, self.bands)
            if (last - first) * self.short > self.bands:
                return span, done
        return span, self.most


def looks_of(rows: int, epsilon: Epsilon) -> Looks:
    """Return looks for about so many rows: one look only, where noise could hide even an even spread."""
    clear = rows * epsilon.fraction / _CLEAR
    bands = _MANY if clear >= _MANY else _FEW
    price = max(float(_THIN * rows / bands), 1 / float(epsilon))
    return Looks(bands, epsilon, price, _MOST_LOOKS if clear >= bands else 1)


def bounded(
    records: Column, unit: Fraction, epsilon: Epsilon, fraction: Fraction, size: int | None, entropy: Entropy
) -> PrivateBound:
    """Return the coarse bound, in units, for `epsilon` exactly: what its accounting saves goes into less noise."""
    spend = epsilon.fraction
    if size is None:
        spend = spend * 2 / (1 + max(fraction, 1 - fraction))
    return private_bound(whole_units(records, unit), spend, 1, fraction, size, entropy=entropy)


def whole_units(records: Column, unit: Fraction) -> NDArray[np.int64]:
    """Return how many units each record lies from zero, rounded up, and at most what 63 bits hold."""
    with np.errstate(all="ignore"):
        away = np.ceil(np.abs(records) / float(unit))
    return np.minimum(away, _FARTHEST).astype(np.int64)


def narrow_range(
    records: Column, unit: Fraction, epsilon: Epsilon, rows: int, size: int | None, entropy: Entropy
) -> NarrowedRange:
    """Find a range, which need not hold zero, for `epsilon`, and half of it again for each repeated look.

    `rows` is the public or noisy number of rows; `size` is that number if it is public, else None.
    Privacy: `NarrowedRange.epsilon` (`residual_ranges.md`).
    Utility: measured, not promised (`residual_plot.md`).
    Runtime: linear in the records.
    """
    coarse, look = epsilon.split(2)
    bound = bounded(records, unit, coarse, COARSE_FRACTION, size, entropy)
    reach = float(unit * bound.bound * _WIDER)
    span, looks = looks_of(rows, look).taken(records, (-reach, reach), entropy)
    return NarrowedRange(span, coarse + look * looks, bound.capped)


def band_counts(records: Column, span: Span, bands: int) -> NDArray[np.int64]:
    """Count the records of each of the equal bands of a range; those outside are in no band."""
    return np.bincount(band_of(records, span, bands), minlength=bands + 1)[:bands].astype(np.int64)


def band_of(records: Column, span: Span, bands: int) -> NDArray[np.int64]:
    """Return the band of each record, `bands` if it lies outside; the upper end belongs to the last band."""
    low, high = span
    with np.errstate(all="ignore"):
        spots = records - low
        spots *= bands / (high - low)
    np.minimum(spots, bands - 1, out=spots)
    spots[(records < low) | (records > high)] = bands
    return spots.astype(np.int64)


def best_stretch(noisy: NDArray[np.int64], price: float) -> tuple[int, int]:
    """Return `first` and `last` of the bands (without `last`) whose counts exceed their prices by most in all.

    All bands if no run of bands exceeds its price. A function of noisy counts only.
    """
    sums = np.concatenate([[0.0], np.cumsum(np.asarray(noisy).view(np.ndarray) - price)])
    least = np.minimum.accumulate(sums)
    gains = sums[1:] - least[:-1]
    last = int(gains.argmax()) + 1
    if gains[last - 1] <= 0:
        return 0, len(noisy)
    return int(sums[:last].argmin()), last


def span_of_bands(span: Span, first: int, last: int, bands: int) -> Span:
    """Return the ends of a run of bands."""
    low, high = span
    step = (high - low) / bands
    return (low + first * step if first else low), (low + last * step if last < bands else high)
