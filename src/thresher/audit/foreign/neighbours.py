"""Check that two inputs differ by one privacy unit: a record more or less, or one more or less in one cell.

Reads: inputs of a trial. Writes: nothing. Never: fails on an input, whatever it is.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np

from thresher.audit.outputs.fingerprints import fingerprint
from thresher.errors import ArgumentError

Notion = Literal["records", "counts", "either", "any"]
_NOTIONS = get_args(Notion)
_RULES = {
    "records": "one list must be the other and one record more",
    "counts": "the counts must be equal except in one cell, where they differ by 1",
    "either": "one must have one record more than the other, or a count of 1 more in one cell",
}


def check_neighbours(here: Any, there: Any, notion: Notion = "either") -> None:
    """Refuse inputs that are not neighbours, because privacy promises nothing about them."""
    if notion not in _NOTIONS:
        raise ArgumentError("neighbours", notion, f"it must be one of {', '.join(_NOTIONS)}", "Leave it out")
    differ = {"records": differ_by_a_record(here, there), "counts": differ_by_a_count(here, there)}
    if notion == "any" or differ.get(notion, any(differ.values())):
        return
    fix = "Pass such inputs, or neighbours=any if your mechanism protects another difference"
    raise ArgumentError("here, there", (here, there), _RULES[notion], fix)


def differ_by_a_record(here: Any, there: Any) -> bool:
    """Say whether one list has one record more than the other, in any order."""
    first, second = _listed(here), _listed(there)
    if first is None or second is None:
        return False
    one, other = (Counter(fingerprint(record) for record in records) for records in (first, second))
    return (one - other).total() + (other - one).total() == 1


def differ_by_a_count(here: Any, there: Any) -> bool:
    """Say whether two whole numbers, or two lists or tables of them, are equal except for one that differs by 1."""
    one, other = _cells(here), _cells(there)
    if one is None or other is None:
        return False
    names = one.keys() | other.keys()
    # A table may lack a cell, which then counts 0; lists and arrays must have the same shape.
    tables = isinstance(here, Mapping) and isinstance(there, Mapping)
    if not tables and (np.shape(here) != np.shape(there) or one.keys() != other.keys()):
        return False
    return sum(abs(one.get(name, 0) - other.get(name, 0)) for name in names) == 1


def _listed(data: Any) -> list[Any] | None:
    if isinstance(data, np.ndarray):
        return list(data) if data.ndim else None
    return list(data) if isinstance(data, list | tuple | set | frozenset) else None


def _cells(data: Any) -> dict[Any, int] | None:
    if isinstance(data, np.ndarray):
        data = data.ravel().tolist()
    if isinstance(data, Mapping):
        named: dict[Any, Any] = {fingerprint(name): count for name, count in data.items()}
    elif isinstance(data, list | tuple):
        named = dict(enumerate(data))
    else:
        named = {"": data}
    whole = all(isinstance(count, int | np.integer) and not isinstance(count, bool) for count in named.values())
    return {name: int(count) for name, count in named.items()} if whole else None
