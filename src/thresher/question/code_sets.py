"""The codes that a condition leaves in each column: sets of numbers or words, with or without NULL, and boxes of them.

Sets are exact. A box holds one set for each column. Boxes are joined and met exactly too, until there are so many that
one box around all of them takes their place: too large, never too small.
Reads: conditions, declarations. Writes: nothing. Never: data; the public list of a column, because rows may hold other
values.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from thresher.config import Listed, Referenced, Table, Text
from thresher.question.conditions import AllOf, AnyOf, Condition, Missing, NoneOf, OneOf, Present, Within

# Beyond any code.
_FAR = 1 << 70
_MOST_BOXES = 32


@dataclass(frozen=True, slots=True)
class Numbers:
    """Whole numbers in runs (both ends included, in order, with gaps between them), and NULL or not."""

    runs: tuple[tuple[int, int], ...]
    null: bool

    @property
    def nothing(self) -> bool:
        return not self.runs and not self.null

    def both(self, other: "Numbers") -> "Numbers":
        runs = []
        for low, high in self.runs:
            ends = ((max(low, start), min(high, end)) for start, end in other.runs)
            runs += [(start, end) for start, end in ends if start <= end]
        return Numbers(tuple(runs), self.null and other.null)

    def opposite(self) -> "Numbers":
        edges = [-_FAR, *(edge for low, high in self.runs for edge in (low - 1, high + 1)), _FAR]
        pairs = zip(edges[::2], edges[1::2], strict=True)
        return Numbers(tuple((low, high) for low, high in pairs if low <= high), not self.null)


@dataclass(frozen=True, slots=True)
class Words:
    """These words (with `besides`, all other words), and NULL or not."""

    words: frozenset[str]
    besides: bool
    null: bool

    @property
    def nothing(self) -> bool:
        # There are always words that are not listed.
        return not self.words and not self.besides and not self.null

    def both(self, other: "Words") -> "Words":
        null = self.null and other.null
        if self.besides and other.besides:
            return Words(self.words | other.words, besides=True, null=null)
        if self.besides:
            return Words(other.words - self.words, besides=False, null=null)
        words = self.words - other.words if other.besides else self.words & other.words
        return Words(words, besides=False, null=null)

    def opposite(self) -> "Words":
        return Words(self.words, not self.besides, not self.null)


CodeSet = Numbers | Words
# The codes that each column may hold; a column that is not named may hold anything.
Box = Mapping[str, CodeSet]

EVERYTHING: Box = {}


def both(one: CodeSet, other: CodeSet) -> CodeSet:
    """Return the codes in both sets, which belong to one column."""
    if isinstance(one, Numbers) and isinstance(other, Numbers):
        return one.both(other)
    if isinstance(one, Words) and isinstance(other, Words):
        return one.both(other)
    return one  # codes of one column are of one type; if they were not, the larger set would be safe


def either(one: CodeSet, other: CodeSet) -> CodeSet:
    """Return the codes in at least one of the sets, which belong to one column."""
    return both(one.opposite(), other.opposite()).opposite()


def meet(one: Sequence[Box], other: Sequence[Box]) -> list[Box]:
    """Return boxes of the rows that are in a box of each list; an empty list if there can be no such row."""
    met = [box for left in one for right in other if (box := _inside(left, right)) is not None]
    return met if len(met) <= _MOST_BOXES else [_around(met)]


def whole(table: Table) -> list[Box]:
    """Return one box around all rows. A column that declares a value for missing values is never NULL."""
    filled = [name for name, column in table.columns.items() if column.kind.missing is not None]
    return [{name: Numbers(((-_FAR, _FAR),), null=False) for name in filled}]


def boxes(condition: Condition, table: Table, *, holds: bool = True) -> list[Box]:
    """Return boxes around the rows for which the condition is true, or (not `holds`) is false or unknown."""
    if isinstance(condition, AllOf | AnyOf):
        parts = [boxes(part, table, holds=holds) for part in condition.parts]
        if isinstance(condition, AllOf) == holds:
            return reduce(meet, parts, [EVERYTHING])
        joined = [box for part in parts for box in part]
        return joined if len(joined) <= _MOST_BOXES else [_around(joined)]
    codes = _codes_of(condition, table)
    if codes is None:
        return [EVERYTHING]
    return [{condition.column: codes if holds else codes.opposite()}]


def _codes_of(leaf: Within | OneOf | NoneOf | Missing | Present, table: Table) -> CodeSet | None:
    """Return the codes for which a condition on one column is true; None if they are not known."""
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
    listed = Numbers(code_runs(int(code) for code in leaf.codes), null=False)
    return listed if isinstance(leaf, OneOf) else Numbers(listed.opposite().runs, null=False)


def code_runs(codes: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Return the codes as runs without gaps, in order."""
    runs: list[tuple[int, int]] = []
    for code in sorted(codes):
        if runs and code <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], code)
        else:
            runs.append((code, code))
    return tuple(runs)


def _inside(one: Box, other: Box) -> Box | None:
    """Return the box of the rows in both boxes; None if a column has no code left."""
    box = {**one, **{name: both(one[name], codes) if name in one else codes for name, codes in other.items()}}
    return None if any(codes.nothing for codes in box.values()) else box


def _around(listed: Sequence[Box]) -> Box:
    """Return one box around all of these."""
    shared = set.intersection(*(set(box) for box in listed))
    return {name: reduce(either, (box[name] for box in listed)) for name in shared}
