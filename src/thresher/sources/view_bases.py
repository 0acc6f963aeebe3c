"""Trace a view to the tables that it is made of, by its text. The ledger must know that the rows are the same.

Reads: the texts of views, from a catalogue. Writes: nothing. Never: rows.
"""

from collections.abc import Callable
from pathlib import Path

import sqlglot
from sqlglot import expressions
from sqlglot.optimizer.scope import traverse_scope

# Files beyond this number are named by the folder that they lie in: a line of the ledger stays short.
_MOST_FILES = 32
Name = tuple[str, str]


def bases_of(start: Name, text_of: Callable[[Name], str | None], dialect: str) -> tuple[Name, ...]:
    """Return the tables that a relation reads in the end, as (schema, name); a table is its own base.

    text_of    the SELECT of a view, or None for a table. A text that cannot be understood counts as a table.
    """
    found: set[Name] = set()
    waiting, met = [start], {start}
    while waiting:
        relation = waiting.pop()
        text = text_of(relation)
        read = None if text is None else tables_in(text, relation[0], dialect)
        if not read:
            found.add(relation)
        for table in read or ():
            if table not in met:
                met.add(table)
                waiting.append(table)
    return tuple(sorted(found))


def tables_in(text: str, schema: str, dialect: str) -> set[Name]:
    """Return the relations that a SELECT names, those without a schema in `schema`; none if it cannot be understood."""
    try:
        tree = sqlglot.parse_one(text, dialect=dialect)
        select = tree.find(expressions.Query)
        scopes = traverse_scope(select) if select is not None else []
        sources = [source for scope in scopes for source in scope.sources.values()]
    except (sqlglot.errors.SqlglotError, RecursionError):
        return set()
    return {(table.db or schema, table.name) for table in sources if isinstance(table, expressions.Table)}


def files_as_bases(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files of a table by their real paths, so that a link is not another table."""
    real = sorted({str(Path(path).resolve()) for path in paths})
    return tuple(real) if len(real) <= _MOST_FILES else tuple(sorted({str(Path(path).parent) for path in real}))
