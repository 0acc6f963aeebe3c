"""Make rows and labels ready for a fit: each record by itself, none refused for what it holds.

A row longer than the public norm is shortened to it. A row with a missing or infinite number, or with a label that was
not declared, is not a record: a refusal would reveal that it is there. Shapes and types are public.
Reads: arrays. Writes: nothing. Never: an element in an error text, or a refusal that depends on one.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, exact_fraction
from thresher.errors import ArgumentError
from thresher.mechanisms.public_grid import floats_of

Floats = NDArray[np.float64]
_ROOT_OF_HALF = math.sqrt(0.5)
_PLAIN = str | bool | int | float | np.generic
_MOST_FEATURES = 10_000


@dataclass(frozen=True, slots=True)
class Shape:
    """What is public about rows: how long they may be, and whether a constant is put beside them."""

    norm: float
    intercept: bool

    def clipped(self, features: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
        """Return rows of length at most 1 (except for rounding), and which of them are records; the others are all 0.

        With an intercept a 1 is put at the end of each row, and the row is divided by the root of 2.
        """
        rows = matrix_of(features)
        there: NDArray[np.bool_] = np.asarray(np.isfinite(rows).all(axis=1))
        with np.errstate(all="ignore"):
            known = np.where(there[:, None], rows, 0.0)
            # Divided by its largest number first, so that no square is infinite or vanishes.
            largest = np.abs(known).max(axis=1, keepdims=True)
            unit = known / np.where(largest > 0, largest, 1.0)
            length = np.sqrt(np.square(unit).sum(axis=1, keepdims=True))
            short = unit * np.minimum(largest / self.norm, 1 / np.maximum(length, 1.0))
        if not self.intercept:
            return short, there
        return np.hstack([short, there[:, None].astype(np.float64)]) * _ROOT_OF_HALF, there

    def unscaled(self, weights: Floats) -> tuple[Floats, float]:
        """Turn weights for clipped rows into coefficients and intercept for rows as they came."""
        if not self.intercept:
            return weights / self.norm, 0.0
        return weights[:-1] * _ROOT_OF_HALF / self.norm, float(weights[-1] * _ROOT_OF_HALF)


def shape_of(norm: Amount, *, intercept: bool) -> Shape:
    length = exact_fraction(norm, "norm")
    if not Fraction(1, 10**12) <= length <= 10**12:
        raise ArgumentError("norm", norm, "it must lie between 1e-12 and 1e12", "Pass the longest row to be kept whole")
    return Shape(float(length), bool(intercept))


def matrix_of(features: ArrayLike) -> Floats:
    """Return rows of numbers as floats, NaN where there is not a number."""
    typed = hasattr(features, "__array__")
    array = _as_array(features, "X", None if typed else object)
    if array.ndim != 2 or array.dtype.kind not in "biufO" or np.ma.isMaskedArray(features):
        kind = array.dtype.name if array.ndim == 2 else f"{array.ndim} dimensions"
        raise ArgumentError("X", kind, "it must be rows of plain numbers", "Pass a float64 array of two dimensions")
    if not 1 <= array.shape[1] <= _MOST_FEATURES:
        rule = f"rows must have 1 to {_MOST_FEATURES:,} numbers"
        raise ArgumentError(
            "X", f"{array.shape[1]} columns", rule, "Choose fewer features, without looking at these rows"
        )
    with np.errstate(all="ignore"):
        if array.dtype.kind == "O":
            return floats_of(array.ravel().tolist()).reshape(array.shape)
        return array.astype(np.float64)


def signs_of(labels: ArrayLike, classes: tuple[object, object], people: int) -> Floats:
    """Return 1 for the second class, -1 for the first, 0 for any other label."""
    array = _listed(labels, people)
    textual = isinstance(classes[0], str)
    if array.dtype.kind != "O" and textual != (array.dtype.kind in "US"):
        rule = f"its type must be that of the classes, {type(classes[0]).__name__}"
        raise ArgumentError("y", array.dtype.name, rule, "Pass labels as they were declared")
    if array.dtype.kind == "O":
        known = {classes[0]: -1.0, classes[1]: 1.0}
        return np.array([known.get(label, 0.0) if isinstance(label, _PLAIN) else 0.0 for label in array.tolist()])
    return np.where(array == classes[1], 1.0, np.where(array == classes[0], -1.0, 0.0))


def targets_of(values: ArrayLike, people: int) -> Floats:
    """Return the numbers to be predicted, NaN where one is missing."""
    array = _listed(values, people)
    if array.dtype.kind not in "biufO":
        raise ArgumentError("y", array.dtype.name, "it must be one list of plain numbers", "Pass a float64 array")
    with np.errstate(all="ignore"):
        return floats_of(array.tolist()) if array.dtype.kind == "O" else array.astype(np.float64)


def checked_classes(classes: object) -> tuple[object, object]:
    """Return the two declared classes, if they are different labels, both numbers or both texts."""
    pair = tuple(np.asarray(classes, dtype=object).ravel().tolist()) if classes is not None else ()
    plain = all(isinstance(label, str | bool | int | float) for label in pair)
    if len(pair) != 2 or not plain or pair[0] == pair[1] or isinstance(pair[0], str) != isinstance(pair[1], str):
        rule = "it must be two different labels, both numbers or both texts"
        raise ArgumentError("classes", classes, rule, 'Pass (0, 1) or ("no", "yes"), for example')
    return pair


def _listed(values: ArrayLike, people: int) -> NDArray[np.generic]:
    array = _as_array(values, "y", None if hasattr(values, "__array__") else object)
    if array.shape != (people,) or np.ma.isMaskedArray(values):
        rule = f"it must have one element for each of the {people} rows"
        raise ArgumentError("y", f"shape {array.shape}", rule, "Pass one list as long as X")
    return array


def _as_array(values: ArrayLike, field: str, dtype: type | None) -> NDArray[np.generic]:
    try:
        return np.asarray(values, dtype=dtype)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise ArgumentError(field, type(values).__name__, "it must be an array", "Pass a numpy array") from None
