"""The code of each row in SQL, for every kind of column and family of physical types.

Every expression is total: no value of a row can make it fail. Numbers are clamped before any arithmetic, in their own
type; dates and times are compared before they are counted; excluded values become NULL.

Codes never leave [lowest, highest]: IEEE multiplication and division by a positive constant, addition of a constant and
floor are monotone, all sources compute them alike, and `ends_fit` computes the two ends with Python's floats.
Reads: declarations, the catalogue. Writes: SQL text. Never: rows.
"""

import math
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from thresher.config import (
    Bands,
    Column,
    Days,
    Grid,
    Hours,
    Kind,
    Listed,
    Numbered,
    Text,
    Truth,
    day_code,
)
from thresher.errors import BugError
from thresher.sources.dialect import Dialect
from thresher.sources.protocol import Family, PhysicalColumn

NO = "1 = 0"
# With at most 2**40 rows, sums of smaller codes stay below 2**62.
NARROW = 2**22
# Doubles cannot distinguish larger codes.
LARGEST_CODE = 2**53
_INT4 = 2**31 - 1
_FIRST_DAY = date(1970, 1, 1)
_TRUE, _FALSE = ("true", "True", "TRUE", "t", "T", "1"), ("false", "False", "FALSE", "f", "F", "0")


@dataclass(frozen=True, slots=True)
class Coded:
    """A declared column as SQL: its code, whether there is a code, and whether the code lies in an interval.

    `present` and `between` are conditions on the raw value where that is equivalent and cheaper. They are unknown or
    false if there is no code. `largest` bounds the size of the codes.
    """

    code: str
    type: str
    present: str
    between: Callable[[int | None, int | None], str]
    largest: int = LARGEST_CODE
    text: bool = False


def coded(
    column: Column, columns: Mapping[str, Column], physical: Mapping[str, str], found: "RelationColumns"
) -> Coded:
    """Return the column as SQL. `physical` gives the SQL of each raw column in the statement."""
    kind, dialect = column.kind, found.dialect
    if isinstance(kind, Bands):
        return _bands(kind, coded(columns[kind.of], columns, physical, found), columns[kind.of].kind, dialect)
    raw, name = found.columns[column.name], physical[column.name]
    if isinstance(kind, Listed | Text):
        value = dialect.value(raw, name)
        return Coded(value, dialect.text_type, f"{name} IS NOT NULL", _never_between, text=True)
    if isinstance(kind, Numbered):
        return codes_as_stored(_numbered(raw, name, dialect), dialect.big)
    if isinstance(kind, Truth):
        return _truth(raw, name, dialect)
    if isinstance(kind, Grid):
        whole = raw.family is Family.INTEGER and kind.step == 1
        return _whole_grid(kind, name, dialect) if whole else _grid(kind, dialect.to_double(raw, name), dialect)
    if isinstance(kind, Days | Hours):
        return _times(kind, raw, name, dialect)
    raise BugError(f"{column.name} is not resolved to its public values")


@dataclass(frozen=True, slots=True)
class RelationColumns:
    """The physical columns of one relation, and the dialect of its database."""

    columns: Mapping[str, PhysicalColumn]
    dialect: Dialect


def codes_as_stored(code: str, kind: str, largest: int = LARGEST_CODE, *, text: bool = False) -> Coded:
    """Return the SQL of an expression or column that already holds codes."""

    def between(low: int | None, high: int | None) -> str:
        parts = [] if low is None else [f"{code} >= {low}"]
        parts += [] if high is None else [f"{code} <= {high}"]
        return _both(parts) if parts else f"{code} IS NOT NULL"

    return Coded(code, kind, f"{code} IS NOT NULL", _never_between if text else between, largest, text)


def code_type(kind: Kind, dialect: Dialect) -> tuple[str, int, bool]:
    """Return the type of the codes of a kind, their largest size, and whether they are text."""
    if isinstance(kind, Listed | Text):
        return dialect.text_type, 0, True
    if isinstance(kind, Grid):
        largest = max(abs(kind.lowest), abs(kind.highest))
        return (dialect.integer if largest <= _INT4 else dialect.big), largest, False
    return (dialect.big if isinstance(kind, Numbered) else dialect.integer), LARGEST_CODE, False


def _never_between(_low: int | None, _high: int | None) -> str:
    raise BugError("text has no order")


