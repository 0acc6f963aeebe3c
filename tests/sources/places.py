"""The same rows in every kind of source."""

import csv
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from sources.worlds import PHYSICAL

from thresher.config import Declarations
from thresher.sources import open_source

ARROW = {
    "int": pa.int32(),
    "big": pa.int64(),
    "double": pa.float64(),
    "decimal": pa.decimal128(12, 3),
    "text": pa.string(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "stamp": pa.timestamp("us"),
    "zoned": pa.timestamp("us", tz="UTC"),
}
POSTGRES = {
    "int": "int4",
    "big": "int8",
    "double": "float8",
    "decimal": "numeric(12,3)",
    "text": "text",
    "bool": "boolean",
    "date": "date",
    "stamp": "timestamp",
    "zoned": "timestamptz",
}


def arrow(rows, physical=None):
    schema = pa.schema([(name, ARROW[kind]) for name, kind in (physical or PHYSICAL).items()])
    return pa.Table.from_pylist(rows, schema=schema)


def declared(url, *tables, folder=Path(), public=(), timeout=60):
    return Declarations(
        url,
        "sqlite:///ledger.db",
        {table.name: table for table in tables},
        {table.name: table for table in public},
        folder=folder,
        timeout_seconds=timeout,
    )


def in_duckdb(rows, table, folder, physical=None):
    path = folder / "data.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("given", arrow(rows, physical))
        connection.execute(f'CREATE TABLE "{table.name}" AS FROM given')
    return open_source(declared("duckdb:///data.duckdb", table, folder=folder))


def in_parquet(rows, table, folder, physical=None):
    pa.parquet.write_table(arrow(rows, physical), folder / f"{table.name}.parquet")
    return open_source(declared(str(folder), table, folder=folder))


def in_feather(rows, table, folder, physical=None):
    pa.feather.write_feather(arrow(rows, physical), folder / f"{table.name}.arrow", compression="uncompressed")
    return open_source(declared(str(folder / f"{table.name}.arrow"), table, folder=folder))


def write_csv(rows, path, physical=None):
    def shown(value):
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, datetime):
            return value.replace(tzinfo=None).isoformat() + ("Z" if value.tzinfo else "")
        return "" if value is None else str(value)

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_MINIMAL)
        writer.writerow((physical or PHYSICAL).keys())
        writer.writerows([shown(row[name]) for name in physical or PHYSICAL] for row in rows)


def in_csv(rows, table, folder, physical=None):
    write_csv(rows, folder / f"{table.name}.csv", physical)
    return open_source(
        declared(f"csv://{folder}/{table.name}.csv".replace("csv:///", "csv:////"), table, folder=folder)
    )


def in_arrow(rows, table, folder, physical=None):
    return open_source(declared("memory://", table), {table.name: arrow(rows, physical)})


def in_pandas(rows, table, folder, physical=None):
    import pandas as pd  # noqa: PLC0415

    frame = arrow(rows, physical).to_pandas(types_mapper=pd.ArrowDtype)
    return open_source(declared("memory://", table), {table.name: frame})


def in_polars(rows, table, folder, physical=None):
    import polars as pl  # noqa: PLC0415

    return open_source(declared("memory://", table), {table.name: pl.from_arrow(arrow(rows, physical))})


def in_postgres(rows, table, url, physical=None):
    kinds = physical or PHYSICAL
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'DROP TABLE IF EXISTS "{table.name}" CASCADE')
        typed = ", ".join(f'"{name}" {POSTGRES.get(kind, kind)}' for name, kind in kinds.items())
        connection.execute(f'CREATE TABLE "{table.name}" ({typed})')
        with connection.cursor() as cursor, cursor.copy(f'COPY "{table.name}" FROM STDIN') as copy:
            for row in rows:
                copy.write_row([row[name] for name in kinds])
    return open_source(declared(url, table))


def in_spark(rows, table, folder, physical=None):
    pa.parquet.write_table(arrow(rows, physical), folder / f"{table.name}.parquet")
    in_file = replace(table, file=folder / f"{table.name}.parquet")
    return open_source(declared("spark://local[2]", in_file))


HERE = {
    "duckdb": in_duckdb,
    "parquet": in_parquet,
    "feather": in_feather,
    "csv": in_csv,
    "arrow": in_arrow,
    "pandas": in_pandas,
    "polars": in_polars,
}
