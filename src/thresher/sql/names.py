"""What names mean: the private table, joined public tables, and their columns.

A name without quotes matches a declared name in any case of letters; a quoted one must match exactly.
Reads: declarations, public tables. Writes: nothing. Never: suggests a name that is not declared.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from thresher.config import Code, Column, Declarations, Table
from thresher.question import PublicTable, PublicValue, with_public_values
from thresher.sql.encoding import code_of
from thresher.sql.literals import not_finite
from thresher.sql.refusals import Refusal, bare, did_you_mean, shown
from thresher.sql.statement import Statement, joined_table, only, unwrapped


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
        only(node, "this", "table")
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
    """The tables of the statement, with the public ones joined."""
    name = _declared(statement.table, declarations)
    if name in declarations.public_tables and name not in declarations.tables:
        message = f"{shown(name)} is public: ask about a private table, and join public ones"
        raise Refusal("declared-tables-only", message, statement.table)
    table = with_public_values(declarations.tables[name], public)
    scope = Scope(table, _alias(statement.table, name))
    for join in statement.joins:
        node, on = joined_table(join)
        other = _declared(node, declarations)
        if other not in declarations.public_tables:
            raise Refusal(
                "public-joins-only",
                f"Joins are not supported: sensitivity cannot be bounded; {shown(other)} is not declared public",
                node,
            )
        scope = _with_join(scope, _alias(node, other), public[other], on)
    return scope


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
    only(node, "this", "quoted")
    return node.this, bool(node.args.get("quoted"))


def _with_join(scope: Scope, alias: str, public: PublicTable, on: exp.Expr) -> Scope:
    if alias.lower() in (scope.alias.lower(), *(joined.alias.lower() for joined in scope.joins)):
        raise Refusal("public-joins-only", f"{shown(alias)} stands twice in FROM; give one an alias", on)
    equality = unwrapped(on)
    half = Scope(scope.table, scope.alias, (*scope.joins, Joined(alias, public, "", "", {})))
    sides: list[Column | PublicColumn | Unit] = []
    if isinstance(equality, exp.EQ):
        only(equality, "this", "expression")
        parts = (unwrapped(equality.this), unwrapped(equality.expression))
        sides = [half.find(side) for side in parts if isinstance(side, exp.Column)]
    private = [side for side in sides if isinstance(side, Column)]
    other = [side for side in sides if isinstance(side, PublicColumn) and side.alias == alias]
    if len(private) != 1 or len(other) != 1:
        raise Refusal("public-joins-only", "ON takes one equality: private.column = public.column", on)
    column, name = private[0], other[0].name
    joined = Joined(alias, public, column.name, name, _rows(column, public, name, on))
    return Scope(scope.table, scope.alias, (*scope.joins, joined))


def _rows(column: Column, public: PublicTable, name: str, on: exp.Expr) -> dict[Code, int]:
    found: dict[Code, int] = {}
    for row, value in enumerate(public.columns[name]):
        code = None if value is None else code_of(column, value, on)
        if code is not None and code in found:
            message = f"{shown(public.name + '.' + name)} holds a value twice; a join needs each value once"
            raise Refusal("public-joins-only", message, on)
        if code is not None:
            found[code] = row
    return found


def _declared(node: exp.Table, declarations: Declarations) -> str:
    name, quoted = identifier(node.this)
    declared = [*declarations.tables, *declarations.public_tables]
    found = sorted(set(matching(name, declared, quoted=quoted)))
    if len(found) != 1:
        message = f"Tables must be declared: no table {shown(name)} is{did_you_mean(name, declared)}"
        raise Refusal("declared-tables-only", message, node)
    return found[0]


def _alias(node: exp.Table, name: str) -> str:
    alias = node.args.get("alias")
    return name if alias is None else identifier(alias.this)[0]


def _unit(unit: Unit, node: exp.Expr) -> Refusal:
    message = f"{shown(unit.name)} is the privacy unit: it may be counted, COUNT(DISTINCT {unit.name}), and no more"
    return Refusal("distinct-unit", message, node)