def _both(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({' AND '.join(parts)})"


def _numbered(raw: PhysicalColumn, name: str, dialect: Dialect) -> str:
    """Return whole numbers as they are. A number with a fraction, or above 64 bits, becomes NULL."""
    if raw.family is Family.WRITTEN:
        return dialect.written_whole(name)
    value = dialect.value(raw, name)
    if raw.family is Family.INTEGER:
        return f"CAST({value} AS {dialect.big})"
    if raw.family is Family.DECIMAL:
        return dialect.whole_decimal(raw, value)
    low, high = dialect.double(-float(LARGEST_CODE)), dialect.double(float(LARGEST_CODE))
    # Nested, because only CASE promises that the inner test waits for the outer one.
    whole = f"CASE WHEN floor({value}) = {value} THEN CAST({value} AS {dialect.big}) END"
    return f"CASE WHEN {value} >= {low} AND {value} <= {high} THEN {whole} END"


def _truth(raw: PhysicalColumn, name: str, dialect: Dialect) -> Coded:
    if raw.family is Family.TRUTH:
        yes, no, present = name, f"NOT {name}", f"{name} IS NOT NULL"
    elif raw.family is Family.INTEGER:
        yes, no, present = f"{name} = 1", f"{name} = 0", f"{name} IN (0, 1)"
    else:
        value = dialect.value(raw, name)
        yes, no = (f"{value} IN ({', '.join(dialect.constant(word) for word in words)})" for words in (_TRUE, _FALSE))
        present = f"({yes} OR {no})"

    def between(low: int | None, high: int | None) -> str:
        holds = [code for code in (0, 1) if (low is None or low <= code) and (high is None or code <= high)]
        return {(): NO, (0,): no, (1,): yes, (0, 1): present}[tuple(holds)]

    return Coded(f"CASE WHEN {yes} THEN 1 WHEN {no} THEN 0 END", dialect.integer, present, between, 1)


def _whole_grid(kind: Grid, name: str, dialect: Dialect) -> Coded:
    """Return whole numbers on a grid of step 1, which are clamped without rounding."""
    lowest, highest = kind.lowest, kind.highest
    form, largest, _ = code_type(kind, dialect)
    clamp = f"CASE WHEN {name} < {lowest} THEN {lowest} WHEN {name} > {highest} THEN {highest} ELSE {name} END"
    code = f"CAST({clamp} AS {form})"
    missing = None if kind.missing is None else int(kind.missing)
    if missing is not None:
        code = f"coalesce({code}, {missing})"

    def between(low: int | None, high: int | None) -> str:
        low, high = lowest if low is None else low, highest if high is None else high
        if low > highest or high < lowest:
            return NO
        parts = [f"{name} >= {low}"] if low > lowest else []
        parts += [f"{name} <= {high}"] if high < highest else []
        inside = _both(parts) if parts else f"{name} IS NOT NULL"
        return f"({inside} OR {name} IS NULL)" if missing is not None and low <= missing <= high else inside

    return Coded(code, form, between(None, None), between, largest)


def _grid(kind: Grid, value: str, dialect: Dialect) -> Coded:
    """Return doubles on a grid. Finite ones are clamped, then placed at the nearest multiple of the step."""
    lowest, highest = kind.lowest, kind.highest
    form, largest, _ = code_type(kind, dialect)
    low_end, high_end = dialect.double(float(kind.minimum)), dialect.double(float(kind.maximum))
    top, bottom = dialect.double(sys.float_info.max), dialect.double(-sys.float_info.max)
    scale, divide = _scale(kind.step)
    placed = f"floor({value} {'/' if divide else '*'} {dialect.double(scale)} + {dialect.double(0.5)})"
    # PostgreSQL fails if a quotient is too small for a double.
    quarter = (dialect.double(-scale / 4), dialect.double(scale / 4))
    tiny = (
        f"WHEN {value} > {quarter[0]} AND {value} < {quarter[1]} THEN 0 " if divide and lowest <= 0 <= highest else ""
    )
    missing = None if kind.missing is None else int(kind.missing / kind.step)
    # NULL is neither below nor above, and stays NULL. NaN counts as above all numbers, and is dropped there.
    code = (
        f"CASE {tiny}WHEN {value} < {low_end} THEN CASE WHEN {value} >= {bottom} THEN {lowest} END"
        f" WHEN {value} > {high_end} THEN CASE WHEN {value} <= {top} THEN {highest} END"
        f" ELSE CAST({placed} AS {form}) END"
    )
    if missing is not None:
        return codes_as_stored(f"coalesce({code}, {missing})", form, largest)

    def between(low: int | None, high: int | None) -> str:
        low, high = lowest if low is None else low, highest if high is None else high
        if low > highest or high < lowest or low > high:
            return NO
        above = bottom if low <= lowest else dialect.double(first_value(kind, low))
        below = f"<= {top}" if high >= highest else f"< {dialect.double(first_value(kind, high + 1))}"
        return f"({value} >= {above} AND {value} {below})"

    return Coded(code, form, between(None, None), between, largest)


def _scale(step: Fraction) -> tuple[float, bool]:
    """Return the factor that turns a value into its place; with True, the divisor."""
    times = 1 / step
    whole = times.denominator == 1 and times.numerator <= LARGEST_CODE
    return (float(times), False) if whole else (float(step), True)


def place(kind: Grid, value: float) -> int:
    """Return the code of a value within the bounds, computed as the sources compute it."""
    scale, divide = _scale(kind.step)
    return math.floor((value / scale if divide else value * scale) + 0.5)


def ends_fit(kind: Grid) -> bool:
    """Return whether both ends of the grid have the right code; then all values between them lie between these."""
    ends = (kind.lowest, kind.highest)
    if max(abs(end) for end in ends) > LARGEST_CODE or not _scale(kind.step)[0] > 0:
        return False
    try:
        return (place(kind, float(kind.minimum)), place(kind, float(kind.maximum))) == ends
    except OverflowError:
        return False


def first_value(kind: Grid, code: int) -> float:
    """Return the smallest double within the bounds whose code is at least `code`, for a code above the lowest."""
    low, high = _rank(float(kind.minimum)), _rank(float(kind.maximum))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if place(kind, _ranked(middle)) >= code else (middle, high)
    return _ranked(high)


def _rank(value: float) -> int:
    """Return the place of a double among all doubles."""
    bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def _ranked(rank: int) -> float:
    bits = rank if rank >= 0 else (-rank) | (1 << 63)
    value: float = struct.unpack("<d", struct.pack("<Q", bits & 0xFFFF_FFFF_FFFF_FFFF))[0]
    return value


def _times(kind: Days | Hours, raw: PhysicalColumn, name: str, dialect: Dialect) -> Coded:
    family = Family.MOMENT if raw.family is Family.WRITTEN else raw.family
    value = dialect.written_moment(name) if raw.family is Family.WRITTEN else dialect.value(raw, name)
    hourly = isinstance(kind, Hours)
    first, last = day_code(kind.first), day_code(kind.last)
    lowest, highest = (24 * first, 24 * last + 23) if hourly else (first, last)

    def between(low: int | None, high: int | None) -> str:
        low, high = max(lowest, low if low is not None else lowest), min(highest, high if high is not None else highest)
        if low > high:
            return NO
        if family is Family.DATE:
            # A day counts for its first hour.
            start, end = (-(-low // 24), high // 24) if hourly else (low, high)
            return (
                f"({value} >= {dialect.day(_day(start))} AND {value} <= {dialect.day(_day(end))})"
                if start <= end
                else NO
            )
        (start, from_hour), (end, to_hour) = (divmod(low, 24), divmod(high, 24)) if hourly else ((low, 0), (high, 23))
        above, below = (
            dialect.first_moment(_day(start), from_hour, family),
            dialect.last_moment(_day(end), to_hour, family),
        )
        return f"({value} >= {above} AND {value} <= {below})"

    code = dialect.hour_code(value, family) if hourly else dialect.day_code(value, family)
    inside = between(None, None)
    return Coded(
        f"CASE WHEN {inside} THEN {code} END", dialect.integer, inside, between, max(abs(lowest), abs(highest))
    )


def _day(code: int) -> date:
    return _FIRST_DAY + timedelta(days=code)


def _bands(kind: Bands, of: Coded, grid: Kind, dialect: Dialect) -> Coded:
    if not isinstance(grid, Grid):
        raise BugError(f"bands of {kind.of}, which is not a grid")
    edges = [int(edge / grid.step) for edge in kind.edges]
    cases = [f"WHEN {of.between(edges[n], edges[n + 1] - 1)} THEN {n}" for n in range(len(edges) - 1)]
    return codes_as_stored(f"CASE {' '.join(cases)} END", dialect.integer, len(edges))
