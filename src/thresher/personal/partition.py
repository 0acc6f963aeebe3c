"""Find the parts that waste least, exactly, for a given number of parts.

This is the literature's dynamic program, corrected: each part holds at least one person. As people are added, the best
last cut never moves to the left (costs are Monge), so each number of parts takes n log n comparisons instead of n
squared. Why the comparisons are exact although sums pass 64 bits: `partition.md`.
Reads: a roster. Writes: nothing. Never: data; a round whose parts depend on an earlier round's release.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon, whole_number
from thresher.errors import ArgumentError
from thresher.mechanisms.compiled import compiled, compiler
from thresher.personal.parts import Parts, Rounds, after, first_class
from thresher.personal.roster import Roster

Whole = NDArray[np.int64]
# Levels of the classes in order; and before each of them: people, sums of levels, latest beginning of a last part.
Table = tuple[Whole, Whole, Whole, Whole]
# What parts before each class gain: as floats, and modulo 2^64.
Gains = tuple[NDArray[np.float64], Whole]
Layer = Callable[[Table, Gains, float, int, int], tuple[Gains, Whole]]


def partition(roster: Roster, parts: int, *, least_size: int = 1) -> Parts:
    """Cut the classes into `parts` runs, each of at least `least_size` people, with the least total waste.

    Privacy: a function of the roster alone; a release of each part at its level costs each person at most that
    person's budget. Utility: `Parts.waste`, the least there is, exactly; of equals, the parts whose
    last cuts are earliest. Runtime: O(parts · classes · log classes).
    Citation: Li, Xiong, Ji, Jiang (2017), Algorithm 1, corrected.
    """
    parts, least_size = whole_number(parts, "parts"), whole_number(least_size, "least_size")
    first = first_class(roster)
    table = _table(roster.nano[first:], roster.sizes[first:], least_size)
    ends = first_ends(table[1], parts, least_size)
    cuts = _cuts(table, _margin(table, parts), ends, _layer if compiler() is not None else _plain_layer)
    return Parts.of(roster, tuple(first + cut for cut in cuts))


def in_rounds(roster: Roster, parts: int, rounds: int, *, least_size: int = 1) -> Rounds:
    """Return up to `rounds` rounds of up to `parts` parts of least waste; rounds end when too few people have any left.

    Privacy: a function of the roster alone; releases of all parts of all rounds cost each person at most that
    person's budget. Utility: what people have left after a round, squared and summed, is its waste, the least there is.
    Proof: `partition.md`. Citation: Li, Xiong, Ji, Jiang (2017), section 4.3.
    """
    if (rounds := whole_number(rounds, "rounds")) < 1:
        raise ArgumentError("rounds", rounds, "there must be at least one round", "Pass 1 or more")
    made, left = [partition(roster, parts, least_size=least_size)], roster
    while True:
        left = after(made[-1])
        possible = min(parts, most_parts(left, least_size))
        if len(made) == rounds or not possible:
            break
        made.append(partition(left, possible, least_size=least_size))
    unspent = np.zeros_like(roster.nano)
    unspent[roster.classes] = left.nano[left.classes]
    spent = tuple(Epsilon.from_nano(nano) for nano in (roster.nano - unspent).tolist())
    return Rounds(roster, tuple(made), spent, left)


def _table(nano: Whole, sizes: Whole, least_size: int) -> Table:
    above = nano - nano[0]
    level = above // max(int(np.gcd.reduce(above)), 1)
    people = np.concatenate([[0], np.cumsum(sizes)])
    if int(people[-1]) * int(level[-1]) > 2**61:
        raise _too_far(people)
    sums = np.concatenate([[0], np.cumsum(sizes * level)])
    latest = np.searchsorted(people, people - least_size, side="right") - 1
    return np.append(level, 0), people, sums, latest


def _margin(table: Table, parts: int) -> float:
    """Return by how much gains must differ for floats to tell them apart; smaller differences are exact modulo 2^64."""
    margin = 32 * parts * 2.0**-52 * float(table[1][-1]) * float(table[0].max()) ** 2
    if margin > 2.0**61:
        raise _too_far(table[1])
    return margin


def _too_far(people: Whole) -> ArgumentError:
    rule = "its budgets are too many and too far apart to be compared exactly"
    return ArgumentError("roster", f"{people[-1]} people", rule, "Floor the budgets to a coarser grid")


def most_parts(roster: Roster, least_size: int = 1) -> int:
    """Return how many parts of at least that many people the roster can have; equal budgets stay together."""
    first = int(np.searchsorted(roster.nano, 1))
    return len(first_ends(np.concatenate([[0], np.cumsum(roster.sizes[first:])]), None, least_size)) - 1


def first_ends(people: Whole, parts: int | None, least_size: int) -> list[int]:
    """For 0, 1, ... parts of at least that size, the fewest classes that hold them; refused if `parts` are too many."""
    if parts is not None and parts < 1:
        raise ArgumentError("parts", parts, "there is one part at least", "Pass 1 or more")
    if least_size < 1:
        raise ArgumentError("least_size", least_size, "a part has one person at least", "Pass 1 or more")
    ends = [0]
    while parts is None or len(ends) <= parts:
        end = int(np.searchsorted(people, people[ends[-1]] + least_size))
        if end < people.size:
            ends.append(end)
        elif parts is None:
            break
        else:
            rule = f"equal budgets stay together, so at most {len(ends) - 1} parts have {least_size} people or more"
            raise ArgumentError("parts", parts, rule, "Pass fewer parts, or a smaller least_size")
    return ends


def _cuts(table: Table, margin: float, ends: list[int], layer: Layer) -> list[int]:
    size, parts = table[0].size, len(ends) - 1
    # Levels count from the least: a first part, which begins there, gains 0 wherever it ends.
    gains = np.zeros(size), np.zeros(size, dtype=np.int64)
    chosen: list[Whole] = []
    for made in range(2, parts + 1):
        # The last part ends where the roster does: of its rows only the last one is wanted.
        top = ends[made] if made < parts else size - 1
        gains, begun = layer(table, gains, margin, ends[made - 1], top)
        chosen.append(begun)
    cuts = [size - 1]
    for begun in reversed(chosen):
        cuts.append(int(begun[cuts[-1]]))
    return cuts[:0:-1]


@compiled
def _layer(table: Table, gains: Gains, margin: float, earliest: int, top: int) -> tuple[Gains, Whole]:
    """Add one part: return the gains of the best cuts before each row from `top`, and where the last part begins."""
    (level, people, sums, latest), (near, exact) = table, gains
    rows = people.size - top
    best_near, best_exact, begun = np.zeros(near.size), np.zeros_like(exact), np.zeros_like(exact)
    slope = level.astype(np.float64)
    base = near + slope * (2 * sums - level * people).astype(np.float64)
    step = 1
    while 2 * step <= rows:
        step *= 2
    while step > 0:
        for place in range(step, rows + 1, 2 * step):
            i = top - 1 + place
            low = begun[i - step] if place > step else earliest
            high = min(latest[i], begun[i + step]) if place + step <= rows else latest[i]
            count, twice = float(people[i]), float(2 * sums[i])
            best, value = low, base[low] + slope[low] * (slope[low] * count - twice)
            for j in range(low + 1, high + 1):
                gain = base[j] + slope[j] * (slope[j] * count - twice)
                if gain < value + margin:
                    closer = gain < value - margin
                    if not closer:  # too near to tell in floats; differences modulo 2^64 are small and exact
                        old = exact[best] + level[best] * (
                            level[best] * (people[i] - people[best]) - 2 * (sums[i] - sums[best])
                        )
                        new = exact[j] + level[j] * (level[j] * (people[i] - people[j]) - 2 * (sums[i] - sums[j]))
                        closer = new - old < 0
                    if closer:
                        best, value = j, gain
            best_near[i], begun[i] = value, best
            best_exact[i] = exact[best] + level[best] * (
                level[best] * (people[i] - people[best]) - 2 * (sums[i] - sums[best])
            )
        step //= 2
    return (best_near, best_exact), begun


def _plain_layer(table: Table, gains: Gains, margin: float, earliest: int, top: int) -> tuple[Gains, Whole]:
    """Do what `_layer` does without a compiler: all rows of one step at once."""
    (level, people, sums, latest), (near, exact) = table, gains
    rows, last = people.size - top, people.size - 1
    best_near, best_exact, begun = np.zeros(near.size), np.zeros_like(exact), np.zeros_like(exact)
    slope, count, twice = level.astype(np.float64), people.astype(np.float64), (2 * sums).astype(np.float64)
    base = near + slope * (2 * sums - level * people).astype(np.float64)
    step = 1 << (rows.bit_length() - 1)
    while step > 0:
        place = np.arange(step, rows + 1, 2 * step)
        i, every = top - 1 + place, np.arange(place.size)
        low = np.where(place > step, begun[i - step], earliest)
        width = np.minimum(latest[i], np.where(place + step <= rows, begun[np.minimum(i + step, last)], last)) - low + 1
        edges = np.cumsum(width) - width
        j = np.arange(int(width.sum())) + np.repeat(low - edges, width)
        lean = slope[j]
        gain = base[j] + lean * (lean * np.repeat(count[i], width) - np.repeat(twice[i], width))
        close = np.flatnonzero(gain <= np.repeat(np.minimum.reduceat(gain, edges) + margin, width))
        row, j, gain = np.searchsorted(edges, close, side="right") - 1, j[close], gain[close]
        ends = i[row]
        precise = exact[j] + level[j] * (level[j] * (people[ends] - people[j]) - 2 * (sums[ends] - sums[j]))
        edges = np.searchsorted(row, every)
        above = precise - precise[edges][row]
        least = np.flatnonzero(above == np.minimum.reduceat(above, edges)[row])
        least = least[np.searchsorted(row[least], every)]
        best_near[i], best_exact[i], begun[i] = gain[least], precise[least], j[least]
        step //= 2
    return (best_near, best_exact), begun
