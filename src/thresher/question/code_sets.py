"""Which codes a condition leaves in each column: sets of numbers or words, with or without NULL, and boxes of them.

Sets are exact; boxes (one set for each column) are joined and met exactly too, until there are so many that one box
around all of them takes their place: too large, never too small.
Reads: conditions, declarations. Writes: nothing. Never: data; the public list of a column, which rows need not keep to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from thresher.config import Listed, Referenced, Table, Text
from thresher.question.conditions import AllOf, AnyOf, Condition, Missing, NoneOf, OneOf, Present, Within

# Beyond any code.
_FAR = 1 << 70
_MOST_BOXES = 32


@dataclass(frozen=True, slots=True)
class Numbers:
    """Whole numbers in these runs (both ends included, in order, apart from one another), and NULL or not."""

    runs: tuple[tuple[int, int], ...]
    null: bool

    @property
    def nothing(self) -> bool:
        return not self.runs and not self.null

    def both(self, other: "Numbers") -> "Numbers":
        found = []
        for low, high in self.runs:
            ends = ((max(low, start), min(high, end)) for start, end in other.runs)
            found += [(start, end) for start, end in ends if start <= end]
        return Numbers(tuple(found), self.null and other.null)

    def opposite(self) -> "Numbers":
        edges = [-_FAR, *(edge for low, high in self.runs for edge in (low - 1, high + 1)), _FAR]
        pairs = zip(edges[::2], edges[1::2], strict=True)
        return Numbers(tuple((low, high) for low, high in pairs if low <= high), not self.null)


@dataclass(frozen=True, slots=True)
class Words:
    """These words (or, `besides`, all others), and NULL or not."""

    words: frozenset[str]
    besides: bool
    null: bool

    @property
    def nothing(self) -> bool:
        # Whatever is listed, there are other words.
        return not self.words and not self.besides and not self.null

    def both(self, other: "Words") -> "Words":
        null = self.null and other.null
        if self.besides and other.besides:
            return Words(self.words | other.words, besides=True, null=null)
        if self.besides:
            return Words(other.words - self.words, besides=False, null=null)
        kept = self.words - other.words if other.besides else self.words & other.words
        return Words(kept, besides=False, null=null)

    def opposite(self) -> "Words":
        return Words(self.words, not self.besides, not self.null)


CodeSet = Numbers | Words
# What each column may hold; a column that is not named may hold anything.
Box = Mapping[str, CodeSet]

EVERYTHING: Box = {}


def both(one: CodeSet, other: CodeSet) -> CodeSet:
    """What is in both sets, which are of one column."""
    if isinstance(one, Numbers) and isinstance(other, Numbers):
        return one.both(other)
    if isinstance(one, Words) and isinstance(other, Words):
        return one.both(other)
    return one  # codes of one column are of one type; were they not, the larger set would be the safe one


def either(one: CodeSet, other: CodeSet) -> CodeSet:
    return both(one.opposite(), other.opposite()).opposite()


def meet(one: Sequence[Box], other: Sequence[Box]) -> list[Box]:
    """Rows that are in some box of both; an empty list if there can be none."""
    found = [box for left in one for right in other if (box := _inside(left, right)) is not None]
    return found if len(found) <= _MOST_BOXES else [_around(found)]


def whole(table: Table) -> list[Box]:
    """All rows: columns whose declaration puts a value wherever there is none are never NULL."""
    kept = [name for name, column in table.columns.items() if column.kind.missing is not None]
    return [{name: Numbers(((-_FAR, _FAR),), null=False) for name in kept}]


def boxes(condition: Condition, table: Table, *, holds: bool = True) -> list[Box]:
    """Boxes around the rows for which the condition is true, or (not `holds`) is false or unknown."""
    if isinstance(condition, AllOf | AnyOf):
        parts = [boxes(part, table, holds=holds) for part in condition.parts]
        if isinstance(condition, AllOf) == holds:
            return reduce(meet, parts, [EVERYTHING])
        found = [box for part in parts for box in part]
        return found if len(found) <= _MOST_BOXES else [_around(found)]
    held = _held(condition, table)
    if held is None:
        return [EVERYTHING]
    return [{condition.column: held if holds else held.opposite()}]


def _held(leaf: Within | OneOf | NoneOf | Missing | Present, table: Table) -> CodeSet | None:
    """The codes for which a condition on one column is true; None if that is not known."""
    kind = table.columns[leaf.column].kind
    if isinstance(kind, Referenced):
        return None
    if isinstance(kind, Listed | Text):
        return _words(leaf)
    return _numbers(leaf)


def _words(leaf: Within | OneOf | NoneOf | Missing | Present) -> CodeSet | None:
    if isinstance(leaf, Within):
        return None
    if isinstance(leaf, Missing | Present):
        return Words(frozenset(), besides=isinstance(leaf, Present), null=isinstance(leaf, Missing))
    if any(not isinstance(code, str) for code in leaf.codes):
        return None
    return Words(frozenset(map(str, leaf.codes)), isinstance(leaf, NoneOf), null=False)


def _numbers(leaf: Within | OneOf | NoneOf | Missing | Present) -> CodeSet | None:
    if isinstance(leaf, Missing):
        return Numbers((), null=True)
    if isinstance(leaf, Present):
        return Numbers(((-_FAR, _FAR),), null=False)
    if isinstance(leaf, Within):
        low, high = -_FAR if leaf.low is None else leaf.low, _FAR if leaf.high is None else leaf.high
        return Numbers(((low, high),) if low <= high else (), null=False)
    if any(isinstance(code, str) for code in leaf.codes):
        return None
    listed = Numbers(_runs(sorted(int(code) for code in leaf.codes)), null=False)
    return listed if isinstance(leaf, OneOf) else Numbers(listed.opposite().runs, null=False)


def _runs(codes: Sequence[int]) -> tuple[tuple[int, int], ...]:
    runs: list[tuple[int, int]] = []
    for code in codes:
        if runs and code <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], code)
        else:
            runs.append((code, code))
    return tuple(runs)


def _inside(one: Box, other: Box) -> Box | None:
    """The rows that are in both boxes; None if a column has nothing left."""
    found = dict(one)
    for name, held in other.items():
        kept = both(found[name], held) if name in found else held
        if kept.nothing:
            return None
        found[name] = kept
    return None if any(held.nothing for held in found.values()) else found


def _around(listed: Sequence[Box]) -> Box:
    """One box around all of them."""
    shared = set.intersection(*(set(box) for box in listed))
    return {name: reduce(either, (box[name] for box in listed)) for name in shared}
