"""PostgreSQL, read in read-only transactions on one connection, which is opened when it is needed.

Reads: the catalogue, declared tables. Writes: temporary tables of bounded rows, where the role may make them; they end
with the connection. Never: the words of the server about rows; the password.
"""

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg

from thresher.config import Declarations, place_of
from thresher.errors import SourceUnavailableError
from thresher.postgres_logins import why_unusable
from thresher.question import Exact, Need
from thresher.sources.addresses import Address
from thresher.sources.bounding import Bounding, Kept
from thresher.sources.fitting import relation_of
from thresher.sources.postgres_dialect import PostgresDialect, postgres_family
from thresher.sources.protocol import UNREAD, PhysicalColumn, too_slow
from thresher.sources.reading import Catalogue, SqlSource
from thresher.sources.scan_statements import ScanStatement

if TYPE_CHECKING:
    from thresher.config import ColumnFacts

_CONNECT_SECONDS = 10
_LOCK_SECONDS = 10
_NUMERICS_WITH_INFINITY = 140_000
# Relations and columns that this role may read. A unique index proves that no two rows share a unit only if it covers
# every row at every moment: not if rows are inherited from other tables, nor if it is partial or deferred.
_CATALOGUE = """
SELECT n.nspname, c.relname, pg_table_is_visible(c.oid), a.attname,
       CASE WHEN t.typtype = 'd' THEN format_type(b.oid, t.typtypmod) ELSE format_type(a.atttypid, a.atttypmod) END
       || CASE WHEN EXISTS (SELECT FROM pg_collation l WHERE l.oid = a.attcollation AND NOT l.collisdeterministic)
               THEN ' COLLATE' ELSE '' END,
       b.typname, b.typtype,
       NOT (c.relkind = 'r' AND c.relhassubclass) AND EXISTS (
           SELECT FROM pg_index x WHERE x.indrelid = c.oid AND x.indisunique AND x.indisvalid AND x.indimmediate
           AND x.indpred IS NULL AND x.indexprs IS NULL AND x.indnkeyatts = 1 AND x.indkey[0] = a.attnum)
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
ORDER BY 1, 2, a.attnum
"""
# The tables that a relation reads in the end: behind views, and all parts and heirs of a table, because they may be
# detached later, or were tables of their own before. A view that calls a function which may read tables may read each.
_BASES = """
WITH RECURSIVE read (oid) AS (
    SELECT to_regclass($1)::oid
    UNION
    SELECT next.oid FROM read CROSS JOIN LATERAL (
        SELECT d.refobjid FROM pg_class v
        JOIN pg_rewrite r ON r.ev_class = v.oid
        JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
             AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> v.oid
        WHERE v.oid = read.oid AND v.relkind IN ('v', 'm')
        UNION
        SELECT i.inhparent FROM pg_inherits i WHERE i.inhrelid = read.oid
        UNION
        SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = read.oid
        UNION
        SELECT t.oid FROM pg_class t JOIN pg_namespace s ON s.oid = t.relnamespace
        WHERE t.relkind IN ('r', 'p', 'f') AND s.nspname !~ '^pg_'
          AND s.nspname NOT IN ('information_schema', 'thresher_ledger')
          AND EXISTS (
            SELECT FROM pg_rewrite r
            JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                 AND d.refclassid = 'pg_proc'::regclass
            JOIN pg_proc f ON f.oid = d.refobjid
            WHERE r.ev_class = read.oid AND (f.provolatile <> 'i' OR f.proretset) AND f.oid >= 16384
              AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_proc'::regclass AND e.objid = f.oid
                              AND e.deptype = 'e'))
    ) AS next (oid)
)
SELECT n.nspname || '.' || c.relname, EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid) FROM read
JOIN pg_class c ON c.oid = read.oid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'f')
ORDER BY 1
"""
# With more tables than this, those that are part of another one are left out: a line of the ledger stays short.
_MOST_BASES = 500
# Which database it is, by whatever address it was reached.
_PLACE = "SELECT system_identifier || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())"
_PLACE += " FROM pg_control_system()"
# The role of a login, whether it may do everything, and the relations that it may change.
_MAY_WRITE = """
SELECT current_user::text, (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
       ARRAY(SELECT name FROM unnest($1::text[]) AS name
             WHERE has_table_privilege(to_regclass(name), 'INSERT, UPDATE, DELETE, TRUNCATE'))
"""
_ONLY_SELECT = "use a login that may only SELECT"
_log = logging.getLogger("thresher.sources")


