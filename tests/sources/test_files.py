"""Files and tables in memory: no value of a row decides whether they can be read."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from sources.places import declared
from sources.test_catalogue import AGE, refused, table
from sources.test_units import MADE, NEED

from thresher.config import Days, Listed, Numbered
from thresher.question import ALWAYS, Aggregate, Need, OneOf
from thresher.sources import open_source

YEAR = Days(date(2020, 1, 1), date(2020, 12, 31))
FAR = [1_577_836_800, 10**17, -(2**63), 2**63 - 1, None]


def times(unit, zone=None, values=FAR):
    return pa.array(values, pa.int64()).view(pa.timestamp(unit, tz=zone))


def present(source, made):
    source.check(source._declarations)
    return source.fetch(Need(made, (), ((),), ALWAYS, (Aggregate("present", "d"),))).unseal().tolist()


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("engine", ["duckdb://", "spark://local[2]"])
def test_milliseconds_in_parquet_are_refused_by_their_schema(engine, zone, tmp_path, request):
    if engine.startswith("spark"):
        request.getfixturevalue("spark")
    made = replace(table(d=YEAR), file=tmp_path / "t.parquet")
    for unit in ("s", "ms"):
        pa.parquet.write_table(pa.table({"d": times(unit, zone, [0]), "n": [1]}), tmp_path / "t.parquet")
        source = open_source(declared(engine, made))
        assert "Write the file with times in microseconds" in refused(source)
        source.close()
    # A column that is not declared does not matter.
    source = open_source(declared(engine, replace(table(n=AGE), file=tmp_path / "t.parquet")))
    source.check(source._declarations)
    source.close()
    pa.parquet.write_table(pa.table({"d": times("us", zone, [1_577_836_800 * 10**6, *FAR[1:]])}), made.file)
    source = open_source(declared(engine, made))
    assert present(source, made) == [[1]]
    source.close()


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("unit", ["s", "ms"])
def test_coarse_times_in_memory_and_in_arrow_files_never_fail(unit, zone, tmp_path):
    made = table(d=YEAR)
    first = FAR[0] * (1000 if unit == "ms" else 1)
    given = pa.table({"d": times(unit, zone, [first, *FAR[1:]])})
    frame = given.to_pandas(types_mapper=pd.ArrowDtype)
    for tables in (given, frame, pl.from_arrow(given), given.to_batches()[0]):
        source = open_source(declared("memory://", made), {"patients": tables})
        assert present(source, made) == [[1]]
        source.close()
    pa.feather.write_feather(given, tmp_path / "patients.arrow")
    source = open_source(declared(str(tmp_path), made))
    assert present(source, made) == [[1]]
    source.close()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_at_the_far_ends_are_units(unit):
    """DuckDB cannot write all of them as dates."""
    values = [-(2**63), -(2**63) + 2, 2**63 - 2, 2**62, 0, 0]
    rows = {"unit": times(unit, None, values), "x": [1] * 6, "w": ["a"] * 6}
    source = open_source(declared("memory://", MADE), {"owned": pa.table(rows)})
    source.check(source._declarations)
    kept = source.fetch(NEED).unseal().tolist()
    assert kept == ([[5, 5]] if unit in ("us", "ns") else kept)  # coarser ones wrap around, and may meet
    source.close()


@pytest.mark.parametrize("unit", ["S", "MS"])
def test_coarse_times_at_the_far_ends_are_units_in_a_database(unit, tmp_path):
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.register("given", pa.table({"unit": times(unit.lower()), "x": [1] * 5, "w": ["a"] * 5}))
        connection.execute("CREATE TABLE owned AS FROM given")
    source = open_source(declared(f"duckdb:///{tmp_path}/t.duckdb", MADE))
    source.check(source._declarations)
    assert source.fetch(NEED).unseal().tolist() == [[4, 4]]
    source.close()


UNLIKE = [{"n": [1]}, {"n": pa.array([1], pa.int32())}, {"m": [1]}, {"n": [1], "m": [1]}, {"n": ["a"]}]


@pytest.mark.parametrize("engine", ["duckdb://", "spark://local[2]"])
def test_parquet_files_with_unlike_columns_are_refused(engine, tmp_path, request):
    if engine.startswith("spark"):
        request.getfixturevalue("spark")
    made = replace(table(n=AGE), file=tmp_path / "part*.parquet")
    for number, columns in enumerate(UNLIKE):
        pa.parquet.write_table(pa.table({"n": [1]}), tmp_path / "part0.parquet")
        pa.parquet.write_table(pa.table(columns), tmp_path / "part1.parquet")
        source = open_source(declared(engine, made))
        if number:
            assert "the columns of part0.parquet and part1.parquet differ" in refused(source)
        else:
            source.check(source._declarations)
        source.close()


def test_arrow_files_with_unlike_columns_are_refused(tmp_path):
    made = replace(table(n=AGE), file=tmp_path / "part*.arrow")
    for columns in UNLIKE[1:]:
        pa.feather.write_feather(pa.table({"n": [1]}), tmp_path / "part0.arrow")
        pa.feather.write_feather(pa.table(columns), tmp_path / "part1.arrow")
        source = open_source(declared("duckdb://", made))
        assert "the columns of part0.arrow and part1.arrow differ" in refused(source)
        source.close()


@pytest.mark.parametrize("engine", ["duckdb://", "spark://local[2]"])
def test_names_of_folders_are_no_columns(engine, tmp_path, request):
    """Their type would be guessed from all names, that is, from other people's rows."""
    if engine.startswith("spark"):
        request.getfixturevalue("spark")
    for ward in ("1", "2"):
        (tmp_path / f"ward={ward}").mkdir()
        pa.parquet.write_table(pa.table({"n": [1]}), tmp_path / f"ward={ward}" / "p.parquet")
    made = replace(table(n=AGE), file=tmp_path / "*" / "p.parquet")
    source = open_source(declared(engine, made))
    assert [column.name for column in source.catalogue()["patients"]] == ["n"]
    source.close()


@pytest.mark.parametrize("engine", ["memory://", "spark://local[2]"])
@pytest.mark.parametrize(("digits", "places"), [(38, 30), (38, 38), (38, 19), (38, 20), (38, 0), (19, 18), (4, 2)])
def test_whole_numbers_in_decimals_of_every_shape(engine, digits, places, tmp_path, request):
    ends = [Decimal((sign, (9,) * digits, -places)) for sign in (0, 1)]
    values = [Decimal(0), *ends, None] + ([Decimal(3)] if digits > places else [])
    given = pa.table({"n": pa.array(values, pa.decimal128(digits, places)), "w": ["a"] * len(values)})
    made = table(n=Numbered((0, 3, 10**17)), w=Listed(("a",)))
    if engine == "memory://":
        source = open_source(declared(engine, made), {"patients": given})
    else:
        request.getfixturevalue("spark")
        pa.parquet.write_table(given, tmp_path / "t.parquet")
        made = replace(made, file=tmp_path / "t.parquet")
        source = open_source(declared(engine, made))
    counted = tuple(Aggregate("rows", None, OneOf("n", (n,))) for n in (0, 3, 10**17))
    assert source.fetch(Need(made, (), ((),), ALWAYS, counted)).unseal().tolist() == [[1, int(digits > places), 0]]
    source.close()
