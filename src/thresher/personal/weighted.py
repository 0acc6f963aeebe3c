"""Release weighted sums: everybody counts in proportion to what they allow, and one noise covers all.

    Y = sum of weight_j x_j + discrete Laplace noise at rate grid / bound,   weight_j = floor(min(budget_j, cap) / grid)

Person j moves Y by at most weight_j bound, which costs them weight_j grid: never more than their budget. For linear
questions no other method here has a smaller variance at the best cap. Minimum and threshold are the same release with
weights 0 and 1 (`baselines.py`).
Reads: a roster, private arrays, entropy. Writes: nothing. Never: a plan that depends on values or on who is present.
Proof: `weighted.md`. Citation: Jorgensen, Yu, Cormode, "Conservative or Liberal? Personalized Differential Privacy",
2015 (the privacy notion).
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import NANO, Amount, Epsilon, exact_fraction, whole_number
from thresher.errors import ArgumentError
from thresher.noise import Entropy
from thresher.noise.entropy import chosen, marked
from thresher.noise.laplace import laplace_draws
from thresher.personal.personal_release import INDEPENDENT, PersonalRelease, as_floats
from thresher.personal.roster import Roster
from thresher.personal.roster_values import (
    MOST_SUM,
    WIDEST,
    check_noise,
    checked_bound,
    counted_cells,
    flags_of,
    fraction_of,
    of_kind,
    shared,
    whole_values,
)

HALF = Fraction(1, 2)
# Budgets without a common measure are cut into this many steps: rounding loses a millionth of the cap.
_FINEST = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class WeightedPlan:
    """Who counts how much, and the noise: a function of the roster alone, which may be shown and used again.

    `weights` are whole numbers, one for each class; a unit of weight costs `grid` epsilon, and `spent` is what a person
    of each class loses by it. Values lie within `bound` steps of 0. `frequency` is the share of people expected at
    `bound`, for `predicted_sd` and the best cap only.
    """

    method: str
    roster: Roster
    weights: NDArray[np.int64]
    grid: Fraction
    bound: int
    frequency: Fraction
    spent: tuple[Epsilon, ...] = field(repr=False)

    @classmethod
    def of(
        cls,
        method: str,
        roster: Roster,
        weights: NDArray[np.int64],
        grid: Fraction,
        bound: int,
        frequency: Fraction,
    ) -> "WeightedPlan":
        """Return the plan, with what each class spends by it."""
        check_noise(grid, bound)
        cost = {weight: Epsilon.covering(grid * weight) for weight in set(weights.tolist())}
        spent = tuple(cost[weight] for weight in weights.tolist())
        return cls(method, roster, weights, grid, bound, frequency, spent)

    @property
    def rate(self) -> Fraction:
        """Return the rate at which the noise decays."""
        return self.grid / self.bound

    @property
    def total_weight(self) -> int:
        return int(self.weights @ self.roster.sizes)

    @property
    def fair(self) -> bool:
        """Say whether everybody counts the same, so that estimates need no assumption."""
        return bool((self.weights == self.weights[0]).all())

    @property
    def noise_sd(self) -> float:
        """Return the standard deviation of the noise in a frequency or mean over the roster, in steps."""
        return laplace_sd(self.rate) / self.total_weight

    @property
    def predicted_sd(self) -> float:
        """Return the standard deviation of a frequency or mean: its noise, and that not everybody counts the same."""
        shares = self.weights / self.total_weight
        uneven = float(self.roster.sizes @ (shares - 1 / self.roster.people) ** 2)
        return math.sqrt(self.noise_sd**2 + self.bound**2 * _variance(self.frequency) * uneven)


def weighted_plan(
    roster: Roster,
    cap: Amount | None = None,
    bound: int = 1,
    *,
    share: Amount = 1,
    frequency: Amount = HALF,
) -> WeightedPlan:
    """Return weights in proportion to budgets, or to that `share` of them, but to no more than `cap`.

    Without a cap, it is the best one for values of which the share `frequency` is `bound` and the rest 0. A lower cap
    brings more noise; with a higher one the estimate depends more on the few who allow much.
    Privacy: a plan reads no value. Utility: `predicted_sd`. Runtime: linear in the classes.
    """
    used, part, reach = shared(roster, share), fraction_of(frequency), checked_bound(bound, roster)
    top = int(used.max())
    limit = best_cap(used, roster.sizes, part) if cap is None else math.floor(exact_fraction(cap, "cap") * NANO)
    limit = min(limit, top)
    if limit < 1:
        raise ArgumentError("cap", cap, "it must be at least one nano-epsilon", "Leave it out for the best one")
    capped = np.minimum(used, limit)
    grid = _grid(capped, limit, roster.people * reach, reach)
    weights = np.array([nano * grid.denominator // grid.numerator for nano in capped.tolist()], dtype=np.int64)
    return WeightedPlan.of("weighted", roster, weights, grid / NANO, reach, part)


def weighted_sum(plan: WeightedPlan, values: NDArray[Any], *, entropy: Entropy | None = None) -> PersonalRelease:
    """Estimate the sum of the values of everybody on the roster, in steps. Values are clipped to -bound ... bound.

    Privacy: each person loses at most their budget, adding or removing their value (`weighted.md`).
    Utility: `plan.predicted_sd` times the number of people. The estimate is scaled up by the public weights: that
    assumes that budgets are independent of values, unless `plan.fair`.
    Runtime: one pass over the values.
    """
    of_kind(plan, WeightedPlan, "plan")
    steps = whole_values(values, plan.roster, plan.bound)
    return _released(plan, _weighed(plan, steps), plan.roster.people, chosen(entropy))


def weighted_frequency(plan: WeightedPlan, flags: NDArray[Any], *, entropy: Entropy | None = None) -> PersonalRelease:
    """Estimate the share of the roster whose flag is set. Everything else as `weighted_sum`."""
    of_kind(plan, WeightedPlan, "plan")
    steps = plan.bound * flags_of(flags, plan.roster)
    return _released(plan, _weighed(plan, steps), Fraction(1, plan.bound), chosen(entropy))


def weighted_mean(
    plan: WeightedPlan, values: NDArray[Any], present: NDArray[Any] | None = None, *, entropy: Entropy | None = None
) -> PersonalRelease:
    """Estimate the mean value over the roster, absent people counting as 0; or over those whose `present` flag is set.

    How many are present is private too: half of what everybody spends goes to their weighted number, and the quotient
    is clipped to the bound. Its `predicted_sd` is for everybody present. Everything else as `weighted_sum`.
    """
    steps, source = whole_values(values, plan.roster, plan.bound), chosen(entropy)
    if present is None:
        return _released(plan, _weighed(plan, steps), 1, source)
    here = flags_of(present, plan.roster, "present")
    exact = np.concatenate([_weighed(plan, steps * here), _weighed(plan, here)])
    # Sensitivities weight * bound and weight, at half the rate each.
    noise = [int(laplace_draws(rate, 1, source)[0]) for rate in (plan.rate / 2, plan.grid / 2)]
    noisy = marked(exact + np.array(noise, dtype=np.int64), source)
    mean = np.clip(as_floats(noisy[:1]) / max(int(noisy[1]), 1), -plan.bound, plan.bound)
    scale = float(2 / plan.rate) / plan.total_weight
    sd = math.hypot(plan.predicted_sd, math.sqrt(7) * plan.noise_sd)
    return PersonalRelease(
        plan.method, noisy, mean, scale, sd, plan.spent, "" if plan.fair else INDEPENDENT, source.stamp
    )


def weighted_histogram(
    plan: WeightedPlan, cells: NDArray[Any], count: int, *, entropy: Entropy | None = None
) -> PersonalRelease:
    """Estimate how many people of the roster are in each of `count` cells.

    `cells` lists the cell of each person (anything but 0 ... count - 1: in none), or is a table of what each person
    adds to each cell, whose rows are cut to `plan.bound` in all. Everything else as `weighted_sum`, for each cell.
    """
    width = whole_number(count, "count")
    if width < 1:
        raise ArgumentError("count", count, "there must be at least one cell", "Pass the number of public cells")
    exact = counted_cells(cells, plan.roster, (width, plan.bound), plan.weights[plan.roster.classes])
    return _released(plan, exact, plan.roster.people, chosen(entropy))


def best_cap(used: NDArray[np.int64], sizes: NDArray[np.int64], frequency: Fraction = HALF) -> int:
    """Return the cap, in nano, with the least variance.

    It is where the sum of e (cap - e) over budgets e below it is 2 / variance. That sum only grows with the cap
    (`weighted.md`), so one pass over the classes finds it.
    """
    spread = _variance(frequency)
    levels = used / NANO
    below = np.concatenate([[0.0], np.cumsum(sizes * levels)[:-1]])
    squares = np.concatenate([[0.0], np.cumsum(sizes * levels**2)[:-1]])
    enough = np.flatnonzero(spread * (levels * below - squares) >= 2)
    if not enough.size:
        return int(used[-1])
    first = int(enough[0])
    cap = (2 / spread + squares[first]) / below[first]
    return int(np.clip(math.floor(cap * NANO), max(int(used[first - 1]), 1), used[first]))


def laplace_sd(rate: Fraction) -> float:
    """Return the standard deviation of discrete Laplace noise: 2p / (1-p)^2 is 1 / (2 sinh^2(rate / 2))."""
    return 1 / (math.sqrt(2) * math.sinh(float(rate) / 2))


def _grid(capped: NDArray[np.int64], limit: int, reach: int, bound: int) -> Fraction:
    """Return what a unit of weight costs, in nano: their common measure, or a part of the cap if sums get large."""
    most = min(_FINEST, MOST_SUM // reach, WIDEST * limit // (bound * NANO))
    check_noise(Fraction(limit, NANO), bound)
    measure = int(np.gcd.reduce(capped))
    return Fraction(measure) if limit // measure <= most else Fraction(limit, most)


def _weighed(plan: WeightedPlan, steps: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.array([plan.weights[plan.roster.classes] @ steps], dtype=np.int64)


def _released(plan: WeightedPlan, exact: NDArray[np.int64], scaled: int | Fraction, source: Entropy) -> PersonalRelease:
    """Add noise to each number, and estimate: divided by the weights, and scaled."""
    noisy = marked(exact + laplace_draws(plan.rate, exact.size, source), source)
    factor = float(Fraction(scaled) / plan.total_weight)
    return PersonalRelease(
        plan.method,
        noisy,
        as_floats(noisy) * factor,
        float(1 / plan.rate) * factor,
        plan.predicted_sd * float(scaled),
        plan.spent,
        "" if plan.fair else INDEPENDENT,
        source.stamp,
    )


def _variance(frequency: Fraction) -> float:
    return float(frequency * (1 - frequency))
