"""Quantiles broken in four ways: rates twice too high or fit for the median alone, levels and ties counted once.

Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.shipped.quantiles import medians_law, points_law
from thresher.audit.subjects import Enumerated, Pair, Sampled, Subject
from thresher.mechanisms.quantiles import HALF, Node
from thresher.mechanisms.rank_costs import cells_of
from thresher.noise import Entropy

_EPSILON = Epsilon(1)
_STEPS = 10

Records = tuple[int, ...]


def subjects() -> tuple[Subject, ...]:
    spread: Records = (1, 18, 22, 38)
    far, most = _STEPS - 1, 1000
    return (
        Sampled(
            "broken_median_rate",
            "the median at a rate that forgets the sum of all weights",
            _EPSILON,
            (Pair("one more record at the far end", (far,), (0, far)),),
            broken_median_rate,
            20_000,
        ),
        Enumerated(
            "broken_quantile_rate",
            "the 90 % quantile at the rate of the median, by its law",
            _EPSILON,
            (Pair("one more record at the far end", (1,) * 9, (*(1,) * 9, most)),),
            partial(broken_quantile_rate, steps=most),
        ),
        Enumerated(
            "broken_level_budgets",
            "recursive medians with all of epsilon at each of two levels, by their law",
            _EPSILON,
            (Pair("one more record at an end", (36,), (0, 36)),),
            broken_level_budgets,
        ),
        Enumerated(
            "broken_halves",
            "recursive medians that keep ties on both sides, by their law",
            _EPSILON,
            (Pair("one more record in the middle", spread, (*spread, 20)),),
            broken_halves,
        ),
    )


def broken_median_rate(records: Records, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """What is wrong: one record moves the weight of a point, and the sum of all weights the other way."""
    cells = cells_of(np.array(sorted(records)), HALF, 0, _STEPS)
    return replace(cells, spread=1).drawn(_EPSILON.fraction, runs, entropy)


def broken_quantile_rate(records: Records, steps: int) -> Mapping[Hashable, float]:
    """What is wrong: costs move by max(q, 1 - q) of a record, which is one half for the median only."""
    part = Fraction(9, 10)
    cells = replace(cells_of(np.array(sorted(records)), part, 0, steps), spread=part.denominator)
    return dict(points_law(cells, _EPSILON.fraction).items())


def broken_level_budgets(records: Records) -> Mapping[Hashable, float]:
    """What is wrong: a record is seen once at every level, so that levels add up."""
    return medians_law(records, _EPSILON.fraction, Node.halves)


def broken_halves(records: Records) -> Mapping[Hashable, float]:
    """What is wrong: a record on the point found is seen by two medians of the next level."""
    return medians_law(records, _EPSILON.fraction / 2, _ties_on_both_sides)


def _ties_on_both_sides(node: Node, point: int) -> tuple[Node, Node]:
    first, last = np.searchsorted(node.records, [point, point + 1])
    return Node(node.low, point, node.records[:last]), Node(point, node.high, node.records[first:])
