"""A book in a PostgreSQL database: one locked row, and commits that wait for the disk.

Reads and writes: the tables of schema `thresher_ledger`. Never: relies on serialisable isolation (the lock of the head
row orders all writers), or on a server that answers before it has synced.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors as postgres_errors

from thresher.errors import LedgerBusyError, LedgerCorruptError, LedgerError, LedgerVersionError
from thresher.ledger.entries import EMPTY
from thresher.ledger.stores.statements import SCHEMA_VERSION, TABLES, CommitFailedError, Tables

_SCHEMA = "thresher_ledger"
_BUSY_MILLISECONDS = 30_000
_APPEND_ONLY = (
    "CREATE FUNCTION only_ever_added() RETURNS trigger LANGUAGE plpgsql AS"
    " $$ BEGIN RAISE EXCEPTION 'lines are only ever added'; END $$",
    "CREATE TRIGGER entries_grow BEFORE UPDATE OR DELETE ON entries EXECUTE FUNCTION only_ever_added()",
    "CREATE TRIGGER releases_grow BEFORE UPDATE OR DELETE ON releases EXECUTE FUNCTION only_ever_added()",
)


class PostgresStore:
    """One schema, any number of threads and processes; a connection for each thread."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._local = threading.local()
        self._all: list[_Connection] = []

    def prepare(self) -> None:
        try:
            connection = self._connection()
            connection.run("BEGIN")
            try:
                # Two first openings at once: the second waits here and then finds the tables.
                connection.run("SELECT pg_advisory_xact_lock(?)", (0x54687273,))
                self._prepare_tables(connection)
            except BaseException:
                connection.run("ROLLBACK")
                raise
            connection.run("COMMIT")
        except psycopg.Error as error:
            raise _refusal(error) from error

    def _prepare_tables(self, connection: "_Connection") -> None:
        if not connection.run("SELECT 1 FROM pg_namespace WHERE nspname = ?", (_SCHEMA,)):
            connection.run(f"CREATE SCHEMA {_SCHEMA}")
            for statement in (*TABLES, *_APPEND_ONLY):
                connection.run(statement.format(bytes="BYTEA"))
            values = (SCHEMA_VERSION, EMPTY.sequence, EMPTY.hash)
            connection.run("INSERT INTO head (one, version, sequence, hash) VALUES (1, ?, ?, ?)", values)
        ((version,),) = connection.run("SELECT version FROM head")
        if version > SCHEMA_VERSION:
            raise LedgerVersionError(
                f"the ledger has schema {version}, this Thresher knows {SCHEMA_VERSION}: upgrade Thresher"
            )

    @contextmanager
    def writing(self) -> Iterator[Tables]:
        connection = self._connection()
        try:
            connection.run("BEGIN")
            tables = Tables(connection, lock_rows=" FOR UPDATE")
            tables.head()
        except psycopg.Error as error:
            connection.drop()
            raise _refusal(error) from error
        try:
            yield tables
            connection.run("COMMIT")
        except psycopg.Error as error:
            connection.drop()
            raise CommitFailedError(type(error).__name__) from error
        except BaseException:
            connection.roll_back()
            raise

    @contextmanager
    def reading(self) -> Iterator[Tables]:
        connection = self._connection()
        try:
            connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield Tables(connection)
        except psycopg.Error as error:
            connection.drop()
            raise _refusal(error) from error
        finally:
            connection.roll_back()

    def make_durable(self) -> None:
        """Nothing to do: the server shows a commit only once it is synced, and syncs what it finds after a crash."""

    def close(self) -> None:
        while self._all:
            self._all.pop().drop()
        self._local = threading.local()

    def _connection(self) -> "_Connection":
        mine = getattr(self._local, "connection", None)
        if mine is None or mine.unusable:
            mine = self._local.connection = _Connection(self._url)
            self._all.append(mine)
        return mine


class _Connection:
    """A psycopg connection with Thresher's settings."""

    def __init__(self, url: str) -> None:
        self._process = os.getpid()
        try:
            self._raw = psycopg.connect(url, autocommit=True, connect_timeout=10)
        except psycopg.Error as error:
            raise _refusal(error) from error
        self.run("SET synchronous_commit = on")
        self.run(f"SET lock_timeout = {_BUSY_MILLISECONDS}")
        self.run(f"SET search_path = {_SCHEMA}")

    @property
    def unusable(self) -> bool:
        return self._raw.closed or self._process != os.getpid()

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        cursor = self._raw.execute(statement.replace("?", "%s").encode(), values or None)
        return cursor.fetchall() if cursor.description else []

    def roll_back(self) -> None:
        if not self._raw.closed and self._raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            try:
                self.run("ROLLBACK")
            except psycopg.Error:
                self.drop()

    def drop(self) -> None:
        if self._process == os.getpid():
            self._raw.close()


def _refusal(error: psycopg.Error) -> LedgerError:
    """The server's error as one of ours. Its text is not repeated: it may hold the connection's secrets."""
    if isinstance(error, postgres_errors.LockNotAvailable | postgres_errors.DeadlockDetected):
        return LedgerBusyError("the ledger's database is held by another process; nothing was written, try again")
    if isinstance(error, psycopg.OperationalError):
        return LedgerError("the ledger's database cannot be reached: check its address, login and state")
    if isinstance(error, postgres_errors.InsufficientPrivilege | postgres_errors.ReadOnlySqlTransaction):
        return LedgerError("the ledger's login may not write its schema: grant it, or name another login")
    return LedgerCorruptError(f"the ledger's tables are damaged or not Thresher's ({type(error).__name__})")
