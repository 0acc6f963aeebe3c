"""What a region says about one column: a finite set of constants, or an interval of numbers or days.

Every set of values has one form here: values are sorted and distinct, and an interval of one point is a set. Columns
are taken as dense: between any two numbers or days lies another. That can only make more restrictions overlap.
Reads: arguments. Writes: nothing. Never: says that two restrictions are disjoint without a proof.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from thresher.accounting.constants import (
    Constant,
    ConstantLike,
    checked_constant,
    constant_from_json,
    constant_to_json,
    is_day,
    sort_key,
)
from thresher.accounting.documents import fields_of, list_of, truth_of
from thresher.errors import ArgumentError

# A place on a column's line: (1, c, -1) just below c, (1, c, 0) at c, (1, c, 1) just above; the ends are infinite.
Place = tuple[int] | tuple[int, Constant, int]
FIRST: Place = (0,)
LAST: Place = (2,)


@dataclass(frozen=True, slots=True)
class Values:
    """The column equals one of these constants; all are numbers or all are text."""

    members: tuple[Constant, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.members, tuple | list | set | frozenset):
            raise ArgumentError("values", self.members, "it must be a list of constants", "Pass a tuple")
        members = {checked_constant(member, "values") for member in self.members}
        if not members or len({type(member) for member in members}) > 1:
            rule = "a set holds one constant or more, all numbers or all text"
            raise ArgumentError("values", self.members, rule, "List the constants of one kind")
        object.__setattr__(self, "members", tuple(sorted(members, key=sort_key)))

    @property
    def constants(self) -> tuple[Constant, ...]:
        return self.members

    @property
    def starts(self) -> tuple[Place, ...]:
        """Where it begins: each value begins and ends at itself."""
        return tuple((1, member, 0) for member in self.members)

    def __str__(self) -> str:
        if len(self.members) == 1:
            return f"= {_shown(self.members[0])}"
        return f"in ({', '.join(_shown(member) for member in self.members)})"


@dataclass(frozen=True, slots=True)
class Interval:
    """The column lies between two constants, both numbers or both days; None means unbounded on that side."""

    low: Constant | None
    high: Constant | None
    low_included: bool
    high_included: bool

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            end = getattr(self, name)
            object.__setattr__(self, name, None if end is None else checked_constant(end, name))
            if end is None and getattr(self, f"{name}_included"):
                raise ArgumentError(f"{name}_included", True, "an unbounded side includes no end", "Pass False")
        if not self.constants:
            raise ArgumentError("low", None, "an interval is bounded on one side at least", "Leave the column out")
        if not one_kind(self.constants, ordered=True):
            rule = "an interval has numbers or days as its ends, because other text has no order all databases share"
            field = "low" if self.high is None else "high"
            raise ArgumentError(field, self.constants[-1], rule, "List the values instead")
        if not self.low_place < self.high_place:
            rule = "an interval holds more than one point"
            raise ArgumentError("high", self.high, rule, "Check the order of the ends, or ask for one value")

    @property
    def constants(self) -> tuple[Constant, ...]:
        return tuple(end for end in (self.low, self.high) if end is not None)

    @property
    def starts(self) -> tuple[Place, ...]:
        """Where it begins: its lower end, or the far left."""
        return (self.low_place,)

    @property
    def low_place(self) -> Place:
        return FIRST if self.low is None else (1, self.low, 0 if self.low_included else 1)

    @property
    def high_place(self) -> Place:
        return LAST if self.high is None else (1, self.high, 0 if self.high_included else -1)

    def __str__(self) -> str:
        left = "" if self.low is None else f"{'>=' if self.low_included else '>'} {self.low}"
        right = "" if self.high is None else f"{'<=' if self.high_included else '<'} {self.high}"
        return " and ".join(part for part in (left, right) if part)


Restriction = Values | Interval


def restriction(operator: str, value: object) -> Restriction:
    """The set of values for which `column operator value` holds; operators: = in < <= > >=."""
    if operator == "=":
        return Values((checked_constant(value, "value"),))
    if operator == "in":
        return Values(value)  # type: ignore[arg-type]  # Values checks it
    if operator in ("<", "<="):
        return Interval(None, checked_constant(value, "value"), False, operator == "<=")
    if operator in (">", ">="):
        return Interval(checked_constant(value, "value"), None, operator == ">=", False)
    raise ArgumentError("operator", operator, "it must be one of = in < <= > >=", "Split other conditions into these")


def between(low: ConstantLike, high: ConstantLike, *, high_included: bool = False) -> Restriction:
    """From `low` (included) to `high` (excluded unless said otherwise)."""
    first, last = checked_constant(low, "low"), checked_constant(high, "high")
    return Values((first,)) if first == last and high_included else Interval(first, last, True, high_included)


def one_kind(constants: Iterable[Constant], *, ordered: bool) -> bool:
    """Whether exact comparison decides between these constants; `ordered` if it must also say which comes first.

    A number and the text of a number may be one value to a database. Text that differs is different, but only days
    are in an order, and a text that is no day may be a time of one.
    """
    listed = list(constants)
    kinds = {isinstance(constant, str) for constant in listed}
    return len(kinds) <= 1 and (not ordered or kinds == {False} or all(is_day(constant) for constant in listed))


def comparable(first: Restriction, second: Restriction) -> bool:
    """Whether exact comparison decides if the two meet."""
    ordered = isinstance(first, Interval) or isinstance(second, Interval)
    return one_kind((*first.constants, *second.constants), ordered=ordered)


def meet(first: Restriction, second: Restriction) -> Restriction | None:
    """The values that satisfy both; None if there are none; `first`, which holds them all, if that is not known."""
    if not comparable(first, second):
        return first
    if isinstance(first, Values):
        kept = tuple(member for member in first.members if _holds(second, member))
        return Values(kept) if kept else None
    if isinstance(second, Values):
        return meet(second, first)
    low, high = max(first.low_place, second.low_place), min(first.high_place, second.high_place)
    if low > high:
        return None
    lowest = first if low == first.low_place else second
    highest = first if high == first.high_place else second
    if low == high and lowest.low is not None:
        return Values((lowest.low,))
    return Interval(lowest.low, highest.high, lowest.low_included, highest.high_included)


def restriction_to_json(said: Restriction) -> dict[str, object]:
    if isinstance(said, Values):
        return {"values": [constant_to_json(member) for member in said.members]}
    return {
        "high": None if said.high is None else constant_to_json(said.high),
        "high_included": said.high_included,
        "low": None if said.low is None else constant_to_json(said.low),
        "low_included": said.low_included,
    }


def restriction_from_json(document: object) -> Restriction:
    if isinstance(document, dict) and "values" in document:
        members = list_of(fields_of(document, "restriction", ["values"])["values"], "values")
        return Values(tuple(constant_from_json(member, "values") for member in members))
    said = fields_of(document, "restriction", ["high", "high_included", "low", "low_included"])
    low, high = (None if said[end] is None else constant_from_json(said[end], end) for end in ("low", "high"))
    included = [truth_of(said[name], name) for name in ("low_included", "high_included")]
    return Interval(low, high, included[0], included[1])


def _holds(said: Restriction, constant: Constant) -> bool:
    if isinstance(said, Values):
        return constant in said.members
    return said.low_place <= (1, constant, 0) <= said.high_place


def _shown(constant: Constant) -> str:
    return repr(constant) if isinstance(constant, str) else str(constant)
