"""Try residual plots and binned residuals: ranges and merged bins by their laws, whole plots by samples.

Reads: entropy. Writes: nothing. Never: sets a charge.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.laws.comparison_laws import Noise, one_sided, transcript_law
from thresher.audit.laws.noise_laws import laplace_chance
from thresher.audit.subjects import Enumerated, Pair, Promised, Sampled, Subject
from thresher.diagnostics.bin_measures import BinTotals, noisy_totals, totals_of
from thresher.diagnostics.bin_merging import SMALL_BIN_RATE, closing_runs, merge_terms
from thresher.diagnostics.binned_residuals import binned_residual_plot, binned_terms
from thresher.diagnostics.residual_options import ResidualOptions, residual_options
from thresher.diagnostics.residual_plot import plotted
from thresher.diagnostics.residual_ranges import Column, Looks, Span, band_counts, best_stretch, span_of_bands
from thresher.diagnostics.scored_rows import STEPS, scored_rows
from thresher.noise import Entropy

# Three bands and large epsilons, so that nearly all noisy counts of few records lie in the ranges below.
LOOKS = Looks(3, Epsilon(3), 0.5, 2, 3)
TOTAL = Epsilon(9)
_SPAN: Span = (0.0, 9.0)
_NEAR, _WIDE = range(-5, 10), range(-12, 20)
_ONE, _EPSILON = Epsilon(1), Epsilon(4)
_CUTOFF = 6
# The top one of 64 bins, where the printed sums leak most.
_CUTS = np.array([0, STEPS // 64 * 63, STEPS], dtype=np.int64)
_SMALL_BINS, _LEAST = 8, 4
LAW_PAIRS = (
    Pair("one more record where the range ends up", (4.0, 4.5, 4.5), (4.0, 4.5, 4.5, 4.5)),
    Pair("no record, and one", (), (1.0,)),
    Pair("one more record outside the range", (4.5, 4.5), (4.5, 4.5, 8.5)),
)

Records = tuple[float, ...]
Rows = tuple[tuple[float, float], ...]
# Label and score of each row.
Labelled = tuple[tuple[int, float], ...]
Rest = Callable[[int], Epsilon]


def subjects() -> tuple[Subject, ...]:
    return (*_residual_plot(), *_binned_residuals())


def _residual_plot() -> tuple[Subject, ...]:
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


def _binned_residuals() -> tuple[Subject, ...]:
    terms, few = binned_terms(_ONE, rows_public=True), ((1, 0.99), (0, 0.985), (1, 0.999), (0, 0.2))
    records = (
        Pair("one more record at the upper end", few, (*few, (1, 1.0))),
        Pair("one more record at a cut", few, (*few, (0, 63 / 64))),
        Pair("no record, and one", (), ((1, 1.0),)),
    )
    sizes = (
        Pair("a record more in the first bin", (3, 4, 1, 9), (4, 4, 1, 9)),
        Pair("a record more in the second bin", (5, 0, 6, 0), (5, 1, 6, 0)),
        Pair("a record more in the last bin", (3, 4, 1, 4), (3, 4, 1, 5)),
        Pair("no record, and one", (0, 0, 0, 0), (0, 0, 1, 0)),
    )
    small = (
        ("all bins empty", (0,) * _SMALL_BINS),
        ("one record short in the first bin", (_LEAST - 1, *(0,) * (_SMALL_BINS - 1))),
    )
    totals, wanted = Epsilon.covering(terms.labels + terms.predictions), "eight bins, four records wanted"
    narrow = "two bins, the narrow one as printed sums leak in"
    return (
        Enumerated("bin merging, law", "four bins, cutoff 6", _ONE, sizes, _merging_law),
        Sampled("binned residuals, totals", narrow, totals, records, _totals, 100_000),
        Sampled("binned residual plot", "two bins, all three steps", _ONE, records[:1], _plots, 1_500),
        Promised("bin merging, small bins", wanted, SMALL_BIN_RATE, small, _closed_too_small),
    )


def _runs(options: ResidualOptions, rows: Rows, runs: int, entropy: Entropy) -> NDArray[np.float64]:
    """Return all that is released except the points, which are drawn from it."""
    fitted, residuals = np.array(rows, dtype=np.float64).reshape(-1, 2).T
    released = []
    for _ in range(runs):
        plot = plotted(fitted, residuals, options, entropy)
        parts = [each.nano for each in plot.split.values()]
        released.append([plot.rows, *plot.fitted_range, *plot.residual_range, *parts, *plot.counts.ravel()])
    return np.array(released, dtype=np.float64)


def looks_law(records: Records, rest: Rest) -> Mapping[Hashable, float]:
    """Return P[range, looks, noisy count inside]. The count has the epsilon `rest(looks)`."""
    column, law = np.array(records, dtype=np.float64), dict[Hashable, float]()
    for (span, done), chance in range_law(LOOKS, column, _SPAN).items():
        rate = float(rest(done).fraction)
        inside = int(band_counts(column, span, 1)[0])
        for value in _WIDE:
            law[span, done, value] = chance * laplace_chance(rate, value - inside)
    return law


def range_law(looks: Looks, records: Column, span: Span, done: int = 0) -> dict[tuple[Span, int], float]:
    """Return P[final range, looks taken], by the code's own rule for the bands to keep."""
    law: dict[tuple[Span, int], float] = {}
    rate, exact = float(looks.epsilon.fraction), band_counts(records, span, looks.bands)
    kept: dict[tuple[int, int], float] = {}
    for noisy in product(_NEAR, repeat=looks.bands):
        stretch = best_stretch(np.array(noisy), looks.price)
        chance = laplace_chance(rate, *(np.array(noisy) - exact).tolist())
        kept[stretch] = kept.get(stretch, 0.0) + chance
    for (first, last), chance in kept.items():
        inner, seen = span_of_bands(span, first, last, looks.bands), done + 1
        ended = (last - first) * looks.short > looks.bands or seen == looks.most
        after = {(inner, seen): 1.0} if ended else range_law(looks, records, inner, seen)
        for outcome, further in after.items():
            law[outcome] = law.get(outcome, 0.0) + chance * further
    return law


