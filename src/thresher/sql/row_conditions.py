"""WHERE and FILTER: conditions on rows, with NOT pushed to the leaves.

SQL's third truth value is not needed: a leaf that is unknown is not true, and neither is its opposite.
Reads: the parser's tree, names. Writes: nothing. Never: a comparison of two columns, an expression that can fail.
"""

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sqlglot import exp

from thresher.config import Column, Days, Grid, Hours, Truth, decimal_text
from thresher.question import NEVER, Condition, PublicValue, all_of, any_of
from thresher.sql.encoding import among, compared, missing, none_of, one_of, present
from thresher.sql.known_words import PLAIN
from thresher.sql.literals import Constant, check_among, constant, constant_text
from thresher.sql.names import PublicColumn, Scope
from thresher.sql.refusals import Refusal, bare, shown
from thresher.sql.statement import COMPARISONS, check_parts, in_order

SIGNS = {kind: PLAIN.get(token, "<>") for kind, token in COMPARISONS.items()}
HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
TURNED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}

_RULE = "compare one declared column with constants"


def row_condition(node: exp.Expr, scope: Scope, *, negated: bool = False) -> Condition:
    """Return the condition of rows for which `node` (or, negated, NOT `node`) is true."""
    while isinstance(node, exp.Not):
        node, negated = node.this, not negated
    for kind in (exp.And, exp.Or):
        if isinstance(node, kind):
            join = all_of if (kind is exp.And) != negated else any_of
            return join(row_condition(part, scope, negated=negated) for part in in_order(node, kind))
    if type(node) in SIGNS:
        return _comparison(node, scope, negated=negated)
    if isinstance(node, exp.Between):
        return _between(node, scope, negated=negated)
    if isinstance(node, exp.In):
        return _in(node, scope, negated=negated)
    if isinstance(node, exp.Is):
        return _is(node, scope, negated=negated)
    if isinstance(node, exp.Column):
        return _truth(node, scope, value=not negated)
    raise _refused(node)


def _comparison(node: exp.Expr, scope: Scope, *, negated: bool) -> Condition:
    sign, left, right = SIGNS[type(node)], node.this, node.expression
    if isinstance(right, exp.Column) and not isinstance(left, exp.Column):
        sign, left, right = TURNED[sign], right, left
    column = _column(left, scope)
    sign, value = OPPOSITE[sign] if negated else sign, _constant(right, column, scope)
    _note_never(column, sign, value, scope, node)
    return _leaf(column, sign, value, scope, node)


def _between(node: exp.Between, scope: Scope, *, negated: bool) -> Condition:
    column = _column(node.this, scope)
    low = _constant(node.args["low"], column, scope)
    high = _constant(node.args["high"], column, scope)
    ends = [(low, "<"), (high, ">")] if negated else [(low, ">="), (high, "<=")]
    join = any_of if negated else all_of
    if not negated:
        for value, sign in ends:
            _note_never(column, sign, value, scope, node)
    return join([_leaf(column, sign, value, scope, node) for value, sign in ends])


def _in(node: exp.In, scope: Scope, *, negated: bool) -> Condition:
    if node.args.get("query") or node.args.get("unnest") or node.args.get("field") or not node.expressions:
        raise Refusal("column-and-constant", "IN takes a list of constants in parentheses", node)
    check_parts(node)
    column = _column(node.this, scope)
    values = [_constant(item, column, scope) for item in node.expressions]
    if isinstance(column, PublicColumn):
        parts = [_leaf(column, "<>" if negated else "=", value, scope, node) for value in values]
        return all_of(parts) if negated else any_of(parts)
    if negated:
        return none_of(column, values, node)
    condition = one_of(column, values, node)
    for value in values:
        _note_never(column, "=", value, scope, node)
    return condition


def _is(node: exp.Is, scope: Scope, *, negated: bool) -> Condition:
    what, column = node.expression, _column(node.this, scope)
    if isinstance(what, exp.Null):
        if isinstance(column, PublicColumn):
            return _public(column, lambda value: (value is None) != negated, scope)
        return present(column) if negated else missing(column)
    if not isinstance(what, exp.Boolean):
        raise Refusal("null-by-is", "IS takes NULL, NOT NULL, TRUE or FALSE", node)
    wanted = bool(what.this)
    if isinstance(column, PublicColumn):
        _leaf(column, "=", wanted, scope, node)  # for its refusals
        return _public(column, lambda value: (value is wanted) != negated, scope)
    if not isinstance(column.kind, Truth):
        raise Refusal("comparable-values", f"{shown(column.name)} is not declared as true or false", node)
    if negated:
        return any_of([compared(column, "<>", wanted, node), missing(column)])
    return compared(column, "=", wanted, node)


