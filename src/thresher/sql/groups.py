"""The groups asked about: all combinations of the keys' public values, less those that WHERE rules out.

Reads: declarations, WHERE. Writes: nothing. Never: builds a list before its size is known, looks at data.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from thresher.config import Code, Column, Text
from thresher.question import AllOf, AnyOf, Condition, Missing, NoneOf, OneOf, Present, Within
from thresher.sql.encoding import codes_of
from thresher.sql.names import Scope
from thresher.sql.refusals import Refusal, shown
from thresher.sql.statement import Statement, unwrapped

Group = tuple[Code, ...]
_Test = Callable[[Mapping[str, Code]], bool]

# A domain is looked through code by code, if WHERE does not cut it down first; a second's work at most.
_MOST_CODES = 1_000_000


def keys_of(statement: Statement, scope: Scope) -> tuple[Column, ...]:
    """The keys in the order of the select list, which must name just those of GROUP BY, and aggregates."""
    grouped = [scope.private(node) for node in statement.keys]
    for column, node in zip(grouped, statement.keys, strict=True):
        if isinstance(column.kind, Text):
            message = f"{shown(column.name)} has no public list of values. Declare the keys of {shown(column.name)}"
            raise Refusal("declared-domains", message, node)
        if grouped.count(column) > 1:
            raise Refusal("plain-groups", f"{shown(column.name)} stands twice in GROUP BY; keep one", node)
    selected = _selected(statement, scope, grouped)
    for column, node in zip(grouped, statement.keys, strict=True):
        if column not in selected:
            raise Refusal("select-keys", f"{shown(column.name)} is in GROUP BY but not selected; select it too", node)
    return tuple(selected)


def _selected(statement: Statement, scope: Scope, grouped: Sequence[Column]) -> list[Column]:
    """The columns of the select list; what else may stand there is seen to elsewhere."""
    selected: list[Column] = []
    for node in map(unwrapped, statement.selected):
        if isinstance(node, exp.Alias):
            raise Refusal("select-keys", "Names with AS are not used in the select list; leave them out", node)
        if not isinstance(node, exp.Column):
            continue
        column = scope.private(node)
        if column not in grouped:
            raise Refusal("select-keys", f"{shown(column.name)} is selected but not in GROUP BY; add it there", node)
        if column in selected:
            raise Refusal("select-keys", f"{shown(column.name)} is selected twice; keep one", node)
        selected.append(column)
    return selected


def groups_of(keys: Sequence[Column], where: Condition, most: int, at: exp.Expr) -> tuple[Group, ...]:
    """The groups that WHERE leaves possible, in declared order."""
    test = _test(where)
    domains: list[list[Code]] = []
    for column in keys:
        narrowed = _narrowed(column, where)
        if len(narrowed) > max(most, _MOST_CODES):
            raise _too_many(len(narrowed), most, at)
        domains.append([code for code in narrowed if test({column.name: code})])
    size = math.prod(len(domain) for domain in domains)
    if size > most:
        raise _too_many(size, most, at)
    names = [column.name for column in keys]
    every = itertools.product(*domains)
    return tuple(group for group in every if test(dict(zip(names, group, strict=True))))


def _narrowed(column: Column, where: Condition) -> Sequence[Code]:
    """The column's codes, cut down by what WHERE says of it alone: a grid may have billions."""
    codes = codes_of(column)
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


def _test(condition: Condition) -> _Test:
    """Whether a condition can hold for a row with these codes; columns that are not given may hold anything."""
    if isinstance(condition, AllOf):
        tests = [_test(part) for part in condition.parts]
        return lambda known: all(test(known) for test in tests)
    if isinstance(condition, AnyOf):
        tests = [_test(part) for part in condition.parts]
        return lambda known: any(test(known) for test in tests)
    leaf, column = _leaf(condition), condition.column
    return lambda known: column not in known or leaf(known[column])


def _leaf(condition: Within | OneOf | NoneOf | Missing | Present) -> Callable[[Code], bool]:
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


def _too_many(size: int, most: int, at: exp.Expr) -> Refusal:
    message = f"{size:,} groups are more than the limit of {most:,} groups"
    return Refusal("group-limit", f"{message}; narrow the keys in WHERE, or group by fewer or coarser keys", at)
