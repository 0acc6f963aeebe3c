"""A plan says what is left of the budget, and makes, changes and needs no ledger."""

import sqlite3
from contextlib import closing

import pytest
from engine.clinics import DECLARATIONS, clinic
from ledger.conftest import postgres_server, postgres_url  # noqa: F401 - one way to start PostgreSQL
from ledger.older import copied

import thresher
from thresher.errors import LedgerRolledBackError

COUNT = "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 30"


def left(path):
    with thresher.open(path) as engine:
        plan = engine.plan(COUNT, uncertain_region=10)
        found = engine.left(plan)
        return None if found is None else str(found.remaining)


def content(folder):
    return {file.name: file.read_bytes() for file in folder.glob("ledger.db*") if not file.name.endswith("-shm")}


def test_where_there_is_none_none_is_made(tmp_path):
    assert left(clinic(tmp_path)) == "10"
    assert not list(tmp_path.glob("ledger.db*"))


def test_an_existing_one_is_read_and_not_changed(tmp_path):
    path = clinic(tmp_path)
    with thresher.open(path) as engine:
        engine.decide(COUNT, uncertain_region=10, mechanism="tslm")
    before = content(tmp_path)
    assert left(path) == "9.781274583"
    assert content(tmp_path) == before


@pytest.mark.parametrize(("budget", "remaining"), [("12", "11.781274583"), ("0.1", "0")])
def test_a_budget_that_was_changed_counts_before_the_ledger_knows_it(tmp_path, budget, remaining):
    path = clinic(tmp_path)
    with thresher.open(path) as engine:
        engine.decide(COUNT, uncertain_region=10, mechanism="tslm")
    path.write_text(path.read_text().replace('budget = "10"', f'budget = "{budget}"'))
    before = content(tmp_path)
    assert left(path) == remaining
    assert content(tmp_path) == before


def test_an_older_copy_and_a_damaged_one_are_not_believed(tmp_path):
    path = clinic(tmp_path)
    with thresher.open(path) as engine:
        engine.decide(COUNT, uncertain_region=10)
    (tmp_path / "backup.db").write_bytes((tmp_path / "ledger.db").read_bytes())
    with thresher.open(path) as engine:
        engine.decide(COUNT, uncertain_region=10, key="more")
    (tmp_path / "ledger.db").write_bytes((tmp_path / "backup.db").read_bytes())
    assert left(path) is None
    with thresher.open(path) as engine, pytest.raises(LedgerRolledBackError):
        engine.decide(COUNT, uncertain_region=10, key="again")
    (tmp_path / "ledger.db").write_bytes(b"no database" * 100)
    assert left(path) is None


def test_one_of_an_earlier_version_is_left_as_it_is(tmp_path):
    copied("version_2", tmp_path)
    path = clinic(tmp_path)
    assert left(path) is None
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as raw:
        assert raw.execute("SELECT version FROM head").fetchone() == (2,)


def test_a_server_without_a_ledger_gets_none(tmp_path, postgres_url):  # noqa: F811
    path = clinic(tmp_path, declarations=DECLARATIONS.replace("sqlite:///ledger.db", postgres_url))
    assert left(path) == "10"
    import psycopg  # noqa: PLC0415

    with psycopg.connect(postgres_url) as server:
        assert not server.execute("SELECT FROM pg_namespace WHERE nspname = 'thresher_ledger'").fetchall()
    with thresher.open(path) as engine:
        engine.decide(COUNT, uncertain_region=10, mechanism="tslm")
    assert left(path) == "9.781274583"


def test_a_server_that_does_not_answer_leaves_the_price(tmp_path):
    address = "postgresql://nobody@127.0.0.1:1/none"
    assert left(clinic(tmp_path, declarations=DECLARATIONS.replace("sqlite:///ledger.db", address))) is None
