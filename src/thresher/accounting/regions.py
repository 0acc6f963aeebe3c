"""A region: the part of a table where a box of public conditions holds. Losses are kept by region.

    Constant          a value that a region may mention: an exact number, or text; a date is text such as "2024-01-31"
    Values, Interval  what a region says about one column
    Region            rows whose columns satisfy every restriction

A region restricts some declared columns and leaves every other column free, so two regions over different columns
always overlap: their common refinement has a cell inside both (Theorem 5 of the MIDE paper). Equal regions are equal
objects with equal hashes and equal JSON, so that a document about them can be hashed.
Constants are compared exactly, numbers by value and text by code points, so a source must compare them the same way:
numbers on the column's declared grid, text without case folding. Floats are refused because a database may round two
decimals to one double, and two regions would then meet where the account believes that they cannot. NULL is not a
constant: a row with NULL in a column lies in no region that restricts that column, as in SQL. Columns are taken as
dense: between any two numbers or days lies another, which can only make more regions overlap.
Reads: public conditions. Writes: nothing. Never: a value of the data; says "disjoint" unless some column proves it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import SupportsIndex

from thresher.amounts import exact_fraction
from thresher.errors import ArgumentError

Constant = Fraction | str
Key = tuple[Constant, ...]
# A place on a column's line: (1, c, -1) just below c, (1, c, 0) at c, (1, c, 1) just above; the ends are infinite.
Place = tuple[int] | tuple[int, Constant, int]
FIRST: Place = (0,)
LAST: Place = (2,)

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_RATIO = re.compile(r"-?(0|[1-9]\d*)(/[1-9]\d*)?", re.ASCII)
_CONSTANTS = 'Pass an int, a Decimal, a Fraction, or text; a date as "2024-01-31"'
WRITTEN = "Pass what to_json wrote, unchanged"


@dataclass(frozen=True, slots=True)
class Values:
    """The column equals one of these constants, sorted and distinct; all are numbers or all are text."""

    constants: tuple[Constant, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.constants, tuple | list | set | frozenset):
            raise ArgumentError("values", self.constants, "it must be a list of constants", "Pass a tuple")
        members = {checked_constant(member, "values") for member in self.constants}
        if not members or len({type(member) for member in members}) > 1:
            rule = "a set holds one constant or more, all numbers or all text"
            raise ArgumentError("values", self.constants, rule, "List the constants of one kind")
        object.__setattr__(self, "constants", tuple(sorted(members)))

    def holds(self, constant: Constant) -> bool:
        return constant in self.constants

    def __str__(self) -> str:
        shown = [repr(member) if isinstance(member, str) else str(member) for member in self.constants]
        return f"= {shown[0]}" if len(shown) == 1 else f"in ({', '.join(shown)})"

    def to_json(self) -> dict[str, object]:
        return {"values": [constant_to_json(member) for member in self.constants]}


@dataclass(frozen=True, slots=True)
class Interval:
    """The column lies between two constants, both numbers or both days; None means unbounded on that side.

    An interval of one point is written as `Values`, so that every set of values has one form.
    """

    low: Constant | None
    high: Constant | None
    low_included: bool
    high_included: bool
    constants: tuple[Constant, ...] = field(init=False, repr=False, compare=False)
    low_place: Place = field(init=False, repr=False, compare=False)
    high_place: Place = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            end = getattr(self, name)
            object.__setattr__(self, name, None if end is None else checked_constant(end, name))
            if end is None and getattr(self, f"{name}_included"):
                raise ArgumentError(f"{name}_included", True, "an unbounded side includes no end", "Pass False")
        low = FIRST if self.low is None else (1, self.low, 0 if self.low_included else 1)
        high = LAST if self.high is None else (1, self.high, 0 if self.high_included else -1)
        object.__setattr__(self, "constants", tuple(end for end in (self.low, self.high) if end is not None))
        object.__setattr__(self, "low_place", low)
        object.__setattr__(self, "high_place", high)
        if not self.constants:
            raise ArgumentError("low", None, "an interval is bounded on one side at least", "Leave the column out")
        if not one_kind(self.constants, ordered=True):
            rule = "an interval has numbers or days as its ends, because other text has no order all databases share"
            field = "low" if self.high is None else "high"
            raise ArgumentError(field, self.constants[-1], rule, "List the values instead")
        if not self.low_place < self.high_place:
            rule = "an interval holds more than one point"
            raise ArgumentError("high", self.high, rule, "Check the order of the ends, or ask for one value")

    def holds(self, constant: Constant) -> bool:
        return self.low_place <= (1, constant, 0) <= self.high_place

    def __str__(self) -> str:
        left = "" if self.low is None else f"{'>=' if self.low_included else '>'} {self.low}"
        right = "" if self.high is None else f"{'<=' if self.high_included else '<'} {self.high}"
        return " and ".join(part for part in (left, right) if part)

    def to_json(self) -> dict[str, object]:
        return {
            "high": None if self.high is None else constant_to_json(self.high),
            "high_included": self.high_included,
            "low": None if self.low is None else constant_to_json(self.low),
            "low_included": self.low_included,
        }


Restriction = Values | Interval


@dataclass(frozen=True, slots=True)
class Region:
    """Rows whose columns satisfy every restriction; sorted by column, one restriction for a column."""

    restrictions: tuple[tuple[str, Restriction], ...] = ()

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.restrictions, key=lambda pair: pair[0]))
        names = [_checked_column(name, "column") for name, _ in ordered]
        if len(set(names)) != len(names):
            raise ArgumentError("column", names, "a region restricts a column once", "Use Region.where to combine")
        object.__setattr__(self, "restrictions", ordered)

    @classmethod
    def everything(cls) -> "Region":
        """All rows."""
        return cls()

    @classmethod
    def where(cls, conditions: Iterable[tuple[str, str, object]]) -> "Region":
        """Rows that satisfy all conditions, such as `("age", ">=", 18)` or `("building", "in", ["A", "B"])`."""
        region = cls()
        for column, operator, value in conditions:
            smaller = region.within(cls(((column, restriction(operator, value)),)))
            if smaller is None:
                rule = "together with the conditions before it, it holds for no row"
                raise ArgumentError("conditions", (column, operator, value), rule, "Drop one of them")
            region = smaller
        return region

    @classmethod
    def at(cls, columns: tuple[str, ...], key: Key) -> "Region":
        """One group: rows whose `columns` equal `key`."""
        return cls(tuple((column, Values((value,))) for column, value in zip(columns, key, strict=True)))

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.restrictions)

    def within(self, other: "Region") -> "Region | None":
        """The region of rows in both, or None if there can be none.

        Where two restrictions cannot be compared, the result keeps this region's: it may be too large, never too small.
        """
        said = dict(self.restrictions)
        for column, theirs in other.restrictions:
            both = _meet(said[column], theirs) if column in said else theirs
            if both is None:
                return None
            said[column] = both
        return Region(tuple(said.items()))

    def only(self, columns: Iterable[str]) -> "Region":
        """The smallest region around this one that restricts none but these columns."""
        kept = frozenset(columns)
        return Region(tuple((name, said) for name, said in self.restrictions if name in kept))

    def __str__(self) -> str:
        return " and ".join(f"{name} {said}" for name, said in self.restrictions) or "everything"

    def to_json(self) -> dict[str, object]:
        """An object from column to restriction, in one order."""
        return {name: said.to_json() for name, said in self.restrictions}

    @classmethod
    def from_json(cls, document: object) -> "Region":
        if not isinstance(document, dict):
            raise ArgumentError("region", document, "it must be an object", WRITTEN)
        return cls(tuple((name, _restriction_from_json(said)) for name, said in document.items()))


def overlaps(first: Region, second: Region) -> bool:
    """False only if it is proved that no row can lie in both."""
    return first.within(second) is not None


def restriction(operator: str, value: object) -> Restriction:
    """The set of values for which `column operator value` holds; operators: = in < <= > >=."""
    if operator == "in":
        return Values(value)  # type: ignore[arg-type]  # Values checks it
    if operator not in ("=", "<", "<=", ">", ">="):
        rule = "it must be one of = in < <= > >="
        raise ArgumentError("operator", operator, rule, "Split other conditions into these")
    constant = checked_constant(value, "value")
    if operator == "=":
        return Values((constant,))
    if operator in ("<", "<="):
        return Interval(None, constant, False, operator == "<=")
    return Interval(constant, None, operator == ">=", False)


def between(low: object, high: object, *, high_included: bool = False) -> Restriction:
    """From `low` (included) to `high` (excluded unless said otherwise)."""
    first, last = checked_constant(low, "low"), checked_constant(high, "high")
    return Values((first,)) if first == last and high_included else Interval(first, last, True, high_included)


def one_kind(constants: Iterable[Constant], *, ordered: bool) -> bool:
    """Whether exact comparison decides between these constants; `ordered` if it must also say which comes first.

    A number and the text of a number may be one value to a database. Text that differs is different, but only days
    are in an order, and a text that is not a day may be a time of one.
    """
    listed = list(constants)
    kinds = {isinstance(constant, str) for constant in listed}
    return len(kinds) <= 1 and (not ordered or kinds == {False} or all(_is_day(constant) for constant in listed))


def _meet(first: Restriction, second: Restriction) -> Restriction | None:
    """The values that satisfy both; None if there are none; `first`, which holds them all, if that is not known."""
    ordered = isinstance(first, Interval) or isinstance(second, Interval)
    if not one_kind((*first.constants, *second.constants), ordered=ordered):
        return first
    if isinstance(first, Values):
        kept = tuple(member for member in first.constants if second.holds(member))
        return Values(kept) if kept else None
    if isinstance(second, Values):
        return _meet(second, first)
    low, high = max(first.low_place, second.low_place), min(first.high_place, second.high_place)
    if low > high:
        return None
    lowest = first if low == first.low_place else second
    highest = first if high == first.high_place else second
    if low == high and lowest.low is not None:
        return Values((lowest.low,))
    return Interval(lowest.low, highest.high, lowest.low_included, highest.high_included)


# What is passed in


def checked_constant(value: object, field: str) -> Constant:
    """`value` in its one canonical form, or an `ArgumentError` that names `field`."""
    if isinstance(value, str):
        return _encodable_text(value, field)
    if isinstance(value, Fraction | Decimal) or (isinstance(value, SupportsIndex) and not isinstance(value, bool)):
        return exact_fraction(value, field)  # type: ignore[arg-type]  # numpy's integers count as int here
    raise ArgumentError(field, value, "a region mentions exact numbers and text only", _CONSTANTS)


def _encodable_text(value: str, field: str) -> str:
    """Text that has a UTF-8 form, so that it can be stored and hashed."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ArgumentError(field, value, "it holds half a surrogate pair", "Pass valid Unicode text") from None
    return str(value)


