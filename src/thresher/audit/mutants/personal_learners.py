"""Models broken in three ways: a private divisor, a volume that nobody pays for, products hidden one by one.

Reads: made-up rows. Writes: nothing. Never: reachable from a release.
"""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thresher.audit.shipped.personal_learners import (
    LOGISTIC,
    ROSTER,
    Rows,
    leaving,
    objective_law,
    output_law,
    sums_law,
)
from thresher.audit.subjects import Enumerated, Subject
from thresher.personal.learners.erm import ObjectiveTerms
from thresher.personal.learners.linear_model import sum_terms
from thresher.personal.learners.taking_part import Group, group_of


def subjects() -> tuple[Subject, ...]:
    weighted, minimum = group_of(ROSTER, "weighted"), group_of(ROSTER, "minimum")
    return (
        Enumerated(
            "broken_erm_present_divisor",
            "output perturbation of a risk divided by those present",
            weighted.spent[1],
            leaving(1),
            partial(broken_erm_present_divisor, weighted),
        ),
        Enumerated(
            "broken_tilt_without_volume",
            "objective perturbation with all of epsilon for the tilt",
            minimum.spent[1],
            leaving(1),
            partial(broken_tilt_without_volume, minimum),
        ),
        Enumerated(
            "broken_products_one_bound",
            "sums of products with noise for the largest of them",
            weighted.spent[1],
            leaving(1),
            partial(broken_products_one_bound, weighted),
        ),
    )


def broken_erm_present_divisor(group: Group, rows: Rows) -> Mapping[Hashable, float]:
    """What is wrong: when somebody leaves, everybody else counts for more."""
    return output_law(group, rows, shares=_shares_of_those_present)


def broken_tilt_without_volume(group: Group, rows: Rows) -> Mapping[Hashable, float]:
    """What is wrong: a record also bends the risk, which packs minima closer together."""
    return objective_law(group, LOGISTIC, ObjectiveTerms(Fraction(1), 0.0), rows)


def broken_products_one_bound(group: Group, rows: Rows) -> Mapping[Hashable, float]:
    """What is wrong: one record moves all sums at once."""
    terms = sum_terms(group, 1)
    return sums_law(group, replace(terms, rate=2 * terms.rate), rows)


def _shares_of_those_present(_: Group, weights: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(weights / weights.sum())
