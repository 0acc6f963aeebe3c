"""Exact aggregates in one scan, from DuckDB, PostgreSQL, Spark, files and tables in memory.

Reads: the source, for a need; its catalogue for a check. Writes: nothing that stays. Never: noise; what a database says
about its rows.
"""

from collections.abc import Mapping
from contextlib import ExitStack

from thresher.config import Declarations
from thresher.errors import DeclarationError, SourceUnavailableError
from thresher.sources.addresses import Address, address
from thresher.sources.protocol import Family, PhysicalColumn, PublicTables, Source

_MISSING = "{} needs the package {}, which is not installed: pip install 'thresher[{}]'"

__all__ = ["Family", "PhysicalColumn", "PublicTables", "Source", "checked_source", "open_source"]


def open_source(declarations: Declarations, tables: Mapping[str, object] | None = None) -> Source:
    """The source of the declarations; nothing is reached yet. `tables`: Arrow, pandas or polars tables by name.

    The databases' libraries are imported only when their source is opened.
    """
    where = address(declarations)
    if (where.engine == "memory") != (tables is not None):
        raise DeclarationError("source.url", 'tables in memory and url = "memory://" go together')
    if tables is not None and len({id(table) for table in tables.values()}) < len(tables):
        raise DeclarationError("source", "one table in memory has two names, which would give its rows a second budget")
    if where.engine == "postgres":
        return _postgres(declarations, where)
    if where.engine == "spark":
        return _spark(declarations, where)
    from thresher.sources.duckdb_source import DuckDBSource  # noqa: PLC0415
    from thresher.sources.files import in_memory  # noqa: PLC0415

    return DuckDBSource(declarations, where, in_memory(tables) if tables is not None else None)


def checked_source(declared: Declarations, tables: Mapping[str, object] | None = None) -> Source:
    """Return the source, its catalogue checked against the declarations; a refusal says where each was declared."""
    if not declared.source:
        raise DeclarationError("source", "it is not declared: streams alone are opened with thresher.open_stream")
    try:
        with ExitStack() as undo:
            source = open_source(declared, tables)
            undo.callback(source.close)
            source.check(declared)
            undo.pop_all()
    except DeclarationError as refused:
        raise declared.located(refused) from None
    return source


def _postgres(declarations: Declarations, where: Address) -> Source:
    try:
        from thresher.sources.postgres_source import PostgresSource  # noqa: PLC0415
    except ImportError:
        pass
    else:
        return PostgresSource(declarations, where)
    raise SourceUnavailableError(_MISSING.format("PostgreSQL", "psycopg", "postgres"))


def _spark(declarations: Declarations, where: Address) -> Source:
    try:
        from thresher.sources.spark_source import SparkSource  # noqa: PLC0415
    except ImportError:
        pass
    else:
        return SparkSource(declarations, where)
    raise SourceUnavailableError(_MISSING.format("Spark", "pyspark", "spark"))
