"""The parts that waste least: an exact optimum over all cuts, for a given number of parts.

The literature's dynamic program, corrected: the empty beginning is free for no parts and forbidden for any, and the
last part is never empty. Costs are Monge, so the best last cut only moves right as people are added, and each number of
parts takes n log n comparisons instead of n squared. Why the comparisons are exact though sums pass 64 bits:
`partition.md`.
Reads: a roster. Writes: nothing. Never: data.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import whole_number
from thresher.errors import ArgumentError
from thresher.mechanisms.compiled import compiled, compiler
from thresher.personal.parts import Parts, first_class
from thresher.personal.roster import Roster

Whole = NDArray[np.int64]
Floats = NDArray[np.float64]
_UNIT = 2.0**-52


def partition(roster: Roster, parts: int, *, least_size: int = 1) -> Parts:
    """The `parts` parts, each of at least `least_size` people, with the least total waste (the first such in order).

    Privacy: a function of the roster alone; a release of each part at its level costs each person at most that
    person's budget. Utility: `Parts.waste`, the least there is, exactly. Runtime: O(parts · classes · log classes).
    Citation: Li, Xiong, Ji, Jiang (2017), Algorithm 1, corrected.
    """
    first = first_class(roster)
    parts, least_size = whole_number(parts, "parts"), whole_number(least_size, "least_size")
    people = np.concatenate([[0], np.cumsum(roster.sizes[first:])])
    starts = first_ends(people, parts, least_size)
    above = roster.nano[first:] - roster.nano[first]
    level = above // max(int(np.gcd.reduce(above)), 1)
    total = int(people[-1])
    bound = float(total) * float(level[-1]) ** 2
    margin = (8 * parts + 8) * _UNIT * bound
    if margin > 2.0**61 or total * int(level[-1]) > 2**61:
        rule = "its budgets are too many and too far apart to be compared exactly"
        raise ArgumentError("roster", f"{total} people", rule, "Floor the budgets to a coarser grid")
    sums = np.concatenate([[0], np.cumsum(roster.sizes[first:] * level)])
    latest = np.searchsorted(people, people - least_size, side="right") - 1
    table = _Table(np.append(level, 0), people, sums, latest, margin)
    return Parts.of(roster, tuple(first + cut for cut in _cuts(table, parts, starts)))


def first_ends(people: Whole, parts: int, least_size: int) -> list[int]:
    """For 0, 1, ... parts of at least that size, the fewest classes that hold them; refused if there are too few."""
    if parts < 1:
        raise ArgumentError("parts", parts, "there is one part at least", "Pass 1 or more")
    if least_size < 1:
        raise ArgumentError("least_size", least_size, "a part has one person at least", "Pass 1 or more")
    starts = [0]
    while len(starts) <= parts:
        end = int(np.searchsorted(people, people[starts[-1]] + least_size))
        if end == people.size:
            rule = f"equal budgets stay together, so at most {len(starts) - 1} parts have {least_size} people or more"
            raise ArgumentError("parts", parts, rule, "Pass fewer parts, or a smaller least_size")
        starts.append(end)
    return starts


@dataclass(frozen=True, slots=True)
class _Table:
    """Prefix sums over classes. A part of classes j to i - 1 gains level_j (level_j people - 2 sum of levels)."""

    level: Whole
    people: Whole
    sums: Whole
    latest: Whole  # where the last part must have begun, to be large enough, if it ends before class i
    margin: float  # no gain in floats is farther than half of this from the exact one


def _cuts(table: _Table, parts: int, starts: list[int]) -> list[int]:
    size = table.people.size
    layer = _layer if compiler() is not None else _plain_layer
    # Levels count from the least: a first part, which begins there, gains 0 wherever it ends.
    near, exact = np.zeros(size), np.zeros(size, dtype=np.int64)
    chosen: list[Whole] = []
    for made in range(2, parts + 1):
        # The last part ends where the roster does: of its rows only the last one is wanted.
        top = starts[made] if made < parts else size - 1
        near, exact, begun = layer(*_arrays(table), near, exact, starts[made - 1], top)
        chosen.append(begun)
    cuts = [size - 1]
    for begun in reversed(chosen):
        cuts.append(int(begun[cuts[-1]]))
    return cuts[:0:-1]


def _arrays(table: _Table) -> tuple[Whole, Whole, Whole, Whole, float]:
    return table.level, table.people, table.sums, table.latest, table.margin


@compiled
def _layer(
    level: Whole, people: Whole, sums: Whole, latest: Whole, margin: float,
    near: Floats, exact: Whole, earliest: int, top: int,
) -> tuple[Floats, Whole, Whole]:  # fmt: skip
    """With one part more: the gains of the best cuts before each row from `top`, and where the last part begins.

    `near` and `exact` are the gains with one part fewer: as a float, and modulo 2^64.
    """
    size = people.size
    rows = size - top
    best_near, best_exact, begun = np.zeros(size), np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    step = 1
    while 2 * step <= rows:
        step *= 2
    while step > 0:
        for place in range(step, rows + 1, 2 * step):
            i = top - 1 + place
            low = begun[i - step] if place > step else earliest
            high = latest[i]
            if place + step <= rows and begun[i + step] < high:
                high = begun[i + step]
            best, value, whole = low, np.inf, exact[low]
            for j in range(low, high + 1):
                gain = level[j] * (people[i] - people[j]) - 2 * (sums[i] - sums[j])
                found = near[j] + float(level[j]) * float(gain)
                if found <= value + margin:
                    precise = exact[j] + level[j] * gain
                    if found < value - margin or precise - whole < 0:
                        best, value, whole = j, found, precise
            best_near[i], best_exact[i], begun[i] = value, whole, best
        step //= 2
    return best_near, best_exact, begun


def _plain_layer(
    level: Whole, people: Whole, sums: Whole, latest: Whole, margin: float,
    near: Floats, exact: Whole, earliest: int, top: int,
) -> tuple[Floats, Whole, Whole]:  # fmt: skip
    """The same without a compiler: all rows of one step at once."""
    size = people.size
    rows = size - top
    best_near, best_exact, begun = np.zeros(size), np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    step = 1 << (rows.bit_length() - 1)
    while step > 0:
        place = np.arange(step, rows + 1, 2 * step)
        i = top - 1 + place
        low = np.where(place > step, begun[i - step], earliest)
        high = np.where(place + step <= rows, begun[np.minimum(i + step, size - 1)], size)
        width = np.minimum(high, latest[i]) - low + 1
        edges = np.cumsum(width) - width
        row = np.repeat(np.arange(place.size), width)
        j = np.arange(row.size) + (low - edges)[row]
        gain = level[j] * (people[i][row] - people[j]) - 2 * (sums[i][row] - sums[j])
        found = near[j] + level[j] * gain.astype(np.float64)
        close = np.flatnonzero(found <= (np.minimum.reduceat(found, edges) + margin)[row])
        row, j, found, precise = row[close], j[close], found[close], exact[j[close]] + level[j[close]] * gain[close]
        edges = np.searchsorted(row, np.arange(place.size))
        above = precise - precise[edges][row]
        least = np.flatnonzero(above == np.minimum.reduceat(above, edges)[row])
        least = least[np.searchsorted(row[least], np.arange(place.size))]
        best_near[i], best_exact[i], begun[i] = found[least], precise[least], j[least]
        step //= 2
    return best_near, best_exact, begun
