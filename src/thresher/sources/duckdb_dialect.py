"""The SQL that DuckDB writes differently.

Reads: nothing. Writes: SQL text. Never: an expression that a value can make fail.
"""

import re

from thresher.sources.dialect import Dialect
from thresher.sources.protocol import Family, PhysicalColumn

_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_LABELS = re.compile(r"ENUM\((?:'(?:[^']|'')*'(?:, )?)*\)")
# The most decimal digits that fit in a double. DuckDB rounds longer decimals twice.
_EXACT_DIGITS = 15

_FAMILIES = {
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
        Family.INTEGER,
    ),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Family.DOUBLE),
    **dict.fromkeys(("VARCHAR", "UUID", "ENUM"), Family.TEXT),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), Family.MOMENT),
    "BOOLEAN": Family.TRUTH,
    "DATE": Family.DATE,
    "TIMESTAMP WITH TIME ZONE": Family.ZONED,
}


def without_labels(kind: str) -> str:
    """Return a type without the labels of an ENUM, which may have been made from rows: no message repeats them."""
    return _LABELS.sub("ENUM", kind)


def duckdb_family(kind: str) -> Family:
    """Return the family of a type as DuckDB writes it, without labels."""
    return Family.DECIMAL if _DECIMAL.fullmatch(kind) else _FAMILIES.get(kind, Family.OTHER)


class DuckDBDialect(Dialect):
    """DuckDB: counts by `count_if`, which is faster than FILTER there."""

    def value(self, column: PhysicalColumn, name: str) -> str:
        if column.family is Family.DOUBLE and column.hides_nan:
            return f"CAST(CASE WHEN isnan({name}) THEN NULL ELSE {name} END AS DOUBLE)"
        if column.type == "FLOAT":
            return f"CAST({name} AS DOUBLE)"
        if column.type in ("UBIGINT", "HUGEINT"):
            return f"TRY_CAST({name} AS BIGINT)"
        if column.type in ("TIMESTAMP_S", "TIMESTAMP_MS"):
            return f"TRY_CAST({name} AS TIMESTAMP)"
        if column.type == "TIMESTAMP_NS":
            # Rounded down: a cast rounds to the nearer microsecond, which may lie in the next day.
            count = f"epoch_ns({name})"
            return f"make_timestamp({count} // 1000 - CASE WHEN {count} % 1000 < 0 THEN 1 ELSE 0 END)"
        return super().value(column, name)

    def unit_text(self, column: PhysicalColumn, unit: str) -> str:
        if column.family in (Family.MOMENT, Family.ZONED):
            # The earliest and latest times cannot be written as dates.
            return f"coalesce({self.as_text(self.microseconds(self.value(column, unit)))}, '')"
        return self.as_text(unit)

    def to_double(self, column: PhysicalColumn, name: str) -> str:
        decimal = _DECIMAL.fullmatch(column.type)
        if decimal and int(decimal[1]) > _EXACT_DIGITS:
            return f"CAST(CAST({name} AS VARCHAR) AS DOUBLE)"
        return super().to_double(column, name)
