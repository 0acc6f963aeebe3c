"""A book in one SQLite file: write-ahead log, every commit synced to disk before it counts.

Reads and writes: the file and its log. Never: `synchronous` below FULL, which forgets commits in a power cut; the file
by other means than SQLite while it is open, which would drop its locks.
"""

import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from thresher.errors import LedgerBusyError, LedgerCorruptError, LedgerError, NoLedgerError
from thresher.ledger.stores.book_tables import ACCOUNTS, TABLES
from thresher.ledger.stores.database import DatabaseConnection, DatabaseStore

SYNCHRONOUS = "FULL"
_BUSY_SECONDS = 30.0
_STEP_SECONDS = 0.001
_SMALLEST = 512
_APPLICATION = 0x54687273  # "Thrs"
# Lines are only ever added; the database itself refuses anything else.
_APPEND_ONLY = tuple(
    f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} BEGIN"
    f" SELECT RAISE(ABORT, '{table} are only ever added'); END"
    for table in ("entries", "releases")
    for verb in ("UPDATE", "DELETE")
)
_LAYOUT = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"


class SqliteStore(DatabaseStore["_Connection"]):
    """One file."""

    failures = sqlite3.Error
    bytes_type = "BLOB"
    additions = (*_APPEND_ONLY, f"PRAGMA application_id = {_APPLICATION}")
    # The text of a table says how it was made, and is compared at each opening: so it is made anew.
    add_subject = (
        "ALTER TABLE accounts RENAME TO accounts_before",
        ACCOUNTS,
        "INSERT INTO accounts SELECT name, analyst, cap, loss, losses, coarse, '' FROM accounts_before",
        "DROP TABLE accounts_before",
    )

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), lambda: _Connection(path))
        self._path = path

    def check_place(self, *, make: bool) -> None:
        if not make and not (self._path.exists() and self._path.stat().st_size):
            raise NoLedgerError(f"there is no ledger at {self._path}. Check the name")
        if self._path.is_dir() or not self._path.absolute().parent.is_dir():
            raise LedgerError(f"no ledger can be kept at {self._path}: name a file in a folder that exists")
        if self._path.exists() and 0 < self._path.stat().st_size < _SMALLEST:
            # SQLite takes so short a file for an empty one, and would write over it.
            raise LedgerCorruptError(f"{self._path} is too short for a ledger: restore a backup, or name another file")

    def has_tables(self, connection: "_Connection", *, make: bool) -> bool:  # noqa: ARG002 - an empty file becomes one
        if not connection.run("SELECT name FROM sqlite_master"):
            return False
        if connection.run("PRAGMA application_id") != [(_APPLICATION,)]:
            raise LedgerCorruptError(f"{self._path} is a database, but not a ledger of Thresher's")
        return True

    def check_tables(self, connection: "_Connection") -> None:
        if connection.run(_LAYOUT) != _layout():
            raise LedgerCorruptError(
                f"{self._path} is damaged: its tables or their rules were changed; restore a backup"
            )

    def check_pages(self, connection: "_Connection") -> None:
        if connection.run("PRAGMA integrity_check") != [("ok",)]:
            raise LedgerCorruptError(f"{self._path} is damaged: SQLite's integrity check fails; restore a backup")

    def refusal(self, error: Exception) -> LedgerError:
        return _refusal(error, self._path)

    def make_durable(self) -> None:
        """Sync the log by a commit that only counts the openings: SQLite leaves out a write that changes nothing.

        A process killed between writing a commit and syncing it leaves that commit in the system's memory, where the
        next opening finds it: whole, but lost if the power goes. Syncing a later commit syncs all before it.
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
            # SQLite goes on without: ":memory:", or a file system that cannot share memory.
            self.close()
            raise LedgerError(f"{path} cannot have a write-ahead log, which keeps commits: name a file on a local disk")

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
            # Of a damaged schema SQLite complains with the damaged text, which the driver cannot read.
            raise sqlite3.DatabaseError("what SQLite says is not text") from error

    def begin_writing(self) -> None:
        self._patiently("BEGIN IMMEDIATE")

    def begin_reading(self) -> None:
        self.run("BEGIN")

    def _patiently(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement that needs the lock, waiting in short steps.

        SQLite's own steps grow to a tenth of a second, which starves the unlucky; and it does not wait at all where it
        suspects a deadlock, as when several processes make one file.
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
    """What SQLite says of the tables, constraints and triggers of a sound ledger, asked of an empty one."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
        for statement in (*TABLES, *_APPEND_ONLY):
            empty.execute(statement.format(bytes="BLOB"))
        return empty.execute(_LAYOUT).fetchall()


def _refusal(error: Exception, path: Path) -> LedgerError:
    """SQLite's error as one of ours, with what to do."""
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return LedgerBusyError(f"{path} is held by another process; nothing was written, try again")
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return LedgerError(f"{path} cannot be written ({name}): check the folder, its rights and the file system")
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return LedgerError(f"{path}: the disk is full or failing ({name}); nothing was granted")
    return LedgerCorruptError(f"{path} is damaged or not a ledger ({name or 'no cause given'}); restore a backup")
