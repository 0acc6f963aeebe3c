"""Count everybody at the least budget; or only those above a threshold, at the threshold: the usual ways.

Both are a weighted release with weights 0 and 1, so the same functions release them and the same proof covers them.
Reads: a roster. Writes: nothing. Never: a threshold that depends on data.
Proof: `baselines.md`. Citation: Jorgensen, Yu, Cormode 2015.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import NANO, Amount, exact_fraction
from thresher.errors import ArgumentError
from thresher.personal.roster import Roster
from thresher.personal.roster_values import checked_bound, fraction_of, shared
from thresher.personal.weighted import HALF, WeightedPlan, laplace_sd


def minimum_plan(roster: Roster, bound: int = 1, *, share: Amount = 1, frequency: Amount = HALF) -> WeightedPlan:
    """Count everybody whose budget is above 0 once, at the least of these budgets: ordinary privacy for all."""
    used = shared(roster, share)
    return _from_class(roster, used, int(np.flatnonzero(used)[0]), bound, fraction_of(frequency), "minimum")


def threshold_plan(
    roster: Roster,
    threshold: Amount | None = None,
    bound: int = 1,
    *,
    share: Amount = 1,
    frequency: Amount = HALF,
) -> WeightedPlan:
    """Count those who allow `threshold` or more once, at the least of their budgets; leave the others out.

    Without a threshold, the plan takes the one with the least predicted deviation.
    """
    used, part = shared(roster, share), fraction_of(frequency)
    if threshold is None:
        first = _best_start(used, roster.sizes, float(part * (1 - part)))
    else:
        least = max(math.ceil(exact_fraction(threshold, "threshold") * NANO), 1)
        first = int(np.searchsorted(used, least))
    if first == used.size:
        raise ArgumentError("threshold", threshold, "nobody on the roster allows that much", "Pass a lower threshold")
    return _from_class(roster, used, first, bound, part, "threshold")


def _best_start(used: NDArray[np.int64], sizes: NDArray[np.int64], spread: float) -> int:
    """Return the first class to count: fewer people, but less noise, the higher it is."""
    people = np.cumsum(sizes[::-1])[::-1]
    noise = [laplace_sd(Fraction(nano, NANO)) if nano else math.inf for nano in used.tolist()]
    return int(np.argmin((np.array(noise) / people) ** 2 + spread / people))


def _from_class(
    roster: Roster, used: NDArray[np.int64], first: int, bound: int, frequency: Fraction, method: str
) -> WeightedPlan:
    """Return weight 1 for the classes from `first` on, 0 for those below, at the budget of the first."""
    weights = (np.arange(used.size) >= first).astype(np.int64)
    grid = Fraction(int(used[first]), NANO)
    return WeightedPlan.of(method, roster, weights, grid, checked_bound(bound, roster), frequency)
