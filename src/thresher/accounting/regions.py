"""A region: the part of a table where a box of public conditions holds. Losses are kept by region.

A region restricts some declared columns and leaves every other column free, so two regions over different columns
always overlap: their common refinement has a cell inside both (Theorem 5 of the MIDE paper). Equal regions are equal
objects with equal hashes and equal JSON, so that a document about them can be hashed.
Reads: public conditions. Writes: nothing. Never: says "disjoint" unless some column proves it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from thresher.accounting.constants import Constant, checked_column
from thresher.accounting.documents import fields_of
from thresher.accounting.restrictions import (
    Restriction,
    Values,
    meet,
    restriction,
    restriction_from_json,
    restriction_to_json,
)
from thresher.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Region:
    """Rows whose columns satisfy every restriction; sorted by column, one restriction for a column."""

    restrictions: tuple[tuple[str, Restriction], ...] = ()

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.restrictions, key=lambda pair: pair[0]))
        names = [checked_column(name, "column") for name, _ in ordered]
        if len(set(names)) != len(names):
            raise ArgumentError("column", names, "a region restricts a column once", "Use Region.where to combine")
        object.__setattr__(self, "restrictions", ordered)

    @classmethod
    def everything(cls) -> "Region":
        """All rows."""
        return cls()

    @classmethod
    def where(cls, conditions: Iterable[tuple[str, str, object]]) -> "Region":
        """Rows that satisfy all conditions, such as `("age", ">=", 18)` or `("building", "in", ["A", "B"])`."""
        region = cls()
        for column, operator, value in conditions:
            smaller = region.within(cls(((column, restriction(operator, value)),)))
            if smaller is None:
                rule = "together with the conditions before it, it holds for no row"
                raise ArgumentError("conditions", (column, operator, value), rule, "Drop one of them")
            region = smaller
        return region

    @classmethod
    def at(cls, columns: tuple[str, ...], key: tuple[Constant, ...]) -> "Region":
        """One group: rows whose `columns` equal `key`."""
        return cls(tuple((column, Values((value,))) for column, value in zip(columns, key, strict=True)))

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.restrictions)

    @property
    def by_column(self) -> Mapping[str, Restriction]:
        return dict(self.restrictions)

    def within(self, other: "Region") -> "Region | None":
        """The region of rows in both, or None if there can be none.

        Where two restrictions cannot be compared, the result keeps this region's: it may be too large, never too small.
        """
        said = dict(self.restrictions)
        for column, theirs in other.restrictions:
            both = meet(said[column], theirs) if column in said else theirs
            if both is None:
                return None
            said[column] = both
        return Region(tuple(said.items()))

    def only(self, columns: Iterable[str]) -> "Region":
        """The smallest region around this one that restricts none but these columns."""
        kept = frozenset(columns)
        return Region(tuple((name, said) for name, said in self.restrictions if name in kept))

    def __str__(self) -> str:
        return " and ".join(f"{name} {said}" for name, said in self.restrictions) or "everything"

    def to_json(self) -> dict[str, object]:
        """An object from column to restriction, in one order."""
        return {name: restriction_to_json(said) for name, said in self.restrictions}

    @classmethod
    def from_json(cls, document: object) -> "Region":
        columns = document.keys() if isinstance(document, dict) else ()
        said = fields_of(document, "region", list(columns))
        return cls(tuple((name, restriction_from_json(value)) for name, value in said.items()))


def overlaps(first: Region, second: Region) -> bool:
    """False only if it is proved that no row can lie in both."""
    return first.within(second) is not None
