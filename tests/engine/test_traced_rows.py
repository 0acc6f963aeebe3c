"""The same rows by another spelling, behind functions, in folders, and in partitions that come and go: one budget."""

from contextlib import closing

import duckdb
import psycopg
import pytest
from ledger.conftest import postgres_server, postgres_url  # noqa: F401 - one way to start PostgreSQL

import thresher
from thresher.errors import DeclarationError
from thresher.sources.view_bases import UnclearViewError, tables_in
from thresher.streams.step_mechanism import sealed_counts

TABLE = """
[tables.{name}]
budget = "1"
{more}
[tables.{name}.columns]
ward = {{ values = ["a", "b"] }}
"""


def declared(folder, source, *names, **relations):
    tables = [TABLE.format(name=name, more="") for name in names]
    tables += [TABLE.format(name=name, more=f'table = "{relation}"') for name, relation in relations.items()]
    path = folder / "thresher.toml"
    path.write_text(f'[source]\nurl = "{source}"\n[ledger]\nurl = "sqlite:///ledger.db"\n' + "".join(tables))
    return path


def asked(engine, name):
    sql = f"SELECT ward FROM {name} GROUP BY ward HAVING COUNT(*) > 120"
    return engine.decide(sql, uncertain_region=20, mechanism="tslm")


def refused(engine, name):
    with pytest.raises(DeclarationError, match="the same rows have one budget"):
        asked(engine, name)


VIEWS = {
    "capitals": "SELECT * FROM VISITS",
    "quoted": 'SELECT * FROM "Visits"',
    "by_schema": "SELECT * FROM MAIN.Visits",
    "twice": "SELECT * FROM CAPITALS",
    "from_macro": "SELECT * FROM all_of()",
    "of_a_scalar_macro": "SELECT one_of(range) AS ward FROM range(200)",
    "of_a_text": "SELECT * FROM query('SELECT * FROM visits')",
    "of_a_name": "SELECT * FROM query_table('visits')",
    "beside": "SELECT v.ward FROM others o, LATERAL (SELECT * FROM query_table('visits') q WHERE q.pid = o.pid) v",
}


def test_views_of_duckdb_are_traced_however_they_name_the_table(tmp_path):
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE visits AS SELECT 'a' AS ward, range AS pid FROM range(200)")
        connection.execute("CREATE TABLE others AS SELECT 'b' AS ward, range AS pid FROM range(200)")
        connection.execute("CREATE MACRO all_of() AS TABLE SELECT * FROM visits")
        connection.execute("CREATE MACRO one_of(i) AS (SELECT ward FROM visits WHERE pid = i)")
        for name, text in VIEWS.items():
            connection.execute(f"CREATE VIEW {name} AS {text}")
        connection.execute("CREATE SCHEMA elsewhere; CREATE VIEW elsewhere.near AS SELECT * FROM visits")
        connection.execute("CREATE VIEW of_others AS SELECT o.ward FROM others o, range(1) r")
    path = declared(tmp_path, "duckdb:///clinic.duckdb", "visits", "of_others", *VIEWS, near="elsewhere.near")
    with thresher.open(path) as engine:
        asked(engine, "visits")
        for name in (*VIEWS, "near"):
            refused(engine, name)
        asked(engine, "of_others")


@pytest.mark.parametrize("text", ["CREATE VIEW v AS (", "SELECT * FROM f()", "SELECT m(1) FROM t", "x"])
def test_a_view_that_is_not_clear_is_called_so(text):
    with pytest.raises(UnclearViewError):
        tables_in(text, "duckdb", {"m"})


def test_a_file_of_a_folder_of_many_is_the_same_rows(tmp_path):
    (tmp_path / "parts").mkdir()
    with duckdb.connect() as connection:
        for part in range(40):
            connection.execute(f"COPY (SELECT 'a' AS ward) TO '{tmp_path / 'parts' / f'{part}.parquet'}'")
    many = declared(tmp_path, "parts/*.parquet", "visits").read_text()
    one = declared(tmp_path, "parts/7.parquet", "seven").read_text()
    place = tmp_path / "thresher.toml"
    for number, (before, after) in enumerate([(many, one), (one, many)]):
        names = ("visits", "seven") if before is many else ("seven", "visits")
        for text, name, act in zip((before, after), names, (asked, refused), strict=True):
            place.write_text(text.replace("ledger.db", f"ledger{number}.db"))
            with thresher.open(place) as engine:
                act(engine, name)


