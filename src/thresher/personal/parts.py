"""Cut a roster into parts: neighbouring classes that are released together, each part at the least budget in it.

A part wastes what its members allow beyond that least budget. Waste is squared, as in the literature, and exact. What
people have left afterwards may be cut into parts and released again: rounds.
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
        """Return the parts that begin at the first class above 0 and at each of `cuts`; without cuts, one part."""
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
        """Return the classes of each part: the first class in it, and the first class after it."""
        return tuple(pairwise((first_class(self.roster), *self.cuts, self.roster.nano.size)))

    @property
    def of_class(self) -> NDArray[np.int64]:
        """Return the part of each class; -1 for the class of budget 0."""
        first, last = first_class(self.roster), self.roster.nano.size
        places = np.searchsorted(np.array(self.cuts, dtype=np.int64), np.arange(last), side="right")
        return np.where(np.arange(last) < first, -1, places).astype(np.int64)

    @property
    def of_person(self) -> NDArray[np.int64]:
        """Return the part of each person, in the roster's order; -1 for those whose budget is 0."""
        return self.of_class[self.roster.classes]

    @property
    def rounds(self) -> "tuple[Parts, ...]":
        """Return the one round that these parts are."""
        return (self,)

    @property
    def spent(self) -> tuple[Epsilon, ...]:
        """Return what a person of each class of the roster loses when all parts are released."""
        return tuple(Epsilon(0) if place < 0 else self.levels[place] for place in self.of_class.tolist())

    @property
    def waste(self) -> tuple[Fraction, ...]:
        """Return, for each part, the sum over its people of (budget - least budget of the part) squared."""
        sizes, nano = self.roster.sizes.tolist(), self.roster.nano.tolist()
        return tuple(
            Fraction(sum(sizes[c] * (nano[c] - nano[start]) ** 2 for c in range(start, stop)), NANO**2)
            for start, stop in self.spans
        )

    @property
    def mean_waste(self) -> Fraction:
        """Return the literature's measure for choosing the number of parts: the sum of each part's waste by its size.

        It does not help to choose: it is least, 0, where each level is a part by itself.
        """
        return sum((waste / size for waste, size in zip(self.waste, self.sizes, strict=True)), Fraction(0))


def first_class(roster: Roster) -> int:
    """Return the place of the least level above 0. A roster whose budgets are all 0 is refused."""
    first = int(np.searchsorted(roster.nano, 1))
    if first == roster.nano.size:
        raise ArgumentError(
            "roster", "all budgets 0", "nobody on it may be read", "Pass a roster with a budget above 0"
        )
    return first


@dataclass(frozen=True, slots=True, eq=False)
class Rounds:
    """Rounds over a roster, first to last. The parts of each round are those of what people had left before it.

    `spent` is what each class of the roster loses in all rounds; `leftover` is the roster of what is left in the end.
    """

    roster: Roster
    rounds: tuple[Parts, ...]
    spent: tuple[Epsilon, ...]
    leftover: Roster

    @property
    def levels(self) -> tuple[Epsilon, ...]:
        """Return the levels of all parts, those of the first round first."""
        return tuple(level for parts in self.rounds for level in parts.levels)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the sizes of all parts, those of the first round first."""
        return tuple(size for parts in self.rounds for size in parts.sizes)


def after(parts: Parts) -> Roster:
    """Return the roster of what people have left once each part was released at its level, in the same order."""
    roster, spent = parts.roster, np.array([0, *(level.nano for level in parts.levels)])
    return roster.allowing(roster.nano - spent[parts.of_class + 1])
