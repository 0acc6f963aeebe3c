"""Whatever goes wrong, the message is ours and the same for all data; nothing is written; time limits hold."""

import subprocess
import sys
import threading
import time
import traceback
from fractions import Fraction

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest
from sources.places import declared

from thresher.amounts import Epsilon
from thresher.config import Column, Contribution, Grid, Listed, PublicDeclaration, Table
from thresher.errors import DeclarationError, SourceFailedError, SourceUnavailableError
from thresher.question import ALWAYS, Aggregate, Need, OneOf
from thresher.sources import open_source
from thresher.sources.protocol import CHANGED, FAILED, INTERRUPTED

CANARY, ODD = "canary-alice@example.org", 104_729
ENGINE_WORDS = (
    "Conversion",
    "Binder",
    "Error:",
    "LINE",
    "syntax",
    "psycopg",
    "duckdb.",
    "pyspark",
    "java",
    "relation ",
)

TABLE = Table(
    "patients",
    {"word": Column("word", Listed(("a", CANARY))), "age": Column("age", Grid(Fraction(0), Fraction(9), Fraction(1)))},
    Epsilon("1"),
)
NEED = Need(TABLE, (TABLE.columns["word"],), (("a",),), ALWAYS, (Aggregate("rows"), Aggregate("total", "age")))
ROWS_OF_ONE = "SELECT 1, 'a', 3 FROM range(5000)"
PHYSICAL = {"word": "text", "age": "big"}
ROWS = [{"word": CANARY, "age": ODD}, {"word": "a", "age": 3}]


