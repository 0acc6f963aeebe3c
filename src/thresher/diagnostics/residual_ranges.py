"""Where fitted values and residuals lie: a coarse bound around zero, then the stretch that holds nearly all of them.

The bound is the first doubling that noisily holds three quarters of the records, doubled once more: far from the share
where noise in the threshold could carry it past all records. Inside it records are counted in a few equal bands, with
noise, and the stretch of bands is kept whose counts exceed a price for every band by most. Where that stretch is short
the same is done inside it again, for as much epsilon again.
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
# So much n epsilon for each band: then the bands of a flat spread stand twice above the noise's scale.
_CLEAR = 2
_MOST_LOOKS = 3
# The price of a band: a tenth of its share of a flat spread, or one scale of the noise.
_THIN = Fraction(1, 10)
_FARTHEST = float(1 << 62)


@dataclass(frozen=True, slots=True)
class NarrowedRange:
    """A range, what it cost, and whether no bound that was tried held enough records."""

    span: Span
    epsilon: Epsilon
    capped: bool


@dataclass(frozen=True, slots=True)
class Looks:
    """How a range is narrowed: into so many bands, each look at `epsilon`, each band kept at `price`.

    There are `most` looks at most, and after one that keeps more than 1 / `short` of the bands no other.
    """

    bands: int
    epsilon: Epsilon
    price: float
    most: int
    short: int = 4

    def taken(self, records: Column, span: Span, entropy: Entropy) -> tuple[Span, int]:
        """The range left at the end, and after how many looks."""
        for done in range(1, self.most + 1):
            noisy = band_counts(records, span, self.bands) + discrete_laplace(self.epsilon, self.bands, entropy=entropy)
            first, last = best_stretch(noisy, self.price)
            span = span_of_bands(span, first, last, self.bands)
            if (last - first) * self.short > self.bands:
                return span, done
        return span, self.most


def looks_of(rows: int, epsilon: Epsilon) -> Looks:
    """For about so many rows: bands so few that even a flat spread stands clear of the noise; more looks only then."""
    clear = rows * epsilon.fraction / _CLEAR
    bands = _MANY if clear >= _MANY else _FEW
    price = max(float(_THIN * rows / bands), 1 / float(epsilon))
    return Looks(bands, epsilon, price, _MOST_LOOKS if clear >= bands else 1)


def bounded(
    records: Column, unit: Fraction, epsilon: Epsilon, fraction: Fraction, size: int | None, entropy: Entropy
) -> PrivateBound:
    """The coarse bound, in units, for `epsilon` exactly: what its sharper accounting saves is put into the noise."""
    spend = epsilon.fraction
    if size is None:
        spend = spend * 2 / (1 + max(fraction, 1 - fraction))
    return private_bound(whole_units(records, unit), spend, 1, fraction, size, entropy=entropy)


def whole_units(records: Column, unit: Fraction) -> NDArray[np.int64]:
    """How many units hold each record, either way from zero. What is too far for 63 bits is as far as they go."""
    with np.errstate(all="ignore"):
        away = np.ceil(np.abs(records) / float(unit))
    return np.minimum(away, _FARTHEST).astype(np.int64)


def narrow_range(
    records: Column, unit: Fraction, epsilon: Epsilon, rows: int, size: int | None, entropy: Entropy
) -> NarrowedRange:
    """A range that need not hold zero, for `epsilon`, and half of it again for every repeated look.

    `rows` is the number of rows as far as it is known; `size` the same if it is public.
    Privacy: `NarrowedRange.epsilon`, of which each look has the same whole part; the proof is beside this.
    Utility: measured, not promised (`residual_plot.md`).
    Runtime: linear in the records.
    """
    coarse, look = epsilon.split(2)
    found = bounded(records, unit, coarse, COARSE_FRACTION, size, entropy)
    reach = float(unit * found.bound * _WIDER)
    span, looks = looks_of(rows, look).taken(records, (-reach, reach), entropy)
    return NarrowedRange(span, coarse + look * looks, found.capped)


def band_counts(records: Column, span: Span, bands: int) -> NDArray[np.int64]:
    """How many records lie in each of the equal bands of a range; those outside are in none."""
    return np.bincount(band_of(records, span, bands), minlength=bands + 1)[:bands].astype(np.int64)


def band_of(records: Column, span: Span, bands: int) -> NDArray[np.int64]:
    """The band of each record, the upper end belonging to the last one; `bands` itself if it lies outside."""
    low, high = span
    with np.errstate(all="ignore"):
        spots = records - low
        spots *= bands / (high - low)
    np.minimum(spots, bands - 1, out=spots)
    spots[(records < low) | (records > high)] = bands
    return spots.astype(np.int64)


def best_stretch(noisy: NDArray[np.int64], price: float) -> tuple[int, int]:
    """The bands from `first` up to `last`, without it, whose counts exceed the price of each by most in all.

    All of them if no stretch exceeds its price. Looks at noisy counts only.
    """
    sums = np.concatenate([[0.0], np.cumsum(np.asarray(noisy).view(np.ndarray) - price)])
    least = np.minimum.accumulate(sums)
    gains = sums[1:] - least[:-1]
    last = int(gains.argmax()) + 1
    if gains[last - 1] <= 0:
        return 0, len(noisy)
    return int(sums[:last].argmin()), last


def span_of_bands(span: Span, first: int, last: int, bands: int) -> Span:
    """The ends of a stretch of bands."""
    low, high = span
    step = (high - low) / bands
    return (low + first * step if first else low), (low + last * step if last < bands else high)
