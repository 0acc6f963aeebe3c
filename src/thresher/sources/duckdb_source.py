"""DuckDB: database files, Parquet, CSV and Arrow files, and tables in memory.

A database is attached read-only to a separate instance. That instance reaches the declared files and no others, loads
no extension, and its configuration is locked.
Reads: the database or files. Writes: a private folder for rows that do not fit in memory, removed at the end. Never:
types guessed from rows.
"""

import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from thresher.config import Declarations, Table
from thresher.errors import DeclarationError, SourceUnavailableError
from thresher.sources.addresses import Address, Files
from thresher.sources.bounding import Bounding, Kept
from thresher.sources.csv_lines import CSV, csv_columns, csv_relation
from thresher.sources.duckdb_dialect import DuckDBDialect, duckdb_family, without_labels
from thresher.sources.files import ARROW, arrow_columns, arrow_table, coarse_times, refuse_unlike
from thresher.sources.fitting import relation_of
from thresher.sources.protocol import UNREAD, Family, PhysicalColumn
from thresher.sources.reading import Catalogue, SqlSource
from thresher.sources.scan_statements import ScanStatement
from thresher.sources.view_bases import Name, bases_of, files_as_bases

if TYPE_CHECKING:
    from thresher.config import ColumnFacts

_DATABASE = "source"
# Seconds between two checks for Ctrl-C.
_PATIENCE = 0.1
_COLUMNS = (
    "SELECT schema_name, table_name, column_name, data_type FROM duckdb_columns()"
    " WHERE database_name = $1 AND NOT internal ORDER BY schema_name, table_name, column_index"
)
_UNIQUE = (
    "SELECT schema_name, table_name, constraint_column_names[1] FROM duckdb_constraints() WHERE database_name = $1"
    " AND constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND len(constraint_column_names) = 1"
)
_CONSTRAINTS = (
    "SELECT schema_name, table_name, constraint_column_names, constraint_type, constraint_text, referenced_table,"
    " referenced_column_names FROM duckdb_constraints() WHERE database_name = $1"
    " AND constraint_type IN ('CHECK', 'FOREIGN KEY')"
)
_VIEWS = "SELECT schema_name, view_name, sql FROM duckdb_views() WHERE database_name = $1 AND NOT internal"
_TABLES = "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = $1 AND NOT internal"
_MACROS = "SELECT function_name FROM duckdb_functions() WHERE database_name = $1 AND NOT internal"
# DuckDB's own functions that read tables named in a text.
_READERS = ("query", "query_table")


