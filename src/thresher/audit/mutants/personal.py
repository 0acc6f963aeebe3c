"""Personal releases broken in three ways: parts of those present, chances in proportion, noise for the mean budget.

Reads: nothing. Writes: nothing. Never: reachable from a release.
"""

from collections.abc import Hashable, Mapping

from thresher.amounts import Epsilon
from thresher.audit.shipped.personal import laplace_law, sampling_law
from thresher.audit.subjects import Enumerated, Pair, Subject
from thresher.personal.partition import partition
from thresher.personal.roster import Roster

_REACH = 40
# Alone, the last of these moves the best cut: from below 1.5 to below 0.75.
_BUDGETS = ("0.25", "0.75", "0.75", "1.5", "0.75")
_OTHERS = ("0.5", 1, 2)

Flags = tuple[int, ...]


def subjects() -> tuple[Subject, ...]:
    return (
        Enumerated(
            "broken_partition_of_present",
            "parts are made of those who are present, by their law",
            Epsilon(_BUDGETS[-1]),
            (Pair("somebody comes, and others change parts", (1, 1, 1, 1, 0), (1, 1, 1, 1, 1)),),
            broken_partition_of_present,
            missing=1e-3,
        ),
        Enumerated(
            "broken_sampling_chances",
            "chances in proportion to budgets, by their law",
            Epsilon(_OTHERS[0]),
            (Pair("somebody of budget 0.5 comes", (0, 1, 0), (1, 1, 0)),),
            broken_sampling_chances,
            missing=1e-6,
        ),
        Enumerated(
            "broken_mean_budget",
            "a count with noise for the mean of all budgets, by its law",
            Epsilon(_OTHERS[0]),
            (Pair("somebody of budget 0.5 comes", (0, 1, 0), (1, 1, 0)),),
            broken_mean_budget,
            missing=1e-6,
        ),
    )


def broken_partition_of_present(present: Flags) -> Mapping[Hashable, float]:
    """What is wrong: who is in which part, and at which level, depends on who is there; a budget pays for one part."""
    here = [budget for budget, flag in zip(_BUDGETS, present, strict=True) if flag]
    parts = partition(Roster.of(here), 2)
    first, second = (
        laplace_law(size, float(level.fraction), _REACH) for size, level in zip(parts.sizes, parts.levels, strict=True)
    )
    return {(a, b): p * q for a, p in first.items() for b, q in second.items()}


def broken_sampling_chances(flags: Flags) -> Mapping[Hashable, float]:
    """What is wrong: the loss ln(1 + p (e^t - 1)) is above the budget for p = budget / t."""
    return sampling_law([0.25, 0.5, 1], flags, 2.0)


def broken_mean_budget(flags: Flags) -> Mapping[Hashable, float]:
    """What is wrong: those who allow less than the mean pay for the others."""
    return laplace_law(sum(flags), float(sum(Epsilon(each).fraction for each in _OTHERS)) / 3, _REACH)
