"""Checks of arrays of T steps by S series.

Reads: arrays. Writes: nothing. Never: an element of an array in an error text; a refusal that depends on a count.
"""

from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import whole_number
from thresher.errors import ArgumentError
from thresher.streams.step_release import JOINS

Reals = NDArray[np.float64]
Numbers = NDArray[np.int64] | NDArray[np.float64]
# Counts are cut off here, so that sums over any window fit. Counts that are one apart stay so or become equal.
MOST_COUNT = 1 << 40
_MOST_SERIES = 1 << 24
# Far above any epsilon in nano. Sums of weights stay exact.
_MOST_WEIGHT = 1 << 40
_ARRAY = "Pass an int64 array of steps by series"


def block_of(values: ArrayLike, field: str, series: int | None = None) -> NDArray[np.int64]:
    """Return a block with a row for each step, cut off at 2**40 on either side. A list of numbers is one series.

    Only types and shapes, which are public, decide whether it is refused; for a list, also the type of each element.
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
    """Return a block of released values (steps by series) as floats."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise ArgumentError(field, array.dtype.name, "it must be numbers", "Pass a float64 array of steps by series")
    block = array[:, None] if array.ndim == 1 else array
    if block.ndim != 2 or block.shape[1] != series:
        rule = f"it must be steps by {series} series"
        raise ArgumentError(field, f"shape {array.shape}", rule, "Pass a float64 array of steps by series")
    return block.astype(np.float64)


def present_of(present: ArrayLike | None, steps: int) -> NDArray[np.bool_]:
    """Return which steps of a block have values: all of them if `present` is left out."""
    if present is None:
        return np.ones(steps, dtype=np.bool_)
    array = np.asarray(present)
    if array.dtype != np.bool_ or array.shape != (steps,):
        rule = f"it must be one boolean for each of the {steps} steps"
        raise ArgumentError("present", f"{array.dtype.name}, shape {array.shape}", rule, "Leave it out if all are")
    return array


def grouped_steps(noisy: Numbers, marks: NDArray[np.int8], series: int) -> tuple[Reals, NDArray[np.bool_]]:
    """Return noisy numbers as floats, and whether each step joins the group before it. Both are laid out by steps."""
    numbers, marked = values_of(noisy, "noisy", series), np.asarray(marks)
    marked = marked[:, None] if marked.ndim == 1 else marked
    if marked.dtype.kind not in "iu" or marked.shape != numbers.shape:
        rule = "it must hold one mark for each noisy count"
        raise ArgumentError("marks", f"{marked.dtype.name} of shape {marked.shape}", rule, "Pass a grouper's marks")
    return np.ascontiguousarray(numbers), np.ascontiguousarray(marked == JOINS)


def checked_weights(weights: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return weights of noisy counts, or refuse them."""
    array = np.asarray(weights)
    array = array[:, None] if array.ndim == 1 else array
    if array.dtype.kind not in "iu" or array.shape != shape or (array.size and array.min() < 0):
        rule = "it must hold one whole number, 0 or more, for each noisy count"
        raise ArgumentError("weights", f"{array.dtype.name} of shape {array.shape}", rule, "Pass nano-epsilon")
    return np.minimum(array, _MOST_WEIGHT).astype(np.int64, order="C")


def checked_between(value: SupportsIndex, field: str, least: int, most: int) -> int:
    """Return a whole number from `least` to `most`, or refuse it."""
    number = whole_number(value, field)
    if not least <= number <= most:
        near = least if number < least else most
        raise ArgumentError(field, value, f"it must be from {least} to {most}", f"Pass {near}, or an integer between")
    return number


def checked_series(series: SupportsIndex) -> int:
    """Return a number of series, or refuse it."""
    return checked_between(series, "series", 1, _MOST_SERIES)


def _whole(values: ArrayLike, field: str) -> NDArray[Any]:
    """Return an array of int64, or of Python's integers where they do not fit."""
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise ArgumentError(field, type(values).__name__, "it must be whole numbers", _ARRAY) from None
    name = array.dtype.name
    if array.dtype.kind == "f" and not isinstance(values, np.ndarray):
        # numpy makes floats of a list that is empty, or that has a whole number beyond 2**63.
        array = np.array(values, dtype=object)
    wide = array.dtype == object and all(type(value) is int for value in array.flat)
    if not (wide or array.dtype.kind in "iu") or np.ma.isMaskedArray(values):
        raise ArgumentError(field, name, "its elements must be whole numbers", _ARRAY)
    return array
