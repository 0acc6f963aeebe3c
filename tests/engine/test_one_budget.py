"""A budget is of people, not of a name: other names for the same rows share it or are refused."""

from contextlib import closing

import duckdb
import psycopg
import pyarrow as pa
import pytest
from ledger.conftest import postgres_server, postgres_url  # noqa: F401 - one way to start PostgreSQL

import thresher
from thresher.amounts import Epsilon
from thresher.errors import ArgumentError, BudgetError, DeclarationError
from thresher.ledger import open_book

HEAD = """
[source]
url = "{source}"
[ledger]
url = "sqlite:///ledger.db"
"""
TABLE = """
[tables.{name}]
budget = "1"
{more}
[tables.{name}.columns]
ward = {{ values = ["a", "b"] }}
"""


def asked(engine, name, width=20):
    sql = f"SELECT ward FROM {name} GROUP BY ward HAVING COUNT(*) > 120"
    return engine.decide(sql, uncertain_region=width, mechanism="tslm")


def spent(folder):
    with closing(open_book(f"sqlite:///{folder / 'ledger.db'}")) as book:
        return {held.account: str(held.spent) for held in book.balances()}


@pytest.fixture
def database(tmp_path):
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE visits AS SELECT 'a' AS ward, range AS pid FROM range(200)")
        connection.execute("CREATE VIEW recent AS SELECT * FROM visits WHERE pid > 9")
        connection.execute(
            "CREATE VIEW everybody AS WITH r AS (SELECT * FROM recent) SELECT * FROM r UNION ALL FROM visits"
        )
        connection.execute("CREATE TABLE others AS SELECT 'b' AS ward, range AS pid FROM range(200)")
    return tmp_path


def declared(folder, *tables, source="duckdb:///clinic.duckdb", head=HEAD):
    path = folder / "thresher.toml"
    path.write_text(head.format(source=source) + "".join(tables))
    return path


def table(name, more=""):
    return TABLE.format(name=name, more=more)


# Another name for the same rows


def test_a_view_of_charged_rows_has_no_budget_of_its_own(database):
    path = declared(database, table("visits"), table("recent"), table("everybody"), table("others"))
    with thresher.open(path) as engine:
        asked(engine, "visits")
        for name in ("recent", "everybody"):
            with pytest.raises(DeclarationError, match=r"the same rows have one budget.*Nothing is charged"):
                asked(engine, name)
        asked(engine, "others")
    assert {name: amount for name, amount in spent(database).items() if amount != "0"} == {
        "visits": "0.112244443",
        "others": "0.112244443",
    }


def test_the_refusal_does_not_depend_on_which_name_came_first(database):
    path = declared(database, table("visits"), table("everybody"))
    with thresher.open(path) as engine:
        asked(engine, "everybody")
        with pytest.raises(DeclarationError, match="budget of everybody"):
            asked(engine, "visits")


def test_a_renamed_table_keeps_its_budget_by_one_command(database):
    with thresher.open(declared(database, table("visits"))) as engine:
        asked(engine, "visits")
    path = declared(database, table("trips", 'table = "visits"'))
    with thresher.open(path) as engine:
        with pytest.raises(DeclarationError, match="thresher ledger rename visits trips"):
            asked(engine, "trips")
        engine.ledger.rename("visits", "trips")
        asked(engine, "trips")
    assert spent(database) == {"trips": "0.224488886"}


def test_a_table_of_the_same_name_somewhere_else_keeps_its_account(database):
    """R.4: the declared name comes first; the account then holds both relations."""
    with thresher.open(declared(database, table("visits"))) as engine:
        asked(engine, "visits")
    with thresher.open(declared(database, table("visits", 'table = "others"'))) as engine:
        asked(engine, "visits")
    assert spent(database) == {"visits": "0.224488886"}
    with thresher.open(declared(database, table("others"))) as engine, pytest.raises(DeclarationError):
        asked(engine, "others")


def test_a_file_by_another_path_is_the_same_file(tmp_path):
    (tmp_path / "data").mkdir()
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 'a' AS ward) TO '{tmp_path / 'data' / 'visits.parquet'}'")
    (tmp_path / "link.parquet").symlink_to(tmp_path / "data" / "visits.parquet")
    with thresher.open(declared(tmp_path, table("visits"), source="data/visits.parquet")) as engine:
        asked(engine, "visits")
    path = declared(tmp_path, table("link"), source="link.parquet")
    with thresher.open(path) as engine, pytest.raises(DeclarationError, match="one budget"):
        asked(engine, "link")


