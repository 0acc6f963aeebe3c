"""Conditions on rows in one normal form: flat, sorted, without repetition, with one range or list for each column.

Reads: conditions. Writes: nothing. Never: changes which rows satisfy a condition.
"""

from collections.abc import Callable, Iterable
from functools import reduce

from thresher.config import Code
from thresher.question import ALWAYS, NEVER, AllOf, AnyOf, Condition, Missing, NoneOf, OneOf, Present, Within

_Leaf = Within | OneOf | NoneOf | Missing | Present


def every(conditions: Iterable[Condition]) -> Condition:
    """AND."""
    parts = _flat(conditions, AllOf)
    by_column: dict[str, list[_Leaf]] = {}
    joined: list[Condition] = []
    for part in parts:
        if isinstance(part, AllOf | AnyOf):
            joined.append(part)
        else:
            by_column.setdefault(part.column, []).append(part)
    for column, leaves in by_column.items():
        joined += _both(column, leaves)
    if NEVER in joined:
        return NEVER
    found = _normal(joined)
    return found[0] if len(found) == 1 else AllOf(found)


def some(conditions: Iterable[Condition]) -> Condition:
    """OR."""
    parts = _flat(conditions, AnyOf)
    lists: dict[str, set[Code]] = {}
    joined: list[Condition] = []
    for part in parts:
        if isinstance(part, OneOf):
            lists.setdefault(part.column, set()).update(part.codes)
        else:
            joined.append(part)
    joined += [OneOf(column, tuple(sorted(codes, key=_order))) for column, codes in lists.items()]
    covered = {part.column for part in joined if isinstance(part, Present)}
    if ALWAYS in joined or any(isinstance(part, Missing) and part.column in covered for part in joined):
        return ALWAYS
    found = _normal(part for part in joined if not _implied(part, covered))
    return found[0] if len(found) == 1 else AnyOf(found)


def _both(column: str, leaves: list[_Leaf]) -> list[Condition]:
    """What is left of several conditions on one column that must all hold."""
    if any(isinstance(leaf, Missing) for leaf in leaves):
        return [Missing(column) if all(isinstance(leaf, Missing) for leaf in leaves) else NEVER]
    ranges = [leaf for leaf in leaves if isinstance(leaf, Within)]
    low = max((leaf.low for leaf in ranges if leaf.low is not None), default=None)
    high = min((leaf.high for leaf in ranges if leaf.high is not None), default=None)
    refused = {code for leaf in leaves if isinstance(leaf, NoneOf) for code in leaf.codes}
    refused = {code for code in refused if _inside(code, low, high)}
    lists = [set(leaf.codes) for leaf in leaves if isinstance(leaf, OneOf)]
    if not lists and low is not None and low == high:
        lists = [{low}]
    if lists:
        kept = {code for code in reduce(set.intersection, lists) if _inside(code, low, high)} - refused
        return [OneOf(column, tuple(sorted(kept, key=_order))) if kept else NEVER]
    if low is not None and high is not None and low > high:
        return [NEVER]
    found: list[Condition] = [Within(column, low, high)] if ranges else []
    if refused:
        found.append(NoneOf(column, tuple(sorted(refused, key=_order))))
    return found or [Present(column)]


def _inside(code: Code, low: int | None, high: int | None) -> bool:
    if isinstance(code, str):
        return True
    return (low is None or code >= low) and (high is None or code <= high)


def _implied(part: Condition, covered: set[str]) -> bool:
    """Whether `column IS NOT NULL`, which stands beside it, says more."""
    return isinstance(part, Within | OneOf | NoneOf) and part.column in covered


def _flat(conditions: Iterable[Condition], kind: type[AllOf] | type[AnyOf]) -> list[Condition]:
    found: list[Condition] = []
    for condition in conditions:
        # ALWAYS is an AND without parts, NEVER an OR: both vanish where they change nothing.
        found += condition.parts if isinstance(condition, kind) else (condition,)
    return found


def _normal(parts: Iterable[Condition]) -> tuple[Condition, ...]:
    return tuple(sorted(set(parts), key=repr))


def _order(code: Code) -> tuple[int, str]:
    return (code, "") if isinstance(code, int) else (0, code)


Joiner = Callable[[Iterable[Condition]], Condition]
