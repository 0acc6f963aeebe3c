"""Spark, local or a cluster: tables of its catalogue, and files, in a separate session of the process's context.

Reads: the catalogue, declared tables and files. Writes: the rows that count, cached in the session. Never: a log line;
the words of Spark about rows.
"""

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import duckdb
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from thresher.config import Declarations
from thresher.errors import DeclarationError, SourceUnavailableError
from thresher.sources.addresses import Address
from thresher.sources.bounding import Bounding, Kept
from thresher.sources.files import coarse_times
from thresher.sources.protocol import UNREAD, Family, PhysicalColumn
from thresher.sources.reading import Catalogue, SqlSource
from thresher.sources.scan_statements import ScanStatement
from thresher.sources.spark_dialect import SparkDialect, spark_family
from thresher.sources.unopened import why_not_started
from thresher.sources.view_bases import Name, bases_of, files_as_bases

# Settings of a context that is started here: nothing is shown, logged or served.
_START = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.app.name": "thresher",
}
# Settings of the session. Rows decide neither whether a statement runs (ANSI, old calendars) nor what it says (${…}).
_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.variable.substitute": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
}
_ONLY_PARQUET = (
    "{} is not a Parquet file, and with Spark only these are read: convert it to Parquet, or read it with DuckDB"
)


