"""One statement for a need: every declared group with its aggregates, however many conditions there are; or rows.

The rows are grouped by the codes of the keys and aggregated once. The declared groups are joined to the result, so that
empty groups are in it and undeclared ones never leave the database.
Reads: a need, the catalogue. Writes: SQL text. Never: SQL of a user; rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from thresher.config import Code
from thresher.errors import BugError
from thresher.question import (
    ALWAYS,
    Aggregate,
    AllOf,
    AnyOf,
    Condition,
    Missing,
    Need,
    NoneOf,
    OneOf,
    Present,
    RowsNeed,
    Within,
)
from thresher.question.code_sets import code_runs
from thresher.sources.codes import NARROW, NO, Coded
from thresher.sources.dialect import Dialect

_YES = "1 = 1"
# Up to this many runs of neighbouring codes are written as intervals, for which no code must be computed.
_FEW_RUNS = 3
# Up to this many codes are constants in the statement; longer lists are passed as an array.
_FEW_CODES = 1000


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows to aggregate: a relation with alias and array parameters, its columns as codes, a condition, its unit.

    `unit` is None if a unit has at most one row in every group: then units are counted as rows.
    """

    relation: str
    columns: Mapping[str, Coded]
    unit: str | None = None
    where: str | None = None
    parameters: tuple[Sequence[Code], ...] = ()


@dataclass(frozen=True, slots=True)
class ScanStatement:
    """SQL, its array parameters, and which aggregates are returned as text because they may be wider than 64 bits."""

    sql: str
    parameters: tuple[Sequence[Code], ...]
    wide: tuple[bool, ...]


@dataclass(slots=True)
class Brought:
    """The array parameters of a statement, while it is written."""

    arrays: list[Sequence[Code]]

    def place(self, codes: Sequence[Code]) -> int:
        """Return the number of the parameter that holds these codes. Equal lists share a parameter."""
        if codes not in self.arrays:
            self.arrays.append(codes)
        return self.arrays.index(codes) + 1


def statement(need: Need, rows: Rows, dialect: Dialect) -> ScanStatement:
    """Return the statement of a need. Its first column is the place of the group."""
    wide = tuple(is_wide(aggregate, rows) for aggregate in need.aggregates)
    brought = Brought(list(rows.parameters))
    measured = [measure(aggregate, rows, dialect, brought) for aggregate in need.aggregates]
    named = [f"{expression} AS a{n}" for n, expression in enumerate(measured)]
    conditions = [] if rows.where is None else [rows.where]
    asked = [part for part in (need.among, need.where) if part != ALWAYS]
    conditions += [condition_sql(part, rows.columns, dialect, brought) for part in asked]
    tail = f" FROM {rows.relation}" + (f" WHERE {' AND '.join(conditions)}" if conditions else "")
    if not need.keys:
        return ScanStatement(f"SELECT 0 AS i, {', '.join(named)}{tail}", tuple(brought.arrays), wide)
    columns = [rows.columns[key.name] for key in need.keys]
    grouped = [f"{column.code} AS k{n}" for n, column in enumerate(columns)]
    places = ", ".join(str(n + 1) for n in range(len(columns)))
    inner = f"SELECT {', '.join(grouped + named)}{tail} GROUP BY {places}"
    nothing = ["'0'" if is_text else "0" for is_text in wide]
    shown = ", ".join(["d.i AS i", *(f"coalesce(g.a{n}, {zero}) AS a{n}" for n, zero in enumerate(nothing))])
    same = " AND ".join(
        dialect.same_text(f"d.k{n}", f"g.k{n}") if column.text else f"d.k{n} = g.k{n}"
        for n, column in enumerate(columns)
    )
    arrays = tuple([group[n] for group in need.groups] for n in range(len(columns)))
    keys, listed = dialect.keys([column.type for column in columns], arrays, len(brought.arrays) + 1)
    return ScanStatement(dialect.joined(shown, keys, inner, same), (*brought.arrays, *listed), wide)


def listing(need: RowsNeed, rows: Rows) -> ScanStatement:
    """Return the statement for the codes of some columns, row by row, of rows that have all of them."""
    columns = [rows.columns[column.name] for column in need.columns]
    if any(column.text for column in columns):
        raise BugError("rows are listed as whole numbers")
    conditions = [*([] if rows.where is None else [rows.where]), *(f"{column.code} IS NOT NULL" for column in columns)]
    listed = ", ".join(f"{column.code} AS c{n}" for n, column in enumerate(columns))
    sql = f"SELECT {listed} FROM {rows.relation} WHERE {' AND '.join(conditions)}"
    return ScanStatement(sql, rows.parameters, (False,) * (len(columns) - 1))


def is_wide(aggregate: Aggregate, rows: Rows) -> bool:
    return aggregate.measure == "total" and rows.columns[aggregate.column or ""].largest > NARROW


def measure(aggregate: Aggregate, rows: Rows, dialect: Dialect, brought: Brought) -> str:
    """Return one aggregate as SQL."""
    where = None if aggregate.where == ALWAYS else condition_sql(aggregate.where, rows.columns, dialect, brought)
    if aggregate.measure == "units" and rows.unit is not None:
        return dialect.distinct(rows.unit, where)
    if aggregate.measure in ("rows", "units"):
        return dialect.count(where)
    column = rows.columns[aggregate.column or ""]
    if aggregate.measure == "present":
        return dialect.count(column.present if where is None else f"({where} AND {column.present})")
    return dialect.total(column.code, where, wide=is_wide(aggregate, rows))


def condition_sql(asked: Condition, columns: Mapping[str, Coded], dialect: Dialect, brought: Brought) -> str:
    """Return a condition as SQL that is true where it holds, and false or unknown elsewhere."""
    if isinstance(asked, AllOf | AnyOf):
        parts = [condition_sql(part, columns, dialect, brought) for part in asked.parts]
        if not parts:
            return _YES if isinstance(asked, AllOf) else NO
        return f"({(' AND ' if isinstance(asked, AllOf) else ' OR ').join(parts)})"
    column = columns[asked.column]
    if isinstance(asked, Within):
        return column.between(asked.low, asked.high)
    if isinstance(asked, Missing):
        return f"{column.code} IS NULL"
    if isinstance(asked, Present):
        return column.present
    return _listed(asked, column, dialect, brought)


def _listed(asked: OneOf | NoneOf, column: Coded, dialect: Dialect, brought: Brought) -> str:
    if not asked.codes:
        return NO if isinstance(asked, OneOf) else column.present
    runs = () if column.text or isinstance(asked, NoneOf) else code_runs(int(code) for code in asked.codes)
    if runs and len(runs) <= _FEW_RUNS:
        parts = [column.between(low, high) for low, high in runs]
        return parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"
    if len(asked.codes) > _FEW_CODES and dialect.takes_long_lists:
        inside = dialect.in_array(column.code, column.type, brought.place(asked.codes))
        return inside if isinstance(asked, OneOf) else f"NOT ({inside})"
    constants = ", ".join(dialect.constant(code) for code in asked.codes)
    return f"{column.code} {'IN' if isinstance(asked, OneOf) else 'NOT IN'} ({constants})"
