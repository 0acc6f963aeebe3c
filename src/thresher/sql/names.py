"""What names mean: the private table, joined public tables, their columns, the keys, and the groups asked about.

A name without quotes matches a declared name in any case of letters; a quoted name must match exactly. The groups are
all combinations of the keys' public values, without those that WHERE rules out.
Reads: declarations, public tables, WHERE. Writes: nothing. Never: suggests a name that is not declared; looks at data;
joins a private table, whose rows would multiply.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from thresher.config import Code, Column, Declarations, Table, Text
from thresher.config.sections import did_you_mean
from thresher.question import ALWAYS, Condition, PublicTable, PublicValue, narrowed, possible, with_public_values
from thresher.sql.encoding import among, code_of
from thresher.sql.literals import not_finite
from thresher.sql.refusals import Refusal, bare, shown
from thresher.sql.statement import Statement, check_parts, joined_table

Group = tuple[Code, ...]
# Every code of a domain is tried that WHERE leaves; a million take a second.
_MOST_CODES = 1_000_000


@dataclass(frozen=True, slots=True)
class Unit:
    """The column of the privacy unit, if it is not declared as a column too."""

    name: str


@dataclass(frozen=True, slots=True)
class PublicColumn:
    """A column of a joined public table. `on` is the private column that it is joined to."""

    alias: str
    table: str
    name: str
    on: str


@dataclass(frozen=True, slots=True)
class Joined:
    """A public table and the private column it is joined to. `row_of` is the public row of each of its codes."""

    alias: str
    table: PublicTable
    on: str
    column: str
    row_of: Mapping[Code, int]


@dataclass(frozen=True, slots=True)
class Scope:
    """All names that the statement may use."""

    table: Table
    alias: str
    joins: tuple[Joined, ...] = ()
    # Notes about conditions that are understood, but hardly meant.
    notes: list[str] = field(default_factory=list)

    def find(self, node: exp.Expr) -> Column | PublicColumn | Unit:
        """Return the column that a name stands for, or refuse the name."""
        name, quoted = identifier(node.this)
        qualifier = node.args.get("table")
        places = self._places(qualifier)
        meanings = [item for place in places for item in self._in(place, name, quoted)]
        if len(meanings) > 1:
            raise Refusal("known-columns", f"{shown(name)} may mean several columns; write table.column", node)
        if not meanings and not quoted and not_finite(name):
            raise Refusal("exact-numbers", f"{shown(name)} is not a finite number; write one such as 100", node)
        if not meanings:
            raise self._unknown(name, places, node, quoted=quoted)
        return meanings[0]

    def _unknown(self, name: str, places: Sequence["Joined | None"], node: exp.Expr, *, quoted: bool) -> Refusal:
        where = f"is declared in [tables.{bare(self.table.name)}.columns]"
        joined = " or ".join(shown(place.table.name) for place in places if place is not None)
        if joined:
            where = f"{where}, nor is one in {joined}" if None in places else f"is in the public table {joined}"
        near = did_you_mean(name, [known for place in places for known in self._names(place)])
        text = f"{' Text' if near else '; text'} takes single quotes: '{bare(name)}'" if quoted else ""
        return Refusal("known-columns", f"No column {shown(name)} {where}{near}{text}", node)

    def private(self, node: exp.Expr) -> Column:
        """Return the declared private column that a name stands for; a public column joined to it stands for it too."""
        column = self.find(node)
        if isinstance(column, PublicColumn) and column.name == self.join(column).column:
            return self.table.columns[column.on]
        if isinstance(column, PublicColumn):
            message = f"{shown(column.name)} is a column of a public table; use a column of {shown(self.table.name)}"
            raise Refusal("declared-domains", message, node)
        if isinstance(column, Unit):
            unit = shown(column.name)
            message = f"{unit} is the privacy unit, which may only be counted: COUNT(DISTINCT {column.name})"
            raise Refusal("distinct-unit", message, node)
        return column

    def join(self, column: PublicColumn) -> Joined:
        return next(joined for joined in self.joins if joined.alias == column.alias)

    def values(self, column: PublicColumn) -> Mapping[Code, PublicValue]:
        """Return the public value for each code of the joined private column."""
        joined = self.join(column)
        values = joined.table.columns[column.name]
        return {code: values[row] for code, row in joined.row_of.items()}

    def of_joins(self, keys: Sequence[Column]) -> list[Condition]:
        """Return the conditions of the joins: the row's value must stand in the joined public table."""
        parts = []
        for joined in self.joins:
            column = self.table.columns[joined.on]
            # Rows of undeclared groups are not looked at, so a join that holds every declared group takes none away.
            if column not in keys or not all(code in joined.row_of for code in column.kind.codes()):
                parts.append(among(column, joined.row_of))
        return parts

    def _places(self, qualifier: exp.Expr | None) -> tuple["Joined | None", ...]:
        """Return the tables to look in; None is the private table."""
        everywhere: dict[str, Joined | None] = {self.alias: None, **{joined.alias: joined for joined in self.joins}}
        if qualifier is None:
            return tuple(everywhere.values())
        name, quoted = identifier(qualifier)
        tables = matching(name, everywhere, quoted=quoted)
        if len(tables) != 1:
            raise Refusal("known-columns", f"No table {shown(name)} in FROM{did_you_mean(name, everywhere)}", qualifier)
        return (everywhere[tables[0]],)

    def _names(self, place: "Joined | None") -> list[str]:
        if place is not None:
            return list(place.table.columns)
        unit = [self.table.contribution.unit] if self.table.contribution else []
        return [*self.table.columns, *(name for name in unit if name not in self.table.columns)]

    def _in(self, place: "Joined | None", name: str, quoted: bool) -> list[Column | PublicColumn | Unit]:  # noqa: FBT001
        matches = matching(name, self._names(place), quoted=quoted)
        if place is not None:
            return [PublicColumn(place.alias, place.table.name, match, place.on) for match in matches]
        columns = self.table.columns
        return [columns[match] if match in columns else Unit(match) for match in matches]


