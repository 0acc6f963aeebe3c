"""What a person says to `thresher init`: read from flags, or asked on a terminal. Nobody else can say it.

Reads: flags, standard input of a terminal, names of the catalogue. Writes: prompts to standard error. Never: rows.
"""

import csv
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TypeVar

import click

from thresher.amounts import Epsilon
from thresher.config import CatalogueColumn, DraftChoices, may_name_people
from thresher.errors import ArgumentError
from thresher.guarantee import noun_of

Tables = Mapping[str, Sequence[CatalogueColumn]]
_LIMITS = "Write the most groups, and the most rows in each: 10,3"
_FORMS = {
    "values": "Write ward=eye,stroke,surgery; quote a value that holds a comma: 'ward=\"eye, ear\",surgery'",
    "bounds": "Write age=0:110, price=0:100:0.01 with a step, or day=2024-01-01:2024-12-31",
}
_UNFIT_UNITS = ("floating-point", "something else", "double", "other")
_Answer = TypeVar("_Answer")
_ROWS, _COLUMN = "1", "2"
_MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags of `init` as they were typed."""

    budget: str | None
    unit: str | None
    limits: str | None
    rows_are_people: bool
    values: tuple[str, ...]
    bounds: tuple[str, ...]
    public_tables: tuple[str, ...]
    table_version: str | None


def choices_in(flags: Flags, tables: Tables, catalogue: Tables) -> DraftChoices:
    """Return what the flags say, or refuse a flag that names what the source does not have.

    tables    those that are drafted, whose columns the flags may name
    """
    if flags.unit is not None and flags.rows_are_people:
        fix = "Give one of the two"
        raise ArgumentError("unit, rows_are_people", flags.unit, "people are in a column, or each row is one", fix)
    if flags.limits is not None and flags.rows_are_people:
        rule = "where each row is a different person, everybody counts once"
        raise ArgumentError("limits, rows_are_people", flags.limits, rule, "Give one of the two")
    _known("public_table", flags.public_tables, catalogue, "table")
    if flags.unit is not None:
        _check_unit(flags.unit, tables)
    return DraftChoices(
        budget=None if flags.budget is None else _budget(flags.budget),
        unit=flags.unit,
        limits=None if flags.limits is None else _limits(flags.limits),
        rows_are_people=flags.rows_are_people,
        version=None if flags.table_version is None else _version(flags.table_version),
        values=_of_columns("values", flags.values, tables, _values),
        bounds=_of_columns("bounds", flags.bounds, tables, _bounds),
        public_tables=frozenset(flags.public_tables),
    )


def asked_for(choices: DraftChoices, tables: Tables) -> DraftChoices:
    """Ask on a terminal for what the flags leave out; without a terminal return the choices as they are."""
    if sys.stdin is None or not sys.stdin.isatty():
        return choices
    if choices.budget is None:
        question = "Budget, the most epsilon that all questions may ever cost. More reveals more."
        choices = replace(choices, budget=_prompt(question, "1", _budget))
    if choices.unit is None and not choices.rows_are_people:
        question = "Who is protected?  1  each row is a different person   2  a column names the person"
        answer = _prompt(question, _COLUMN, lambda typed: _who(typed, tables))
        if answer == _COLUMN:
            named = [f"{one.name}" for name, columns in tables.items() for one in columns if may_name_people(name, one)]
            hint = f" ({', '.join(dict.fromkeys(named[:_MOST_NAMED]))}?)" if named else ""
            answer = _prompt(f"Which column?{hint}", None, lambda typed: _check_unit(typed, tables))
        rows = answer == _ROWS
        choices = replace(choices, rows_are_people=rows, unit=None if rows else answer)
    if choices.unit is not None and choices.limits is None:
        question = f"In how many groups may one {noun_of(choices.unit)} count, and with how many rows in each?"
        choices = replace(choices, limits=_prompt(question, "10,3", _limits))
    return choices


def _prompt(question: str, default: str | None, read: Callable[[str], _Answer]) -> _Answer:
    """Ask until the answer can be read."""
    while True:
        typed = click.prompt(question, default=default, err=True, type=str)
        try:
            return read(typed.strip())
        except ArgumentError as error:
            click.echo(f"  {error.rule}. {error.fix}.", err=True)


def _who(typed: str, tables: Tables) -> str:
    return typed if typed in (_ROWS, _COLUMN) else _check_unit(typed, tables)


def _check_unit(unit: str, tables: Tables) -> str:
    """Return the column of people, or refuse a column that is missing or whose values cannot tell people apart."""
    columns = [column for listed in tables.values() for column in listed]
    _known("unit", (unit,), [column.name for column in columns], "column")
    column = next(column for column in columns if column.name == unit)
    if str(getattr(column.family, "value", column.family)).startswith(_UNFIT_UNITS):
        rule = f"the column is {column.type}, and equal values of this type have several forms"
        raise ArgumentError("unit", unit, rule, "Name a column of whole numbers or text")
    return unit


def _budget(text: str) -> Epsilon:
    amount = Epsilon(text)
    if not amount:
        raise ArgumentError("budget", text, "it must be above zero", "Write an epsilon such as 1")
    return amount


def _limits(text: str) -> tuple[int, int]:
    parts = [part.strip() for part in text.split(",")]
    wholes = [int(part) for part in parts if part.isascii() and part.isdigit()]
    if len(parts) != 2 or len(wholes) != 2 or not all(1 <= limit <= 1_000_000 for limit in wholes):
        raise ArgumentError("limits", text, "it must be two whole numbers from 1 to 1,000,000", _LIMITS)
    return wholes[0], wholes[1]


def _version(text: str) -> str:
    if not 1 <= len(text) <= 200 or not text.isprintable():
        rule = "it must be a text of 1 to 200 characters"
        raise ArgumentError("table_version", text, rule, "Write --table-version 1")
    return text


def _of_columns(
    field: str, typed: Sequence[str], tables: Tables, read: Callable[[str, str], tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Return COLUMN=... flags by column. A column is named alone, or as TABLE.COLUMN."""
    names = [column.name for columns in tables.values() for column in columns]
    names += [f"{table}.{column.name}" for table, columns in tables.items() for column in columns]
    found: dict[str, tuple[str, ...]] = {}
    for text in typed:
        column, equals, rest = text.partition("=")
        if not equals or column in found:
            rule = "it must be COLUMN=..., each column once"
            raise ArgumentError(field, text, rule, _FORMS[field])
        _known(field, (column,), names, "column")
        found[column] = read(text, rest)
    return found


def _values(text: str, written: str) -> tuple[str, ...]:
    rows = list(csv.reader([written], skipinitialspace=True, strict=False))
    values = tuple(value.strip() for value in rows[0]) if len(rows) == 1 else ()
    if not all(values) or not values:
        raise ArgumentError("values", text, "it must list values, none of them empty", _FORMS["values"])
    return values


def _bounds(text: str, written: str) -> tuple[str, ...]:
    parts = tuple(part.strip() for part in written.split(":"))
    if len(parts) not in (2, 3) or not all(parts):
        raise ArgumentError("bounds", text, "it must be two ends, and perhaps a step", _FORMS["bounds"])
    return parts


def _known(field: str, names: Sequence[str], known: Sequence[str] | Tables, what: str) -> None:
    """Refuse a name that the source does not have, with the nearest one."""
    for name in names:
        if name not in known:
            near = get_close_matches(name, list(known), n=1)
            has = ", ".join(list(known)[:_MOST_NAMED])
            fix = f"Did you mean {near[0]}?" if near else f"It has: {has}"
            raise ArgumentError(field, name, f"the source has no such {what}", fix.removesuffix("."))
