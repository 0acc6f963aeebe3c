"""A question with six atoms over the best plain SQL for the same aggregates, in one run; ratios are what counts.

The plain SQL clamps, rounds and counts as well, in the form that is fastest in each database; it does without the tests
for NaN and infinities, the declared groups and the empty ones. Both are run in turn, and medians compared.
Reads: the clock. Writes: standard output, a folder that is removed. Never: a number measured in another run.
"""

import contextlib
import importlib
import os
import shutil
import signal
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb

from thresher.amounts import Epsilon
from thresher.config import Column, Declarations, Grid, Listed, Table, Truth
from thresher.question import ALWAYS, Aggregate, Need, OneOf, Within
from thresher.sources import open_source

DISEASES = tuple(f"disease number {n}" for n in range(60))
ROWS = {"DuckDB": 10_000_000, "PostgreSQL": 2_000_000, "Spark": 10_000_000}
AIMS = {"DuckDB": 1.10, "PostgreSQL": 1.15, "Spark": 1.15}
ROUNDS = 11

TABLE = Table(
    "patients",
    {
        "disease": Column("disease", Listed(DISEASES)),
        "age": Column("age", Grid(Fraction(0), Fraction(110), Fraction(1))),
        "cost": Column("cost", Grid(Fraction(0), Fraction(5000), Fraction(1, 100))),
        "icu": Column("icu", Truth()),
    },
    Epsilon("1"),
)
NEED = Need(
    TABLE,
    (TABLE.columns["disease"],),
    tuple((disease,) for disease in DISEASES),
    ALWAYS,
    (
        Aggregate("rows"),
        Aggregate("rows", None, Within("age", 65, None)),
        Aggregate("rows", None, Within("age", None, 4)),
        Aggregate("total", "age"),
        Aggregate("total", "cost"),
        Aggregate("rows", None, OneOf("icu", (1,))),
    ),
)
AGE = "CASE WHEN age < 0 THEN 0 WHEN age > 110 THEN 110 ELSE age END"
COST = "CASE WHEN cost < 0 THEN 0 WHEN cost > 5000 THEN 500000 ELSE CAST(floor(cost * 100 + 0.5) AS {}) END"


def plain(count: str, relation: str, whole: str) -> str:
    """The best statement by hand."""
    counted = ", ".join(count.format(condition) for condition in ("age >= 65", "age < 5", "icu"))
    return (
        f"SELECT disease, count(*), {counted}, sum({AGE}), sum({COST.format(whole)}) FROM {relation} GROUP BY disease"
    )


def alternate(first: Callable[[], object], second: Callable[[], object]) -> tuple[float, float]:
    """Medians of both, run in turn after one warm-up each."""
    taken: tuple[list[float], list[float]] = ([], [])
    for turn in range(ROUNDS + 1):
        for run, times in zip((first, second), taken, strict=True):
            start = time.perf_counter()
            run()
            if turn:
                times.append(time.perf_counter() - start)
    return statistics.median(taken[0]), statistics.median(taken[1])


def in_duckdb(folder: Path) -> tuple[float, float]:
    path = folder / "patients.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE patients AS SELECT 'disease number ' || (hash(i) % 60) AS disease,"
            " (hash(i * 3) % 120)::INT - 5 AS age, (hash(i * 7) % 1000000)::DOUBLE / 100 AS cost,"
            f" hash(i * 5) % 7 = 0 AS icu FROM range({ROWS['DuckDB']}) t(i)"
        )
    source = open_source(Declarations(str(path), "", {"patients": TABLE}))
    connection = duckdb.connect(str(path), read_only=True)
    by_hand = plain("count_if({})", "patients", "INTEGER")
    try:
        return alternate(lambda: source.fetch(NEED), lambda: connection.execute(by_hand).fetchall())
    finally:
        connection.close()
        source.close()


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pgserver: Any = importlib.import_module("pgserver")
        server = pgserver.get_server(folder / "postgres", cleanup_mode=None)
    try:
        yield server.get_uri()
    finally:
        os.kill(int((folder / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)


def in_postgres(folder: Path) -> tuple[float, float]:
    import psycopg  # noqa: PLC0415

    with postgres(folder) as url:
        source = open_source(Declarations(url, "", {"patients": TABLE}))
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                b"CREATE TABLE patients AS SELECT 'disease number ' || (i * 7919 % 60) AS disease, (i * 31 % 120)::int4"
                b" - 5 AS age, (i * 104729 % 1000000)::float8 / 100 AS cost, i % 7 = 0 AS icu"
                + f" FROM generate_series(1, {ROWS['PostgreSQL']}::int8) i".encode()
            )
            connection.execute("VACUUM ANALYZE patients")
            by_hand = plain("count(*) FILTER (WHERE {})", "patients", "int4").encode()
            times = alternate(lambda: source.fetch(NEED), lambda: connection.execute(by_hand).fetchall())
        source.close()
        return times


def in_spark(folder: Path) -> tuple[float, float]:
    from pyspark.sql import SparkSession  # noqa: PLC0415

    files = folder / "patients.parquet"
    table = replace(TABLE, file=files / "*.parquet")
    # Started by a source, which does it in silence.
    started = open_source(Declarations("spark://local[2]", "", {}))
    started.connect()
    session = SparkSession.builder.getOrCreate()
    session.conf.set("spark.sql.shuffle.partitions", "2")
    session.range(ROWS["Spark"]).selectExpr(
        "concat('disease number ', pmod(hash(id), 60)) AS disease",
        "CAST(pmod(hash(id * 3), 120) AS INT) - 5 AS age",
        "CAST(pmod(hash(id * 7), 1000000) AS DOUBLE) / 100 AS cost",
        "pmod(hash(id * 5), 7) = 0 AS icu",
    ).write.parquet(str(files))
    source = open_source(Declarations("spark://local[2]", "", {"patients": table}))
    session.read.parquet(str(files)).createOrReplaceTempView("patients")
    by_hand, need = plain("count_if({})", "patients", "INT"), replace(NEED, table=table)
    try:
        return alternate(lambda: source.fetch(need), lambda: session.sql(by_hand).collect())
    finally:
        source.close()
        started.close()


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="thresher-bench-"))
    print("six atoms by 60 groups, milliseconds (medians of runs in turn), and ratio to the best plain SQL")
    print(f"{'source':>11} {'rows':>11} {'Thresher':>10} {'plain SQL':>10} {'ratio':>7} {'aim':>6}")
    try:
        for name, run in (("DuckDB", in_duckdb), ("PostgreSQL", in_postgres), ("Spark", in_spark)):
            try:
                ours, theirs = run(folder)
            except ImportError as error:
                print(f"{name:>11} is left out: {error}")
                continue
            row = f"{name:>11} {ROWS[name]:>11,} {1000 * ours:>10.0f} {1000 * theirs:>10.0f}"
            print(f"{row} {ours / theirs:>7.2f} {AIMS[name]:>6.2f}", flush=True)
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
