"""Prepare, read and write a book, in the same way for any database; each store adds what its database does differently.

Reads and writes: through `Tables`, in one transaction at a time. Never: repeats what a database says about its
connection; lends a connection that is in the middle of a transaction; goes on after a commit that failed.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, TypeVar

from thresher.errors import LedgerCorruptError, LedgerError, LedgerVersionError, NoLedgerError
from thresher.ledger.stores.book_tables import SCHEMA_VERSION, STATES, CommitFailedError, Tables, make_tables
from thresher.ledger.stores.pool import Pool


class DatabaseConnection(ABC):
    """A driver's connection with Thresher's settings."""

    # The class of the errors that the driver raises.
    failures: ClassVar[type[Exception]]

    @abstractmethod
    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...

    @abstractmethod
    def now(self) -> int:
        """Return the time by the clock that leases are judged by, in milliseconds since 1970."""

    @abstractmethod
    def begin_writing(self) -> None: ...

    @abstractmethod
    def begin_reading(self) -> None: ...

    @abstractmethod
    def close(self) -> None: ...

    @property
    @abstractmethod
    def usable(self) -> bool:
        """Tell whether the connection is open."""

    @property
    @abstractmethod
    def in_transaction(self) -> bool: ...

    @property
    def reusable(self) -> bool:
        """Tell whether the connection is open, and outside of any transaction."""
        return self.usable and not self.in_transaction

    def roll_back(self) -> None:
        """Undo and end the transaction, if there is one."""
        try:
            if self.usable and self.in_transaction:
                self.run("ROLLBACK")
        except self.failures:
            # The transaction has failed already, and the caller gets that first error.
            self.close()


C = TypeVar("C", bound=DatabaseConnection)


class DatabaseStore(ABC, Generic[C]):
    """A database that holds one book. Any number of threads and processes may use it."""

    failures: ClassVar[type[Exception]]
    # The type of bytes, and the statements added for a new book.
    bytes_type: ClassVar[str]
    additions: ClassVar[tuple[str, ...]]
    lock_rows: ClassVar[str] = ""

    def __init__(self, name: str, make: Callable[[], C]) -> None:
        self._name, self._pool = name, Pool(make)

    def prepare(self, *, make: bool, migrate: Callable[[Tables], None]) -> None:
        """Open the database, make the tables of a new book if `make`, and check the tables and pages.

        A newer book is refused. An older one is brought up to date in one transaction, in which `migrate` adds what its
        lines lack.
        """
        self.check_place(make=make)
        try:
            with self._pool.writer() as connection:
                connection.begin_writing()
                try:
                    if not self.has_tables(connection, make=make):
                        make_tables(connection, self.bytes_type, self.additions)
                    old = self._bring_up_to_date(connection)
                    self.check_tables(connection)
                    if old:
                        migrate(Tables(connection, self.lock_rows))
                    connection.run("COMMIT")
                except BaseException:
                    connection.roll_back()
                    raise
                self.check_pages(connection)
        except self.failures as error:
            raise self.refusal(error) from error

    @contextmanager
    def glancing(self) -> Iterator[Tables]:
        """Open a transaction that reads a book of today's version, without making, verifying or changing anything."""
        self.check_place(make=False)
        with self._pool.connection() as connection:
            try:
                connection.begin_reading()
                if not self.has_tables(connection, make=False):
                    raise NoLedgerError(f"there is no ledger at {self._name}")
                if self._version(connection) < SCHEMA_VERSION:
                    raise LedgerVersionError(f"{self._name} is of an earlier version. The next question updates it")
                yield Tables(connection)
            except self.failures as error:
                connection.close()
                raise self.refusal(error) from error
            finally:
                connection.roll_back()

    def _version(self, connection: C) -> int:
        """Return which version a book has; refuse a newer one."""
        found = connection.run("SELECT version FROM head")
        if len(found) != 1 or not isinstance(found[0][0], int):
            raise LedgerCorruptError(f"{self._name} is damaged: it does not say which version it has. Restore a backup")
        ((version,),) = found
        if version > SCHEMA_VERSION:
            raise LedgerVersionError(
                f"{self._name} was written by a newer Thresher (its schema is {version}, this Thresher knows "
                f"{SCHEMA_VERSION}): upgrade Thresher"
            )
        return int(version)

    def _bring_up_to_date(self, connection: C) -> bool:
        """Give the tables today's columns; return whether the book was of an older version."""
        version = self._version(connection)
        if version == SCHEMA_VERSION:
            return False
        # This waits until writers of an older version have ended.
        Tables(connection, self.lock_rows).head()
        if version < 2:
            connection.run(STATES.format(bytes=self.bytes_type))
        for statement in self.columns_since(version):
            connection.run(statement)
        connection.run("UPDATE head SET version = ?", (SCHEMA_VERSION,))
        return True

    @contextmanager
    def writing(self) -> Iterator[Tables]:
        """Open a transaction that writes; there is one at a time. It is committed to disk at the end, or undone.

        Raises `CommitFailedError` if a statement or the commit fails.
        """
        with self._pool.writer() as connection:
            try:
                connection.begin_writing()
                tables = Tables(connection, self.lock_rows)
                tables.head()
            except self.failures as error:
                connection.close()
                raise self.refusal(error) from error
            try:
                yield tables
                connection.run("COMMIT")
            except self.failures as error:
                connection.close()
                raise CommitFailedError(type(error).__name__) from error
            except BaseException:
                connection.roll_back()
                raise

    @contextmanager
    def reading(self) -> Iterator[Tables]:
        """Open a transaction that reads one consistent view."""
        with self._pool.connection() as connection:
            try:
                connection.begin_reading()
                yield Tables(connection)
            except self.failures as error:
                connection.close()
                raise self.refusal(error) from error
            finally:
                connection.roll_back()

    def close(self) -> None:
        self._pool.close()

    # What databases do differently

    @abstractmethod
    def columns_since(self, version: int) -> tuple[str, ...]:
        """Return the statements that give the tables of an older version today's columns.

        The columns have no default, so that a process of that version that has the book open can write no more.
        """

    @abstractmethod
    def has_tables(self, connection: C, *, make: bool) -> bool:
        """Tell whether there is a book. Refuse a place without one if none may be made."""

    @abstractmethod
    def refusal(self, error: Exception) -> LedgerError:
        """Turn an error of the database into one of ours, which says what to do."""

    def check_place(self, *, make: bool) -> None:
        """Refuse a place where a book cannot be kept."""

    def check_tables(self, connection: C) -> None:
        """Refuse a book whose tables or constraints were changed, if the database can tell."""

    def check_pages(self, connection: C) -> None:
        """Refuse a damaged database, if it can check itself."""

    def make_durable(self) -> None:
        """Return once everything that a reader can see now would survive a power cut."""
