"""What names mean: the private table, joined public tables, their columns, the keys, and the groups asked about.

A name without quotes matches a declared name in any case of letters; a quoted one must match exactly. The groups are
all combinations of the keys' public values, less those that WHERE rules out.
Reads: declarations, public tables, WHERE. Writes: nothing. Never: suggests a name that is not declared; looks at data.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from thresher.config import Code, Column, Declarations, Table, Text
from thresher.config.sections import did_you_mean
from thresher.question import ALWAYS, Condition, PublicTable, PublicValue, narrowed, possible, with_public_values
from thresher.sql.encoding import among
from thresher.sql.literals import not_finite
from thresher.sql.refusals import Refusal, bare, shown
from thresher.sql.statement import Statement

Group = tuple[Code, ...]
# A domain is looked through code by code, if WHERE does not cut it down first; a second's work at most.
_MOST_CODES = 1_000_000


@dataclass(frozen=True, slots=True)
class Unit:
    """The column of the privacy unit, where it is not declared for anything else."""

    name: str


@dataclass(frozen=True, slots=True)
class PublicColumn:
    """A column of a joined public table; `on` is the private column that was joined."""

    alias: str
    table: str
    name: str
    on: str


@dataclass(frozen=True, slots=True)
class Joined:
    """A public table with the private column it is joined to: for each code of it, the public row."""

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
    # What is to be said of conditions that are understood, but hardly meant.
    notes: list[str] = field(default_factory=list)

    def find(self, node: exp.Expr) -> Column | PublicColumn | Unit:
        """What a column's name stands for."""
        name, quoted = identifier(node.this)
        qualifier = node.args.get("table")
        places = self._places(qualifier)
        found = [item for place in places for item in self._in(place, name, quoted)]
        if len(found) > 1:
            raise Refusal("known-columns", f"{shown(name)} may mean several columns; write table.column", node)
        if not found and not quoted and not_finite(name):
            raise Refusal("exact-numbers", f"{shown(name)} is not a finite number; write one such as 100", node)
        if not found:
            raise self._unknown(name, places, node, quoted=quoted)
        return found[0]

    def _unknown(self, name: str, places: Sequence["Joined | None"], node: exp.Expr, *, quoted: bool) -> Refusal:
        where = f"is declared in [tables.{bare(self.table.name)}.columns]"
        joined = " or ".join(shown(place.table.name) for place in places if place is not None)
        if joined:
            where = f"{where}, nor is one in {joined}" if None in places else f"is in the public table {joined}"
        near = did_you_mean(name, [known for place in places for known in self._names(place)])
        text = f"{' Text' if near else '; text'} takes single quotes: '{bare(name)}'" if quoted else ""
        return Refusal("known-columns", f"No column {shown(name)} {where}{near}{text}", node)

    def private(self, node: exp.Expr) -> Column:
        """The declared private column that a name stands for; a public column joined to it is the same."""
        found = self.find(node)
        if isinstance(found, PublicColumn) and found.name == self.join(found).column:
            return self.table.columns[found.on]
        if isinstance(found, PublicColumn):
            raise Refusal(
                "declared-domains", f"{shown(found.name)} is a public column; use one of the table asked", node
            )
        if isinstance(found, Unit):
            raise _unit(found, node)
        return found

    def join(self, column: PublicColumn) -> Joined:
        return next(joined for joined in self.joins if joined.alias == column.alias)

    def values(self, column: PublicColumn) -> Mapping[Code, PublicValue]:
        """For each code of the joined private column the public value."""
        joined = self.join(column)
        values = joined.table.columns[column.name]
        return {code: values[row] for code, row in joined.row_of.items()}

    def of_joins(self, keys: Sequence[Column]) -> list[Condition]:
        """Return what joins ask of a row: one whose value is not in the joined public table is not there."""
        parts = []
        for joined in self.joins:
            column = self.table.columns[joined.on]
            # Rows of undeclared groups are not looked at, so a join that knows every declared group takes none away.
            if column not in keys or not all(code in joined.row_of for code in column.kind.codes()):
                parts.append(among(column, joined.row_of))
        return parts

    def _places(self, qualifier: exp.Expr | None) -> tuple["Joined | None", ...]:
        """Where to look: None is the private table."""
        everywhere: dict[str, Joined | None] = {self.alias: None, **{joined.alias: joined for joined in self.joins}}
        if qualifier is None:
            return tuple(everywhere.values())
        name, quoted = identifier(qualifier)
        found = matching(name, everywhere, quoted=quoted)
        if len(found) != 1:
            raise Refusal("known-columns", f"No table {shown(name)} in FROM{did_you_mean(name, everywhere)}", qualifier)
        return (everywhere[found[0]],)

    def _names(self, place: "Joined | None") -> list[str]:
        if place is not None:
            return list(place.table.columns)
        unit = [self.table.contribution.unit] if self.table.contribution else []
        return [*self.table.columns, *(name for name in unit if name not in self.table.columns)]

    def _in(self, place: "Joined | None", name: str, quoted: bool) -> list[Column | PublicColumn | Unit]:  # noqa: FBT001
        found = matching(name, self._names(place), quoted=quoted)
        if place is not None:
            return [PublicColumn(place.alias, place.table.name, match, place.on) for match in found]
        columns = self.table.columns
        return [columns[match] if match in columns else Unit(match) for match in found]


