"""What is known of a source without a row: names, types, keys; and what is refused for it."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

import duckdb
import pandas as pd
import psycopg
import pyarrow as pa
import pytest
from sources import worlds
from sources.places import declared
from sources.plain_rows import evaluate

from thresher.amounts import Epsilon
from thresher.config import (
    Bands,
    Column,
    Contribution,
    Days,
    Grid,
    Listed,
    Numbered,
    PublicDeclaration,
    Table,
    Text,
    Truth,
)
from thresher.errors import BugError, DeclarationError, SourceFailedError
from thresher.question import ALWAYS, Aggregate, Need, OneOf
from thresher.sources import Family, open_source, published
from thresher.sources.duckdb_dialect import DuckDBDialect
from thresher.sources.postgres_dialect import PostgresDialect
from thresher.sources.spark_dialect import SparkDialect

AGE = Grid(Fraction(0), Fraction(110), Fraction(1))


def table(**kinds):
    return Table("patients", {name: Column(name, kind) for name, kind in kinds.items()}, Epsilon("1"))


@pytest.fixture
def in_duckdb(tmp_path):
    opened = []

    def build(made, *statements, public=()):
        path = tmp_path / f"catalogue{len(opened)}.duckdb"
        with duckdb.connect(str(path)) as connection:
            for statement in statements:
                connection.execute(statement)
        opened.append(open_source(declared(f"duckdb:///{path}", made, public=public)))
        return opened[-1]

    yield build
    for source in opened:
        source.close()


def refused(source):
    with pytest.raises(DeclarationError) as caught:
        source.check(source._declarations)
    return str(caught.value)


def test_names_that_are_not_there_are_guessed_at(in_duckdb):
    create = "CREATE TABLE patients (pid INT, age INT, disease VARCHAR)"
    assert "Did you mean patients?" in refused(in_duckdb(replace(table(age=AGE), relation="patient"), create))
    message = refused(in_duckdb(table(agee=AGE), create))
    assert message.startswith("tables.patients.columns.agee:")
    assert "Did you mean age?" in message
    unit = replace(table(age=AGE), contribution=Contribution("pidd", 1, 1))
    assert "Did you mean pid?" in refused(in_duckdb(unit, create))
    public = PublicDeclaration("diseases")
    message = refused(in_duckdb(table(age=AGE), create, public=[public]))
    assert message.startswith("public_tables.diseases: the source has no table diseases")


@pytest.mark.parametrize(
    ("kind", "physical"),
    [
        (AGE, "VARCHAR"),
        (AGE, "TIMESTAMP WITH TIME ZONE"),
        (AGE, "BOOLEAN"),
        (Listed(("a",)), "INTEGER"),
        (Text(), "BLOB"),
        (Numbered((1,)), "VARCHAR"),
        (Truth(), "VARCHAR"),
        (Days(date(2020, 1, 1), date(2020, 1, 2)), "VARCHAR"),
        (Days(date(2020, 1, 1), date(2020, 1, 2)), "INTEGER"),
    ],
)
def test_types_that_do_not_fit_are_refused_without_reading_a_row(kind, physical, in_duckdb):
    message = refused(in_duckdb(table(x=kind), f"CREATE TABLE patients (x {physical})"))
    assert physical in message
    assert "tables.patients.columns.x" in message


def test_postgres_refuses_text_as_a_number(postgres_server):
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS patients CASCADE")
        connection.execute("CREATE TABLE patients (age text)")
    source = open_source(declared(postgres_server, table(age=AGE)))
    assert "it is text (text)" in refused(source)
    source.close()


@pytest.mark.parametrize(
    ("physical", "kind", "shown"),
    [
        ("ENUM('canary', 'it''s')", AGE, "it is ENUM (text)"),
        ("ENUM('canary')[]", Listed(("a",)), "it is ENUM[] (something else)"),
        ("STRUCT(a ENUM('canary', 'b'), c INTEGER)", AGE, "it is STRUCT(a ENUM, c INTEGER) (something else)"),
    ],
)
def test_no_refusal_repeats_the_labels_of_an_enum(physical, kind, shown, in_duckdb):
    """DuckDB makes an ENUM from rows, so its labels are data."""
    source = in_duckdb(table(x=kind), f"CREATE TABLE patients (x {physical})")
    message = refused(source)
    assert shown in message
    assert "canary" not in message + str(source.catalogue())


def test_one_relation_under_two_names_is_refused(postgres_server):
    """The full name and the short name of a table would have a budget each."""
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS patients CASCADE")
        connection.execute("CREATE TABLE patients (age int)")
    full = replace(table(age=AGE), name="people", relation="public.patients")
    source = open_source(declared(postgres_server, table(age=AGE), full))
    assert refused(source).startswith("tables.people: [tables.patients] names the same rows")
    source.close()
    source = open_source(declared(postgres_server, full, public=[PublicDeclaration("patients")]))
    assert refused(source).startswith("tables.people: [public_tables.patients] names the same rows")
    source.close()


def test_one_file_of_two_tables_is_refused(tmp_path):
    """Neither a pattern nor a link gives rows a second budget."""
    path = tmp_path / "part0.parquet"
    pa.parquet.write_table(pa.table({"age": [1]}), path)
    (tmp_path / "link.parquet").symlink_to(path)
    one = replace(table(age=AGE), file=tmp_path / "part*.parquet")
    for other in (path, tmp_path / "link.parquet"):
        two = replace(one, name="people", file=other)
        with pytest.raises(DeclarationError, match=r"^tables.people: \[tables.patients\] has the file") as caught:
            open_source(declared("duckdb://", one, two))
        assert other.name in str(caught.value)
        with pytest.raises(DeclarationError, match=r"^tables.patients: \[public_tables.people\] has the file"):
            open_source(declared("duckdb://", one, public=[PublicDeclaration("people", file=other)]))


def test_bounds_that_no_double_can_hold_are_refused(in_duckdb):
    far = Grid(Fraction(0), Fraction(2**60), Fraction(1))
    assert "2^53" in refused(in_duckdb(table(x=far), "CREATE TABLE patients (x BIGINT)"))


def test_bands_need_no_column_of_their_own(in_duckdb):
    bands = Bands("age", (Fraction(0), Fraction(18)))
    source = in_duckdb(table(age=AGE, young=bands), "CREATE TABLE patients (age INT)")
    source.check(source._declarations)


def test_too_many_bands_are_refused(in_duckdb):
    for number in (1000, 1001):
        wide = Grid(Fraction(0), Fraction(2000), Fraction(1))
        bands = Bands("age", tuple(Fraction(edge) for edge in range(number + 1)))
        source = in_duckdb(table(age=wide, many=bands), "CREATE TABLE patients (age INT)")
        if number > 1000:
            assert "it has 1001 bands, and at most 1000 are allowed" in refused(source)
        else:
            source.check(source._declarations)
            need = Need(source._declarations.tables["patients"], (), ((),), ALWAYS, (Aggregate("present", "many"),))
            assert source.fetch(need).unseal().tolist() == [[0]]


def test_relations_in_other_schemas_and_strange_names(in_duckdb):
    made = replace(table(**{'a "b" `c` \\d': AGE}), relation="ward.people")
    source = in_duckdb(
        made,
        "CREATE SCHEMA ward",
        'CREATE TABLE ward.people ("a ""b"" `c` \\d" INT)',
        "INSERT INTO ward.people VALUES (3)",
    )
    source.check(source._declarations)
    need = Need(made, (), ((),), ALWAYS, (Aggregate("total", 'a "b" `c` \\d'),))
    assert source.fetch(need).unseal().tolist() == [[3]]


UNITS = replace(table(age=AGE), contribution=Contribution("pid", 1, 1))


def test_a_key_that_the_catalogue_proves_saves_the_bounding(in_duckdb, postgres_server):
    create = "CREATE TABLE patients (pid INT UNIQUE, age INT)"
    rows = "INSERT INTO patients VALUES (1, 5), (2, 6), (NULL, 7), (NULL, 8)"
    need = Need(UNITS, (), ((),), ALWAYS, (Aggregate("units"), Aggregate("total", "age")))
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS patients CASCADE")
        connection.execute(create)
        connection.execute(rows)
        for source in (in_duckdb(UNITS, create, rows), open_source(declared(postgres_server, UNITS))):
            assert source.fetch(need).unseal().tolist() == [[2, 11]]
            assert not source._kept
        # The proof is looked up again: the key is dropped behind our back, and rows of one person appear.
        connection.execute("ALTER TABLE patients DROP CONSTRAINT patients_pid_key")
        connection.execute("INSERT INTO patients VALUES (1, 5), (1, 5)")
        assert source.fetch(need).unseal().tolist() == [[2, 11]]
        assert source._kept
        source.close()


@pytest.mark.parametrize(
    ("made", "proved"),
    [
        ("CREATE TABLE patients (pid int PRIMARY KEY, age int)", True),
        ("CREATE TABLE patients (pid int, age int, UNIQUE (pid, age))", False),
        ("CREATE TABLE patients (pid int, age int); CREATE UNIQUE INDEX ON patients (pid) WHERE age > 3", False),
        ("CREATE TABLE patients (pid int, age int); CREATE UNIQUE INDEX ON patients ((pid + 0))", False),
        ("CREATE TABLE patients (pid int UNIQUE DEFERRABLE, age int)", False),
        ("CREATE TABLE patients (pid int, age int); CREATE INDEX ON patients (pid)", False),
        ("CREATE TABLE patients (pid int PRIMARY KEY, age int); CREATE TABLE more () INHERITS (patients)", False),
        ("CREATE TABLE people (pid int PRIMARY KEY, age int); CREATE VIEW patients AS SELECT * FROM people", False),
    ],
)
def test_only_a_full_key_is_a_proof_in_postgres(made, proved, postgres_server):
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        for sort, name in (("VIEW", "patients"), ("TABLE", "patients"), ("TABLE", "people"), ("TABLE", "more")):
            kind = connection.execute("SELECT relkind FROM pg_class WHERE relname = %s", (name,)).fetchone()
            if kind and (kind[0] == "v") == (sort == "VIEW"):
                connection.execute(f"DROP {sort} {name} CASCADE")
        connection.execute(made)
        source = open_source(declared(postgres_server, UNITS))
        columns = {column.name: column for column in source.catalogue()["patients"]}
        assert columns["pid"].is_unique_key is proved
        assert not columns["age"].is_unique_key
        source.close()
        connection.execute("DROP TABLE people CASCADE" if "VIEW" in made else "DROP TABLE patients CASCADE")


def test_csv_is_known_by_its_header_alone(tmp_path):
    (tmp_path / "patients.csv").write_text('\ufeffpid;"age; in years";word\n' + "not;a;number\n" * 3, encoding="utf-8")
    source = open_source(declared(str(tmp_path / "patients.csv"), table(word=Text())))
    columns = source.catalogue()["patients"]
    assert [column.name for column in columns] == ["pid", "age; in years", "word"]
    assert {column.family for column in columns} == {Family.WRITTEN}
    source.close()


def test_files_by_pattern_and_by_folder(tmp_path):
    for n in range(3):
        pa.parquet.write_table(pa.table({"age": [n]}), tmp_path / f"part{n}.parquet")
    made = replace(table(age=AGE), file=tmp_path.joinpath("part*.parquet"))
    source = open_source(declared("duckdb://", made))
    need = Need(made, (), ((),), ALWAYS, (Aggregate("total", "age"),))
    assert source.fetch(need).unseal().tolist() == [[3]]
    source.close()
    source = open_source(declared(f"parquet:///{tmp_path}"))
    assert sorted(source.catalogue()) == ["part0", "part1", "part2"]
    source.close()
    absent = open_source(declared("duckdb://", replace(made, file=tmp_path / "none*.parquet")))
    assert refused(absent).startswith(f"tables.patients.file: no such file: {tmp_path}/none*.parquet. Rel")
    absent.close()
    (tmp_path / "broken.parquet").write_text("canary")
    broken = open_source(declared("duckdb://", replace(made, file=tmp_path / "broken.parquet")))
    assert "broken.parquet cannot be read as parquet" in refused(broken)
    broken.close()


def test_a_missing_file_is_told_by_the_setting_that_names_it(tmp_path):
    made, public = table(age=AGE), PublicDeclaration("places", file=tmp_path / "data" / "places.csv")
    (tmp_path / "here.parquet").touch()
    for source, start in (
        (
            open_source(declared("gone.parquet", made, folder=tmp_path)),
            "source.url: no such file: gone.parquet. Relative paths start at the folder of thresher.toml.",
        ),
        (
            open_source(declared("duckdb://", public=[public], folder=tmp_path)),
            "public_tables.places.file: no such file: data/places.csv.",
        ),
        (
            open_source(declared("spark://local[2]", replace(made, file=tmp_path / "gone.parquet"), folder=tmp_path)),
            "tables.patients.file: no such file: gone.parquet.",
        ),
        (open_source(declared("here.parquet", made, folder=tmp_path)), "source.url: here.parquet cannot be read as"),
    ):
        assert refused(source).startswith(start)
        source.close()


def test_a_source_without_tables_says_so(tmp_path, spark):
    source = open_source(declared(str(tmp_path)))
    with pytest.raises(DeclarationError, match="there is no data file at"):
        source.catalogue()
    with duckdb.connect(str(tmp_path / "empty.duckdb")):
        pass
    source = open_source(declared(f"duckdb:///{tmp_path}/empty.duckdb"))
    with pytest.raises(DeclarationError, match="has no table that can be read"):
        source.catalogue()
    source.close()
    for view in spark._spark.catalog.listTables():
        spark._spark.sql(f"DROP VIEW IF EXISTS {view.name}")
    source = open_source(declared("spark://local[2]"))
    with pytest.raises(DeclarationError, match=r'file = "x\.parquet" .* works with spark://'):
        source.catalogue()
    source.close()


def test_two_files_that_would_be_one_table(tmp_path):
    pa.parquet.write_table(pa.table({"age": [1]}), tmp_path / "patients.parquet")
    (tmp_path / "patients.csv").write_text("age\n1\n")
    for declarations in (declared(str(tmp_path), table(age=AGE)), declared(str(tmp_path))):
        with pytest.raises(DeclarationError) as caught:
            open_source(declarations)
        assert "patients.csv and patients.parquet would both be the table patients" in str(caught.value)
    named = replace(table(age=AGE), file=tmp_path / "patients.csv")
    source = open_source(declared(str(tmp_path), named))
    source.check(source._declarations)
    source.close()


@pytest.mark.parametrize("url", ["mysql://x/y", "notes.txt", "http://x/y.parquet"])
def test_other_addresses_are_refused(url):
    with pytest.raises(DeclarationError, match=r"source\.url"):
        open_source(declared(url))


def test_tables_in_memory_need_their_address(tmp_path):
    for url, tables in (("memory://", None), ("duckdb://", {"x": pa.table({"a": [1]})})):
        with pytest.raises(DeclarationError, match="memory://"):
            open_source(declared(url), tables)
    for wrong in ([1, 2], pd.DataFrame({"a": [1, "canary"]})):
        with pytest.raises(DeclarationError) as caught:
            open_source(declared("memory://"), {"x": wrong})
        assert "canary" not in str(caught.value)
        assert caught.value.__context__ is None


def test_pandas_with_its_own_types():
    """Whole numbers with gaps are doubles to pandas, and dates are objects."""
    rnd = worlds.chance(6)
    made = replace(worlds.table(rnd, units=False))
    rows = next(rows for rows in iter(lambda: worlds.rows(rnd), None) if len(rows) > 30)
    small = {"far", "at", "zoned"}  # beyond what pandas' own types hold
    made = replace(made, columns={name: column for name, column in made.columns.items() if name not in small})
    frame = pd.DataFrame([{name: value for name, value in row.items() if name not in small} for row in rows])
    source = open_source(declared("memory://", made), {"patients": frame})
    source.check(source._declarations)
    totals = tuple(Aggregate("total", name) for name in ("age", "cost", "third", "price"))
    need = Need(made, (made.columns["disease"],), tuple((w,) for w in worlds.DECLARED_WORDS), ALWAYS, totals)
    assert source.fetch(need).unseal().tolist() == evaluate(need, rows)
    source.close()


PUBLIC = "SELECT 1::INT AS i, 2.50::DECIMAL(5,2) AS d, 0.1::DOUBLE AS f, 'x' AS t, true AS b, DATE '2020-02-29' AS day"
WANTED = {"i": Fraction(1), "d": Fraction(5, 2), "f": Fraction(1, 10), "t": "x", "b": True, "day": "2020-02-29"}


def test_public_tables_are_read_whole(in_duckdb, postgres_server, spark, tmp_path):
    public = PublicDeclaration("places")
    empty = "CREATE TABLE patients (age INT)"
    times = ", TIMESTAMP '2020-02-29 10:00:00' AS at, CAST('nan' AS DOUBLE) AS nothing"
    wanted = {**WANTED, "at": "2020-02-29T10:00:00", "nothing": None}
    source = in_duckdb(table(age=AGE), empty, f"CREATE TABLE places AS {PUBLIC}{times}", public=[public])
    found = source.public_table("places")
    assert {name: values[0] for name, values in found.columns.items()} == wanted
    assert found.rows == 1
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS places")
        connection.execute(f"CREATE TABLE places AS {PUBLIC}{times}".replace("DOUBLE", "float8"))
    source = open_source(declared(postgres_server, public=[public]))
    assert {name: values[0] for name, values in source.public_table("places").columns.items()} == wanted
    source.close()
    spark._spark.sql(f"{PUBLIC}{times}".replace("::INT", "")).write.parquet(str(tmp_path / "places"))
    in_files = PublicDeclaration("places", file=tmp_path / "places" / "*.parquet")
    source = open_source(declared("spark://local[2]", public=[in_files]))
    assert {name: values[0] for name, values in source.public_table("places").columns.items()} == wanted
    source.close()


def test_public_tables_have_a_limit(in_duckdb, monkeypatch):
    monkeypatch.setattr(published, "MOST_ROWS", 5)
    empty = "CREATE TABLE patients (age INT)"
    source = in_duckdb(
        table(age=AGE), empty, "CREATE TABLE places AS FROM range(6)", public=[PublicDeclaration("places")]
    )
    with pytest.raises(SourceFailedError, match="more than 5 rows"):
        source.public_table("places")


def test_public_values_are_exact():
    assert published.public_value(0.1) == Fraction(1, 10)
    assert published.public_value(Decimal("1e-30")) == Fraction(1, 10**30)
    assert published.public_value(Decimal("NaN")) is None
    assert published.public_value(float("inf")) is None


@pytest.mark.parametrize(
    "word", [*worlds.WORDS, "\\", "\\'", "'--", "\n\t\r", "\u2028", "$1 $$ :p1 ? %s", "${spark.app.id}"]
)
def test_constants_mean_what_they_say(word, in_duckdb, postgres_server, spark):
    """Quoted text comes back as it was, from every database."""
    with duckdb.connect() as connection:
        assert connection.execute(f"SELECT {DuckDBDialect().text(word)}").fetchone() == (word,)
        name = DuckDBDialect().identifier(word)
        assert connection.execute(f"SELECT {name} FROM (SELECT 1 AS {name})").fetchone() == (1,)
    with psycopg.connect(postgres_server, cursor_factory=psycopg.RawCursor) as connection:
        assert connection.execute(f"SELECT {PostgresDialect().text(word)}").fetchone() == (word,)
    assert spark._spark.sql(f"SELECT {SparkDialect().text(word)}").collect()[0][0] == word
    assert spark._spark.sql(f"SELECT 1 AS {SparkDialect().identifier(word)}").columns == [word]


@pytest.mark.parametrize("dialect", [DuckDBDialect(), PostgresDialect(), SparkDialect()])
def test_a_nul_never_reaches_a_source(dialect):
    for quote in (dialect.text, dialect.identifier):
        with pytest.raises(BugError):
            quote("a\0b")


def test_many_groups_are_brought_along_in_spark(spark, tmp_path):
    """More groups than are written into the statement travel as an array."""
    pa.parquet.write_table(pa.table({"n": list(range(3000)), "w": ["it's \\"] * 3000}), tmp_path / "patients.parquet")
    made = replace(table(n=Numbered(tuple(range(2000))), w=Listed(("it's \\",))), file=tmp_path / "patients.parquet")
    source = open_source(declared("spark://local[2]", made))
    keys = (made.columns["n"], made.columns["w"])
    need = Need(made, keys, tuple((n, "it's \\") for n in range(2000)), OneOf("w", ("it's \\",)), (Aggregate("rows"),))
    assert source.fetch(need).unseal().sum() == 2000
    source.close()


@pytest.mark.parametrize("place", ["duckdb", "parquet", "arrow", "postgres", "spark"])
def test_each_source_says_what_people_declared_about_its_relations(place, put):
    """A fresh table has no constraint, is not a view, and is based on itself."""
    source = put(place, [{"age": 3}], table(age=AGE), {"age": "int"})
    facts = source.facts()["patients"]
    assert not facts.is_derived
    assert len(facts.bases) == 1
    assert dict(facts.columns) == {}
