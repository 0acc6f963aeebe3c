"""Find the deepest point under weighted boxes, by branch and bound over columns: exact unless the work runs out.

A box spans some numbered places on some columns, and all places on the others. The depth of a point is the sum of the
weights of the boxes that contain it. Boxes of one family exclude each other, so a family adds at most its heaviest
box: that gives the bound. Columns that no box links are searched separately, because their maxima add.
Reads: integers. Writes: nothing. Never: a result below the true depth.
Proof: `composition.md`.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Span = range | tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """A weight on the places that `spans` lists for each column."""

    weight: int
    family: int
    spans: Mapping[int, Span]


@dataclass(frozen=True, slots=True)
class Depth:
    """The largest depth: `value` is never below it, and equals it if `exact`."""

    value: int
    exact: bool


class Search:
    """One search. Its work is the number of boxes met in opened places; past `limit`, bounds are used instead."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._work = 0

    def deepest(self, boxes: Sequence[Box], columns: frozenset[int]) -> Depth:
        """Return the largest depth, where only `columns` are still open."""
        value, exact = 0, True
        for part, linked in _unlinked(boxes, columns):
            if len(linked) > 1:
                depth = self._branched(part, linked)
                value, exact = value + depth.value, exact and depth.exact
            else:
                value += sum(box.weight for box in part) if not linked else _swept(part, next(iter(linked)))
        return Depth(value, exact)

    def _branched(self, boxes: Sequence[Box], columns: frozenset[int]) -> Depth:
        """Fix one column at each of its places in turn, the most promising place first."""
        column = _most_used(boxes, columns)
        free = [box for box in boxes if column not in box.spans]
        rest = columns - {column}
        places = sorted(((bound(met), met) for met in _met_at_places(boxes, column)), key=lambda place: -place[0])
        everywhere = bound(free)
        best = Depth(0, True)
        for most, met in places:
            if most + everywhere <= best.value:
                break
            self._work += len(met) + len(free)
            spent = self._work > self._limit
            depth = Depth(most + everywhere, False) if spent else self.deepest([*free, *met], rest)
            if depth.value > best.value or (depth.value == best.value and depth.exact):
                best = depth
        return best


def bound(boxes: Sequence[Box]) -> int:
    """Return the sum of the heaviest box of each family: no point lies deeper."""
    heaviest: defaultdict[int, int] = defaultdict(int)
    for box in boxes:
        heaviest[box.family] = max(heaviest[box.family], box.weight)
    return sum(heaviest.values())


def _unlinked(boxes: Sequence[Box], columns: frozenset[int]) -> list[tuple[list[Box], frozenset[int]]]:
    """Divide boxes into parts that share no open column; return each part with its open columns."""
    leader = {column: column for column in columns}

    def find(column: int) -> int:
        while leader[column] != column:
            leader[column] = column = leader[leader[column]]
        return column

    # All boxes of a family restrict the same columns, so one box of each shows which columns are linked.
    shapes = {box.family: [column for column in box.spans if column in columns] for box in boxes}
    for shape in shapes.values():
        for column in shape[1:]:
            leader[find(column)] = find(shape[0])
    parts: defaultdict[int, list[Box]] = defaultdict(list)
    for box in boxes:
        shape = shapes[box.family]
        parts[find(shape[0]) if shape else -1].append(box)
    linked: defaultdict[int, set[int]] = defaultdict(set)
    for shape in shapes.values():
        linked[find(shape[0]) if shape else -1].update(shape)
    return [(part, frozenset(linked[first])) for first, part in parts.items()]


def _most_used(boxes: Sequence[Box], columns: frozenset[int]) -> int:
    """Return the column that most families restrict: to fix it is most likely to unlink the others."""
    used = dict.fromkeys(sorted(columns), 0)
    for spans in {box.family: box.spans for box in boxes}.values():
        for column in spans:
            if column in used:
                used[column] += 1
    return max(used, key=lambda column: used[column])


def _starts(boxes: Sequence[Box], column: int) -> list[int]:
    """Return the places where a span begins: a deepest point can be moved down to such a place."""
    starts: set[int] = set()
    for box in boxes:
        span = box.spans.get(column, ())
        starts.update(span[:1] if isinstance(span, range) else span)
    return sorted(starts)


def _met_at_places(boxes: Sequence[Box], column: int) -> list[list[Box]]:
    """Return, for each place, the boxes that span it; places with the same boxes are listed once."""
    starts = _starts(boxes, column)
    met: dict[int, list[int]] = {place: [] for place in starts}
    for i, box in enumerate(boxes):
        span = box.spans.get(column, ())
        if isinstance(span, range):
            span = tuple(starts[bisect_left(starts, span.start) : bisect_left(starts, span.stop)])
        for place in span:
            met[place].append(i)
    return [[boxes[i] for i in chosen] for chosen in dict.fromkeys(map(tuple, met.values()))]


def _swept(boxes: Sequence[Box], column: int) -> int:
    """Return the largest depth if one column is left, by a sweep along it."""
    at: defaultdict[int, int] = defaultdict(int)
    change: defaultdict[int, int] = defaultdict(int)
    for box in boxes:
        span = box.spans[column]
        if isinstance(span, range):
            change[span.start] += box.weight
            change[span.stop] -= box.weight
            at[span.start] += 0
        else:
            for place in span:
                at[place] += box.weight
    deepest, running, turns = 0, 0, sorted(change)
    turn = 0
    for place in sorted(at):
        while turn < len(turns) and turns[turn] <= place:
            running += change[turns[turn]]
            turn += 1
        deepest = max(deepest, running + at[place])
    return deepest
