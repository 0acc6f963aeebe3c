"""List who might be counted, and what each of them allows to be lost: the roster, public and fixed beforehand.

Budgets are floored to whole nanos, or to a coarser grid, so that people fall into classes; nobody's budget is ever
rounded up. Plans are functions of the roster alone. A plan made of the people who are present would change for others
when somebody comes or goes, and no budget covers that. What holds, and why: `roster.md`.
Reads: budgets, also from a file; in `in_order`, private values by name. Writes: nothing. Never: a budget that depends
on data; who is present, in a message or a size.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import MAX_NANO, NANO, Amount, Epsilon, exact_fraction, whole_number
from thresher.errors import ArgumentError

_HEADER = ("person", "budget")
_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False)
class Roster:
    """People in a fixed order. `nano` are the levels that occur, ascending; `classes` the place of each person's level.

    `names`, if there are any, are all different and in the order of the people.
    """

    nano: NDArray[np.int64]
    classes: NDArray[np.int64]
    names: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        budgets: Sequence[Amount] | NDArray[np.float64],
        grid: Amount = Fraction(1, NANO),
        names: Sequence[str] = (),
    ) -> "Roster":
        """Return the roster of these budgets, one for each person, floored to whole multiples of `grid`.

        A budget of 0 is allowed: such a person is never read.
        """
        step = exact_fraction(grid, "grid") * NANO
        if step < 1 or step.denominator != 1:
            raise ArgumentError("grid", grid, "it must be a whole number of nano-epsilon, 1 or more", "Pass 0.001")
        given = budgets if isinstance(budgets, np.ndarray) else np.array(budgets, dtype=object)
        if not given.size:
            raise ArgumentError(
                "budgets", "nobody", "a roster needs at least one person", "List everybody who may come"
            )
        if names and (len(names) != given.size or len(set(names)) != len(names)):
            rule = "there must be one name for each budget, and no name twice"
            raise ArgumentError("names", f"{len(names)} names for {given.size} budgets", rule, "Name each person once")
        floored = (_floored_floats if given.dtype.kind == "f" else _floored)(given.ravel(), int(step))
        levels, classes = np.unique(floored, return_inverse=True)
        return cls(levels, classes.astype(np.int64), tuple(names))

    @classmethod
    def from_lines(
        cls,
        lines: str | PathLike[str] | Iterable[str],
        *,
        default: Amount | None = None,
        grid: Amount = Fraction(1, NANO),
    ) -> "Roster":
        """Read the roster from a file (by its path) or from lines `person,budget`, in the order of first mention.

        A person without a budget has the `default`; a person listed twice has the lower budget. A file with bad lines
        is refused with their line numbers, because otherwise nobody would notice that those people are left out.
        """
        budgets = _budgets_in_lines(lines, default)
        return cls.of(list(budgets.values()), grid, list(budgets))

    @property
    def people(self) -> int:
        return int(self.classes.size)

    @property
    def levels(self) -> tuple[Epsilon, ...]:
        return tuple(Epsilon.from_nano(nano) for nano in self.nano.tolist())

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Return how many people are in each class."""
        return np.bincount(self.classes, minlength=self.nano.size).astype(np.int64)

    def least_class(self, people: int) -> "Roster":
        """Return the same people with no class of fewer than `people`, except the class of budget 0.

        Levels only go down: from the top, a class that is too small takes the level below. Fewer than `people` are left
        at the bottom; they take 0 and are not read, so that nobody else's level goes down for them.
        """
        if (people := whole_number(people, "people")) < 1:
            raise ArgumentError("people", people, "a class needs at least one person", "Pass 1 or more")
        taken, top, carried = np.zeros_like(self.nano), self.nano.size, 0
        for place, size in reversed(list(enumerate(self.sizes.tolist()))):
            carried += size
            if carried >= people:
                taken[place:top], top, carried = self.nano[place], place, 0
        return self.allowing(taken)

    def allowing(self, nano: NDArray[np.int64]) -> "Roster":
        """Return the same people in the same order; those of each class allow what `nano` says of it."""
        levels, places = np.unique(nano, return_inverse=True)
        return Roster(levels, places.astype(np.int64)[self.classes], self.names)

    def in_order(self, people: ArrayLike, values: NDArray[Any]) -> NDArray[np.int64] | NDArray[np.bool_]:
        """Return the `values` of a table's `people` in the roster's order: whole numbers, or booleans.

        Somebody who is on the roster and not in the table has 0. Somebody who is in the table and not on the roster is
        left out without a trace, as is any second row of a person. Only shapes and types are ever refused; `values` is
        a numpy array, because the type of a list depends on the numbers in it.
        """
        if not self.names:
            raise ArgumentError(
                "people", "names", "this roster has no names", "Make the roster with names, or sort the values"
            )
        persons = np.asarray(people, dtype=object)
        if not isinstance(values, np.ndarray) or np.ma.isMaskedArray(values):
            raise ArgumentError("values", type(values).__name__, "it must be a plain numpy array", "Pass np.array(...)")
        if persons.ndim != 1 or values.shape != persons.shape:
            shapes = f"shapes {persons.shape} and {values.shape}"
            raise ArgumentError(
                "values", shapes, "there must be one value for each row", "Pass two lists of one length"
            )
        if values.dtype.kind not in "biu" or not np.can_cast(values.dtype, np.int64):
            rule = "it must hold whole steps (int64 or smaller) or booleans"
            raise ArgumentError("values", str(values.dtype), rule, "Round the values to a public grid first")
        places = {name: place for place, name in enumerate(self.names)}
        ordered: NDArray[np.int64] | NDArray[np.bool_]
        ordered = np.zeros(self.people, dtype=np.bool_ if values.dtype.kind == "b" else np.int64)
        # Backwards, so that of several rows of a person the first one stays.
        for row, person in zip(range(persons.size - 1, -1, -1), reversed(persons.tolist()), strict=True):
            if (name := _name(person)) is not None and (place := places.get(name)) is not None:
                ordered[place] = values[row]
        return ordered


