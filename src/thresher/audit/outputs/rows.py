"""Put the numbers of an output into one row of limited length.

Reads: numbers. Writes: nothing. Never: a warning, whatever the numbers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_COLUMNS = 512
# Larger numbers are limited to this, so that sums over a row stay finite.
LARGEST = 1e300
_BLOCKS = 128


def as_float(number: Any) -> float:
    """Return the nearest float, limited to 1e300 if the number is larger than all floats."""
    try:
        return float(number)
    except OverflowError:
        return LARGEST if number > 0 else -LARGEST
    except ValueError:
        return float("nan")


def plain_row(items: list[Any] | tuple[Any, ...]) -> NDArray[Any] | None:
    """Return a long list of numbers as an array, because one by one takes long; None for any other list."""
    kind = type(items[0]) if len(items) > 64 else None
    if kind not in (int, float) or any(type(item) is not kind for item in items):
        return None
    try:
        return np.array(items, dtype=np.int64 if kind is int else np.float64)
    except OverflowError:
        return None


def whole_or_float(row: NDArray[Any]) -> NDArray[Any]:
    """Return a row of numbers as int64 if they fit, otherwise as float64 with one form of NaN."""
    kind = row.dtype.kind
    if kind == "c":
        row = np.stack([row.real, row.imag], axis=-1).ravel()
    if kind in "mM":
        return row.astype(np.int64)
    if kind in "bi" or (kind == "u" and not (row > np.iinfo(np.int64).max).any()):
        return row.astype(np.int64)
    with np.errstate(over="ignore", invalid="ignore"):
        floats = row.astype(np.float64)
    return np.where(np.isnan(floats), np.nan, floats)


def beyond_float(row: NDArray[Any]) -> bool:
    """Say whether some of these whole numbers are too large for exact floats."""
    return bool((np.abs(row.astype(np.float64)) > 2.0**53).any())


def shortened(row: NDArray[Any]) -> NDArray[Any]:
    """Shorten a long row to its first columns, `_BLOCKS` sums of the rest, and four figures of the rest.

    The figures are the extremes, how many are not zero, and how many are infinite or NaN. Each is a function of the
    row, also a sum of whole numbers that wraps around.
    """
    if row.size <= MOST_COLUMNS:
        return row
    rest = row[MOST_COLUMNS:]
    finite = np.isfinite(rest)
    numbers = np.clip(np.where(finite, rest, 0), -LARGEST, LARGEST) if rest.dtype.kind == "f" else rest
    starts = np.unique(np.linspace(0, rest.size, _BLOCKS, endpoint=False).astype(np.int64))
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.add.reduceat(numbers, starts)
    figures = numbers.max(), numbers.min(), np.count_nonzero(numbers), rest.size - np.count_nonzero(finite)
    return np.concatenate([row[:MOST_COLUMNS], sums, np.array(figures, dtype=row.dtype)])
