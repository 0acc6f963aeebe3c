"""A question: which declared groups of a table satisfy a formula. What the SQL room hands to the planners.

Reads: nothing. Writes: nothing. Never: a value that came from the protected data.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from thresher.config import Code, Column, Kind, Label, Listed, Numbered, Referenced, Table
from thresher.errors import DeclarationError
from thresher.question.conditions import Condition
from thresher.question.formula import Atom, Formula, atoms_of

# A public value: exact numbers, text, or nothing.
PublicValue = Fraction | str | bool | None


@dataclass(frozen=True, slots=True)
class PublicTable:
    """A public table, read whole: for every column its values, row by row."""

    name: str
    columns: Mapping[str, tuple[PublicValue, ...]]

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values()), ()))


@dataclass(frozen=True, slots=True)
class Question:
    """Which groups of `table`, of the rows in `where`, satisfy `formula`.

    `keys` are the columns grouped by and `groups` their public codes, in declared order; what can be told of a group
    from the question alone (WHERE on keys and on public tables) was told already, so groups that no row can be in are
    left out. `formula` is True or False if it holds always or never, whatever the data. `text` is the question in one
    normal form: two texts that ask the same way have the same one. `options` were written in the text.
    """

    table: Table
    keys: tuple[Column, ...]
    groups: tuple[tuple[Code, ...], ...]
    where: Condition
    formula: Formula | bool
    text: str
    options: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    # False if the sum of the only atom is asked for, and not whether it reaches its threshold.
    decides: bool = True
    # The distinct conditions, in the order of the normal form; none if the formula is constant.
    atoms: tuple[Atom, ...] = field(init=False)

    def __post_init__(self) -> None:
        atoms = () if isinstance(self.formula, bool) else tuple(dict.fromkeys(atoms_of(self.formula)))
        object.__setattr__(self, "atoms", atoms)

    def labels(self) -> list[tuple[Label, ...]]:
        """The groups as people know them."""
        kinds = [column.kind for column in self.keys]
        return [tuple(kind.label(code) for kind, code in zip(kinds, group, strict=True)) for group in self.groups]


def with_public_values(table: Table, public: Mapping[str, PublicTable]) -> Table:
    """The table with every column that refers to a public table turned into a list of that table's values."""
    columns = {name: replace(column, kind=_listed(table, column, public)) for name, column in table.columns.items()}
    return replace(table, columns=columns)


def _listed(table: Table, column: Column, public: Mapping[str, PublicTable]) -> Kind:
    if not isinstance(column.kind, Referenced):
        return column.kind
    kind, place = column.kind, f"tables.{table.name}.columns.{column.name}"
    found = public[kind.table].columns.get(kind.column)
    if found is None:
        raise DeclarationError(place, f"the public table {kind.table} has no column {kind.column}")
    if len(set(found)) != len(found) or not found:
        raise DeclarationError(place, f"{kind.table}.{kind.column} must hold every value once, and one at least")
    if all(isinstance(value, str) for value in found):
        return Listed(tuple(str(value) for value in found))
    if all(isinstance(value, Fraction) and value.denominator == 1 for value in found):
        return Numbered(tuple(int(value) for value in found if isinstance(value, Fraction)))
    raise DeclarationError(place, f"{kind.table}.{kind.column} must hold text only, or whole numbers only, and no NULL")
