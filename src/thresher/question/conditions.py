"""Conditions on rows, in codes (see `config/columns.py`). There is no NOT: it was pushed to the leaves.

A row with NULL in a column satisfies only `Missing` among the conditions on that column, as in SQL, where a comparison
with NULL is unknown and NOT unknown is unknown too.
`all_of` and `any_of` join conditions in a normal form: flat, sorted, without repetition, with one range or list for
each column.
Reads: nothing. Writes: nothing. Never: a value that came from the protected data; which rows satisfy a condition.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from thresher.config import Code, Column


@dataclass(frozen=True, slots=True)
class Within:
    """`low` <= code <= `high`; None stands for a missing bound. Only for columns whose codes are numbers."""

    column: str
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class OneOf:
    """The code is one of these, which are sorted and distinct. The list is never empty: that would be `NEVER`."""

    column: str
    codes: tuple[Code, ...]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """The column has a code, and it is not one of these."""

    column: str
    codes: tuple[Code, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """State that the column holds NULL, or a value that its declaration excludes."""

    column: str


@dataclass(frozen=True, slots=True)
class Present:
    """The column holds a value that its declaration allows."""

    column: str


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part holds; without parts it always holds."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds; without parts it never holds."""

    parts: tuple["Condition", ...]


Leaf = Within | OneOf | NoneOf | Missing | Present
Condition = Leaf | AllOf | AnyOf

ALWAYS = AllOf(())
NEVER = AnyOf(())


def columns_of(condition: Condition) -> frozenset[str]:
    """Return the columns that a condition is about."""
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
    normal = _normal(joined)
    return normal[0] if len(normal) == 1 else AllOf(normal)


def any_of(conditions: Iterable[Condition]) -> Condition:
    """Return the condition that at least one of these holds."""
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
    normal = _normal(part for part in joined if not _implied(part, covered))
    return normal[0] if len(normal) == 1 else AnyOf(normal)


def _both(column: str, leaves: list[Leaf]) -> list[Condition]:
    """Return several conditions on one column, which must all hold, as one or two."""
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
        codes = {code for code in reduce(set.intersection, lists) if _inside(code, low, high)} - refused
        return [OneOf(column, sorted_codes(codes)) if codes else NEVER]
    if low is not None and high is not None and low > high:
        return [NEVER]
    left: list[Condition] = [Within(column, low, high)] if ranges else []
    if refused:
        left.append(NoneOf(column, sorted_codes(refused)))
    return left or [Present(column)]


def _inside(code: Code, low: int | None, high: int | None) -> bool:
    if isinstance(code, str):
        return True
    return (low is None or code >= low) and (high is None or code <= high)


def _implied(part: Condition, covered: set[str]) -> bool:
    """Return whether `column IS NOT NULL`, which stands in the same OR, covers the part."""
    return isinstance(part, Within | OneOf | NoneOf) and part.column in covered


def _flat(conditions: Iterable[Condition], kind: type[AllOf] | type[AnyOf]) -> list[Condition]:
    flat: list[Condition] = []
    for condition in conditions:
        # ALWAYS is an AND without parts, NEVER an OR without parts: each vanishes where it changes nothing.
        flat += condition.parts if isinstance(condition, kind) else (condition,)
    return flat


def _normal(parts: Iterable[Condition]) -> tuple[Condition, ...]:
    return tuple(sorted(set(parts), key=repr))


def narrowed(column: Column, where: Condition) -> Sequence[Code]:
    """Return the column's codes that conditions of WHERE on it alone leave. A grid may have billions of codes."""
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
    """Return a test whether the condition can hold for a row with given codes, if other columns may hold anything."""
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
