"""The SQL that the databases share. The dialect of each database overrides only its differences.

Reads: nothing. Writes: SQL text. Never: a user's text without quotes.
"""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time

from thresher.config import Code
from thresher.errors import BugError
from thresher.sources.protocol import Family, PhysicalColumn

# No day before this one can be declared, so whole divisions never meet a negative number.
HOURS_BEFORE_1970 = 17_259_888
_MICROSECONDS_BEFORE_1970 = HOURS_BEFORE_1970 * 3_600_000_000
_LAST_MOMENT = time(23, 59, 59, 999_999)
_NUMBER = "[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,4})?"
_WHOLE = "[+-]?[0-9]{1,19}"
_MOMENT = "[0-9]{4}-[0-9]{2}-[0-9]{2}([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?Z?)?"


Arrays = tuple[Sequence[Code], ...]


class Dialect:
    """The SQL that the sources share."""

    integer = "INTEGER"
    big = "BIGINT"
    double_type = "DOUBLE"
    text_type = "VARCHAR"
    moment_type = "TIMESTAMP"
    gives_empty_groups = True
    # Whether a condition anywhere in a statement may search a list that is passed as an array.
    takes_long_lists = True

    # Names and constants.

    def identifier(self, name: str) -> str:
        if "\0" in name:
            raise BugError("a name with a NUL reached the source")
        return '"' + name.replace('"', '""') + '"'

    def relation(self, *parts: str) -> str:
        return ".".join(self.identifier(part) for part in parts)

    def text(self, value: str) -> str:
        if "\0" in value:
            raise BugError("a text with a NUL reached the source")
        return "'" + value.replace("'", "''") + "'"

    def constant(self, code: Code) -> str:
        return self.text(code) if isinstance(code, str) else str(int(code))

    def double(self, value: float) -> str:
        """Return a double constant, cast from text because a decimal constant may be rounded twice."""
        return f"CAST({self.text(repr(float(value)))} AS {self.double_type})"

    def day(self, day: date) -> str:
        return f"DATE '{day.isoformat()}'"

    def first_moment(self, day: date, hour: int, family: Family) -> str:
        return self._moment(datetime.combine(day, time(hour)), family)

    def last_moment(self, day: date, hour: int, family: Family) -> str:
        return self._moment(datetime.combine(day, _LAST_MOMENT.replace(hour=hour)), family)

    def _moment(self, moment: datetime, family: Family) -> str:
        text = moment.isoformat(sep=" ", timespec="microseconds")
        return f"TIMESTAMPTZ '{text}+00'" if family is Family.ZONED else f"TIMESTAMP '{text}'"

    # Values: no value of a row can make these expressions fail.

    def value(self, column: PhysicalColumn, name: str) -> str:
        """Return the column called `name` in the simplest type of its family."""
        return self.raw_text(name) if column.family in (Family.TEXT, Family.WRITTEN) else name

    def raw_text(self, expression: str) -> str:
        """Return text that compares byte by byte, whatever the collation."""
        return f'CAST({expression} AS {self.text_type}) COLLATE "C"'

    def to_double(self, column: PhysicalColumn, name: str) -> str:
        """Return numbers as doubles, correctly rounded."""
        if column.family is Family.WRITTEN:
            return self.written_number(name)
        if column.family is Family.DOUBLE:
            return self.value(column, name)
        return f"CAST({name} AS {self.double_type})"

    def matches(self, name: str, pattern: str) -> str:
        """Return whether the whole text has this form. Only forms that all databases read alike are cast."""
        return f"regexp_full_match({name}, {self.text(pattern)})"

    def written_number(self, name: str) -> str:
        return f"CASE WHEN {self.matches(name, _NUMBER)} THEN TRY_CAST({name} AS {self.double_type}) END"

    def written_whole(self, name: str) -> str:
        return f"CASE WHEN {self.matches(name, _WHOLE)} THEN TRY_CAST({name} AS {self.big}) END"

    def written_moment(self, name: str) -> str:
        plain = f"trim(TRAILING 'Z' FROM {name})"
        return f"CASE WHEN {self.matches(name, _MOMENT)} THEN TRY_CAST({plain} AS {self.moment_type}) END"

    def whole_decimal(self, column: PhysicalColumn, value: str) -> str:
        """Return a decimal as a whole number if it has no fraction: the cast there and back changes nothing."""
        whole = f"TRY_CAST({value} AS {self.big})"
        return f"CASE WHEN TRY_CAST({whole} AS {column.type}) = {value} THEN {whole} END"

    def day_code(self, value: str, family: Family) -> str:
        if family is Family.DATE:
            return f"CAST({value} - DATE '1970-01-01' AS {self.integer})"
        return self._steps_since_1970(value, 24)

    def hour_code(self, value: str, family: Family) -> str:
        return f"24 * {self.day_code(value, family)}" if family is Family.DATE else self._steps_since_1970(value, 1)

    def _steps_since_1970(self, value: str, hours: int) -> str:
        moved = f"({self.microseconds(value)} + {_MICROSECONDS_BEFORE_1970})"
        whole = self.whole_division(moved, hours * 3_600_000_000)
        return f"CAST({whole} - {HOURS_BEFORE_1970 // hours} AS {self.integer})"

    def microseconds(self, value: str) -> str:
        return f"epoch_us({value})"

    def whole_division(self, value: str, by: int) -> str:
        return f"({value} // {by})"

    # Aggregates. A row counts in them only if the condition is true, not if it is unknown.

    def count(self, condition: str | None) -> str:
        # DuckDB's count_if gives NULL if there are no rows.
        return "count(*)" if condition is None else f"CAST(coalesce(count_if({condition}), 0) AS BIGINT)"

    def distinct(self, expression: str, condition: str | None) -> str:
        chosen = expression if condition is None else f"CASE WHEN {condition} THEN {expression} END"
        return f"count(DISTINCT {chosen})"

    def total(self, code: str, condition: str | None, *, wide: bool) -> str:
        """Return a sum of whole numbers, as text if it may be wider than 64 bits."""
        chosen = code if condition is None else f"CASE WHEN {condition} THEN {code} END"
        return f"CAST(coalesce(sum({chosen}), 0) AS {self.text_type if wide else self.big})"

    # Relations that are made of parameters.

    def keys(self, types: Sequence[str], arrays: Arrays, first: int) -> tuple[str, Arrays]:
        """Return the declared groups as a relation (i, k0, k1, …), and its array parameters, numbered from `first`."""
        columns = ", ".join(
            f"{self._brought(f'unnest(CAST(${first + n} AS {kind}[]))', kind)} AS k{n}" for n, kind in enumerate(types)
        )
        return f"(SELECT unnest(range(len(${first}))) AS i, {columns})", arrays

    def _brought(self, expression: str, kind: str) -> str:
        return self.raw_text(expression) if kind == self.text_type else expression

    def joined(self, shown: str, keys: str, grouped: str, same: str) -> str:
        """Return the declared groups (d) with the aggregates of the grouped rows (g)."""
        return f"SELECT {shown} FROM {keys} d LEFT JOIN ({grouped}) g ON {same}"

    def same_text(self, left: str, right: str) -> str:
        return f"{left} = {right}"

    def in_array(self, code: str, kind: str, parameter: int) -> str:
        return f"{code} IN (SELECT {self._brought(f'unnest(CAST(${parameter} AS {kind}[]))', kind)})"

    # The order in which a unit's rows are chosen.

    def octets(self, text: str) -> str:
        return f"strlen({text})"

    def as_text(self, code: str) -> str:
        return f"CAST({code} AS {self.text_type})"

    def unit_text(self, column: PhysicalColumn, unit: str) -> str:  # noqa: ARG002 - for the databases that need it
        """Return a unit of the chosen rows as text, for a digest."""
        return self.as_text(unit)

    def decimal_text(self, name: str) -> str:
        """Return a decimal as text, the same for equal numbers: here a column has a fixed number of places."""
        return self.as_text(name)

    def digest(self, parts: Iterable[str]) -> str:
        return f"md5({' || '.join(parts)})"
