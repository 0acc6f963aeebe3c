"""Public tables, read whole: their values as exact numbers, text, truths, or nothing.

Reads: tables that are declared public. Writes: nothing. Never: a private table.
"""

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

from thresher.errors import SourceFailedError
from thresher.question import PublicTable, PublicValue

MOST_ROWS = 1_000_000


def public_table(name: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> PublicTable:
    """The table; more rows than `MOST_ROWS` are refused (ask the database for one more than that)."""
    if len(rows) > MOST_ROWS:
        raise SourceFailedError(f"the public table {name} has more than {MOST_ROWS} rows, too many to be read whole")
    return PublicTable(
        name, {column: tuple(public_value(row[place]) for row in rows) for place, column in enumerate(columns)}
    )


def public_value(value: object) -> PublicValue:
    """Numbers exactly (a double as its shortest decimal), days and times as ISO text; NaN is nothing."""
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
