"""Open groups of steps with similar counts: one for each series, and how far from flat the next count makes it.

    deviation of a group = sum over its counts of |count - mean|

The deviation follows from the counts above the mean alone, so a group is kept as its distinct counts and how often each
came. The time of a step depends on how many counts differ, not on how long the group is. A few series run in plain
Python; long or wide blocks run in a compiled loop if there is a compiler. Both give the same marks.
Reads: true counts, noise that was drawn for them. Writes: marks, and open groups as bytes. Never: a float, a draw. What
is kept here is as secret as the counts. Proof: `group_deviation.md`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from thresher.errors import BugError
from thresher.mechanisms.compiled import compiled
from thresher.streams.step_release import ALONE, JOINS, OPENS

Whole = NDArray[np.int64]
Marks = NDArray[np.int8]
# The largest count, and the longest group: 2 * length * (sum of a group) stays below 2**63.
FAR, MOST_LONGEST = 1 << 28, 100_000
# Stands for the count of a step that a series leaves out.
NOT_LOOKED_AT = -1


@dataclass(slots=True)
class OpenGroup:
    """An open group: its noisy cutoff, its counts as {count: how often}, and the numbers that give its deviation.

    `mean` is the whole part of the mean; `above` and `upper` are how many counts lie above it, and their sum.
    """

    cutoff: int
    copies: dict[int, int] = field(default_factory=dict)
    size: int = 0
    total: int = 0
    mean: int = 0
    above: int = 0
    upper: int = 0

    @classmethod
    def of(cls, cutoff: int, copies: dict[int, int]) -> "OpenGroup":
        size, total = sum(copies.values()), sum(count * times for count, times in copies.items())
        group = cls(cutoff, copies, size, total, total // size)
        group._look_again()
        return group

    def add(self, count: int) -> int:
        """Add a count; return the whole part of the deviation of the group with it."""
        copies, before = self.copies, self.mean
        copies[count] = copies.get(count, 0) + 1
        self.size += 1
        self.total += count
        mean = self.mean = self.total // self.size
        if count > before:
            self.above += 1
            self.upper += count
        if mean != before:
            self._move(before, mean)
        return 2 * (self.size * self.upper - self.above * self.total) // self.size

    def _move(self, before: int, mean: int) -> None:
        """Change the side of the counts that the mean has passed."""
        if abs(mean - before) > len(self.copies):
            self._look_again()
            return
        sign = -1 if mean > before else 1
        for count in range(min(before, mean) + 1, max(before, mean) + 1):
            times = sign * self.copies.get(count, 0)
            self.above += times
            self.upper += times * count

    def _look_again(self) -> None:
        over = [(count, times) for count, times in self.copies.items() if count > self.mean]
        self.above = sum(times for _, times in over)
        self.upper = sum(count * times for count, times in over)


class OpenGroups(Protocol):
    """The open groups of all series; None where the last one is closed."""

    def advanced(self, counts: Whole, cutoffs: Whole, noise: Whole) -> Marks:
        """Mark the next steps of all series. A group that opens takes its cutoff from the same place of `cutoffs`."""

    def groups(self) -> list[OpenGroup | None]:
        """Return the groups as they are now."""


class LoopGroups:
    """Open groups in Python, one series after the other."""

    def __init__(self, groups: Sequence[OpenGroup | None], longest: int) -> None:
        self._groups, self._longest = list(groups), longest

    def groups(self) -> list[OpenGroup | None]:
        return list(self._groups)

    def advanced(self, counts: Whole, cutoffs: Whole, noise: Whole) -> Marks:
        columns = zip(*(array.T.tolist() for array in (counts, cutoffs, noise)), strict=True)
        marks = [self._one(series, *numbers) for series, numbers in enumerate(columns)]
        return np.array(marks, dtype=np.int8).T

    def _one(self, series: int, counts: list[int], cutoffs: list[int], noise: list[int]) -> list[int]:
        marks, group = [], self._groups[series]
        for count, cutoff, blur in zip(counts, cutoffs, noise, strict=True):
            if count == NOT_LOOKED_AT:
                marks.append(JOINS)
            elif group is None or group.size == self._longest:
                group = OpenGroup(cutoff)
                group.add(count)
                marks.append(OPENS)
            elif group.add(count) + blur >= group.cutoff:
                group = None
                marks.append(ALONE)
            else:
                marks.append(JOINS)
        self._groups[series] = group
        return marks


class ArrayGroups:
    """Open groups for one compiled loop: a row of distinct counts for each series, in the order in which they came."""

    def __init__(self, groups: Sequence[OpenGroup | None], longest: int) -> None:
        self._longest = longest
        width = max((len(group.copies) for group in groups if group), default=1)
        # Columns: cutoff, size, total, distinct counts held; then the counts, and how often each came.
        self._held = np.zeros((len(groups), 4), dtype=np.int64)
        self._rows = np.zeros((2, len(groups), width), dtype=np.int64)
        for series, group in enumerate(groups):
            if group:
                used = len(group.copies)
                self._held[series] = group.cutoff, group.size, group.total, used
                self._rows[:, series, :used] = list(group.copies), list(group.copies.values())

    def groups(self) -> list[OpenGroup | None]:
        return [self._group(series) if size else None for series, size in enumerate(self._held[:, 1].tolist())]

    def _group(self, series: int) -> OpenGroup:
        cutoff, _, _, used = self._held[series].tolist()
        counts, times = self._rows[:, series, :used].tolist()
        return OpenGroup.of(cutoff, dict(zip(counts, times, strict=True)))

    def advanced(self, counts: Whole, cutoffs: Whole, noise: Whole) -> Marks:
        marks = np.empty(counts.shape, dtype=np.int8)
        # Each step brings at most one new count; a group and the step that ends it have at most longest + 1.
        needed = min(int(self._held[:, 3].max()) + len(counts), self._longest + 1)
        if needed > (width := self._rows.shape[2]):
            self._rows = np.pad(self._rows, ((0, 0), (0, 0), (0, max(needed, 2 * width) - width)))
        _advance(counts, cutoffs, noise, marks, self._longest, self._held, self._rows)
        return marks


@compiled
def _advance(counts: Any, cutoffs: Any, noise: Any, marks: Any, longest: int, held: Any, rows: Any) -> None:  # noqa: C901
    """Do what `LoopGroups` does. It goes series by series, so that a row of counts stays in the cache."""
    for series in range(counts.shape[1]):
        cutoff, size, total, used = held[series]
        distinct, copies = rows[0, series], rows[1, series]
        for step in range(counts.shape[0]):
            count = counts[step, series]
            if count == NOT_LOOKED_AT:
                marks[step, series] = JOINS
                continue
            if size == 0 or size == longest:  # noqa: PLR1714 - the compiler has no sets
                cutoff, size, total, used = cutoffs[step, series], 1, count, 1
                distinct[0], copies[0] = count, 1
                marks[step, series] = OPENS
                continue
            size += 1
            total += count
            mean = total // size
            above = upper = 0
            place = used
            for i in range(used):
                if distinct[i] == count:
                    place = i
                if distinct[i] > mean:
                    above += copies[i]
                    upper += copies[i] * distinct[i]
            if place == used:
                used += 1
                distinct[place], copies[place] = count, 0
            copies[place] += 1
            if count > mean:
                above += 1
                upper += count
            if 2 * (size * upper - above * total) // size + noise[step, series] >= cutoff:
                size = 0
                marks[step, series] = ALONE
            else:
                marks[step, series] = JOINS
        held[series] = cutoff, size, total, used


def written_groups(groups: list[OpenGroup | None]) -> bytes:
    """Write groups as whole numbers: for each series the length of its group and, if it is open, cutoff and counts.

    A group takes as many places as it has steps, which its marks reveal anyway. How many of its counts differ is
    secret, and must not show in the length of what is sealed.
    """
    numbers: list[int] = []
    for group in groups:
        if group is None:
            numbers.append(0)
            continue
        unused = [0] * (group.size - len(group.copies))
        numbers += [group.size, group.cutoff, *group.copies, *unused, *group.copies.values(), *unused]
    return np.array(numbers, dtype="<i8").tobytes()


def read_groups(secrets: bytes, series: int, longest: int) -> list[OpenGroup | None]:
    """Read the groups of this many series as `written_groups` wrote them."""
    try:
        numbers = iter(np.frombuffer(secrets, dtype="<i8").tolist())
        groups = [_read_group(numbers, longest) for _ in range(series)]
        whole = next(numbers, None) is None
    except (StopIteration, ValueError, TypeError):
        whole = False
    if not whole:
        raise BugError("the secrets are not those of a grouper of these series and terms; nothing was restored")
    return groups


def _read_group(numbers: Iterator[int], longest: int) -> OpenGroup | None:
    size = next(numbers)
    if size == 0:
        return None
    cutoff, counts, times = next(numbers), list(islice(numbers, size)), list(islice(numbers, size))
    used = [pair for pair in zip(counts, times, strict=True) if pair != (0, 0)]
    copies = dict(used)
    sound = len(copies) == len(used) and 0 <= min(copies) <= max(copies) <= FAR
    if not sound or min(copies.values()) < 1 or not size == sum(copies.values()) <= longest:
        raise ValueError
    return OpenGroup.of(cutoff, copies)
