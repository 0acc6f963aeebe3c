"""The base of all sources: check declarations, limit rows, aggregate, and fail without the database's words.

Reads: the source, once for a need. Writes: only the rows that count, inside the connection of the source. Never: noise;
the text or cause of a database's error, which may quote rows.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from thresher.config import Column, Declarations, Referenced, Table
from thresher.errors import BugError, DeclarationError, SourceFailedError, SourceUnavailableError, ThresherError
from thresher.question import (
    ALWAYS,
    AnyNeed,
    Condition,
    Exact,
    Need,
    PeopleNeed,
    PublicTable,
    RowsNeed,
    with_public_values,
)
from thresher.question.identity import rows_digest
from thresher.sources import published
from thresher.sources.bounding import Bounding, Kept, bounded_rows, bounding, raw_rows
from thresher.sources.codes import RelationColumns
from thresher.sources.dialect import Dialect
from thresher.sources.fitting import check_tables, relation_of
from thresher.sources.protocol import (
    CHANGED,
    FAILED,
    INTERRUPTED,
    UNREAD,
    PhysicalColumn,
    PublicTables,
    too_slow,
    unread,
)
from thresher.sources.scan_statements import Rows, ScanStatement, listing, statement

if TYPE_CHECKING:
    from thresher.config import ColumnFacts, RelationFacts

Catalogue = Mapping[str, tuple[PhysicalColumn, ...]]
Got = TypeVar("Got")
_STOP_AGAIN_SECONDS = 0.2

# DuckDB's message for Ctrl-C, which Python cannot report while DuckDB runs.
_CTRL_C = "Query interrupted"


class SqlSource(ABC):
    """A source that speaks SQL. One scan at a time; `interrupt` may come from any thread."""

    def __init__(self, declarations: Declarations, dialect: Dialect) -> None:
        self._declarations = declarations
        self._dialect = dialect
        self._one_at_a_time = threading.RLock()
        self._found: Catalogue | None = None
        self._checked: Declarations | None = None
        self._relations: dict[str, str] = {}
        self._kept: dict[tuple[str, tuple[str, ...]], Kept] = {}
        self._made = 0
        self._stopped: str | None = None
        self._stop_now = threading.Event()

    # These steps differ between databases.

    @abstractmethod
    def _open(self) -> None:
        """Reach the source unless it is reached. Any exception counts as unreachable."""

    @abstractmethod
    def _look(self) -> Catalogue:
        """Return the catalogue, and fill `_relations` with the SQL of each relation."""

    @abstractmethod
    def _bases(self, relation: str) -> tuple[str, ...]:
        """Return what a relation's rows are based on, each base with the place that it is kept in."""

    def _is_unique(self, relation: str, column: str) -> bool:
        """Return whether the catalogue proves that no two rows share a unit; then no limit is needed.

        A proof is looked up again each time, because the constraint may have been dropped since the last check.
        """
        if self._proves(relation, column):
            self._found = self._look()
        return self._proves(relation, column)

    def _proves(self, relation: str, column: str) -> bool:
        known = self.catalogue().get(relation, ())
        return any(found.name == column and found.is_unique_key for found in known)

    @abstractmethod
    def _columns(self, asked: ScanStatement) -> Sequence[Sequence[object]]:
        """Return the result by columns: the places of groups, then the aggregates (wide ones as text)."""

    @abstractmethod
    def _keep(self, name: str, chosen: Bounding) -> Kept:
        """Store the chosen rows under this name."""

    @abstractmethod
    def _rows(self, relation: str, columns: Sequence[str], most: int) -> Sequence[Sequence[object]]:
        """Return rows of a public table."""

    @abstractmethod
    def _stop(self) -> None:
        """Stop the running statement."""

    @abstractmethod
    def _drop(self) -> None:
        """Close the connection, which may be broken."""

    @abstractmethod
    def _why_closed(self, error: Exception | None) -> str:
        """Return why the source cannot be opened, by the kind and the code of an error; None if only reading failed."""

    def _derived(self) -> frozenset[str]:
        """Return the relations whose rows may be those of another relation: views and partitions."""
        return frozenset()

    def _constraints(self) -> Mapping[str, Mapping[str, "ColumnFacts"]]:
        """Return what people declared about columns in the catalogue besides types, by relation and column."""
        return {}

    def _nothing(self) -> str:
        """Return the message for a source without any table."""
        return "the source has no table that can be read. Check its address, and what this role may read there"

    # These steps are the same in every database.

    def connect(self) -> None:
        with self._one_at_a_time:
            why: list[str] = []
            reached, _ = _tried(self._open, lambda failed: why.append(self._why_closed(failed)))
            if not reached:
                self._let_go()
                raise SourceUnavailableError(f"{why[0]} {UNREAD}")

    def catalogue(self) -> Catalogue:
        with self._one_at_a_time:
            if self._found is None:
                self.connect()
                looked, found = _tried(self._look)
                if not looked or found is None:
                    raise SourceUnavailableError(f"{self._why_closed(None)} {UNREAD}")
                if not found:
                    raise DeclarationError("source.url", self._nothing())
                self._found = found
            return self._found

    def facts(self) -> Mapping[str, "RelationFacts"]:
        from thresher.config import RelationFacts  # noqa: PLC0415 - only `init` needs it

        with self._one_at_a_time:
            names = tuple(self.catalogue())
            looked, found = _tried(lambda: (self._derived(), self._constraints(), {n: self._bases(n) for n in names}))
            if not looked or found is None:
                raise SourceUnavailableError(f"{self._why_closed(None)} {UNREAD}")
            derived, columns, bases = found
            return {name: RelationFacts(bases[name], name in derived, columns.get(name, {})) for name in names}

    def check(self, declarations: Declarations) -> None:
        check_tables(declarations, self.catalogue(), self._relations)
        self._checked = declarations

    def public_table(self, name: str) -> PublicTable:
        declared = self._declarations.public_tables[name]
        relation, most = relation_of(declared), published.MOST_ROWS + 1
        with self._one_at_a_time:
            columns = self.catalogue()[relation]
            names, rows = [column.name for column in columns], None
            with suppress(SourceFailedError):  # its message is about a question that is charged
                rows = self._guarded(lambda: self._rows(self._relations[relation], names, most))
            if rows is None:
                raise SourceUnavailableError(unread(name, self._stopped is not None))
            return published.public_table(name, columns, rows)

    def bases(self, table: Table) -> tuple[str, ...]:
        with self._one_at_a_time:
            self.connect()
            self._known_and_checked()
            name = relation_of(table)
            # Looked up for each charge: a view may be replaced, and a partition attached, while the source is open.
            traced, bases = _tried(lambda: self._bases(name))
            if not traced or not bases:
                raise SourceUnavailableError(f"{self._why_closed(None)} {UNREAD}")
            return bases

    def column_names(self, table: Table) -> tuple[str, ...]:  # noqa: ARG002 - only tables in memory have them
        return ()

    def fetch(self, need: AnyNeed) -> Exact:
        with self._one_at_a_time:
            self.connect()
            self._known_and_checked()
            need = self._resolved(need)
            if isinstance(need, RowsNeed):
                return self._guarded(lambda: self._fetch_rows(need))
            if isinstance(need, PeopleNeed):
                return self._guarded(lambda: self._fetch_people(need))
            if not need.groups or not need.aggregates:
                return Exact(np.zeros((len(need.groups), len(need.aggregates)), dtype=np.int64))
            return self._guarded(lambda: self._fetch(need))

    def _resolved(self, need: AnyNeed) -> AnyNeed:
        """Return the need with the public values of all columns: unused columns decide too which rows count."""
        if not any(isinstance(column.kind, Referenced) for column in need.table.columns.values()):
            return need
        return replace(need, table=with_public_values(need.table, PublicTables(self)))

    def _known_and_checked(self) -> None:
        """Look up the catalogue if necessary. After a failure, the new catalogue must fit the declarations."""
        again = self._found is None and self._checked is not None
        unfit = False
        try:
            self.catalogue()
            if again and self._checked is not None:
                check_tables(self._checked, self.catalogue(), self._relations)
        except DeclarationError:
            if self._checked is None:
                raise
            unfit = True
        if unfit:
            self._let_go()
            raise SourceUnavailableError(CHANGED)

    def interrupt(self) -> None:
        self._stopped = INTERRUPTED
        self._stop_now.set()

    def close(self) -> None:
        with self._one_at_a_time:
            self._let_go()

    def _fetch(self, need: Need) -> Exact:
        asked = statement(need, self._rows_of(need.table, need.keys, need.among), self._dialect)
        self._still_wanted()
        columns = self._columns(asked)
        places = np.asarray(columns[0], dtype=np.int64)
        given, declared = set(places.tolist()), set(range(len(need.groups)))
        if len(given) != len(places) or not (
            given == declared if self._dialect.gives_empty_groups else given <= declared
        ):
            raise BugError("the source did not return every declared group exactly once")
        kind = object if any(asked.wide) else np.int64
        values = np.zeros((len(need.groups), len(need.aggregates)), dtype=kind)
        for n, column in enumerate(columns[1:]):
            values[places, n] = [int(str(value)) for value in column] if kind is object else column
        return Exact(values)

    def _fetch_rows(self, need: RowsNeed) -> Exact:
        asked = listing(need, self._rows_of(need.one_row_each, ()))
        self._still_wanted()
        columns = self._columns(asked) or [[] for _ in need.columns]
        return Exact(np.stack([np.asarray(column, dtype=np.int64) for column in columns], axis=1))

    def _fetch_people(self, need: PeopleNeed) -> Exact:
        from thresher.sources.people_counts import people_statement  # noqa: PLC0415 - only a suggestion needs it

        name = relation_of(need.table)
        found = RelationColumns({column.name: column for column in self.catalogue()[name]}, self._dialect)
        asked = people_statement(need, self._relations[name], found)
        self._still_wanted()
        _, *counts = self._columns(asked)
        return Exact(np.array([[int(str(count[0]))] for count in counts], dtype=np.int64))

    def _rows_of(self, table: Table, keys: Sequence[Column], among: Condition = ALWAYS) -> Rows:
        """Return the table's rows, or the rows that count under the limits on a unit; these are stored once.

        Rows chosen among some rows only, as for a step of a stream, are used once and not stored.
        """
        name = relation_of(table)
        relation = self._relations[name]
        found = RelationColumns({column.name: column for column in self.catalogue()[name]}, self._dialect)
        if table.contribution is None or self._is_unique(name, table.contribution.unit):
            return raw_rows(table, relation, found)
        if among != ALWAYS:
            chosen = bounding(table, keys, relation, found, among)
            return bounded_rows(table, Kept(f"({chosen.sql})", chosen.parameters), self._dialect)
        made = (rows_digest(table), tuple(sorted(key.name for key in keys)))
        if made not in self._kept:
            chosen = bounding(table, keys, relation, found)
            self._made += 1
            self._kept[made] = self._keep(f"thresher_rows_{self._made}", chosen)
        return bounded_rows(table, self._kept[made], self._dialect)

    def _guarded(self, read: Callable[[], Got]) -> Got:
        """Read within the time allowed. A failure is raised outside the handler, so that it carries no cause."""
        self._stopped = None
        self._stop_now.clear()
        over = threading.Event()
        watch = threading.Thread(target=self._watch, args=(over,), daemon=True)
        watch.start()
        try:
            try:
                done, got = _tried(read)
            finally:
                over.set()
                self._stop_now.set()
                watch.join()
        except BaseException:
            self._let_go()  # half-made tables end with the connection
            raise
        if not done or got is None or self._stopped is not None:
            self._let_go()
            raise SourceFailedError(self._stopped or FAILED)
        return got

    def _watch(self, over: threading.Event) -> None:
        """Stop the reading when its time is up or when asked; again and again, because it may not have begun yet."""
        seconds = self._declarations.timeout_seconds
        self._stop_now.wait(seconds)
        if not over.is_set():
            self._stopped = self._stopped or too_slow(seconds)
            while not over.is_set():
                _tried(self._stop)
                over.wait(_STOP_AGAIN_SECONDS)

    def _still_wanted(self) -> None:
        if self._stopped is not None:
            raise SourceFailedError(self._stopped)

    def _let_go(self) -> None:
        """Close the connection and forget all that is known of the source, which may be another at the next opening."""
        self._kept.clear()
        self._relations.clear()
        self._found = None
        _tried(self._drop)


def _tried(act: Callable[[], Got], note: Callable[[Exception], None] | None = None) -> tuple[bool, Got | None]:
    """Return whether the act succeeded, and its result. Errors of Thresher pass; the text of others is dropped.

    `note` may look at the code of an error.
    """
    try:
        return True, act()
    except ThresherError:
        raise
    except Exception as failed:  # noqa: BLE001 - a driver may raise anything, and its text must not leave
        ctrl_c = type(failed) is RuntimeError and failed.args == (_CTRL_C,)
        if note is not None and not ctrl_c:
            note(failed)
    if ctrl_c:
        raise KeyboardInterrupt
    return False, None