def scope_of(statement: Statement, declarations: Declarations, public: Mapping[str, PublicTable]) -> Scope:
    """Return the scope of the private table of the statement, without joins."""
    name = declared_name(statement.table, declarations)
    if name in declarations.public_tables and name not in declarations.tables:
        message = f"{shown(name)} is public: ask about a private table, and join public ones"
        raise Refusal("declared-tables-only", message, statement.table)
    table = with_public_values(declarations.tables[name], public)
    return Scope(table, alias_of(statement.table, name))


def with_joins(
    scope: Scope, joins: Sequence[exp.Join], declarations: Declarations, public: Mapping[str, PublicTable]
) -> Scope:
    """Return the scope with the public tables joined, each by an equality of two columns."""
    for join in joins:
        node, on = joined_table(join)
        other = declared_name(node, declarations)
        if other not in declarations.public_tables:
            message = f"{shown(other)} is not declared public, and only public tables are joined: with a private one, "
            raise Refusal("public-joins-only", f"{message}no bound on one person's rows would hold", node)
        scope = _with_join(scope, alias_of(node, other), public[other], on)
    return scope


def _with_join(scope: Scope, alias: str, public: PublicTable, on: exp.Expr) -> Scope:
    if alias.lower() in (scope.alias.lower(), *(joined.alias.lower() for joined in scope.joins)):
        raise Refusal("public-joins-only", f"{shown(alias)} stands twice in FROM; give one an alias", on)
    half = Scope(scope.table, scope.alias, (*scope.joins, Joined(alias, public, "", "", {})))
    sides: list[Column | PublicColumn | Unit] = []
    if isinstance(on, exp.EQ):
        for part in on.walk():
            check_parts(part)
        parts = (on.this, on.expression)
        sides = [half.find(side) for side in parts if isinstance(side, exp.Column)]
    private = [side for side in sides if isinstance(side, Column)]
    other = [side for side in sides if isinstance(side, PublicColumn) and side.alias == alias]
    if len(private) != 1 or len(other) != 1:
        raise Refusal("public-joins-only", "ON takes one equality: private.column = public.column", on)
    column, name = private[0], other[0].name
    joined = Joined(alias, public, column.name, name, _rows(column, public, name, on))
    return Scope(scope.table, scope.alias, (*scope.joins, joined))


