"""Trace a view to the tables that it is made of, by its text. The ledger must know that the rows are the same.

Reads: the texts of views, from a catalogue. Writes: nothing. Never: rows.
"""

from collections.abc import Callable, Collection
from pathlib import Path

import sqlglot
from sqlglot import expressions
from sqlglot.optimizer.scope import traverse_scope

# Files beyond this number are named by the folders that they lie in: a line of the ledger stays short.
_MOST_FILES = 32
# Functions that make rows and read no table. Any other function after FROM may read every table.
_MAKERS = ("generate_series", "generate_subscripts", "range", "repeat", "repeat_row", "unnest", "explode", "inline")
Name = tuple[str, str]


class UnclearViewError(Exception):
    """The text of a view does not say which tables it reads."""


def bases_of(
    start: Name,
    text_of: Callable[[Name], str | None],
    dialect: str,
    *,
    named: Callable[[Name, str], tuple[Name, ...]] | None = None,
    tables: Callable[[], Collection[Name]] = tuple,
    macros: Collection[str] = (),
) -> tuple[Name, ...]:
    """Return the tables that a relation reads in the end, as (schema, name); a table is its own base.

    text_of    the SELECT of a view, or None for a table
    named      the relations that a name in a view may mean, as the catalogue writes them, given the schema of the
               view; none if there is no such relation
    tables     all tables: a view whose text is not clear may read each of them
    macros     the functions of this database that may read tables
    """
    found: set[Name] = set()
    waiting, met = [start], {start}
    while waiting:
        relation = waiting.pop()
        text = text_of(relation)
        try:
            read = set() if text is None else _read_by(text, relation[0], dialect, named or _in_schema, macros)
        except UnclearViewError:
            found.update((relation, *tables()))
            continue
        if not read:
            found.add(relation)
        waiting += read - met
        met |= read
    return tuple(sorted(found))


def _read_by(
    text: str, schema: str, dialect: str, named: Callable[[Name, str], tuple[Name, ...]], macros: Collection[str]
) -> set[Name]:
    found: set[Name] = set()
    for name in tables_in(text, dialect, macros):
        meant = named(name, schema)
        if not meant:
            raise UnclearViewError
        found.update(meant)
    return found


def _in_schema(name: Name, schema: str) -> tuple[Name, ...]:
    return ((name[0] or schema, name[1]),)


def tables_in(text: str, dialect: str, macros: Collection[str] = ()) -> set[Name]:
    """Return the relations that a SELECT names, as (schema or "", name). `UnclearViewError` if it may read others."""
    try:
        tree = sqlglot.parse_one(text, dialect=dialect)
        select = tree.find(expressions.Query)
        scopes = traverse_scope(select) if select is not None else []
        sources = [source for scope in scopes for source in scope.sources.values()]
    except (sqlglot.errors.SqlglotError, RecursionError):
        raise UnclearViewError from None
    if select is None or any(_called(function) in macros for function in tree.find_all(expressions.Func)):
        raise UnclearViewError
    found = set()
    for table in sources:
        if not isinstance(table, expressions.Table):
            continue
        if isinstance(table.this, expressions.Func):
            if _called(table.this) not in _MAKERS:
                raise UnclearViewError
        elif table.name:
            found.add((table.db, table.name))
    return found


def _called(function: expressions.Func) -> str:
    """Return the name of a function without capitals."""
    name = function.name if isinstance(function, expressions.Anonymous) else function.sql_name()
    return str(name).casefold()


def files_as_bases(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files of a table by their real paths, so that a link is not another table.

    Many files are named by their folders, which end with a slash: each file in them is then the same rows.
    """
    real = sorted({str(Path(path).resolve()) for path in paths})
    return tuple(real) if len(real) <= _MOST_FILES else tuple(sorted({f"{Path(path).parent}/" for path in real}))
