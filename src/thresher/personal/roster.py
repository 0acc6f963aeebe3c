"""The roster: who might be counted, and what each of them allows to be lost. Public by declaration, fixed beforehand.

Budgets are floored to whole nanos, or to a coarser grid, so that people fall into classes; nobody's budget is ever
rounded up. Plans are functions of the roster alone. One made of the people who happen to be present would move others
when somebody comes or goes, and no budget covers that.
Reads: budgets. Writes: nothing. Never: data; who is present.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import MAX_NANO, NANO, Amount, Epsilon, exact_fraction
from thresher.errors import ArgumentError


@dataclass(frozen=True, slots=True, eq=False)
class Roster:
    """People in a fixed order. `nano`: the levels that occur, ascending; `classes`: the place of each one's level."""

    nano: NDArray[np.int64]
    classes: NDArray[np.int64]

    @classmethod
    def of(cls, budgets: Sequence[Amount] | NDArray[np.float64], grid: Amount = Fraction(1, NANO)) -> "Roster":
        """The roster of these budgets, one for each person, floored to whole multiples of `grid`.

        A budget of 0 is allowed: such a person is never read.
        """
        step = exact_fraction(grid, "grid") * NANO
        if step < 1 or step.denominator != 1:
            raise ArgumentError("grid", grid, "it must be a whole number of nano-epsilon, one at least", "Pass 0.001")
        exact = [exact_fraction(budget, "budgets") for budget in np.asarray(budgets, dtype=object).ravel().tolist()]
        if not exact:
            raise ArgumentError("budgets", "nobody", "a roster has one person at least", "List everybody who may come")
        for place, budget in enumerate(exact):
            if not 0 <= budget * NANO <= MAX_NANO:
                rule = f"that of person {place} is negative, or above a million"
                raise ArgumentError("budgets", float(budget), rule, "Budgets are amounts of epsilon, 0 or more")
        floored = np.array([budget * NANO // step * step for budget in exact], dtype=object).astype(np.int64)
        levels, classes = np.unique(floored, return_inverse=True)
        return cls(levels, classes.astype(np.int64))

    @property
    def people(self) -> int:
        return int(self.classes.size)

    @property
    def levels(self) -> tuple[Epsilon, ...]:
        return tuple(Epsilon.from_nano(nano) for nano in self.nano.tolist())

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many people are in each class."""
        return np.bincount(self.classes, minlength=self.nano.size).astype(np.int64)
