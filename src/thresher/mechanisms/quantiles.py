"""Draw medians and quantiles exactly by the exponential mechanism on a public grid, and medians of medians.

The cost of a point is the number of records by which its rank misses the rank asked for. Points between two records
cost the same, so the mechanism draws a run of points, with odds that count its length, and then one of its points.
Reads: arrays, entropy. Writes: nothing. Never: a float between the data and the draw, except to snap one record.
Proof: `quantiles.md`. Citations: McSherry, Talwar 2007; Smith, "Privacy-preserving Statistical Estimation with Optimal
Convergence Rates", 2011; Chen, dissertation 2018, Algorithm 12 (recursive medians).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction
from thresher.errors import ArgumentError
from thresher.mechanisms.public_grid import DEFAULT_STEPS, PublicGrid, grid_of
from thresher.mechanisms.rank_costs import cells_of, spread_of
from thresher.noise import Entropy
from thresher.noise.arguments import checked_probability, checked_rate, checked_whole
from thresher.noise.entropy import chosen

HALF = Fraction(1, 2)
_FINEST_FRACTION = 10**6
_MOST_FRACTIONS = 1000
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Quantile:
    """Hold a grid point near the quantile. All fields may be shown."""

    point: int
    value: float
    fraction: Fraction
    epsilon: Epsilon
    stamp: str


@dataclass(frozen=True, slots=True)
class Cuts:
    """Hold several grid points in order, and what they cost together. All fields may be shown."""

    points: tuple[int, ...]
    values: tuple[float, ...]
    epsilon: Epsilon
    stamp: str


@dataclass(frozen=True, slots=True)
class InnerRange:
    """Hold two ends between which most records lie. All fields may be shown."""

    low: float
    high: float
    epsilon: Epsilon
    stamp: str


def quantile(
    values: ArrayLike, fraction: Amount, grid: PublicGrid, epsilon: Amount, *, entropy: Entropy | None = None
) -> Quantile:
    """Draw a grid point whose rank is near fraction n, with P[g] proportional to exp(-rate cost(g)).

    Privacy: epsilon, adding or removing one record; n is private too (`quantiles.md`).
    Utility: the rank is off by more than `rank_error(...)` records with probability at most its `miss_rate`.
    Runtime: a sort of the values, then about 100 / epsilon steps.
    """
    part, spend, source = _fraction(fraction, "fraction"), checked_rate(epsilon, 1), chosen(entropy)
    cells = cells_of(grid.snapped(values), part, 0, grid.steps)
    point = int(cells.drawn(spend, 1, source)[0])
    return Quantile(point, grid.value(point), part, Epsilon.covering(spend), source.stamp)


def median(values: ArrayLike, grid: PublicGrid, epsilon: Amount, *, entropy: Entropy | None = None) -> Quantile:
    """Draw the quantile for one half, the rank that a given epsilon finds most precisely."""
    return quantile(values, HALF, grid, epsilon, entropy=entropy)


def quantiles(
    values: ArrayLike, fractions: Sequence[Amount], grid: PublicGrid, epsilon: Amount, *, entropy: Entropy | None = None
) -> Cuts:
    """Draw one grid point for each of the increasing fractions, and sort the points.

    Privacy: epsilon in total, in equal shares. Utility: as `quantile` with its share of epsilon. For many evenly spaced
    quantiles use `recursive_medians`.
    """
    parts, spend, source = _fractions(fractions), checked_rate(epsilon, 1), chosen(entropy)
    records = grid.snapped(values)
    share = spend / len(parts)
    found = [int(cells_of(records, part, 0, grid.steps).drawn(share, 1, source)[0]) for part in parts]
    return _cuts(sorted(found), grid, spend, source)


def recursive_medians(
    values: ArrayLike, depth: int, grid: PublicGrid, epsilon: Amount, *, entropy: Entropy | None = None
) -> Cuts:
    """Draw 2**depth - 1 different points strictly inside the grid that divide the records into nearly equal parts.

    The first is the median of all records, then come the medians of the records below it and above it, and so on.
    Privacy: epsilon in total: each level has epsilon / depth, and each record is in at most one median of a level.
    Runtime: depth sorts of the values, and a draw for every point.
    """
    levels = checked_whole(depth, "depth", 1, _DEEPEST, "Pass 3, say, for 7 points")
    spend, source = checked_rate(epsilon, 1), chosen(entropy)
    if grid.steps < 1 << levels:
        rule = f"2**{levels} - 1 different points inside the grid need 2**{levels} steps or more"
        raise ArgumentError("steps", grid.steps, rule, "Pass more steps, or a smaller depth")
    nodes = [Node(0, grid.steps, grid.snapped(values))]
    found: list[int] = []
    for level in range(levels):
        # This many steps stay free on both sides, for the points of deeper levels. The number is public.
        room = 1 << (levels - 1 - level)
        medians = [node.median(room, spend / levels, source) for node in nodes]
        found += medians
        nodes = [half for node, point in zip(nodes, medians, strict=True) for half in node.halves(point)]
    return _cuts(sorted(found), grid, spend, source)


def inner_range(
    values: ArrayLike,
    bound: Amount,
    epsilon: Amount,
    *,
    tail: Amount = "0.025",
    steps: int = DEFAULT_STEPS,
    entropy: Entropy | None = None,
) -> InnerRange:
    """Draw the range where most records lie inside a coarse bound: the quantiles `tail` and 1 - `tail`.

    Privacy: epsilon, half for each end. The cost of the bound itself is not included.
    """
    limit, rest = exact_fraction(bound, "bound"), checked_probability(tail, "tail")
    if limit <= 0:
        raise ArgumentError("bound", bound, "it must be above zero", "Pass 128, say, or a private_bound")
    if rest >= HALF:
        raise ArgumentError("tail", tail, "it must be below one half", 'Leave it out for "0.025"')
    grid = grid_of(-limit, limit, steps)
    cuts = quantiles(values, [rest, 1 - rest], grid, epsilon, entropy=entropy)
    first, last = cuts.points
    if first == last:  # at least one step apart, so that the range can be divided
        first, last = (first - 1, last) if first else (first, last + 1)
    return InnerRange(grid.value(first), grid.value(last), cuts.epsilon, cuts.stamp)


def rank_error(fraction: Amount, epsilon: Amount, miss_rate: Amount, *, steps: int = DEFAULT_STEPS) -> int:
    """Return by how many records the rank of a quantile may be off: by more with probability at most `miss_rate`.

    It holds for all data. The distance is from the rank asked for to the nearest rank of the point that was drawn. For
    one of k quantiles pass epsilon / k.
    """
    part, spend = _fraction(fraction, "fraction"), checked_rate(epsilon, 1)
    rate = float(spend / spread_of(part) * part.denominator)
    points = grid_of(0, 1, steps).steps
    # At least one point has cost 0, and at most `steps` points cost more.
    return math.ceil(math.log(points / checked_probability(miss_rate, "miss_rate")) / rate * (1 + 1e-12))


@dataclass(frozen=True, slots=True)
class Node:
    """Hold the sorted records strictly between two points drawn before; at first, all of them."""

    low: int
    high: int
    records: NDArray[np.int64]

    def median(self, room: int, epsilon: Fraction, entropy: Entropy) -> int:
        cells = cells_of(self.records, HALF, self.low + room, self.high - room)
        return int(cells.drawn(epsilon, 1, entropy)[0])

    def halves(self, point: int) -> tuple["Node", "Node"]:
        below, upto = np.searchsorted(self.records, [point, point + 1])
        return Node(self.low, point, self.records[:below]), Node(point, self.high, self.records[upto:])


def _cuts(points: list[int], grid: PublicGrid, spend: Fraction, entropy: Entropy) -> Cuts:
    return Cuts(tuple(points), tuple(grid.value(point) for point in points), Epsilon.covering(spend), entropy.stamp)


def _fraction(fraction: Amount, field: str) -> Fraction:
    part = exact_fraction(fraction, field)
    if not 0 <= part <= 1 or part.denominator > _FINEST_FRACTION:
        rule = "it must lie between 0 and 1, in steps no finer than a millionth"
        raise ArgumentError(field, fraction, rule, 'Pass "0.5" for the median')
    return part


def _fractions(fractions: Sequence[Amount]) -> list[Fraction]:
    if isinstance(fractions, str | bytes) or not isinstance(fractions, Sequence | np.ndarray):
        raise ArgumentError("fractions", fractions, "it must be a list of fractions", 'Pass e.g. ["0.25", "0.75"]')
    if not 1 <= len(fractions) <= _MOST_FRACTIONS:
        rule = f"there must be 1 to {_MOST_FRACTIONS:,} of them"
        raise ArgumentError("fractions", f"{len(fractions)} fractions", rule, "Pass fewer, or use recursive_medians")
    parts = [_fraction(fraction, f"fractions[{i}]") for i, fraction in enumerate(fractions)]
    for i in range(1, len(parts)):
        if parts[i] <= parts[i - 1]:
            rule = "each fraction must be larger than the one before it"
            raise ArgumentError(f"fractions[{i}]", fractions[i], rule, "Sort them, and leave out repeats")
    return parts
