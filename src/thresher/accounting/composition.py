"""What an account has lost: the largest sum of losses over any one cell of the common refinement of all regions.

Within a cell losses add (sequential composition); between cells the largest counts (parallel composition). The sum of
each release's own largest loss is always enough, and is what this falls back to, part by part, when the refinement is
too large to search. Columns are taken as dense and as independent of each other.
Reads: losses by region. Writes: nothing. Never: a float, or an amount below the true one.
Proof: `composition.md`.
"""

import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from thresher.accounting.constants import Constant, Key
from thresher.accounting.deepest import Box, Search, Span
from thresher.accounting.losses import RegionLosses
from thresher.accounting.regions import Region
from thresher.accounting.restrictions import Interval, Place, Restriction, Values, one_kind
from thresher.amounts import Epsilon
from thresher.errors import ArgumentError

# Boxes met while searching. So many take about a quarter of a second, while a ledger waits; most accounts need fewer.
WORK_LIMIT = 50_000

_Family = tuple[Region, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class AccountLoss:
    """`loss` is never below the true loss; `exact` says that it equals it."""

    loss: Epsilon
    exact: bool

    def __str__(self) -> str:
        return str(self.loss) if self.exact else f"at most {self.loss}"


def account_loss(
    entries: Iterable[RegionLosses], within: Region | None = None, work_limit: int = WORK_LIMIT
) -> AccountLoss:
    """The loss of an account that holds these releases, or of the part of it that lies `within` a region.

    Order does not matter. The same releases always give the same amount, so a ledger can derive it again.
    """
    listed, inside = _checked(entries), within or Region.everything()
    mixed = _mixed_columns(listed, inside)
    families = _families(listed, inside, mixed)
    boxes, width = _boxes(families)
    depth = Search(work_limit).deepest(boxes, frozenset(range(width)))
    return AccountLoss(Epsilon.from_nano(depth.value), depth.exact and not mixed)


def loss_after(entries: Sequence[RegionLosses], new: Sequence[RegionLosses]) -> AccountLoss:
    """The loss of the account once `new` is added: what a reservation must fit under the budget.

    Where the search runs out, the loss before plus the new releases' own loss is a bound as well; the smaller counts.
    """
    after = account_loss([*entries, *new])
    if after.exact:
        return after
    stepwise = account_loss(entries).loss + account_loss(new).loss
    return AccountLoss(min(after.loss, stepwise), False)


def safe_sum(entries: Iterable[RegionLosses]) -> Epsilon:
    """The sum of each release's largest loss: always enough, never less than `account_loss`."""
    return Epsilon.total(entry.largest for entry in _checked(entries))


def _checked(entries: Iterable[RegionLosses]) -> list[RegionLosses]:
    listed = list(entries)
    for entry in listed:
        if not isinstance(entry, RegionLosses):
            raise ArgumentError("entries", entry, "an account adds up RegionLosses", "Pass losses() of an event")
    return listed


def _mixed_columns(entries: Sequence[RegionLosses], within: Region) -> frozenset[str]:
    """Columns on which kinds of values are mixed, so that exact comparison proves nothing."""
    mentioned: defaultdict[str, set[Constant]] = defaultdict(set)
    ordered: set[str] = set()
    for where in [within, *(entry.where for entry in entries)]:
        for column, said in where.restrictions:
            mentioned[column].update(said.constants)
            if isinstance(said, Interval):
                ordered.add(column)
    for entry in entries:
        for i, column in enumerate(entry.columns):
            mentioned[column].update(key[i] for key, _ in entry.amounts)
    return frozenset(name for name, constants in mentioned.items() if not one_kind(constants, ordered=name in ordered))


def _families(entries: Sequence[RegionLosses], within: Region, mixed: frozenset[str]) -> dict[_Family, dict[Key, int]]:
    """Releases over the same groups added up, each narrowed to `within` and seen without the mixed columns."""
    families: dict[_Family, dict[Key, int]] = {}
    for entry in entries:
        named = {*entry.columns, *entry.where.columns}
        kept = entry if named.isdisjoint(mixed) else entry.only(named - mixed)
        where = kept.where.within(within.only(set(within.columns) - mixed))
        if where is not None:
            total = families.setdefault((where, kept.columns), defaultdict(int))
            for key, amount in kept.amounts:
                total[key] += amount.nano
    # One order whatever the order of the entries, so that a search that runs out does so at the same point.
    return dict(sorted(families.items(), key=lambda family: (json.dumps(family[0][0].to_json()), family[0][1])))


def _boxes(families: dict[_Family, dict[Key, int]]) -> tuple[list[Box], int]:
    """Every group as a box over numbered columns and places, and the number of columns."""
    regions: list[tuple[int, int, Region]] = []
    for i, ((where, columns), amounts) in enumerate(families.items()):
        for group, nano in _grouped(columns, amounts):
            region = where.within(group)
            if region is not None and nano:
                regions.append((i, nano, region))
    said_of: defaultdict[str, list[Restriction]] = defaultdict(list)
    for _, _, region in regions:
        for column, said in region.restrictions:
            said_of[column].append(said)
    lines = {column: Line(number, said_of[column]) for number, column in enumerate(sorted(said_of))}
    boxes = [
        Box(nano, i, {lines[column].number: lines[column].span(said) for column, said in region.restrictions})
        for i, nano, region in regions
    ]
    return boxes, len(lines)


def _grouped(columns: tuple[str, ...], amounts: dict[Key, int]) -> Iterator[tuple[Region, int]]:
    """Groups as regions. Groups that lost the same and differ in the last column only are one: a set of values."""
    if not columns:
        yield from ((Region.everything(), nano) for nano in amounts.values())
        return
    equal: defaultdict[tuple[Key, int], list[Constant]] = defaultdict(list)
    for key, nano in amounts.items():
        equal[key[:-1], nano].append(key[-1])
    for (first, nano), last in equal.items():
        values = [*((value,) for value in first), tuple(last)]
        yield Region(tuple((column, Values(members)) for column, members in zip(columns, values, strict=True))), nano


class Line:
    """One column: its number, and the places where something begins on it, in order."""

    def __init__(self, number: int, restrictions: Iterable[Restriction]) -> None:
        self.number = number
        starts: set[Place] = set()
        for said in restrictions:
            starts.update(said.starts)
        self._places = sorted(starts)
        self._index = {place: i for i, place in enumerate(self._places)}

    def span(self, said: Restriction) -> Span:
        """Which of the places a restriction holds."""
        if isinstance(said, Values):
            return tuple(self._index[place] for place in said.starts)
        return range(bisect_left(self._places, said.low_place), bisect_right(self._places, said.high_place))