def closings_law(
    sizes: Sequence[int], cutoff: int, threshold: Noise, query: Noise
) -> dict[tuple[tuple[int, ...], bool], float]:
    """Return the probability of each list of ends of merged bins, and of whether bins are left over."""
    law: dict[tuple[tuple[int, ...], bool], float] = {}

    def spread(places: tuple[int, ...], mass: float) -> None:
        start = places[-1] if places else 0
        if start == len(sizes):
            law[places, False] = mass
            return
        margins = np.cumsum(sizes[start:]) - cutoff
        for row, chance in transcript_law(margins.tolist(), 1, threshold, query).items():
            if row[-1]:
                spread((*places, start + len(row)), mass * chance)
            else:
                law[places, True] = mass * chance

    spread((), 1.0)
    return law


def _merging_law(sizes: tuple[int, ...]) -> Mapping[Hashable, float]:
    noise = one_sided(float(_ONE.fraction))
    return dict(closings_law(sizes, _CUTOFF, noise, noise).items())


def _totals(records: Labelled, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    terms = binned_terms(_ONE, rows_public=True)
    labels, scores = (
        (np.array(column, dtype=np.float64) for column in zip(*records, strict=True)) if records else ((), ())
    )
    exact = totals_of(scored_rows(labels, scores), _CUTS)
    many = BinTotals(*(np.tile(each, runs) for each in (exact.positives, exact.negatives, exact.offsets)))
    noisy = noisy_totals(many, terms.labels, terms.predictions, entropy=entropy)
    columns = [each.reshape(runs, -1) for each in (noisy.positives, noisy.negatives, noisy.offsets)]
    return np.concatenate(columns, axis=1)


def _plots(records: Labelled, runs: int, entropy: Entropy) -> NDArray[np.float64]:
    labels, scores = zip(*records, strict=True)
    plots = np.zeros((runs, 8))
    for row in plots:
        release = binned_residual_plot(labels, scores, _ONE, depth=1, rows=4, entropy=entropy)
        bins = release.counts.size
        row[0], row[1] = bins, release.edges[1]
        for place, numbers in ((2, release.counts), (4, release.predicted), (6, release.residual)):
            row[place : place + bins] = numbers
    return plots


def _closed_too_small(sizes: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Say whether the first merged bin, if there is one, has fewer records than wanted."""
    terms = merge_terms(_SMALL_BINS, Fraction(1, 2), _LEAST)
    closed = closing_runs(np.array(sizes, dtype=np.int64), terms, runs, entropy)
    size = np.cumsum(sizes)[closed.argmax(axis=1)]
    return np.asarray(closed.any(axis=1) & (size < _LEAST))
