"""Decide who takes part in a fit, in which group and with what weight, from the roster alone and from coins.

    minimum    everybody, at the least budget above 0
    threshold  those who allow `threshold`, at `threshold`
    sampling   those who allow `threshold`, at `threshold`; others at `threshold` too, if a coin falls for them
    weighted   everybody, at their own budget or at `threshold` if that is less (below a 1024th of it: nobody)
    partition  a fit for each part of the roster, at the least budget in it

A weight is an amount of epsilon: a person of weight w loses at most w, or with a coin at most their own budget.
Reads: a roster, entropy for coins. Writes: nothing. Never: rows; a person whose budget is 0. Proof: `membership.md`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import NANO, Amount, Epsilon, exact_fraction
from thresher.errors import ArgumentError
from thresher.noise import Entropy
from thresher.noise.chances import CHANCES
from thresher.noise.entropy import read_words
from thresher.personal.partition import partition
from thresher.personal.parts import Parts
from thresher.personal.roster import Roster
from thresher.personal.sampling import sampling_chance

METHODS = ("minimum", "threshold", "sampling", "weighted", "partition")
_LIGHTEST = 1 << 10

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sharing:
    """How budgets are used, all of it public.

    `threshold` None is the mean budget, or the largest for the method weighted. `parts`, for the method partition, is
    their number (parts of least waste) or a `Parts`. `combine` is weighted or vote. With `replace`, neighbours are data
    in which a record is changed instead of coming or going, and budgets are halved.
    """

    method: str = "weighted"
    threshold: Amount | None = None
    parts: Parts | int = 2
    combine: str = "weighted"
    replace: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class FittedGroup:
    """People fitted together. By class of the roster: `nano` is the weight, `chances` of 2**32 that it is taken.

    `total` is the public sum by which weights are divided, in nano: that of everybody on the roster, or with coins its
    mean.
    """

    roster: Roster
    nano: Whole
    chances: Whole

    @property
    def total(self) -> int:
        each = zip(self.roster.sizes.tolist(), self.nano.tolist(), self.chances.tolist(), strict=True)
        expected: int = sum(size * nano * chance for size, nano, chance in each)
        return max(1, expected // CHANCES)

    @property
    def most(self) -> int:
        """Return the sum of all weights if each coin falls for its person, in nano."""
        return sum(size * nano for size, nano in zip(self.roster.sizes.tolist(), self.nano.tolist(), strict=True))

    @property
    def least(self) -> int:
        """Return the least weight above 0, in nano."""
        return int(self.nano[self.nano > 0].min())

    @property
    def people(self) -> int:
        """Return how many people may take part."""
        return int(self.roster.sizes[self.nano > 0].sum())

    @property
    def spent(self) -> tuple[Epsilon, ...]:
        """Return what a person of each class loses at most."""
        charged = np.where(self.chances < CHANCES, self.roster.nano, self.nano)
        return tuple(Epsilon.from_nano(nano) for nano in np.where(self.nano > 0, charged, 0).tolist())

    def weights(self, entropy: Entropy) -> Whole:
        """Return the weight of each person in the roster's order, in nano, after the coins."""
        weights = self.nano[self.roster.classes]
        if (self.chances == CHANCES).all():
            return weights
        words = read_words(self.roster.people, np.uint32, entropy).astype(np.int64)
        return np.where(words < self.chances[self.roster.classes], weights, 0)


def roster_of(budgets: "Roster | ArrayLike", people: int) -> Roster:
    """Return the roster of these budgets. It must have one person for each row, and a budget above 0."""
    roster = budgets if isinstance(budgets, Roster) else Roster.of(np.asarray(budgets, dtype=object).ravel().tolist())
    if roster.people != people:
        rule = f"it must list one person for each of the {people} rows"
        fix = "Pass rows in the roster's order, NaN if absent"
        raise ArgumentError("budgets", f"{roster.people} people", rule, fix)
    if not roster.nano[-1]:
        raise ArgumentError(
            "budgets", "all 0", "nobody on the roster may be read", "Pass a roster with a budget above 0"
        )
    return roster


