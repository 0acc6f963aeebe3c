"""Compute what an account has lost: the largest sum of losses in any one cell of the common refinement of all regions.

Within a cell losses add (sequential composition); between cells the largest counts (parallel composition). The sum of
each release's own largest loss is always enough; parts of the refinement that are too large to search count with that
sum. Columns are taken as dense and as independent of each other.
Reads: losses by region. Writes: nothing. Never: a float, or an amount below the true one.
Proof: `composition.md`.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from thresher.accounting.deepest import Box, Search, Span
from thresher.accounting.losses import RegionLosses
from thresher.accounting.regions import Constant, Interval, Key, Place, Region, one_kind
from thresher.amounts import Epsilon
from thresher.errors import ArgumentError

# Boxes met while searching. This many take about a quarter of a second, while a ledger waits; most accounts need fewer.
WORK_LIMIT = 50_000

_Family = tuple[Region, tuple[str, ...]]
# The restriction of a box on one column: some constants, or an interval.
_Said = tuple[Constant, ...] | Interval


@dataclass(frozen=True, slots=True)
class AccountLoss:
    """What an account has lost: `loss` is never below the true loss, and equals it if `exact`."""

    loss: Epsilon
    exact: bool

    def __str__(self) -> str:
        return str(self.loss) if self.exact else f"at most {self.loss}"


def account_loss(
    entries: Iterable[RegionLosses], within: Region | None = None, work_limit: int = WORK_LIMIT
) -> AccountLoss:
    """Return the loss of an account with these releases, or of the part of it that lies `within` a region.

    Order does not matter. The same releases always give the same amount, so a ledger can compute it again.
    """
    listed = _checked(entries)
    mixed = _mixed_columns(listed, within)
    boxes, width = _boxes(_families(listed, within, mixed))
    depth = Search(work_limit).deepest(boxes, frozenset(range(width)))
    return AccountLoss(Epsilon.from_nano(depth.value), depth.exact and not mixed)


def loss_after(entries: Sequence[RegionLosses], new: Sequence[RegionLosses]) -> AccountLoss:
    """Return the loss of the account once `new` is added, which a reservation compares with the budget.

    If the search runs out of work, the loss before plus the new releases' own loss is a bound too; the smaller counts.
    """
    after = account_loss([*entries, *new])
    if after.exact:
        return after
    stepwise = account_loss(entries).loss + account_loss(new).loss
    return AccountLoss(min(after.loss, stepwise), False)


def safe_sum(entries: Iterable[RegionLosses]) -> Epsilon:
    """Return the sum of each release's largest loss, which is never less than `account_loss`."""
    return Epsilon.total(entry.largest for entry in _checked(entries))


def _checked(entries: Iterable[RegionLosses]) -> list[RegionLosses]:
    listed = list(entries)
    for entry in listed:
        if not isinstance(entry, RegionLosses):
            raise ArgumentError("entries", entry, "each must be a RegionLosses", "Pass losses() of an event")
    return listed


def _mixed_columns(entries: Sequence[RegionLosses], within: Region | None) -> frozenset[str]:
    """Return the columns on which kinds of values are mixed, so that exact comparison proves nothing."""
    mentioned: defaultdict[str, set[Constant]] = defaultdict(set)
    ordered: set[str] = set()
    for where in [*([] if within is None else [within]), *(entry.where for entry in entries)]:
        for column, said in where.restrictions:
            mentioned[column].update(said.constants)
            if isinstance(said, Interval):
                ordered.add(column)
    for entry in entries:
        for i, column in enumerate(entry.columns):
            mentioned[column].update(key[i] for key, _ in entry.amounts)
    return frozenset(name for name, constants in mentioned.items() if not one_kind(constants, ordered=name in ordered))


def _families(
    entries: Sequence[RegionLosses], within: Region | None, mixed: frozenset[str]
) -> dict[_Family, dict[Key, int]]:
    """Add up releases over the same groups, each narrowed to `within` and without the mixed columns."""
    inside = within if within is None else within.only(set(within.columns) - mixed)
    families: dict[_Family, dict[Key, int]] = {}
    for entry in entries:
        losses = entry.only({*entry.columns, *entry.where.columns} - mixed) if mixed else entry
        where = losses.where if inside is None else losses.where.within(inside)
        if where is not None:
            total = families.setdefault((where, losses.columns), defaultdict(int))
            for key, amount in losses.amounts:
                total[key] += amount.nano
    # The order of the entries makes no difference, so a search that runs out of work does so at the same point.
    return dict(sorted(families.items(), key=lambda family: repr(family[0])))


def _boxes(families: Mapping[_Family, Mapping[Key, int]]) -> tuple[list[Box], int]:
    """Return every group as a box over numbered columns and places, and the number of columns."""
    listed: list[tuple[int, int, dict[str, _Said]]] = []
    for number, ((where, columns), amounts) in enumerate(families.items()):
        around: dict[str, _Said] = {
            column: said if isinstance(said, Interval) else said.constants for column, said in where.restrictions
        }
        for group, nano in _grouped(columns, amounts):
            inside = {column: _met(around.get(column), members) for column, members in group.items()}
            if nano and all(inside.values()):
                listed.append((number, nano, {**around, **inside}))
    said_of: defaultdict[str, list[_Said]] = defaultdict(list)
    for _, _, box in listed:
        for column, said in box.items():
            said_of[column].append(said)
    lines = {column: Line(number, said_of[column]) for number, column in enumerate(sorted(said_of))}
    boxes = [
        Box(nano, family, {lines[column].number: lines[column].span(said) for column, said in box.items()})
        for family, nano, box in listed
    ]
    return boxes, len(lines)


def _grouped(
    columns: tuple[str, ...], amounts: Mapping[Key, int]
) -> Iterator[tuple[dict[str, tuple[Constant, ...]], int]]:
    """Yield groups as constants of columns; groups of equal loss that differ only in the last column are one group."""
    if not columns:
        yield from (({}, nano) for nano in amounts.values())
        return
    equal: defaultdict[tuple[Key, int], list[Constant]] = defaultdict(list)
    for key, nano in amounts.items():
        equal[key[:-1], nano].append(key[-1])
    for (first, nano), last in equal.items():
        yield dict(zip(columns, [*((value,) for value in first), tuple(last)], strict=True)), nano


def _met(around: _Said | None, members: tuple[Constant, ...]) -> tuple[Constant, ...]:
    """Return the members that satisfy the restriction around the groups, if there is one."""
    if isinstance(around, Interval):
        return tuple(member for member in members if around.holds(member))
    return members if around is None else tuple(member for member in members if member in around)


class Line:
    """One column: its number, and the places on it where a restriction begins, in order."""

    def __init__(self, number: int, said: Iterable[_Said]) -> None:
        self.number = number
        starts: set[Place] = set()
        for one in said:
            # A constant begins and ends at itself; an interval begins at its lower end, or at the far left.
            starts.update([one.low_place] if isinstance(one, Interval) else [(1, member, 0) for member in one])
        self._places = sorted(starts)
        self._index = {place: i for i, place in enumerate(self._places)}

    def span(self, said: _Said) -> Span:
        """Return the numbers of the places that satisfy a restriction."""
        if isinstance(said, Interval):
            return range(bisect_left(self._places, said.low_place), bisect_right(self._places, said.high_place))
        return tuple(self._index[1, member, 0] for member in said)
