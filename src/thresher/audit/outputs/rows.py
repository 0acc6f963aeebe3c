"""Numbers of an output as one row, of bounded length however many there are.

Reads: numbers. Writes: nothing. Never: a warning, whatever the numbers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_COLUMNS = 512
# Numbers beyond it count as that large: sums over a row stay finite.
LARGEST = 1e300
_BLOCKS = 128


def as_float(number: Any) -> float:
    """The nearest float; a number too large for it is as large as can be."""
    try:
        return float(number)
    except OverflowError:
        return LARGEST if number > 0 else -LARGEST
    except ValueError:
        return float("nan")


def plain_row(items: list[Any] | tuple[Any, ...]) -> NDArray[Any] | None:
    """A long row of numbers at once: one by one it would take long."""
    kind = type(items[0]) if len(items) > 64 else None
    if kind not in (int, float) or any(type(item) is not kind for item in items):
        return None
    try:
        return np.array(items, dtype=np.int64 if kind is int else np.float64)
    except OverflowError:
        return None


def whole_or_float(row: NDArray[Any]) -> NDArray[Any]:
    """A row of numbers of any type as int64 if they fit, as float64 otherwise; NaN has one form."""
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
    """Whether some of these whole numbers have no float of their own."""
    return bool((np.abs(row.astype(np.float64)) > 2.0**53).any())


def shortened(row: NDArray[Any]) -> NDArray[Any]:
    """A long row in short: its first columns, then `_BLOCKS` sums of the rest, and some figures of it.

    The figures are the extremes, how many are not zero, and how many are infinite or no number. Each is a function of
    the row; whole sums that overflow come round and are so, too.
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
