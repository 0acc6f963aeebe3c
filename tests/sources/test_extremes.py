"""Values at the ends of what each database's types can hold: no expression fails, and all agree with the rules."""

import math
from dataclasses import replace
from datetime import date
from fractions import Fraction

import duckdb
import psycopg
import pytest
from sources.places import declared
from sources.worlds import chance

from thresher.amounts import Epsilon
from thresher.config import Column, Days, Grid, Hours, Listed, Numbered, Table, Text, Truth
from thresher.question import ALWAYS, Aggregate, Missing, Need, OneOf, Present, Within
from thresher.sources import open_source
from thresher.sources.codes import ends_fit, first_value, place

ROWS, FIRST, LAST = Aggregate("rows"), date(1, 1, 1), date(9999, 12, 31)


def table(**kinds):
    return Table("extremes", {name: Column(name, kind) for name, kind in kinds.items()}, Epsilon("1"))


def ask(source, made, *aggregates, keys=(), groups=((),)):
    columns = tuple(made.columns[key] for key in keys)
    return source.fetch(Need(made, columns, groups, ALWAYS, aggregates)).unseal().tolist()


@pytest.fixture
def in_duckdb(tmp_path):
    """A DuckDB database made by these statements, opened as the source of the table."""
    opened = []

    def build(made, *statements):
        path = tmp_path / f"extremes{len(opened)}.duckdb"
        with duckdb.connect(str(path)) as connection:
            for statement in statements:
                connection.execute(statement)
        opened.append(open_source(declared(f"duckdb:///{path}", made)))
        opened[-1].check(opened[-1]._declarations)
        return opened[-1]

    yield build
    for source in opened:
        source.close()


@pytest.fixture
def in_postgres(postgres_server):
    opened = []

    def build(made, *statements):
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS extremes CASCADE")
            for statement in statements:
                connection.execute(statement)
        opened.append(open_source(declared(postgres_server, made)))
        opened[-1].check(opened[-1]._declarations)
        return opened[-1]

    yield build
    for source in opened:
        source.close()


def grid(low, high, step=1, missing=None):
    return Grid(Fraction(low), Fraction(high), Fraction(step), missing if missing is None else Fraction(missing))


@pytest.mark.parametrize("kind", ["HUGEINT", "UBIGINT", "BIGINT", "UINTEGER", "SMALLINT", "UTINYINT", "TINYINT"])
def test_whole_numbers_of_every_width_in_duckdb(kind, in_duckdb):
    low, high = {
        "HUGEINT": (-(2**127), 2**127 - 1),
        "UBIGINT": (0, 2**64 - 1),
        "BIGINT": (-(2**63), 2**63 - 1),
        "UINTEGER": (0, 2**32 - 1),
        "SMALLINT": (-(2**15), 2**15 - 1),
        "UTINYINT": (0, 255),
        "TINYINT": (-128, 127),
    }[kind]
    values = (low, high, 7)
    made = table(x=grid(-5, 100), halves=grid(-5, 100, Fraction(1, 2)), n=Numbered((7, 8)))
    rows = ", ".join(f"({v}, {v}, {v})" for v in values)
    source = in_duckdb(
        made, f"CREATE TABLE extremes (x {kind}, halves {kind}, n {kind})", f"INSERT INTO extremes VALUES {rows}"
    )
    clamped = sum(max(-5, min(100, v)) for v in values)
    wanted = [[clamped, 2 * clamped, 1]]
    counted = Aggregate("rows", None, OneOf("n", (7,)))
    assert ask(source, made, Aggregate("total", "x"), Aggregate("total", "halves"), counted) == wanted


def test_a_type_without_a_safe_comparison_is_refused(tmp_path):
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE extremes (x UHUGEINT)")
    source = open_source(declared(f"duckdb:///{path}", table(x=grid(0, 5))))
    with pytest.raises(Exception, match="UHUGEINT"):
        source.check(source._declarations)
    source.close()


def test_wide_sums_beyond_64_bits(in_duckdb, in_postgres):
    made = table(x=grid(-(2**53), 2**53))
    fill = f"{2**63 - 1}"
    source = in_duckdb(made, f"CREATE TABLE extremes AS SELECT {fill} AS x FROM range(3000)")
    assert ask(source, made, Aggregate("total", "x"), ROWS) == [[3000 * 2**53, 3000]]
    source = in_postgres(made, f"CREATE TABLE extremes AS SELECT {fill}::int8 AS x FROM generate_series(1, 3000)")
    assert ask(source, made, Aggregate("total", "x"), ROWS) == [[3000 * 2**53, 3000]]


def test_wide_sums_in_spark(spark, tmp_path):
    session = spark._spark
    session.range(3000).selectExpr(f"{2**63 - 1} AS x").write.parquet(str(tmp_path / "wide.parquet"))
    made = replace(table(x=grid(-(2**53), 2**53)), file=tmp_path / "wide.parquet" / "*.parquet")
    source = open_source(declared("spark://local[2]", made))
    assert ask(source, made, Aggregate("total", "x"), ROWS) == [[3000 * 2**53, 3000]]
    source.close()