def _name(person: object) -> str | None:
    """Return the name in a table's cell: a text, or a number of 63 bits. No value can make this fail."""
    if isinstance(person, int) and person.bit_length() < 64:
        return str(person)
    return person if isinstance(person, str) else None


def _floored(budgets: NDArray[Any], step: int) -> NDArray[np.int64]:
    exact = [exact_fraction(budget, "budgets") * NANO for budget in budgets.tolist()]
    for place, nano in enumerate(exact):
        if not 0 <= nano <= MAX_NANO:
            raise _no_budget(place, budgets[place])
    return np.array([nano // step * step for nano in exact], dtype=np.int64)


def _floored_floats(budgets: NDArray[Any], step: int) -> NDArray[np.int64]:
    """Floor many floats. A float means its shortest decimal, which matters only next to a whole step."""
    bad = np.flatnonzero(~((budgets >= 0) & (budgets * NANO <= MAX_NANO)))
    if bad.size:
        raise _no_budget(int(bad[0]), float(budgets[bad[0]]))
    distinct, places = np.unique(budgets.astype(np.float64), return_inverse=True)
    steps = distinct * (NANO / step)
    floored = np.floor(steps).astype(np.int64) * step
    unsure = np.flatnonzero(np.abs(steps - np.rint(steps)) <= steps * 2.0**-48)
    floored[unsure] = _floored(distinct[unsure], step)
    return floored[places]


def _no_budget(place: int, budget: object) -> ArgumentError:
    rule = f"the budget of person {place} is not a number from 0 to a million"
    return ArgumentError("budgets", budget, rule, "Budgets are amounts of epsilon, 0 or more")


def _budgets_in_lines(lines: str | PathLike[str] | Iterable[str], default: Amount | None) -> dict[str, Fraction]:
    """Return each person's budget, in the order of first mention; a first line `person,budget` is a heading."""
    if isinstance(lines, str | PathLike):
        try:
            with Path(lines).open(encoding="utf-8-sig", newline="") as file:
                return _budgets_in_lines(file, default)
        except (OSError, UnicodeDecodeError):
            rule = "it is not a UTF-8 text file that can be read"
            raise ArgumentError("roster", str(lines), rule, "Check its name and its encoding") from None
    missing = None if default is None else _allowed(exact_fraction(default, "default"), "default")
    budgets: dict[str, Fraction] = {}
    refused: list[str] = []
    reader = csv.reader(lines)
    for fields in _fields(reader):
        cells = tuple(field.strip() for field in fields)
        if not any(cells) or (not budgets and not refused and tuple(map(str.lower, cells)) == _HEADER):
            continue
        try:
            person, budget = _read(cells, missing)
        except ArgumentError as error:
            refused.append(f"line {reader.line_num}: {error.rule}")
        else:
            budgets[person] = min(budget, budgets.get(person, budget))
    if refused:
        shown = "; ".join(refused[:_SHOWN]) + (f"; and {len(refused) - _SHOWN} more" * (len(refused) > _SHOWN))
        raise ArgumentError("roster", f"{len(refused)} bad lines", shown, 'Write each line as "person,0.05"')
    return budgets


def _fields(reader: Iterable[list[str]]) -> Iterator[list[str]]:
    try:
        yield from reader
    except csv.Error:
        raise ArgumentError(
            "roster", "a line", "it is too long, or its quotes are broken", "Check the quotes"
        ) from None


def _read(cells: tuple[str, ...], missing: Fraction | None) -> tuple[str, Fraction]:
    person, budget = (*cells, "", "")[:2]
    if not person or any(cells[2:]):
        raise ArgumentError("line", ",".join(cells), "a line must have one person and one budget", "Check the commas")
    if budget:
        return person, _allowed(exact_fraction(budget, "budget"), "budget")
    if missing is None:
        raise ArgumentError("line", person, "the budget is missing, and there is no default", "Pass a default")
    return person, missing


def _allowed(budget: Fraction, field: str) -> Fraction:
    if not 0 <= budget * NANO <= MAX_NANO:
        rule = "a budget must lie between 0 and a million"
        raise ArgumentError(field, float(budget), rule, "Budgets are amounts of epsilon, 0 or more")
    return budget
