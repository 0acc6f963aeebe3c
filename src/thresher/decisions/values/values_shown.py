"""Show the numbers behind the verdicts in the aggregate's own units, each with its half width.

A count or sum is shown as it is. A condition on an average is decided by its distance from the threshold, added up over
the rows; that sum is measured and shown. If the number of rows is measured too, the average itself is shown as well,
with its half width for each group.
Reads: noisy numbers. Writes: text. Never: exact values. Why half widths hold: `values_plan.md`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.config import Grid, Table
from thresher.decisions.margin import Whole
from thresher.decisions.values.measures import ONE, FormulaNumbers, RowNumber
from thresher.decisions.values.strategies import NumberParts
from thresher.decisions.values.values_look import answers_of, combined_readings
from thresher.decisions.values.values_planner import Strategy
from thresher.noise import NoiseSum, least_distance
from thresher.question import Atom
from thresher.release import ShownNumber

_MOST_PLACES = 6

Readings = Sequence[Sequence[Whole]]


@dataclass(frozen=True, slots=True)
class Seen:
    """A noisy number: its block, how it is made of the block's readings, and its half width in steps."""

    block: int
    answer: NumberParts
    reach: int

    def numbers(self, readings: Readings) -> Whole:
        """Return `over` times the number."""
        return combined_readings(self.answer, readings[self.block])

    def floats(self, readings: Readings) -> NDArray[np.float64]:
        return np.asarray(self.numbers(readings), dtype=np.float64) / self.answer.over


