"""Check what a release of a roster is made from: shares and bounds, and the values of its people in its order.

Arrays are refused by shape and type only; values are clipped one by one.
Reads: a roster, private arrays. Writes: nothing. Never: an element in a message, or a refusal that depends on one.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import NANO, Amount, exact_fraction, whole_number
from thresher.errors import ArgumentError
from thresher.personal.personal_release import MOST_EPSILON
from thresher.personal.roster import Roster

# Weighted sums stay below MOST_SUM, the scale of noise below WIDEST.
MOST_SUM, WIDEST = 1 << 61, 1 << 52
_ARRAY = "Pass an array of booleans or of int64, 0 for those who are absent"


def whole_values(values: NDArray[Any], roster: Roster, bound: int) -> NDArray[np.int64]:
    """Return one whole number for each person, clipped to -bound ... bound."""
    steps: NDArray[np.int64] = np.clip(_checked(values, roster, 1, "values").astype(np.int64), -bound, bound)
    return steps


def flags_of(values: NDArray[Any], roster: Roster, field: str = "flags") -> NDArray[np.int64]:
    """Return 1 for each person with a value that is not 0, else 0."""
    flags: NDArray[np.int64] = (_checked(values, roster, 1, field) != 0).astype(np.int64)
    return flags


def counted_cells(
    cells: NDArray[Any], roster: Roster, shape: tuple[int, int], weights: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the weighted number of people in each cell; `shape` is the number of cells, and a person's bound.

    `cells` lists the cell of each person (numbers of no cell: in none), or is a table with a row for each person, in
    which negative numbers count as 0 and what exceeds the bound in a row is cut off, the last cells first.
    """
    count, bound = shape
    if getattr(cells, "ndim", 0) == 1:
        named = _checked(cells, roster, 1, "cells").astype(np.int64)
        inside = (named >= 0) & (named < count)
        totals = np.zeros(count, dtype=np.int64)
        np.add.at(totals, named[inside], weights[inside])
        return totals
    table = _checked(cells, roster, 2, "cells")
    if table.shape[1] != count:
        raise ArgumentError(
            "cells",
            f"{table.shape[1]} columns",
            f"there must be {count}, one for each cell",
            "Pass a column for each cell",
        )
    # Clipped first, so that running sums of a row stay below bound times its columns.
    upto = np.cumsum(np.clip(table.astype(np.int64), 0, bound), axis=1)
    return np.asarray(weights @ np.diff(np.minimum(upto, bound), axis=1, prepend=0))


def _checked(values: NDArray[Any], roster: Roster, dimensions: int, field: str) -> NDArray[Any]:
    if not isinstance(values, np.ndarray) or np.ma.isMaskedArray(values):
        raise ArgumentError(field, type(values).__name__, "it must be a plain numpy array", _ARRAY)
    if values.dtype.kind not in "biu" or values.dtype == np.uint64:
        raise ArgumentError(field, values.dtype.name, "it must hold booleans or signed integers", _ARRAY)
    if values.ndim != dimensions or values.shape[0] != roster.people:
        rule = f"it must have a place for each of the {roster.people} people on the roster"
        raise ArgumentError(field, f"shape {values.shape}", rule, _ARRAY)
    return np.asarray(values)


def of_kind(value: object, kind: type | tuple[type, ...], field: str) -> None:
    """Refuse what is not the kind of plan, parts or roster that a release needs."""
    if not isinstance(value, kind):
        named = " or ".join(one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,)))
        raise ArgumentError(field, type(value).__name__, f"it must be a {named}", f"Pass a {named}")


def shared(roster: Roster, share: Amount) -> NDArray[np.int64]:
    """Return what each class may spend here, in whole nano, ascending; at least one class must have a nano to spend."""
    of_kind(roster, Roster, "roster")
    part = exact_fraction(share, "share")
    if not 0 < part <= 1:
        raise ArgumentError("share", share, "it must be above 0 and at most 1", "Pass a share of everybody's budget")
    most = MOST_EPSILON * NANO
    used = [min(nano * part.numerator // part.denominator, most) for nano in roster.nano.tolist()]
    if used[-1] < 1:
        raise ArgumentError(
            "roster",
            f"{roster.people} people",
            "this share of everybody's budget is below a nano-epsilon",
            "Pass a larger share, or larger budgets",
        )
    return np.array(used, dtype=np.int64)


def checked_bound(bound: int, roster: Roster) -> int:
    """Return how far from 0 values may lie, in steps, if weighted sums of them can be kept exactly."""
    reach = whole_number(bound, "bound")
    if not 1 <= reach <= (MOST_SUM >> 11) // roster.people:
        raise ArgumentError(
            "bound", bound, "it must be 1 or more, and at most 2**50 over the number of people", "Take coarser steps"
        )
    return reach


def check_noise(epsilon: Fraction, bound: int) -> None:
    """Refuse noise that would not fit in 64 bits."""
    if bound > WIDEST * epsilon:
        rule = "the noise would not fit in 64 bits"
        raise ArgumentError("bound", bound, rule, "Take coarser steps, or leave the least budgets out")


def fraction_of(frequency: Amount) -> Fraction:
    part = exact_fraction(frequency, "frequency")
    if not 0 <= part <= 1:
        raise ArgumentError("frequency", frequency, "it must lie between 0 and 1", 'Leave it out for "0.5"')
    return part