def test_a_refused_name_costs_nothing_and_reads_nothing(database, monkeypatch):
    with thresher.open(declared(database, table("visits"), table("recent"))) as engine:
        asked(engine, "visits")
        before = len(engine.ledger.entries())
        monkeypatch.setattr(engine._source, "fetch", lambda need: pytest.fail("rows were read"))
        with pytest.raises(DeclarationError):
            asked(engine, "recent")
        assert len(engine.ledger.entries()) == before
        # A stored answer is free whatever the source says, even if it is gone.
        monkeypatch.setattr(engine._source, "connect", lambda: pytest.fail("the source was reached"))
        assert asked(engine, "visits").repeated


RELATIONS = """
DROP TABLE IF EXISTS visits CASCADE;
DROP TABLE IF EXISTS parent CASCADE;
CREATE TABLE visits (ward text, day int) PARTITION BY RANGE (day);
CREATE TABLE visits_1 PARTITION OF visits FOR VALUES FROM (0) TO (10);
CREATE TABLE visits_2 PARTITION OF visits FOR VALUES FROM (10) TO (20);
CREATE VIEW shown AS SELECT * FROM visits_1;
CREATE MATERIALIZED VIEW kept AS SELECT * FROM shown;
CREATE TABLE parent (ward text);
CREATE TABLE heir () INHERITS (parent);
"""


def test_partitions_views_and_materialised_views_of_postgresql_share_one_budget(tmp_path, postgres_url):  # noqa: F811
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(RELATIONS)
    names = ("visits_2", "shown", "kept", "visits", "visits_1")
    path = declared(tmp_path, *map(table, (*names, "parent", "heir")), source=postgres_url)
    with thresher.open(path) as engine:
        asked(engine, names[0])
        for name in names[1:]:
            with pytest.raises(DeclarationError, match=r"public.visits, which has spent .* of the budget of visits_2"):
                asked(engine, name)
        asked(engine, "heir")
        with pytest.raises(DeclarationError, match="budget of heir"):
            asked(engine, "parent")


# One account for several tables and streams

PEOPLE = """
[accounts.people]
budget = "1"
unit = "person"
[tables.visits]
account = "people"
unit = "pid"
max_groups_per_unit = 1
max_rows_per_group = 1
[tables.visits.columns]
ward = { values = ["a", "b"], fixed = true }
[tables.stays]
account = "people"
unit = "guest"
max_groups_per_unit = 1
max_rows_per_group = 1
[tables.stays.columns]
ward = { values = ["a", "b"], fixed = true }
[streams.gate]
account = "people"
unit = "person"
protect = "unit"
start = 2026-01-01T00:00:00Z
step_seconds = 300
states = ["in", "out"]
epsilon = "0.1"
"""
ROWS = {
    "visits": pa.table({"pid": list(range(200)), "ward": ["a"] * 200}),
    "stays": pa.table({"guest": list(range(200)), "ward": ["b"] * 200}),
}


@pytest.fixture
def people(tmp_path):
    path = declared(tmp_path, PEOPLE, source="memory://")
    with thresher.open(path, tables=ROWS) as engine:
        yield engine


# What one question of `of` costs each person.
COST = Epsilon("0.241611135")


def of(engine, name, ward):
    sql = f"SELECT ward FROM {name} WHERE ward = '{ward}' GROUP BY ward HAVING COUNT(*) > 120"
    engine.decide(sql, uncertain_region=9, mechanism="tslm")


def test_losses_add_up_across_tables_and_streams_and_not_between_fixed_groups_of_one(people):
    """One person may be in ward a of one table and in ward b of the other (R.4)."""
    of(people, "visits", "a")
    of(people, "visits", "b")
    assert people.ledger.balance("people").spent == COST
    of(people, "stays", "b")
    assert people.ledger.balance("people").spent == COST * 2
    with people.stream("gate") as stream:
        for step in range(3):
            stream.put_counts(step, [1, 2])
    assert people.ledger.balance("people").spent == COST * 2 + Epsilon("0.3")
    with pytest.raises(BudgetError):
        people.decide("SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 90", uncertain_region=9, mechanism="tslm")
    people.ledger.verify()


