"""Estimate from a sample: people with small budgets are taken with smaller chances, and noise is drawn at one cap.

    chance_j = (exp(budget_j) - 1) / (exp(cap) - 1) below the cap, 1 from it on

Chances are rounded down to whole 2**-32 by certified arithmetic, and the estimate is divided by their public sum.
Reads: a roster, private arrays, entropy. Writes: nothing. Never: a chance that depends on a value or on who is present.
Proof: `sampling.md`. Citation: Jorgensen, Yu, Cormode 2015.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import NANO, Amount, Epsilon, exact_fraction
from thresher.errors import ArgumentError
from thresher.noise import Entropy
from thresher.noise.chances import CHANCES
from thresher.noise.enclosure import certified, exp_minus
from thresher.noise.entropy import chosen, marked, read_words
from thresher.noise.laplace import laplace_draws
from thresher.personal.personal_release import INDEPENDENT, PersonalRelease, as_floats
from thresher.personal.roster import Roster
from thresher.personal.roster_values import (
    check_noise,
    checked_bound,
    flags_of,
    fraction_of,
    of_kind,
    shared,
    whole_values,
)
from thresher.personal.weighted import HALF, laplace_sd

_CHANCE_BITS = CHANCES.bit_length() - 1
# Levels tried for the best cap; between them the deviation hardly changes.
_TRIED = 64


@dataclass(frozen=True, slots=True, eq=False)
class SamplingPlan:
    """Chances of the classes in whole 2**-32, and the budget of the noise: a function of the roster alone."""

    roster: Roster
    chances: NDArray[np.int64]
    spent: tuple[Epsilon, ...] = field(repr=False)
    cap: Epsilon
    bound: int
    frequency: Fraction

    @property
    def rate(self) -> Fraction:
        return self.cap.fraction / self.bound

    @property
    def expected(self) -> Fraction:
        """Return how many people are expected in the sample."""
        return Fraction(int(self.chances @ self.roster.sizes), CHANCES)

    @property
    def fair(self) -> bool:
        """Say whether everybody has the same chance, so that estimates need no assumption."""
        return bool((self.chances == self.chances[0]).all())

    @property
    def predicted_sd(self) -> float:
        """Return the standard deviation of a frequency or mean: noise, who is drawn, and that not everybody is."""
        return _deviation(self.chances / CHANCES, self.roster.sizes, self.rate, self.bound, self.frequency)


def sampling_plan(
    roster: Roster,
    cap: Amount | None = None,
    bound: int = 1,
    *,
    share: Amount = 1,
    frequency: Amount = HALF,
) -> SamplingPlan:
    """Return chances for this cap; without one, for the level with the least predicted deviation.

    Runtime: some 30 microseconds for each class below the cap; floor budgets to a grid to have fewer.
    """
    used, part, reach = shared(roster, share), fraction_of(frequency), checked_bound(bound, roster)
    limit = _best(used, roster.sizes, part) if cap is None else math.floor(exact_fraction(cap, "cap") * NANO)
    limit = min(limit, int(used[-1]))
    if limit < 1:
        raise ArgumentError("cap", cap, "it must be at least one nano-epsilon", "Leave it out for the best one")
    check_noise(Fraction(limit, NANO), reach)
    chances = np.array([sampling_chance(nano, limit) for nano in used.tolist()], dtype=np.int64)
    spent = tuple(Epsilon.from_nano(min(nano, limit)) for nano in used.tolist())
    return SamplingPlan(roster, chances, spent, Epsilon.from_nano(limit), reach, part)


def sampling_chance(nano: int, cap: int) -> int:
    """Return (exp(budget) - 1) / (exp(cap) - 1) in units of 2**-32, rounded down; 1 from the cap on.

    `nano` and `cap` are budgets in nano-epsilon.
    """
    if nano >= cap:
        return CHANCES
    if nano == 0:
        return 0

    def asked(bits: int) -> int:
        whole = exp_minus(Fraction(cap, NANO), bits)
        return ((exp_minus(Fraction(cap - nano, NANO), bits) - whole) / (1 - whole)).floor(_CHANCE_BITS)

    return certified(asked)


def sampled_sum(plan: SamplingPlan, values: NDArray[Any], *, entropy: Entropy | None = None) -> PersonalRelease:
    """Estimate the sum of the values of everybody on the roster, in steps, from a sample. Values are clipped.

    Privacy: each person loses at most their budget, adding or removing their value (`sampling.md`).
    Utility: `plan.predicted_sd` times the number of people; assumes that budgets are independent of values, unless
    all are the same. Runtime: a coin for each person.
    """
    of_kind(plan, SamplingPlan, "plan")
    return _released(plan, whole_values(values, plan.roster, plan.bound), plan.roster.people, chosen(entropy))


def sampled_frequency(plan: SamplingPlan, flags: NDArray[Any], *, entropy: Entropy | None = None) -> PersonalRelease:
    """Estimate the share of the roster whose flag is set. Everything else as `sampled_sum`."""
    of_kind(plan, SamplingPlan, "plan")
    steps = plan.bound * flags_of(flags, plan.roster)
    return _released(plan, steps, Fraction(1, plan.bound), chosen(entropy))


def _released(plan: SamplingPlan, steps: NDArray[np.int64], scaled: int | Fraction, source: Entropy) -> PersonalRelease:
    words = read_words(plan.roster.people, np.uint32, source).astype(np.int64)
    taken = words < plan.chances[plan.roster.classes]
    exact = np.array([int(steps[taken].sum())], dtype=np.int64)
    noisy = marked(exact + laplace_draws(plan.rate, 1, source), source)
    factor = float(scaled / plan.expected)
    return PersonalRelease(
        "sampling",
        noisy,
        as_floats(noisy) * factor,
        float(1 / plan.rate) * factor,
        plan.predicted_sd * float(scaled),
        plan.spent,
        "" if plan.fair else INDEPENDENT,
        source.stamp,
    )


def _best(used: NDArray[np.int64], sizes: NDArray[np.int64], frequency: Fraction) -> int:
    """Return the level with the least predicted deviation, of a few that are spread evenly over the classes."""
    levels = used[used > 0]
    tried = levels[np.unique(np.linspace(0, levels.size - 1, _TRIED).astype(np.int64))].tolist()
    amounts = used / NANO

    def deviation(cap: int) -> float:
        # Floats will do here: the cap is public, and whatever it is, its chances are certified.
        end = cap / NANO
        chances = np.expm1(-np.minimum(amounts, end)) * np.exp(np.minimum(amounts, end) - end) / math.expm1(-end)
        return _deviation(chances, sizes, Fraction(cap, NANO), 1, frequency)

    return int(min(tried, key=deviation))


def _deviation(
    chances: NDArray[np.float64], sizes: NDArray[np.int64], rate: Fraction, bound: int, frequency: Fraction
) -> float:
    expected, here = float(sizes @ chances), float(frequency)
    coins = here**2 * float(sizes @ (chances * (1 - chances))) / expected**2
    uneven = here * (1 - here) * (1 / expected - 1 / int(sizes.sum()))
    return math.sqrt((laplace_sd(rate) / expected) ** 2 + bound**2 * (coins + max(uneven, 0.0)))