def halved(roster: Roster) -> Roster:
    """Return half of each budget, rounded down: a fit that keeps these keeps the whole when a record is changed."""
    return roster.allowing(roster.nano // 2)


def fitted_groups(roster: Roster, sharing: Sharing) -> tuple[FittedGroup, ...]:
    """Return the groups, each of which is fitted by itself."""
    if sharing.method != "partition":
        return (group_of(roster, sharing.method, sharing.threshold),)
    if sharing.threshold is not None:
        raise ArgumentError("threshold", sharing.threshold, "the method partition has no threshold", "Leave it out")
    parts = sharing.parts if isinstance(sharing.parts, Parts) else partition(roster, sharing.parts)
    if not np.array_equal(parts.roster.nano[parts.roster.classes], roster.nano[roster.classes]):
        rule = "they are parts of another roster" + (", because replace halves budgets" if sharing.replace else "")
        raise ArgumentError("parts", f"{len(parts.sizes)} parts", rule, "Pass how many parts, or parts of this roster")
    return tuple(part_of(parts.roster, span) for span in parts.spans)


def combining_weights(groups: tuple[FittedGroup, ...], combine: str) -> NDArray[np.float64]:
    """Return weights that add up to 1: in proportion to (n epsilon)² of each group, or equal for a vote."""
    sums = np.array([1.0 if combine == "vote" else (group.total / groups[0].total) ** 2 for group in groups])
    return np.asarray(sums / sums.sum())


def spent_by_class(groups: tuple[FittedGroup, ...], *, doubled: bool = False) -> tuple[Epsilon, ...]:
    """Return what a person of each class loses in all groups; each person is in at most one of them."""
    each = [Epsilon.total(spent) for spent in zip(*(group.spent for group in groups), strict=True)]
    return tuple(spent * 2 for spent in each) if doubled else tuple(each)


def group_of(roster: Roster, method: str, threshold: Amount | None = None) -> FittedGroup:
    """Return the one group of any method except partition."""
    level = _level(roster, method, threshold)
    if method == "weighted":
        # Somebody with a very small budget adds little, but all noise would have to be fine enough for them.
        return _certain(roster, np.where(roster.nano * _LIGHTEST >= level, np.minimum(roster.nano, level), 0))
    if method == "sampling":
        chances = np.array([sampling_chance(nano, level) for nano in roster.nano.tolist()], dtype=np.int64)
        return FittedGroup(roster, np.where(roster.nano > 0, level, 0), chances)
    return _certain(roster, np.where(roster.nano >= max(level, 1), level, 0))


def part_of(roster: Roster, span: tuple[int, int]) -> FittedGroup:
    """Return the group of the classes from the first to before the last of `span`, at the least level among them."""
    inside = np.zeros(roster.nano.size, dtype=np.bool_)
    inside[span[0] : span[1]] = True
    return _certain(roster, np.where(inside, roster.nano[span[0]], 0))


def mean_level(roster: Roster) -> int:
    """Return the mean budget of those who allow anything, in nano, rounded down."""
    people = int(roster.sizes[roster.nano > 0].sum())
    total: int = sum(size * nano for size, nano in zip(roster.sizes.tolist(), roster.nano.tolist(), strict=True))
    return max(1, total // people)


def _level(roster: Roster, method: str, threshold: Amount | None) -> int:
    if method == "minimum":
        if threshold is not None:
            raise ArgumentError("threshold", threshold, "the method minimum has no threshold", "Leave it out")
        return int(roster.nano[roster.nano > 0].min())
    if threshold is None:
        return int(roster.nano[-1]) if method == "weighted" else min(mean_level(roster), int(roster.nano[-1]))
    level = int(exact_fraction(threshold, "threshold") * NANO // 1)
    if not 1 <= level <= int(roster.nano[-1]):
        rule = f"it must lie above 0 and be at most the largest budget, {roster.levels[-1]}"
        raise ArgumentError("threshold", threshold, rule, "Leave it out for the mean budget")
    return level


def _certain(roster: Roster, nano: Whole) -> FittedGroup:
    return FittedGroup(roster, nano.astype(np.int64), np.full(nano.size, CHANCES, dtype=np.int64))
