"""One column of `thresher.toml` as a kind of `columns.py`: which kind its fields declare, and the rules of each kind.

Reads: one section. Writes: nothing. Never: data; every rule is about the text of the file.
"""

import re
from collections.abc import Callable
from datetime import date, datetime
from fractions import Fraction

from thresher.config.columns import (
    Bands,
    Days,
    Grid,
    Hours,
    Kind,
    Listed,
    Numbered,
    Referenced,
    Text,
    Truth,
    decimal_text,
)
from thresher.config.sections import Section, as_written, did_you_mean, dotted, is_whole, plain

# The fields of every kind. Each kind also takes `fixed`.
KIND_FIELDS: dict[str, tuple[str, ...]] = {
    "values": ("values",),
    "public_table": ("public_table", "column"),
    "grid": ("min", "max", "step", "missing"),
    "dates": ("first", "last", "by"),
    "bands": ("bands_of", "edges"),
    "text": ("text",),
}
COLUMN_FIELDS: tuple[str, ...] = (*(field for fields in KIND_FIELDS.values() for field in fields), "fixed")
HOW_TO_DECLARE = 'Write e.g. { min = 0, max = 110 }, { values = ["a", "b"] } or { text = true }'

_HOW_TO_LIST = "List text in quotes only, or whole numbers only, or [true, false]"
# Every whole number up to here is exact as a double too.
_MOST_STEPS = 2**53
_WHOLE_LOWEST, _WHOLE_HIGHEST = -(2**63), 2**63 - 1
_MOST_EDGES = 1_000
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def kind_in(column: Section) -> Kind:
    """Return the kind that a column's fields declare."""
    column.only(*COLUMN_FIELDS)
    named = [kind for kind, fields in KIND_FIELDS.items() if any(field in column for field in fields)]
    if not named:
        raise column.refusal_here("no field says what the column may hold", HOW_TO_DECLARE)
    if len(named) > 1:
        first, second = (next(field for field in KIND_FIELDS[kind] if field in column) for kind in named[:2])
        rule = f"`{first}` and `{second}` declare two kinds of column, and a column has one kind"
        raise column.refusal(
            second, rule, f"Keep the fields of one kind: {_fields_of(named[0])}, or {_fields_of(named[1])}"
        )
    return _READERS[named[0]](column)


def check_bands(column: Section, bands: Bands, kinds: dict[str, Kind]) -> None:
    """Refuse bands whose edges do not lie on the grid of a column of the same table."""
    grid = kinds.get(bands.of)
    if grid is None:
        rule = f"no such column is declared in this table{did_you_mean(bands.of, kinds)}"
        raise column.refusal("bands_of", rule, "Declare it with min, max and step")
    if not isinstance(grid, Grid):
        raise column.refusal("bands_of", "bands are cut from a column with min and max", "Name such a column")
    for i, edge in enumerate(bands.edges):
        steps = edge / grid.step
        if steps.denominator != 1 or abs(steps) > _MOST_STEPS:
            rule = (
                f"edges are multiples of the step of {dotted((bands.of,))}, which is {plain(decimal_text(grid.step))}"
            )
            raise column.refusal("edges", rule, "Move the edge onto the grid, or declare a finer step", place=i)


def _values(column: Section) -> Kind:
    values = column.content["values"]
    if not isinstance(values, list):
        raise column.refusal("values", "it must be a list", _HOW_TO_LIST)
    if not values:
        raise column.refusal("values", "an empty list leaves no group to ask about", "List the public values")
    earlier: set[object] = set()
    for place, value in enumerate(values):
        _check_value(column, place)
        if value in earlier:
            raise column.refusal("values", "it is listed twice", "Remove one of them", place=place)
        earlier.add(value)
    if isinstance(values[0], str):
        return Listed(tuple(values))
    if is_whole(values[0]):
        return Numbered(tuple(values))
    if len(values) != 2:
        raise column.refusal("values", "a column of true and false has both values", "Write values = [true, false]")
    return Truth()


def _check_value(column: Section, place: int) -> None:
    first, value = column.content["values"][0], column.content["values"][place]
    if not isinstance(value, bool | int | str):
        rule = "values are text, whole numbers, or true and false"
        raise column.refusal("values", rule, _HOW_TO_LIST, place=place)
    if type(value) is not type(first):
        rule = f"the first value is {as_written(first)}, and all values have one type"
        raise column.refusal("values", rule, _HOW_TO_LIST, place=place)
    if isinstance(value, str) and "\x00" in value:
        raise column.refusal("values", "text in a database cannot hold NUL", "Remove it", place=place)
    if isinstance(value, int) and not _WHOLE_LOWEST <= value <= _WHOLE_HIGHEST:
        raise column.refusal("values", "whole numbers have at most 64 bits", "Declare it as text", place=place)


