"""Errors of opening name their kind, in words of ours: never the driver's words, never a password."""

import logging
import os
import socket
import traceback
from pathlib import Path

import duckdb
import psycopg
import pytest
from sources.places import declared
from sources.test_failures import PHYSICAL, ROWS, TABLE

from thresher.errors import DeclarationError, LedgerError, SourceUnavailableError
from thresher.ledger import open_book
from thresher.ledger.stores import sqlite
from thresher.postgres_logins import why_unusable
from thresher.sources import open_source, unopened

UNREAD = "Nothing was read or paid."


def refused(url):
    """Return the message of a source that cannot be opened, after a look at everything that hangs on the error."""
    source = open_source(declared(str(url), TABLE))
    with pytest.raises(SourceUnavailableError) as caught:
        source.connect()
    source.close()
    shown = "".join(traceback.format_exception(caught.value))
    assert "hunter2" not in shown
    assert not any(word in shown for word in ("FATAL", "IO Error", "connection failed", "psycopg", "duckdb.IO"))
    message, end = str(caught.value)[: -len(UNREAD)].rstrip(), str(caught.value)[-len(UNREAD) :]
    assert end == UNREAD
    return message


@pytest.fixture
def server(postgres_server):
    """A PostgreSQL server that knows a role, which may read and no more."""
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'looker'").fetchone():
            connection.execute("CREATE ROLE looker LOGIN")
        connection.execute("DROP DATABASE IF EXISTS shut")
        connection.execute("CREATE DATABASE shut")
        connection.execute("REVOKE CONNECT ON DATABASE shut FROM PUBLIC")
    yield postgres_server
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP DATABASE shut")


# Libraries of PostgreSQL before version 18 do not show the code of a login that was refused.
SHOWS_CODES = psycopg.pq.version() >= 180_000 and hasattr(os, "memfd_create")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "postgres:@",
            "nobody:hunter2@",
            "The server at this machine refused the login of `nobody`. Check user and password in [source] url.",
        ),
        (
            "/postgres?",
            "/absent?",
            "The server at this machine does not have the database `absent`. Check the name of the database in "
            "[source] url.",
        ),
        (
            "postgres:@/postgres?",
            "looker:@/shut?",
            "The login of `looker` may not connect to the database `shut`. Grant it CONNECT, or name another login in "
            "[source] url.",
        ),
        (
            "/postgres?",
            "/postgres?options=-c%20work_mem%3Dhunter2&",
            "The server at this machine refused a setting of [source] url. Check the part after the question mark.",
        ),
    ],
    ids=["role", "database", "grant", "setting"],
)
def test_a_server_that_refuses_names_what_is_wrong(server, old, new, says):
    message = refused(server.replace(old, new))
    if SHOWS_CODES:
        assert message == says
    else:
        assert "Check user, password, database and settings in [source] url." in message


def test_a_server_that_does_not_answer(server):
    with socket.socket() as taken:
        # Bound and not listening: nobody answers there, and nobody else can take the port.
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        message = refused(f"postgresql://me:hunter2@127.0.0.1:{port}/x")
    assert message == f"No PostgreSQL server answered at 127.0.0.1:{port}. Check host and port in [source] url."
    folder = server.replace("host=", "port=1&host=")
    assert refused(folder) == "No PostgreSQL server answered at this machine. Check host and port in [source] url."
    unknown = refused("postgresql://me:hunter2@nowhere.invalid/x")
    assert unknown == ("No server is known by the name in nowhere.invalid:5432. Check the host in [source] url.")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hunter2@[bad/x",
        "postgresql://me:hunter2@127.0.0.1/x?sslmode=hunter2",
        "postgresql://me:hunter2@127.0.0.1/x?unknown=1",
    ],
)
def test_an_address_that_cannot_be_read(url):
    assert refused(url).startswith("[source] url cannot be read as an address of PostgreSQL. Write postgresql://USER@")


@pytest.mark.parametrize("word", ["hunter2@x", "1/hunter2", "a/hunter2", "hunter2@1/2@", "a?hunter2", "hunter2/a@b"])
def test_a_password_with_an_unescaped_sign_is_not_shown(word):
    message = why_unusable(f"postgresql://me:{word}@127.0.0.1:1/x", psycopg.OperationalError("hunter2"), "[source] url")
    assert "hunter2" not in message


