"""What may be asked of a residual plot, checked before any data are read.

Reads: arguments. Writes: nothing. Never: data.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypedDict

from thresher.amounts import Amount, Epsilon, exact_fraction, whole_number
from thresher.diagnostics.residual_recipe import Recipe, checked_recipe, checked_rows, checked_total, rows_share
from thresher.errors import ArgumentError
from thresher.mechanisms.histograms import MECHANISMS
from thresher.noise.arguments import checked_probability

_LEAST_UNIT, _MOST_UNIT = Fraction(1, 10**12), Fraction(10**12)
_MOST_BINS, _MOST_POINTS = 2048, 10**6


@dataclass(frozen=True, slots=True)
class ResidualOptions:
    """A checked request; `rows` is the public number of rows, or None where it is private."""

    epsilon: Epsilon
    rows: int | None
    unit: Fraction
    histogram: str
    recipe: Recipe
    coverage: Fraction
    bins: int | None
    most_points: int


class ResidualChoices(TypedDict, total=False):
    """What may be chosen of a plot; `residual_plot` says what each means."""

    rows: int | None
    unit: Amount
    histogram: str
    recipe: str | Recipe
    coverage: Amount
    bins: int | None
    most_points: int


def residual_options(
    epsilon: Amount,
    *,
    rows: int | None = None,
    unit: Amount = "0.001",
    histogram: str = "laplace",
    recipe: str | Recipe = "narrowed",
    coverage: Amount = "0.95",
    bins: int | None = None,
    most_points: int = 10_000,
) -> ResidualOptions:
    """Return the checked request of `residual_plot`."""
    scale = exact_fraction(unit, "unit")
    if not _LEAST_UNIT <= scale <= _MOST_UNIT:
        raise ArgumentError("unit", unit, "it must lie between 1e-12 and 1e12", 'Leave it out for "0.001"')
    if not isinstance(histogram, str) or histogram not in MECHANISMS:
        raise ArgumentError("histogram", histogram, "there is no such one", f"Pass one of {', '.join(MECHANISMS)}")
    if bins is not None and not 1 <= whole_number(bins, "bins") <= _MOST_BINS:
        raise ArgumentError("bins", bins, f"it must be from 1 to {_MOST_BINS}", "Leave it out")
    if not 0 <= whole_number(most_points, "most_points") <= _MOST_POINTS:
        raise ArgumentError("most_points", most_points, f"it must be from 0 to {_MOST_POINTS}", "Pass 10000, say")
    total = checked_total(epsilon)
    if rows is None:
        # What is left once a noisy number of rows is paid for must be enough, too.
        checked_total(total - rows_share(total))
    return ResidualOptions(
        total,
        None if rows is None else checked_rows(rows),
        scale,
        histogram,
        checked_recipe(recipe),
        checked_probability(coverage, "coverage"),
        None if bins is None else int(bins),
        int(most_points),
    )
