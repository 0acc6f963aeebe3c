"""Public constants: the values a region may mention. Exact numbers, or text; a date is text such as "2024-01-31".

Two constants are compared exactly, numbers by value and text by code points, so a source must compare them the same
way: numbers on the column's declared grid, text without case folding. Floats are refused because a database may round
two different decimals to one double, and two regions would then meet where the account believes that they cannot.
NULL is no constant: a row with NULL in a column lies in no region that restricts that column, as in SQL.
Reads: arguments. Writes: nothing. Never: a value that came from the protected data.
"""

import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import SupportsIndex

from thresher.accounting.documents import fields_of, text_of
from thresher.amounts import exact_fraction
from thresher.errors import ArgumentError

Constant = Fraction | str
ConstantLike = Constant | Decimal | int
Key = tuple[Constant, ...]

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_RATIO = re.compile(r"-?(0|[1-9]\d*)(/[1-9]\d*)?", re.ASCII)
_CONSTANTS = 'Pass an int, a Decimal, a Fraction, or text; a date as "2024-01-31"'


def checked_constant(value: object, field: str) -> Constant:
    """`value` in its one canonical form, or an `ArgumentError` that names `field`."""
    if isinstance(value, str):
        return checked_text(value, field)
    if isinstance(value, Fraction | Decimal) or (isinstance(value, SupportsIndex) and not isinstance(value, bool)):
        return exact_fraction(value, field)  # type: ignore[arg-type]  # numpy's integers count as int here
    raise ArgumentError(field, value, "a region mentions exact numbers and text only", _CONSTANTS)


def checked_text(value: object, field: str) -> str:
    """Text that has a UTF-8 form, so that it can be stored and hashed."""
    if not isinstance(value, str):
        raise ArgumentError(field, value, "it must be text", "Pass a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ArgumentError(field, value, "it holds half a surrogate pair", "Pass valid Unicode text") from None
    return str(value)


def checked_key(values: object, columns: tuple[str, ...], field: str) -> Key:
    """A group key: one constant for each column, in the order of the columns."""
    if not isinstance(values, tuple) or len(values) != len(columns):
        raise ArgumentError(field, values, f"a key holds one constant for each of {columns}", "Pass a tuple")
    return tuple(checked_constant(value, f"{field}.{column}") for column, value in zip(columns, values, strict=True))


def checked_columns(columns: object, field: str) -> tuple[str, ...]:
    """Names of columns, each once, in the order given."""
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise ArgumentError(field, columns, "it must be a list of column names", 'Pass e.g. ("building",)')
    names = tuple(checked_column(name, field) for name in columns)
    if len(set(names)) != len(names):
        raise ArgumentError(field, names, "each column is named once", "Drop the repeated name")
    return names


def checked_column(name: object, field: str) -> str:
    if not name or not isinstance(name, str):
        raise ArgumentError(field, name, "a column is named by text that is not empty", "Pass the declared name")
    return checked_text(name, field)


def is_day(constant: Constant) -> bool:
    """Whether a constant is a calendar day, the only text that has an order all databases agree on."""
    if not isinstance(constant, str) or not _DAY.fullmatch(constant):
        return False
    try:
        date.fromisoformat(constant)
    except ValueError:
        return False
    return True


def sort_key(constant: Constant) -> tuple[int, Constant]:
    """Numbers by value, then text by code points: a total order in which documents list constants."""
    return (1 if isinstance(constant, str) else 0), constant


def constant_to_json(constant: Constant) -> object:
    """Text as itself, a number as {"number": "5/2"}: JSON numbers are floats to most readers."""
    return constant if isinstance(constant, str) else {"number": str(constant)}


def constant_from_json(document: object, field: str) -> Constant:
    if isinstance(document, str):
        return checked_text(document, field)
    written = text_of(fields_of(document, field, ["number"])["number"], field)
    if not _RATIO.fullmatch(written) or str(Fraction(written)) != written:
        raise ArgumentError(field, written, "a number is written in lowest terms, as 5 or 5/2", _CONSTANTS)
    return exact_fraction(Fraction(written), field)
