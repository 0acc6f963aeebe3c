"""Make noisy numbers of exact ones, and verdicts of noisy numbers.

Reads: sealed aggregates, inside a family's `run`. Writes: nothing. Never: a number without noise; a cell left out.
Why the verdicts keep their rates: `values_plan.md`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.config import Grid, Table
from thresher.decisions.margin import Whole
from thresher.decisions.values.measures import Literal
from thresher.decisions.values.strategies import Block, NumberParts, Reading
from thresher.decisions.values.values_planner import Strategy
from thresher.noise import Entropy, discrete_laplace
from thresher.question import MOST_ROWS, Exact, Need
from thresher.question.trees import Tree, holds, leaves

_ROOM = 1 << 62
# Larger than any noise that is drawn.
_NOISE = 1 << 50


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a condition is reported, and where it is certain, in whole steps of its number.

    reported   slack > -(short + 1)    a true condition is not, with at most its share of the rate bounded first
    certain    slack >= certain - 1    a false condition is, with at most its share of the other rate
    """

    short: int
    certain: int


def answers_of(strategy: Strategy) -> dict[int, tuple[int, NumberParts]]:
    """Return, for each number that is measured, its block and how it is made of the block's readings."""
    return {
        member: (place, answer)
        for place, block in enumerate(strategy.blocks)
        for member, answer in zip(block.members, block.answers, strict=True)
    }


def noisy_readings(strategy: Strategy, need: Need, exact: Exact, entropy: Entropy) -> list[list[Whole]]:
    """Return, for each block, every reading of every group with its own noise; empty cells get noise as well."""
    values = exact.unseal()
    place = {aggregate: i for i, aggregate in enumerate(need.aggregates)}
    noisy = []
    for block, epsilon in zip(strategy.blocks, strategy.epsilons, strict=True):
        kind = object if _is_wide(block, need.table) else np.int64
        size = (len(block.readings), len(values))
        # All readings of a block have one sensitivity.
        drawn = discrete_laplace(epsilon, size[0] * size[1], block.readings[0].sensitivity, entropy)
        noise = np.asarray(drawn).reshape(size).astype(kind)
        true = [
            sum(weight * values[:, place[aggregate]].astype(kind) for aggregate, weight in reading.weights)
            for reading in block.readings
        ]
        noisy.append([noise[i] + number for i, number in enumerate(true)])
    return noisy


def combined_readings(answer: NumberParts, readings: Sequence[Whole]) -> Whole:
    """Return `over` times the number, for each group."""
    total: Whole = sum(factor * readings[i] for i, factor in answer.parts)  # type: ignore[assignment]  # never empty
    return total


def values_judged(
    tree: Tree,
    literals: Sequence[Literal],
    cuts: Mapping[int, Cut],
    numbers: Mapping[int, tuple[Whole, int]],
) -> NDArray[np.int8]:
    """Return above (1), uncertain (0) or below (-1): the formula on certain conditions, and on reported conditions.

    `numbers` are (over times the number, over). A condition that makes no difference is not in `cuts`.
    """
    size = len(next(iter(numbers.values()))[0])
    low = {place: np.zeros(size, dtype=np.bool_) for place in leaves(tree)}
    high = dict(low)
    for place, cut in cuts.items():
        (number, over), literal = numbers[literals[place].measure], literals[place]
        slack = _slack(number, over, literal, cut)
        low[place] = np.asarray(slack > -over * (cut.short + 1), dtype=np.bool_)
        high[place] = np.asarray(slack >= over * (cut.certain - 1), dtype=np.bool_) & low[place]
    return holds(tree, high).astype(np.int8) + holds(tree, low).astype(np.int8) - np.int8(1)


def _slack(number: Whole, over: int, literal: Literal, cut: Cut) -> Whole:
    """Return `over` times the condition's slack."""
    wanted = literal.at_least if isinstance(literal.at_least, tuple) else (literal.at_least,)
    reach = over * (max(map(abs, wanted)) + cut.short + cut.certain + 2)
    kind = object if number.dtype == object or 2 * reach >= _ROOM else np.int64
    spare: Whole = literal.sign * number.astype(kind) - over * np.array(wanted, dtype=kind)
    return spare


def _is_wide(block: Block, table: Table) -> bool:
    """Tell, by declarations alone, whether some number of the block may not fit in 64 bits."""
    largest = max(_largest(reading, table) for reading in block.readings) + _NOISE
    most = max(sum(abs(factor) for _, factor in answer.parts) for answer in block.answers)
    return 4 * most * largest >= _ROOM


def _largest(reading: Reading, table: Table) -> int:
    total = 0
    for aggregate, weight in reading.weights:
        kind = table.columns[aggregate.column].kind if aggregate.column is not None else None
        code = max(abs(kind.lowest), abs(kind.highest)) if isinstance(kind, Grid) else 1
        total += abs(weight) * MOST_ROWS * (code if aggregate.measure == "total" else 1)
    return total
