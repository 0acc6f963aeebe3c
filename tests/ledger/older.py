"""Books as earlier versions wrote them: real ones to copy, and made ones with lines of one's own."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg

from thresher.ledger import Charge
from thresher.ledger.stores import book_tables, postgres

BOOKS = Path(__file__).with_name("old_books")
# The schema that each was written by.
SCHEMAS = {"without_units": 1, "version_1": 1, "version_2": 2, "version_3": 3}
NAMES = tuple(SCHEMAS)
# Questions of old lines: about rows, about patients, and a step of a stream.
ROWS = '{{"look": ["tslm"], "question": "{}", "unit": null}}'
PATIENTS = '{{"look": ["tslm"], "question": "{}", "unit": "patient"}}'
STEP = (
    '{{"account": {{"protect": 1, "start": "{}", "step_seconds": 300, "unit": null}}, "step": 0, "stream": "campus"}}'
)
_ACCOUNTS = book_tables.ACCOUNTS.replace(" facts TEXT NOT NULL,", "")
_RESERVATIONS = book_tables.RESERVATIONS.replace(" lease BIGINT NOT NULL,", "")
_OLD = {book_tables.ACCOUNTS: _ACCOUNTS, book_tables.RESERVATIONS: _RESERVATIONS}
_OF_VERSION_3 = {**_OLD, book_tables.ACCOUNTS: book_tables.ACCOUNTS.replace(" facts ", " subject ")}
assert all(new != old for new, old in _OLD.items())


def copied(name: str, folder: Path) -> str:
    """A copy of a real book with its anchor; its address."""
    for file in (BOOKS / name).iterdir():
        shutil.copy(file, folder / file.name)
    return f"sqlite:///{folder / 'ledger.db'}"


def plain_lines(monkeypatch) -> None:
    """Write lines of reservations as they were before version 3."""
    facts, later = Charge.facts, ("family", "relations", "subject")

    def older(charge, owner, loss):
        return {name: fact for name, fact in facts(charge, owner, loss).items() if name not in later}

    monkeypatch.setattr(Charge, "facts", older)


def downgraded(path: Path, version: int) -> None:
    """Give a book with plain lines the tables of an older version."""
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        for statement in (
            "ALTER TABLE accounts RENAME TO later",
            _ACCOUNTS,
            "INSERT INTO accounts SELECT name, analyst, cap, loss, losses, coarse FROM later",
            "DROP TABLE later",
            "DROP INDEX one_charge_per_key",
            "DROP INDEX open_by_account",
            "ALTER TABLE reservations RENAME TO later",
            _RESERVATIONS,
            *book_tables.RESERVATION_INDEXES,
            f"INSERT INTO reservations SELECT {book_tables._RESERVATION} FROM later",
            "DROP TABLE later",
            *(["DROP TABLE states"] if version == 1 else []),
            f"UPDATE head SET version = {version}",
        ):
            raw.execute(statement)


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as raw:
        return raw.execute("SELECT version FROM head").fetchone()[0]


def into_postgres(name: str, url: str) -> None:
    """Put a real book of SQLite into PostgreSQL, in the tables that its version had there."""
    with closing(sqlite3.connect(BOOKS / name / "ledger.db")) as raw, psycopg.connect(url, autocommit=True) as server:
        server.execute("CREATE SCHEMA thresher_ledger")
        server.execute("SET search_path = thresher_ledger")
        tables = [row[0] for row in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        old = _OF_VERSION_3 if SCHEMAS[name] == 3 else _OLD
        made = [old.get(statement, statement) for statement in book_tables.TABLES]
        for statement in (*made, *postgres._APPEND_ONLY):
            if statement != book_tables.STATES or "states" in tables:
                server.execute(statement.format(bytes="BYTEA").encode())
        for table in tables:
            rows = raw.execute(f"SELECT * FROM {table}").fetchall()
            with server.cursor() as cursor:
                for row in rows:
                    cursor.execute(f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(row))})".encode(), row)


def lines_of(name: str) -> list[str]:
    """The lines that a real book holds, as stored."""
    with closing(sqlite3.connect(BOOKS / name / "ledger.db")) as raw:
        return [row[0] for row in raw.execute("SELECT document FROM entries ORDER BY sequence")]


def kinds_of(name: str) -> list[str]:
    return [json.loads(line)["kind"] for line in lines_of(name)]
