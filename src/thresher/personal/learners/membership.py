"""Who takes part in a fit, in which group and with what weight: a function of the roster alone, but for coins.

    minimum    everybody, at the least budget above 0
    threshold  those who allow `threshold`, at that
    sampling   everybody who allows it at `threshold`; others by a coin that makes theirs of it
    weighted   everybody, each at the own budget or at `threshold` if that is less (below a 1024th of it: nobody)
    partition  a fit for each part of the roster, at the least budget in it

A weight is an amount of epsilon: what a person of weight w may lose is w, or with coins what the coin makes of it.
Reads: a roster, entropy for coins. Writes: nothing. Never: rows; a person whose budget is 0. Proof: `membership.md`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import NANO, Amount, Epsilon, exact_fraction
from thresher.errors import ArgumentError
from thresher.noise import Entropy
from thresher.noise.entropy import read_words
from thresher.personal.partition import partition
from thresher.personal.parts import Parts
from thresher.personal.roster import Roster

METHODS = ("minimum", "threshold", "sampling", "weighted", "partition")
_CHANCES = 1 << 32
_LIGHTEST = 1 << 10

Whole = NDArray[np.int64]


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


@dataclass(frozen=True, slots=True, eq=False)
class FittedGroup:
    """People fitted together. By class of the roster: `nano` is the weight, `chances` of 2**32 that it is taken.

    `total` is the public sum by which weights are divided, in nano: what they come to if everybody is there, or with
    coins what they come to in the mean.
    """

    roster: Roster
    nano: Whole
    chances: Whole

    @property
    def total(self) -> int:
        return max(1, sum(self._expected()) // _CHANCES)

    @property
    def most(self) -> int:
        """The sum of all weights if every coin falls for its person, in nano."""
        return sum(size * nano for size, nano in zip(self.roster.sizes.tolist(), self.nano.tolist(), strict=True))

    @property
    def least(self) -> int:
        """The least weight above 0, in nano."""
        return int(self.nano[self.nano > 0].min())

    @property
    def people(self) -> int:
        """How many may take part."""
        return int(self.roster.sizes[self.nano > 0].sum())

    @property
    def spent(self) -> tuple[Epsilon, ...]:
        """What a person of each class loses at most."""
        charged = np.where(self.chances < _CHANCES, self.roster.nano, self.nano)
        return tuple(Epsilon.from_nano(nano) for nano in np.where(self.nano > 0, charged, 0).tolist())

    def weights(self, entropy: Entropy) -> Whole:
        """The weight of each person in the roster's order, in nano, after the coins."""
        weights = self.nano[self.roster.classes]
        if (self.chances == _CHANCES).all():
            return weights
        words = read_words(self.roster.people, np.uint32, entropy).astype(np.int64)
        return np.where(words < self.chances[self.roster.classes], weights, 0)

    def _expected(self) -> list[int]:
        each = zip(self.roster.sizes.tolist(), self.nano.tolist(), self.chances.tolist(), strict=True)
        return [size * nano * chance for size, nano, chance in each]


def roster_of(budgets: "Roster | ArrayLike", people: int) -> Roster:
    """The roster meant, if it has one person for each row. Somebody has to allow something."""
    roster = budgets if isinstance(budgets, Roster) else Roster.of(np.asarray(budgets, dtype=object).ravel().tolist())
    if roster.people != people:
        rule = f"it must list one person for each of the {people} rows"
        raise ArgumentError(
            "budgets", f"{roster.people} people", rule, "Pass rows in the roster's order, NaN if absent"
        )
    if not roster.nano[-1]:
        raise ArgumentError("budgets", "all 0", "nobody on the roster may be read", "Fit no model of them")
    return roster


def halved(roster: Roster) -> Roster:
    """Budgets halved, rounded down: what is private at these when a record comes or goes is so when one is changed."""
    return roster.allowing(roster.nano // 2)


def fitted_groups(roster: Roster, sharing: Sharing) -> tuple[FittedGroup, ...]:
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


def combining_weights(groups: tuple[FittedGroup, ...], combine: str) -> NDArray[np.float64]:
    """(n epsilon)² for each group, or the same for all, adding up to 1."""
    sums = np.array([1.0 if combine == "vote" else (group.total / groups[0].total) ** 2 for group in groups])
    return np.asarray(sums / sums.sum())


def spent_by_class(groups: tuple[FittedGroup, ...], *, doubled: bool = False) -> tuple[Epsilon, ...]:
    """What a person of each class loses in all groups: they are in one of them at most."""
    each = [Epsilon.total(spent) for spent in zip(*(group.spent for group in groups), strict=True)]
    return tuple(spent * 2 for spent in each) if doubled else tuple(each)


def group_of(roster: Roster, method: str, threshold: Amount | None = None) -> FittedGroup:
    """The one group of every method but partition."""
    level = _level(roster, method, threshold)
    if method == "weighted":
        # Somebody who allows next to nothing adds next to nothing, but all noise would have to be fine enough for them.
        return _certain(roster, np.where(roster.nano * _LIGHTEST >= level, np.minimum(roster.nano, level), 0))
    if method == "sampling":
        return FittedGroup(roster, np.where(roster.nano > 0, level, 0), sampling_chances(roster.nano, level))
    return _certain(roster, np.where(roster.nano >= max(level, 1), level, 0))


def part_of(roster: Roster, span: tuple[int, int]) -> FittedGroup:
    """The group of the classes from the first to before the last, at the least level among them."""
    inside = np.zeros(roster.nano.size, dtype=np.bool_)
    inside[span[0] : span[1]] = True
    return _certain(roster, np.where(inside, roster.nano[span[0]], 0))


def sampling_chances(nano: Whole, level: int) -> Whole:
    """(exp(budget) - 1) / (exp(level) - 1) in units of 2**-32, rounded down by one unit at least; 2**32 from level up.

    The float is right to one part in 2**48, which is a small part of a unit: one unit less is below the true chance.
    """
    below = np.minimum(nano, level) / NANO
    top = level / NANO
    ratio = np.exp(below - top) * np.expm1(-below) / np.expm1(-top)
    units = np.maximum(np.floor(ratio * _CHANCES).astype(np.int64) - 1, 0)
    return np.where(nano >= level, _CHANCES, np.where(nano > 0, units, 0))


def mean_level(roster: Roster) -> int:
    """The mean budget of those who allow anything, in nano, rounded down."""
    people = int(roster.sizes[roster.nano > 0].sum())
    total: int = sum(size * nano for size, nano in zip(roster.sizes.tolist(), roster.nano.tolist(), strict=True))
    return max(1, total // people)


def _level(roster: Roster, method: str, threshold: Amount | None) -> int:
    if method == "minimum":
        if threshold is not None:
            raise ArgumentError("threshold", threshold, "the method minimum has none", "Leave it out")
        return int(roster.nano[roster.nano > 0].min())
    if threshold is None:
        return int(roster.nano[-1]) if method == "weighted" else min(mean_level(roster), int(roster.nano[-1]))
    level = int(exact_fraction(threshold, "threshold") * NANO // 1)
    if not 1 <= level <= int(roster.nano[-1]):
        rule = f"it must lie above 0 and be at most the largest budget, {roster.levels[-1]}"
        raise ArgumentError("threshold", threshold, rule, "Leave it out for the mean budget")
    return level


def _certain(roster: Roster, nano: Whole) -> FittedGroup:
    return FittedGroup(roster, nano.astype(np.int64), np.full(nano.size, _CHANCES, dtype=np.int64))
