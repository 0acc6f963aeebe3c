"""The same question on DuckDB, PostgreSQL, Spark and tables in memory: the same release, to the last bit of noise."""

import json

import duckdb
import psycopg
import pyarrow as pa
import pytest
from ledger.conftest import postgres_server  # noqa: F401 - one way to start PostgreSQL
from sources.conftest import spark  # noqa: F401 - and one to start Spark

import thresher
from thresher.noise import SeededEntropy

WARDS = ["A", "B", "C", "D"]
COLUMNS = """
[tables.stays]
unit = "person"
max_groups_per_unit = 2
max_rows_per_group = 2
count_range = 50
budget = "100"
[tables.stays.columns]
ward = { public_table = "wards", column = "name" }
age = { min = 0, max = 110 }
cost = { min = 0, max = 100, step = 0.25, missing = 0 }
day = { first = 2024-01-01, last = 2024-01-31, by = "day" }
[public_tables.wards]
"""
QUESTIONS = [
    "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 30",
    """SELECT ward FROM stays JOIN wards ON stays.ward = wards.name WHERE wards.open GROUP BY ward
       HAVING COUNT(*) > wards.beds OR (AVG(cost) >= 12.5 AND COUNT(*) FILTER (WHERE age >= 65) > 4)""",
    "SELECT ward FROM stays WHERE day BETWEEN '2024-01-03' AND '2024-01-20' GROUP BY ward HAVING SUM(cost) < 400.5",
    "SELECT ward FROM stays GROUP BY ward HAVING SUM(cost) - 10 * COUNT(DISTINCT person) > 0 AND NOT AVG(age) < 40",
]


def rows():
    """Hot persons, missing values, duplicates, wards that nobody declared; the same on every machine."""
    made = []
    for i in range(400):
        person = f"p{i * 7 % 60}" if i % 5 else "hot"
        ward = [*WARDS, "attic", None][i * i % 6]
        age = None if i % 17 == 0 else i * 13 % 130
        cost = [None, float("nan"), float("inf"), i % 140 + 0.1, -4.0, i * 0.375][i % 6]
        made.append((person, ward, age, cost, f"2024-01-{i % 31 + 1:02d}"))
    return made + made[:30]


def declarations(folder, url):
    path = folder / "thresher.toml"
    path.write_text(f"[source]\nurl = {json.dumps(url)}\n{COLUMNS}")
    return path


def arrow_tables(turned):
    listed = rows()[::-1] if turned else rows()
    days = [pa.scalar(row[4]).cast(pa.timestamp("s")).cast(pa.date32()).as_py() for row in listed]
    stays = {
        "person": pa.array([row[0] for row in listed]),
        "ward": pa.array([row[1] for row in listed]),
        "age": pa.array([row[2] for row in listed], pa.int32()),
        "cost": pa.array([row[3] for row in listed], pa.float64()),
        "day": pa.array(days, pa.date32()),
    }
    wards = {"name": WARDS, "beds": [30, 40, 10, 50], "open": [True, True, False, True]}
    return {"stays": pa.table(stays), "wards": pa.table(wards)}


def in_memory(folder, request):
    return thresher.open(declarations(folder, "memory://"), tables=arrow_tables(turned=False))


def in_duckdb(folder, request):
    with duckdb.connect(str(folder / "data.duckdb")) as connection:
        for name, table in arrow_tables(turned=True).items():
            connection.register("given", table)
            connection.execute(f"CREATE TABLE {name} AS FROM given")
            connection.unregister("given")
    return thresher.open(declarations(folder, "duckdb:///data.duckdb"))


def in_files(folder, request):

    (folder / "files").mkdir()
    for name, table in arrow_tables(turned=False).items():
        pa.parquet.write_table(table, folder / "files" / f"{name}.parquet")
    return thresher.open(declarations(folder, str(folder / "files")))


def in_postgres(folder, request):
    server = request.getfixturevalue("postgres_server")
    with psycopg.connect(server, autocommit=True) as connection:
        for name in ("stays", "wards"):
            connection.execute(f"DROP TABLE IF EXISTS {name}")
        connection.execute("CREATE TABLE stays (person text, ward text, age int, cost float8, day date)")
        connection.execute("CREATE TABLE wards (name text, beds int, open boolean)")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO stays VALUES (%s, %s, %s, %s, %s)", rows()[::-1])
            cursor.executemany(
                "INSERT INTO wards VALUES (%s, %s, %s)",
                zip(WARDS, [30, 40, 10, 50], [True, True, False, True], strict=True),
            )
    return thresher.open(declarations(folder, server))


def in_spark(folder, request):
    request.getfixturevalue("spark")

    for name, table in arrow_tables(turned=True).items():
        pa.parquet.write_table(table, folder / f"{name}.parquet")
    path = declarations(folder, "spark://local[2]")
    text = path.read_text().replace("[tables.stays]", '[tables.stays]\nfile = "stays.parquet"')
    path.write_text(text.replace("[public_tables.wards]", '[public_tables.wards]\nfile = "wards.parquet"'))
    return thresher.open(path)


PLACES = {"duckdb": in_duckdb, "files": in_files, "postgres": in_postgres, "spark": in_spark}


def releases(place, folder, request):
    folder.mkdir()
    with place(folder, request) as engine:
        answers = [
            engine.decide(sql, uncertain_region="20%", entropy=SeededEntropy(n)) for n, sql in enumerate(QUESTIONS)
        ]
        return [(answer.verdicts, answer.noisy, answer.groups, str(answer.spent_epsilon)) for answer in answers]


@pytest.mark.parametrize("place", PLACES)
def test_the_same_release_everywhere(place, tmp_path, request):
    expected = releases(in_memory, tmp_path / "memory", request)
    assert releases(PLACES[place], tmp_path / place, request) == expected
    assert len({verdict for verdicts, *_ in expected for verdict in verdicts}) > 1
