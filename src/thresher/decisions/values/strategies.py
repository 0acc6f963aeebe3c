"""List what noise can be added to, so that several numbers are measured at a small loss: numbers, cells, or ends.

    direct   the number itself
    cells    counts (or sums) of the rows of each signature; a number is the sum of its cells
    ends     for numbers of one column over the same rows: how far the rows lie from the two ends of its range

A row moves one cell only, so all cells of a block cost one epsilon; a row that touches several blocks loses the sum.
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
    """One noisy number for each group: `weights . aggregates`, which a unit moves by at most `sensitivity`."""

    weights: Weights
    sensitivity: int


@dataclass(frozen=True, slots=True)
class NumberParts:
    """How a number is made of readings: the sum of coefficient times reading, divided by `over`; and its noise."""

    parts: tuple[tuple[int, int], ...]
    over: int
    noise: NoiseSum


@dataclass(frozen=True, slots=True)
class Block:
    """Numbers that are measured together, at one epsilon, which is what a unit in the group loses by all readings.

    A row that satisfies no filter of `touched` moves no reading. `always`: rows of a unit move the readings together,
    so the block counts for every signature. `answers` make the numbers of `members`, in order.
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
    """Return these numbers as one block; None if they cannot be one, or would have more than `most` cells."""
    chosen = [measures[member] for member in members]
    if len(chosen) == 1:
        return _direct(members[0], chosen[0])
    if any(measure.row is None for measure in chosen):
        return None
    if len({measure.row for measure in chosen}) == 1:
        return _cells(tuple(members), chosen, signatures, most)
    return _ends(tuple(members), chosen, signatures)


def loss(blocks: Sequence[Block], rates: Sequence[int], signatures: Signatures) -> int:
    """Return what a unit loses at most: the largest sum, over signatures, of the rates of touched blocks."""
    paid = list(zip(blocks, rates, strict=True))
    return max(
        sum(rate for block, rate in paid if block.always or block.touched & mask) for mask in signatures.largest()
    )


def touched_together(blocks: Sequence[Block], signatures: Signatures) -> tuple[tuple[int, ...], ...]:
    """Return sets of blocks that one unit can touch together, as places in `blocks`; all largest sets are listed."""
    sets = (
        tuple(i for i, block in enumerate(blocks) if block.always or block.touched & mask)
        for mask in signatures.largest()
    )
    return tuple(dict.fromkeys(sets))


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
    """Return each cell as a sum of numbers that a source can read: of rows that satisfy all filters of a mask.

    Rows of a cell are those that satisfy all its filters, less those of every larger cell. So, from the largest cell
    on, each is a combination of such numbers with whole factors, and no NOT is needed.
    """
    factors_of: dict[int, dict[int, int]] = {}
    for cell in sorted(cells, key=int.bit_count, reverse=True):
        factors = {cell: 1}
        for larger in [other for other in factors_of if other & cell == cell]:
            for mask, factor in factors_of[larger].items():
                factors[mask] = factors.get(mask, 0) - factor
        factors_of[cell] = {mask: factor for mask, factor in factors.items() if factor}
    return factors_of


def _added_up(row: RowNumber, mask: int, filters: Sequence[Condition]) -> Weights:
    """Return what the rows that satisfy all filters of a mask add up to, as aggregates that a source can read."""
    where = conjunction([condition for place, condition in enumerate(filters) if mask >> place & 1])
    weights = [] if row.present == 0 else [(Aggregate("rows", None, where), row.present)]
    weights += [] if row.column is None else [(Aggregate("total", row.column, where), row.total)]
    return tuple(weights)


def _ends(members: tuple[int, ...], chosen: list[Measure], signatures: Signatures) -> Block | None:
    """Read sum(x - lowest) and sum(highest - x); and, if rows without a value count, the range for each such row."""
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
