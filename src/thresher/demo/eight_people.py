"""Make up two rosters and who is to be counted: the eight people of a paper's first figure, and a hundred thousand.

Reads: nothing. Writes: nothing. Never: real people. They are the same in each run.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.noise import SeededEntropy
from thresher.personal.roster import Roster

# Li, Xiong, Ji, Jiang (2017), Figure 1: name, salary, budget.
FIGURE = (
    ("Alice", 70_000, "0.01"),
    ("Emily", 180_000, "0.02"),
    ("John", 105_000, "0.05"),
    ("Olga", 110_000, "0.07"),
    ("Frank", 90_000, "0.09"),
    ("Bob", 140_000, "0.11"),
    ("Mark", 110_000, "0.14"),
    ("Cecilia", 100_000, "0.15"),
)
SALARY = 105_000
MANY = 100_000
_LOW, _WIDE, _ONE_IN = 0.01, 0.09, 5
_SEED, _APART = 2017, 4_999


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """Hold a roster, and whether each person is to be counted, known because they are made up."""

    roster: Roster
    flags: NDArray[np.bool_]

    @property
    def truth(self) -> float:
        """Return the share of people who are to be counted."""
        return float(self.flags.mean())

    def others(self, draw: int) -> NDArray[np.bool_]:
        """Return other people to be counted, as many as before. `draw`: the number of the draw."""
        return np.roll(self.flags, draw * _APART)


def eight() -> People:
    """Return the eight people; those who earn 105,000 or more are to be counted."""
    roster = Roster.of([budget for _, _, budget in FIGURE], names=[name for name, _, _ in FIGURE])
    return People(roster, np.array([salary >= SALARY for _, salary, _ in FIGURE]))


def many(people: int = MANY) -> People:
    """Return people with budgets spread evenly from 0.01 to 0.1; one in five, whatever the budget, is to be counted."""
    words = np.frombuffer(SeededEntropy(_SEED).read(4 * people), dtype="<u4")
    budgets = _LOW + _WIDE * (np.arange(people) + 0.5) / people
    return People(Roster.of(budgets, "0.0001"), words % _ONE_IN == 0)