class PostgresSource(SqlSource):
    """A source with one connection. A broken connection is replaced before the next reading, never during one."""

    def __init__(self, declarations: Declarations, where: Address) -> None:
        super().__init__(declarations, PostgresDialect())
        self._url = where.target
        self._connection: psycopg.Connection[Any] | None = None
        self._may_make_tables = True
        # The name in the catalogue of each relation, by its schema and its own name.
        self._names: dict[tuple[str, str], str] = {}

    @property
    def _db(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            raise ConnectionError
        return self._connection

    def _open(self) -> None:
        if self._connection is not None and not self._alive():
            self._let_go()
        if self._connection is not None:
            return
        self._connection = psycopg.connect(
            self._url,
            autocommit=True,
            connect_timeout=_CONNECT_SECONDS,
            application_name="thresher",
            cursor_factory=psycopg.RawCursor,
        )
        seconds = self._declarations.timeout_seconds
        for setting in (
            "standard_conforming_strings = on",
            "client_encoding = 'UTF8'",
            "TimeZone = 'UTC'",
            "default_transaction_isolation = 'repeatable read'",
            "default_transaction_read_only = on",
            f"statement_timeout = '{seconds}s'",
            f"lock_timeout = '{min(seconds, _LOCK_SECONDS)}s'",
        ):
            self._db.execute(f"SET {setting}")
        infinite = self._db.info.server_version >= _NUMERICS_WITH_INFINITY
        self._dialect = PostgresDialect(has_infinite_numerics=infinite)

    def _alive(self) -> bool:
        try:
            self._db.execute("SELECT 1")
        except psycopg.Error:
            return False
        return True

    def _look(self) -> Catalogue:
        found: dict[str, list[PhysicalColumn]] = {}
        self._names = {}
        for schema, relation, visible, column, kind, base, sort, unique in self._run(_CATALOGUE, ()):
            name = relation if visible else f"{schema}.{relation}"
            self._names[schema, relation] = name
            names = {name, f"{schema}.{relation}"} & {name, *self._named_with_schema()}
            for known in names:
                self._relations[known] = self._dialect.relation(schema, relation)
                found.setdefault(known, []).append(PhysicalColumn(column, kind, postgres_family(base, sort), unique))
        return {name: tuple(columns) for name, columns in found.items()}

    def check(self, declarations: Declarations) -> None:
        super().check(declarations)
        self._warn_of_writers(declarations)

    def _warn_of_writers(self, declarations: Declarations) -> None:
        """Warn of a login that may change a declared table: Thresher only reads, and a leaked login could do more."""
        names = {self._relations[relation_of(table)]: name for name, table in declarations.tables.items()}
        with self._one_at_a_time, suppress(psycopg.Error, TimeoutError):
            ((role, is_superuser, changeable),) = self._run(_MAY_WRITE, [list(names)])
            if is_superuser or changeable:
                may = "is a superuser" if is_superuser else f"may change {', '.join(names[r] for r in changeable)}"
                _log.warning("The login %s of [source] url %s. Thresher only reads: %s", role, may, _ONLY_SELECT)

    def _bases(self, relation: str) -> tuple[str, ...]:
        rows = self._run(_BASES, [self._relations[relation]])
        found = [str(name) for name, is_part in rows if len(rows) <= _MOST_BASES or not is_part]
        place = place_of(self._declarations.source)
        with suppress(psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedFunction):
            ((identifier,),) = self._run(_PLACE, ())
            place = f"postgresql {identifier}"
        return tuple(f"{place} {name}" for name in found or [relation])

    def _derived(self) -> frozenset[str]:
        from thresher.sources.postgres_catalogue import derived_in_postgres  # noqa: PLC0415 - only `init` needs it

        return derived_in_postgres(self._run, self._names)

    def _constraints(self) -> Mapping[str, Mapping[str, "ColumnFacts"]]:
        from thresher.sources.postgres_catalogue import constraints_in_postgres  # noqa: PLC0415 - only `init` needs it

        return constraints_in_postgres(self._run, self._names)

    def _named_with_schema(self) -> set[str]:
        """Return the relations that are declared with their schema, though the short name would do."""
        private = {table.relation for table in self._declarations.tables.values()}
        return {name for name in private | {t.relation for t in self._declarations.public_tables.values()} if name}

    def _run(self, sql: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        """Return all rows of a statement."""
        try:
            cursor = self._db.execute(sql.encode(), parameters or None)
            return cursor.fetchall() if cursor.description else []
        except psycopg.errors.QueryCanceled:
            self._stopped = self._stopped or too_slow(self._declarations.timeout_seconds)
        raise TimeoutError

    def _fetch(self, need: Need) -> Exact:
        self._wait_for_lock(self._relations[relation_of(need.table)])
        return super()._fetch(need)

    def _wait_for_lock(self, relation: str) -> None:
        """Wait for the table's lock. If another program keeps it, nothing was read.

        A lock that is missing later, perhaps in a function of a view, may be due to a row: then the question stays
        charged.
        """
        locked = False
        try:
            with self._db.transaction():
                self._db.execute(f"LOCK TABLE {relation} IN ACCESS SHARE MODE".encode())
        except psycopg.errors.LockNotAvailable:
            locked = True
        except psycopg.errors.Error:
            # Some relations cannot be locked, and some roles may not lock: the reading then fails or succeeds.
            self._open()
        if locked:
            raise SourceUnavailableError(f"Another program has locked the table. Ask again later. {UNREAD}")

    def _columns(self, asked: ScanStatement) -> Sequence[Sequence[object]]:
        return list(zip(*self._run(asked.sql, [list(array) for array in asked.parameters]), strict=True))

    def _keep(self, name: str, chosen: Bounding) -> Kept:
        if not self._make_table(name, chosen):
            return Kept(f"({chosen.sql})", chosen.parameters)
        self._run(f"INSERT INTO pg_temp.{name} {chosen.sql}", [list(array) for array in chosen.parameters])
        return Kept(f"pg_temp.{name}")

    def _make_table(self, name: str, chosen: Bounding) -> bool:
        """Make an empty temporary table, in the only writing transaction. Return False for a role that may not."""
        columns = ", ".join(
            f'{column} {kind} COLLATE "C"' if kind == self._dialect.text_type else f"{column} {kind}"
            for column, kind in chosen.columns
        )
        if self._may_make_tables:
            try:
                with self._db.transaction():
                    self._db.execute("SET TRANSACTION READ WRITE")
                    self._db.execute(f"CREATE TEMP TABLE {name} ({columns}) ON COMMIT PRESERVE ROWS".encode())
            except (psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction):
                self._may_make_tables = False
        return self._may_make_tables

    def _rows(self, relation: str, columns: Sequence[str], most: int) -> Sequence[Sequence[object]]:
        named = ", ".join(self._dialect.identifier(column) for column in columns)
        return self._run(f"SELECT {named} FROM {relation} LIMIT {most}", ())

    def _stop(self) -> None:
        if self._connection is not None:
            self._connection.cancel_safe(timeout=_CONNECT_SECONDS)

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _why_closed(self, error: Exception | None) -> str:
        if error is None:
            return f"The catalogue of {self._database()} cannot be read. Check what the login may read there."
        return why_unusable(self._url, error, "[source] url")

    def _database(self) -> str:
        try:
            name = psycopg.conninfo.conninfo_to_dict(self._url).get("dbname")
        except psycopg.Error:
            name = None
        return f"the database {name}" if name else "the database"
