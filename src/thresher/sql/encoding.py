"""Comparisons of one declared column with constants, as conditions on its codes.

Constants between two steps of a grid and beyond its ends are handled exactly: on a grid of whole numbers up to 110,
`x > 64.5` is `code >= 65`, and `x < 500` holds for every row that has a value.
Reads: declarations. Writes: nothing. Never: rounds a constant to a neighbouring code.
"""

import math
import re
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from fractions import Fraction

from sqlglot import exp

from thresher.config import (
    Bands,
    Code,
    Column,
    Days,
    Grid,
    Hours,
    Listed,
    Numbered,
    Text,
    Truth,
    day_code,
    decimal_text,
)
from thresher.question import ALWAYS, NEVER, Condition, Missing, NoneOf, OneOf, Present, Within, sorted_codes
from thresher.sql.literals import NUMBER, Constant, check_known, constant_text, day
from thresher.sql.refusals import Refusal, bare, shown

_HOUR = re.compile(r"(\d{4}-\d{2}-\d{2})[ T](\d{2}):00", re.ASCII)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_SHOWN_BANDS = 5


def code_of(column: Column, value: Constant, at: exp.Expr) -> Code | None:
    """Return the code of a value in a column; None if no row can have that value there."""
    place = _place(column, value, at)
    if isinstance(place, str):
        return place
    bounds = _bounds(column)
    inside = bounds is None or bounds[0] <= place <= bounds[1]
    return int(place) if place.denominator == 1 and inside else None


def one_of(column: Column, values: Sequence[Constant], at: exp.Expr) -> Condition:
    """Return `column IN (values)`."""
    check_known(column, values, at)
    return among(column, (code_of(column, value, at) for value in values))


def none_of(column: Column, values: Sequence[Constant], at: exp.Expr) -> Condition:
    """Return `column NOT IN (values)`, which is true only for rows that have a value."""
    check_known(column, values, at)
    codes = _distinct(code_of(column, value, at) for value in values)
    if isinstance(column.kind, Truth | Bands):
        return among(column, (code for code in column.kind.codes() if code not in codes))
    return NoneOf(column.name, codes) if codes else present(column)


def among(column: Column, codes: Iterable[Code | None]) -> Condition:
    """Return the condition that the code is one of these; None stands for a value that no row can have."""
    distinct = _distinct(codes)
    return OneOf(column.name, distinct) if distinct else NEVER


def compared(column: Column, sign: str, value: Constant, at: exp.Expr) -> Condition:
    """Return `column sign value` for `=`, `<>`, `<`, `<=`, `>` and `>=`."""
    if sign == "=":
        return one_of(column, [value], at)
    if sign == "<>":
        return none_of(column, [value], at)
    place = _ordered_place(column, value, at)
    if sign == ">":
        return _within(column, math.floor(place) + 1, None)
    if sign == ">=":
        return _within(column, math.ceil(place), None)
    return _within(column, None, math.ceil(place) - 1 if sign == "<" else math.floor(place))


def present(column: Column) -> Condition:
    """Return `column IS NOT NULL`."""
    return ALWAYS if column.kind.missing is not None else Present(column.name)


def missing(column: Column) -> Condition:
    """Return `column IS NULL`."""
    return NEVER if column.kind.missing is not None else Missing(column.name)


def _within(column: Column, low: int | None, high: int | None) -> Condition:
    bounds = _bounds(column)
    if bounds is not None:
        low = None if low is None or low <= bounds[0] else low
        high = None if high is None or high >= bounds[1] else high
        if (low is not None and low > bounds[1]) or (high is not None and high < bounds[0]):
            return NEVER
    if low is None and high is None:
        return present(column)
    return Within(column.name, low, high)


def _bounds(column: Column) -> tuple[int, int] | None:
    """Return the lowest and highest code that a row can have; None for whole numbers without a grid."""
    kind = column.kind
    if isinstance(kind, Grid):
        return kind.lowest, kind.highest
    if isinstance(kind, Days | Hours):
        codes = kind.codes()
        return int(codes[0]), int(codes[-1])
    return None