def _public_table(column: Section) -> Kind:
    column.required("public_table", 'Name a public table: public_table = "diseases"')
    column.required("column", 'Name the column of the public table that lists the values: column = "name"')
    table = column.text("public_table", "Name a table of [public_tables]")
    return Referenced(table, column.column_name("column", "Name a column of the public table"))


def _grid(column: Section) -> Kind:
    for field in ("min", "max"):
        column.required(field, "Numbers need public bounds: write both, such as min = 0, max = 110")
    low, high = column.number("min"), column.number("max")
    step = column.number("step") if "step" in column else Fraction(1)
    if step <= 0:
        raise column.refusal("step", "it must be above zero", "Write the distance of the grid, such as 1 or 0.5")
    if low == high:
        fix = "Declare a range, or leave the column out"
        raise column.refusal("max", "min and max are equal, so every value would be the same", fix)
    if low > high:
        raise column.refusal("max", f"it is below min = {plain(decimal_text(low))}", "Exchange min and max")
    missing = column.number("missing") if "missing" in column else None
    for field, value in (("min", low), ("max", high), ("missing", missing)):
        if value is None:
            continue
        if (value / step).denominator != 1:
            rule = f"it is not a multiple of step = {plain(decimal_text(step))}"
            raise column.refusal(field, rule, "Move it onto the grid, or write a finer step")
        if abs(value / step) > _MOST_STEPS:
            rule = "it is more than 2^53 steps from zero, and doubles are exact only up to there"
            raise column.refusal(field, rule, "Write a larger step or narrower bounds")
    if missing is not None and not low <= missing <= high:
        raise column.refusal("missing", "it lies outside min and max", "Write a number from min to max")
    return Grid(low, high, step, missing)


def _dates(column: Section) -> Kind:
    for field in ("first", "last"):
        column.required(field, "Dates need a public first and last day, such as first = 2024-01-01")
    first, last = _day(column, "first"), _day(column, "last")
    if first > last:
        raise column.refusal("last", f"it lies before first = {first.isoformat()}", "Exchange first and last")
    by = column.content.get("by", "day")
    if by not in ("day", "hour"):
        raise column.refusal("by", 'it must be "day" or "hour"', 'Write by = "day"')
    return Days(first, last) if by == "day" else Hours(first, last)


def _day(column: Section, field: str) -> date:
    day, fix = column.content[field], "Write it as 2024-01-31, with or without quotes"
    if isinstance(day, datetime):
        raise column.refusal(field, "it must be a day without a time of day", fix)
    if isinstance(day, str) and _DAY.fullmatch(day):
        try:
            return date.fromisoformat(day)
        except ValueError:
            raise column.refusal(field, "there is no such day", fix) from None
    if not isinstance(day, date):
        raise column.refusal(field, "it must be a day", fix)
    return day


def _bands(column: Section) -> Kind:
    column.required("bands_of", 'Name the column of numbers that is cut into bands: bands_of = "age"')
    column.required("edges", "List where each band begins and the last band ends: edges = [0, 18, 65, 111]")
    of = column.column_name("bands_of", "Name a column of this table that has min and max")
    listed, fix = column.content["edges"], "Write at least two numbers, such as edges = [0, 18, 65, 111]"
    if not isinstance(listed, list) or len(listed) < 2:
        raise column.refusal("edges", "it must be a list of at least two numbers", fix)
    if len(listed) > _MOST_EDGES:
        rule = f"it has {len(listed):,} edges, and at most {_MOST_EDGES:,} are allowed"
        raise column.refusal("edges", rule, "Write wider bands, or group by the column itself")
    edges = tuple(column.number("edges", i) for i in range(len(listed)))
    for i in range(1, len(edges)):
        if edges[i] <= edges[i - 1]:
            rule = f"each edge is larger than the edge before, which is {plain(decimal_text(edges[i - 1]))}"
            raise column.refusal("edges", rule, "Sort them and remove repeats", place=i)
    return Bands(of, edges)


def _text(column: Section) -> Kind:
    if column.content["text"] is not True:
        raise column.refusal("text", "it must be true, or be left out", "Write text = true, or declare another kind")
    return Text()


_READERS: dict[str, Callable[[Section], Kind]] = {
    "values": _values,
    "public_table": _public_table,
    "grid": _grid,
    "dates": _dates,
    "bands": _bands,
    "text": _text,
}


def _fields_of(kind: str) -> str:
    return ", ".join(KIND_FIELDS[kind])
