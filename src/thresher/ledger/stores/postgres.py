"""A book in a PostgreSQL database: one locked row, and commits that wait for the disk.

Reads and writes: the tables of schema `thresher_ledger`. Never: relies on serialisable isolation (the lock of the head
row orders all writers), or on a server that answers before it has synced.
"""

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import errors as postgres_errors

from thresher.errors import LedgerBusyError, LedgerCorruptError, LedgerError, NoLedgerError
from thresher.ledger.stores.book_tables import TABLES
from thresher.ledger.stores.database import DatabaseConnection, DatabaseStore
from thresher.ledger.stores.postgres_layout import differences
from thresher.postgres_logins import why_unusable

_SCHEMA = "thresher_ledger"
_BUSY_MILLISECONDS = 30_000
_APPLICATION = 0x54687273  # "Thrs"
_APPEND_ONLY = (
    "CREATE FUNCTION only_ever_added() RETURNS trigger LANGUAGE plpgsql AS"
    " $$ BEGIN RAISE EXCEPTION 'lines are only ever added'; END $$",
    "CREATE TRIGGER entries_grow BEFORE UPDATE OR DELETE ON entries EXECUTE FUNCTION only_ever_added()",
    "CREATE TRIGGER releases_grow BEFORE UPDATE OR DELETE ON releases EXECUTE FUNCTION only_ever_added()",
)
_UNANSWERED = "No question is answered without a ledger."
# The server was stopped or crashed, or it ended this connection.
_ENDED = ("57P01", "57P02", "57P03", "57P05", "25P03")


class PostgresStore(DatabaseStore["_Connection"]):
    """A book in the schema `thresher_ledger` of one database."""

    failures = psycopg.Error
    bytes_type = "BYTEA"
    additions = _APPEND_ONLY
    lock_rows = " FOR UPDATE"

    def __init__(self, url: str) -> None:
        super().__init__("the ledger", lambda: _Connection(url))

    def has_tables(self, connection: "_Connection", *, make: bool) -> bool:
        # If two processes open a new ledger at once, the second waits here and then finds the tables.
        connection.run("SELECT pg_advisory_xact_lock(?)", (_APPLICATION,))
        if connection.run("SELECT 1 FROM pg_namespace WHERE nspname = ?", (_SCHEMA,)):
            return True
        if not make:
            raise NoLedgerError("there is no ledger in this database. Check the address of the ledger")
        connection.run(f"CREATE SCHEMA {_SCHEMA}")
        return False

    def check_tables(self, connection: "_Connection") -> None:
        statements = [statement.format(bytes=self.bytes_type) for statement in (*TABLES, *_APPEND_ONLY)]
        changed = differences(connection, _SCHEMA, statements)
        if changed:
            raise LedgerCorruptError(
                f"the ledger's tables or their rules were changed: {', '.join(changed)}. Restore a backup, or undo the "
                f"change in the schema {_SCHEMA}"
            )
        if connection.run("SHOW fsync") != [("on",)]:
            raise LedgerError(
                "the ledger's PostgreSQL runs with fsync = off, so a power cut can lose charges. Set fsync = on"
            )

    def refusal(self, error: Exception) -> LedgerError:
        return _refusal(error)

    def columns_since(self, version: int) -> tuple[str, ...]:
        # Columns are added to the tables. New tables would hide the accounts from readers whose view is older.
        facts = (
            "UPDATE accounts SET facts = '{\"subject\":' || subject || '}' WHERE subject <> ''",
            "ALTER TABLE accounts DROP COLUMN subject",
        )
        return (
            "ALTER TABLE accounts ADD COLUMN facts TEXT NOT NULL DEFAULT '{}'",
            *(facts if version == 3 else ()),
            "ALTER TABLE accounts ALTER COLUMN facts DROP DEFAULT",
            "ALTER TABLE reservations ADD COLUMN lease BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE reservations ALTER COLUMN lease DROP DEFAULT",
        )


class _Connection(DatabaseConnection):
    failures = psycopg.Error

    def __init__(self, url: str) -> None:
        try:
            self._raw = psycopg.connect(url, autocommit=True, connect_timeout=10)
        except psycopg.Error as error:
            raise LedgerError(f"{why_unusable(url, error, '[ledger] url')} {_UNANSWERED}") from None
        try:
            self.run("SET synchronous_commit = on")
            self.run(f"SET lock_timeout = {_BUSY_MILLISECONDS}")
            self.run(f"SET search_path = {_SCHEMA}")
        except psycopg.Error as error:
            raise _refusal(error) from error

    @property
    def usable(self) -> bool:
        return not self._raw.closed

    @property
    def in_transaction(self) -> bool:
        return self._raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE

    def now(self) -> int:
        # The server's clock, so that all hosts judge by one.
        ((now,),) = self.run("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
        return int(now)

    def begin_writing(self) -> None:
        self.run("BEGIN ISOLATION LEVEL READ COMMITTED")

    def begin_reading(self) -> None:
        self.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        cursor = self._raw.execute(statement.replace("?", "%s").encode(), values or None)
        return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        self._raw.close()


def _refusal(error: Exception) -> LedgerError:
    """Turn the server's error into one of ours. Its text is not repeated, because it may hold a password."""
    if isinstance(error, postgres_errors.LockNotAvailable | postgres_errors.DeadlockDetected):
        return LedgerBusyError("another process holds the ledger's database. Nothing was written: try again")
    state = getattr(error, "sqlstate", None) or ""
    if state.startswith("08") or state in _ENDED:
        return LedgerError(
            "the server ended the connection to the ledger's database. Nothing more was written. Ask again when it runs"
        )
    if state.startswith("53"):
        return LedgerError(
            "the ledger's server has no room, memory or connections left. No answer is given. Free some, and ask again"
        )
    if isinstance(error, psycopg.OperationalError | psycopg.ProgrammingError) and error.sqlstate is None:
        return LedgerError("the ledger's database cannot be reached. Check its address, the login, and that it runs")
    if isinstance(error, postgres_errors.InsufficientPrivilege | postgres_errors.ReadOnlySqlTransaction):
        return LedgerError("the login may not write the ledger's schema. Grant it that right, or use another login")
    return LedgerCorruptError(
        f"the ledger's tables are damaged or not Thresher's ({type(error).__name__}). Restore a backup"
    )