def _ordered_place(column: Column, value: Constant, at: exp.Expr) -> Fraction:
    if not getattr(column.kind, "ordered", False):
        message = f"{shown(column.name)} has no order that all databases share; use =, <> or IN"
        raise Refusal("no-text-order", message, at)
    text = value.isoformat() if isinstance(value, date) else value
    if isinstance(column.kind, Hours) and isinstance(text, str) and _DAY.fullmatch(text):
        return Fraction(24 * day_code(day(text, at)))  # as in SQL, a day is its first moment
    place = _place(column, value, at)
    if isinstance(place, str):
        raise _mismatch(column, value, at)
    return place


def _place(column: Column, value: Constant, at: exp.Expr) -> Fraction | str:
    """Return the place of a value among the codes of the column, perhaps between two codes."""
    kind = column.kind
    if isinstance(kind, Listed | Text) and isinstance(value, str):
        return value
    if isinstance(kind, Numbered | Grid) and isinstance(value, Fraction):
        return value / kind.step if isinstance(kind, Grid) else value
    if isinstance(kind, Truth) and isinstance(value, bool):
        return Fraction(value)
    if isinstance(kind, Days) and isinstance(value, str | date):
        return Fraction(day_code(day(value, at) if isinstance(value, str) else value))
    if isinstance(kind, Hours) and isinstance(value, str | date):
        return _hour(column, value if isinstance(value, str) else value.isoformat(), at)
    if isinstance(kind, Bands) and isinstance(value, str):
        return _band(column, kind, value, at)
    raise _mismatch(column, value, at)


def _hour(column: Column, text: str, at: exp.Expr) -> Fraction:
    if _DAY.fullmatch(text):
        first = day(text, at)
        last = "" if first == date.max else f" AND {column.name} < '{first + timedelta(days=1)}'"
        message = (
            f"{shown(text)} is a day, and {shown(column.name)} holds hours; write {column.name} >= '{first}'{last}"
        )
        raise Refusal("comparable-values", message, at)
    found = _HOUR.fullmatch(text)
    if found is None or int(found[2]) > 23:
        raise Refusal("comparable-values", f"{shown(text)} is not an hour; write 'YYYY-MM-DD HH:00'", at)
    return Fraction(24 * day_code(day(found[1], at)) + int(found[2]))


def _band(column: Column, kind: Bands, text: str, at: exp.Expr) -> Fraction:
    labels = [str(kind.label(code)) for code in kind.codes()]
    if text not in labels:
        some = ", ".join(f"'{label}'" for label in labels[:_SHOWN_BANDS])
        more = " ..." if len(labels) > _SHOWN_BANDS else ""
        message = f"{shown(text)} is not a band of {shown(column.name)}; write {some}{more}"
        raise Refusal("comparable-values", message, at)
    return Fraction(labels.index(text))


_EXPECTED: dict[type, str] = {
    Listed: "text such as 'a'",
    Text: "text such as 'a'",
    Numbered: "a number",
    Grid: "a number",
    Truth: "TRUE or FALSE",
    Days: "a day such as '2024-12-31'",
    Hours: "an hour such as '2024-12-31 23:00'",
    Bands: "one of its bands such as '[0, 10)'",
}


def _mismatch(column: Column, value: Constant, at: exp.Expr) -> Refusal:
    message = (
        f"{shown(column.name)} is compared with {_EXPECTED[type(column.kind)]} only, not with {constant_text(value)}"
    )
    hint = ""
    if isinstance(column.kind, Grid | Numbered) and isinstance(value, str) and NUMBER.fullmatch(value):
        hint = f"; write {bare(value)} without quotes"
    elif isinstance(column.kind, Listed | Text) and isinstance(value, Fraction):
        hint = f"; write '{bare(decimal_text(value))}' with quotes"
    return Refusal("comparable-values", message + hint, at)


def _distinct(codes: Iterable[Code | None]) -> tuple[Code, ...]:
    return sorted_codes({code for code in codes if code is not None})