def failure(source, need=NEED, kind=SourceFailedError):
    """The error of a fetch, after a look at everything that hangs on it."""
    with pytest.raises(kind) as caught:
        source.fetch(need)
    shown = "".join(traceback.format_exception(caught.value)[-1:]) + repr(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert CANARY not in shown
    assert str(ODD) not in shown
    assert not any(word in str(caught.value) for word in ENGINE_WORDS)
    return str(caught.value)


def write(path, **columns):
    pa.parquet.write_table(pa.table(columns), path)


@pytest.fixture
def parquet(tmp_path):
    write(tmp_path / "patients.parquet", word=[CANARY, "a"], age=[ODD, 3])
    source = open_source(declared(str(tmp_path), TABLE))
    source.check(source._declarations)
    yield source, tmp_path / "patients.parquet"
    source.close()


def test_a_column_that_changed_its_type_after_the_check(parquet, capfd):
    source, path = parquet
    write(path, word=["a", "b"], age=[CANARY, "3"])
    assert failure(source) == FAILED
    assert capfd.readouterr() == ("", "")


def test_a_file_that_is_gone_or_broken_after_the_check(parquet):
    source, path = parquet
    path.write_bytes(b"PAR1" + CANARY.encode() * 10)
    assert failure(source) == FAILED
    path.unlink()
    assert failure(source, kind=SourceUnavailableError) == CHANGED


def test_a_failed_source_can_be_used_again(parquet):
    source, path = parquet
    kept = path.read_bytes()
    path.unlink()
    failure(source)
    path.write_bytes(kept)
    assert source.fetch(NEED).unseal().tolist() == [[1, 3]]


@pytest.mark.parametrize("place", ["postgres", "spark"])
def test_a_table_that_changed_after_the_check(place, put, request):
    source = put(place, ROWS, TABLE, PHYSICAL)
    source.check(source._declarations)
    if place == "postgres":
        with psycopg.connect(request.getfixturevalue("postgres_server"), autocommit=True) as connection:
            connection.execute("ALTER TABLE patients ALTER age TYPE text USING word")
            failure(source)
            # After a failure the catalogue is looked up and checked again.
            assert failure(source, kind=SourceUnavailableError) == CHANGED
            connection.execute("ALTER TABLE patients ALTER age TYPE int8 USING 3")
            assert source.fetch(NEED).unseal().tolist() == [[1, 3]]
            connection.execute("DROP TABLE patients")
            assert failure(source) == FAILED
            assert failure(source, kind=SourceUnavailableError) == CHANGED
    else:
        source.catalogue()
        write(source._where.files["patients"].paths[0], word=["a", "b"], age=[CANARY, "3"])
        need = Need(source._declarations.tables["patients"], NEED.keys, NEED.groups, ALWAYS, NEED.aggregates)
        assert failure(source, need) == FAILED


def test_a_connection_that_is_killed(put, postgres_server):
    source = put("postgres", ROWS, TABLE, PHYSICAL)
    kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'thresher'"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        assert source.fetch(NEED).unseal().tolist() == [[1, 3]]
        # While idle: it is replaced before anything is read.
        connection.execute(kill)
        assert source.fetch(NEED).unseal().tolist() == [[1, 3]]
        # While reading: charged.
        connection.execute("DROP TABLE IF EXISTS people CASCADE")
        connection.execute("ALTER TABLE patients RENAME TO people")
        connection.execute("CREATE VIEW patients AS SELECT word, age FROM people, (SELECT pg_sleep(20)) s")
        killer = threading.Timer(1.0, connection.execute, (kill,))
        killer.start()
        assert failure(source) == FAILED
        killer.join()
        connection.execute("DROP VIEW patients; DROP TABLE people")


@pytest.fixture
def slow(request, tmp_path):
    """A source whose table takes for ever, and the time it is given."""
    opened = []

    def build(place, seconds):
        if place == "duckdb":
            path = tmp_path / "slow.duckdb"
            with duckdb.connect(str(path)) as connection:
                body = "SELECT 'a' AS word, (a.i * b.i) % 7 AS age FROM range(10000000) a(i), range(1000000) b(i)"
                connection.execute(f"CREATE VIEW patients AS {body}")
            url = f"duckdb:///{path}"
        elif place == "postgres":
            url = request.getfixturevalue("postgres_server")
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("DROP TABLE IF EXISTS patients CASCADE")
                body = "SELECT 'a'::text AS word, (i % 7)::int8 AS age FROM generate_series(1, 100000000000) i"
                connection.execute(f"CREATE OR REPLACE VIEW slow AS {body}")
        else:
            session = request.getfixturevalue("spark")._spark
            session.sql(
                "CREATE OR REPLACE VIEW slow AS SELECT 'a' AS word, id % 7 AS age FROM range(0, 100000000000000)"
            )
            url = "spark://local[2]"
        table = TABLE if place == "duckdb" else Table("patients", TABLE.columns, TABLE.budget, relation="slow")
        opened.append(open_source(declared(url, table, timeout=seconds)))
        return opened[-1], Need(table, NEED.keys, NEED.groups, ALWAYS, NEED.aggregates)

    yield build
    for source in opened:
        source.close()


@pytest.mark.parametrize("place", ["duckdb", "postgres", "spark"])
def test_time_is_limited(place, slow, capfd):
    source, need = slow(place, 1)
    source.check(source._declarations)
    start = time.monotonic()
    assert failure(source, need) == "the source took longer than timeout_seconds = 1; the question stays charged"
    assert time.monotonic() - start < 20
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("place", ["duckdb", "postgres", "spark"])
def test_another_thread_can_interrupt(place, slow):
    source, need = slow(place, 300)
    source.check(source._declarations)
    waiting = threading.Timer(1.0, source.interrupt)
    waiting.start()
    assert failure(source, need) == INTERRUPTED
    waiting.join()


def test_a_database_that_another_program_writes(tmp_path):
    path = tmp_path / "busy.duckdb"
    program = f"import duckdb, time; c = duckdb.connect({str(path)!r}); print('open', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "open\n"
        with pytest.raises(SourceUnavailableError, match="open for writing"):
            open_source(declared(f"duckdb:///{path}", TABLE)).connect()
        writer.kill()


def test_a_locked_table_is_unavailable_not_charged(put, postgres_server):
    source = put("postgres", ROWS, TABLE, PHYSICAL)
    source.connect()
    source._db.execute("SET lock_timeout = '300ms'")
    with psycopg.connect(postgres_server) as connection:
        connection.execute("LOCK TABLE patients IN ACCESS EXCLUSIVE MODE")
        assert "locked" in failure(source, kind=SourceUnavailableError)


def test_a_lock_that_a_row_runs_into_stays_charged(put, postgres_server):
    """A view may look into another table for some rows only: a refund would tell that there are such rows."""
    source = put("postgres", ROWS, TABLE, PHYSICAL)
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("ALTER TABLE patients RENAME TO kept")
        connection.execute("CREATE TABLE IF NOT EXISTS looked_up (v int)")
        connection.execute(
            "CREATE OR REPLACE FUNCTION looked(a bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS"
            " 'BEGIN RETURN a + (SELECT count(*) FROM looked_up); END'"
        )
        named = ", ".join("looked(age) AS age" if name == "age" else f'"{name}"' for name in PHYSICAL)
        connection.execute(f"CREATE VIEW patients AS SELECT {named} FROM kept")
    try:
        source.check(source._declarations)
        source._db.execute("SET lock_timeout = '300ms'")
        with psycopg.connect(postgres_server) as connection:
            connection.execute("LOCK TABLE looked_up IN ACCESS EXCLUSIVE MODE")
            failure(source, kind=SourceFailedError)
    finally:
        source.close()
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute("DROP VIEW patients")
            connection.execute("DROP TABLE kept")


def test_a_lock_leaves_nothing_behind(put, postgres_server):
    """The bounded rows are made after an empty table for them: the next question finds neither."""
    bounded = Table("patients", TABLE.columns, TABLE.budget, contribution=Contribution("pid", 1, 1))
    source = put("postgres", [{"word": "a", "age": 3, "pid": 1}] * 2, bounded, {**PHYSICAL, "pid": "big"})
    need = Need(bounded, NEED.keys, NEED.groups, ALWAYS, NEED.aggregates)
    source.check(source._declarations)
    source._db.execute("SET lock_timeout = '300ms'")
    with psycopg.connect(postgres_server) as connection:
        connection.execute("LOCK TABLE patients IN ACCESS EXCLUSIVE MODE")
        assert "locked" in failure(source, need, kind=SourceUnavailableError)
    assert source.fetch(need).unseal().tolist() == [[1, 3]]


@pytest.mark.parametrize("fails", [True, False])
def test_a_proof_of_uniqueness_ends_with_the_connection(fails, tmp_path):
    """A database that is filled anew without its key must not pass for the one that had it."""
    bounded = Table("patients", TABLE.columns, TABLE.budget, contribution=Contribution("pid", 1, 1))
    need = Need(bounded, NEED.keys, NEED.groups, ALWAYS, (Aggregate("rows"),))
    for name, key, rows in (("old", "PRIMARY KEY", "SELECT range, 'a', 3 FROM range(9)"), ("new", "", ROWS_OF_ONE)):
        with duckdb.connect(str(tmp_path / name)) as connection:
            connection.execute(f"CREATE TABLE patients (pid INT {key}, word VARCHAR, age INT)")
            connection.execute(f"INSERT INTO patients {rows}")
    path = tmp_path / "data.duckdb"
    (tmp_path / "old").rename(path)
    source = open_source(declared(f"duckdb:///{path}", bounded))
    source.check(source._declarations)
    assert source.fetch(need).unseal().tolist() == [[9]]
    (tmp_path / "new").replace(path)
    if fails:
        source._columns = None
        assert failure(source, need) == FAILED
        del source._columns
    else:
        source.close()
    assert source.fetch(need).unseal().tolist() == [[1]]
    source.close()


def test_nothing_can_be_written(put, postgres_server, tmp_path):
    source = put("postgres", ROWS, TABLE, PHYSICAL)
    source.connect()
    for statement in ("INSERT INTO patients VALUES ('b', 1)", "CREATE TABLE made (a int)", "DROP TABLE patients"):
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            source._db.execute(statement)
    source = put("duckdb", ROWS, TABLE, PHYSICAL)
    source.connect()
    (tmp_path / "secret.csv").write_text("a\n1\n")
    for statement in (
        "INSERT INTO source.patients VALUES ('b', 1)",
        "CREATE TABLE source.made (a INT)",
        f"SELECT * FROM read_csv('{tmp_path}/secret.csv')",
        f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
        f"ATTACH '{tmp_path}/other.duckdb'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SET allowed_paths = ['/etc/passwd']",
    ):
        with pytest.raises(duckdb.Error):
            source._db.execute(statement)
    assert source.fetch(NEED).unseal().tolist() == [[1, 3]]


def test_a_role_without_temporary_tables_reads_bounded_rows_all_the_same(put, postgres_server):
    bounded = Table("patients", TABLE.columns, TABLE.budget, contribution=Contribution("pid", 1, 1))
    rows = [{"word": "a", "age": age, "pid": age % 4} for age in range(9)]
    source = put("postgres", rows, bounded, {**PHYSICAL, "pid": "big"})
    need = Need(
        bounded, NEED.keys, NEED.groups, OneOf("age", tuple(range(10))), (Aggregate("rows"), Aggregate("total", "age"))
    )
    allowed = source.fetch(need).unseal().tolist()
    assert allowed[0][0] == 4
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC")
        connection.execute(
            "DROP OWNED BY reader"
            if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'reader'").fetchone()
            else "CREATE ROLE reader LOGIN"
        )
        connection.execute("GRANT SELECT ON patients TO reader")
        try:
            reader = open_source(declared(postgres_server.replace("postgres:@", "reader:@"), bounded))
            reader.check(reader._declarations)
            assert reader.fetch(need).unseal().tolist() == allowed
            assert not reader._may_make_tables
            assert "patients" in reader.catalogue()
            connection.execute("REVOKE SELECT ON patients FROM reader")
            reader.close()
            reader = open_source(declared(postgres_server.replace("postgres:@", "reader:@"), bounded))
            with pytest.raises(DeclarationError, match="no table that can be read"):
                reader.check(reader._declarations)
            reader.close()
        finally:
            connection.execute("GRANT TEMPORARY ON DATABASE postgres TO PUBLIC")


def test_a_public_table_that_fails_is_not_charged(tmp_path):
    with duckdb.connect(str(tmp_path / "places.duckdb")) as connection:
        connection.execute("CREATE TABLE given AS SELECT '" + CANARY + "' AS w")
        connection.execute("CREATE VIEW places AS SELECT CAST(w AS DATE) AS day FROM given")
        connection.execute("CREATE VIEW slow AS FROM range(100000000000) a, range(100) b ORDER BY 1 DESC")
    public = [PublicDeclaration("places"), PublicDeclaration("slow")]
    source = open_source(declared(f"duckdb:///{tmp_path}/places.duckdb", public=public, timeout=1))
    for name, why in (("places", "failed"), ("slow", "took too long")):
        with pytest.raises(SourceUnavailableError) as caught:
            source.public_table(name)
        assert f"the public table {name} {why}" in str(caught.value)
        assert "nothing is charged" in str(caught.value)
        assert "stays" not in str(caught.value)
        assert caught.value.__context__ is None
        assert CANARY not in str(caught.value)
    source.close()
