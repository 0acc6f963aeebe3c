"""What a database says about its tables without being asked for a row: names, types and unique keys.

Reads: nothing. Writes: nothing. Never: values, counts or ranges of the data.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

Family = Literal["integer", "decimal", "double", "text", "truth", "date", "timestamp", "other"]


@dataclass(frozen=True, slots=True)
class CatalogueColumn:
    """A column of the source: its type as the source writes it, and which family of types that is."""

    name: str
    type: str
    family: str
    is_unique_key: bool = False


class CatalogueColumnLike(Protocol):
    """Anything that tells the same of a column."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> str: ...

    @property
    def family(self) -> str: ...

    @property
    def is_unique_key(self) -> bool: ...
