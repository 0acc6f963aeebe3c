"""The least rights of a login: with them a ledger is used, and its lines can be neither changed nor deleted."""

from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from ledger.spendings import charge, common

from thresher.amounts import Epsilon
from thresher.errors import LedgerError
from thresher.ledger import open_book

DOCS = (Path(__file__).parents[2] / "docs" / "ledger.md").read_text()
# The statements that the page tells a database engineer to run.
GRANTS = DOCS.split("```sql\n")[1].split("```")[0]


@pytest.fixture
def asker(postgres_url):
    """The address of a login with the rights of the docs, on a ledger that the owner of the database has made."""
    open_book(postgres_url).close()
    with psycopg.connect(postgres_url, autocommit=True) as server:
        if server.execute("SELECT 1 FROM pg_roles WHERE rolname = 'asker'").fetchone():
            server.execute("DROP OWNED BY asker; DROP ROLE asker")
        server.execute("REVOKE ALL ON DATABASE postgres FROM public")
        server.execute("CREATE ROLE asker LOGIN")
        server.execute(GRANTS.replace("DATABASE ledger", "DATABASE postgres").encode())
    return postgres_url.replace("//postgres:", "//asker:", 1)


def answer(book, key):
    cost = common("0.1")
    book.settle(book.reserve(charge("t", cost, key, "q")), cost, b"answer")


def test_the_rights_of_the_docs_suffice(asker, tmp_path):
    with closing(open_book(asker, anchor=tmp_path / "anchor")) as book:
        book.open_account("t", "1")
        answer(book, "a")
        book.set_cap("t", "2")
        held = book.reserve(charge("t", common("0.2"), "b", "q"))
        book._renew([held.sequence])
        book.forfeit(held)
        book.verify()
    with closing(open_book(asker, anchor=tmp_path / "anchor")) as book:
        assert book.balance("t").spent == Epsilon("0.3")


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM entries",
        "TRUNCATE entries",
        "UPDATE entries SET document = ''",
        "DELETE FROM releases",
        "UPDATE releases SET body = ''",
        "DELETE FROM head",
        "DELETE FROM accounts",
        "DELETE FROM reservations",
        "ALTER TABLE entries DISABLE TRIGGER USER",
        "DROP TRIGGER entries_grow ON entries",
        "CREATE TABLE more (a int)",
        "DROP SCHEMA thresher_ledger CASCADE",
    ],
)
def test_they_allow_nothing_else(asker, statement):
    with closing(open_book(asker)) as book:
        book.open_account("t", "1")
        answer(book, "a")
    with psycopg.connect(asker, autocommit=True) as connection:
        connection.execute("SET search_path = thresher_ledger")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)


@pytest.mark.parametrize("right", ["TEMPORARY ON DATABASE postgres", "INSERT ON ALL TABLES IN SCHEMA thresher_ledger"])
def test_each_of_them_is_needed(asker, postgres_url, right):
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(f"REVOKE {right} FROM asker".encode())
    with pytest.raises(LedgerError), closing(open_book(asker)) as book:
        book.open_account("t", "1")
