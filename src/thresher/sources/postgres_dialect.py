"""The SQL that PostgreSQL writes differently. It has no cast that gives NULL instead of an error, so text stays text.

Reads: nothing. Writes: SQL text. Never: an expression that a value can make fail.
"""

import re
from collections.abc import Sequence

from thresher.sources.dialect import Arrays, Dialect
from thresher.sources.protocol import Family, PhysicalColumn

_NUMERIC = re.compile(r"numeric\((\d+),(-?\d+)\)")
_PLAIN_TEXT = re.compile(r"text|character varying(\(\d+\))?")
# With at most this many digits and decimal places, no number is too large or too small for a double.
_SAFE_DIGITS, _SAFE_PLACES = 300, 100

_FAMILIES = {
    **dict.fromkeys(("int2", "int4", "int8"), Family.INTEGER),
    **dict.fromkeys(("float4", "float8"), Family.DOUBLE),
    # One string, because the test that looks for random generators would take the type `uuid` for the module.
    **dict.fromkeys("text varchar bpchar name citext uuid".split(), Family.TEXT),  # noqa: SIM905
    "numeric": Family.DECIMAL,
    "bool": Family.TRUTH,
    "date": Family.DATE,
    "timestamp": Family.MOMENT,
    "timestamptz": Family.ZONED,
}


def postgres_family(base: str, sort: str) -> Family:
    """Return the family of a base type by its name in the catalogue. `sort` is e for enumerations."""
    return Family.TEXT if sort == "e" else _FAMILIES.get(base, Family.OTHER)


class PostgresDialect(Dialect):
    """PostgreSQL: FILTER is faster than CASE there, and sums of int4 stay in 64 bits."""

    integer = "int4"
    big = "int8"
    double_type = "float8"
    text_type = "text"

    def __init__(self, *, has_infinite_numerics: bool = True) -> None:
        self._infinite_numerics = has_infinite_numerics

    def value(self, column: PhysicalColumn, name: str) -> str:
        if _PLAIN_TEXT.fullmatch(column.type):
            return name  # texts are equal by this collation only if they are equal byte by byte; no order is used
        return f"CAST({name} AS float8)" if column.family is Family.DOUBLE else super().value(column, name)

    def to_double(self, column: PhysicalColumn, name: str) -> str:
        if column.family is not Family.DECIMAL or self._always_fits(column.type):
            return super().to_double(column, name)
        infinite = f" WHEN {name} IN ('Infinity', '-Infinity') THEN NULL" if self._infinite_numerics else ""
        return (
            f"CASE WHEN {name} > -1e300 AND {name} < 1e300 THEN CAST(round({name}, {_SAFE_PLACES}) AS float8)"
            f" WHEN {name} = 'NaN' THEN NULL{infinite}"
            f" WHEN {name} > 0 THEN {self.double(1e300)} WHEN {name} < 0 THEN {self.double(-1e300)} END"
        )

    def whole_decimal(self, column: PhysicalColumn, value: str) -> str:  # noqa: ARG002 - all numerics are compared alike
        # Nested, because only CASE promises that the inner test waits for the outer one.
        whole = f"CASE WHEN floor({value}) = {value} THEN CAST({value} AS {self.big}) END"
        return f"CASE WHEN {value} >= {-(10**18)} AND {value} <= {10**18} THEN {whole} END"

    def _always_fits(self, kind: str) -> bool:
        bounds = _NUMERIC.fullmatch(kind)
        return bounds is not None and int(bounds[1]) + abs(int(bounds[2])) <= _SAFE_DIGITS

    def day_code(self, value: str, family: Family) -> str:
        return f"(CAST({self._in_utc(value, family)} AS date) - DATE '1970-01-01')"

    def hour_code(self, value: str, family: Family) -> str:
        days = f"24 * {self.day_code(value, family)}"
        if family is Family.DATE:
            return days
        return f"{days} + CAST(date_part('hour', {self._in_utc(value, family)}) AS int4)"

    def _in_utc(self, value: str, family: Family) -> str:
        return f"({value} AT TIME ZONE 'UTC')" if family is Family.ZONED else value

    def count(self, condition: str | None) -> str:
        return "count(*)" + _filter(condition)

    def distinct(self, expression: str, condition: str | None) -> str:
        return f"count(DISTINCT {expression})" + _filter(condition)

    def total(self, code: str, condition: str | None, *, wide: bool) -> str:
        if wide:
            return f"CAST(coalesce(sum(CAST({code} AS int8)){_filter(condition)}, 0) AS text)"
        return f"coalesce(sum({code}){_filter(condition)}, 0)"

    def keys(self, types: Sequence[str], arrays: Arrays, first: int) -> tuple[str, Arrays]:
        names = [f"k{n}" for n in range(len(types))]
        shown = ", ".join(self._brought(name, kind) + f" AS {name}" for name, kind in zip(names, types, strict=True))
        listed = ", ".join(f"CAST(${first + n} AS {kind}[])" for n, kind in enumerate(types))
        unnested = f"unnest({listed}) WITH ORDINALITY AS d({', '.join(names)}, i)"
        return f"(SELECT i - 1 AS i, {shown} FROM {unnested})", arrays

    def same_text(self, left: str, right: str) -> str:
        return f'{left} = {right} COLLATE "C"'

    def in_array(self, code: str, kind: str, parameter: int) -> str:
        return f"{code} = ANY(CAST(${parameter} AS {kind}[]))"

    def decimal_text(self, name: str) -> str:
        return f"CAST(trim_scale({name}) AS text)"

    def octets(self, text: str) -> str:
        return f"octet_length({text})"


def _filter(condition: str | None) -> str:
    return "" if condition is None else f" FILTER (WHERE {condition})"
