"""Conditions on rows, in codes (see `config/columns.py`). There is no NOT: it was pushed to the leaves.

A row with NULL in a column satisfies no condition on that column but `Missing`, as in SQL, where a comparison with
NULL is unknown and NOT unknown is unknown too.
`all_of` and `any_of` join them in one normal form: flat, sorted, without repetition, with one range or list for each
column.
Reads: nothing. Writes: nothing. Never: a value that came from the protected data; which rows satisfy a condition.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from thresher.config import Code, Column


@dataclass(frozen=True, slots=True)
class Within:
    """`low` <= code <= `high`; None is no bound. Only for columns whose codes are numbers."""

    column: str
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class OneOf:
    """The code is one of these, sorted and distinct; never none of them (that is `NEVER`)."""

    column: str
    codes: tuple[Code, ...]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """There is a code, and it is none of these."""

    column: str
    codes: tuple[Code, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """The column holds NULL, or a value that its declaration leaves out."""

    column: str


@dataclass(frozen=True, slots=True)
class Present:
    """The column holds a value that its declaration knows."""

    column: str


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part holds; without parts it always does."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Some part holds; without parts it never does."""

    parts: tuple["Condition", ...]


Leaf = Within | OneOf | NoneOf | Missing | Present
Condition = Leaf | AllOf | AnyOf

ALWAYS = AllOf(())
NEVER = AnyOf(())


def columns_of(condition: Condition) -> frozenset[str]:
    """The columns a condition looks at."""
    if isinstance(condition, AllOf | AnyOf):
        return frozenset().union(*(columns_of(part) for part in condition.parts))
    return frozenset({condition.column})


def sorted_codes(codes: Iterable[Code]) -> tuple[Code, ...]:
    """Return the codes of one column, which are all text or all numbers, in order."""
    return tuple(sorted(codes, key=lambda code: (code, "") if isinstance(code, int) else (0, code)))


def all_of(conditions: Iterable[Condition]) -> Condition:
    """Return the condition that all of these hold."""
    parts = _flat(conditions, AllOf)
    by_column: dict[str, list[Leaf]] = {}
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


def any_of(conditions: Iterable[Condition]) -> Condition:
    """Return the condition that one of these holds or more."""
    parts = _flat(conditions, AnyOf)
    lists: dict[str, set[Code]] = {}
    joined: list[Condition] = []
    for part in parts:
        if isinstance(part, OneOf):
            lists.setdefault(part.column, set()).update(part.codes)
        else:
            joined.append(part)
    joined += [OneOf(column, sorted_codes(codes)) for column, codes in lists.items()]
    covered = {part.column for part in joined if isinstance(part, Present)}
    if ALWAYS in joined or any(isinstance(part, Missing) and part.column in covered for part in joined):
        return ALWAYS
    found = _normal(part for part in joined if not _implied(part, covered))
    return found[0] if len(found) == 1 else AnyOf(found)


def _both(column: str, leaves: list[Leaf]) -> list[Condition]:
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
        return [OneOf(column, sorted_codes(kept)) if kept else NEVER]
    if low is not None and high is not None and low > high:
        return [NEVER]
    found: list[Condition] = [Within(column, low, high)] if ranges else []
    if refused:
        found.append(NoneOf(column, sorted_codes(refused)))
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


def narrowed(column: Column, where: Condition) -> Sequence[Code]:
    """Return the column's codes, cut down by what WHERE says of it alone: a grid may have billions."""
    codes = column.kind.codes()
    parts = where.parts if isinstance(where, AllOf) else (where,)
    for part in parts:
        if isinstance(part, AllOf | AnyOf) or part.column != column.name or not isinstance(codes, range):
            continue
        if isinstance(part, Within):
            low = codes.start if part.low is None else max(part.low, codes.start)
            high = codes.stop if part.high is None else min(part.high + 1, codes.stop)
            codes = range(low, max(low, high))
        elif isinstance(part, OneOf):
            codes = [code for code in part.codes if code in codes]
    return codes


def possible(condition: Condition) -> Callable[[Mapping[str, Code]], bool]:
    """Return a test whether the condition can hold for a row with these codes; other columns may hold anything."""
    if isinstance(condition, AllOf):
        tests = [possible(part) for part in condition.parts]
        return lambda known: all(test(known) for test in tests)
    if isinstance(condition, AnyOf):
        tests = [possible(part) for part in condition.parts]
        return lambda known: any(test(known) for test in tests)
    leaf, column = _leaf(condition), condition.column
    return lambda known: column not in known or leaf(known[column])


def _leaf(condition: Leaf) -> Callable[[Code], bool]:
    if isinstance(condition, Missing):
        return lambda _: False
    if isinstance(condition, Present):
        return lambda _: True
    if isinstance(condition, Within):
        low = -math.inf if condition.low is None else condition.low
        high = math.inf if condition.high is None else condition.high
        return lambda code: isinstance(code, int) and low <= code <= high
    codes, wanted = frozenset(condition.codes), isinstance(condition, OneOf)
    return lambda code: (code in codes) == wanted
