"""What a question means, row by row in plain Python: the reference that its conditions and atoms are read by."""

from collections.abc import Mapping
from datetime import date, datetime
from fractions import Fraction

from thresher.config import Bands, Column, Days, Grid, Hours, Truth, day_code
from thresher.question import (
    Aggregate,
    AllOf,
    AnyOf,
    Atom,
    Condition,
    Every,
    Formula,
    Missing,
    NoneOf,
    OneOf,
    Present,
    Question,
    Within,
)

Row = Mapping[str, object]


def code(column: Column, row: Row):
    """The code of a stored value, by the rules in `config/columns.py`; None is NULL."""
    kind = column.kind
    if isinstance(kind, Bands):
        number = row[kind.of]
        inside = [] if number is None else [i for i in kind.codes() if kind.edges[i] <= number < kind.edges[i + 1]]
        return inside[0] if inside else None
    value = row[column.name]
    if isinstance(kind, Grid):
        value = kind.missing if value is None else min(max(Fraction(value), kind.minimum), kind.maximum)
        return None if value is None else (value / kind.step + Fraction(1, 2)).__floor__()
    if value is None:
        return None
    if isinstance(kind, Days):
        assert isinstance(value, date)
        return day_code(value) if kind.first <= value <= kind.last else None
    if isinstance(kind, Hours):
        assert isinstance(value, datetime)
        return 24 * day_code(value.date()) + value.hour if kind.first <= value.date() <= kind.last else None
    return int(value) if isinstance(kind, Truth) else value


def holds(condition: Condition, codes: Mapping[str, object]) -> bool:
    if isinstance(condition, AllOf):
        return all(holds(part, codes) for part in condition.parts)
    if isinstance(condition, AnyOf):
        return any(holds(part, codes) for part in condition.parts)
    return _leaf_holds(condition, codes[condition.column])


def _leaf_holds(condition: Condition, found) -> bool:
    if isinstance(condition, Missing) or found is None:
        return isinstance(condition, Missing) and found is None
    if isinstance(condition, Within):
        return (condition.low is None or found >= condition.low) and (condition.high is None or found <= condition.high)
    if isinstance(condition, OneOf | NoneOf):
        return (found in condition.codes) == isinstance(condition, OneOf)
    assert isinstance(condition, Present)
    return True


def value(aggregate: Aggregate, rows: list[dict[str, object]]) -> int:
    inside = [row for row in rows if holds(aggregate.where, row)]
    if aggregate.measure == "rows":
        return len(inside)
    if aggregate.measure == "units":
        return len({row["(unit)"] for row in inside})
    found = [row[aggregate.column] for row in inside if row[aggregate.column] is not None]
    return len(found) if aggregate.measure == "present" else sum(found)


def decided(formula: Formula | bool, rows: list[dict[str, object]], group: int) -> bool:
    if isinstance(formula, bool):
        return formula
    if isinstance(formula, Atom):
        bound = formula.at_least if isinstance(formula.at_least, int) else formula.at_least[group]
        return sum(weight * value(aggregate, rows) for aggregate, weight in formula.weights) >= bound
    parts = (decided(part, rows, group) for part in formula.parts)
    return all(parts) if isinstance(formula, Every) else any(parts)


def answer(question: Question, rows: list[Row]) -> dict[tuple, tuple[bool, bool]]:
    """For each group whether the formula holds there, and whether any row is left in it."""
    unit = question.table.contribution.unit if question.table.contribution else None
    coded = [
        {name: code(column, row) for name, column in question.table.columns.items()} | {"(unit)": row.get(unit)}
        for row in rows
    ]
    coded = [row for row in coded if holds(question.where, row)]
    found = {}
    for place, group in enumerate(question.groups):
        inside = [row for row in coded if tuple(row[column.name] for column in question.keys) == group]
        found[group] = (decided(question.formula, inside, place), bool(inside))
    return found
