"""The losses of one release, region by region: what the account adds up.

A row that lies in one of the regions adds that region's loss, and a row that lies in none adds nothing. The regions are
groups of one table, so they exclude each other: different keys of the same columns, inside the same `where`.
Reads: public keys and amounts. Writes: nothing. Never: two losses for one key.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise
from typing import TypeGuard

from thresher.accounting.constants import (
    Key,
    checked_columns,
    checked_key,
    constant_from_json,
    constant_to_json,
    sort_key,
)
from thresher.accounting.documents import fields_of, list_of, text_of, whole_of
from thresher.accounting.regions import Region
from thresher.accounting.restrictions import Interval
from thresher.amounts import MAX_NANO, Epsilon
from thresher.errors import ArgumentError

# The column of a stream's account: time, counted in steps. Its losses alone are joined; columns of tables stay as they
# were, so that what earlier books say of them is still what follows from their lines.
STEP = "(step)"
# A stream with more gaps than this is charged for the first of them too, which keeps its account short.
MOST_STRETCHES = 64


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

    def to_json(self) -> dict[str, object]:
        amounts = [[[constant_to_json(part) for part in key], amount.nano] for key, amount in self.amounts]
        return {"amounts": amounts, "columns": list(self.columns), "where": self.where.to_json()}

    @classmethod
    def from_json(cls, document: object) -> "RegionLosses":
        said = fields_of(document, "losses", ["amounts", "columns", "where"])
        columns = tuple(text_of(column, "columns") for column in list_of(said["columns"], "columns"))
        amounts = tuple(_amount_from_json(pair) for pair in list_of(said["amounts"], "amounts"))
        return cls(Region.from_json(said["where"]), columns, amounts)


def added(losses: Iterable[RegionLosses]) -> tuple[RegionLosses, ...]:
    """The same losses with releases over the same groups added up key by key: a book's shortest form of them."""
    families: defaultdict[tuple[Region, tuple[str, ...]], defaultdict[Key, int]] = defaultdict(lambda: defaultdict(int))
    for loss in losses:
        total = families[loss.where, loss.columns]
        for key, amount in loss.amounts:
            total[key] += amount.nano
    return _joined(
        RegionLosses(
            where, columns, tuple((key, Epsilon.from_nano(min(nano, MAX_NANO))) for key, nano in total.items())
        )
        for (where, columns), total in families.items()
    )


def _joined(losses: Iterable[RegionLosses]) -> tuple[RegionLosses, ...]:
    """Steps that follow each other and lost the same as one stretch of time: a stream may run for ever in one line."""
    kept: list[RegionLosses] = []
    ends: dict[tuple[object, Epsilon], int] = {}
    for loss in losses:
        stretch = loss.where.by_column.get(STEP)
        if loss.where.columns != (STEP,) or loss.columns or not _of_steps(stretch):
            kept.append(loss)
            continue
        amount = loss.largest
        place = ends.pop((stretch.low, amount), None)
        if place is None:
            place = len(kept)
            kept.append(loss)
        else:
            before = kept[place].where.by_column[STEP]
            whole = Interval(before.constants[0], stretch.high, True, False)
            kept[place] = RegionLosses.of_region(Region(((STEP, whole),)), amount)
        ends[stretch.high, amount] = place
    return tuple(_fewer(kept))


def _of_steps(stretch: object) -> TypeGuard[Interval]:
    """Whole steps: from one, included, up to another, not included."""
    return (
        isinstance(stretch, Interval)
        and stretch.low_included
        and stretch.high is not None
        and not stretch.high_included
    )


def _fewer(losses: list[RegionLosses]) -> list[RegionLosses]:
    """At most so many stretches: the first ones are joined over the gaps between them, at the larger amount."""
    found = [loss for loss in losses if loss.where.columns == (STEP,) and not loss.columns]
    stretches = [loss for loss in found if _of_steps(loss.where.by_column[STEP])]
    if len(stretches) <= MOST_STRETCHES:
        return losses
    first = stretches[: len(stretches) - MOST_STRETCHES + 1]
    ends = [loss.where.by_column[STEP].constants for loss in stretches]
    if any(sort_key(before[1]) > sort_key(after[0]) for before, after in pairwise(ends)):
        # Streams that overlap in time add up there: such stretches are left as they are.
        return losses
    whole = Interval(ends[0][0], ends[len(first) - 1][1], True, False)
    joined = RegionLosses.of_region(Region(((STEP, whole),)), max(loss.largest for loss in first))
    return [joined, *(loss for loss in losses if loss not in first)]


def coarsened(losses: Sequence[RegionLosses], most_groups: int) -> tuple[RegionLosses, ...]:
    """Losses over at most so many groups: the longest lists are replaced by their largest amount, all over `where`.

    Never less than the losses were: a book that has grown too long to search falls back to the safe sum in part.
    """
    kept, groups = [], sum(len(loss.amounts) for loss in losses)
    for loss in sorted(losses, key=lambda loss: -len(loss.amounts)):
        if groups > most_groups:
            groups -= len(loss.amounts) - 1
            kept.append(RegionLosses.of_region(loss.where, loss.largest))
        else:
            kept.append(loss)
    return added(kept)


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
    for i, column in enumerate(columns):
        # 1 and "1" may be one value to a database, so that groups kept apart here would be one group there.
        if len({isinstance(key[i], str) for key in checked}) > 1:
            raise ArgumentError("key", column, "the keys of a column are all texts or all numbers", "Write them alike")
    return tuple(sorted(checked.items(), key=lambda pair: tuple(sort_key(constant) for constant in pair[0])))


def checked_amount(amount: object) -> Epsilon:
    if not isinstance(amount, Epsilon):
        raise ArgumentError("amount", amount, "privacy loss is counted exactly", 'Pass an Epsilon, as Epsilon("0.1")')
    return amount


def _amount_from_json(document: object) -> tuple[Key, Epsilon]:
    pair = list_of(document, "amounts")
    if len(pair) != 2:
        raise ArgumentError("amounts", document, "each element is a key and an amount", "Pass what to_json wrote")
    key = tuple(constant_from_json(part, "key") for part in list_of(pair[0], "key"))
    return key, Epsilon.from_nano(whole_of(pair[1], "amount"))
