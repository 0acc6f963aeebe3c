"""Break quantiles in five ways: wrong rates, levels and ties charged once, the smooth median's printed constants.

Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.laws.noise_laws import cauchy_cells
from thresher.audit.mutants import ONE, by_law, by_samples
from thresher.audit.shipped.quantile_subjects import medians_law, points_law
from thresher.audit.subjects import Pair, Subject
from thresher.mechanisms.quantiles import HALF, Node
from thresher.mechanisms.rank_costs import cells_of
from thresher.mechanisms.smooth_median import smooth_sensitivity
from thresher.noise import Entropy

_STEPS, _MOST = 10, 1000
_TENTH = Epsilon("0.1")
_CELLS, _LOT = 4000, 110

Records = tuple[int, ...]


def subjects() -> tuple[Subject, ...]:
    spread: Records = (1, 18, 22, 38)
    far = Pair("one more record at the far end", (_STEPS - 1,), (0, _STEPS - 1))
    farther = Pair("one more record at the far end", (1,) * 9, (*(1,) * 9, _MOST))
    middle = Pair("one more record in the middle", spread, (*spread, 20))
    # The gap is as wide as the smooth sensitivity of the larger data: the median moves by all of it.
    fewer = (0.0,) * _LOT + (math.exp(-float(_TENTH) * (_LOT + 1)),) * (_LOT + 1)
    gap = Pair("the median crosses a gap as wide as its sensitivity", fewer, (0.0, *fewer))
    return (
        by_samples(broken_median_rate, far),
        by_law(broken_quantile_rate, farther),
        by_law(broken_level_budgets, Pair("one more record at an end", (36,), (0, 36))),
        by_law(broken_halves, middle),
        by_law(broken_smooth_median_constants, gap, charged=_TENTH),
    )


def broken_median_rate(records: Records, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Forget that one record moves the weight of a point one way and the sum of all weights the other way."""
    cells = cells_of(np.array(sorted(records)), HALF, 0, _STEPS)
    return replace(cells, spread=1).drawn(ONE.fraction, runs, entropy)


def broken_quantile_rate(records: Records) -> Mapping[Hashable, float]:
    """Use the median's rate: costs move by max(q, 1 - q) of a record, which is one half for the median only."""
    part = Fraction(9, 10)
    cells = replace(cells_of(np.array(sorted(records)), part, 0, _MOST), spread=part.denominator)
    return dict(points_law(cells, ONE.fraction).items())


def broken_level_budgets(records: Records) -> Mapping[Hashable, float]:
    """Spend all of epsilon at each level, although a record is in one median of each."""
    return medians_law(records, ONE.fraction, Node.halves)


def broken_halves(records: Records) -> Mapping[Hashable, float]:
    """Keep records that lie on a median in both halves, so that two medians of the next level use them."""
    return medians_law(records, ONE.fraction / 2, _ties_on_both_sides)


def broken_smooth_median_constants(records: tuple[float, ...]) -> Mapping[Hashable, float]:
    """Use the printed constants of the smooth median. This is its law, in cells of [0, 1] and outside.

    Noise of 8 / epsilon sensitivities, smoothed with all of epsilon, leaves no room for the move of the
    median itself. It loses up to 0.78 % more than epsilon: too little for samples, but the law shows it.
    """
    line, epsilon = sorted(records), float(_TENTH)
    centre, scale = line[(len(line) + 1) // 2 - 1], 8 / epsilon * smooth_sensitivity(line, 0, 1, epsilon)
    below, *inside, above = cauchy_cells((np.linspace(0, 1, _CELLS + 1) - centre) / scale)
    return {"outside": below + above, **dict(enumerate(map(float, inside)))}


def _ties_on_both_sides(node: Node, point: int) -> tuple[Node, Node]:
    first, last = np.searchsorted(node.records, [point, point + 1])
    return Node(node.low, point, node.records[:last]), Node(point, node.high, node.records[first:])