STREAM = """
[streams.gate]
table = "visits"
state_column = "ward"
time_column = "day"
states = ["a", "b"]
budget = "1"
start = 2026-01-01T00:00:00Z
step_seconds = 86400
epsilon = "0.3"
protect = "unit"
"""


def test_a_table_whose_rows_pay_for_a_stream_is_not_told_to_take_over_its_account(tmp_path):
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE visits AS SELECT 'a' AS ward, DATE '2026-01-01' AS day FROM range(200)")
    path = declared(tmp_path, "duckdb:///clinic.duckdb", "visits")
    path.write_text(path.read_text() + "day = { first = 2026-01-01, last = 2026-02-01 }" + STREAM)
    with thresher.open(path) as engine:
        with engine.stream("gate") as stream:
            stream.put(0, sealed_counts([200, 0], 2), (f"{tmp_path / 'clinic.duckdb'} main.visits",))
        with pytest.raises(DeclarationError, match=r"another kind of loss.*Go on with") as error:
            asked(engine, "visits")
        assert "ledger rename" not in str(error.value)


RELATIONS = """
DROP TABLE IF EXISTS visits, early, late, others CASCADE;
DROP FUNCTION IF EXISTS every_visit, doubled CASCADE;
CREATE TABLE visits (ward text, day int) PARTITION BY RANGE (day);
CREATE TABLE early PARTITION OF visits FOR VALUES FROM (0) TO (10);
CREATE TABLE late (ward text, day int);
CREATE TABLE others (ward text, day int);
CREATE FUNCTION every_visit() RETURNS SETOF visits LANGUAGE sql STABLE AS 'SELECT * FROM visits';
CREATE FUNCTION doubled(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1 || $1';
CREATE VIEW called AS SELECT * FROM every_visit();
CREATE VIEW formatted AS SELECT doubled(ward) AS ward FROM others;
CREATE VIEW shown AS SELECT ward FROM others;
"""


@pytest.fixture
def server(postgres_url):  # noqa: F811
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(RELATIONS)
        yield connection


def test_partitions_that_come_and_go_keep_one_budget(tmp_path, server, postgres_url):  # noqa: F811
    path = declared(tmp_path, postgres_url, "visits", "late", "early", "others")
    with thresher.open(path) as engine:
        asked(engine, "late")
        server.execute("ALTER TABLE visits ATTACH PARTITION late FOR VALUES FROM (10) TO (20)")
        refused(engine, "visits")
        server.execute("ALTER TABLE visits DETACH PARTITION late")
        asked(engine, "visits")
        server.execute("ALTER TABLE visits DETACH PARTITION early")
        refused(engine, "early")
        asked(engine, "others")


def test_a_view_over_a_function_may_read_every_table(tmp_path, server, postgres_url):  # noqa: F811
    path = declared(tmp_path, postgres_url, "visits", "called", "formatted")
    with thresher.open(path) as engine:
        asked(engine, "visits")
        refused(engine, "called")
        asked(engine, "formatted")


def test_a_view_that_is_replaced_while_it_is_open_is_traced_again(tmp_path, server, postgres_url):  # noqa: F811
    with thresher.open(declared(tmp_path, postgres_url, "shown", "visits")) as engine:
        asked(engine, "visits")
        asked(engine, "shown")
        server.execute("CREATE OR REPLACE VIEW shown AS SELECT ward FROM visits")
        with pytest.raises(DeclarationError, match="the same rows have one budget"):
            engine.decide(
                "SELECT ward FROM shown GROUP BY ward HAVING COUNT(*) > 90", uncertain_region=20, mechanism="tslm"
            )
    with closing(thresher.open(tmp_path / "thresher.toml")) as engine:
        assert len(engine.ledger.balances()) == 2
