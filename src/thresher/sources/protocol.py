"""The promises of every source: a catalogue without rows, and exact aggregates in one scan.

Reads: nothing. Writes: nothing. Never: noise; the words of a database about its rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from thresher.config import Declarations, Table
from thresher.question import AnyNeed, Exact, PublicTable

if TYPE_CHECKING:
    from thresher.config import RelationFacts

FAILED = (
    "the source failed while it was read. Its message is not repeated, because it may quote rows. The question stays "
    "charged. Look into the log of the source"
)
CHANGED = (
    "the source no longer fits its declarations; nothing was read and nothing is charged. Open it again to see what "
    "does not fit"
)
UNREAD = "Nothing was read or paid."
INTERRUPTED = "reading the source was interrupted; the question stays charged"


class Family(StrEnum):
    """The family of a physical type, whatever the database calls the type."""

    INTEGER = "whole numbers"
    DECIMAL = "decimals"
    DOUBLE = "floating-point numbers"
    TEXT = "text"
    WRITTEN = "text of a file without types"
    TRUTH = "true or false"
    DATE = "dates"
    MOMENT = "times without a zone"
    ZONED = "times with a zone"
    COARSE = "times in milliseconds"
    OTHER = "something else"


@dataclass(frozen=True, slots=True)
class PhysicalColumn:
    """A column in the catalogue.

    `is_unique_key`: the database forbids two rows with one value. `hides_nan`: the statistics of the file leave NaN
    out, and the database drops comparisons that always hold by these statistics.
    """

    name: str
    type: str
    family: Family
    is_unique_key: bool = False
    hides_nan: bool = False


class Source(Protocol):
    """A source of data. One thread at a time reads; any thread may interrupt."""

    def catalogue(self) -> Mapping[str, tuple[PhysicalColumn, ...]]:
        """Return the columns of each relation by its name. No row is read."""
        ...

    def facts(self) -> Mapping[str, "RelationFacts"]:
        """Return what people declared in the catalogue about each relation, for a first thresher.toml. Reads no row."""
        ...

    def check(self, declarations: Declarations) -> None:
        """Raise `DeclarationError` if a declared table or column is missing or its type does not fit. Reads no row."""
        ...

    def public_table(self, name: str) -> PublicTable:
        """Return a declared public table with all its rows."""
        ...

    def connect(self) -> None:
        """Reach the source, or raise `SourceUnavailableError`. Nothing is read."""
        ...

    def bases(self, table: Table) -> tuple[str, ...]:
        """Return what a table's rows are based on: views and partitions are traced to tables by the catalogue alone."""
        ...

    def column_names(self, table: Table) -> tuple[str, ...]:
        """Return the names of the columns of a table in memory; none for other tables."""
        ...

    def fetch(self, need: AnyNeed) -> Exact:
        """Return the exact aggregates or rows, or raise `SourceFailedError`, whose text does not depend on the data."""
        ...

    def interrupt(self) -> None:
        """Stop a `fetch` of another thread."""
        ...

    def close(self) -> None: ...


def unread(name: str, stopped: bool) -> str:  # noqa: FBT001 - a fact about what happened
    """Return the message about a public table that could not be read, which happens before anything is charged."""
    why = "took too long (timeout_seconds) or was interrupted" if stopped else "failed"
    return f"reading the public table {name} {why}; nothing is charged. Look into the log of the source"


def too_slow(seconds: int) -> str:
    return f"the source took longer than timeout_seconds = {seconds}; the question stays charged"


class PublicTables(dict[str, PublicTable]):
    """Public tables by name, each read when it is first used."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source

    def __missing__(self, name: str) -> PublicTable:
        self[name] = self._source.public_table(name)
        return self[name]
