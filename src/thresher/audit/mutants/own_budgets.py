"""Budgets of people's own, broken in two ways: a budget rounded to the nearest step, and one charge for two groups.

Reads: nothing. Writes: nothing. Never: reachable from a release.
"""

import math
from collections.abc import Hashable, Mapping

from thresher.amounts import Epsilon
from thresher.audit.subjects import Enumerated, Pair, Subject

_REACH = 60
_STEP = 1.0
_WRITTEN = "0.5"


def subjects() -> tuple[Subject, ...]:
    return (
        Enumerated(
            "broken_nearest_budget",
            "0.5 on a grid of step 1 is taken for 1, by its law",
            Epsilon(_WRITTEN),
            (Pair("somebody who wrote 0.5 comes", 3, 4),),
            broken_nearest_budget,
            missing=1e-6,
        ),
        Enumerated(
            "broken_class_in_two_groups",
            "a person in two groups, each at the whole share, by its law",
            Epsilon(_WRITTEN),
            (Pair("somebody comes to two groups", (2, 2), (3, 3)),),
            broken_class_in_two_groups,
            missing=1e-6,
        ),
    )


def broken_nearest_budget(count: int) -> Mapping[Hashable, float]:
    """What is wrong: a code stands for all that is rounded to it, and the least of that is half a step below."""
    return _law(count, _STEP)


def broken_class_in_two_groups(counts: tuple[int, int]) -> Mapping[Hashable, float]:
    """What is wrong: the noise hides one group's sum; who is in several moves all of them together."""
    first, second = (_law(count, float(_WRITTEN)) for count in counts)
    return {(a, b): p * q for a, p in first.items() for b, q in second.items()}


def _law(centre: int, rate: float) -> dict[Hashable, float]:
    p = math.exp(-rate)
    return {y: (1 - p) / (1 + p) * p ** abs(y - centre) for y in range(-_REACH, _REACH + 1)}
