"""Arithmetic of aggregates: linear forms, and linear forms divided by one count.

A form is `(sum of coefficient * aggregate) / over + constant + sum of coefficient * public column`. AVG(x) is the sum
of x over the count of x, so averages and ratios are treated alike.
Reads: the parser's tree, names. Writes: nothing. Never: a product of two aggregates, a float.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeVar

from sqlglot import exp

from thresher.config import Column, Grid
from thresher.question import ALWAYS, Aggregate, Condition
from thresher.sql.literals import NUMBER, constant_text
from thresher.sql.names import PublicColumn, Scope, Unit
from thresher.sql.refusals import Refusal, bare, shown
from thresher.sql.row_conditions import row_condition
from thresher.sql.statement import ARITHMETIC, exact_literal, sane

_Key = TypeVar("_Key")
_COUNTS = ("rows", "present", "units")


@dataclass(frozen=True, slots=True)
class Linear:
    """A form as described above. Coefficients of sums are for codes: SUM(x) is `step` times the sum of x's codes."""

    terms: Mapping[Aggregate, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)
    public: Mapping[PublicColumn, Fraction] = field(default_factory=dict)
    over: Aggregate | None = None

    @property
    def is_number(self) -> bool:
        return not self.terms and not self.public and self.over is None

    @property
    def has_aggregates(self) -> bool:
        return bool(self.terms) or self.over is not None


@dataclass(frozen=True, slots=True)
class Context:
    """The scope and the keys, on which the meaning of an aggregate depends."""

    scope: Scope
    keys: tuple[Column, ...]


def linear(node: exp.Expr, context: Context) -> Linear:
    """Return the linear form that a tree means, or refuse the tree."""
    steps: list[exp.Expr] = []
    while isinstance(node, ARITHMETIC):
        steps.append(node)
        node = node.this
    form = _simple(node, context)
    for step in reversed(steps):
        right = linear(step.expression, context)
        if isinstance(step, exp.Mul):
            form = _product(form, right, step)
        elif isinstance(step, exp.Div):
            form = _quotient(form, right, step)
        else:
            form = sum_of_forms(form, scaled(right, Fraction(-1 if isinstance(step, exp.Sub) else 1), step), step)
    return form


def scaled(form: Linear, factor: Fraction, at: exp.Expr) -> Linear:
    """Return the form times a number."""
    return Linear(
        {aggregate: _times(weight, factor, at) for aggregate, weight in form.terms.items()},
        _times(form.constant, factor, at),
        {column: _times(weight, factor, at) for column, weight in form.public.items()},
        form.over,
    )


def _times(value: Fraction, factor: Fraction, at: exp.Expr) -> Fraction:
    return value * factor if abs(factor) == 1 else sane(value * factor, at)


def sum_of_forms(left: Linear, right: Linear, at: exp.Expr) -> Linear:
    """Return the sum of two forms."""
    if left.has_aggregates and right.has_aggregates and left.over != right.over:
        message = "Averages and ratios are added only if they divide by the same count"
        raise Refusal("linear-forms", f"{message}; compare them with numbers one by one", at)
    return Linear(
        _sum(left.terms, right.terms, at),
        _plus(left.constant, right.constant, at),
        _sum(left.public, right.public, at),
        left.over or right.over,
    )


def _sum(left: Mapping[_Key, Fraction], right: Mapping[_Key, Fraction], at: exp.Expr) -> dict[_Key, Fraction]:
    # A term that cancels out stays, with factor 0: `COUNT(*) - COUNT(*)` is still made of aggregates.
    return {**left, **{key: _plus(left.get(key, Fraction(0)), weight, at) for key, weight in right.items()}}


def _plus(left: Fraction, right: Fraction, at: exp.Expr) -> Fraction:
    return sane(left + right, at) if left and right else left + right


def _product(left: Linear, right: Linear, at: exp.Expr) -> Linear:
    if right.is_number:
        return scaled(left, right.constant, at)
    if left.is_number:
        return scaled(right, left.constant, at)
    raise Refusal("linear-forms", "Aggregates are multiplied by numbers only", at)


def _quotient(left: Linear, right: Linear, at: exp.Expr) -> Linear:
    if right.is_number:
        if right.constant == 0:
            raise Refusal("exact-numbers", "Division by zero; divide by a number that is not zero", at)
        return scaled(left, 1 / right.constant, at)
    if left.over is None and right.over is None and not (left.constant or left.public or right.constant):
        counts = [item for item in right.terms.items() if item[0].measure in _COUNTS and item[1]]
        if len(counts) == len(right.terms) == 1 and not right.public and left.terms:
            return replace(scaled(left, 1 / counts[0][1], at), over=counts[0][0])
    message = "Expression can fail or leak: only aggregates are divided, by a number or by one COUNT"
    raise Refusal("linear-forms", message, at)


