"""From noisy counts to a picture: whole counts of 0 or more, and points drawn from them. Looks at noisy numbers only.

Reads: noisy counts, entropy. Writes: nothing. Never: a record.
"""

import numpy as np
from numpy.typing import NDArray

from thresher.diagnostics.residual_ranges import Span
from thresher.noise import Entropy, choose_many, uniform

# Where a point lies in its cell, in so many steps each way.
_STEPS = 1 << 32


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


def clipped_counts(noisy: NDArray[np.float64]) -> NDArray[np.int64]:
    """As in print: cut off at 0 and rounded. The total grows by what noise has below zero."""
    return np.rint(np.maximum(noisy, 0)).astype(np.int64)


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