NUMERICS = ("1e400", "-1e400", "1e-400", "-1e-400", "'NaN'", "'Infinity'", "'-Infinity'", "0.125", "NULL")


def test_numerics_without_limits_in_postgres(in_postgres):
    made = table(x=grid(-10, 10, Fraction(1, 4)), n=Numbered((0, 1)), thirds=grid(-9, 9, 3))
    rows = ", ".join(f"({v}, {v}, {v})" for v in NUMERICS)
    source = in_postgres(
        made, "CREATE TABLE extremes (x numeric, n numeric, thirds numeric)", f"INSERT INTO extremes VALUES {rows}"
    )
    # 40 and -40 from the huge ones, 0 from the tiny, 1 from 0.125 (rounded upwards); NaN, infinities and NULL are none.
    found = ask(source, made, Aggregate("total", "x"), Aggregate("present", "x"), Aggregate("total", "thirds"), ROWS)
    assert found == [[40 - 40 + 1, 5, 0, 9]]
    assert ask(source, made, Aggregate("present", "n")) == [[0]]


def test_doubles_at_every_end(in_duckdb, in_postgres):
    values = ["1.7976931348623157e308", "-1.7976931348623157e308", "5e-324", "-5e-324", "9007199254740993", "-0.0"]
    values += ["'NaN'", "'Infinity'", "'-Infinity'", "NULL"]
    made = table(x=grid(-10, 10, 5, 5), y=grid(-10, 10, Fraction(1, 10)), n=Numbered((0, 2**53)))
    rows = ", ".join(f"({v}, {v}, {v})" for v in values)
    create = "CREATE TABLE extremes (x {0}, y {0}, n {0})"
    aggregates = [
        Aggregate("total", "x"),
        Aggregate("total", "y"),
        Aggregate("present", "y"),
        Aggregate("present", "n"),
    ]
    for source in (
        in_duckdb(made, create.format("DOUBLE"), f"INSERT INTO extremes VALUES {rows}"),
        in_postgres(made, create.format("float8"), f"INSERT INTO extremes VALUES {rows}"),
    ):
        # x: 2 - 2 + 0 + 0 + 2 + 0, and four times 1 for what is missing; y: 100 - 100 + 0 + 0 + 100 + 0.
        assert ask(source, made, *aggregates) == [[2 + 4, 100, 6, 2]]


@pytest.mark.parametrize("place", ["duckdb", "parquet", "feather", "postgres", "spark"])
def test_nan_among_values_that_all_lie_within(place, put):
    """Parquet's statistics leave NaN out: a comparison that holds for all the others must not take it in."""
    made = table(x=grid(-10, 10, Fraction(1, 2)))
    source = put(place, [{"x": value} for value in (1.0, math.nan, 2.0)], made, {"x": "double"})
    made = source._declarations.tables["extremes"]
    inside = [Aggregate("rows", None, Within("x", low, high)) for low, high in ((None, 15), (-15, None), (-15, 15))]
    absent = Aggregate("rows", None, Missing("x"))
    assert ask(source, made, Aggregate("total", "x"), *inside, absent, Aggregate("present", "x")) == [
        [6, 2, 2, 2, 1, 2]
    ]


@pytest.mark.parametrize("kind", ["DECIMAL(38,10)", "DECIMAL(18,3)", "FLOAT", "DECIMAL(4,1)"])
def test_decimals_and_floats_of_every_width(kind, in_duckdb):
    made = table(x=grid(-1000, 1000, Fraction(1, 10)), n=Numbered((3, 4)))
    values = (0.5, -999.9, 3, 123.4)
    rows = ", ".join(f"({v}, {v})" for v in values)
    source = in_duckdb(made, f"CREATE TABLE extremes (x {kind}, n {kind})", f"INSERT INTO extremes VALUES {rows}")
    assert ask(source, made, Aggregate("total", "x")) == [[5 - 9999 + 30 + 1234]]
    assert ask(source, made, Aggregate("rows", None, OneOf("n", (3,)))) == [[1]]


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ", "DATE"])
def test_times_of_every_sort_in_duckdb(kind, in_duckdb):
    ends = (date(1969, 12, 31), date(1970, 1, 1))
    made = table(day=Days(*ends), hour=Hours(*ends))
    moments = ["1969-12-31 23:59:59.999999999", "1970-01-01 00:00:00", "1970-01-02 00:00:00", "infinity", "-infinity"]
    # What a narrower type would cut off is cut off by DuckDB when the rows are written.
    cut = {"TIMESTAMP_S": "1969-12-31 23:59:59", "TIMESTAMP_MS": "1969-12-31 23:59:59.999", "DATE": "1969-12-31"}
    moments[0] = cut.get(kind, moments[0] if kind == "TIMESTAMP_NS" else "1969-12-31 23:59:59.999999")
    rows = ", ".join(f"('{m}', '{m}')" for m in moments)
    source = in_duckdb(
        made,
        "SET TimeZone = 'UTC'",
        f"CREATE TABLE extremes (day {kind}, hour {kind})",
        f"INSERT INTO extremes VALUES {rows}",
    )
    days = [Aggregate("rows", None, OneOf("day", (code,))) for code in (-1, 0)]
    hours = [
        Aggregate("rows", None, OneOf("hour", (-24 if kind == "DATE" else -1,))),
        Aggregate("rows", None, Within("hour", 0, 0)),
    ]
    assert ask(source, made, *days, *hours, Aggregate("present", "day"), Aggregate("present", "hour")) == [
        [1, 1, 1, 1, 2, 2]
    ]
    by_hour = ask(source, made, ROWS, keys=("hour",), groups=((-1,), (-24,), (0,)))
    assert by_hour == ([[0], [1], [1]] if kind == "DATE" else [[1], [0], [1]])


