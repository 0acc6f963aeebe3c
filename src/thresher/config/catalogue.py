"""What a database says about its tables without being asked for a row: names, types and unique keys.

Reads: nothing. Writes: nothing. Never: values, counts or ranges of the data.
"""

from enum import Enum
from typing import Literal, Protocol, get_args

# "written": a column of a file without types, such as CSV.
Family = Literal["integer", "decimal", "double", "text", "written", "truth", "date", "timestamp", "other"]
_OTHER_WORDS: dict[str, Family] = {"moment": "timestamp", "zoned": "timestamp"}


class CatalogueColumn(Protocol):
    """A column of the source: its type as the source writes it, and which family of types that is."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> str: ...

    @property
    def family(self) -> str: ...

    @property
    def is_unique_key(self) -> bool: ...


def family_of(column: CatalogueColumn) -> Family:
    """The family of a column's type, said in our words or by the member of an enumeration; else "other"."""
    said = column.family.name.lower() if isinstance(column.family, Enum) else column.family
    known: dict[str, Family] = {family: family for family in get_args(Family)}
    return (known | _OTHER_WORDS).get(said, "other")
