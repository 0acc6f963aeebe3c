"""Describe parts of a table by public conditions: regions, for each of which losses are counted.

    Constant          a value in a region's condition: an exact number, or text; a date is text such as "2024-01-31"
    Values, Interval  the restriction of one column
    Region            rows whose columns satisfy every restriction

A region restricts some declared columns and leaves every other column free, so two regions over different columns
always overlap: their common refinement has a cell inside both (Theorem 5 of the MIDE paper). Equal regions are equal
objects with equal hashes and equal JSON, so that a document about them can be hashed.
Constants are compared exactly, numbers by value and text by code points, so a source must compare them the same way:
numbers on the column's declared grid, text without case folding. Floats are refused because a database may round two
decimals to one double; two regions would then overlap although the account takes them as disjoint. NULL is not a
constant: a row with NULL in a column lies in no region that restricts that column, as in SQL. Columns are taken as
dense: between any two numbers or days lies another. This can only make more regions overlap.
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
# A place on a column: (1, c, -1) just below c, (1, c, 0) at c, (1, c, 1) just above; the two ends are infinite.
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
            rule = "it must hold one constant or more, all numbers or all text"
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
                raise ArgumentError(f"{name}_included", True, "an unbounded side has no end to include", "Pass False")
        low = FIRST if self.low is None else (1, self.low, 0 if self.low_included else 1)
        high = LAST if self.high is None else (1, self.high, 0 if self.high_included else -1)
        object.__setattr__(self, "constants", tuple(end for end in (self.low, self.high) if end is not None))
        object.__setattr__(self, "low_place", low)
        object.__setattr__(self, "high_place", high)
        if not self.constants:
            raise ArgumentError("low", None, "an interval needs a bound on one side at least", "Leave the column out")
        if not one_kind(self.constants, ordered=True):
            rule = "the ends of an interval must be numbers or days, because databases sort other text differently"
            field = "low" if self.high is None else "high"
            raise ArgumentError(field, self.constants[-1], rule, "List the values instead")
        if not self.low_place < self.high_place:
            rule = "an interval must hold more than one point"
            raise ArgumentError("high", self.high, rule, "Check the order of the ends, or use = for one value")

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
    """Rows whose columns satisfy every restriction; restrictions are sorted by column, one for each."""

    restrictions: tuple[tuple[str, Restriction], ...] = ()

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.restrictions, key=lambda pair: pair[0]))
        names = [_checked_column(name, "column") for name, _ in ordered]
        if len(set(names)) != len(names):
            rule = "a region has one restriction for a column"
            raise ArgumentError("column", names, rule, "Combine them with Region.where")
        object.__setattr__(self, "restrictions", ordered)

    @classmethod
    def everything(cls) -> "Region":
        """Return the region of all rows."""
        return cls()

    @classmethod
    def where(cls, conditions: Iterable[tuple[str, str, object]]) -> "Region":
        """Return the rows that satisfy all conditions, e.g. `("age", ">=", 18)` or `("building", "in", ["A", "B"])`."""
        region = cls()
        for column, operator, value in conditions:
            smaller = region.within(cls(((column, restriction(operator, value)),)))
            if smaller is None:
                rule = "together with the conditions before it, it is true for no row"
                raise ArgumentError("conditions", (column, operator, value), rule, "Drop one of them")
            region = smaller
        return region

    @classmethod
    def at(cls, columns: tuple[str, ...], key: Key) -> "Region":
        """Return the region of one group: rows whose `columns` equal `key`."""
        return cls(tuple((column, Values((value,))) for column, value in zip(columns, key, strict=True)))

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.restrictions)

    def within(self, other: "Region") -> "Region | None":
        """Return the region of rows in both, or None if there can be none.

        Where two restrictions cannot be compared, the result has this region's: it may be too large, never too small.
        """
        restrictions = dict(self.restrictions)
        for column, theirs in other.restrictions:
            both = _meet(restrictions[column], theirs) if column in restrictions else theirs
            if both is None:
                return None
            restrictions[column] = both
        return Region(tuple(restrictions.items()))

    def only(self, columns: Iterable[str]) -> "Region":
        """Return the smallest region that contains this one and restricts these columns only."""
        names = frozenset(columns)
        return Region(tuple((name, said) for name, said in self.restrictions if name in names))

    def __str__(self) -> str:
        return " and ".join(f"{name} {said}" for name, said in self.restrictions) or "everything"

    def to_json(self) -> dict[str, object]:
        """Return an object from column to restriction, sorted by column."""
        return {name: said.to_json() for name, said in self.restrictions}

    @classmethod
    def from_json(cls, document: object) -> "Region":
        if not isinstance(document, dict):
            raise ArgumentError("region", document, "it must be an object", WRITTEN)
        return cls(tuple((name, _restriction_from_json(said)) for name, said in document.items()))


def overlaps(first: Region, second: Region) -> bool:
    """Tell whether a row may lie in both: False only if it is proved that none can."""
    return first.within(second) is not None


def restriction(operator: str, value: object) -> Restriction:
    """Return the values for which `column operator value` is true; operators: = in < <= > >=."""
    if operator == "in":
        return Values(value)  # type: ignore[arg-type]  # Values checks it
    if operator not in ("=", "<", "<=", ">", ">="):
        rule = "it must be one of = in < <= > >="
        raise ArgumentError("operator", operator, rule, "Write other conditions with these")
    constant = checked_constant(value, "value")
    if operator == "=":
        return Values((constant,))
    if operator in ("<", "<="):
        return Interval(None, constant, False, operator == "<=")
    return Interval(constant, None, operator == ">=", False)


def between(low: object, high: object, *, high_included: bool = False) -> Restriction:
    """Return the values from `low` (included) to `high` (excluded, unless `high_included`)."""
    first, last = checked_constant(low, "low"), checked_constant(high, "high")
    return Values((first,)) if first == last and high_included else Interval(first, last, True, high_included)


def one_kind(constants: Iterable[Constant], *, ordered: bool) -> bool:
    """Tell whether exact comparison decides between these constants, and, if `ordered`, which comes first.

    To a database, a number and the text of a number may be one value. Different texts are different values, but only
    days have one order everywhere, and a text that is not a day may be a time on one.
    """
    listed = list(constants)
    kinds = {isinstance(constant, str) for constant in listed}
    return len(kinds) <= 1 and (not ordered or kinds == {False} or all(_is_day(constant) for constant in listed))


def _meet(first: Restriction, second: Restriction) -> Restriction | None:
    """Return the values that satisfy both; None if there are none; `first`, which has them all, if it is not known."""
    ordered = isinstance(first, Interval) or isinstance(second, Interval)
    if not one_kind((*first.constants, *second.constants), ordered=ordered):
        return first
    if isinstance(first, Values):
        common = tuple(member for member in first.constants if second.holds(member))
        return Values(common) if common else None
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


# Checks of arguments


def checked_constant(value: object, field: str) -> Constant:
    """Return `value` in its one canonical form, or raise an `ArgumentError` that names `field`."""
    if isinstance(value, str):
        return _encodable_text(value, field)
    if isinstance(value, Fraction | Decimal) or (isinstance(value, SupportsIndex) and not isinstance(value, bool)):
        return exact_fraction(value, field)  # type: ignore[arg-type]  # numpy's integers count as int here
    raise ArgumentError(field, value, "it must be an exact number or text", _CONSTANTS)


def _encodable_text(value: str, field: str) -> str:
    """Return text that has a UTF-8 form, so that it can be stored and hashed."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ArgumentError(field, value, "it holds half a surrogate pair", "Pass valid Unicode text") from None
    return str(value)


