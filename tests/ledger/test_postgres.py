"""What is special about a book in PostgreSQL: its refusals, its locks, its own guards."""

import psycopg
import pytest
from ledger.spendings import charge, common

from thresher.errors import (
    LedgerBusyError,
    LedgerCorruptError,
    LedgerError,
    LedgerRolledBackError,
    LedgerStoppedError,
    LedgerVersionError,
)
from thresher.ledger import open_book
from thresher.ledger.stores import postgres


@pytest.fixture
def book(postgres_url, tmp_path):
    opened = open_book(postgres_url, anchor=tmp_path / "anchor")
    opened.open_account("patients", "1")
    cost = common("0.1")
    opened.settle(opened.reserve(charge("patients", cost, "k", "q")), cost, b"answer")
    yield opened
    opened.close()


def edit(url, *statements):
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET search_path = thresher_ledger")
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET document = ''",
        "DELETE FROM entries",
        "UPDATE releases SET body = ''",
        "DELETE FROM releases",
    ],
)
def test_the_database_itself_refuses_to_change_lines(book, postgres_url, statement):
    with pytest.raises(psycopg.Error, match="only ever added"):
        edit(postgres_url, statement)
    book.verify()


def test_the_database_itself_refuses_to_pass_the_cap(book, postgres_url):
    with pytest.raises(psycopg.errors.CheckViolation):
        edit(postgres_url, "UPDATE accounts SET loss = cap + 1")


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("UPDATE entries SET document = replace(document, 'patients', 'partners') WHERE sequence = 3", "entry 3"),
        ("DELETE FROM entries WHERE sequence = 3", "entry 3"),
        ("UPDATE accounts SET loss = 0", "account patients"),
        ("UPDATE accounts SET losses = '[]'", "account patients"),
        ("UPDATE releases SET body = 'other'", "release of entry 4"),
        ("DELETE FROM releases", "reservation 3"),
        ("UPDATE reservations SET key = 'other'", "reservation 3"),
        ("UPDATE head SET sequence = 3", "lines at 4|entry 4"),
        ("UPDATE accounts SET losses = 'x'", "cannot be read"),
    ],
)
def test_a_change_by_hand_is_named(book, postgres_url, statement, finding):
    off = [f"ALTER TABLE {table} DISABLE TRIGGER USER" for table in ("entries", "releases")]
    edit(postgres_url, *off, statement)
    with pytest.raises(LedgerCorruptError, match=finding):
        book.verify()


def test_an_older_copy_is_refused_by_its_anchor(book, postgres_url, tmp_path):
    book.close()
    edit(postgres_url, "DROP SCHEMA thresher_ledger CASCADE")
    with pytest.raises(LedgerRolledBackError, match="empty"):
        open_book(postgres_url, anchor=tmp_path / "anchor")


def test_a_newer_schema_is_refused(book, postgres_url):
    edit(postgres_url, "UPDATE head SET version = 99")
    with pytest.raises(LedgerVersionError, match="upgrade"):
        open_book(postgres_url)


def test_a_schema_of_somebody_else_is_refused(postgres_url):
    edit(postgres_url, "CREATE SCHEMA thresher_ledger", "CREATE TABLE thresher_ledger.head (x int)")
    with pytest.raises(LedgerCorruptError):
        open_book(postgres_url)


def test_no_ledger_is_made_unasked(postgres_url):
    with pytest.raises(LedgerError, match="no ledger"):
        open_book(postgres_url, make=False)


def test_a_held_lock_is_reported_and_nothing_stops(book, postgres_url, monkeypatch):
    monkeypatch.setattr(postgres, "_BUSY_MILLISECONDS", 200)
    other = open_book(postgres_url)
    with psycopg.connect(postgres_url) as holder:
        holder.execute("SELECT * FROM thresher_ledger.head FOR UPDATE")
        with pytest.raises(LedgerBusyError, match="try again"):
            other.reserve(charge("patients", common("0.1"), "l", "q"))
    other.cancel(other.reserve(charge("patients", common("0.1"), "l", "q")))
    other.close()


def test_a_lost_connection_stops_the_book_until_it_is_reopened(book, postgres_url):
    """The server ends the connection in the middle of a transaction: whether it was committed is not known."""
    kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"

    def write_while_the_server_leaves():
        with book._writing() as (_, write):
            write("account", "visits", "", {"cap": 1})
            edit(postgres_url, f"{kill} AND datname = current_database()")

    with pytest.raises(LedgerStoppedError):
        write_while_the_server_leaves()
    with pytest.raises(LedgerStoppedError):
        book.reserve(charge("patients", common("0.1"), "l", "q"))
    book.recover()
    assert [held.account for held in book.balances()] == ["patients"]
    book.reserve(charge("patients", common("0.1"), "l", "q"))


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql://bob:hunter2@127.0.0.1:1/none", "No PostgreSQL server answered at 127.0.0.1:1. Check host and"),
        ("postgresql://127.0.0.1:1/x?bogus=1", "cannot be read as an address of PostgreSQL"),
        ("postgresql://[", "cannot be read as an address of PostgreSQL"),
        ("postgresql://bob:hun@ter2@127.0.0.1:1/none", "in this address"),
    ],
)
def test_a_server_that_is_not_there_is_refused_without_its_secrets(url, says):
    with pytest.raises(LedgerError, match=says) as refusal:
        open_book(url)
    assert "hunter2" not in str(refusal.value)
    assert "ter2" not in str(refusal.value)
    assert str(refusal.value).endswith("No question is answered without a ledger.")