@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamptz"])
def test_times_of_every_sort_in_postgres(kind, in_postgres):
    made = table(day=Days(FIRST, LAST), hour=Hours(FIRST, LAST))
    moments = ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "infinity", "-infinity", "4713-01-01 BC")
    rows = ", ".join(f"('{m}', '{m}')" for m in moments)
    source = in_postgres(
        made,
        "SET TimeZone = 'UTC'",
        f"CREATE TABLE extremes (day {kind}, hour {kind})",
        f"INSERT INTO extremes VALUES {rows}",
    )
    assert ask(source, made, Aggregate("present", "day"), Aggregate("present", "hour")) == [[2, 2]]


def test_text_is_compared_byte_by_byte_whatever_the_collation(in_duckdb, in_postgres, spark):
    made = table(word=Listed(("abc", "ABC")), note=Text())
    aggregates = [ROWS, Aggregate("rows", None, OneOf("note", ("abc",)))]
    wanted = [[1, 1], [1, 0]]
    rows = "('abc', 'abc'), ('ABC', 'ABC'), ('Abc', 'Abc')"
    insert = f"INSERT INTO extremes VALUES {rows}"
    asked = {"keys": ("word",), "groups": (("abc",), ("ABC",))}
    nocase = "CREATE TABLE extremes (word VARCHAR COLLATE NOCASE, note VARCHAR COLLATE NOCASE)"
    assert ask(in_duckdb(made, nocase, insert), made, *aggregates, **asked) == wanted
    enumerated = ("CREATE TYPE words AS ENUM ('abc', 'ABC', 'Abc')", "CREATE TABLE extremes (word words, note words)")
    assert ask(in_duckdb(made, *enumerated, insert), made, *aggregates, **asked) == wanted
    padded = "CREATE TABLE extremes (word char(10), note varchar(10))"
    assert ask(in_postgres(made, padded, insert), made, *aggregates, **asked) == wanted
    enum = ("DROP TYPE IF EXISTS words CASCADE", "CREATE TYPE words AS ENUM ('abc', 'ABC', 'Abc')")
    assert (
        ask(
            in_postgres(made, *enum, "CREATE TABLE extremes (word words, note words)", insert),
            made,
            *aggregates,
            **asked,
        )
        == wanted
    )
    session = spark._spark
    session.sql("CREATE OR REPLACE TEMPORARY VIEW given AS SELECT * FROM VALUES ('abc'), ('ABC'), ('Abc') AS t(w)")
    collated = "SELECT collate(w, 'UTF8_LCASE') AS word, collate(w, 'UTF8_LCASE') AS note FROM given"
    frame = session.sql(collated)
    spark._relations["extremes"] = "extremes_view"
    frame.createOrReplaceTempView("extremes_view")
    spark._found = {"extremes": spark._described("extremes", "extremes_view")}
    assert ask(spark, made, *aggregates, **asked) == wanted


def test_truths_as_numbers(in_duckdb):
    made = table(yes=Truth())
    source = in_duckdb(made, "CREATE TABLE extremes AS SELECT unnest([0, 1, 1, 2, -1, NULL])::TINYINT AS yes")
    counted = [
        Aggregate("rows", None, c) for c in (OneOf("yes", (1,)), OneOf("yes", (0,)), Missing("yes"), Present("yes"))
    ]
    assert ask(source, made, *counted) == [[2, 1, 3, 3]]


def test_the_first_value_of_a_code_is_the_first():
    rnd = chance(1)
    for _ in range(300):
        step = Fraction(rnd.randint(1, 50), rnd.randint(1, 50))
        kind = Grid(step * rnd.randint(-1000, 0), step * rnd.randint(1, 1000), step)
        assert ends_fit(kind)
        code = rnd.randint(kind.lowest + 1, kind.highest)
        value = first_value(kind, code)
        assert place(kind, value) >= code > place(kind, math.nextafter(value, -math.inf))


def test_grids_whose_ends_would_move_are_refused():
    assert not ends_fit(Grid(Fraction(0), Fraction(2**54), Fraction(1)))
    assert not ends_fit(Grid(Fraction(0), Fraction(10) ** 309, Fraction(10) ** 300))
    assert ends_fit(Grid(Fraction(0), Fraction(2**53), Fraction(1)))