def _truth(node: exp.Column, scope: Scope, *, value: bool) -> Condition:
    column = _column(node, scope)
    if isinstance(column, Column) and not isinstance(column.kind, Truth):
        raise Refusal("column-and-constant", f"{shown(column.name)} is not a condition; {_RULE}", node)
    return _leaf(column, "=", value, scope, node)


def _leaf(column: Column | PublicColumn, sign: str, value: Constant, scope: Scope, at: exp.Expr) -> Condition:
    if isinstance(column, Column):
        return compared(column, sign, value, at)
    for other in scope.values(column).values():
        if other is not None and type(other) is not type(value):
            raise Refusal("comparable-values", f"{shown(column.name)} holds values of another kind", at)
    if sign not in ("=", "<>") and not _ordered(value):
        message = f"{shown(column.name)} has no order that all databases share; use =, <> or IN"
        raise Refusal("no-text-order", message, at)
    if sign in ("=", "<>") and isinstance(value, str):
        known = scope.values(column).values()
        check_among(f"{column.table}.{column.name}", [value], [other for other in known if other is not None], at)
    return _public(column, lambda other: other is not None and HOLDS[sign](other, value), scope)


def _note_never(column: Column | PublicColumn, sign: str, value: Constant, scope: Scope, at: exp.Expr) -> None:
    """Note a comparison that no row can satisfy because of the column's declared bounds or steps."""
    if not isinstance(column, Column) or not isinstance(column.kind, Grid | Days | Hours):
        return
    if compared(column, sign, value, at) != NEVER:
        return
    kind, name = column.kind, bare(column.name)
    why = f"{name} is NULL outside {kind.first} to {kind.last}" if not isinstance(kind, Grid) else ""
    if isinstance(kind, Grid):
        why = f"{name} is limited to {decimal_text(kind.minimum)} to {decimal_text(kind.maximum)}"
        if isinstance(value, Fraction) and kind.minimum <= value <= kind.maximum and sign == "=":
            why = f"{name} has steps of {decimal_text(kind.step)}"
    note = f"{name} {sign} {constant_text(value)} never holds: {why}"
    if note not in scope.notes:
        scope.notes.append(note)


def _public(column: PublicColumn, test: Callable[[PublicValue], bool], scope: Scope) -> Condition:
    """Return a condition on a public column, as the list of codes of the joined column for which it holds."""
    codes = [code for code, value in scope.values(column).items() if test(value)]
    return among(scope.table.columns[column.on], codes)


def _ordered(value: Constant) -> bool:
    return not isinstance(value, str | bool)


def _column(node: exp.Expr, scope: Scope) -> Column | PublicColumn:
    if not isinstance(node, exp.Column):
        raise _refused(node)
    found = scope.find(node)
    return found if isinstance(found, PublicColumn) else scope.private(node)


def _constant(node: exp.Expr, column: Column | PublicColumn, scope: Scope) -> Constant:
    if isinstance(node, exp.Null):
        raise Refusal("null-by-is", f"A comparison with NULL is never true; write {column.name} IS NULL", node)
    if isinstance(node, exp.Column):
        scope.find(node)  # a misspelt name is more likely than a comparison of two columns
        raise Refusal("column-and-constant", f"Two columns are compared; {_RULE}", node)
    found = constant(node)
    if found is None:
        raise _refused(node)
    return found


def _refused(node: exp.Expr) -> Refusal:
    if isinstance(node, exp.AggFunc | exp.Filter):
        return Refusal("aggregates-in-having", "An aggregate is a condition on groups; write it in HAVING", node)
    if isinstance(node, exp.Binary | exp.Neg | exp.Cast | exp.Func) and constant(node) is None:
        message = f"Expression can fail or leak: {type(node).__name__} of columns; {_RULE}"
        return Refusal("total-expressions", message, node)
    return Refusal("column-and-constant", f"{type(node).__name__} is not a condition on rows; {_RULE}", node)
