"""Who a row belongs to: equal values are one unit, in every database, and other types are refused."""

from fractions import Fraction

import duckdb
import psycopg
import pytest
from sources.places import declared
from sources.test_catalogue import refused

from thresher.amounts import Epsilon
from thresher.config import Column, Contribution, Grid, Listed, Table
from thresher.question import ALWAYS, Aggregate, Need
from thresher.sources import open_source

MADE = Table(
    "owned",
    {"x": Column("x", Grid(Fraction(0), Fraction(5), Fraction(1))), "w": Column("w", Listed(("a", "b")))},
    Epsilon("1"),
    contribution=Contribution("unit", 1, 1),
)
NEED = Need(MADE, (), ((),), ALWAYS, (Aggregate("rows"), Aggregate("units")))
BY_WORD = Need(MADE, (MADE.columns["w"],), (("a",), ("b",)), ALWAYS, (Aggregate("rows"),))


def in_duckdb(folder, kind, values):
    path = folder / f"{kind.split('(')[0]}.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE owned (unit {kind}, x INT, w VARCHAR)")
        for n, value in enumerate(values):
            connection.execute(f"INSERT INTO owned VALUES ({value}, 1, '{'ab'[n % 2]}')")
    return open_source(declared(f"duckdb:///{path}", MADE))


def in_postgres(url, kind, values):
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS owned CASCADE")
        connection.execute(f"CREATE TABLE owned (unit {kind}, x int4, w text)")
        for n, value in enumerate(values):
            connection.execute(f"INSERT INTO owned VALUES ({value}, 1, '{'ab'[n % 2]}')")
    return open_source(declared(url, MADE))


UUID = "'6ba7b810-9dad-11d1-80b4-00c04fd430c8'"
# Three rows of two units each.
SAME = {
    "BIGINT": ("1", "1", "2"),
    "VARCHAR": ("'a'", "'a'", "'A'"),
    "UUID": (UUID, UUID.upper(), UUID.replace("6b", "7b")),
    "TIMESTAMP": ("'2020-01-01'", "'2020-01-01 00:00'", "'2021-01-01'"),
    "TIMESTAMPTZ": ("'2020-01-01 00:00+00'", "'2020-01-01 01:00+01'", "'2021-01-01'"),
    "DATE": ("'2020-01-01'", "'2020-01-01'", "'2021-01-01'"),
    "BOOLEAN": ("true", "true", "false"),
    "DECIMAL(9,3)": ("7", "7.00", "7.001"),
}


@pytest.mark.parametrize("kind", SAME)
def test_equal_values_are_one_unit(kind, postgres_server, tmp_path):
    for source in (in_duckdb(tmp_path, kind, SAME[kind]), in_postgres(postgres_server, kind, SAME[kind])):
        source.check(source._declarations)
        assert source.fetch(NEED).unseal().tolist() == [[2, 2]]
        assert source.fetch(BY_WORD).unseal().sum() == 2
        source.close()


@pytest.mark.parametrize(
    "values", [("7", "7.0", "7.00"), ("'NaN'", "'nan'", "'NaN'"), ("0", "-0.00", "0.0"), ("1e3", "1000", "1000.0")]
)
def test_numerics_that_are_written_differently_are_one_unit(values, postgres_server):
    source = in_postgres(postgres_server, "numeric", values)
    source.check(source._declarations)
    assert source.fetch(NEED).unseal().tolist() == [[1, 1]]
    assert source.fetch(BY_WORD).unseal().sum() == 1
    source.close()


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT", "INTERVAL", "BLOB", "INT[]"])
def test_units_with_several_forms_for_one_value_are_refused_in_duckdb(kind, tmp_path):
    source = in_duckdb(tmp_path, kind, ())
    message = refused(source)
    assert message.startswith(f"tables.owned.unit: unit is {'INTEGER[]' if kind == 'INT[]' else kind} (")
    assert "Name another column" in message
    source.close()


@pytest.mark.parametrize("kind", ["float8", "float4", "interval", "jsonb", "bytea"])
def test_units_with_several_forms_for_one_value_are_refused_in_postgres(kind, postgres_server):
    source = in_postgres(postgres_server, kind, ())
    assert refused(source).startswith("tables.owned.unit: unit is ")
    source.close()
