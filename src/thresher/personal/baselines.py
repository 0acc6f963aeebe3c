"""What others do: everybody at the least budget; or those above a threshold, at the threshold.

Both are a weighted release with weights 0 and 1, so the same functions release them and the same proof covers them.
Reads: a roster. Writes: nothing. Never: a threshold found by looking at data.
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
    """Everybody whose budget is above 0 counts once, at the least of these budgets: ordinary privacy for all."""
    used = shared(roster, share)
    first = int(np.flatnonzero(used)[0])
    return _from_class(roster, used, (first, used.size), bound, fraction_of(frequency), "minimum")


def threshold_plan(
    roster: Roster,
    threshold: Amount | None = None,
    bound: int = 1,
    *,
    share: Amount = 1,
    frequency: Amount = HALF,
) -> WeightedPlan:
    """Those who allow `threshold` or more count once, at the least of their budgets; the others are left out.

    Without a threshold, the one with the least predicted deviation.
    """
    used, part = shared(roster, share), fraction_of(frequency)
    if threshold is None:
        first = _best_start(used, roster.sizes, float(part * (1 - part)))
    else:
        least = max(math.ceil(exact_fraction(threshold, "threshold") * NANO), 1)
        first = int(np.searchsorted(used, least))
    if first == used.size:
        raise ArgumentError("threshold", threshold, "nobody on the roster allows so much", "Pass a lower one")
    return _from_class(roster, used, (first, used.size), bound, part, "threshold")


def _best_start(used: NDArray[np.int64], sizes: NDArray[np.int64], spread: float) -> int:
    """The class from which on to count: noise of those left against the people lost."""
    people = np.cumsum(sizes[::-1])[::-1]
    noise = [laplace_sd(Fraction(nano, NANO)) if nano else math.inf for nano in used.tolist()]
    return int(np.argmin((np.array(noise) / people) ** 2 + spread / people))


def _from_class(
    roster: Roster, used: NDArray[np.int64], span: tuple[int, int], bound: int, frequency: Fraction, method: str
) -> WeightedPlan:
    """Weight 1 for the classes of a span, 0 for all others, at the budget of its first class."""
    places = np.arange(used.size)
    weights = ((places >= span[0]) & (places < span[1])).astype(np.int64)
    grid = Fraction(int(used[span[0]]), NANO)
    return WeightedPlan.of(method, roster, weights, grid, checked_bound(bound, roster), frequency)
