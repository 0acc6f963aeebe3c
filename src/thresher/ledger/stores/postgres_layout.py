"""Whether the tables of a book in PostgreSQL are as Thresher makes them: constraints, indexes, triggers, persistence.

The same tables are made once more as temporary ones, described by the same queries, and undone, so that no text of one
version of PostgreSQL is expected of another.
Reads: the catalogue. Writes: temporary tables, in a savepoint that is undone. Never: the rows of a book.
"""

from collections.abc import Sequence
from typing import Any, Protocol

_CHECK = "thresher_check"
# Everything that decides what the tables accept and keep. `{0}` is the schema; its name is taken out of all texts.
_QUERIES = (
    "SELECT 'relation', c.relname, c.relkind::text, c.relrowsecurity::text, c.relforcerowsecurity::text, '',"
    " (EXISTS (SELECT FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent)))::text FROM pg_class c"
    " WHERE c.relnamespace = {0} AND c.relkind <> 'i'",
    "SELECT 'column', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull::text,"
    " coalesce(pg_get_expr(d.adbin, d.adrelid), ''), a.attgenerated::text || a.attidentity::text"
    " FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
    " LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum"
    " WHERE c.relnamespace = {0} AND c.relkind <> 'i' AND a.attnum > 0 AND NOT a.attisdropped",
    "SELECT 'constraint', c.relname, pg_get_constraintdef(k.oid), k.contype::text, k.convalidated::text,"
    " k.condeferrable::text, '' FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid"
    " WHERE c.relnamespace = {0} AND k.contype IN ('c', 'p', 'u', 'f', 'x')",
    "SELECT 'index', c.relname, pg_get_indexdef(x.indexrelid), x.indisvalid::text, x.indisunique::text,"
    " x.indisready::text, '' FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid WHERE c.relnamespace = {0}",
    "SELECT 'trigger', c.relname, t.tgname, pg_get_triggerdef(t.oid), t.tgenabled::text, '', ''"
    " FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = {0} AND NOT t.tgisinternal",
    "SELECT 'rule', c.relname, r.rulename, r.ev_enabled::text, '', '', ''"
    " FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class WHERE c.relnamespace = {0}",
    "SELECT 'function', p.proname, p.prosrc, l.lanname, p.prosecdef::text, coalesce(p.proconfig::text, ''),"
    " p.provolatile::text FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE p.pronamespace = {0}",
)
_PERSISTENCE = (
    "SELECT relname FROM pg_class WHERE relnamespace = {0} AND relkind IN ('r', 'p') AND relpersistence <> 'p'"
)


class _Connection(Protocol):
    """A connection, as far as a look at the catalogue needs it."""

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...


def differences(connection: _Connection, schema: str, statements: Sequence[str]) -> list[str]:
    """Return the names of the relations and functions that differ from what the statements make; none if all agree."""
    ours = f"'{schema}'::regnamespace"
    found = _described(connection, ours, f"{schema}.")
    unlogged = [str(name) for (name,) in connection.run(_PERSISTENCE.format(ours))]
    connection.run(f"SAVEPOINT {_CHECK}")
    try:
        # Relations of the temporary schema are found first, and the functions that they use are named with it.
        for statement in statements:
            connection.run(_temporary(statement))
        expected = _described(connection, "pg_my_temp_schema()", "pg_temp.")
    finally:
        connection.run(f"ROLLBACK TO {_CHECK}")
        connection.run(f"RELEASE {_CHECK}")
    return sorted({*unlogged, *(str(row[1]) for row in found ^ expected)})


def _temporary(statement: str) -> str:
    for made in ("TABLE", "FUNCTION", "TRIGGER", "INDEX"):
        statement = statement.replace(f"CREATE {made} ", f"CREATE {_PREFIX.get(made, made + ' ')}", 1)
    return statement.replace("EXECUTE FUNCTION ", "EXECUTE FUNCTION pg_temp.")


_PREFIX = {"TABLE": "TEMP TABLE ", "FUNCTION": "FUNCTION pg_temp."}


def _described(connection: _Connection, namespace: str, prefix: str) -> set[tuple[str, ...]]:
    """Return everything that the catalogue says of a schema, with the name of the schema taken out."""
    ((own,),) = connection.run(
        "SELECT coalesce((SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()), '')"
    )
    rows = [row for query in _QUERIES for row in connection.run(query.format(namespace))]
    without = [prefix, *([f"{own}."] if own else [])]
    return {tuple(_plain(str(part), without) for part in row) for row in rows}


def _plain(text: str, without: Sequence[str]) -> str:
    for prefix in without:
        text = text.replace(prefix, "")
    return text