def _simple(node: exp.Expr, context: Context) -> Linear:
    if isinstance(node, exp.Neg):
        return scaled(linear(node.this, context), Fraction(-1), node)
    value = exact_literal(node)
    if value is not None:
        return Linear(constant=value)
    if isinstance(node, exp.Column):
        return _public(node, context)
    where: Condition = ALWAYS
    if isinstance(node, exp.Filter):
        clause = node.expression
        if not isinstance(clause, exp.Where):
            raise Refusal("readable-sql", "FILTER takes (WHERE ...)", node)
        node, where = node.this, row_condition(clause.this, context.scope)
    if isinstance(node, exp.Count):
        return Linear({_count(node, context, where): Fraction(1)})
    if isinstance(node, exp.Sum | exp.Avg):
        return _sum_or_average(node, context, where)
    if isinstance(node, exp.Literal | exp.Boolean | exp.Null | exp.Cast):
        raise _no_threshold(node)
    raise Refusal("linear-forms", f"{type(node).__name__} is not an aggregate; use COUNT, SUM, AVG and numbers", node)


def _no_threshold(node: exp.Expr) -> Refusal:
    message, text = "Thresholds must be numbers or columns of joined public tables", str(node.this)
    if isinstance(node, exp.Literal):
        hint = f"; write {bare(text)} without quotes" if NUMBER.fullmatch(text) else ""
        message = f"{message}, and {constant_text(text)} is text{hint}"
    return Refusal("constant-thresholds", message, node)


def _count(node: exp.Count, context: Context, where: Condition) -> Aggregate:
    what = node.this if isinstance(node.this, exp.Expr) else None
    if isinstance(what, exp.Star):
        return Aggregate("rows", None, where)
    if isinstance(what, exp.Distinct):
        return _units(what, context, where)
    if not isinstance(what, exp.Column):
        raise Refusal("linear-forms", "COUNT takes *, a column, or DISTINCT and the privacy unit", node)
    found = context.scope.find(what)
    unit = context.scope.table.contribution
    # Rows without a unit are never looked at.
    if isinstance(found, Unit) or (isinstance(found, Column) and unit is not None and found.name == unit.unit):
        return Aggregate("rows", None, where)
    return present_count(_private(found, context, what), context, where)


def _units(node: exp.Distinct, context: Context, where: Condition) -> Aggregate:
    contribution = context.scope.table.contribution
    columns = list(node.expressions)
    if contribution is None:
        message = "COUNT(DISTINCT ...) needs a declared privacy unit; without one each row is a different person"
        raise Refusal("distinct-unit", f"{message}. Nearest supported: COUNT(*)", node)
    found = context.scope.find(columns[0]) if len(columns) == 1 and isinstance(columns[0], exp.Column) else None
    if not isinstance(found, Unit | Column) or found.name != contribution.unit:
        message = "COUNT(DISTINCT ...) is supported for the privacy unit only"
        raise Refusal("distinct-unit", f"{message}: COUNT(DISTINCT {contribution.unit})", node)
    return Aggregate("units", None, where)


def _sum_or_average(node: exp.Expr, context: Context, where: Condition) -> Linear:
    name, what = type(node).__name__.upper(), node.this
    if isinstance(what, exp.Distinct):
        raise Refusal("distinct-unit", f"{name}(DISTINCT ...) is not supported; use {name}(x)", node)
    if not isinstance(what, exp.Column):
        raise Refusal("linear-forms", f"{name} takes the name of one declared column", node)
    column = _private(context.scope.find(what), context, what)
    if not isinstance(column.kind, Grid):
        message = f"{name} needs numbers with bounds. Declare bounds for {shown(column.name)}: min, max and step"
        raise Refusal("declared-bounds", message, what)
    total = Linear({Aggregate("total", column.name, where): column.kind.step})
    return total if isinstance(node, exp.Sum) else replace(total, over=present_count(column, context, where))


def present_count(column: Column, context: Context, where: Condition) -> Aggregate:
    """Return COUNT(x), which counts all rows where x is a key of the group or never NULL."""
    if column.kind.missing is not None or column in context.keys:
        return Aggregate("rows", None, where)
    return Aggregate("present", column.name, where)


def _private(found: Column | PublicColumn | Unit, context: Context, node: exp.Expr) -> Column:
    if isinstance(found, PublicColumn):
        message = f"Aggregates take columns of the private table {shown(context.scope.table.name)}"
        raise Refusal("linear-forms", message, node)
    return context.scope.private(node)


def _public(node: exp.Column, context: Context) -> Linear:
    found = context.scope.find(node)
    if not isinstance(found, PublicColumn):
        message = f"{shown(found.name)} stands outside an aggregate; conditions on rows belong in WHERE"
        raise Refusal("aggregates-in-having", message, node)
    if found.on not in [column.name for column in context.keys]:
        message = f"A threshold from {shown(found.table)} needs the joined column {shown(found.on)} in GROUP BY"
        raise Refusal("constant-thresholds", message, node)
    return Linear(public={found: Fraction(1)})
