"""Whether two inputs differ by one privacy unit: a record more or less, or one more or less in one cell.

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
_TOLD = {
    "records": "one list must be the other and one record more",
    "counts": "the counts must be the same but for one cell, and there differ by 1",
    "either": "one must have one record more than the other, or a count of 1 more in one cell",
}


def check_neighbours(here: Any, there: Any, notion: Notion = "either") -> None:
    """Refuse inputs that are not neighbours: no promise of privacy is about them."""
    if notion not in _NOTIONS:
        raise ArgumentError("neighbours", notion, f"it is one of {', '.join(_NOTIONS)}", "Leave it out")
    found = {"records": differ_by_a_record(here, there), "counts": differ_by_a_count(here, there)}
    if notion == "any" or found.get(notion, any(found.values())):
        return
    fix = "Pass neighbours, or neighbours=any if you protect another difference"
    raise ArgumentError("here, there", (here, there), _TOLD[notion], fix)


def differ_by_a_record(here: Any, there: Any) -> bool:
    """Lists in any order, of which one has one record more."""
    first, second = _listed(here), _listed(there)
    if first is None or second is None:
        return False
    one, other = (Counter(fingerprint(record) for record in records) for records in (first, second))
    return (one - other).total() + (other - one).total() == 1


def differ_by_a_count(here: Any, there: Any) -> bool:
    """A whole number, a list or a table of them: equal but for one, which differs by 1."""
    one, other = _cells(here), _cells(there)
    if one is None or other is None:
        return False
    names = one.keys() | other.keys()
    # A table may lack a cell, which then counts 0; a list may not.
    if not isinstance(here, Mapping) and one.keys() != other.keys():
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
