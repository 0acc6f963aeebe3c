"""The limit on groups of a unit, and on rows in each group: chosen in SQL, from the unit's own rows only.

The order is that of a digest over the table's name and version, the unit and the codes. So it prefers no value, and it
is the same in every database. Rows with the same codes count alike in every question, so their order does not matter.
Reads: declarations, the catalogue. Writes: SQL text. Never: a choice that depends on another unit's rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from thresher.config import Code, Column, Listed, Numbered, Table
from thresher.errors import BugError
from thresher.question import ALWAYS, Condition
from thresher.sources.codes import Coded, RelationColumns, code_type, coded, codes_as_stored
from thresher.sources.dialect import Dialect
from thresher.sources.protocol import Family
from thresher.sources.scan_statements import Brought, Rows, condition_sql

# The families of units that are compared as they are. Others are compared as text, which is the same for equal values.
_COMPARABLE = (Family.INTEGER, Family.TRUTH, Family.DATE, Family.MOMENT, Family.ZONED)


@dataclass(frozen=True, slots=True)
class Bounding:
    """A SELECT of the rows that count, its columns (u, c0, c1, …) with types, and its array parameters.

    The parameters are the domains of the keys, and the long lists of `among`.
    """

    sql: str
    columns: tuple[tuple[str, str], ...]
    parameters: tuple[Sequence[Code], ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """The place of the chosen rows: a table, or the SELECT itself with its parameters."""

    relation: str
    parameters: tuple[Sequence[Code], ...] = ()


def raw_rows(table: Table, relation: str, found: RelationColumns) -> Rows:
    """Return the rows as they are. With a declared unit, only for a table in which each unit has at most one row."""
    names = {name: f"t.{found.dialect.identifier(name)}" for name in found.columns}
    columns = {name: coded(column, table.columns, names, found) for name, column in table.columns.items()}
    kept = None if table.contribution is None else f"{names[table.contribution.unit]} IS NOT NULL"
    return Rows(f"{relation} t", columns, None, kept)


def bounded_rows(table: Table, kept: Kept, dialect: Dialect) -> Rows:
    """Return the rows of a relation made by `bounding`."""
    if table.contribution is None:
        raise BugError("rows are bounded only where units are declared")
    columns = {name: _kept(column, f"t.c{n}", dialect) for n, (name, column) in enumerate(by_name(table))}
    unit = None if table.contribution.max_rows == 1 else "t.u"
    return Rows(f"{kept.relation} t", columns, unit, None, kept.parameters)


def by_name(table: Table) -> list[tuple[str, Column]]:
    """Return the columns by the bytes of their names, so that their order in the declarations chooses no other rows."""
    return sorted(table.columns.items(), key=lambda named: named[0].encode())


def _kept(column: Column, name: str, dialect: Dialect) -> Coded:
    kind, largest, text = code_type(column.kind, dialect)
    return codes_as_stored(name, kind, largest, text=text)


def bounding(
    table: Table, keys: Sequence[Column], relation: str, found: RelationColumns, among: Condition = ALWAYS
) -> Bounding:
    """Return the SELECT of the rows of each unit that count when the table is grouped by `keys`, among given rows."""
    dialect, limits = found.dialect, table.contribution
    if limits is None:
        raise BugError("rows are bounded only where units are declared")
    names = {name: f"t.{dialect.identifier(name)}" for name in found.columns}
    columns = [coded(column, table.columns, names, found) for _, column in by_name(table)]
    place = {name: f"c{n}" for n, (name, _) in enumerate(by_name(table))}
    # Texts are compared by bytes, which decides the smallest text of a fixed column.
    codes = [dialect.raw_text(column.code) if column.text else column.code for column in columns]
    listed = ", ".join(f"{code} AS c{n}" for n, code in enumerate(codes))
    unit = unit_expression(found, limits.unit, names[limits.unit])
    coded_rows = f"SELECT {unit} AS u, {listed} FROM {relation} t WHERE {names[limits.unit]} IS NOT NULL"
    brought = Brought([])
    if among != ALWAYS:
        coded_rows += f" AND {condition_sql(among, dict(zip(place, columns, strict=True)), dialect, brought)}"
    fixed = [place[name] for name, column in table.columns.items() if column.fixed]
    smallest = "".join(f", min({name}) OVER (PARTITION BY u) AS m{name}" for name in fixed)
    conditions = [f"({name} IS NULL OR {name} = m{name})" for name in fixed]
    for key in keys:
        name = place[key.name]
        if isinstance(key.kind, Listed | Numbered):
            listing = brought.place(list(key.kind.codes()))
            conditions.append(dialect.in_array(name, code_type(key.kind, dialect)[0], listing))
        else:
            conditions.append(f"{name} IS NOT NULL")
    grouped = [place[key.name] for key in keys]
    texts = [column.text for column in columns]
    who = dialect.unit_text(found.columns[limits.unit], "u")
    order = _orders(table, who, grouped, texts, dialect)
    inside = f"SELECT r.*{order} FROM (SELECT r.*{smallest} FROM ({coded_rows}) r) r" + (
        f" WHERE {' AND '.join(conditions)}" if conditions else ""
    )
    typed = (("u", unit_type(found, limits.unit)), *((f"c{n}", column.type) for n, column in enumerate(columns)))
    kept = ", ".join(name for name, _ in typed)
    sql = f"SELECT {kept} FROM ({_ranked(inside, grouped)}) r WHERE group_place <= {limits.max_groups}"
    return Bounding(f"{sql} AND row_place <= {limits.max_rows}", typed, tuple(brought.arrays))


def unit_expression(found: RelationColumns, unit: str, name: str) -> str:
    column = found.columns[unit]
    if column.family in _COMPARABLE:
        return name
    if column.family in (Family.TEXT, Family.WRITTEN):
        return found.dialect.raw_text(name)
    return found.dialect.decimal_text(name)


def unit_type(found: RelationColumns, unit: str) -> str:
    column = found.columns[unit]
    return column.type if column.family in _COMPARABLE else found.dialect.text_type


def _ranked(inside: str, grouped: Sequence[str]) -> str:
    codes = "".join(f", {name}" for name in grouped)
    group_place = f"dense_rank() OVER (PARTITION BY u ORDER BY group_order{codes})" if grouped else "1"
    row_place = f"row_number() OVER (PARTITION BY u{codes} ORDER BY row_order)"
    return f"SELECT r.*, {group_place} AS group_place, {row_place} AS row_place FROM ({inside}) r"


def _orders(table: Table, who: str, grouped: Sequence[str], texts: Sequence[bool], dialect: Dialect) -> str:
    """Return the two digests: of the unit and the group, and of the unit and the whole row."""
    start = dialect.text("".join(f"{len(part.encode())}:{part}" for part in (table.name, table.edition)))
    unit = _digested(who, dialect)
    codes = [_marked(f"c{n}", is_text, dialect) for n, is_text in enumerate(texts)]
    of_group = [code for n, code in enumerate(codes) if f"c{n}" in grouped]
    made = f", {dialect.digest([start, unit, *of_group])} AS group_order" if grouped else ""
    return f"{made}, {dialect.digest([start, unit, *codes])} AS row_order"


def _marked(name: str, is_text: bool, dialect: Dialect) -> str:  # noqa: FBT001 - a fact about the column
    """Return a code with its length before it, so that no two rows give the same text; NULL has another mark."""
    measured = _digested(name, dialect) if is_text else _measured(dialect.as_text(name), dialect)
    return f"CASE WHEN {name} IS NULL THEN '-' ELSE {measured} END"


def _measured(text: str, dialect: Dialect) -> str:
    return f"{dialect.as_text(dialect.octets(text))} || ':' || {text}"


def _digested(text: str, dialect: Dialect) -> str:
    """Return the digest of a text in its place: a row of huge texts would be longer than a database can join."""
    return f"'32:' || {dialect.digest([text])}"
