"""Hold the losses of one release by region: what the account adds up.

A row in one of the regions adds that region's loss; a row in none adds nothing. The regions are groups of one table, so
they exclude each other: different keys of the same columns, inside the same `where`.
Reads: public keys and amounts. Writes: nothing. Never: two losses for one key. Joined steps: `steps.md`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nlargest
from itertools import pairwise

from thresher.accounting.regions import (
    WRITTEN,
    Interval,
    Key,
    Region,
    checked_groups,
    keys_from_json,
    keys_to_json,
)
from thresher.amounts import MAX_NANO, Epsilon
from thresher.errors import ArgumentError

# The column of a stream's account: time, counted in steps. Only its losses are joined. The losses of tables stay as
# they are, so that the state in earlier ledgers still follows from their entries.
STEP = "(step)"
# If a stream has more stretches than this, the gaps between the first ones are charged too, to keep its account short.
MOST_STRETCHES = 64


@dataclass(frozen=True, slots=True)
class RegionLosses:
    """The losses of a release: inside `where`, the group whose `columns` equal a key loses that key's amount."""

    where: Region
    columns: tuple[str, ...]
    amounts: tuple[tuple[Key, Epsilon], ...]

    def __post_init__(self) -> None:
        columns, amounts = checked_amounts(self.columns, self.amounts)
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "amounts", amounts)

    @classmethod
    def of_region(cls, region: Region, amount: Epsilon) -> "RegionLosses":
        """Return one loss for a whole region."""
        return cls(region, (), (((), amount),))

    @property
    def largest(self) -> Epsilon:
        """Return what this release costs by itself."""
        return max(amount for _, amount in self.amounts)

    def regions(self) -> Iterator[tuple[Region, Epsilon]]:
        """Yield each group's region with its loss, but for groups that lie outside `where`."""
        for key, amount in self.amounts:
            region = self.where.within(Region.at(self.columns, key))
            if region is not None:
                yield region, amount

    def only(self, columns: Collection[str], groups_per_unit: int = 1) -> "RegionLosses":
        """Return the same losses over fewer columns: keys that agree on these become one group.

        A unit that touches at most `groups_per_unit` of the groups that become one loses at most the sum of that many
        of their largest losses, so that sum is charged.
        """
        if set(self.columns) <= set(columns):
            return RegionLosses(self.where.only(columns), self.columns, self.amounts)
        places = tuple(i for i, column in enumerate(self.columns) if column in columns)
        classes: defaultdict[Key, list[int]] = defaultdict(list)
        for key, amount in self.amounts:
            classes[tuple(key[i] for i in places)].append(amount.nano)
        merged = tuple(
            (key, Epsilon.from_nano(sum(nlargest(groups_per_unit, amounts)))) for key, amounts in classes.items()
        )
        return RegionLosses(self.where.only(columns), tuple(self.columns[i] for i in places), merged)

    def to_json(self) -> dict[str, object]:
        keys = keys_to_json([key for key, _ in self.amounts])
        amounts = [[key, amount.nano] for key, (_, amount) in zip(keys, self.amounts, strict=True)]
        return {"amounts": amounts, "columns": list(self.columns), "where": self.where.to_json()}

    @classmethod
    def from_json(cls, document: object) -> "RegionLosses":
        match document:
            case {"amounts": [*pairs], "columns": [*columns], "where": where, **rest} if not rest:
                written = [_pair(pair) for pair in pairs]
                keys = keys_from_json([key for key, _ in written])
                amounts = (Epsilon.from_nano(nano) for _, nano in written)
                return cls(Region.from_json(where), tuple(columns), tuple(zip(keys, amounts, strict=True)))
        raise ArgumentError("losses", document, "it must be an object with amounts, columns and where", WRITTEN)


def added(losses: Iterable[RegionLosses]) -> tuple[RegionLosses, ...]:
    """Add up releases over the same groups, key by key: the shortest form of losses, which a ledger keeps.

    Keys that are numbers in one release and texts in another may or may not be the same groups: such releases stay
    separate.
    """
    families: defaultdict[tuple[Region, tuple[str, ...], tuple[type, ...]], defaultdict[Key, int]] = defaultdict(
        lambda: defaultdict(int)
    )
    for loss in losses:
        total = families[loss.where, loss.columns, tuple(map(type, loss.amounts[0][0]))]
        for key, amount in loss.amounts:
            total[key] += amount.nano
    return _joined(
        RegionLosses(
            where, columns, tuple((key, Epsilon.from_nano(min(nano, MAX_NANO))) for key, nano in total.items())
        )
        for (where, columns, _), total in families.items()
    )