class SparkSource(SqlSource):
    """A source with its own session. A context that this source started is stopped with it."""

    def __init__(self, declarations: Declarations, where: Address) -> None:
        super().__init__(declarations, SparkDialect())
        self._where = where
        self._session: SparkSession | None = None
        self._started: SparkSession | None = None
        self._cached: list[Any] = []
        self._group = f"thresher-{id(self)}"

    @property
    def _spark(self) -> SparkSession:
        if self._session is None:
            raise ConnectionError
        return self._session

    def _open(self) -> None:
        if self._session is not None and self._session.sparkContext._jsc.sc().isStopped():
            self._let_go()
        if self._session is not None:
            return
        alone = SparkContext._active_spark_context is None
        running = self._start() if alone else SparkSession.builder.getOrCreate()
        self._started = running if alone else self._started
        if running.sparkContext.master != self._where.target:
            raise SourceUnavailableError(
                "A Spark session with another master runs in this process. Stop it, or name its master in [source] "
                f"url. {UNREAD}"
            )
        session = running.newSession()
        for name, value in _SETTINGS.items():
            session.conf.set(name, value)
        if self._where.target.startswith("local"):
            session.conf.set("spark.sql.shuffle.partitions", str(session.sparkContext.defaultParallelism))
        self._session = session
        self._register_files()

    def _start(self) -> SparkSession:
        builder = SparkSession.builder.master(self._where.target)
        # Spark makes this folder in the current one, though nothing is ever stored there.
        folder = tempfile.mkdtemp(prefix="thresher-spark-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        for name, value in {**_START, "spark.sql.warehouse.dir": folder}.items():
            builder = builder.config(name, value)
        with _silence():
            session: SparkSession = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        return session

    def _register_files(self) -> None:
        for name, paths in self._where.paths().items():
            if self._where.files[name].suffix == ".parquet":
                frame = self._spark.read.option("recursiveFileLookup", "true").parquet(*paths)
                frame.createOrReplaceTempView(f"file_{name}")

    def _look(self) -> Catalogue:
        found: dict[str, tuple[PhysicalColumn, ...]] = {}
        current = self._spark.catalog.currentDatabase()
        for database in self._spark.catalog.listDatabases():
            for table in self._spark.catalog.listTables(database.name):
                if not table.isTemporary:
                    name = table.name if database.name == current else f"{database.name}.{table.name}"
                    found[name] = self._described(name, self._dialect.relation(database.name, table.name))
        for name, files in self._where.files.items():
            files.check()
            if files.suffix != ".parquet":
                # Rows decide whether Spark's reader of CSV fails or joins lines.
                raise DeclarationError(files.setting, _ONLY_PARQUET.format(files.written))
            found[name] = self._described(name, self._dialect.identifier(f"file_{name}"))
            with duckdb.connect() as footers:
                coarse = coarse_times(files.setting, files.paths, footers)
            found[name] = tuple(replace(c, family=Family.COARSE) if c.name in coarse else c for c in found[name])
        return found

    def _described(self, name: str, relation: str) -> tuple[PhysicalColumn, ...]:
        self._relations[name] = relation
        kinds = [(field.name, field.dataType.simpleString()) for field in self._spark.table(relation).schema.fields]
        return tuple(PhysicalColumn(column, kind, spark_family(kind)) for column, kind in kinds)

    def _derived(self) -> frozenset[str]:
        current = self._spark.catalog.currentDatabase()
        tables = (
            (d.name, t) for d in self._spark.catalog.listDatabases() for t in self._spark.catalog.listTables(d.name)
        )
        views = [(database, table.name) for database, table in tables if table.tableType == "VIEW"]
        return frozenset(name if database == current else f"{database}.{name}" for database, name in views)

    def _bases(self, relation: str) -> tuple[str, ...]:
        if relation in self._where.files:
            return files_as_bases(self._where.files[relation].paths)
        database, _, name = relation.rpartition(".")

        def text_of(named: Name) -> str | None:
            try:
                described = self._spark.sql(f"DESCRIBE TABLE EXTENDED {self._dialect.relation(*named)}").collect()
            except PySparkException:
                return None
            return next((row["data_type"] for row in described if row["col_name"] == "View Text"), None)

        def named(meant: Name, near: str) -> tuple[Name, ...]:
            # Spark keeps the names of tables without capitals.
            return (((meant[0] or near).lower(), meant[1].lower()),)

        def tables() -> list[Name]:
            spark = self._spark.catalog
            return [(d.name.lower(), t.name.lower()) for d in spark.listDatabases() for t in spark.listTables(d.name)]

        start = ((database or self._spark.catalog.currentDatabase()).lower(), name.lower())
        bases = bases_of(start, text_of, "spark", named=named, tables=tables)
        return tuple(f"spark {'.'.join(base)}" for base in bases)

    def _run(self, sql: str, parameters: Sequence[object]) -> Any:
        self._spark.sparkContext.setJobGroup(self._group, "thresher", interruptOnCancel=True)
        return self._spark.sql(sql, args={f"p{n + 1}": json.dumps(array) for n, array in enumerate(parameters)})

    def _columns(self, asked: ScanStatement) -> Sequence[Sequence[object]]:
        rows = self._run(asked.sql, asked.parameters).collect()
        return list(zip(*rows, strict=True)) or [[] for _ in range(len(asked.wide) + 1)]

    def _keep(self, name: str, chosen: Bounding) -> Kept:
        rows = self._run(chosen.sql, chosen.parameters).persist()
        self._cached.append(rows)
        rows.createOrReplaceTempView(name)
        return Kept(name)

    def _rows(self, relation: str, columns: Sequence[str], most: int) -> Sequence[Sequence[object]]:
        kinds = {field.name: field.dataType.simpleString() for field in self._spark.table(relation).schema.fields}
        # Times with a zone would be returned in the zone of this machine.
        named = (
            f"CAST({self._dialect.identifier(c)} AS TIMESTAMP_NTZ)"
            if kinds[c] == "timestamp"
            else self._dialect.identifier(c)
            for c in columns
        )
        return list(self._run(f"SELECT {', '.join(named)} FROM {relation} LIMIT {most}", ()).collect())

    def _stop(self) -> None:
        if self._session is not None:
            self._session.sparkContext.cancelJobGroup(self._group)

    def _drop(self) -> None:
        cached, self._cached = self._cached, []
        self._session = None
        for rows in cached:
            rows.unpersist()

    def close(self) -> None:
        super().close()
        started, self._started = self._started, None
        if started is not None:
            started.stop()

    def _nothing(self) -> str:
        return (
            'Spark knows no table here. Name a file for each: file = "x.parquet" under [tables.x] works with spark://'
        )

    def _why_closed(self, error: Exception | None) -> str:
        if error is None:
            return "Spark's catalogue cannot be read. Check what this user may read there."
        return why_not_started(self._where.target, error)


@contextmanager
def _silence() -> Iterator[None]:
    """Give Spark's launcher and its Java a standard error that goes nowhere."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
