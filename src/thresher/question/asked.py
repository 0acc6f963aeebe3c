"""A question: which declared groups of a table satisfy a formula of conditions on aggregates.

Everything is in whole numbers. A condition such as `AVG(age) < 5` becomes `weights . aggregates >= at_least`: `<` by
weights of the other sign, strictness by adding one, fractions by a common denominator, AVG by its linear form
(`sum(x) - c count(x)`). So one sign decides, and NOT never appears.
Reads: nothing. Writes: nothing. Never: a value that came from the protected data.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from thresher.config import Code, Column, Kind, Label, Listed, Numbered, Referenced, Table
from thresher.errors import DeclarationError
from thresher.question.conditions import ALWAYS, Condition

# A public value: an exact number, text, true or false, or nothing.
PublicValue = Fraction | str | bool | None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One whole number for each group, over the rows that satisfy `where`.

    rows     how many rows there are                     COUNT(*)
    present  how many rows have a value in `column`      COUNT(x), and what AVG(x) divides by
    total    the sum of the codes of `column` (a grid)   SUM(x), in steps; NULL is left out
    units    how many privacy units have such a row      COUNT(DISTINCT unit)
    """

    measure: Literal["rows", "present", "total", "units"]
    column: str | None = None
    where: Condition = ALWAYS


@dataclass(frozen=True, slots=True)
class Atom:
    """A condition that holds in a group if the weighted sum of the aggregates is at least `at_least` there.

    `at_least` is one number, or one number for each group in the order of the question's groups. `aggregate` and `text`
    are what was written (`AVG(age)`, `AVG(age) < 5`). One unit of `aggregate` is `steps` of the weighted sum; for an
    average (`per_row`) it is that much for every row of the group. Two atoms are equal if they ask the same, however
    they are written.
    """

    weights: tuple[tuple[Aggregate, int], ...]
    at_least: int | tuple[int, ...]
    aggregate: str = field(compare=False)
    text: str = field(compare=False)
    steps: Fraction = field(compare=False)
    per_row: bool = field(compare=False, default=False)
    # False if the weights are those of the opposite of `aggregate`, as for `<`.
    upwards: bool = field(compare=False, default=True)
    # False for a condition that was added to mean the same as SQL, such as that an average needs rows: no width is
    # asked for it.
    written: bool = field(compare=False, default=True)


@dataclass(frozen=True, slots=True)
class Every:
    """Two or more parts joined by AND."""

    parts: tuple["Formula", ...]


@dataclass(frozen=True, slots=True)
class Some:
    """Two or more parts joined by OR."""

    parts: tuple["Formula", ...]


Formula = Atom | Every | Some


def atoms_of(formula: Formula) -> Iterator[Atom]:
    """Yield every atom as often as it is written, from left to right."""
    if isinstance(formula, Atom):
        yield formula
    else:
        for part in formula.parts:
            yield from atoms_of(part)


def negated(formula: Formula) -> Formula:
    """Return the formula that holds exactly where this one does not, conditions that were added for NULL included."""
    if isinstance(formula, Atom):
        weights = tuple((aggregate, -weight) for aggregate, weight in formula.weights)
        bound = formula.at_least
        at_least = tuple(1 - one for one in bound) if isinstance(bound, tuple) else 1 - bound
        return replace(formula, weights=weights, at_least=at_least, upwards=not formula.upwards)
    parts = tuple(negated(part) for part in formula.parts)
    return Some(parts) if isinstance(formula, Every) else Every(parts)


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
    """Hold a question: which groups of `table`, counting the rows in `where`, satisfy `formula`.

    `keys` are the columns grouped by and `groups` their public codes, in declared order. Groups that WHERE rules out by
    keys and public tables alone are left out. `formula` is True or False if it always or never holds, whatever the
    data. `text` is the question in a normal form: two texts that ask the same in the same way have the same normal
    form. `options` were written in the text.
    """

    table: Table
    keys: tuple[Column, ...]
    groups: tuple[tuple[Code, ...], ...]
    where: Condition
    formula: Formula | bool
    text: str
    options: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    # False if the sum of the only atom is asked for, instead of whether it reaches its threshold.
    decides: bool = True
    # The distinct conditions, in the order of the normal form; empty if the formula is constant.
    atoms: tuple[Atom, ...] = field(init=False)

    def __post_init__(self) -> None:
        atoms = () if isinstance(self.formula, bool) else tuple(dict.fromkeys(atoms_of(self.formula)))
        object.__setattr__(self, "atoms", atoms)

    def labels(self) -> list[tuple[Label, ...]]:
        """Return the groups by the labels that people know."""
        kinds = [column.kind for column in self.keys]
        return [tuple(kind.label(code) for kind, code in zip(kinds, group, strict=True)) for group in self.groups]


def with_public_values(table: Table, public: Mapping[str, PublicTable]) -> Table:
    """Return the table with every column that refers to a public table turned into a list of that table's values."""
    columns = {name: replace(column, kind=_listed(table, column, public)) for name, column in table.columns.items()}
    return replace(table, columns=columns)


def _listed(table: Table, column: Column, public: Mapping[str, PublicTable]) -> Kind:
    if not isinstance(column.kind, Referenced):
        return column.kind
    kind, place = column.kind, f"tables.{table.name}.columns.{column.name}"
    values = public[kind.table].columns.get(kind.column)
    if values is None:
        raise DeclarationError(place, f"the public table {kind.table} has no column {kind.column}")
    if len(set(values)) != len(values) or not values:
        rule = f"{kind.table}.{kind.column} must hold at least one value, and each value once"
        raise DeclarationError(place, rule)
    if all(isinstance(value, str) for value in values):
        return Listed(tuple(str(value) for value in values))
    if all(isinstance(value, Fraction) and value.denominator == 1 for value in values):
        return Numbered(tuple(int(value) for value in values if isinstance(value, Fraction)))
    raise DeclarationError(place, f"{kind.table}.{kind.column} must hold text only, or whole numbers only, and no NULL")
