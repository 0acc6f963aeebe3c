"""A book in one SQLite file, with a write-ahead log. Every commit is synced to disk before it counts.

Reads and writes: the file and its log. Never: sets `synchronous` below FULL, which can lose commits in a power cut;
opens the file by other means than SQLite while it is in use, which would drop its locks.
"""

import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from thresher.errors import LedgerBusyError, LedgerCorruptError, LedgerError, NoLedgerError
from thresher.ledger.stores.book_tables import ACCOUNTS, RESERVATION_INDEXES, RESERVATIONS, TABLES
from thresher.ledger.stores.database import DatabaseConnection, DatabaseStore

SYNCHRONOUS = "FULL"
_BUSY_SECONDS = 30.0
_STEP_SECONDS = 0.001
_SMALLEST = 512
_APPLICATION = 0x54687273  # "Thrs"
# Lines are only ever added: the database itself refuses to change or delete one.
_APPEND_ONLY = tuple(
    f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} BEGIN"
    f" SELECT RAISE(ABORT, '{table} are only ever added'); END"
    for table in ("entries", "releases")
    for verb in ("UPDATE", "DELETE")
)
_UNANSWERED = "No question is answered without a ledger."
_LAYOUT = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"


class SqliteStore(DatabaseStore["_Connection"]):
    """A book in one file."""

    failures = sqlite3.Error
    bytes_type = "BLOB"
    additions = (*_APPEND_ONLY, f"PRAGMA application_id = {_APPLICATION}")

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), lambda: _Connection(path))
        self._path = path

    def check_place(self, *, make: bool) -> None:
        if not make and not (self._path.exists() and self._path.stat().st_size):
            raise NoLedgerError(f"there is no ledger at {self._path}. Check the name of the file")
        if self._path.is_dir() or not self._path.absolute().parent.is_dir():
            why = "it is a folder" if self._path.is_dir() else "its folder does not exist"
            raise LedgerError(
                f"The ledger {self._path} cannot be written: {why}. {_UNANSWERED} Name a file in a folder that exists"
            )
        if self._path.exists() and 0 < self._path.stat().st_size < _SMALLEST:
            # SQLite would take a file as short as this for an empty one, and write over it.
            raise LedgerCorruptError(
                f"{self._path} is too short to be a ledger. Restore a backup, or check the name of the file"
            )

    def has_tables(self, connection: "_Connection", *, make: bool) -> bool:  # noqa: ARG002 - an empty file becomes one
        if not connection.run("SELECT name FROM sqlite_master"):
            return False
        if connection.run("PRAGMA application_id") != [(_APPLICATION,)]:
            raise LedgerCorruptError(
                f"{self._path} is a database, but not a ledger of Thresher. Check the name of the file"
            )
        return True

    def columns_since(self, version: int) -> tuple[str, ...]:
        # SQLite keeps the statement that made a table, and each opening compares it. So the tables are made anew.
        facts = "'{}'"
        if version == 3:
            facts = "CASE subject WHEN '' THEN '{}' ELSE '{\"subject\":' || subject || '}' END"
        kept = "sequence, account, analyst, key, question, worst_case, owner, state, ended_by"
        return (
            "ALTER TABLE accounts RENAME TO accounts_before",
            ACCOUNTS,
            f"INSERT INTO accounts SELECT name, analyst, cap, loss, losses, coarse, {facts} FROM accounts_before",
            "DROP TABLE accounts_before",
            "DROP INDEX one_charge_per_key",
            "DROP INDEX open_by_account",
            "ALTER TABLE reservations RENAME TO reservations_before",
            RESERVATIONS,
            *RESERVATION_INDEXES,
            f"INSERT INTO reservations SELECT {kept}, 0 FROM reservations_before",
            "DROP TABLE reservations_before",
        )

    def check_tables(self, connection: "_Connection") -> None:
        if connection.run(_LAYOUT) != _layout():
            raise LedgerCorruptError(
                f"{self._path} is damaged: its tables or their rules were changed. Restore a backup"
            )

    def check_pages(self, connection: "_Connection") -> None:
        if connection.run("PRAGMA integrity_check") != [("ok",)]:
            raise LedgerCorruptError(f"{self._path} is damaged: SQLite's integrity check fails. Restore a backup")

    def refusal(self, error: Exception) -> LedgerError:
        return _refusal(error, self._path)

    def make_durable(self) -> None:
        """Sync the log to disk by one more commit.

        A process that is killed between writing a commit and syncing it leaves that commit in the memory of the system.
        The next opening finds it there, and a power cut would lose it. Syncing a later commit syncs all before it. That
        commit counts the openings, because SQLite leaves out a write that changes nothing.
        """
        try:
            with self._pool.writer() as connection:
                connection.begin_writing()
                try:
                    ((openings,),) = connection.run("PRAGMA user_version")
                    connection.run(f"PRAGMA user_version = {(openings + 1) % 2**31}")
                    connection.run("COMMIT")
                finally:
                    connection.roll_back()
        except sqlite3.Error as error:
            raise self.refusal(error) from error


