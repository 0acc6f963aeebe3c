"""Move records to the nearest of equally spaced public points from `low` to `high`.

The point of a record depends on that record alone, so data that differ by one record still do on the grid.
Reads: arrays. Writes: nothing. Never: an element of an array in an error text; a refusal that depends on one.
"""

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, exact_fraction, whole_number
from thresher.errors import ArgumentError
from thresher.noise.arguments import is_masked

DEFAULT_STEPS = 1 << 20
_MOST_STEPS = 1 << 40
_ARRAY = "Pass a float64 or int64 array"
_PLAIN = frozenset({bool, int, float, np.float64, np.int64})


@dataclass(frozen=True, slots=True)
class PublicGrid:
    """Hold the points low + (high - low) k / steps for k = 0, 1, ..., steps."""

    low: Fraction
    high: Fraction
    steps: int

    def snapped(self, values: ArrayLike) -> NDArray[np.int64]:
        """Return the nearest point of each record, sorted. A record beyond an end goes to that end; NaN is left out.

        Refusing a NaN, or something that is not a number, would reveal that it is there. Leaving it out depends on that
        record alone.
        """
        records = floats_of(values)
        with np.errstate(all="ignore"):
            spots = (records - float(self.low)) * (self.steps / float(self.high - self.low))
        spots = np.clip(spots[~np.isnan(spots)], 0, self.steps)
        return np.sort(np.rint(spots).astype(np.int64))

    def value(self, point: int) -> float:
        """Return the number that a point stands for."""
        return float(self.low + (self.high - self.low) * point / self.steps)


def grid_of(low: Amount, high: Amount, steps: int = DEFAULT_STEPS) -> PublicGrid:
    """Return the grid, or refuse it if two of its points are the same float."""
    start, end, count = exact_fraction(low, "low"), exact_fraction(high, "high"), whole_number(steps, "steps")
    if end <= start:
        raise ArgumentError("high", high, "it must lie above low", "Pass a public range such as 0, 1")
    if not 1 <= count <= _MOST_STEPS:
        raise ArgumentError("steps", steps, "a grid has 1 to 2**40 steps", f"Leave it out for {DEFAULT_STEPS:,}")
    if (end - start) / count < max(abs(start), abs(end)) / (1 << 51):
        rule = "neighbouring points of the grid would be the same float"
        raise ArgumentError("steps", steps, rule, "Pass fewer steps, or a range nearer to zero")
    return PublicGrid(start, end, count)


def floats_of(values: ArrayLike) -> NDArray[np.float64]:
    """Return one list of numbers as floats. No message names a number, and no refusal depends on one.

    An array can be refused for its type and shape, which are public. The types in a list belong to its records, so each
    is read by itself, and what is not a number becomes NaN. An array of objects is read like a list.
    """
    if isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray | memoryview):
        return _one_by_one(values)
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise ArgumentError("values", type(values).__name__, "it must be one list of numbers", _ARRAY) from None
    if array.ndim != 1 or array.dtype.kind not in "iufO" or is_masked(values):
        kind = array.dtype.name if array.ndim == 1 else f"{array.ndim} dimensions"
        raise ArgumentError("values", kind, "it must be one list of plain numbers", _ARRAY)
    # A record too large for a float, or a signalling NaN, would make numpy warn, and the warning would reveal it.
    with np.errstate(all="ignore"):
        return _one_by_one(array.tolist()) if array.dtype.kind == "O" else array.astype(np.float64)


def _one_by_one(records: Sequence[Any]) -> NDArray[np.float64]:
    if set(map(type, records)) <= _PLAIN:
        try:
            return np.array(records, dtype=np.float64)
        except OverflowError:  # one number is larger than all floats
            pass
    return np.array([_number(record) for record in records], dtype=np.float64)


def _number(record: object) -> float:
    """Return a record as a float: an infinity if it is larger than all floats, NaN if it is not a real number."""
    if not isinstance(record, Real | Decimal | np.bool_):
        return math.nan
    try:
        return float(record)
    except OverflowError:
        return math.inf if operator.gt(record, 0) else -math.inf
    except (ValueError, TypeError):
        return math.nan