def _rows(column: Column, public: PublicTable, name: str, on: exp.Expr) -> dict[Code, int]:
    rows: dict[Code, int] = {}
    for row, value in enumerate(public.columns[name]):
        code = None if value is None else code_of(column, value, on)
        if code is not None and code in rows:
            message = f"{shown(public.name + '.' + name)} holds a value twice; a join needs each value once"
            raise Refusal("public-joins-only", message, on)
        if code is not None:
            rows[code] = row
    return rows


def keys_of(statement: Statement, scope: Scope) -> tuple[Column, ...]:
    """Return the keys in the order of the select list, which must name exactly the keys of GROUP BY."""
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
    """Return the columns of the select list. Its aggregates are checked in `read_question`."""
    selected: list[Column] = []
    for node in statement.selected:
        if isinstance(node, exp.Alias):
            raise Refusal("select-keys", "AS gives no names in the select list; leave it out", node)
        if not isinstance(node, exp.Column):
            continue
        column = scope.private(node)
        if column not in grouped:
            raise Refusal("select-keys", f"{shown(column.name)} is selected but not in GROUP BY; add it there", node)
        if column in selected:
            raise Refusal("select-keys", f"{shown(column.name)} is selected twice; keep one", node)
        selected.append(column)
    return selected


def possible_groups(keys: Sequence[Column], where: Condition, most: int, at: exp.Expr) -> tuple[Group, ...]:
    """Return the groups that WHERE leaves possible, in declared order. Refuse too many before a list is made."""
    can_hold = possible(where)
    domains: list[list[Code]] = []
    for column in keys:
        left = narrowed(column, where)
        if len(left) > max(most, _MOST_CODES):
            raise _too_many(len(left), most, at)
        domains.append([code for code in left if where == ALWAYS or can_hold({column.name: code})])
    size = math.prod(len(domain) for domain in domains)
    if size > most:
        raise _too_many(size, most, at)
    names = [column.name for column in keys]
    every_one = itertools.product(*domains)
    return tuple(group for group in every_one if where == ALWAYS or can_hold(dict(zip(names, group, strict=True))))


def matching(name: str, declared: Iterable[str], *, quoted: bool) -> list[str]:
    """Return the declared names that a written name may mean: itself, or without quotes a name in another case."""
    names = list(declared)
    if name in names:
        return [name]
    return [] if quoted else [other for other in names if other.lower() == name.lower()]


def identifier(node: object) -> tuple[str, bool]:
    """Return a name as it is written, and whether it is quoted."""
    if not isinstance(node, exp.Identifier) or not isinstance(node.this, str):
        at = node if isinstance(node, exp.Expr) else None
        raise Refusal("readable-sql", "A name is expected here", at)
    return node.this, bool(node.args.get("quoted"))


def declared_name(node: exp.Table, declarations: Declarations) -> str:
    name, quoted = identifier(node.this)
    declared = [*declarations.tables, *declarations.public_tables]
    tables = sorted(set(matching(name, declared, quoted=quoted)))
    if len(tables) != 1:
        message = f"No table {shown(name)} is declared{did_you_mean(name, declared)}"
        raise Refusal("declared-tables-only", message, node)
    return tables[0]


def alias_of(node: exp.Table, name: str) -> str:
    alias = node.args.get("alias")
    return name if alias is None else identifier(alias.this)[0]


def _too_many(size: int, most: int, at: exp.Expr) -> Refusal:
    message = f"{size:,} groups are more than the limit of {most:,} groups"
    return Refusal("group-limit", f"{message}; narrow the keys in WHERE, or group by fewer or coarser keys", at)
