"""Release a residual plot: residuals against fitted values as a grid of noisy counts, and points drawn from it.

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
    ResidualChoices,
    ResidualOptions,
    ResidualTerms,
    plan_of,
    residual_options,
    rows_share,
)
from thresher.diagnostics.residual_ranges import Column, NarrowedRange, Span, band_of, narrow_range
from thresher.diagnostics.scored_rows import LEAST_ROWS, listed_numbers
from thresher.errors import ArgumentError
from thresher.mechanisms.histograms import noisy_histogram
from thresher.noise import Entropy, choose_many, discrete_laplace, uniform
from thresher.noise.entropy import chosen

Columns = tuple[Column, Column]
# The steps, each way, in which a point lies in its cell.
_STEPS = 1 << 32
_POINTS = "Points are made up from noisy counts; none is a person."
_FAINT = f"Rows times epsilon is below {FAINT}: this picture may show noise and nothing else."
_CAPPED = "No range that was tried seemed to hold the rows, so the widest is shown: pass another unit."


def residual_plot(
    fitted: ArrayLike,
    residuals: ArrayLike,
    epsilon: Amount,
    *,
    entropy: Entropy | None = None,
    **choices: Unpack[ResidualChoices],
) -> ResidualPlot:
    """Release residuals against fitted values.

    rows         the number of rows, if that is public; left out, it is counted with noise for a fiftieth of epsilon
    unit         the finest scale of either axis, 0.001; a smaller one does no harm
    histogram    how counts are made noisy: "laplace", or another of `thresher.mechanisms.histograms.MECHANISMS`
    coverage     the share of rows that a range is meant to hold, 0.95; it sets the numbers of cells and points
    bins         bands a side instead of what `plan_of` says; no more than there are rows
    most_points  the largest number of points drawn, 10,000
    A record with a NaN is left out; an infinite or far one lies outside the ranges, which changes no other record.
    Privacy: epsilon in all, adding or removing one row, if the model is public, or had a budget, or saw other rows.
    Utility: 5,000 rows of a wrong shape or spread are told from right ones at n epsilon = 500 (`residual_plot.md`).
    Runtime: linear in the rows, about that of an ordinary two-dimensional histogram.
    """
    return plotted(fitted, residuals, residual_options(epsilon, **choices), entropy)


def plotted(
    fitted: ArrayLike, residuals: ArrayLike, options: ResidualOptions, entropy: Entropy | None = None
) -> ResidualPlot:
    """Release the plot of a checked request; see `residual_plot`."""
    columns, source = _columns(fitted, residuals), chosen(entropy)
    rows, paid = _rows(columns, options, source)
    terms = plan_of(max(rows, LEAST_ROWS), options.epsilon - paid, options.coverage)
    across, up = (_range(column, terms, options, source) for column in columns)
    terms = terms.after(across.epsilon + up.epsilon)
    spans = across.span, up.span
    bins = terms.bins if options.bins is None else min(options.bins, terms.rows)
    noisy = noisy_histogram(cell_counts(*columns, spans, bins), terms.histogram, options.histogram, source)
    counts = whole_counts(noisy.counts)
    return ResidualPlot(
        epsilon=options.epsilon,
        split={**({"rows": paid} if paid else {}), "ranges": terms.ranges, "histogram": terms.histogram},
        rows=rows,
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
    """Count the records of each cell: residual bands by fitted bands. Records outside either range are in no cell."""
    across, up = band_of(fitted, spans[0], bins), band_of(residuals, spans[1], bins)
    # One more band each way for records outside.
    cells = np.bincount(up * (bins + 1) + across, minlength=(bins + 1) ** 2)
    return np.ascontiguousarray(cells.reshape(bins + 1, bins + 1)[:bins, :bins])


def whole_counts(noisy: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the nearest counts of 0 or more, in least squares, with the noisy total; then round them, with this total.

    To cut off counts below zero would raise the total. Instead all counts are lowered by the same amount, to 0 at
    least. Without noise nothing changes.
    """
    total = max(0, round(float(noisy.sum())))
    if not total:
        return np.zeros(noisy.shape, dtype=np.int64)
    flat = noisy.ravel().astype(np.float64)
    ordered = np.sort(flat)[::-1]
    # The k largest are lowered by the same amount, so that they add up to the total; k is the largest possible.
    dues = (np.cumsum(ordered) - total) / np.arange(1, flat.size + 1)
    due = dues[np.flatnonzero(ordered > dues)[-1]]
    left = np.maximum(flat - due, 0)
    counts: NDArray[np.int64] = np.floor(left).astype(np.int64)
    # Those with the largest remainders are rounded up, so that the total stays.
    lacking = total - int(counts.sum())
    step = 1 if lacking > 0 else -1
    order = np.argsort(-step * (left - counts), kind="stable")
    order = order if step > 0 else order[counts[order] > 0]
    counts[order[: abs(lacking)]] += step
    return np.reshape(counts, noisy.shape)


def drawn_points(
    counts: NDArray[np.int64], spans: tuple[Span, Span], number: int, entropy: Entropy
) -> NDArray[np.float64]:
    """Draw independent points (fitted, residual): a cell by its count, a place in the cell uniformly.

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
        # Rounding may go beyond an end by one float.
        columns.append(np.clip(low + (high - low) * ((band + place) / many), low, high))
    return np.stack(columns, axis=1)


def _rows(columns: Columns, options: ResidualOptions, entropy: Entropy) -> tuple[int, Epsilon]:
    """Return the number of rows, public or noisy, and what it cost."""
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
    """Return both columns without the records that have a NaN. Nothing reveals whether there are any."""
    across, up = listed_numbers(fitted, "fitted"), listed_numbers(residuals, "residuals")
    if across.size != up.size:
        rule = "there must be one residual for each fitted value"
        raise ArgumentError("residuals", "an array of another length", rule, "Pass arrays of the same length")
    whole = ~(np.isnan(across) | np.isnan(up))
    return across[whole], up[whole]
