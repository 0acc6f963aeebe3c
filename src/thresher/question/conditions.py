"""Conditions on rows, in codes (see `config/columns.py`). There is no NOT: it was pushed to the leaves.

A row with NULL in a column satisfies no condition on that column but `Missing`, as in SQL, where a comparison with
NULL is unknown and NOT unknown is unknown too.
Reads: nothing. Writes: nothing. Never: a value that came from the protected data.
"""

from dataclasses import dataclass

from thresher.config import Code


@dataclass(frozen=True, slots=True)
class Within:
    """`low` <= code <= `high`; None is no bound. Only for columns whose codes are numbers."""

    column: str
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class OneOf:
    """The code is one of these, sorted and distinct; never none of them (that is `NEVER`)."""

    column: str
    codes: tuple[Code, ...]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """There is a code, and it is none of these."""

    column: str
    codes: tuple[Code, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """The column holds NULL, or a value that its declaration leaves out."""

    column: str


@dataclass(frozen=True, slots=True)
class Present:
    """The column holds a value that its declaration knows."""

    column: str


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part holds; without parts it always does."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Some part holds; without parts it never does."""

    parts: tuple["Condition", ...]


Condition = Within | OneOf | NoneOf | Missing | Present | AllOf | AnyOf

ALWAYS = AllOf(())
NEVER = AnyOf(())


def columns_of(condition: Condition) -> frozenset[str]:
    """The columns a condition looks at."""
    if isinstance(condition, AllOf | AnyOf):
        return frozenset().union(*(columns_of(part) for part in condition.parts))
    return frozenset({condition.column})
