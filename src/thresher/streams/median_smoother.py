"""The weighted median of a group as it grows, for many series in lockstep.

    values = MedianSmoother(series=128).steps(noisy, marks)     # float64 (steps, series)

The distinct numbers of a group are kept in order, with their weights and the place of the median, which moves little
from one number to the next. A few numbers are handled in plain Python; long or wide blocks run in a compiled loop if
there is a compiler. Both give the same numbers.
Reads: noisy numbers. Writes: nothing. Never: a true count, a draw.
"""

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.mechanisms.compiled import compiled, compiler
from thresher.streams.group_deviation import MOST_LONGEST
from thresher.streams.step_blocks import (
    Numbers,
    Reals,
    checked_between,
    checked_series,
    checked_weights,
    grouped_steps,
)

# How many numbers are worked on at once, and after how many the compiled loop is worth the seconds of compiling it.
_CHUNK, _COMPILED_FROM = 1 << 17, 1 << 18


@dataclass(slots=True)
class _Sorted:
    """One group: distinct numbers in order, their weights, the median's place, and the weight before that place."""

    numbers: list[float] = field(default_factory=list)
    weights: list[int] = field(default_factory=list)
    size: int = 0
    place: int = 0
    before: int = 0
    total: int = 0

    def add(self, number: float, weight: int) -> None:
        numbers, weights = self.numbers, self.weights
        at = bisect_left(numbers, number)
        if at < len(numbers) and numbers[at] == number:
            weights[at] += weight
        else:
            numbers.insert(at, number)
            weights.insert(at, weight)
            if at <= self.place and self.total:
                self.place += 1
        if at < self.place:
            self.before += weight
        self.total += weight
        while 2 * self.before >= self.total:
            self.place -= 1
            self.before -= weights[self.place]
        while 2 * (self.before + weights[self.place]) < self.total:
            self.before += weights[self.place]
            self.place += 1

    def median(self) -> float:
        if not self.total:
            return 0.0
        middle = self.numbers[self.place]
        if 2 * (self.before + self.weights[self.place]) == self.total:
            return (middle + self.numbers[self.place + 1]) / 2
        return middle


class MedianSmoother:
    """The median of the last group; with weights, the weighted median, where each number counts by its epsilon.

    After `longest` steps a new group begins. Privacy: post-processing. Utility: as the mean, but single outliers move
    it less. Runtime: a search among the distinct numbers of the group.
    Citations: Chen et al. 2017, Section 5.3 in Chen 2018.
    """

    def __init__(self, series: int, longest: int = MOST_LONGEST) -> None:
        self.series, self._longest = checked_series(series), checked_between(longest, "longest", 1, MOST_LONGEST)
        self._seen, self._groups = 0, [_Sorted() for _ in range(self.series)]
        self._arrays: _Arrays | None = None

    def steps(self, noisy: Numbers, marks: NDArray[np.int8], weights: NDArray[np.int64] | None = None) -> Reals:
        """Return the estimates of the next steps, in order. While a group has no measurement, its estimate is 0."""
        numbers, joins = grouped_steps(noisy, marks, self.series)
        return self.of_block(numbers, joins, None if weights is None else checked_weights(weights, numbers.shape))

    def of_block(self, numbers: Reals, joins: NDArray[np.bool_], weights: NDArray[np.int64] | None = None) -> Reals:
        """Do the same for a block that was checked. `joins`: whether each step joins the group before it."""
        if weights is None:
            weights = np.ones(numbers.shape, dtype=np.int64)
        self._seen += numbers.size
        if self._arrays is None and self._seen >= _COMPILED_FROM and compiler() is not None:
            self._arrays = _Arrays(self._groups, self._longest)
            self._groups = []
        medians = np.empty(numbers.shape)
        rows = max(1, _CHUNK // numbers.shape[1])
        for start in range(0, len(numbers), rows):
            part = slice(start, start + rows)
            if self._arrays is None:
                medians[part] = self._one_by_one(numbers[part], joins[part], weights[part])
            else:
                self._arrays.advance(numbers[part], joins[part], weights[part], medians[part])
        return medians

    def _one_by_one(self, numbers: Reals, joins: NDArray[np.bool_], weights: NDArray[np.int64]) -> Reals:
        columns = zip(*(array.T.tolist() for array in (numbers, joins, weights)), strict=True)
        return np.array([self._one(series, *lists) for series, lists in enumerate(columns)]).T

    def _one(self, series: int, numbers: list[float], joins: list[bool], weights: list[int]) -> list[float]:
        medians, group = [], self._groups[series]
        for number, joins_group, weight in zip(numbers, joins, weights, strict=True):
            if not joins_group or group.size == self._longest:
                group = self._groups[series] = _Sorted()
            group.size += 1
            if weight:
                group.add(number, weight)
            medians.append(group.median())
        return medians


class _Arrays:
    """The groups as rows of arrays, for the compiled loop."""

    def __init__(self, groups: list[_Sorted], longest: int) -> None:
        self._longest = longest
        width = max(len(group.numbers) for group in groups) + 1
        self._numbers = np.zeros((len(groups), width))
        self._weights = np.zeros((len(groups), width), dtype=np.int64)
        # Columns: how many numbers, steps of the group, place of the median, weight before it, weight of all, longest.
        self._held = np.array(
            [[len(g.numbers), g.size, g.place, g.before, g.total, longest] for g in groups], dtype=np.int64
        )
        for series, group in enumerate(groups):
            self._numbers[series, : len(group.numbers)] = group.numbers
            self._weights[series, : len(group.numbers)] = group.weights

    def advance(self, numbers: Reals, joins: NDArray[np.bool_], weights: NDArray[np.int64], medians: Reals) -> None:
        needed = min(int(self._held[:, 0].max()) + len(numbers), self._longest)
        if needed > (width := self._numbers.shape[1]):
            more = ((0, 0), (0, max(needed, 2 * width) - width))
            self._numbers, self._weights = np.pad(self._numbers, more), np.pad(self._weights, more)
        _advance(numbers, joins, weights, medians, self._numbers, self._weights, self._held)


@compiled
def _advance(  # noqa: C901, PLR0912 - a kernel calls no other
    numbers: Any, joins: Any, weights: Any, medians: Any, rows: Any, row_weights: Any, held: Any
) -> None:
    """Do what `_Sorted` does, series by series."""
    for series in range(numbers.shape[1]):
        row, their = rows[series], row_weights[series]
        used, size, place, before, total, longest = held[series]
        for step in range(numbers.shape[0]):
            if not joins[step, series] or size == longest:
                used = size = place = before = total = 0
            size += 1
            number, weight = numbers[step, series], weights[step, series]
            if weight > 0:
                low, high = 0, used
                while low < high:
                    middle = (low + high) // 2
                    if row[middle] < number:
                        low = middle + 1
                    else:
                        high = middle
                if low == used or row[low] != number:
                    for i in range(used, low, -1):
                        row[i] = row[i - 1]
                        their[i] = their[i - 1]
                    row[low], their[low] = number, 0
                    used += 1
                    if low <= place and total > 0:
                        place += 1
                their[low] += weight
                if low < place:
                    before += weight
                total += weight
                while 2 * before >= total:
                    place -= 1
                    before -= their[place]
                while 2 * (before + their[place]) < total:
                    before += their[place]
                    place += 1
            if total == 0:
                medians[step, series] = 0.0
            elif 2 * (before + their[place]) == total:
                medians[step, series] = (row[place] + row[place + 1]) / 2
            else:
                medians[step, series] = row[place]
        held[series] = used, size, place, before, total, longest