def checked_columns(columns: object, field: str) -> tuple[str, ...]:
    """Return the names of columns, each once, in the order given."""
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise ArgumentError(field, columns, "it must be a list of column names", 'Pass e.g. ("building",)')
    names = tuple(_checked_column(name, field) for name in columns)
    if len(set(names)) != len(names):
        raise ArgumentError(field, names, "each column must be named once", "Leave the repeated name out")
    return names


def checked_groups(columns: object, keys: Sequence[object]) -> tuple[tuple[str, ...], list[Key]]:
    """Return columns and the keys of groups: one constant for each column, in the order of columns; each key once."""
    names, checked = checked_columns(columns, "columns"), list[Key]()
    for key in keys:
        if not isinstance(key, tuple) or len(key) != len(names):
            raise ArgumentError("key", key, f"it must hold one constant for each of {names}", "Pass a tuple")
        named = zip(names, key, strict=True)
        checked.append(tuple(checked_constant(value, f"key.{column}") for column, value in named))
    if len(set(checked)) < len(checked):
        twice = next(key for i, key in enumerate(checked) if key in checked[:i])
        raise ArgumentError("key", twice, "each group must have one amount", "Add up the amounts of the group")
    for i, column in enumerate(names):
        # To a database 1 and "1" may be one value: two groups here would be one group there.
        if len({isinstance(key[i], str) for key in checked}) > 1:
            rule = "the keys of a column must be all texts or all numbers"
            raise ArgumentError("key", column, rule, "Use one kind for all keys")
    return names, checked


def _checked_column(name: object, field: str) -> str:
    if not name or not isinstance(name, str):
        raise ArgumentError(field, name, "a column's name must be text that is not empty", "Pass the declared name")
    return _encodable_text(name, field)


def _is_day(constant: Constant) -> bool:
    """Tell whether a constant is a calendar day, the only text that all databases sort alike."""
    if not isinstance(constant, str) or not _DAY.fullmatch(constant):
        return False
    try:
        date.fromisoformat(constant)
    except ValueError:
        return False
    return True


# JSON


def constant_to_json(constant: Constant) -> object:
    """Return text as itself and a number as {"number": "5/2"}, because most JSON readers make floats of numbers."""
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
