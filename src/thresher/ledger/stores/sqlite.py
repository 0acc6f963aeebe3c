"""A book in one SQLite file: write-ahead log, every commit synced to disk before it counts.

Reads and writes: the file and its log. Never: `synchronous` below FULL, which forgets commits in a power cut; the file
by other means than SQLite while it is open, which would drop its locks.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from thresher.errors import LedgerBusyError, LedgerCorruptError, LedgerError, LedgerVersionError
from thresher.ledger.entries import EMPTY
from thresher.ledger.stores.statements import SCHEMA_VERSION, TABLES, CommitFailedError, Tables

SYNCHRONOUS = "FULL"
_BUSY_SECONDS = 30.0
_SMALLEST = 512
_APPLICATION = 0x54687273  # "Thrs"
# Lines are only ever added; the database itself refuses anything else.
_APPEND_ONLY = tuple(
    f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} BEGIN"
    f" SELECT RAISE(ABORT, '{table} are only ever added'); END"
    for table in ("entries", "releases")
    for verb in ("UPDATE", "DELETE")
)
_STATEMENTS = tuple(statement.format(bytes="BLOB") for statement in (*TABLES, *_APPEND_ONLY))
_LAYOUT = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"


class SqliteStore:
    """One file, any number of threads and processes; a connection for each thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._all: list[_Connection] = []

    def prepare(self) -> None:
        if self._path.is_dir() or not self._path.absolute().parent.is_dir():
            raise LedgerError(f"no ledger can be kept at {self._path}: name a file in a folder that exists")
        if self._path.exists() and 0 < self._path.stat().st_size < _SMALLEST:
            # SQLite takes so short a file for an empty one, and would write over it.
            raise LedgerCorruptError(f"{self._path} is too short for a ledger: restore a backup, or name another file")
        try:
            connection = self._connection()
            connection.run("BEGIN IMMEDIATE")
            try:
                self._prepare_tables(connection)
            except BaseException:
                connection.run("ROLLBACK")
                raise
            connection.run("COMMIT")
            troubles = connection.run("PRAGMA integrity_check")
        except sqlite3.Error as error:
            raise _refusal(error, self._path) from error
        if troubles != [("ok",)]:
            raise LedgerCorruptError(f"{self._path} is damaged: SQLite's integrity check fails; restore a backup")

    def _prepare_tables(self, connection: "_Connection") -> None:
        if not connection.run("SELECT name FROM sqlite_master"):
            for statement in _STATEMENTS:
                connection.run(statement)
            values = (SCHEMA_VERSION, EMPTY.sequence, EMPTY.hash)
            connection.run("INSERT INTO head (one, version, sequence, hash) VALUES (1, ?, ?, ?)", values)
            connection.run(f"PRAGMA application_id = {_APPLICATION}")
        if connection.run("PRAGMA application_id") != [(_APPLICATION,)]:
            raise LedgerCorruptError(f"{self._path} is a database, but not a ledger of Thresher's")
        versions = connection.run("SELECT version FROM head")
        if len(versions) != 1 or not isinstance(versions[0][0], int):
            raise LedgerCorruptError(f"{self._path} is damaged: it does not say which version it has; restore a backup")
        if versions[0][0] > SCHEMA_VERSION:
            raise LedgerVersionError(
                f"{self._path} has schema {versions[0][0]}, this Thresher knows {SCHEMA_VERSION}: upgrade Thresher"
            )
        if connection.run(_LAYOUT) != _layout():
            raise LedgerCorruptError(
                f"{self._path} is damaged: its tables or their rules were changed; restore a backup"
            )

    @contextmanager
    def writing(self) -> Iterator[Tables]:
        connection = self._connection()
        try:
            connection.run("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise _refusal(error, self._path) from error
        try:
            yield Tables(connection)
            connection.run("COMMIT")
        except sqlite3.Error as error:
            connection.roll_back()
            raise CommitFailedError(str(error)) from error
        except BaseException:
            connection.roll_back()
            raise

    @contextmanager
    def reading(self) -> Iterator[Tables]:
        connection = self._connection()
        try:
            connection.run("BEGIN")
            yield Tables(connection)
        except sqlite3.Error as error:
            raise _refusal(error, self._path) from error
        finally:
            connection.roll_back()

    def make_durable(self) -> None:
        """Sync the log by a commit that only counts the openings: SQLite leaves out a write that changes nothing.

        A process killed between writing a commit and syncing it leaves that commit in the system's memory, where the
        next opening finds it: whole, but lost if the power goes. Syncing a later commit syncs all before it.
        """
        connection = self._connection()
        try:
            connection.run("BEGIN IMMEDIATE")
            ((openings,),) = connection.run("PRAGMA user_version")
            connection.run(f"PRAGMA user_version = {(openings + 1) % 2**31}")
            connection.run("COMMIT")
        except sqlite3.Error as error:
            connection.roll_back()
            raise _refusal(error, self._path) from error

    def close(self) -> None:
        while self._all:
            self._all.pop().close()
        self._local = threading.local()

    def _connection(self) -> "_Connection":
        mine = getattr(self._local, "connection", None)
        if mine is None or mine.closed or mine.process != os.getpid():
            # After a fork the parent's connection is left alone: closing it here could disturb the parent.
            mine = self._local.connection = _Connection(self._path)
            self._all.append(mine)
        return mine


class _Connection:
    """A SQLite connection with Thresher's settings."""

    def __init__(self, path: Path) -> None:
        self.process, self.closed = os.getpid(), False
        try:
            self._raw = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            mode = self.run("PRAGMA journal_mode = WAL")
            self.run(f"PRAGMA synchronous = {SYNCHRONOUS}")
        except sqlite3.Error as error:
            raise _refusal(error, path) from error
        if mode != [("wal",)]:
            # SQLite goes on without: ":memory:", or a file system that cannot share memory.
            self.close()
            raise LedgerError(f"{path} cannot have a write-ahead log, which keeps commits: name a file on a local disk")

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._raw.execute(statement, values).fetchall()
        except UnicodeDecodeError as error:
            # Of a damaged schema SQLite complains with the damaged text, which the driver cannot read.
            raise sqlite3.DatabaseError("what SQLite says is not text") from error

    def roll_back(self) -> None:
        if self._raw.in_transaction:
            try:
                self.run("ROLLBACK")
            except sqlite3.Error:
                # The transaction is dead already; the caller is told of the first error.
                self.close()

    def close(self) -> None:
        self.closed = True
        if self.process == os.getpid():
            self._raw.close()


def _layout() -> list[tuple[Any, ...]]:
    """What SQLite says of the tables, constraints and triggers of a sound ledger, asked of an empty one."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
        for statement in _STATEMENTS:
            empty.execute(statement)
        return empty.execute(_LAYOUT).fetchall()


def _refusal(error: sqlite3.Error, path: Path) -> LedgerError:
    """SQLite's error as one of ours, with what to do."""
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return LedgerBusyError(f"{path} is held by another process; nothing was written, try again")
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return LedgerError(f"{path} cannot be written ({name}): check the folder, its rights and the file system")
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return LedgerError(f"{path}: the disk is full or failing ({name}); nothing was granted")
    return LedgerCorruptError(f"{path} is damaged or not a ledger ({name or 'no cause given'}); restore a backup")