class _Connection(DatabaseConnection):
    failures = sqlite3.Error

    def __init__(self, path: Path) -> None:
        self._open = True
        try:
            self._raw = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            mode = self._patiently("PRAGMA journal_mode = WAL")
            self.run(f"PRAGMA synchronous = {SYNCHRONOUS}")
        except sqlite3.Error as error:
            raise _refusal(error, path) from error
        if mode != [("wal",)]:
            # SQLite goes on without the log for ":memory:", and on file systems that cannot share memory.
            self.close()
            raise LedgerError(
                f"{path} cannot have a write-ahead log, which keeps commits safe. Name a file on a local disk"
            )

    @property
    def usable(self) -> bool:
        return self._open

    @property
    def in_transaction(self) -> bool:
        return self._raw.in_transaction

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._raw.execute(statement, values).fetchall()
        except UnicodeDecodeError as error:
            # SQLite's complaint about a damaged schema holds the damaged text, which the driver cannot read.
            raise sqlite3.DatabaseError("the message of SQLite is not text") from error

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def begin_writing(self) -> None:
        self._patiently("BEGIN IMMEDIATE")

    def begin_reading(self) -> None:
        self.run("BEGIN")

    def _patiently(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement that needs the lock, waiting in short steps.

        SQLite's own steps grow to a tenth of a second, so that some processes hardly ever get the lock. Where it
        suspects a deadlock, as when several processes make one file, SQLite does not wait at all.
        """
        deadline = time.monotonic() + _BUSY_SECONDS
        self.run("PRAGMA busy_timeout = 0")
        try:
            while True:
                try:
                    return self.run(statement)
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                        raise
                time.sleep(_STEP_SECONDS)
        finally:
            self.run(f"PRAGMA busy_timeout = {int(_BUSY_SECONDS * 1000)}")

    def close(self) -> None:
        self._open = False
        self._raw.close()


def _layout() -> list[tuple[Any, ...]]:
    """Return SQLite's list of the tables, constraints and triggers of a new ledger, which is made in memory."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
        for statement in (*TABLES, *_APPEND_ONLY):
            empty.execute(statement.format(bytes="BLOB"))
        return empty.execute(_LAYOUT).fetchall()


def _unwritable(path: Path, name: str) -> str:
    """Return why a file cannot be written, and what to do, by the rights on it and on its folder."""
    if not os.access(path.absolute().parent, os.W_OK | os.X_OK):
        return f"its folder is read-only. {_UNANSWERED} Make the folder writable"
    if path.exists() and not os.access(path, os.W_OK):
        return f"the file is read-only. {_UNANSWERED} Make the file writable"
    return f"SQLite reports {name}. {_UNANSWERED} Check the rights on the file, its folder, and the file system"


def _refusal(error: Exception, path: Path) -> LedgerError:
    """Turn SQLite's error into one of ours, which says what to do."""
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return LedgerBusyError(f"another process holds {path}. Nothing was written: try again")
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return LedgerError(f"The ledger {path} cannot be written: {_unwritable(path, name)}")
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return LedgerError(
            f"{path} cannot be written: the disk is full or failing ({name}). No answer is given. Free some space"
        )
    return LedgerCorruptError(f"{path} is damaged or not a ledger ({name or 'no cause given'}). Restore a backup")
