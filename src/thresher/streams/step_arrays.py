"""Steps by series, as all parts of a stream take them: an array of whole numbers, (steps, series).

An array is refused by its type and shape, which are public, and never by an element. A list has no type of its own:
each of its elements is read by itself, and what is no number counts as 0.
Reads: arrays. Writes: nothing. Never: an element of an array in an error text; a refusal that depends on one.
"""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import whole_number
from thresher.errors import ArgumentError

# The longest group that is kept.
MOST_LONGEST = 100_000
_MOST_SERIES = 10**7
_FAR = 1 << 62
_ARRAY = "Pass an int64 array of steps by series"


def checked_series(series: int) -> int:
    count = whole_number(series, "series")
    if not 1 <= count <= _MOST_SERIES:
        raise ArgumentError(
            "series", series, f"it must lie between 1 and {_MOST_SERIES}", "Pass how many run side by side"
        )
    return count


def checked_longest(longest: int) -> int:
    count = whole_number(longest, "longest")
    if not 1 <= count <= MOST_LONGEST:
        raise ArgumentError("longest", longest, f"it must lie between 1 and {MOST_LONGEST}", f"Pass {MOST_LONGEST}")
    return count


def whole_steps(values: Any, series: int | None, field: str) -> NDArray[np.int64]:
    """Whole numbers, (steps, series); one list of steps is one series. `series`: how many there must be, if known."""
    array = values if isinstance(values, np.ndarray) else _read_one_by_one(values, field)
    if array.dtype.kind not in "iu" or isinstance(values, np.ma.MaskedArray):
        raise ArgumentError(field, array.dtype.name, "its elements must be whole numbers", _ARRAY)
    shaped = shaped_steps(array, series, field)
    if array.dtype == np.uint64:
        shaped = np.minimum(shaped, np.uint64(_FAR))
    # In one order of memory: a compiled loop is compiled for each.
    return shaped.astype(np.int64, order="C")


def shaped_steps(array: NDArray[Any], series: int | None, field: str) -> NDArray[Any]:
    """As (steps, series), without a copy."""
    shaped = array[:, None] if array.ndim == 1 else array
    if shaped.ndim != 2 or not shaped.shape[1] or (series is not None and shaped.shape[1] != series):
        expected = "steps by series" if series is None else f"steps by {series} series"
        raise ArgumentError(field, f"an array of shape {array.shape}", f"it must be {expected}", _ARRAY)
    return shaped


def _read_one_by_one(values: Any, field: str) -> NDArray[np.int64]:
    """A list, or a list of lists of one length."""
    if not isinstance(values, list | tuple):
        raise ArgumentError(field, type(values).__name__, "it must be an array or a list", _ARRAY)
    rows = [row if isinstance(row, list | tuple) else None for row in values]
    if all(row is None for row in rows):
        return np.array([_whole(value) for value in values], dtype=np.int64)
    lengths = {-1 if row is None else len(row) for row in rows}
    if len(lengths) != 1:
        raise ArgumentError(field, "lists of several lengths", "every step must have one count a series", _ARRAY)
    return np.array([[_whole(value) for value in row or ()] for row in rows], dtype=np.int64)


def _whole(value: object) -> int:
    """A number rounded down and cut off at 2**62; what is no number is 0, as if nobody had been counted."""
    if isinstance(value, int | np.integer):
        return min(max(int(value), -_FAR), _FAR)
    if not isinstance(value, float | np.floating | Fraction | Decimal) or value != value:  # noqa: PLR0124 - NaN
        return 0
    return math.floor(min(max(value, -_FAR), _FAR))
