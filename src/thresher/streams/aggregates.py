"""Named sums of released series, such as "east wing" for all states in it. They are free.

A sum of m released counts carries m noises. An alarm on the sum needs that number (`sizes`).
Reads: released numbers. Writes: nothing. Never: a true count.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from thresher.errors import ArgumentError

Number = TypeVar("Number", np.int64, np.float64)

_SHAPE = 'Pass e.g. {"east wing": ["hall", "library"]}'


@dataclass(frozen=True, slots=True)
class Aggregates:
    """The series that each named sum adds up; `members` are their places. Made by `Aggregates.of`."""

    series: int
    names: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, series: Sequence[str], sums: Mapping[str, Sequence[str]]) -> "Aggregates":
        """Declare sums of these series by name. A series may be part of several sums."""
        if not isinstance(sums, Mapping) or not sums:
            raise ArgumentError("sums", sums, "it must map each name to the series that it adds up", _SHAPE)
        place = {name: i for i, name in enumerate(series)}
        return cls(len(place), tuple(sums), tuple(_places(name, parts, place) for name, parts in sums.items()))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return how many series each sum adds up. It carries as many noises in one step."""
        return tuple(map(len, self.members))

    def sums(self, released: NDArray[Number]) -> NDArray[Number]:
        """Add up released numbers: (steps, series) become (steps, sums). Whole numbers stay whole."""
        if released.ndim != 2 or released.shape[1] != self.series:
            rule = f"it must have a row for each step and a column for each of the {self.series} series"
            raise ArgumentError("released", f"shape {released.shape}", rule, "Pass all of them, in declared order")
        starts = np.cumsum([0, *self.sizes[:-1]])
        return np.add.reduceat(released[:, np.concatenate(self.members)], starts, axis=1)


def _places(name: str, parts: Sequence[str], place: Mapping[str, int]) -> tuple[int, ...]:
    if not isinstance(name, str) or not name or isinstance(parts, str) or not isinstance(parts, Sequence) or not parts:
        raise ArgumentError("sums", (name, parts), "a sum has a name and a list of one series or more", _SHAPE)
    if name in place:
        raise ArgumentError("sums", name, "a series has that name already", "Pass another name")
    for i, part in enumerate(parts):
        if part not in place:
            raise ArgumentError("sums", (name, part), "the second is not a series", "Name declared series only")
        if part in parts[:i]:
            raise ArgumentError("sums", (name, part), "the first names the second twice", "Name each series once")
    return tuple(place[part] for part in parts)
