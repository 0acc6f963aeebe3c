"""Decode noisy totals of ordered groups to a count for each group.

Reads: totals that are noisy already, sizes. Writes: nothing. Never: a draw, a true count.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.errors import ArgumentError
from thresher.noise.arguments import checked_integers

Whole = NDArray[np.int64]
_MOST = 2.0**52


def rounded_means(totals: ArrayLike, sizes: ArrayLike) -> Whole:
    """Round the noisy mean of each group to the nearest whole number, halves up: Algorithm 7 as printed."""
    sums, cells = _checked(totals, sizes)
    return (2 * sums + cells) // (2 * cells)


def increasing_wholes(totals: ArrayLike, sizes: ArrayLike) -> Whole:
    """Return the whole numbers a[0] < a[1] < ... nearest to the noisy means, weighted by size squared.

    Groups are ordered by their counts, which are whole and differ, so the true counts are such a row: a large group,
    whose mean has little noise, corrects its neighbours. The noise of a mean is that of a total divided by the size,
    which gives the weights. The row a[i] - i must not decrease, so it is found by pooling adjacent violators. Rounding
    the best row of reals gives a best row of whole numbers, because pooling treats each level by itself. Numbers below
    0 then become 0.
    """
    from scipy.optimize import isotonic_regression  # noqa: PLC0415

    sums, cells = _checked(totals, sizes)
    places = np.arange(cells.size)
    wanted: NDArray[np.float64] = sums / cells - places
    # Relative weights, because squares of large sizes would lose digits.
    weights = (cells / cells.max()) ** 2
    fitted = np.asarray(isotonic_regression(wanted, weights=weights).x, dtype=np.float64)
    nearest: Whole = np.floor(fitted + 0.5).astype(np.int64) + places
    return np.maximum(nearest, 0)


DECODERS: dict[str, Callable[[ArrayLike, ArrayLike], Whole]] = {
    "increasing": increasing_wholes,
    "rounding": rounded_means,
}


def checked_decoder(decoder: str) -> str:
    """Return the name of a decoder, or refuse it if there is none."""
    if decoder not in DECODERS:
        raise ArgumentError("decoder", decoder, "no decoder has this name", f"Pass {' or '.join(DECODERS)}")
    return decoder


def _checked(totals: ArrayLike, sizes: ArrayLike) -> tuple[Whole, Whole]:
    sums, cells = checked_integers(totals, "totals"), checked_integers(sizes, "sizes")
    if sums.ndim != 1 or sums.shape != cells.shape or not sums.size:
        rule = "there must be one total and one size for each group, and one group or more"
        raise ArgumentError("sizes", f"{sums.size} totals, {cells.size} sizes", rule, "Pass lists of the same length")
    if cells.min() < 1 or cells.max() > _MOST or np.abs(sums).max() > _MOST:
        rule = "groups have one cell or more, and totals below 2**52"
        raise ArgumentError("sizes", f"{cells.size} sizes", rule, "Leave empty groups out")
    return np.asarray(sums), np.asarray(cells)
