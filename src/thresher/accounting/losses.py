"""The losses of one release, region by region: what the account adds up.

A row that lies in one of the regions adds that region's loss, and a row that lies in none adds nothing. The regions are
groups of one table, so they exclude each other: different keys of the same columns, inside the same `where`.
Reads: public keys and amounts. Writes: nothing. Never: two losses for one key.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from heapq import nlargest

from thresher.accounting.constants import Key, checked_columns, checked_key, sort_key
from thresher.accounting.regions import Region
from thresher.amounts import Epsilon
from thresher.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class RegionLosses:
    """Inside `where`, the group whose `columns` equal a key loses that key's amount."""

    where: Region
    columns: tuple[str, ...]
    amounts: tuple[tuple[Key, Epsilon], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", checked_columns(self.columns, "columns"))
        object.__setattr__(self, "amounts", checked_amounts(self.amounts, self.columns))

    @classmethod
    def of_region(cls, region: Region, amount: Epsilon) -> "RegionLosses":
        """One loss for a whole region."""
        return cls(region, (), (((), amount),))

    @property
    def largest(self) -> Epsilon:
        """What this release costs on its own."""
        return max(amount for _, amount in self.amounts)

    def regions(self) -> Iterator[tuple[Region, Epsilon]]:
        """Each group's region with its loss; a group that lies outside `where` has none."""
        for key, amount in self.amounts:
            region = self.where.within(Region.at(self.columns, key))
            if region is not None:
                yield region, amount

    def only(self, columns: Collection[str], groups_per_unit: int = 1) -> "RegionLosses":
        """The same release seen through fewer columns: keys that agree on them become one group.

        A unit that touches at most `groups_per_unit` of the merged groups loses at most the sum of that many of the
        largest, which is what the merged group is charged.
        """
        if set(self.columns) <= set(columns):
            return RegionLosses(self.where.only(columns), self.columns, self.amounts)
        kept = tuple(i for i, column in enumerate(self.columns) if column in columns)
        classes: defaultdict[Key, list[int]] = defaultdict(list)
        for key, amount in self.amounts:
            classes[tuple(key[i] for i in kept)].append(amount.nano)
        merged = tuple(
            (key, Epsilon.from_nano(sum(nlargest(groups_per_unit, amounts)))) for key, amounts in classes.items()
        )
        return RegionLosses(self.where.only(columns), tuple(self.columns[i] for i in kept), merged)


def checked_amounts(amounts: object, columns: tuple[str, ...]) -> tuple[tuple[Key, Epsilon], ...]:
    """Pairs of key and amount, sorted by key, each key once, at least one pair."""
    pairs = tuple(amounts.items()) if isinstance(amounts, Mapping) else amounts
    if not isinstance(pairs, tuple | list) or not pairs:
        rule = "it must map one group or more to what each loses"
        raise ArgumentError("amounts", amounts, rule, 'Pass e.g. {("A",): Epsilon("0.1")}')
    checked: dict[Key, Epsilon] = {}
    for key, amount in pairs:
        group = checked_key(key, columns, "key")
        if group in checked:
            raise ArgumentError("key", key, "a group has one amount", "Add its amounts up, or drop the repeated one")
        checked[group] = checked_amount(amount)
    return tuple(sorted(checked.items(), key=lambda pair: tuple(sort_key(constant) for constant in pair[0])))


def checked_amount(amount: object) -> Epsilon:
    if not isinstance(amount, Epsilon):
        raise ArgumentError("amount", amount, "privacy loss is counted exactly", 'Pass an Epsilon, as Epsilon("0.1")')
    return amount