def scope_of(statement: Statement, declarations: Declarations, public: Mapping[str, PublicTable]) -> Scope:
    """Return the private table of the statement; public ones are joined to it in `joins.py`."""
    name = declared_name(statement.table, declarations)
    if name in declarations.public_tables and name not in declarations.tables:
        message = f"{shown(name)} is public: ask about a private table, and join public ones"
        raise Refusal("declared-tables-only", message, statement.table)
    table = with_public_values(declarations.tables[name], public)
    return Scope(table, alias_of(statement.table, name))


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
    for node in statement.selected:
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


def possible_groups(keys: Sequence[Column], where: Condition, most: int, at: exp.Expr) -> tuple[Group, ...]:
    """Return the groups that WHERE leaves possible, in declared order. No list is built before its size is known."""
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
    """Declared names that a written one may mean: itself, or without quotes one in another case."""
    names = list(declared)
    if name in names:
        return [name]
    return [] if quoted else [other for other in names if other.lower() == name.lower()]


def identifier(node: object) -> tuple[str, bool]:
    """A name as written, and whether it was quoted."""
    if not isinstance(node, exp.Identifier) or not isinstance(node.this, str):
        at = node if isinstance(node, exp.Expr) else None
        raise Refusal("readable-sql", "A name is expected here", at)
    return node.this, bool(node.args.get("quoted"))


def declared_name(node: exp.Table, declarations: Declarations) -> str:
    name, quoted = identifier(node.this)
    declared = [*declarations.tables, *declarations.public_tables]
    found = sorted(set(matching(name, declared, quoted=quoted)))
    if len(found) != 1:
        message = f"Tables must be declared: no table {shown(name)} is{did_you_mean(name, declared)}"
        raise Refusal("declared-tables-only", message, node)
    return found[0]


def alias_of(node: exp.Table, name: str) -> str:
    alias = node.args.get("alias")
    return name if alias is None else identifier(alias.this)[0]


def _unit(unit: Unit, node: exp.Expr) -> Refusal:
    message = f"{shown(unit.name)} is the privacy unit: it may be counted, COUNT(DISTINCT {unit.name}), and no more"
    return Refusal("distinct-unit", message, node)


def _too_many(size: int, most: int, at: exp.Expr) -> Refusal:
    message = f"{size:,} groups are more than the limit of {most:,} groups"
    return Refusal("group-limit", f"{message}; narrow the keys in WHERE, or group by fewer or coarser keys", at)
