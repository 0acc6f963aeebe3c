"""Search counts by best-first branch and bound: how many groups of each level are high, while the rest are low.

Levels are decided from the highest down. As the count of one level grows, the relaxed bound falls and then rises. So
counts are tried from its minimiser outwards, and each direction ends when the bound passes the best value found.
Reads: a relaxation. Writes: nothing. Never: a lower end that is not proved (beyond the rounding of floats).
Proof: `min_entropy.md`.
"""

import math
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Generic, Protocol, TypeVar

# Entropies here are sums of a few dozen products of doubles; two that differ by less than this count as equal.
ROUNDING = 1e-12

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class RelaxedState:
    """What a relaxation knows at one state: a proved lower bound, a value that is attained, and where to branch.

    `amount` is the real number of groups that the relaxed optimum puts high at the next level. If no level is left,
    `high` is the value itself; `low` stays the relaxed bound, because only relaxed bounds fall and then rise along a
    count, and the bound of this state decides whether its neighbours are tried.
    """

    low: float
    high: float
    amount: float


class Relaxation(Protocol[State]):
    """A minimisation over counts, level by level, from `root`."""

    root: State

    def look(self, state: State) -> RelaxedState:
        """Return bounds over all ways to complete a state."""

    def child(self, state: State, count: int) -> State | None:
        """Return the state in which the next level has `count` groups high; None if it cannot or no level is left."""


class _Search(Generic[State]):
    """The best value so far, and a heap of open children: (bound, serial, parent, count, step, child, amount)."""

    def __init__(self, problem: Relaxation[State], best: float) -> None:
        self.problem, self.best, self.looks = problem, best, 0
        self.open: list[tuple[float, int, State, int, int, State, float]] = []

    def offer(self, parent: State, count: int, step: int) -> None:
        """Bound one child, and keep it if its bound is better than the best value."""
        child = self.problem.child(parent, count)
        if child is None:
            return
        self.looks += 1
        look = self.problem.look(child)
        self.best = min(self.best, look.high)
        if look.low < self.best - ROUNDING:
            heappush(self.open, (look.low, self.looks, parent, count, step, child, look.amount))

    def divide(self, state: State, amount: float) -> None:
        """Offer the two counts around the relaxed optimum; the others follow outwards, each after its neighbour."""
        nearest = math.floor(amount)
        self.offer(state, nearest, -1)
        self.offer(state, nearest + 1, 1)


def least(problem: Relaxation[State], max_looks: int) -> tuple[float, float]:
    """Return the lower and upper end of the least value; they are equal unless `max_looks` states were too few."""
    look = problem.look(problem.root)
    if look.high - look.low <= ROUNDING:
        return look.high, look.high
    if max_looks <= 0:
        return look.low, look.high
    search = _Search(problem, look.high)
    search.divide(problem.root, look.amount)
    while search.open and search.open[0][0] < search.best - ROUNDING:
        if search.looks >= max_looks:
            return search.open[0][0], search.best
        _, _, parent, count, step, child, amount = heappop(search.open)
        search.offer(parent, count + step, step)
        search.divide(child, amount)
    return search.best, search.best