def checked_columns(columns: object, field: str) -> tuple[str, ...]:
    """Names of columns, each once, in the order given."""
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise ArgumentError(field, columns, "it must be a list of column names", 'Pass e.g. ("building",)')
    names = tuple(_checked_column(name, field) for name in columns)
    if len(set(names)) != len(names):
        raise ArgumentError(field, names, "each column is named once", "Drop the repeated name")
    return names


def checked_groups(columns: object, keys: Sequence[object]) -> tuple[tuple[str, ...], list[Key]]:
    """Columns, and groups by their keys: one constant for each column, in the order of the columns; each key once."""
    names, checked = checked_columns(columns, "columns"), list[Key]()
    for key in keys:
        if not isinstance(key, tuple) or len(key) != len(names):
            raise ArgumentError("key", key, f"a key holds one constant for each of {names}", "Pass a tuple")
        named = zip(names, key, strict=True)
        checked.append(tuple(checked_constant(value, f"key.{column}") for column, value in named))
    if len(set(checked)) < len(checked):
        twice = next(key for i, key in enumerate(checked) if key in checked[:i])
        raise ArgumentError("key", twice, "a group has one amount", "Add its amounts up, or drop the repeated one")
    for i, column in enumerate(names):
        # 1 and "1" may be one value to a database, so that groups kept apart here would be one group there.
        if len({isinstance(key[i], str) for key in checked}) > 1:
            raise ArgumentError("key", column, "the keys of a column are all texts or all numbers", "Write them alike")
    return names, checked


