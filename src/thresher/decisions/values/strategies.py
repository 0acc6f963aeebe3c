"""What to add noise to, so that several numbers come out at the least loss: numbers, cells, or ends. Proof beside.

    direct   the number itself
    cells    counts (or sums) of the rows of each signature; a number is the sum of its cells
    ends     for numbers of one column over the same rows: how far the rows lie from the two ends of its range

A row moves one cell only, so cells of a block are paid for once; blocks are paid for one by one.
Reads: measures, signatures. Writes: nothing. Never: data; a cell left out because it would be empty.
Proof: `strategies.md`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal as OneWord

from thresher.config import Grid
from thresher.decisions.values.measures import ONE, Measure, RowNumber, Weights, conjunction, filter_of
from thresher.noise import NoiseSum
from thresher.question import Aggregate, Condition
from thresher.question.signatures import Signatures

MOST_CELLS = 64
MOST_READINGS = 256


@dataclass(frozen=True, slots=True)
class Reading:
    """One noisy number for each group: `weights . aggregates`, of which a unit moves at most `sensitivity`."""

    weights: Weights
    sensitivity: int


@dataclass(frozen=True, slots=True)
class NumberParts:
    """A number from noisy ones: the sum of coefficient times reading, divided by `over`; and its noise."""

    parts: tuple[tuple[int, int], ...]
    over: int
    noise: NoiseSum


@dataclass(frozen=True, slots=True)
class Block:
    """Numbers that are measured together, at one epsilon: a unit in this group loses that much by all its readings.

    A row that satisfies no filter of `touched` moves no reading. `always`: rows of a unit move it together, so it is
    paid for whatever a row's signature is. `answers` are those of `members`, in order.
    """

    kind: OneWord["direct", "cells", "ends"]
    members: tuple[int, ...]
    readings: tuple[Reading, ...]
    answers: tuple[NumberParts, ...]
    touched: int
    always: bool = False


def joint_block(
    members: Sequence[int], measures: Sequence[Measure], signatures: Signatures, most: int = MOST_CELLS
) -> Block | None:
    """These numbers as one block; None if they do not go together, or have more than `most` cells."""
    chosen = [measures[member] for member in members]
    if len(chosen) == 1:
        return _direct(members[0], chosen[0])
    if any(measure.row is None for measure in chosen):
        return None
    if len({measure.row for measure in chosen}) == 1:
        return _cells(tuple(members), chosen, signatures, most)
    return _ends(tuple(members), chosen, signatures)


def loss(blocks: Sequence[Block], rates: Sequence[int], signatures: Signatures) -> int:
    """What a unit loses at most, in the unit of the rates: over all signatures the largest sum of touched blocks."""
    paid = list(zip(blocks, rates, strict=True))
    return max(
        sum(rate for block, rate in paid if block.always or block.touched & mask) for mask in signatures.largest()
    )


def touched_together(blocks: Sequence[Block], signatures: Signatures) -> tuple[tuple[int, ...], ...]:
    """Which blocks one unit can touch together, as places in `blocks`: the largest such sets are among them."""
    found = (
        tuple(i for i, block in enumerate(blocks) if block.always or block.touched & mask)
        for mask in signatures.largest()
    )
    return tuple(dict.fromkeys(found))


def _direct(member: int, measure: Measure) -> Block:
    spread = measure.sensitivity
    answer = NumberParts(((0, 1),), 1, NoiseSum((1,), 1, spread))
    reading = Reading(measure.weights, spread)
    return Block("direct", (member,), (reading,), (answer,), measure.filters, measure.by_unit)


def _cells(members: tuple[int, ...], chosen: list[Measure], signatures: Signatures, most: int) -> Block | None:
    touched = sum(1 << place for place in {measure.place for measure in chosen})
    cells = signatures.within(touched, most)
    row, spread = chosen[0].row, max(measure.sensitivity for measure in chosen)
    if cells is None or row is None:
        return None
    known = parted(cells)
    readings = []
    for cell in cells:
        weights: dict[Aggregate, int] = {}
        for mask, factor in known[cell].items():
            for aggregate, weight in _added_up(row, mask, signatures.filters):
                weights[aggregate] = weights.get(aggregate, 0) + factor * weight
        readings.append(Reading(tuple(weights.items()), spread))
    answers = []
    for measure in chosen:
        parts = tuple((i, 1) for i, cell in enumerate(cells) if cell >> measure.place & 1)
        answers.append(NumberParts(parts, 1, NoiseSum((1,) * len(parts), 1, spread)))
    return Block("cells", members, tuple(readings), tuple(answers), touched)


def parted(cells: Sequence[int]) -> Mapping[int, Mapping[int, int]]:
    """Each cell as a sum of what can be read: rows that satisfy all filters of a cell, whatever else they satisfy.

    Rows of cell c are those that satisfy its filters, less those of every larger cell; so, from the largest on, each
    is a whole combination of such numbers, and no NOT is ever asked.
    """
    found: dict[int, dict[int, int]] = {}
    for cell in sorted(cells, key=int.bit_count, reverse=True):
        factors = {cell: 1}
        for larger in [other for other in found if other & cell == cell]:
            for mask, factor in found[larger].items():
                factors[mask] = factors.get(mask, 0) - factor
        found[cell] = {mask: factor for mask, factor in factors.items() if factor}
    return found


def _added_up(row: RowNumber, mask: int, filters: Sequence[Condition]) -> Weights:
    """What rows add that satisfy all filters of a mask, as aggregates that a source can read."""
    where = conjunction([condition for place, condition in enumerate(filters) if mask >> place & 1])
    weights = [] if row.present == 0 else [(Aggregate("rows", None, where), row.present)]
    weights += [] if row.column is None else [(Aggregate("total", row.column, where), row.total)]
    return tuple(weights)


def _ends(members: tuple[int, ...], chosen: list[Measure], signatures: Signatures) -> Block | None:
    """Readings: sum(x - lowest), sum(highest - x), and, if rows without a value count, the range for each of them."""
    table, around = signatures.table, chosen[0].around
    columns = {measure.row.column for measure in chosen if measure.row is not None} - {None}
    column = columns.pop() if len(columns) == 1 else None
    kind = table.columns[column].kind if column is not None else None
    if not isinstance(kind, Grid) or any(measure.around != around for measure in chosen):
        return None
    inside = filter_of(Aggregate("present", column, around), table)
    low, high, width = kind.lowest, kind.highest, kind.highest - kind.lowest
    total, count = Aggregate("total", column, inside), Aggregate("rows", None, inside)
    ends: list[Weights] = [((total, 1), (count, -low)), ((count, high), (total, -1))]
    spread, answers, touched = width * table.rows_per_unit, [], 0
    for measure in chosen:
        row, where = measure.row or ONE, signatures.filters[measure.place]
        factors = [row.at(high), row.at(low)]
        if where != inside:
            if where != around or row.column is not None:
                return None
            factors.append(row.present)
        parts = tuple((i, factor) for i, factor in enumerate(factors) if factor)
        sizes = tuple(sorted((abs(factor) for _, factor in parts), reverse=True))
        answers.append(NumberParts(parts, width, NoiseSum(sizes, width, spread)))
        touched |= measure.filters
    if any(len(answer.parts) > 2 for answer in answers):
        ends.append(((Aggregate("rows", None, around), width), (count, -width)))
    readings = tuple(Reading(tuple(pair for pair in weights if pair[1]), spread) for weights in ends)
    return Block("ends", members, readings, tuple(answers), touched)
