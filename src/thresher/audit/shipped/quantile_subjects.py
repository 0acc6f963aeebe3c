"""Try quantiles, medians of medians and the smooth median.

On the hardest neighbours known, one record lowers the cost of nearly all points as far as it can, and raises one.
Reads: entropy. Writes: nothing. Never: sets a charge.
"""

import math
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.laws.noise_laws import cauchy_law
from thresher.audit.subjects import Enumerated, Pair, Promised, Sampled, Subject
from thresher.mechanisms.public_grid import grid_of
from thresher.mechanisms.quantiles import HALF, Node, median, quantile, quantiles, rank_error, recursive_medians
from thresher.mechanisms.rank_costs import Cells, cells_of
from thresher.mechanisms.smooth_median import DEFAULT_SMOOTHING, placed_median, smooth_median
from thresher.noise import Entropy

# With few points, those that show the loss are likely enough for samples; laws can have many points.
_FEW, _MANY = 10, 1000
_SMALL, _DEPTH = 40, 2
_ONE = Fraction(1)
_GRID = grid_of(0, 1)
_MISS_RATE = Fraction(1, 20)

Records = tuple[int, ...]
Data = tuple[int, Records]
Halves = Callable[[Node, int], tuple[Node, Node]]


def subjects() -> tuple[Subject, ...]:
    charge = median((), _GRID, 1).epsilon
    lower, upper, least = Fraction(1, 4), Fraction(9, 10), Fraction(0)
    levels = (
        Pair("one more record at an end", (36,), (0, 36)),
        Pair("one more record in the middle", (1, 18, 22, 38), (1, 18, 20, 22, 38)),
        Pair("no record, and one", (), (20,)),
    )
    two = quantiles((), (lower, HALF), _GRID, 1).epsilon
    law, nine = partial(medians_law, epsilon=_ONE / _DEPTH, halves=Node.halves), "the 90 % quantile, 1,001 points"
    nested, smooth = recursive_medians((), _DEPTH, _GRID, 1).epsilon, smooth_median((), _GRID, 1).epsilon
    return (
        _sampled("median", "exponential mechanism, 11 points", HALF),
        _sampled("quantile", "the 25 % quantile", lower),
        _sampled("least record", "the 0 % quantile", least),
        Sampled(
            "two quantiles", "25 % and 50 %, sorted", two, _hard(lower, _FEW), partial(_drawn, (lower, HALF)), 100_000
        ),
        Enumerated("median, law", "1,001 points", charge, _hard(HALF, _MANY), partial(_law, HALF)),
        Enumerated("quantile, law", nine, _charge(upper), _hard(upper, _MANY), partial(_law, upper)),
        Enumerated("recursive medians, law", "two levels, all outputs on 41 points", nested, levels, law),
        Enumerated("smooth median, law", "1,001 points", smooth, _smooth_pairs(), _smooth_law),
        Promised("median, rank error", "1,001 points", _MISS_RATE, _worst_ranks(), _off_by_more_than_promised),
    )


def _sampled(name: str, about: str, part: Fraction) -> Sampled:
    return Sampled(name, about, _charge(part), _hard(part, _FEW), partial(_drawn, (part,)))


def _charge(part: Fraction) -> Epsilon:
    """Return the cost that the mechanism itself states."""
    return quantile((), part, _GRID, 1).epsilon


def _hard(part: Fraction, steps: int) -> tuple[Pair, ...]:
    """Return hard pairs. In the first, the records at one end are so many that the quantile is one record away."""
    near = min(part, 1 - part)
    heap = (steps - 1,) * (math.ceil((1 - near) / near) if near else 0)
    hardest = heap, (0, *heap)
    if part > HALF:
        hardest = tuple(steps - record for record in heap), tuple(steps - record for record in (0, *heap))
    return (
        Pair("one more record at the far end", *((steps, records) for records in hardest)),
        Pair("no record, and one", (steps, ()), (steps, (steps // 2,))),
        Pair("one more of many equal records", *((steps, (steps // 2,) * many) for many in (7, 8))),
    )


def _cells(data: Data, part: Fraction) -> Cells:
    steps, records = data
    return cells_of(np.array(sorted(records), dtype=np.int64), part, 0, steps)


def _drawn(parts: tuple[Fraction, ...], data: Data, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    share = _ONE / len(parts)
    return np.sort(np.stack([_cells(data, part).drawn(share, runs, entropy) for part in parts], axis=1), axis=1)


def _law(part: Fraction, data: Data) -> Mapping[Hashable, float]:
    return dict(points_law(_cells(data, part), _ONE).items())


def points_law(cells: Cells, epsilon: Fraction) -> dict[int, float]:
    """Return the probability of each point."""
    weights = np.exp(-float(epsilon / cells.spread) * np.repeat(cells.costs, cells.widths))
    return dict(enumerate((weights / weights.sum()).tolist(), start=int(cells.starts[0])))


def medians_law(records: Records, epsilon: Fraction, halves: Halves) -> Mapping[Hashable, float]:
    """Return the law of the three points of two levels, at `epsilon` each, with records divided by `halves`."""
    whole = Node(0, _SMALL, np.array(sorted(records), dtype=np.int64))
    law: dict[Hashable, float] = {}
    for point, mass in _node_law(whole, 2, epsilon).items():
        below, above = (_node_law(half, 1, epsilon) for half in halves(whole, point))
        law |= {(a, point, b): mass * p * q for a, p in below.items() for b, q in above.items()}
    return law


def _node_law(node: Node, room: int, epsilon: Fraction) -> dict[int, float]:
    cells = cells_of(node.records, HALF, node.low + room, node.high - room)
    return points_law(cells, epsilon)


def _smooth_pairs() -> tuple[Pair, ...]:
    # A gap as wide as the smooth sensitivity, which the median crosses when a record comes.
    step = round(_MANY * math.exp(-float(DEFAULT_SMOOTHING) * 5))
    fewer = (0,) * 4 + (step,) * 5
    return (
        Pair("the median crosses a gap as wide as its sensitivity", fewer, (0, *fewer)),
        Pair("no record, and one at the far end", (), (_MANY,)),
        Pair("one more far record", (500, 500, 510), (500, 500, 510, 1000)),
    )


def _smooth_law(records: Records) -> Mapping[Hashable, float]:
    line = np.array(sorted(records), dtype=np.int64)
    centre, scale = placed_median(line, _MANY, _ONE, _ONE * DEFAULT_SMOOTHING)
    return cauchy_law(centre, float(scale), _MANY)


def _worst_ranks() -> tuple[tuple[str, Records], ...]:
    """Put all records on one point, just enough that each other point is off by more than the promise."""
    error = rank_error(HALF, _ONE, _MISS_RATE, steps=_MANY)
    return (("all records on one point", (_MANY // 2,) * (2 * error + 1)),)


def _off_by_more_than_promised(records: Records, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    error, line = rank_error(HALF, _ONE, _MISS_RATE, steps=_MANY), np.array(sorted(records), dtype=np.int64)
    points = _drawn((HALF,), (_MANY, records), runs, entropy)[:, 0]
    below, upto = np.searchsorted(line, points), np.searchsorted(line, points, side="right")
    off = np.maximum(np.maximum(2 * below - line.size, line.size - 2 * upto), 0)
    return np.asarray(off > 2 * error)
