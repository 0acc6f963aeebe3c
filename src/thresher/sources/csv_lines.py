"""Read CSV one line at a time: what a line holds depends on that line alone, so no quote swallows another.

A line is a row if it has as many fields as the header. A field has no quotes at all, or is quoted, with each quote
inside written twice. All other lines are skipped: an error about them would quote them. An empty field is NULL.
Reads: headers. Writes: SQL text. Never: a row.
"""

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from thresher.errors import DeclarationError
from thresher.sources.dialect import Dialect

CSV = (".csv", ".tsv")
_DELIMITERS = (",", ";", "\t", "|")
# A delimiter that text files do not contain, so that DuckDB's reader gives whole lines.
_NEVER = "\x1f"
# In bytes. Well below the length at which DuckDB's reader fails.
LONGEST_LINE = 1_000_000


def csv_columns(place: str, paths: Sequence[str]) -> list[str]:
    """Return the names in the header, which must be the same in all files."""
    headers = [_split(path) for path in paths]
    unlike = [path for path, header in zip(paths, headers, strict=True) if header != headers[0]]
    if unlike:
        raise DeclarationError(
            place,
            f"the headers of {Path(paths[0]).name} and {Path(unlike[0]).name} differ. Write the same columns, in the "
            "same order, into every file of a table",
        )
    columns = headers[0][1]
    if any("\0" in column for column in columns):
        raise DeclarationError(place, f"the header of {Path(paths[0]).name} holds a NUL. Save it as a text file")
    if not columns or len({column.lower() for column in columns}) < len(columns) or "" in columns:
        raise DeclarationError(
            place, f"in the header of {Path(paths[0]).name} two columns share a name, or one has none. Name each once"
        )
    return columns


def csv_relation(paths: Sequence[str], columns: Sequence[str], dialect: Dialect) -> str:
    """Return the rows of the files, all columns as text, in DuckDB's SQL.

    The end of a line is given: DuckDB would take it from the header, and a CR in one line could take a byte from the
    next line.
    """
    text, delimiter = dialect.text, csv_delimiter(paths[0])
    listed = ", ".join(text(path) for path in paths)
    lines = (
        f"read_csv([{listed}], auto_detect = false, header = false, skip = 1, delim = {text(_NEVER)}, new_line = '\\n',"
        " quote = '', escape = '', comment = '', ignore_errors = true, strict_mode = false,"
        " columns = {'line': 'VARCHAR'})"
    )
    # A quoted field with quotes inside is matched as several quoted pieces in a row, which is fastest.
    split, field = f"[{delimiter}]", f'(?:"[^"]*")+|[^"{delimiter}]*'
    # A line without a quote is split at each delimiter. With the delimiter before each field, no match is empty.
    fields = (
        f"CASE WHEN strlen(line) > {LONGEST_LINE} THEN NULL"
        f" WHEN strpos(line, '\"') = 0 THEN string_split(line, {text(delimiter)})"
        f" WHEN regexp_full_match(line, {text(f'(?:{field})(?:{split}(?:{field}))*')})"
        f" THEN [substring(x, 2) FOR x IN"
        f" regexp_extract_all({text(delimiter)} || line, {text(f'{split}(?:{field})')})] END"
    )
    named = ", ".join(f"{_value(n + 1)} AS {dialect.identifier(column)}" for n, column in enumerate(columns))
    return f"(SELECT {named} FROM (SELECT {fields} AS f FROM {lines}) WHERE len(f) = {len(columns)})"


def _value(place: int) -> str:
    field = f"f[{place}]"
    inside = f"replace(substring({field}, 2, length({field}) - 2), '\"\"', '\"')"
    return f"CASE WHEN {field} = '' THEN NULL WHEN starts_with({field}, '\"') THEN {inside} ELSE {field} END"


def csv_delimiter(path: str) -> str:
    """Return the delimiter of the header: the one of the usual delimiters that stands there most often."""
    header = _header(path)
    return max(_DELIMITERS, key=header.count)


def _split(path: str) -> tuple[str, list[str]]:
    delimiter = csv_delimiter(path)
    return delimiter, next(csv.reader([_header(path)], delimiter=delimiter), [])


def _header(path: str) -> str:
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as lines:
        return re.split(r"[\r\n]", lines.readline(LONGEST_LINE), maxsplit=1)[0]
