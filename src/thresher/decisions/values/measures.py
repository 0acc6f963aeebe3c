"""Find the distinct numbers behind a formula's conditions: what each adds up, over which rows, and its sensitivity.

`COUNT(*) > 10 AND COUNT(*) < 50` has two conditions and one number. Numbers that add up the same thing over different
rows, or different things over the same rows, can be measured together (`strategies.py`), so this module tells which
rows and which things they are.
Reads: atoms, declarations. Writes: nothing. Never: data.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from thresher.config import Grid, Table
from thresher.question import ALWAYS, Aggregate, AllOf, Atom, Condition, Missing, Present, sensitivity
from thresher.question.code_sets import boxes, meet, whole

Weights = tuple[tuple[Aggregate, int], ...]


@dataclass(frozen=True, slots=True)
class RowNumber:
    """What a row adds to a number: `present`, and `total` times its code in `column`, if there is a column."""

    present: int
    total: int = 0
    column: str | None = None

    def at(self, code: int) -> int:
        return self.present + self.total * code


ONE = RowNumber(1)


@dataclass(frozen=True, slots=True)
class Measure:
    """One number for each group. A row that satisfies none of its filters (a bit mask) does not move it.

    `row` is what a row adds if it satisfies the one filter at `place`; None if the number is made of several filters.
    `around` is that filter without the condition that the column has a value. `by_unit`: the number counts units that
    may have several rows, so rows move it together and not separately.
    """

    weights: Weights
    filters: int
    sensitivity: int
    row: RowNumber | None = None
    place: int = -1
    around: Condition = ALWAYS
    by_unit: bool = False


@dataclass(frozen=True, slots=True)
class Literal:
    """A condition as the sign of a number: it is true where `sign * number - at_least` is 0 or more.

    `slack`: how far the number may fall short while the condition is still reported.
    """

    measure: int
    sign: int
    at_least: int | tuple[int, ...]
    slack: int


@dataclass(frozen=True, slots=True)
class FormulaNumbers:
    """The numbers of a formula, their filters, and the formula's conditions in order."""

    measures: tuple[Measure, ...]
    filters: tuple[Condition, ...]
    literals: tuple[Literal, ...]


def numbers_behind(atoms: Sequence[Atom], slacks: Sequence[int], table: Table) -> FormulaNumbers:
    """Return the numbers behind these conditions, each once."""
    places: dict[Weights, int] = {}
    filters: dict[Condition, int] = {}
    measures: list[Measure] = []
    literals: list[Literal] = []
    for atom, slack in zip(atoms, slacks, strict=True):
        weights = _plain(atom.weights, table)
        sign = 1 if weights[0][1] > 0 else -1
        upright = tuple((aggregate, sign * weight) for aggregate, weight in weights)
        if upright not in places:
            places[upright] = len(measures)
            measures.append(_measure(upright, sensitivity(atom, table), filters, table))
        literals.append(Literal(places[upright], sign, atom.at_least, slack))
    return FormulaNumbers(tuple(measures), tuple(filters), tuple(literals))


def filter_of(aggregate: Aggregate, table: Table) -> Condition:
    """Return the rows that move an aggregate: those of its FILTER, with a value if one can be missing."""
    where, name = aggregate.where, aggregate.column
    if name is None or not meet(meet(whole(table), boxes(where, table)), boxes(Missing(name), table)):
        return where
    return conjunction((where, Present(name)))


def conjunction(conditions: Sequence[Condition]) -> Condition:
    """Return the AND of conditions, flat and without repetition."""
    parts: dict[Condition, None] = {}
    for condition in conditions:
        parts.update(dict.fromkeys(condition.parts if isinstance(condition, AllOf) else (condition,)))
    return next(iter(parts)) if len(parts) == 1 else AllOf(tuple(parts))


def _plain(weights: Weights, table: Table) -> Weights:
    """Return a count of units as a count of rows if a unit has one row in a group."""
    if len(weights) == 1 and weights[0][0].measure == "units" and table.rows_per_unit == 1:
        return ((Aggregate("rows", None, weights[0][0].where), weights[0][1]),)
    return weights


def _measure(weights: Weights, spread: int, filters: dict[Condition, int], table: Table) -> Measure:
    conditions = [filter_of(aggregate, table) for aggregate, _ in weights]
    places = [filters.setdefault(condition, len(filters)) for condition in conditions]
    mask = sum(1 << place for place in set(places))
    kinds = [aggregate.measure for aggregate, _ in weights]
    by_unit = "units" in kinds and table.rows_per_unit > 1
    row = _row(weights, table) if len(set(places)) == 1 and "units" not in kinds else None
    if row is None:
        return Measure(weights, mask, spread, by_unit=by_unit)
    return Measure(weights, mask, spread, row, places[0], weights[0][0].where)


def _row(weights: Weights, table: Table) -> RowNumber | None:
    """Return what a row of the one filter adds; None if that is not a constant plus a multiple of one column."""
    columns = {aggregate.column for aggregate, _ in weights if aggregate.measure == "total"}
    present = sum(weight for aggregate, weight in weights if aggregate.measure != "total")
    total = sum(weight for aggregate, weight in weights if aggregate.measure == "total")
    if not columns:
        return RowNumber(present)
    name = next(iter(columns))
    if len(columns) > 1 or name is None or not isinstance(table.columns[name].kind, Grid):
        return None
    return RowNumber(present, total, name)