def test_a_stream_in_an_account_of_people_ends_with_its_budget(people):
    with people.stream("gate") as stream:
        kinds = [stream.put_counts(step, [1, 2]).kind for step in range(11)]
    assert kinds == ["released"] * 10 + ["ended"]
    with pytest.raises(BudgetError):
        of(people, "visits", "a")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            'account = "people"\nunit = "pid"',
            'account = "people"\nbudget = "1"\nunit = "pid"',
            "has the budget already",
        ),
        ('account = "people"\nunit = "pid"', 'account = "peple"\nunit = "pid"', "did you mean"),
        ('unit = "person"\nprotect = "unit"', 'unit = "person"\nprotect = "event"', 'protect = "unit"'),
        ('unit = "person"\nprotect = "unit"', 'protect = "unit"', 'unit = "person"'),
        ('unit = "person"\nprotect = "unit"', 'unit = "guest"\nprotect = "unit"', 'unit = "person"'),
        ('[accounts.people]\nbudget = "1"', "[accounts.people]", "budget"),
        ('budget = "1"\nunit = "person"', 'budget = "1"', "unit"),
        ("[accounts.people]", "[accounts.people]\nmore = 1", "unknown field"),
    ],
)
def test_declarations_that_do_not_fit_an_account_are_refused(tmp_path, old, new, says):
    assert old in PEOPLE
    path = declared(tmp_path, PEOPLE.replace(old, new, 1), source="memory://")
    with pytest.raises(DeclarationError, match=says):
        thresher.open(path, tables=ROWS)


def test_a_table_in_which_each_row_is_a_different_person_cannot_join(tmp_path):
    account = '[accounts.people]\nbudget = "1"\nunit = "person"\n'
    rows = table("visits", 'account = "people"').replace('budget = "1"', "")
    (tmp_path / "thresher.toml").write_text(HEAD.format(source="memory://") + account + rows)
    with pytest.raises(DeclarationError, match="which rows are whose"):
        thresher.open(tmp_path / "thresher.toml", tables={"visits": ROWS["visits"]})


def test_the_unit_of_an_account_stays_what_it_was(tmp_path, people):
    of(people, "visits", "a")
    people.close()
    path = declared(tmp_path, PEOPLE.replace('unit = "person"', 'unit = "guest"'), source="memory://")
    with thresher.open(path, tables=ROWS) as engine, pytest.raises(DeclarationError, match="began with"):
        of(engine, "visits", "a")


def test_a_table_that_was_charged_does_not_move_to_another_account(tmp_path):
    own = PEOPLE.replace('account = "people"\nunit = "pid"', 'budget = "1"\nunit = "pid"', 1)
    with thresher.open(declared(tmp_path, own, source="memory://"), tables=ROWS) as engine:
        of(engine, "visits", "a")
    with thresher.open(declared(tmp_path, PEOPLE, source="memory://"), tables=ROWS) as engine:
        with pytest.raises(DeclarationError, match="of the budget of visits"):
            of(engine, "visits", "b")
        of(engine, "stays", "b")
        assert engine.ledger.balance("people").spent == COST


# Versions and snapshots

SHARPER = "SELECT ward FROM visits GROUP BY ward HAVING COUNT(*) > 120"


@pytest.mark.parametrize(
    ("before", "after", "refined"),
    [
        ("", "", False),
        ("", 'version = "1"', False),
        ("", "snapshot = true", False),
        ('version = "1"', "", False),
        ('version = "1"', 'version = "2"', False),
        ('version = "1"', 'version = "1"', True),
        ("snapshot = true", "snapshot = true", True),
        ("snapshot = true", "", False),
    ],
)
def test_only_rows_that_are_declared_the_same_are_measured_again(database, before, after, refined):
    with thresher.open(declared(database, table("visits", before))) as engine:
        engine.decide(SHARPER, uncertain_region=40, mechanism="tslm", key="k")
    with thresher.open(declared(database, table("visits", after))) as engine:
        paid = engine.ledger.balance("visits").spent
        if refined:
            engine.refine(SHARPER, of="k", uncertain_region=20)
            return
        with pytest.raises(ArgumentError, match="of = 'k' is refused"):
            engine.plan_refinement(SHARPER, of="k", uncertain_region=20)
        assert engine.ledger.balance("visits").spent == paid


def test_the_refusal_offers_a_fresh_measurement_with_its_price(database):
    with thresher.open(declared(database, table("visits"))) as engine:
        engine.decide(SHARPER, uncertain_region=40, mechanism="tslm", key="k")
        with pytest.raises(ArgumentError, match=r"version or snapshot.*costs at most 0.112244443"):
            engine.refine(SHARPER, of="k", uncertain_region=20)
        # What is read from the stored noise alone needs no rows, and is free.
        coarser = engine.refine(SHARPER.replace("120", "100"), of="k")
        assert coarser.spent_epsilon == Epsilon(0)


def test_a_nightly_job_names_the_version(database):
    path = declared(database, table("visits"))
    for day, repeated in (("2026-11-18", False), ("2026-11-18", True), ("2026-11-19", False)):
        with thresher.open(path, versions={"visits": day}) as engine:
            assert asked(engine, "visits").repeated is repeated
    for versions in ({"visit": "1"}, {"visits": 1}, {"visits": ""}, {"visits": "x" * 300}):
        with pytest.raises(ArgumentError, match="versions"):
            thresher.open(path, versions=versions)
