"""JOIN: a public table beside the private one, by an equality of two columns.

Reads: declarations, public tables. Writes: nothing. Never: joins a private table, whose rows would multiply.
"""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from thresher.config import Code, Column, Declarations
from thresher.question import PublicTable
from thresher.sql.encoding import code_of
from thresher.sql.names import Joined, PublicColumn, Scope, Unit, alias_of, declared_name
from thresher.sql.refusals import Refusal, shown
from thresher.sql.statement import check_parts, joined_table


def with_joins(
    scope: Scope, joins: Sequence[exp.Join], declarations: Declarations, public: Mapping[str, PublicTable]
) -> Scope:
    """Return the scope with the public tables joined."""
    for join in joins:
        node, on = joined_table(join)
        other = declared_name(node, declarations)
        if other not in declarations.public_tables:
            raise Refusal(
                "public-joins-only",
                f"Joins are not supported: sensitivity cannot be bounded; {shown(other)} is not declared public",
                node,
            )
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
    found: dict[Code, int] = {}
    for row, value in enumerate(public.columns[name]):
        code = None if value is None else code_of(column, value, on)
        if code is not None and code in found:
            message = f"{shown(public.name + '.' + name)} holds a value twice; a join needs each value once"
            raise Refusal("public-joins-only", message, on)
        if code is not None:
            found[code] = row
    return found
