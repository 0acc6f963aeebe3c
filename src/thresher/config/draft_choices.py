"""What only a person can say about a first `thresher.toml`: budget, people, limits, and lists and bounds of columns.

Reads: nothing. Writes: nothing. Never: a default for what a person must say.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from thresher.amounts import Epsilon

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class DraftChoices:
    """The answers of a person. What is None is left as a blank.

    `unit`: the column of people; `rows_are_people`: each row is a different person, in its place. `limits`: in how many
    groups one person counts, and with how many rows in each. `values` and `bounds` belong to columns, named COLUMN or
    TABLE.COLUMN.
    """

    budget: Epsilon | None = None
    unit: str | None = None
    limits: tuple[int, int] | None = None
    rows_are_people: bool = False
    version: str | None = None
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bounds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    public_tables: frozenset[str] = frozenset()

    def values_of(self, table: str, column: str) -> tuple[str, ...]:
        """Return the values that were chosen for a column, if any."""
        return self.values.get(f"{table}.{column}", self.values.get(column, ()))

    def bounds_of(self, table: str, column: str) -> tuple[str, ...]:
        """Return the bounds that were chosen for a column, if any: two ends, and perhaps a step."""
        return self.bounds.get(f"{table}.{column}", self.bounds.get(column, ()))


def key_in_toml(name: str) -> str:
    """Return a name as a key of TOML, in quotes where it needs them."""
    return name if _BARE_KEY.fullmatch(name) else text_in_toml(name)


def text_in_toml(text: str) -> str:
    """Return a basic string of TOML. Characters that may not stand in one are escaped."""
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"