@dataclass(frozen=True, slots=True)
class Plain:
    """A number shown as it is, divided by `scale` to be in its own units; a negative scale changes the sign."""

    text: str
    seen: Seen
    scale: Fraction

    @property
    def half_width(self) -> str:
        """Return the half width of each group, with the rounding of the shown number included."""
        width, places = self._width()
        exact = (10**places / (self.seen.answer.over * self.scale)).denominator == 1
        return decimal(math.ceil(width * 10**places) + (0 if exact else 1), places)

    def shown(self, readings: Readings) -> ShownNumber:
        _, places = self._width()
        times = 10**places / (self.seen.answer.over * self.scale)
        top, bottom = times.numerator, times.denominator
        # Only whole numbers: the nearest multiple of the last place.
        wholes = ((2 * value * top + bottom) // (2 * bottom) for value in self.seen.numbers(readings).tolist())
        return ShownNumber(self.text, tuple(decimal(whole, places) for whole in wholes), (self.half_width,))

    def _width(self) -> tuple[Fraction, int]:
        width = self.seen.reach / abs(self.scale)
        return width, _places(width)


@dataclass(frozen=True, slots=True)
class Average:
    """The average of a column on `grid`: from a number to which each row adds `row`, and the count of these rows."""

    text: str
    added: Seen
    counted: Seen
    row: RowNumber
    grid: Grid

    def shown(self, readings: Readings) -> ShownNumber:
        """Return -present/total + added/(total * counted), and its extremes over all numbers within their reach."""
        added, counted = self.added.floats(readings), self.counted.floats(readings)
        low, high = self.grid.lowest, self.grid.highest
        start, total, reach = -self.row.present / self.row.total, self.row.total, self.counted.reach
        fewest, most = np.maximum(counted - reach, 1.0), np.maximum(counted + reach, 1.0)
        tops = [added + side * self.added.reach for side in (-1, 1)]
        ends = np.stack([start + top / (total * of) for top in tops for of in (fewest, most)])
        near = np.clip(start + added / (total * np.maximum(counted, 1.0)), low, high)
        least, largest = np.clip(ends.min(axis=0), low, high), np.clip(ends.max(axis=0), low, high)
        step = float(self.grid.step)
        widths = (np.maximum(near - least, largest - near) * step).tolist()
        places = [_places(width) for width in widths]
        known = (counted >= 1).tolist()
        texts = (
            decimal(round(x * step * 10**at), at) if is_known else ""
            for x, at, is_known in zip(near.tolist(), places, known, strict=True)
        )
        # One is added for the rounding of the shown number, and one for the rounding of floats.
        wide = (decimal(math.floor(width * 10**at) + 2, at) for width, at in zip(widths, places, strict=True))
        return ShownNumber(self.text, tuple(texts), tuple(wide))


Display = Plain | Average


def displays(
    atoms: Sequence[Atom], formula: FormulaNumbers, strategy: Strategy, table: Table, rate: Fraction
) -> tuple[Display, ...]:
    """Return what will be shown, each number once, in the order of the conditions. Reads no data.

    Each number is within its half width of the truth except with probability at most `rate`.
    """
    shown: dict[str, Display] = {}
    answers = answers_of(strategy)
    for atom, literal in zip(atoms, formula.literals, strict=True):
        if literal.measure not in answers or not atom.written:
            continue
        block, answer = answers[literal.measure]
        # The sign makes it grow with the aggregate as written.
        scale = atom.steps * (literal.sign if atom.upwards else -literal.sign)
        text = _distance_text(atom) if atom.per_row else atom.aggregate
        shown.setdefault(text, Plain(text, _seen(block, answer, strategy, rate), scale))
        row, counted = formula.measures[literal.measure].row, _count_beside(literal.measure, formula, strategy, answers)
        grid = _averaged(atom, row, table)
        if grid is not None and row is not None and counted is not None:
            added, beside = _seen(block, answer, strategy, rate / 2), _seen(*counted, strategy, rate / 2)
            shown.setdefault(atom.aggregate, Average(atom.aggregate, added, beside, row, grid))
    return tuple(shown.values())


def decimal(whole: int, places: int) -> str:
    """Return `whole` divided by 10**places as a decimal."""
    if not places:
        return str(whole)
    text = f"{'-' if whole < 0 else ''}{abs(whole) // 10**places}"
    part = f"{abs(whole) % 10**places:0{places}d}".rstrip("0")
    return f"{text}.{part}" if part else text


def _seen(block: int, answer: NumberParts, strategy: Strategy, rate: Fraction) -> Seen:
    """Return the number with the least reach beyond which its noise lies with probability at most `rate`."""
    least = least_distance(answer.noise, strategy.epsilons[block].fraction, rate / 2)
    # Whole noise below `least` is at most `least` - 1; other noise may come close to `least`.
    return Seen(block, answer, least - 1 if answer.over == 1 else least)


def _count_beside(
    measure: int, formula: FormulaNumbers, strategy: Strategy, answers: Mapping[int, tuple[int, NumberParts]]
) -> tuple[int, NumberParts] | None:
    """Return the count over the same rows, if it is measured anyway."""
    place = formula.measures[measure].place
    for other, (block, answer) in answers.items():
        if formula.measures[other].row == ONE and formula.measures[other].place == place:
            return block, answer
    block, answer = answers[measure]
    if strategy.blocks[block].kind != "ends":
        return None
    return block, NumberParts(((0, 1), (1, 1)), answer.over, NoiseSum((1, 1), answer.over, answer.noise.sensitivity))


def _averaged(atom: Atom, row: RowNumber | None, table: Table) -> Grid | None:
    """Return the grid of the column whose average the condition is about; None if it is about something else."""
    if row is None or row.column is None or not atom.per_row or not atom.aggregate.startswith("AVG("):
        return None
    kind = table.columns[row.column].kind
    return kind if isinstance(kind, Grid) and abs(row.total) == kind.step * atom.steps else None


def _distance_text(atom: Atom) -> str:
    """Return `(AVG(age) - 65) x rows` for AVG(age) > 65."""
    bound = atom.text.removeprefix(atom.aggregate).lstrip(" <>=")
    if bound == "0":
        return f"{atom.aggregate} x rows"
    return f"({atom.aggregate} {f'+ {bound[1:]}' if bound.startswith('-') else f'- {bound}'}) x rows"


def _places(width: Fraction | float) -> int:
    """Return how many decimals to show, so that rounding is small compared with the half width."""
    return min(max(0, 2 - math.floor(math.log10(width))), _MOST_PLACES) if width > 0 else 0
