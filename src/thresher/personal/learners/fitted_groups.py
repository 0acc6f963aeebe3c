"""The groups in which people are fitted, and how the fits are put together.

Reads: a roster. Writes: nothing. Never: rows.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount, Epsilon
from thresher.errors import ArgumentError
from thresher.personal.learners.taking_part import Group, group_of, part_of
from thresher.personal.partition import partition
from thresher.personal.parts import Parts
from thresher.personal.roster import Roster


@dataclass(frozen=True, slots=True)
class Sharing:
    """How budgets are used, all of it public. `threshold` None: the mean budget, or for weighted the largest.

    `parts`: for the method partition, how many (those of least waste), or a `Parts`. `combine`: weighted or vote.
    `replace`: neighbours are data in which a record is changed, not one that comes or goes; budgets are halved.
    """

    method: str = "weighted"
    threshold: Amount | None = None
    parts: Parts | int = 2
    combine: str = "weighted"
    replace: bool = False


def groups_of(roster: Roster, sharing: Sharing) -> tuple[Group, ...]:
    """The groups that are fitted, each by itself."""
    if sharing.method != "partition":
        return (group_of(roster, sharing.method, sharing.threshold),)
    if sharing.threshold is not None:
        raise ArgumentError("threshold", sharing.threshold, "the method partition has none", "Leave it out")
    parts = sharing.parts if isinstance(sharing.parts, Parts) else partition(roster, sharing.parts)
    if not np.array_equal(parts.roster.nano[parts.roster.classes], roster.nano[roster.classes]):
        rule = "they are parts of another roster" + (", for budgets were halved" if sharing.replace else "")
        raise ArgumentError("parts", f"{len(parts.sizes)} parts", rule, "Pass how many parts, or parts of this roster")
    return tuple(part_of(parts.roster, span) for span in parts.spans)


def combining_weights(groups: tuple[Group, ...], combine: str) -> NDArray[np.float64]:
    """(n epsilon)² for each group, or the same for all, adding up to 1."""
    sums = np.array([1.0 if combine == "vote" else (group.total / groups[0].total) ** 2 for group in groups])
    return np.asarray(sums / sums.sum())


def spent_by_class(groups: tuple[Group, ...], *, doubled: bool = False) -> tuple[Epsilon, ...]:
    """What a person of each class loses in all groups: they are in one of them at most."""
    each = [Epsilon.total(spent) for spent in zip(*(group.spent for group in groups), strict=True)]
    return tuple(spent * 2 for spent in each) if doubled else tuple(each)
