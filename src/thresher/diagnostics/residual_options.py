"""Check what is asked of a residual plot, and derive public numbers: how epsilon is divided, bands and points.

All of it follows from the options and from the number of rows, which is public or noisy; no record is read.
Reads: arguments. Writes: nothing. Never: data. Why these numbers: `residual_plot.md`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, isqrt
from typing import Any, TypedDict, Unpack

from thresher.amounts import Amount, Epsilon, exact_fraction, whole_number
from thresher.diagnostics.scored_rows import checked_rows
from thresher.errors import ArgumentError
from thresher.mechanisms.histograms import MECHANISMS
from thresher.noise.arguments import checked_probability

# Rows times epsilon: below this even plain faults of a model cannot be seen for noise.
FAINT = 250
_LEAST_EPSILON, _MOST_EPSILON = Epsilon("0.0001"), Epsilon(100)
# Ranges get a twentieth at least: with many rows that costs the histogram little, and long tails stay in the picture.
# No noise can be drawn with less than the last number.
_RANGES_SHARE, _RANGES_ROWS, _RANGES_LEAST, _FINEST = Fraction(3, 10), 470, Fraction(1, 20), Fraction(1, 10**5)
# About n epsilon for each cell sets their number, within these numbers of bands a side.
_ROWS_A_CELL, _FEWEST_BINS, _ENOUGH_BINS = 5, 2, 128
_ROWS_SHARE = Fraction(1, 50)
_LEAST_UNIT, _MOST_UNIT = Fraction(1, 10**12), Fraction(10**12)
_MOST_BINS, _MOST_POINTS = 2048, 10**6


class ResidualChoices(TypedDict, total=False):
    """The choices of a plot; `residual_plot` says what each means."""

    rows: int | None
    unit: Amount
    histogram: str
    coverage: Amount
    bins: int | None
    most_points: int


@dataclass(frozen=True, slots=True)
class ResidualOptions:
    """A checked request; `rows` is the public number of rows, or None where it is private."""

    epsilon: Epsilon
    rows: int | None = None
    unit: Fraction = Fraction(1, 1000)
    histogram: str = "laplace"
    coverage: Fraction = Fraction(95, 100)
    bins: int | None = None
    most_points: int = 10_000


@dataclass(frozen=True, slots=True)
class ResidualTerms:
    """What a plot of `rows` rows spends on ranges and on the histogram, its bands a side, and its points.

    `epsilon` is what is left after a noisy number of rows was paid for, if it was.
    """

    rows: int
    epsilon: Epsilon
    ranges: Epsilon
    histogram: Epsilon
    bins: int
    points: int
    coverage: Fraction

    def after(self, spent: Epsilon) -> "ResidualTerms":
        """Return the terms once `spent` went to ranges: the histogram has the rest, and bands that suit it."""
        rest = self.epsilon - spent
        return replace(self, ranges=spent, histogram=rest, bins=_bins(self.rows, rest, self.coverage))


def residual_options(epsilon: Amount, **choices: Unpack[ResidualChoices]) -> ResidualOptions:
    """Return the checked request of `residual_plot`; an unknown choice is refused by its name."""
    checked: dict[str, Any] = {
        name: _CHECKS[name](value) if name in _CHECKS else value for name, value in choices.items()
    }
    options = ResidualOptions(checked_total(epsilon), **checked)
    if options.rows is None:
        # What is left once a noisy number of rows is paid for must be enough too.
        checked_total(options.epsilon - rows_share(options.epsilon))
    return options


def plan_of(rows: int, epsilon: Amount, coverage: Amount = "0.95") -> ResidualTerms:
    """Return the plan for n rows: ranges get min(0.3 epsilon, 470 / n), the histogram gets the rest.

    Where 470 / n is below a twentieth of epsilon, ranges get a twentieth. With c the coverage (the share of rows that a
    range is meant to hold) and epsilon' the histogram's part, there are floor(sqrt(c**2 n epsilon' / 5)) bands a side,
    but 2 to 128, and floor(c**2 n) points.
    Citation: Chen, dissertation 2018, Algorithm 9; there with n public, and 10 for 5.
    """
    count, share = checked_rows(rows), checked_probability(coverage, "coverage")
    total = checked_total(epsilon)
    least = max(Fraction(_RANGES_ROWS, count), _RANGES_LEAST * total.fraction, _FINEST)
    ranges = _down(min(_RANGES_SHARE * total.fraction, least))
    rest = total - ranges
    return ResidualTerms(count, total, ranges, rest, _bins(count, rest, share), floor(share**2 * count), share)


def rows_share(epsilon: Epsilon) -> Epsilon:
    """Return what a noisy number of rows costs, where the number is not public."""
    return _down(epsilon.fraction * _ROWS_SHARE)


def checked_total(epsilon: Amount) -> Epsilon:
    """Return epsilon in whole nano-epsilon, so that parts add up to it."""
    if exact_fraction(epsilon, "epsilon") <= 0:
        raise ArgumentError("epsilon", epsilon, "it must be above zero", 'Pass "0.5", for example')
    total = Epsilon.covering(epsilon)
    if not _LEAST_EPSILON <= total <= _MOST_EPSILON:
        raise ArgumentError("epsilon", epsilon, "it must be from 0.0001 to 100", 'Pass "0.5", for example')
    return total


def _bins(rows: int, epsilon: Epsilon, coverage: Fraction) -> int:
    wanted = isqrt(floor(coverage**2 * rows * epsilon.fraction / _ROWS_A_CELL))
    return min(max(_FEWEST_BINS, wanted), _ENOUGH_BINS)


def _down(amount: Fraction) -> Epsilon:
    """Round a part of a split down; what is left over goes to the last part."""
    return Epsilon.from_nano(floor(amount * 10**9))


def _whole(value: int, field: str, least: int, most: int) -> int:
    if not least <= whole_number(value, field) <= most:
        raise ArgumentError(field, value, f"it must be from {least} to {most}", "Leave it out")
    return int(value)


def _unit(unit: Amount) -> Fraction:
    scale = exact_fraction(unit, "unit")
    if not _LEAST_UNIT <= scale <= _MOST_UNIT:
        raise ArgumentError("unit", unit, "it must lie between 1e-12 and 1e12", 'Leave it out for "0.001"')
    return scale


def _histogram(name: str) -> str:
    if not isinstance(name, str) or name not in MECHANISMS:
        raise ArgumentError(
            "histogram", name, "there is no such histogram mechanism", f"Pass one of {', '.join(MECHANISMS)}"
        )
    return name


_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "rows": lambda rows: None if rows is None else checked_rows(rows),
    "unit": _unit,
    "histogram": _histogram,
    "coverage": lambda share: checked_probability(share, "coverage"),
    "bins": lambda bins: None if bins is None else _whole(bins, "bins", 1, _MOST_BINS),
    "most_points": lambda points: _whole(points, "most_points", 0, _MOST_POINTS),
}
