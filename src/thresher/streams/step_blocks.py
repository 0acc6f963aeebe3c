"""Blocks of steps, checked: T steps by S series.

Reads: arrays. Writes: nothing. Never: an element of an array in an error text; a refusal that depends on one.
"""

from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import whole_number
from thresher.errors import ArgumentError
from thresher.streams.step_release import JOINS

Reals = NDArray[np.float64]
Numbers = NDArray[np.int64] | NDArray[np.float64]
# A count beyond this is cut off here, so that sums over any window still fit; counts one apart stay so or meet.
MOST_COUNT = 1 << 40
_MOST_SERIES = 1 << 24
# Far above any epsilon in nano; sums of so many stay exact.
_MOST_WEIGHT = 1 << 40
_ARRAY = "Pass an int64 array of steps by series"


def block_of(values: ArrayLike, field: str, series: int | None = None) -> NDArray[np.int64]:
    """A block of steps, one row each, cut off at 2**40 on either side. One list of steps is one series.

    Types and shapes are public, and so is the type of each element of a list; what it holds decides nothing.
    """
    array = _whole(values, field)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ArgumentError(field, f"{array.ndim} dimensions", "it must be steps by series", _ARRAY)
    if series is not None and array.shape[1] != series:
        raise ArgumentError(field, f"{array.shape[1]} series", f"there are {series}, in declared order", _ARRAY)
    block: NDArray[np.int64] = np.clip(array, -MOST_COUNT, MOST_COUNT).astype(np.int64)
    return block


def values_of(values: ArrayLike, field: str, series: int) -> NDArray[np.float64]:
    """A block of released values, whole or not."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise ArgumentError(field, array.dtype.name, "it must be numbers", "Pass a float64 array of steps by series")
    block = array[:, None] if array.ndim == 1 else array
    if block.ndim != 2 or block.shape[1] != series:
        rule = f"it must be steps by {series} series"
        raise ArgumentError(field, f"shape {array.shape}", rule, "Pass a float64 array of steps by series")
    return block.astype(np.float64)


def present_of(present: ArrayLike | None, steps: int) -> NDArray[np.bool_]:
    """Which steps of a block have values; all of them if it is not said."""
    if present is None:
        return np.ones(steps, dtype=np.bool_)
    array = np.asarray(present)
    if array.dtype != np.bool_ or array.shape != (steps,):
        rule = f"it must be one boolean for each of the {steps} steps"
        raise ArgumentError("present", f"{array.dtype.name}, shape {array.shape}", rule, "Leave it out if all are")
    return array


def grouped_steps(noisy: Numbers, marks: NDArray[np.int8], series: int) -> tuple[Reals, NDArray[np.bool_]]:
    """Noisy numbers as floats, and whether each step joins the group before it. Both laid out by steps."""
    numbers, marked = values_of(noisy, "noisy", series), np.asarray(marks)
    marked = marked[:, None] if marked.ndim == 1 else marked
    if marked.dtype.kind not in "iu" or marked.shape != numbers.shape:
        rule = "there must be one mark for every noisy count"
        raise ArgumentError("marks", f"{marked.dtype.name} of shape {marked.shape}", rule, "Pass what the grouper gave")
    return np.ascontiguousarray(numbers), np.ascontiguousarray(marked == JOINS)


def checked_weights(weights: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.int64]:
    array = np.asarray(weights)
    array = array[:, None] if array.ndim == 1 else array
    if array.dtype.kind not in "iu" or array.shape != shape or (array.size and array.min() < 0):
        rule = "there must be one whole number, 0 or more, for every noisy count"
        raise ArgumentError("weights", f"{array.dtype.name} of shape {array.shape}", rule, "Pass nano-epsilon")
    return np.minimum(array, _MOST_WEIGHT).astype(np.int64, order="C")


def checked_between(value: SupportsIndex, field: str, least: int, most: int) -> int:
    """A whole number from `least` to `most`."""
    number = whole_number(value, field)
    if not least <= number <= most:
        raise ArgumentError(field, value, f"it must be from {least} to {most}", f"Pass {least} or a larger integer")
    return number


def checked_series(series: SupportsIndex) -> int:
    return checked_between(series, "series", 1, _MOST_SERIES)


def _whole(values: ArrayLike, field: str) -> NDArray[Any]:
    """int64, or Python's own integers where they do not fit."""
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise ArgumentError(field, type(values).__name__, "it must be whole numbers", _ARRAY) from None
    name = array.dtype.name
    if array.dtype.kind == "f" and not isinstance(values, np.ndarray):
        # numpy takes a list for floats if one of its whole numbers is beyond 2**63, or if it is empty.
        array = np.array(values, dtype=object)
    wide = array.dtype == object and all(type(value) is int for value in array.flat)
    if not (wide or array.dtype.kind in "iu") or np.ma.isMaskedArray(values):
        raise ArgumentError(field, name, "its elements must be whole numbers", _ARRAY)
    return array
