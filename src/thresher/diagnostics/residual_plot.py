"""A private residual plot: residuals against fitted values as a grid of noisy counts, and points drawn from it.

Reads: arrays, entropy. Writes: nothing. Never: a range, a number of rows or a cell that is not public or paid for.
Proof: `residual_plot.md`. Citation: Chen, dissertation 2018, Algorithms 9 and 10 (PriRP).
"""

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon
from thresher.diagnostics.releases import MODEL_CAVEAT, ResidualPlot
from thresher.diagnostics.residual_options import (
    FAINT,
    LEAST_ROWS,
    ResidualChoices,
    ResidualOptions,
    ResidualTerms,
    plan_of,
    residual_options,
    rows_share,
)
from thresher.diagnostics.residual_ranges import Column, NarrowedRange, Span, band_of, narrow_range
from thresher.diagnostics.scored_rows import listed_numbers
from thresher.errors import ArgumentError
from thresher.mechanisms.histograms import noisy_histogram
from thresher.noise import Entropy, choose_many, discrete_laplace, uniform
from thresher.noise.entropy import chosen

Columns = tuple[Column, Column]
# Where a point lies in its cell, in so many steps each way.
_STEPS = 1 << 32
_POINTS = "Points are made up from noisy counts; none is a person."
_FAINT = f"Rows times epsilon is below {FAINT}: what is seen here may be noise."
_CAPPED = "No bound that was tried seemed to hold the rows, so a range is the widest there is: declare another unit."


def residual_plot(
    fitted: ArrayLike,
    residuals: ArrayLike,
    epsilon: Amount,
    *,
    entropy: Entropy | None = None,
    **choices: Unpack[ResidualChoices],
) -> ResidualPlot:
    """Residuals against fitted values.

    rows         their number, if that is public; left out, it is private: a noisy one is bought for a fiftieth
    unit         the least scale of either axis that is looked for, 0.001; too small does no harm
    histogram    how counts are made noisy: "laplace", or another of `thresher.mechanisms.histograms.MECHANISMS`
    coverage     the share of rows that a range is to hold, 0.95: sets cells and points
    bins         bands a side instead of what `plan_of` says; no more than there are rows
    most_points  no more points than this are drawn: 10,000
    A record with a NaN is left out, an infinite or far one lies outside the ranges: each concerns itself alone.
    Privacy: epsilon in all, adding or removing one row, if the model is public, or had a budget of its own, or saw
    other rows.
    Utility: 5,000 rows of a wrong shape or spread are told from right ones at n epsilon = 500 (`residual_plot.md`).
    Runtime: linear in the rows, about that of an ordinary two-dimensional histogram.
    """
    return plotted(fitted, residuals, residual_options(epsilon, **choices), entropy)


def plotted(
    fitted: ArrayLike, residuals: ArrayLike, options: ResidualOptions, entropy: Entropy | None = None
) -> ResidualPlot:
    """`residual_plot` for a request that was checked before."""
    columns, source = _columns(fitted, residuals), chosen(entropy)
    seen, paid = _rows(columns, options, source)
    terms = plan_of(max(seen, LEAST_ROWS), options.epsilon - paid, options.coverage)
    across, up = (_range(column, terms, options, source) for column in columns)
    terms = terms.after(across.epsilon + up.epsilon)
    spans = across.span, up.span
    bins = terms.bins if options.bins is None else min(options.bins, terms.rows)
    noisy = noisy_histogram(cell_counts(*columns, spans, bins), terms.histogram, options.histogram, source)
    counts = whole_counts(noisy.counts)
    return ResidualPlot(
        epsilon=options.epsilon,
        split={**({"rows": paid} if paid else {}), "ranges": terms.ranges, "histogram": terms.histogram},
        rows=seen,
        rows_public=options.rows is not None,
        caveats=_caveats(terms, options, capped=across.capped or up.capped),
        stamp=source.stamp,
        fitted_range=spans[0],
        residual_range=spans[1],
        counts=counts,
        points=drawn_points(counts, spans, min(terms.points, options.most_points), source),
        histogram=options.histogram,
    )


