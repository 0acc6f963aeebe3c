"""The SQL that Spark writes differently. Its string constants use backslashes; array parameters are passed as JSON.

Reads: nothing. Writes: SQL text. Never: an expression that a value can make fail.
"""

from collections.abc import Sequence
from datetime import datetime

from thresher.errors import BugError
from thresher.sources.dialect import Arrays, Dialect
from thresher.sources.protocol import Family, PhysicalColumn

# Up to this many groups are constants in the statement, which saves Spark a job; more would take long to parse.
_FEW_GROUPS = 1000
_FAMILIES = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), Family.INTEGER),
    **dict.fromkeys(("float", "double"), Family.DOUBLE),
    "boolean": Family.TRUTH,
    "date": Family.DATE,
    "timestamp": Family.ZONED,
    "timestamp_ntz": Family.MOMENT,
}


def spark_family(kind: str) -> Family:
    """Return the family of a type as Spark writes it."""
    if kind.startswith(("string", "char(", "varchar(")):
        return Family.TEXT
    return Family.DECIMAL if kind.startswith("decimal(") else _FAMILIES.get(kind, Family.OTHER)


class SparkDialect(Dialect):
    """Spark: groups are joined by a broadcast, and empty groups are filled in afterwards."""

    integer = "INT"
    text_type = "STRING"
    moment_type = "TIMESTAMP_NTZ"
    gives_empty_groups = False
    takes_long_lists = False

    def identifier(self, name: str) -> str:
        if "\0" in name:
            raise BugError("a name with a NUL reached the source")
        return "`" + name.replace("`", "``") + "`"

    def text(self, value: str) -> str:
        if "\0" in value:
            raise BugError("a text with a NUL reached the source")
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def _moment(self, moment: datetime, family: Family) -> str:
        text = moment.isoformat(sep=" ", timespec="microseconds")
        return f"TIMESTAMP_LTZ '{text}+00:00'" if family is Family.ZONED else f"TIMESTAMP_NTZ '{text}'"

    def value(self, column: PhysicalColumn, name: str) -> str:
        if column.type == "string":
            return name
        return f"CAST({name} AS DOUBLE)" if column.type == "float" else super().value(column, name)

    def raw_text(self, expression: str) -> str:
        return f"collate(CAST({expression} AS STRING), 'UTF8_BINARY')"

    def matches(self, name: str, pattern: str) -> str:
        whole = rf"\A(?:{pattern})\z"
        return f"{name} RLIKE {self.text(whole)}"

    def day_code(self, value: str, family: Family) -> str:
        return f"unix_date({value})" if family is Family.DATE else super().day_code(value, family)

    def microseconds(self, value: str) -> str:
        return f"unix_micros(CAST({value} AS TIMESTAMP))"

    def whole_division(self, value: str, by: int) -> str:
        return f"({value} div {by})"

    def count(self, condition: str | None) -> str:
        return "count(*)" if condition is None else f"count_if({condition})"

    def total(self, code: str, condition: str | None, *, wide: bool) -> str:
        return super().total(f"CAST({code} AS DECIMAL(19, 0))" if wide else code, condition, wide=wide)

    def keys(self, types: Sequence[str], arrays: Arrays, first: int) -> tuple[str, Arrays]:
        if len(arrays[0]) <= _FEW_GROUPS:
            groups = (", ".join(map(self.constant, group)) for group in zip(*arrays, strict=True))
            rows = ", ".join(f"({i}, {group})" for i, group in enumerate(groups))
            return f"(SELECT * FROM VALUES {rows} AS d(i, {', '.join(f'k{n}' for n in range(len(types)))}))", ()
        listed = ", ".join(self._array(kind, first + n) for n, kind in enumerate(types))
        shown = ", ".join(f"z.`{n}` AS k{n}" for n in range(len(types)))
        return f"(SELECT i, {shown} FROM (SELECT posexplode(arrays_zip({listed})) AS (i, z)))", arrays

    def joined(self, shown: str, keys: str, grouped: str, same: str) -> str:
        return f"SELECT /*+ BROADCAST(d) */ {shown} FROM ({grouped}) g JOIN {keys} d ON {same}"

    def in_array(self, code: str, kind: str, parameter: int) -> str:
        return f"{code} IN (SELECT explode({self._array(kind, parameter)}))"

    def _array(self, kind: str, parameter: int) -> str:
        return f"from_json(:p{parameter}, 'array<{kind.lower()}>')"

    def octets(self, text: str) -> str:
        return f"octet_length({text})"
