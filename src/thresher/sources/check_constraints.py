"""Read bounds and lists of values from the text of a CHECK constraint, which a person wrote.

Reads: the text of constraints, from a catalogue. Writes: nothing. Never: rows.
"""

from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from typing import Any

import sqlglot
from sqlglot import expressions as sql

from thresher.config.catalogue_facts import ColumnFacts, with_fact

_DOMAIN = "value"
_MIRRORED: dict[Any, Any] = {sql.GT: sql.LT, sql.GTE: sql.LTE, sql.LT: sql.GT, sql.LTE: sql.GTE, sql.EQ: sql.EQ}
_Value = Fraction | date | str
_Facts = Iterator[tuple[str, ColumnFacts]]


def facts_in_check(text: str, dialect: str, domain_of: str | None = None) -> dict[str, ColumnFacts]:
    """Return what a CHECK says about each column; nothing of parts that are not understood.

    text         such as `CHECK (age >= 0 AND ward IN ('eye', 'stroke'))`
    domain_of    the column whose type has this constraint, which then calls it VALUE
    """
    begin, end = text.find("("), text.rfind(")")
    try:
        tree = sqlglot.parse_one(f"SELECT {text[begin : end + 1]}", dialect=dialect).expressions[0]
    except (sqlglot.errors.SqlglotError, RecursionError, IndexError):
        return {}
    facts: dict[str, ColumnFacts] = {}
    for name, fact in _facts(tree):
        if domain_of is None or name.casefold() == _DOMAIN:
            facts = with_fact(facts, domain_of or name, fact)
    return facts


def _facts(tree: Any) -> _Facts:
    """Yield facts of the conjuncts that compare one column with constants."""
    tree = _plain(tree)
    if isinstance(tree, sql.And):
        yield from _facts(tree.left)
        yield from _facts(tree.right)
    elif isinstance(tree, sql.Between):
        yield from _compared(sql.GTE, tree.this, tree.args["low"])
        yield from _compared(sql.LTE, tree.this, tree.args["high"])
    elif isinstance(tree, sql.In) and tree.expressions:
        yield from _listed(tree.this, tree.expressions)
    elif isinstance(tree, sql.EQ) and isinstance(_plain(tree.right), sql.Any):
        array = _plain(_plain(tree.right).this)
        if isinstance(array, sql.Array):
            yield from _listed(tree.left, array.expressions)
    elif type(tree) in _MIRRORED:
        yield from _compared(type(tree), tree.left, tree.right)
        yield from _compared(_MIRRORED[type(tree)], tree.right, tree.left)


def _compared(kind: type[Any], left: Any, right: Any) -> _Facts:
    """Yield what a comparison of a column with a constant says. A bound itself may be one value too wide."""
    column, value = _column(left), _value(right)
    if column is None or value is None:
        return
    if isinstance(value, str):
        if kind is sql.EQ:
            yield column, ColumnFacts(values=(value,))
        return
    if kind in (sql.GT, sql.GTE, sql.EQ):
        yield column, ColumnFacts(lowest=value)
    if kind in (sql.LT, sql.LTE, sql.EQ):
        yield column, ColumnFacts(highest=value)


def _listed(of: Any, elements: list[Any]) -> _Facts:
    column, values = _column(of), [_value(element) for element in elements]
    texts = [value for value in values if isinstance(value, str)]
    wholes = [int(value) for value in values if isinstance(value, Fraction) and value.denominator == 1]
    if column is not None and len(values) in (len(texts), len(wholes)):
        yield column, ColumnFacts(values=tuple(dict.fromkeys(texts or wholes)))


def _column(tree: Any) -> str | None:
    """Return the column that an expression is, perhaps cast to text."""
    tree = _plain(tree)
    if isinstance(tree, sql.Cast) and tree.to.this in sql.DataType.TEXT_TYPES:
        tree = _plain(tree.this)
    return tree.name if isinstance(tree, sql.Column) else None


def _value(tree: Any) -> _Value | None:
    tree = _plain(tree)
    if isinstance(tree, sql.Cast):
        return _cast(_value(tree.this), tree.to.this)
    if isinstance(tree, sql.Neg):
        value = _value(tree.this)
        return -value if isinstance(value, Fraction) else None
    if not isinstance(tree, sql.Literal):
        return None
    return str(tree.this) if tree.is_string else _number(str(tree.this))


def _cast(value: _Value | None, kind: Any) -> _Value | None:
    if not isinstance(value, str) or kind in sql.DataType.TEXT_TYPES:
        return value
    if kind in sql.DataType.NUMERIC_TYPES:
        return _number(value)
    try:
        return date.fromisoformat(value) if kind == sql.DataType.Type.DATE else None
    except ValueError:
        return None


def _number(text: str) -> Fraction | None:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def _plain(tree: Any) -> Any:
    """Return the expression without its parentheses, and an array without the cast around it."""
    while isinstance(tree, sql.Paren) or (isinstance(tree, sql.Cast) and tree.to.this == sql.DataType.Type.ARRAY):
        tree = tree.this
    return tree
