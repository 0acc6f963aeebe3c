"""Choose a count by the personal exponential mechanism: a number costs the budgets of those who must flip to reach it.

    cost(r) = the least sum of budgets of people whose flags must flip so that r are set,   P[r] ~ exp(-cost(r) / 2)

Reads: a roster, private flags, entropy. Writes: nothing. Never: a person whose budget is 0; a float before a draw.
Proof: `count_choice.md`. Citation: Jorgensen, Yu, Cormode 2015, section 4.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import NANO, Amount, Epsilon
from thresher.errors import ArgumentError
from thresher.noise import Entropy
from thresher.noise.choices import choose
from thresher.noise.entropy import chosen, marked
from thresher.personal.personal_release import INDEPENDENT, PersonalRelease, as_floats
from thresher.personal.roster import Roster
from thresher.personal.roster_values import flags_of, fraction_of, shared
from thresher.personal.weighted import HALF

RATE = Fraction(1, 2 * NANO)


@dataclass(frozen=True, slots=True, eq=False)
class ExponentialPlan:
    """What the flip of one person of each class costs, in nano: a function of the roster alone."""

    roster: Roster
    used: NDArray[np.int64]
    frequency: Fraction
    spent: tuple[Epsilon, ...] = field(repr=False)

    @property
    def people(self) -> int:
        """Return how many people can be counted: those who may spend something."""
        return int(self.roster.sizes[self.used > 0].sum())

    @property
    def fair(self) -> bool:
        """Say whether everybody on the roster can be counted, so that estimates need no assumption."""
        return self.people == self.roster.people

    @property
    def predicted_sd(self) -> float:
        """Return the standard deviation of a frequency if the share `frequency` of each class has its flag set."""
        sizes, here = self.roster.sizes, float(self.frequency)
        costs = self.costs(np.diff(np.rint(np.cumsum(sizes) * here).astype(np.int64), prepend=0))
        off = np.arange(costs.size) - int(np.argmin(costs))
        weights = np.exp(-costs / (2 * NANO))
        spread = float(weights @ off**2 / weights.sum()) / self.people**2
        return math.sqrt(spread + here * (1 - here) * (1 / self.people - 1 / self.roster.people))

    def costs(self, counted: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the cost in nano of each number from 0 to `people`, where `counted` flags of each class are set."""
        read = self.used > 0
        fewer = np.cumsum(np.repeat(self.used[read], counted[read]))
        more = np.cumsum(np.repeat(self.used[read], (self.roster.sizes - counted)[read]))
        return np.concatenate([fewer[::-1], [0], more]).astype(np.int64)


def exponential_plan(roster: Roster, *, share: Amount = 1, frequency: Amount = HALF) -> ExponentialPlan:
    """Return the plan for counts at this share of everybody's budget."""
    used = shared(roster, share)
    if sum(size * nano for size, nano in zip(roster.sizes.tolist(), used.tolist(), strict=True)) >= 1 << 61:
        rule = "the sum of all budgets must stay below two billion"
        raise ArgumentError("roster", f"{roster.people} people", rule, "Take a smaller share")
    spent = tuple(Epsilon.from_nano(nano) for nano in used.tolist())
    return ExponentialPlan(roster, used, fraction_of(frequency), spent)


def exponential_frequency(
    plan: ExponentialPlan, flags: NDArray[Any], *, entropy: Entropy | None = None
) -> PersonalRelease:
    """Estimate the share of the roster whose flag is set, by a count chosen among all possible ones.

    Privacy: each person loses at most their budget (`count_choice.md`). No assumption is needed where nobody's budget
    is 0. Utility: good where few people have small budgets; where many have, each step is cheap and the count errs
    more than with the least budget for all. Runtime: a pass over the flags, and a step for each likely count.
    """
    source = chosen(entropy)
    ones = flags_of(flags, plan.roster)
    counted = np.bincount(plan.roster.classes[ones > 0], minlength=plan.used.size)
    noisy = marked(np.array([choose(plan.costs(counted), RATE, entropy=source)], dtype=np.int64), source)
    return PersonalRelease(
        "exponential",
        noisy,
        as_floats(noisy) / plan.people,
        float(2 * NANO / plan.used[plan.used > 0][0]) / plan.people,
        plan.predicted_sd,
        plan.spent,
        "" if plan.fair else INDEPENDENT,
        source.stamp,
    )
