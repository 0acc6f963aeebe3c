"""Budgets read from lines: `person, budget`, as a spreadsheet writes them.

A file is refused as a whole, with the numbers of its bad lines: to leave those people out would go unnoticed. Whoever
is listed twice has the lowest of their budgets; a missing budget is the declared default, or refused without one.
Reads: a file, or lines. Writes: nothing. Never: data.
"""

import csv
from collections.abc import Iterable, Iterator
from fractions import Fraction
from os import PathLike
from pathlib import Path

from thresher.amounts import MAX_NANO, NANO, Amount, exact_fraction
from thresher.errors import ArgumentError

_HEADER = ("person", "budget")
_SHOWN = 5


def budgets_in_lines(lines: str | PathLike[str] | Iterable[str], default: Amount | None) -> dict[str, Fraction]:
    """Who may lose what, in the order in which people are first named; a first line `person,budget` is a heading."""
    if isinstance(lines, str | PathLike):
        try:
            with Path(lines).open(encoding="utf-8-sig", newline="") as file:
                return budgets_in_lines(file, default)
        except (OSError, UnicodeDecodeError):
            rule = "it is no file of text in UTF-8 that can be read"
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
        raise ArgumentError("roster", "a line", "it is too long or broken to be read", "Check the quotes") from None


def _read(cells: tuple[str, ...], missing: Fraction | None) -> tuple[str, Fraction]:
    person, budget = (*cells, "", "")[:2]
    if not person or any(cells[2:]):
        raise ArgumentError("line", ",".join(cells), "a line has one person and one budget", "Check the commas")
    if budget:
        return person, _allowed(exact_fraction(budget, "budget"), "budget")
    if missing is None:
        raise ArgumentError("line", person, "the budget is missing, and no default is declared", "Declare a default")
    return person, missing


def _allowed(budget: Fraction, field: str) -> Fraction:
    if not 0 <= budget * NANO <= MAX_NANO:
        rule = "a budget is not negative and not above a million"
        raise ArgumentError(field, float(budget), rule, "Budgets are amounts of epsilon, 0 or more")
    return budget
