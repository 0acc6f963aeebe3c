"""Facts that people wrote into a catalogue: types, lists, bounds and references; and which tables to draft by them.

Reads: nothing. Writes: nothing. Never: facts that a program made from rows, such as labels of a DuckDB ENUM,
dictionaries of Arrow and pandas, or statistics.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from typing import Protocol

Bound = Fraction | date


class CatalogueColumn(Protocol):
    """A column of the source: its name, its type as the source writes it, and the family of that type."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> str: ...

    @property
    def family(self) -> str: ...

    @property
    def is_unique_key(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What the catalogue says about a column besides its type.

    `values`: labels of a type, or a list in a CHECK. `refers_to`: the table and column of a foreign key.
    """

    values: tuple[str | int, ...] = ()
    lowest: Bound | None = None
    highest: Bound | None = None
    refers_to: tuple[str, str] | None = None

    def joined(self, other: "ColumnFacts") -> "ColumnFacts":
        """Return the facts of both: the narrower bounds, and values that both list."""
        values = self.values or other.values
        if self.values and other.values:
            values = tuple(value for value in self.values if value in other.values)
        return ColumnFacts(
            values,
            _narrower(self.lowest, other.lowest, most=True),
            _narrower(self.highest, other.highest, most=False),
            self.refers_to or other.refers_to,
        )


@dataclass(frozen=True, slots=True)
class RelationFacts:
    """What the catalogue says about a relation. `is_derived`: a view or a partition, whose rows `bases` hold."""

    bases: tuple[str, ...] = ()
    is_derived: bool = False
    columns: Mapping[str, ColumnFacts] = field(default_factory=dict)


def with_fact(columns: Mapping[str, ColumnFacts], name: str, fact: ColumnFacts) -> dict[str, ColumnFacts]:
    """Return the facts of a relation's columns with one more."""
    return {**columns, name: columns.get(name, ColumnFacts()).joined(fact)}


def derived_relations(facts: Mapping[str, RelationFacts]) -> frozenset[str]:
    """Return the relations whose rows another relation of the catalogue holds: those would have a second budget.

    A view or a partition counts as derived if one of its bases is drafted already, be it as another view.
    """
    taken: set[str] = set()
    derived = set()
    for name in sorted(facts, key=lambda name: (facts[name].is_derived, name)):
        if facts[name].is_derived and taken.intersection(facts[name].bases):
            derived.add(name)
        taken.update(facts[name].bases)
    return frozenset(derived)


def lookup_tables(facts: Mapping[str, RelationFacts], unit: str | None) -> dict[str, tuple[str, ...]]:
    """Return the tables that others refer to by a foreign key, with the columns that refer to them.

    A table of people is not a lookup table: the column `unit` refers to it. Nor is a table that refers to others.
    """
    found: dict[str, list[str]] = {}
    people = set()
    for name, relation in facts.items():
        for column, fact in relation.columns.items():
            if fact.refers_to is not None and fact.refers_to[0] != name:
                found.setdefault(fact.refers_to[0], []).append(f"{name}.{column}")
                if unit is not None and column == unit:
                    people.add(fact.refers_to[0])
    refers = {name for name, one in facts.items() if any(fact.refers_to for fact in one.columns.values())}
    return {name: tuple(by) for name, by in found.items() if name not in people | refers}


def unit_of(table: str, columns: Sequence[str], facts: Mapping[str, RelationFacts], unit: str) -> str | None:
    """Return the column of a table that holds the people: `unit` itself, or the column that `unit` refers to."""
    if unit in columns:
        return unit
    references = (relation.columns.get(unit) for relation in facts.values())
    named = (fact.refers_to[1] for fact in references if fact and fact.refers_to and fact.refers_to[0] == table)
    return next((column for column in named if column in columns), None)


def in_whole_numbers(facts: ColumnFacts) -> ColumnFacts:
    """Return the facts with bounds rounded inwards, as a column of whole numbers has them."""
    lowest, highest = facts.lowest, facts.highest
    return replace(
        facts,
        lowest=Fraction(-(-lowest.numerator // lowest.denominator)) if isinstance(lowest, Fraction) else None,
        highest=Fraction(highest.numerator // highest.denominator) if isinstance(highest, Fraction) else None,
    )


def _narrower(one: Bound | None, other: Bound | None, *, most: bool) -> Bound | None:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return max(one, other) if most else min(one, other)
    if isinstance(one, date) and isinstance(other, date):
        return max(one, other) if most else min(one, other)
    return one if other is None else other if one is None else one