def _checked_column(name: object, field: str) -> str:
    if not name or not isinstance(name, str):
        raise ArgumentError(field, name, "a column is named by text that is not empty", "Pass the declared name")
    return _encodable_text(name, field)


def _is_day(constant: Constant) -> bool:
    """Whether a constant is a calendar day, the only text that has an order all databases agree on."""
    if not isinstance(constant, str) or not _DAY.fullmatch(constant):
        return False
    try:
        date.fromisoformat(constant)
    except ValueError:
        return False
    return True


# What is written down


def constant_to_json(constant: Constant) -> object:
    """Text as itself, a number as {"number": "5/2"}: JSON numbers are floats to most readers."""
    return constant if isinstance(constant, str) else {"number": str(constant)}


def constant_from_json(document: object, field: str) -> Constant:
    match document:
        case str():
            return _encodable_text(document, field)
        case {"number": str(written), **rest} if not rest and _RATIO.fullmatch(written):
            number = Fraction(written)
            if str(number) == written:
                return number
    rule = 'it must be text, or a number in lowest terms, as {"number": "5/2"}'
    raise ArgumentError(field, document, rule, WRITTEN)


def keys_to_json(keys: Sequence[Key]) -> list[list[object]]:
    return [[constant_to_json(constant) for constant in key] for key in keys]


def keys_from_json(documents: Sequence[object]) -> list[Key]:
    keys = []
    for document in documents:
        if not isinstance(document, list):
            raise ArgumentError("key", document, "it must be a list", WRITTEN)
        keys.append(tuple(constant_from_json(part, "key") for part in document))
    return keys


def _restriction_from_json(document: object) -> Restriction:
    match document:
        case {"values": [*members], **rest} if not rest:
            return Values(tuple(constant_from_json(member, "values") for member in members))
        case {
            "high": high,
            "high_included": bool(high_included),
            "low": low,
            "low_included": bool(low_included),
            **rest,
        } if not rest:
            ends = [None if end is None else constant_from_json(end, "end") for end in (low, high)]
            return Interval(ends[0], ends[1], low_included, high_included)
    raise ArgumentError("restriction", document, "it must be an object with values, or with two ends", WRITTEN)
