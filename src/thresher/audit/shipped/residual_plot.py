"""Residual plots on trial: the whole of it by samples, and by its law what depends on how often a range is looked at.

Reads: entropy. Writes: nothing. Never: a claim of its own.
"""

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from itertools import product
from math import exp, prod

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.subjects import Enumerated, Pair, Sampled, Subject
from thresher.diagnostics.residual_options import ResidualOptions, residual_options
from thresher.diagnostics.residual_plot import plotted
from thresher.diagnostics.residual_ranges import Column, Looks, Span, band_counts, best_stretch, between
from thresher.noise import Entropy

# Three bands and large epsilons, so that these numbers are nearly all that noise makes of few records.
LOOKS = Looks(3, Epsilon(3), 0.5, 2, 3)
TOTAL = Epsilon(9)
_SPAN: Span = (0.0, 9.0)
_NEAR, _WIDE = range(-5, 10), range(-12, 20)
_EPSILON = Epsilon(4)

Records = tuple[float, ...]
Rows = tuple[tuple[float, float], ...]
Rest = Callable[[int], Epsilon]


def subjects() -> tuple[Subject, ...]:
    flat = tuple((float(i), (-1.0) ** i) for i in range(8))
    pairs = (
        Pair("one more row outside all others", flat, (*flat, (500.0, -300.0))),
        Pair("one more of equal rows", ((2.0, 0.0),) * 6, ((2.0, 0.0),) * 7),
    )
    shown = residual_options(_EPSILON, bins=2, most_points=0)
    law = partial(looks_law, rest=lambda done: TOTAL - LOOKS.epsilon * done)
    return (
        Sampled("residual plot", "rows, ranges and four cells", _EPSILON, pairs, partial(_runs, shown), 180),
        Enumerated("residual ranges, law", "looks, and a count with the rest", TOTAL, LAW_PAIRS, law, 1e-6),
    )


LAW_PAIRS = (
    Pair("one more record where the range ends up", (4.0, 4.5, 4.5), (4.0, 4.5, 4.5, 4.5)),
    Pair("no record, and one", (), (1.0,)),
    Pair("one more record outside the range", (4.5, 4.5), (4.5, 4.5, 8.5)),
)


def _runs(options: ResidualOptions, rows: Rows, runs: int, entropy: Entropy) -> NDArray[np.float64]:
    """All that is released but the points, which are drawn from it."""
    fitted, residuals = np.array(rows, dtype=np.float64).reshape(-1, 2).T
    released = []
    for _ in range(runs):
        plot = plotted(fitted, residuals, options, entropy)
        parts = [each.nano for each in plot.split.values()]
        released.append([plot.rows, *plot.fitted_range, *plot.residual_range, *parts, *plot.counts.ravel()])
    return np.array(released, dtype=np.float64)


def looks_law(records: Records, rest: Rest) -> Mapping[Hashable, float]:
    """P[range, looks, noisy count inside]: the count has what is left after so many looks."""
    column, law = np.array(records, dtype=np.float64), dict[Hashable, float]()
    for (span, done), chance in range_law(LOOKS, column, _SPAN).items():
        rate = float(rest(done).fraction)
        inside = int(band_counts(column, span, 1)[0])
        for value in _WIDE:
            law[span, done, value] = chance * _chance(rate, value - inside)
    return law


def range_law(looks: Looks, records: Column, span: Span, done: int = 0) -> dict[tuple[Span, int], float]:
    """P[range in the end, looks taken], by the code's own rules for what is kept of noisy counts."""
    law: dict[tuple[Span, int], float] = {}
    rate, exact = float(looks.epsilon.fraction), band_counts(records, span, looks.bands)
    kept: dict[tuple[int, int], float] = {}
    for noisy in product(_NEAR, repeat=looks.bands):
        stretch = best_stretch(np.array(noisy), looks.price)
        chances = [_chance(rate, each - count) for each, count in zip(noisy, exact.tolist(), strict=True)]
        kept[stretch] = kept.get(stretch, 0.0) + prod(chances)
    for (first, last), chance in kept.items():
        inner, seen = between(span, first, last, looks.bands), done + 1
        ended = (last - first) * looks.short > looks.bands or seen == looks.most
        after = {(inner, seen): 1.0} if ended else range_law(looks, records, inner, seen)
        for outcome, further in after.items():
            law[outcome] = law.get(outcome, 0.0) + chance * further
    return law


def _chance(rate: float, noise: int) -> float:
    p = exp(-rate)
    return float((1 - p) / (1 + p) * p ** abs(noise))