def _joined(losses: Iterable[RegionLosses]) -> tuple[RegionLosses, ...]:
    """Join consecutive steps of equal loss to one stretch of time, so that an endless stream can stay one entry."""
    joined: list[RegionLosses] = []
    ends: dict[tuple[Fraction, Epsilon], tuple[int, Fraction]] = {}
    for loss in losses:
        stretch = _stretch(loss)
        if stretch is None:
            joined.append(loss)
            continue
        (low, high), amount = stretch, loss.largest
        place, start = ends.pop((low, amount), (len(joined), low))
        joined[place : place + 1] = [loss if start == low else RegionLosses.of_region(steps(start, high), amount)]
        ends[high, amount] = place, start
    return tuple(_fewer(joined))


def _fewer(losses: list[RegionLosses]) -> list[RegionLosses]:
    """Leave at most `MOST_STRETCHES`: join the first ones, with the gaps between them, at their largest amount."""
    stretches = [(loss, stretch) for loss in losses if (stretch := _stretch(loss)) is not None]
    if len(stretches) <= MOST_STRETCHES:
        return losses
    if any(before[1] > after[0] for (_, before), (_, after) in pairwise(stretches)):
        # Streams that overlap in time add up there, so their stretches cannot be joined in this way.
        return losses
    first = stretches[: len(stretches) - MOST_STRETCHES + 1]
    whole = steps(first[0][1][0], first[-1][1][1])
    joined = RegionLosses.of_region(whole, max(loss.largest for loss, _ in first))
    return [joined, *(loss for loss in losses if all(loss is not other for other, _ in first))]


def _stretch(loss: RegionLosses) -> tuple[Fraction, Fraction] | None:
    """Return the first step of a loss and the step after its last one; None if the loss is about anything else."""
    if loss.columns or len(loss.where.restrictions) != 1:
        return None
    ((column, said),) = loss.where.restrictions
    if column != STEP or not isinstance(said, Interval) or not said.low_included or said.high_included:
        return None
    numbers = isinstance(said.low, Fraction) and isinstance(said.high, Fraction)
    return (said.low, said.high) if numbers else None  # type: ignore[return-value]  # both are numbers


def steps(low: Fraction, high: Fraction) -> Region:
    """Return the region of a stream's steps from `low` up to, but not including, `high`."""
    return Region(((STEP, Interval(low, high, True, False)),))


def first_steps(last: int) -> Region:
    """Return the steps of a stream from its first to `last`, included."""
    return steps(Fraction(0), Fraction(last + 1))


def coarsened(losses: Sequence[RegionLosses], most_groups: int) -> tuple[RegionLosses, ...]:
    """Reduce losses to at most `most_groups` groups: the longest lists are replaced by their largest amount.

    That amount is charged to all of `where`, so the result is never less than the losses were. A ledger whose account
    is too long to search uses it.
    """
    coarse, groups = [], sum(len(loss.amounts) for loss in losses)
    for loss in sorted(losses, key=lambda loss: -len(loss.amounts)):
        if groups > most_groups:
            groups -= len(loss.amounts) - 1
            coarse.append(RegionLosses.of_region(loss.where, loss.largest))
        else:
            coarse.append(loss)
    return added(coarse)


def checked_amounts(columns: object, amounts: object) -> tuple[tuple[str, ...], tuple[tuple[Key, Epsilon], ...]]:
    """Return the columns and the loss of each group: pairs sorted by key, each key once, at least one pair."""
    pairs = tuple(amounts.items()) if isinstance(amounts, Mapping) else amounts
    if not isinstance(pairs, tuple | list) or not pairs:
        rule = "it must map one group or more to the loss of each"
        raise ArgumentError("amounts", amounts, rule, 'Pass e.g. {("A",): Epsilon("0.1")}')
    names, keys = checked_groups(columns, [key for key, _ in pairs])
    listed = [checked_amount(amount) for _, amount in pairs]
    return names, tuple(sorted(zip(keys, listed, strict=True), key=lambda pair: pair[0]))


def checked_amount(amount: object) -> Epsilon:
    if not isinstance(amount, Epsilon):
        raise ArgumentError("amount", amount, "it must be an Epsilon, which is exact", 'Pass e.g. Epsilon("0.1")')
    return amount


def _pair(document: object) -> tuple[object, int]:
    match document:
        case [key, int(nano)] if not isinstance(nano, bool):
            return key, nano
    raise ArgumentError("amounts", document, "each element must be a list of a key and a whole number", WRITTEN)