class DuckDBSource(SqlSource):
    """A separate DuckDB instance over the declared data. `tables` are Arrow tables in memory."""

    def __init__(self, declarations: Declarations, where: Address, tables: Mapping[str, Any] | None = None) -> None:
        super().__init__(declarations, DuckDBDialect())
        self._where = where
        self._tables = dict(tables or {})
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._folder: str | None = None

    @property
    def _db(self) -> duckdb.DuckDBPyConnection:
        if self._connection is None:
            raise ConnectionError
        return self._connection

    def _open(self) -> None:
        if self._connection is not None:
            return
        paths = [path for paths in self._where.paths().values() for path in paths]
        self._folder = tempfile.mkdtemp(prefix="thresher-duckdb-")
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._connection = duckdb.connect(":memory:")
        text = self._dialect.text
        settings = [
            f"SET temp_directory = {text(self._folder)}",
            "SET autoinstall_known_extensions = false",
            "SET autoload_known_extensions = false",
            "SET allow_community_extensions = false",
            "SET allow_persistent_secrets = false",
            "SET TimeZone = 'UTC'",
            f"SET allowed_paths = [{', '.join(text(path) for path in paths)}]",
        ]
        if self._where.target:
            settings.append(f"ATTACH {text(self._where.target)} AS {_DATABASE} (TYPE duckdb, READ_ONLY)")
            settings.append(f"USE {_DATABASE}")
        settings += ["SET enable_external_access = false", "SET lock_configuration = true"]
        if self._db.execute("SELECT current_setting('enable_progress_bar')").fetchall() != [(False,)]:
            # Not set where it is off: without ipywidgets, DuckDB refuses even to switch it off in a notebook.
            settings.insert(0, "SET enable_progress_bar = false")
        for setting in settings:
            self._apply(setting)
        for name, table in self._tables.items():
            self._db.register(f"memory_{name}", table)
        self._register_arrow_files()

    def _apply(self, setting: str) -> None:
        """Carry out one statement of the opening. A setting that this DuckDB refuses is named."""
        try:
            self._db.execute(setting)
            return
        except duckdb.Error:
            name = re.match(r"SET (\w+) = ", setting)
            if name is None:
                raise
        raise SourceUnavailableError(
            f"DuckDB {duckdb.__version__} refuses the setting {name[1]}. Install another version of duckdb. {UNREAD}"
        )

    def _register_arrow_files(self) -> None:
        for name, paths in self._where.paths().items():
            if paths[0].lower().endswith(ARROW):
                self._db.register(f"file_{name}", arrow_table(paths))

    def _look(self) -> Catalogue:
        found: dict[str, list[PhysicalColumn]] = {}
        unique = set(self._db.execute(_UNIQUE, [_DATABASE]).fetchall())
        for schema, relation, column, written in self._db.execute(_COLUMNS, [_DATABASE]).fetchall():
            kind = without_labels(written)
            name = _relation_name(schema, relation)
            self._relations[name] = self._dialect.relation(_DATABASE, schema, relation)
            key = (schema, relation, column) in unique
            found.setdefault(name, []).append(PhysicalColumn(column, kind, duckdb_family(kind), key))
        for name in self._tables:
            self._relations[name] = self._dialect.relation("temp", "main", f"memory_{name}")
            found[name] = self._described(self._relations[name])
        for name, files in self._where.files.items():
            found[name] = self._file_columns(name, files)
        return {name: tuple(columns) for name, columns in found.items()}

    def _bases(self, relation: str) -> tuple[str, ...]:
        if relation in self._tables:
            return (f"memory {relation}",)
        if relation in self._where.files:
            return files_as_bases(self._where.files[relation].paths)
        schema, _, name = relation.rpartition(".")
        views = {(row[0], row[1]): row[2] for row in self._db.execute(_VIEWS, [_DATABASE]).fetchall()}
        tables = [(row[0], row[1]) for row in self._db.execute(_TABLES, [_DATABASE]).fetchall()]
        macros = {row[0].casefold() for row in self._db.execute(_MACROS, [_DATABASE]).fetchall()}
        written = {(near.casefold(), known.casefold()): (near, known) for near, known in (*tables, *views)}

        def named(meant: Name, near: str) -> tuple[Name, ...]:
            # Capitals do not matter. A name without a schema means one of the view's schema, or of `main`.
            places = (meant[0].casefold(),) if meant[0] else (near.casefold(), "main")
            return tuple(written[key] for key in ((place, meant[1].casefold()) for place in places) if key in written)

        bases = bases_of(
            (schema or "main", name),
            views.get,
            "duckdb",
            named=named,
            tables=lambda: tables,
            macros={*macros, *_READERS},
        )
        place = Path(self._where.target).resolve()
        return tuple(f"{place} {'.'.join(base)}" for base in bases)

    def _derived(self) -> frozenset[str]:
        rows = self._db.execute(_VIEWS, [_DATABASE]).fetchall()
        return frozenset(_relation_name(schema, view) for schema, view, _ in rows)

    def _constraints(self) -> Mapping[str, Mapping[str, "ColumnFacts"]]:
        from thresher.config.catalogue_facts import ColumnFacts, with_fact  # noqa: PLC0415 - only `init` needs it
        from thresher.sources.check_constraints import facts_in_check  # noqa: PLC0415

        found: dict[str, dict[str, ColumnFacts]] = {}
        for schema, table, columns, kind, text, other, keys in self._db.execute(_CONSTRAINTS, [_DATABASE]).fetchall():
            name = _relation_name(schema, table)
            facts = facts_in_check(text, "duckdb") if kind == "CHECK" else {}
            if kind == "FOREIGN KEY" and len(columns) == 1:
                facts = {columns[0]: ColumnFacts(refers_to=(_relation_name(schema, other), keys[0]))}
            for column, fact in facts.items():
                found[name] = with_fact(found.get(name, {}), column, fact)
        return found

    def column_names(self, table: Table) -> tuple[str, ...]:
        held = self._tables.get(relation_of(table))
        return () if held is None else tuple(map(str, held.column_names))

    def _described(self, relation: str, coarse: AbstractSet[str] | None = None) -> list[PhysicalColumn]:
        """Return the columns of a relation. For Parquet files, those in `coarse` are times in milliseconds."""
        described = self._db.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        return [
            PhysicalColumn(
                column,
                kind,
                Family.COARSE if coarse and column in coarse else duckdb_family(kind),
                hides_nan=coarse is not None,
            )
            for column, kind in ((name, without_labels(written)) for name, written, *_ in described)
        ]

    def _file_columns(self, name: str, files: Files) -> list[PhysicalColumn]:
        files.check()
        place, paths, suffix = files.setting, files.paths, files.suffix
        listed = f"[{', '.join(self._dialect.text(path) for path in paths)}]"
        if suffix in CSV:
            columns = csv_columns(place, paths)
            self._relations[name] = csv_relation(paths, columns, self._dialect)
            return [PhysicalColumn(column, "text in CSV", Family.WRITTEN) for column in columns]
        with suppress(duckdb.Error):  # its text may quote rows
            if suffix.endswith(ARROW):
                refuse_unlike(place, arrow_columns(paths))
                self._relations[name] = self._dialect.relation("temp", "main", f"file_{name}")
                return self._described(self._relations[name])
            # Names of folders are not read as columns: DuckDB would guess their types from all the names.
            self._relations[name] = f"read_parquet({listed}, hive_partitioning = false)"
            return self._described(self._relations[name], coarse_times(place, paths, self._db))
        file = Path(paths[0]).name
        raise DeclarationError(place, f"{file} cannot be read as {suffix[1:]}. Write the file again, or name another")

    def _columns(self, asked: ScanStatement) -> Sequence[Sequence[object]]:
        result: Mapping[str, Any] = self._aside(
            lambda: self._db.execute(asked.sql, list(asked.parameters)).fetchnumpy()
        )
        return list(result.values())

    def _keep(self, name: str, chosen: Bounding) -> Kept:
        self._aside(
            lambda: self._db.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {chosen.sql}", list(chosen.parameters))
        )
        return Kept(f"temp.main.{name}")

    def _aside(self, act: Callable[[], Any]) -> Any:
        """Run it in another thread, so that Ctrl-C reaches Python at once, whatever DuckDB is doing."""
        done: list[Any] = []
        failed: list[BaseException] = []
        # An event instead of a join, because a join that Ctrl-C interrupts takes the thread for ended.
        ended = threading.Event()

        def work() -> None:
            try:
                done.append(act())
            except BaseException as error:  # noqa: BLE001 - it is raised in the thread that waits
                failed.append(error)
            finally:
                ended.set()

        threading.Thread(target=work, daemon=True).start()
        try:
            while not ended.wait(_PATIENCE):
                pass
        except KeyboardInterrupt:
            while not ended.wait(_PATIENCE):
                self._stop()
            raise
        if failed:
            raise failed[0]
        return done[0]

    def _rows(self, relation: str, columns: Sequence[str], most: int) -> Sequence[Sequence[object]]:
        named = ", ".join(self._dialect.identifier(column) for column in columns)
        return self._db.execute(f"SELECT {named} FROM {relation} LIMIT {most}").fetchall()

    def _stop(self) -> None:
        if self._connection is not None:
            self._connection.interrupt()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        folder, self._folder = self._folder, None
        if connection is not None:
            connection.close()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def _nothing(self) -> str:
        if self._where.target or self._tables:
            return super()._nothing()
        return (
            f"there is no data file at {self._where.shown}. Name a folder that holds .parquet, .csv or .arrow files, "
            'or a file for each table: file = "x.parquet" under [tables.x]'
        )

    def _why_closed(self, error: Exception | None) -> str:
        if error is None or not self._where.target:
            return (
                f"{self._where.shown} cannot be opened with DuckDB {duckdb.__version__}. Check the files that it names."
            )
        from thresher.sources.unopened import why_unopened  # noqa: PLC0415 - few sources fail to open

        return why_unopened(
            Path(self._where.target),
            in_use=isinstance(error, duckdb.Error) and not isinstance(error, duckdb.IOException),
        )


def _relation_name(schema: str, relation: str) -> str:
    return relation if schema == "main" else f"{schema}.{relation}"
