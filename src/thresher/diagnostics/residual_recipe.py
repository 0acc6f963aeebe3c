"""The public numbers of a residual plot: how epsilon is divided, how many bands and points there are.

All of it follows from the number of rows, which is public or noisy, and epsilon; no record is looked at.
Reads: arguments. Writes: nothing. Never: data. Why these numbers: `residual_plot.md`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isqrt
from types import MappingProxyType

from thresher.amounts import Amount, Epsilon, exact_fraction, whole_number
from thresher.errors import ArgumentError
from thresher.noise.arguments import checked_probability

# No fewer rows than this make a plot, by declaration; a noisy number below it is taken for it.
LEAST_ROWS, _MOST_ROWS = 2, 10**12
# Rows times epsilon: below this even plain faults of a model drown in noise.
FAINT = 250
_LEAST_EPSILON, _MOST_EPSILON = Epsilon("0.0001"), Epsilon(100)
# The least for ranges is for numbers of rows beyond 47 million, where 470 / n is too fine to be drawn with.
_RANGES_SHARE, _RANGES_ROWS, _RANGES_LEAST = Fraction(3, 10), 470, Fraction(1, 10**5)
_FEWEST_BINS = 2
ROWS_SHARE = Fraction(1, 50)


@dataclass(frozen=True, slots=True)
class Recipe:
    """`narrowed`: ranges are sought in two steps. `rows_a_cell`: about n epsilon / cells, which sets their number.

    `most_bins` bands a side at most, whatever n epsilon is. Ranges have `ranges_least` of epsilon at least: with many
    rows that costs the histogram next to nothing, and long tails stay in the picture.
    """

    name: str
    narrowed: bool
    rows_a_cell: int
    most_bins: int
    ranges_least: Fraction


RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "narrowed": Recipe("narrowed", True, 5, 128, Fraction(1, 20)),
        "print": Recipe("print", False, 10, 2048, Fraction(0)),
    }
)


@dataclass(frozen=True, slots=True)
class ResidualTerms:
    """What a plot of so many rows spends on ranges and on the histogram, its bands a side, and its points.

    `epsilon` is all that is left after a noisy number of rows was paid for, if it was.
    """

    rows: int
    epsilon: Epsilon
    ranges: Epsilon
    histogram: Epsilon
    bins: int
    points: int
    coverage: Fraction
    recipe: Recipe

    def after(self, spent: Epsilon) -> "ResidualTerms":
        """The same once so much was spent on ranges: the histogram has the rest, and bands to fit."""
        rest = self.epsilon - spent
        bins = bins_of(self.rows, rest, self.coverage, self.recipe)
        return ResidualTerms(self.rows, self.epsilon, spent, rest, bins, self.points, self.coverage, self.recipe)


def plan_of(rows: int, epsilon: Amount, coverage: Amount = "0.95", recipe: str | Recipe = "narrowed") -> ResidualTerms:
    """What the recipe says for so many rows: ranges have min(0.3 epsilon, 470 / n), the histogram has the rest.

    Where 470 / n is below a twentieth of epsilon, ranges have that, but in print.
    With c the coverage, that share of rows which a range is meant to hold: floor(sqrt(c**2 n epsilon' / r)) bands a
    side, but 2 at least, where epsilon' is the histogram's and r is 10 in print and 5 here; floor(c**2 n) points.
    Citation: Chen, dissertation 2018, Algorithm 9; there with n public.
    """
    count, share = checked_rows(rows), checked_probability(coverage, "coverage")
    chosen, total = checked_recipe(recipe), checked_total(epsilon)
    least = max(Fraction(_RANGES_ROWS, count), chosen.ranges_least * total.fraction, _RANGES_LEAST)
    ranges = _down(min(_RANGES_SHARE * total.fraction, least))
    rest = total - ranges
    bins = bins_of(count, rest, share, chosen)
    return ResidualTerms(count, total, ranges, rest, bins, floor(share**2 * count), share, chosen)


def bins_of(rows: int, epsilon: Epsilon, coverage: Fraction, recipe: Recipe) -> int:
    wanted = isqrt(floor(coverage**2 * rows * epsilon.fraction / recipe.rows_a_cell))
    return min(max(_FEWEST_BINS, wanted), recipe.most_bins)


def rows_share(epsilon: Epsilon) -> Epsilon:
    """What a noisy number of rows costs, where the number is not public."""
    return _down(epsilon.fraction * ROWS_SHARE)


def checked_total(epsilon: Amount) -> Epsilon:
    """All there is to spend, in whole nano-epsilon, so that parts add up to it."""
    if exact_fraction(epsilon, "epsilon") <= 0:
        raise ArgumentError("epsilon", epsilon, "it must be above zero", 'Pass "0.5", say')
    total = Epsilon.covering(epsilon)
    if not _LEAST_EPSILON <= total <= _MOST_EPSILON:
        raise ArgumentError("epsilon", epsilon, "a plot takes 0.0001 to 100", 'Pass "0.5", say')
    return total


def checked_rows(rows: int) -> int:
    count = whole_number(rows, "rows")
    if not LEAST_ROWS <= count <= _MOST_ROWS:
        rule = f"a plot needs {LEAST_ROWS} rows or more by declaration, and 1e12 at most"
        raise ArgumentError("rows", rows, rule, "Pass the public number of rows, or leave it out if it is private")
    return count


def checked_recipe(recipe: str | Recipe) -> Recipe:
    if isinstance(recipe, Recipe):
        return recipe
    if not isinstance(recipe, str) or recipe not in RECIPES:
        raise ArgumentError("recipe", recipe, "there is no such one", f"Pass one of {', '.join(RECIPES)}")
    return RECIPES[recipe]


def _down(amount: Fraction) -> Epsilon:
    """A part of a split, rounded down: what is left over goes to the last part."""
    return Epsilon.from_nano(floor(amount * 10**9))
