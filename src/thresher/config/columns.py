"""What a column may hold, declared in public: lists, grids, days and hours, bands, or plain text.

Every kind turns its values into *codes*, the form in which the sources compare, group and add them: text stays text,
everything else becomes a whole number (a number its place on the grid, a day the days since 1970, a band its place in
the list). Codes are the same in every database; labels are what people see. A kind without a public list has no codes.
`missing` is the declared value, if any, that replaces missing values.
Reads: declarations. Writes: nothing. Never: data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import ClassVar

Code = int | str
Label = str | int | bool

_FIRST_DAY = date(1970, 1, 1)
_FIRST_HOUR = datetime(1970, 1, 1)
_HOUR = timedelta(hours=1)


class _Coded:
    """The base of most kinds: a code is its own label, no value replaces missing ones, and there is no order."""

    __slots__ = ()
    ordered: ClassVar[bool] = False
    missing: ClassVar[None] = None

    def codes(self) -> Sequence[Code]:
        """Return every public value as a code; an empty list if the values are not listed here."""
        return ()

    def label(self, code: Code) -> Label:
        return code


@dataclass(frozen=True, slots=True)
class Listed(_Coded):
    """Text with a public list of values: may be grouped by, and compared by = and IN."""

    values: tuple[str, ...]

    def codes(self) -> Sequence[Code]:
        return self.values


@dataclass(frozen=True, slots=True)
class Numbered(_Coded):
    """Whole numbers with a public list of values, such as the numbers of buildings. Not for sums."""

    values: tuple[int, ...]
    ordered: ClassVar[bool] = True

    def codes(self) -> Sequence[Code]:
        return self.values


@dataclass(frozen=True, slots=True)
class Truth(_Coded):
    """True or false: codes 1 and 0."""

    def codes(self) -> Sequence[Code]:
        return (0, 1)

    def label(self, code: Code) -> Label:
        return bool(code)


@dataclass(frozen=True, slots=True)
class Grid:
    """Numbers from `minimum` to `maximum`, kept as whole multiples of `step`: codes are value / step.

    Values outside are clamped; values between two multiples go to the nearer one (upwards from the middle). NULL, NaN
    and infinities become `missing`, a multiple of `step` within the bounds; without it they count as NULL, which sums
    and averages leave out.
    """

    minimum: Fraction
    maximum: Fraction
    step: Fraction
    missing: Fraction | None = None
    ordered: ClassVar[bool] = True

    @property
    def lowest(self) -> int:
        return int(self.minimum / self.step)

    @property
    def highest(self) -> int:
        return int(self.maximum / self.step)

    def codes(self) -> Sequence[Code]:
        return range(self.lowest, self.highest + 1)

    def label(self, code: Code) -> Label:
        value = int(code) * self.step
        return value.numerator if value.denominator == 1 else decimal_text(value)


@dataclass(frozen=True, slots=True)
class Days(_Coded):
    """Calendar days from `first` to `last`, both included: codes are days since 1970-01-01. Others count as NULL.

    A time counts for its day as it is stored; a time with a zone for its day in UTC.
    """

    first: date
    last: date
    ordered: ClassVar[bool] = True

    def codes(self) -> Sequence[Code]:
        return range(day_code(self.first), day_code(self.last) + 1)

    def label(self, code: Code) -> Label:
        return (_FIRST_DAY + timedelta(days=int(code))).isoformat()


@dataclass(frozen=True, slots=True)
class Hours(_Coded):
    """Hours of the days from `first` to `last`, both included: codes are hours since 1970. Others count as NULL."""

    first: date
    last: date
    ordered: ClassVar[bool] = True

    def codes(self) -> Sequence[Code]:
        return range(24 * day_code(self.first), 24 * (day_code(self.last) + 1))

    def label(self, code: Code) -> Label:
        return (_FIRST_HOUR + int(code) * _HOUR).isoformat(timespec="minutes")


@dataclass(frozen=True, slots=True)
class Bands(_Coded):
    """Intervals of another column's numbers: band i holds edges[i] <= x < edges[i+1]; codes are places in the list.

    Values outside all bands count as NULL. `edges` lie on the grid of the column `of`.
    """

    of: str
    edges: tuple[Fraction, ...]

    def codes(self) -> Sequence[Code]:
        return range(len(self.edges) - 1)

    def label(self, code: Code) -> Label:
        low, high = self.edges[int(code)], self.edges[int(code) + 1]
        return f"[{decimal_text(low)}, {decimal_text(high)})"


@dataclass(frozen=True, slots=True)
class Referenced(_Coded):
    """Text or whole numbers whose public values are the column of a public table."""

    table: str
    column: str


@dataclass(frozen=True, slots=True)
class Text(_Coded):
    """Text without a public list: it may be compared by = and IN, never grouped by."""


Kind = Listed | Numbered | Truth | Grid | Days | Hours | Bands | Referenced | Text


@dataclass(frozen=True, slots=True)
class Column:
    """A declared column. With `fixed`, all rows of a unit have the same value in it, which the sources enforce."""

    name: str
    kind: Kind
    fixed: bool = False


def day_code(day: date) -> int:
    """Return the code of a day: the days since 1970-01-01."""
    return (day - _FIRST_DAY).days


def decimal_text(value: Fraction) -> str:
    """Return the number as a finite decimal if it has one, else as a ratio."""
    if value.denominator == 1:
        return str(value.numerator)
    twos, fives, rest = 0, 0, value.denominator
    while rest % 2 == 0:
        twos, rest = twos + 1, rest // 2
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    if rest != 1:
        return str(value)
    places = max(twos, fives)
    whole, part = divmod(abs(value.numerator) * 10**places // value.denominator, 10**places)
    return f"{'-' if value < 0 else ''}{whole}.{part:0{places}d}"
