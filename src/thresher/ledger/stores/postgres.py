"""A book in a PostgreSQL database: one locked row, and commits that wait for the disk.

Reads and writes: the tables of schema `thresher_ledger`. Never: relies on serialisable isolation (the lock of the head
row orders all writers), or on a server that answers before it has synced.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors as postgres_errors

from thresher.errors import LedgerBusyError, LedgerCorruptError, LedgerError
from thresher.ledger.stores.pool import Pool
from thresher.ledger.stores.statements import CommitFailedError, Tables, check_version, make_tables

_SCHEMA = "thresher_ledger"
_BUSY_MILLISECONDS = 30_000
_APPLICATION = 0x54687273  # "Thrs"
_APPEND_ONLY = (
    "CREATE FUNCTION only_ever_added() RETURNS trigger LANGUAGE plpgsql AS"
    " $$ BEGIN RAISE EXCEPTION 'lines are only ever added'; END $$",
    "CREATE TRIGGER entries_grow BEFORE UPDATE OR DELETE ON entries EXECUTE FUNCTION only_ever_added()",
    "CREATE TRIGGER releases_grow BEFORE UPDATE OR DELETE ON releases EXECUTE FUNCTION only_ever_added()",
)


class PostgresStore:
    """One schema, any number of threads and processes."""

    def __init__(self, url: str) -> None:
        self._pool = Pool(lambda: _Connection(url))

    def prepare(self, *, make: bool) -> None:
        try:
            with self._pool.connection() as connection:
                connection.run("BEGIN")
                try:
                    # Two first openings at once: the second waits here and then finds the tables.
                    connection.run("SELECT pg_advisory_xact_lock(?)", (_APPLICATION,))
                    self._prepare_tables(connection, make=make)
                except BaseException:
                    connection.roll_back()
                    raise
                connection.run("COMMIT")
        except psycopg.Error as error:
            raise _refusal(error) from error

    def _prepare_tables(self, connection: "_Connection", *, make: bool) -> None:
        if not connection.run("SELECT 1 FROM pg_namespace WHERE nspname = ?", (_SCHEMA,)):
            if not make:
                raise LedgerError("there is no ledger in this database: check the address")
            connection.run(f"CREATE SCHEMA {_SCHEMA}")
            make_tables(connection, "BYTEA", _APPEND_ONLY)
        check_version(connection, "the ledger", "BYTEA")

    @contextmanager
    def writing(self) -> Iterator[Tables]:
        with self._pool.writer() as connection:
            try:
                connection.run("BEGIN ISOLATION LEVEL READ COMMITTED")
                tables = Tables(connection, lock_rows=" FOR UPDATE")
                tables.head()
            except psycopg.Error as error:
                connection.close()
                raise _refusal(error) from error
            try:
                yield tables
                connection.run("COMMIT")
            except psycopg.Error as error:
                connection.close()
                raise CommitFailedError(type(error).__name__) from error
            except BaseException:
                connection.roll_back()
                raise

    @contextmanager
    def reading(self) -> Iterator[Tables]:
        with self._pool.connection() as connection:
            try:
                connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                yield Tables(connection)
            except psycopg.Error as error:
                connection.close()
                raise _refusal(error) from error
            finally:
                connection.roll_back()

    def make_durable(self) -> None:
        """Nothing to do: the server shows a commit only once it is synced, and syncs what it finds after a crash."""

    def close(self) -> None:
        self._pool.close()


class _Connection:
    """A psycopg connection with Thresher's settings."""

    def __init__(self, url: str) -> None:
        try:
            self._raw = psycopg.connect(url, autocommit=True, connect_timeout=10)
            self.run("SET synchronous_commit = on")
            self.run(f"SET lock_timeout = {_BUSY_MILLISECONDS}")
            self.run(f"SET search_path = {_SCHEMA}")
        except psycopg.Error as error:
            raise _refusal(error) from error

    @property
    def usable(self) -> bool:
        return not self._raw.closed

    @property
    def reusable(self) -> bool:
        return self.usable and self._raw.info.transaction_status == psycopg.pq.TransactionStatus.IDLE

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        cursor = self._raw.execute(statement.replace("?", "%s").encode(), values or None)
        return cursor.fetchall() if cursor.description else []

    def roll_back(self) -> None:
        try:
            if self.usable and self._raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                self.run("ROLLBACK")
        except psycopg.Error:
            self.close()

    def close(self) -> None:
        self._raw.close()


def _refusal(error: psycopg.Error) -> LedgerError:
    """The server's error as one of ours. Its text is not repeated: it may hold the connection's secrets."""
    if isinstance(error, postgres_errors.LockNotAvailable | postgres_errors.DeadlockDetected):
        return LedgerBusyError("the ledger's database is held by another process; nothing was written, try again")
    if isinstance(error, psycopg.OperationalError | psycopg.ProgrammingError) and error.sqlstate is None:
        return LedgerError("the ledger's database cannot be reached: check its address, login and state")
    if isinstance(error, postgres_errors.InsufficientPrivilege | postgres_errors.ReadOnlySqlTransaction):
        return LedgerError("the ledger's login may not write its schema: grant it, or name another login")
    return LedgerCorruptError(f"the ledger's tables are damaged or not Thresher's ({type(error).__name__})")
