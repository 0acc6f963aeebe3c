"""Public tables, read whole: their values as exact numbers, text, true or false, or nothing.

Reads: tables that are declared public. Writes: nothing. Never: a private table.
"""

import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

from thresher.errors import SourceFailedError
from thresher.question import PublicTable, PublicValue
from thresher.sources.protocol import Family, PhysicalColumn

MOST_ROWS = 1_000_000
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)([.][0-9]+)?", re.ASCII)
_TRUTHS = {"true": True, "false": False}


def public_table(name: str, columns: Sequence[PhysicalColumn], rows: Sequence[Sequence[object]]) -> PublicTable:
    """Return the table; refuse more than `MOST_ROWS` rows. Callers ask the database for one row more than that."""
    if len(rows) > MOST_ROWS:
        limit = f"more than {MOST_ROWS:,} rows, too many to be read whole. Name a smaller table or a view"
        raise SourceFailedError(f"the public table {name} has {limit}")
    read: dict[str, tuple[PublicValue, ...]] = {}
    for place, column in enumerate(columns):
        values: Sequence[object] = [row[place] for row in rows]
        values = read_written(values) if column.family is Family.WRITTEN else values
        read[column.name] = tuple(public_value(value) for value in values)
    return PublicTable(name, read)


def read_written(values: Sequence[object]) -> Sequence[object]:
    """Return a column of a file without types: as numbers if all values are decimals, else as true or false or text.

    A number has no leading zeros: 007 is text.
    """
    there = [value for value in values if isinstance(value, str) and value != ""]
    if there and all(_DECIMAL.fullmatch(value) for value in there):
        return [Decimal(value) if isinstance(value, str) and value else None for value in values]
    if there and all(value.lower() in _TRUTHS for value in there):
        return [_TRUTHS[value.lower()] if isinstance(value, str) and value else None for value in values]
    return values


def public_value(value: object) -> PublicValue:
    """Return numbers exactly (a double as its shortest decimal), days and times as ISO text, NaN as nothing."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float):
        return Fraction(Decimal(float.__repr__(value))) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() else None
    if isinstance(value, datetime):
        return (value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)).isoformat()
    return value.isoformat() if isinstance(value, date) else str(value)
