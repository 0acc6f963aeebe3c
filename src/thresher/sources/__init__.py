"""Exact aggregates in one scan, from DuckDB, PostgreSQL, Spark, files and tables in memory.

`protocol` says what a source promises, and `reading` is the base of all of them: it checks declarations (`fitting`),
limits each person's rows (`bounding`), writes one statement (`scan_statements`, with `codes` for columns) and runs it.
Each database adds a source (`duckdb_source`, `postgres_source`, `spark_source`) and the SQL it writes differently, over
the base `dialect`. `addresses`, `files`, `csv_lines` and `published` are about files and public tables; `spark_steps`
counts steps of a Spark stream.
Reads: the source, for a need; its catalogue, for a check. Writes: nothing that stays. Never: noise; the words of a
database about its rows.
"""

from collections.abc import Mapping
from contextlib import ExitStack, suppress

from thresher.config import Declarations
from thresher.errors import DeclarationError, SourceUnavailableError
from thresher.sources.addresses import address
from thresher.sources.protocol import Family, PhysicalColumn, PublicTables, Source

_PACKAGES = {"postgres": ("PostgreSQL", "psycopg"), "spark": ("Spark", "pyspark")}
_MISSING = "{} needs the package {}, which is not installed: pip install 'thresher[{}]'"

__all__ = ["Family", "PhysicalColumn", "PublicTables", "Source", "checked_source", "open_source"]


def open_source(declarations: Declarations, tables: Mapping[str, object] | None = None) -> Source:
    """Return the source of the declarations, without reaching it. `tables` are Arrow, pandas or polars tables by name.

    The library of a database is imported when its source is opened.
    """
    where = address(declarations)
    if (where.engine == "memory") != (tables is not None):
        rule = (
            'url = "memory://" means tables in memory, which only Python can pass: '
            'thresher.open("thresher.toml", tables={"stays": table}). For the command line, name a file or a database'
            if tables is None
            else 'tables were passed, and only url = "memory://" takes them. Declare that url, or pass no tables'
        )
        raise DeclarationError("source.url", rule)
    if tables is not None and len({id(table) for table in tables.values()}) < len(tables):
        rule = "one table in memory has two names, which would give its rows a second budget. Pass it once"
        raise DeclarationError("source", rule)
    if where.engine in _PACKAGES:
        with suppress(ImportError):
            if where.engine == "postgres":
                from thresher.sources.postgres_source import PostgresSource  # noqa: PLC0415

                return PostgresSource(declarations, where)
            from thresher.sources.spark_source import SparkSource  # noqa: PLC0415

            return SparkSource(declarations, where)
        raise SourceUnavailableError(_MISSING.format(*_PACKAGES[where.engine], where.engine))
    from thresher.sources.duckdb_source import DuckDBSource  # noqa: PLC0415
    from thresher.sources.files import in_memory  # noqa: PLC0415

    return DuckDBSource(declarations, where, in_memory(tables) if tables is not None else None)


def checked_source(declared: Declarations, tables: Mapping[str, object] | None = None) -> Source:
    """Return the source after checking its catalogue against the declarations. A refusal names the line."""
    if not declared.source:
        rule = "it is missing, and only streams can do without. Write [source], or use thresher.open_stream"
        raise DeclarationError("source", rule)
    try:
        with ExitStack() as undo:
            source = open_source(declared, tables)
            undo.callback(source.close)
            source.check(declared)
            undo.pop_all()
    except DeclarationError as refused:
        raise declared.located(refused) from None
    return source
