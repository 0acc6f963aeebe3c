"""Parts of a roster: neighbouring classes that are released together, each part at the least budget in it.

A part wastes what its members allow beyond that least budget. Waste is squared, as in the literature, and exact. What
is left of people's budgets may be parted and released again: rounds.
Reads: a roster. Writes: nothing. Never: data; a person whose budget is 0, who is in no part.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import NANO, Epsilon, whole_number
from thresher.errors import ArgumentError
from thresher.personal.roster import Roster


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A roster cut before the classes `cuts`. Part i has `sizes[i]` people, and each of them allows `levels[i]`."""

    roster: Roster
    cuts: tuple[int, ...]
    levels: tuple[Epsilon, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, roster: Roster, cuts: Sequence[int] = ()) -> "Parts":
        """The parts that begin at the first class above 0 and at each of `cuts`; without cuts, one part for all."""
        first = first_class(roster)
        places = (first, *(whole_number(cut, "cuts") for cut in cuts), roster.nano.size)
        if any(before >= after for before, after in pairwise(places)):
            rule = f"cuts are classes of the roster from {first + 1} to {roster.nano.size - 1}, ascending"
            raise ArgumentError("cuts", tuple(cuts), rule, "Name the class with which each part but the first begins")
        sizes = np.add.reduceat(roster.sizes, places[:-1])
        levels = tuple(Epsilon.from_nano(roster.nano[place]) for place in places[:-1])
        return cls(roster, places[1:-1], levels, tuple(sizes.tolist()))

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The classes of each part: the first, and the first that is beyond."""
        return tuple(pairwise((first_class(self.roster), *self.cuts, self.roster.nano.size)))

    @property
    def of_class(self) -> NDArray[np.int64]:
        """The part of each class; -1 for the class of budget 0."""
        first, last = first_class(self.roster), self.roster.nano.size
        places = np.searchsorted(np.array(self.cuts, dtype=np.int64), np.arange(last), side="right")
        return np.where(np.arange(last) < first, -1, places).astype(np.int64)

    @property
    def of_person(self) -> NDArray[np.int64]:
        """The part of each person, in the roster's order; -1 for those whose budget is 0."""
        return self.of_class[self.roster.classes]

    @property
    def rounds(self) -> "tuple[Parts, ...]":
        """One round: these parts."""
        return (self,)

    @property
    def spent(self) -> tuple[Epsilon, ...]:
        """What a person of each class of the roster loses when every part is released."""
        return tuple(Epsilon(0) if place < 0 else self.levels[place] for place in self.of_class.tolist())

    @property
    def waste(self) -> tuple[Fraction, ...]:
        """For each part, the sum over its people of (budget - least budget of the part) squared."""
        sizes, nano = self.roster.sizes.tolist(), self.roster.nano.tolist()
        return tuple(
            Fraction(sum(sizes[c] * (nano[c] - nano[start]) ** 2 for c in range(start, stop)), NANO**2)
            for start, stop in self.spans
        )

    @property
    def mean_waste(self) -> Fraction:
        """The literature's measure for choosing how many parts to make: each part's waste by its size, summed.

        It chooses nothing: it is least, 0, where every level has a part of its own.
        """
        return sum((waste / size for waste, size in zip(self.waste, self.sizes, strict=True)), Fraction(0))


def first_class(roster: Roster) -> int:
    """The place of the least level above 0. A roster of people who all allow nothing has no parts."""
    first = int(np.searchsorted(roster.nano, 1))
    if first == roster.nano.size:
        raise ArgumentError("roster", "all budgets 0", "nobody on it may be read", "Leave this release out")
    return first


@dataclass(frozen=True, slots=True, eq=False)
class Rounds:
    """Rounds over a roster, first to last. Each one's parts are of a roster of the same people: what they had left.

    `spent`: by each class of the roster, in all rounds together. `leftover`: the roster of what is left in the end.
    """

    roster: Roster
    rounds: tuple[Parts, ...]
    spent: tuple[Epsilon, ...]
    leftover: Roster

    @property
    def levels(self) -> tuple[Epsilon, ...]:
        """Of all parts, those of the first round first."""
        return tuple(level for parts in self.rounds for level in parts.levels)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of all parts, those of the first round first."""
        return tuple(size for parts in self.rounds for size in parts.sizes)


def after(parts: Parts) -> Roster:
    """The roster of what people have left when every part has been released at its level, in the same order."""
    roster, spent = parts.roster, np.array([0, *(level.nano for level in parts.levels)])
    return roster.allowing(roster.nano - spent[parts.of_class + 1])
