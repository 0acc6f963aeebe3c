"""What every source promises: a catalogue without rows, and exact aggregates in one scan.

Reads: nothing. Writes: nothing. Never: noise, or a word of what a database said about its rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from thresher.config import Declarations
from thresher.question import AnyNeed, Exact, PublicTable

FAILED = (
    "the source failed while it was read; what it said is not repeated, because it may quote rows. The question stays "
    "charged. Look into the source's own log"
)
CHANGED = (
    "the source no longer fits its declarations; nothing was read and nothing is charged. Open it anew to see what "
    "does not fit"
)
INTERRUPTED = "reading the source was interrupted; the question stays charged"


class Family(StrEnum):
    """What a physical type is like, whatever the database calls it."""

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
    """A column as the catalogue knows it.

    `is_unique_key`: the database itself forbids two rows with one value. `hides_nan`: the file's statistics, by which
    the database drops comparisons that seem to hold always, leave NaN out.
    """

    name: str
    type: str
    family: Family
    is_unique_key: bool = False
    hides_nan: bool = False


class Source(Protocol):
    """Where the data is. One thread at a time reads; any thread may interrupt."""

    def catalogue(self) -> Mapping[str, tuple[PhysicalColumn, ...]]:
        """What there is, by the name of the relation; no row is looked at."""
        ...

    def check(self, declarations: Declarations) -> None:
        """`DeclarationError` if a declared table or column is absent, or of a type that does not fit; reads no row."""
        ...

    def public_table(self, name: str) -> PublicTable:
        """A declared public table, whole."""
        ...

    def connect(self) -> None:
        """Reach the source, or `SourceUnavailableError`; nothing is read."""
        ...

    def fetch(self, need: AnyNeed) -> Exact:
        """The exact aggregates or rows, or `SourceFailedError`, whose text does not depend on the data."""
        ...

    def interrupt(self) -> None:
        """Stop a `fetch` that another thread is waiting for."""
        ...

    def close(self) -> None: ...


def unread(name: str, stopped: bool) -> str:  # noqa: FBT001 - a fact about what happened
    """A public table is read before anything is charged."""
    why = "took too long (timeout_seconds) or was interrupted" if stopped else "failed"
    return f"reading the public table {name} {why}; nothing is charged. Look into the source's own log"


def too_slow(seconds: int) -> str:
    return f"the source took longer than {seconds} seconds (timeout_seconds); charged"


class PublicTables(dict[str, PublicTable]):
    """Public tables, each read when it is first asked for."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source

    def __missing__(self, name: str) -> PublicTable:
        self[name] = self._source.public_table(name)
        return self[name]
