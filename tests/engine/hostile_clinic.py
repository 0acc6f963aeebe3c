"""The SQL room's declared world with real rows in it, canaries among them, in every database."""

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet
from sql.declared_clinic import DECLARATIONS, PUBLIC

import thresher

CANARIES = [f"canary{n}xq" for n in range(50)]
NUMBERS = [104_729 + 7919 * n for n in range(20)]

_POSTGRES = {
    pa.string(): "text",
    pa.int64(): "bigint",
    pa.float64(): "float8",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
}


def hits(text):
    """The canaries that a text gives away."""
    return [word for word in [*CANARIES, *map(str, NUMBERS)] if word in text]


def tables():
    """Arrow tables by name: private ones full of canaries, public ones as declared."""
    count = len(CANARIES)
    patients = {
        "patient_id": pa.array(CANARIES),
        "disease": pa.array([("flu", "measles", "gout", CANARIES[0])[i % 4] for i in range(count)]),
        "ward": pa.array([(1, 2, 3, NUMBERS[0])[i % 4] for i in range(count)], pa.int64()),
        "age": pa.array([NUMBERS[i % 20] for i in range(count)], pa.int64()),
        "amount": pa.array([NUMBERS[i % 20] + 0.5 for i in range(count)]),
        "score": pa.array([float("nan")] * count),
        "smoker": pa.array([i % 2 == 0 for i in range(count)]),
        "admitted": pa.array([date(2024, 1, 1 + i % 28) for i in range(count)]),
        "seen": pa.array([datetime(2024, 1, 1, i % 24) for i in range(count)], pa.timestamp("us")),
        "gender": pa.array(CANARIES[::-1]),
        "zip": pa.array(CANARIES),
        "select": pa.array(["x"] * count),
    }
    visits = {
        "building": pa.array([10, 20, NUMBERS[3]], pa.int64()),
        "minutes": pa.array(NUMBERS[:3], pa.int64()),
        "Floor": pa.array(["low", CANARIES[1], "high"]),
        "wide": pa.array(NUMBERS[:3], pa.int64()),
    }
    public = {
        name: {column: pa.array([_plain(value) for value in values]) for column, values in table.columns.items()}
        for name, table in PUBLIC.items()
    }
    return {name: pa.table(columns) for name, columns in {"patients": patients, "visits": visits, **public}.items()}


def _plain(value):
    return value if isinstance(value, str | bool | None) else float(Decimal(value.numerator) / value.denominator)


def _declared(folder, source):
    return replace(DECLARATIONS, source=source, ledger=f"sqlite:///{folder / 'ledger.db'}", folder=folder)


def in_duckdb(folder, request):
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        for name, table in tables().items():
            connection.register("given", table)
            connection.execute(f"CREATE TABLE {name} AS FROM given")
            connection.unregister("given")
    return thresher.open(_declared(folder, "duckdb:///clinic.duckdb"))


def in_postgres(folder, request):
    server = request.getfixturevalue("postgres_server")
    with psycopg.connect(server, autocommit=True) as connection:
        for name, table in tables().items():
            named = ", ".join(f'"{field.name}" {_POSTGRES[field.type]}' for field in table.schema)
            connection.execute(f"DROP TABLE IF EXISTS {name}")
            connection.execute(f"CREATE TABLE {name} ({named})")
            places = ", ".join(["%s"] * table.num_columns)
            with connection.cursor() as cursor:
                rows = [tuple(row.values()) for row in table.to_pylist()]
                cursor.executemany(f"INSERT INTO {name} VALUES ({places})", rows)
    return thresher.open(_declared(folder, server))


def in_spark(folder, request):
    request.getfixturevalue("spark")
    declared = _declared(folder, "spark://local[2]")
    for name, table in tables().items():
        pa.parquet.write_table(table, folder / f"{name}.parquet")
    return thresher.open(
        replace(
            declared,
            tables={n: replace(t, file=folder / f"{n}.parquet") for n, t in declared.tables.items()},
            public_tables={n: replace(t, file=folder / f"{n}.parquet") for n, t in declared.public_tables.items()},
        )
    )


PLACES = {"duckdb": in_duckdb, "postgres": in_postgres, "spark": in_spark}
