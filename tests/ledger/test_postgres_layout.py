"""PostgreSQL's tables are as Thresher makes them, or the ledger does not open: every edit by hand is refused."""

from contextlib import closing

import psycopg
import pytest
from ledger.older import NAMES, into_postgres

from thresher.errors import LedgerCorruptError, LedgerError
from thresher.ledger import open_book
from thresher.ledger.stores.postgres import _refusal

# What is edited, and the relation or function that the refusal names.
EDITS = [
    ("DROP INDEX one_charge_per_key", "reservations"),
    ("DROP INDEX open_by_account", "reservations"),
    ("DROP INDEX one_charge_per_key; CREATE INDEX one_charge_per_key ON reservations (analyst, key)", "reservations"),
    ("DROP TRIGGER entries_grow ON entries", "entries"),
    ("ALTER TABLE releases DISABLE TRIGGER releases_grow", "releases"),
    ("ALTER TABLE accounts DROP CONSTRAINT accounts_check", "accounts"),
    ("ALTER TABLE accounts DROP CONSTRAINT accounts_loss_check", "accounts"),
    ("ALTER TABLE head DROP CONSTRAINT head_pkey", "head"),
    ("ALTER TABLE releases SET UNLOGGED", "releases"),
    ("ALTER TABLE entries SET UNLOGGED", "entries"),
    ("CREATE TABLE more (a int)", "more"),
    ("ALTER TABLE accounts ADD COLUMN more int", "accounts"),
    ("ALTER TABLE accounts ALTER COLUMN coarse SET DEFAULT 0", "accounts"),
    ("ALTER TABLE reservations ALTER COLUMN lease DROP NOT NULL", "reservations"),
    ("ALTER TABLE reservations ALTER COLUMN lease TYPE numeric", "reservations"),
    ("CREATE RULE quiet AS ON UPDATE TO accounts DO INSTEAD NOTHING", "accounts"),
    ("ALTER TABLE accounts ENABLE ROW LEVEL SECURITY", "accounts"),
    ("CREATE TABLE child () INHERITS (accounts)", "accounts, child"),
    (
        "CREATE OR REPLACE FUNCTION only_ever_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$",
        "only_ever_added",
    ),
    (
        "CREATE FUNCTION empties() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN NEW.losses = '[]'; RETURN NEW; END $$;"
        " CREATE TRIGGER forgets BEFORE UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION empties()",
        "accounts, empties",
    ),
]


@pytest.mark.parametrize(("edit", "named"), EDITS, ids=lambda value: value[:60])
def test_an_edit_by_hand_is_refused_and_named(postgres_url, edit, named):
    for _ in range(2):
        with closing(open_book(postgres_url)) as book:
            book.keep_budgets({"t": "1"})
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute("SET search_path = thresher_ledger")
        server.execute(edit.encode())
    with pytest.raises(LedgerCorruptError, match=f"rules were changed: {named}\\."):
        open_book(postgres_url)


@pytest.mark.parametrize("name", NAMES)
def test_a_book_that_was_brought_up_to_date_has_the_same_layout(postgres_url, name):
    into_postgres(name, postgres_url)
    for _ in range(2):
        open_book(postgres_url).close()


def test_other_schemas_do_not_matter(postgres_url):
    open_book(postgres_url).close()
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute("DROP SCHEMA IF EXISTS other CASCADE; CREATE SCHEMA other; CREATE TABLE other.accounts (a int)")
    open_book(postgres_url).close()


def test_the_look_leaves_nothing_behind(postgres_url):
    open_book(postgres_url).close()
    with psycopg.connect(postgres_url) as server:
        before = server.execute("SELECT count(*) FROM pg_class").fetchone()
    open_book(postgres_url).close()
    with psycopg.connect(postgres_url) as server:
        assert server.execute("SELECT count(*) FROM pg_class").fetchone() == before


def test_a_server_without_fsync_is_refused(postgres_url, monkeypatch):
    open_book(postgres_url).close()
    from thresher.ledger.stores import postgres  # noqa: PLC0415

    run = postgres._Connection.run

    def off(self, statement, values=()):
        return [("off",)] if statement == "SHOW fsync" else run(self, statement, values)

    monkeypatch.setattr(postgres._Connection, "run", off)
    with pytest.raises(LedgerError, match="fsync = on"):
        open_book(postgres_url)


def test_a_connection_that_the_server_ended_is_called_so(postgres_url):
    with closing(open_book(postgres_url)) as book:
        book.open_account("t", "1")
        with psycopg.connect(postgres_url, autocommit=True) as server:
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND datname = current_database()"
            )
        with pytest.raises(LedgerError, match="ended the connection") as ended:
            book.balance("t")
        assert not isinstance(ended.value, LedgerCorruptError)
        assert str(book.balance("t").cap) == "1"


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (psycopg.errors.AdminShutdown(), "ended the connection"),
        (psycopg.errors.CrashShutdown(), "ended the connection"),
        (psycopg.errors.CannotConnectNow(), "ended the connection"),
        (psycopg.errors.ConnectionFailure(), "ended the connection"),
        (psycopg.errors.DiskFull(), "no room"),
        (psycopg.errors.TooManyConnections(), "no room"),
        (psycopg.OperationalError("password"), "cannot be reached"),
        (psycopg.errors.UndefinedTable(), "damaged"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_failures_of_the_server_are_called_by_their_kind(error, says):
    refusal = str(_refusal(error))
    assert says in refusal
    assert "password" not in refusal