@pytest.mark.parametrize(
    ("code", "says"),
    [("53300", "no connection left"), ("57P03", "is starting or stopping"), ("XX000", "does not open")],
)
def test_other_codes_of_a_server(code, says):
    error = psycopg.errors.lookup(code)()
    assert says in why_unusable("postgresql://me:hunter2@db.example/x", error, "[source] url")


def test_a_database_file_that_cannot_be_opened(tmp_path, monkeypatch):
    absent = tmp_path / "absent.duckdb"
    assert refused(f"duckdb:///{absent}").startswith(f"{absent}: no such file. Check [source] url; relative paths")
    assert not absent.exists()
    other = tmp_path / "no.duckdb"
    other.write_text("this is not a database" * 100)
    assert refused(f"duckdb:///{other}") == f"{other} is not a DuckDB database. Check [source] url."
    assert refused(f"duckdb:///{tmp_path}").startswith(f"{tmp_path} is not a file.")
    good = tmp_path / "good.duckdb"
    with duckdb.connect(str(good)) as holder:
        holder.execute("CREATE TABLE patients (word VARCHAR, age INT)")
        assert refused(f"duckdb:///{good}") == (
            f"{good} is open for writing in this process. Close that connection first."
        )
    monkeypatch.setattr(unopened.os, "access", lambda *_: False)
    assert "may not be read by this user" in unopened.why_unopened(good, in_use=False)


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    (tmp_path / "p.parquet").write_text("")
    source = open_source(declared(str(tmp_path / "p.parquet"), TABLE, folder=tmp_path))
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(DeclarationError, match=r"may not be read by this user.*Nothing was read or paid\."):
        source.check(source._declarations)


def test_a_spark_that_does_not_start(monkeypatch, tmp_path):
    class NoJavaError(Exception):
        def getCondition(self):  # noqa: N802 - Spark's name
            return "JAVA_GATEWAY_EXITED"

    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert "JAVA_HOME names a folder without it" in unopened.why_not_started("local[2]", NoJavaError())
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "which is not installed here" in unopened.why_not_started("local[2]", NoJavaError())
    assert unopened.why_not_started("spark://127.0.0.1:1", OSError()) == (
        "No Spark master answered at 127.0.0.1:1. Check host and port in [source] url."
    )
    assert "hunter2" not in unopened.why_not_started("spark://me:hunter2@x:1", OSError())


def test_a_login_that_may_write_is_warned_about(put, server, caplog):
    caplog.set_level(logging.WARNING, "thresher.sources")

    def warned(url):
        caplog.clear()
        source = open_source(declared(url, TABLE))
        source.check(source._declarations)
        source.close()
        return [record.getMessage() for record in caplog.records]

    put("postgres", ROWS, TABLE, PHYSICAL)
    start = "The login {} of [source] url {}. Thresher only reads: use a login that may only SELECT"
    assert warned(server) == [start.format("postgres", "is a superuser")]
    looker = server.replace("postgres:@", "looker:@")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("GRANT SELECT ON patients TO looker")
        assert warned(looker) == []
        for right in ("INSERT", "UPDATE", "DELETE"):
            connection.execute(f"GRANT {right} ON patients TO looker")
            assert warned(looker) == [start.format("looker", "may change patients")]
            connection.execute(f"REVOKE {right} ON patients FROM looker")


def test_the_ledger_says_why_it_cannot_be_written(tmp_path, monkeypatch):
    for place, why in ((tmp_path, "it is a folder"), (tmp_path / "no" / "ledger.db", "its folder does not exist")):
        with pytest.raises(LedgerError) as caught:
            open_book(f"sqlite:///{place}")
        assert str(caught.value) == (
            f"The ledger {place} cannot be written: {why}. No question is answered without a ledger. Name a file in a "
            "folder that exists"
        )
    file = tmp_path / "ledger.db"
    file.touch()
    monkeypatch.setattr(sqlite.os, "access", lambda path, _: Path(path) == file)
    assert sqlite._unwritable(file, "SQLITE_READONLY").startswith("its folder is read-only.")
    monkeypatch.setattr(sqlite.os, "access", lambda path, _: Path(path) != file)
    assert sqlite._unwritable(file, "SQLITE_READONLY").startswith("the file is read-only.")
