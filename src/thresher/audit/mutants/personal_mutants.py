"""Break releases under personal budgets: parts, chances, noise, grids and models that charge too little.

Reads: made-up rows. Writes: nothing. Never: reachable from a release.
"""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.laws.noise_laws import laplace_law
from thresher.audit.mutants import by_law
from thresher.audit.shipped.learner_subjects import (
    LOGISTIC,
    ROSTER,
    Rows,
    leaving,
    objective_law,
    output_law,
    sums_law,
)
from thresher.audit.shipped.personal_subjects import sampling_law
from thresher.audit.subjects import Enumerated, Pair
from thresher.personal.learners.erm import ObjectiveTerms
from thresher.personal.learners.linear_model import sum_terms
from thresher.personal.learners.membership import FittedGroup, group_of
from thresher.personal.partition import partition
from thresher.personal.roster import Roster

_REACH, _STEP = 40, 1.0
_HALF = Epsilon("0.5")
# The last of these moves the best cut by itself: from below 1.5 to below 0.75.
_BUDGETS = ("0.25", "0.75", "0.75", "1.5", "0.75")
_OTHERS = ("0.5", 1, 2)

Flags = tuple[int, ...]


def subjects() -> tuple[Enumerated, ...]:
    weighted, minimum = group_of(ROSTER, "weighted"), group_of(ROSTER, "minimum")
    present = Pair("somebody comes, and others change parts", (1, 1, 1, 1, 0), (1, 1, 1, 1, 1))
    comes = Pair("somebody of budget 0.5 comes", (0, 1, 0), (1, 1, 0))
    wrote = Pair("somebody who wrote 0.5 comes", 3, 4)
    twice = Pair("somebody comes to two groups", (2, 2), (3, 3))
    return (
        by_law(broken_partition_of_present, present, charged=Epsilon(_BUDGETS[-1]), missing=1e-3),
        by_law(broken_sampling_chances, comes, charged=_HALF),
        by_law(broken_mean_budget, comes, charged=_HALF),
        by_law(broken_nearest_budget, wrote, charged=_HALF),
        by_law(broken_class_in_two_groups, twice, charged=_HALF),
        by_law(partial(broken_erm_present_divisor, weighted), *leaving(1), charged=weighted.spent[1]),
        by_law(partial(broken_tilt_without_volume, minimum), *leaving(1), charged=minimum.spent[1]),
        by_law(partial(broken_products_one_bound, weighted), *leaving(1), charged=weighted.spent[1]),
    )


def broken_partition_of_present(present: Flags) -> Mapping[Hashable, float]:
    """Form the parts from the people who are present, although a budget pays for the noise of one part only."""
    here = [budget for budget, flag in zip(_BUDGETS, present, strict=True) if flag]
    parts = partition(Roster.of(here), 2)
    first, second = (
        laplace_law(size, float(level.fraction), _REACH) for size, level in zip(parts.sizes, parts.levels, strict=True)
    )
    return {(a, b): p * q for a, p in first.items() for b, q in second.items()}


def broken_sampling_chances(flags: Flags) -> Mapping[Hashable, float]:
    """Sample people with p = budget / t; the loss ln(1 + p (e^t - 1)) is above the budget."""
    return sampling_law([0.25, 0.5, 1], flags, 2.0)


def broken_mean_budget(flags: Flags) -> Mapping[Hashable, float]:
    """Add noise for the mean budget; people who allow less lose more than they allow."""
    return laplace_law(sum(flags), float(sum(Epsilon(each).fraction for each in _OTHERS)) / 3, _REACH)


def broken_nearest_budget(count: int) -> Mapping[Hashable, float]:
    """Round a budget to the nearest step, so that a person may have written half a step less than is charged."""
    return laplace_law(count, _STEP, 60)


def broken_class_in_two_groups(counts: tuple[int, int]) -> Mapping[Hashable, float]:
    """Add noise that hides one group's sum; a person in several groups moves all their sums."""
    first, second = (laplace_law(count, 0.5, 60) for count in counts)
    return {(a, b): p * q for a, p in first.items() for b, q in second.items()}


def broken_erm_present_divisor(group: FittedGroup, rows: Rows) -> Mapping[Hashable, float]:
    """Divide by the people who are present: when somebody leaves, each other person counts for more."""
    return output_law(group, rows, shares=_shares_of_those_present)


def broken_tilt_without_volume(group: FittedGroup, rows: Rows) -> Mapping[Hashable, float]:
    """Charge the tilt only; a record also bends the risk, which moves minima closer together."""
    return objective_law(group, LOGISTIC, ObjectiveTerms(Fraction(1), 0.0), rows)


def broken_products_one_bound(group: FittedGroup, rows: Rows) -> Mapping[Hashable, float]:
    """Add noise for the largest of the products; one record moves all their sums."""
    terms = sum_terms(group, 1)
    return sums_law(group, replace(terms, rate=2 * terms.rate), rows)


def _shares_of_those_present(_: FittedGroup, weights: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(weights / weights.sum())