def cell_counts(fitted: Column, residuals: Column, spans: tuple[Span, Span], bins: int) -> NDArray[np.int64]:
    """How many records lie in each cell: residual bands by fitted bands. Records outside either range are in none."""
    across, up = band_of(fitted, spans[0], bins), band_of(residuals, spans[1], bins)
    # One band more each way for those outside.
    cells = np.bincount(up * (bins + 1) + across, minlength=(bins + 1) ** 2)
    return np.ascontiguousarray(cells.reshape(bins + 1, bins + 1)[:bins, :bins])


def whole_counts(noisy: NDArray[np.float64]) -> NDArray[np.int64]:
    """The nearest counts of 0 or more, in least squares, that add up to the noisy total; then made whole, total kept.

    Counts below zero are not only cut off, which would add to the total all that noise has: everybody pays for them
    by the same amount. Without noise it gives back what it is given.
    """
    total = max(0, round(float(noisy.sum())))
    if not total:
        return np.zeros(noisy.shape, dtype=np.int64)
    flat = noisy.ravel().astype(np.float64)
    ordered = np.sort(flat)[::-1]
    # All above the k-th largest pay the same, so that what is left of the first k is the total; k is the last that can.
    dues = (np.cumsum(ordered) - total) / np.arange(1, flat.size + 1)
    due = dues[np.flatnonzero(ordered > dues)[-1]]
    left = np.maximum(flat - due, 0)
    counts: NDArray[np.int64] = np.floor(left).astype(np.int64)
    # One more for those with the largest rests: so many that the total is kept.
    lacking = total - int(counts.sum())
    step = 1 if lacking > 0 else -1
    order = np.argsort(-step * (left - counts), kind="stable")
    order = order if step > 0 else order[counts[order] > 0]
    counts[order[: abs(lacking)]] += step
    return np.reshape(counts, noisy.shape)


def drawn_points(
    counts: NDArray[np.int64], spans: tuple[Span, Span], number: int, entropy: Entropy
) -> NDArray[np.float64]:
    """So many independent points (fitted, residual): a cell by its count, a place in the cell uniformly.

    `spans` are those of fitted values and of residuals, counts as in `ResidualPlot`. No points if all counts are 0.
    """
    bands = counts.shape[::-1]
    if not counts.any() or not number:
        return np.empty((0, 2))
    cells = choose_many(np.zeros(counts.size, dtype=np.int64), 1, counts.ravel(), number, entropy).view(np.ndarray)
    columns = []
    for band, span, many in zip((cells % bands[0], cells // bands[0]), spans, bands, strict=True):
        low, high = span
        place = uniform(np.full(number, _STEPS), entropy).view(np.ndarray) / _STEPS
        # Rounding may reach beyond an end by one float.
        columns.append(np.clip(low + (high - low) * ((band + place) / many), low, high))
    return np.stack(columns, axis=1)


def _rows(columns: Columns, options: ResidualOptions, entropy: Entropy) -> tuple[int, Epsilon]:
    """The number of rows as far as it may be known, and what that cost."""
    if options.rows is not None:
        return options.rows, Epsilon.from_nano(0)
    paid = rows_share(options.epsilon)
    return max(0, columns[0].size + int(discrete_laplace(paid, 1, entropy=entropy)[0])), paid


def _range(column: Column, terms: ResidualTerms, options: ResidualOptions, entropy: Entropy) -> NarrowedRange:
    share = Epsilon.from_nano(terms.ranges.nano // 2)
    return narrow_range(column, options.unit, share, terms.rows, options.rows, entropy)


def _caveats(terms: ResidualTerms, options: ResidualOptions, *, capped: bool) -> tuple[str, ...]:
    faint = terms.rows * options.epsilon.fraction < FAINT
    return (MODEL_CAVEAT, _POINTS, *([_FAINT] if faint else []), *([_CAPPED] if capped else []))


def _columns(fitted: ArrayLike, residuals: ArrayLike) -> Columns:
    """Both, without the records that have a NaN. That there are any, or how many, is told by nothing."""
    across, up = listed_numbers(fitted, "fitted"), listed_numbers(residuals, "residuals")
    if across.size != up.size:
        rule = "there must be one residual for each fitted value"
        raise ArgumentError("residuals", "an array of another length", rule, "Pass arrays of the same length")
    kept = ~(np.isnan(across) | np.isnan(up))
    return (across, up) if kept.all() else (across[kept], up[kept])
