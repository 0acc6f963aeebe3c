"""Draw the printed residual plot, for comparison: ranges around zero, fewer cells, counts that are only clipped.

Reads: public or made-up rows, entropy. Writes: nothing. Never: a number of rows that is not public.
Citation: Chen, dissertation 2018, Algorithm 9.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor, isqrt

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount, Epsilon
from thresher.diagnostics.residual_plot import cell_counts, drawn_points
from thresher.diagnostics.residual_ranges import Column, Span, bounded
from thresher.mechanisms.histograms import noisy_histogram
from thresher.noise import Entropy

_COVERAGE, _RANGES_SHARE, _RANGES_ROWS = Fraction(95, 100), Fraction(3, 10), 470
_ROWS_A_CELL, _FEWEST_BINS, _MOST_BINS = 10, 2, 2048
_UNIT = Fraction(1)


@dataclass(frozen=True, slots=True)
class PrintedTerms:
    """The epsilon of ranges and of the histogram, the bins of each side, and the number of points."""

    ranges: Epsilon
    histogram: Epsilon
    bins: int
    points: int


def printed_terms(rows: int, epsilon: Amount) -> PrintedTerms:
    """Return the recipe for so many rows: ranges have min(0.3 epsilon, 470 / n), the histogram has the rest."""
    total = Epsilon.covering(epsilon)
    ranges = Epsilon.from_nano(floor(min(_RANGES_SHARE * total.fraction, Fraction(_RANGES_ROWS, rows)) * 10**9))
    rest = total - ranges
    wanted = isqrt(floor(_COVERAGE**2 * rows * rest.fraction / _ROWS_A_CELL))
    return PrintedTerms(ranges, rest, min(max(_FEWEST_BINS, wanted), _MOST_BINS), floor(_COVERAGE**2 * rows))


def printed_points(
    fitted: Column, residuals: Column, epsilon: Amount, entropy: Entropy, histogram: str = "laplace"
) -> NDArray[np.float64]:
    """Draw the points of a plot whose number of rows is public."""
    terms = printed_terms(fitted.size, epsilon)
    share = Epsilon.from_nano(terms.ranges.nano // 2)
    spans = symmetric_range(fitted, share, entropy), symmetric_range(residuals, share, entropy)
    cells = cell_counts(fitted, residuals, spans, terms.bins)
    counts = clipped_counts(noisy_histogram(cells, terms.histogram, histogram, entropy).counts)
    return drawn_points(counts, spans, terms.points, entropy)


def symmetric_range(records: Column, epsilon: Epsilon, entropy: Entropy, fraction: Fraction = _COVERAGE) -> Span:
    """Find the coarse bound only, on both sides of zero."""
    reach = float(_UNIT * bounded(records, _UNIT, epsilon, fraction, records.size, entropy).bound)
    return -reach, reach


def clipped_counts(noisy: NDArray[np.float64]) -> NDArray[np.int64]:
    """Raise negative counts to 0 and round. The total grows by the negative counts."""
    return np.rint(np.maximum(noisy, 0)).astype(np.int64)
