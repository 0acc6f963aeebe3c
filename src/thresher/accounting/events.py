"""What happened, as frozen events: who was measured, by which groups, and at what loss. Accounting interprets them.

An event is written down twice: before the data are read as the worst case (the cost), afterwards as what was reached
(the loss). `settled` checks that the second never exceeds the first.
Reads: public facts of a release. Writes: nothing. Never: adds up amounts across events (see `composition.py`).
Proof that the charges are enough: `composition.md`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from thresher.accounting.constants import Key, checked_columns, checked_key, constant_from_json, constant_to_json
from thresher.accounting.documents import fields_of, list_of, text_of, whole_of
from thresher.accounting.losses import RegionLosses, checked_amount, checked_amounts
from thresher.accounting.regions import Region
from thresher.amounts import Epsilon, whole_number
from thresher.errors import ArgumentError, BugError


@dataclass(frozen=True, slots=True)
class Grouping:
    """The groups of a release: rows of `where`, divided by `columns`, at most so many groups for one unit.

    `fixed_columns` are the columns that have one value in all rows of a unit. Only they keep regions apart: a person
    with rows in two buildings is in the regions of both, even if each release counted that person in one building
    only. So every other column is left out of the regions that are charged, and where groups thereby fall together, a
    unit may have touched `max_groups_per_unit` of them and pays the sum of that many of the largest. In particular,
    with no fixed columns the sum of the largest is charged to the whole table.
    """

    columns: tuple[str, ...]
    where: Region
    max_groups_per_unit: int
    fixed_columns: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", checked_columns(self.columns, "columns"))
        object.__setattr__(self, "fixed_columns", tuple(sorted(checked_columns(self.fixed_columns, "fixed_columns"))))
        if not isinstance(self.where, Region):
            raise ArgumentError("where", self.where, "it must be a Region", "Pass Region.everything() for all rows")
        most = whole_number(self.max_groups_per_unit, "max_groups_per_unit")
        if most < 1:
            raise ArgumentError("max_groups_per_unit", most, "a unit may be in one group at least", "Pass 1 or more")
        object.__setattr__(self, "max_groups_per_unit", most)

    @classmethod
    def of_rows(cls, columns: Iterable[str], where: Region | None = None) -> "Grouping":
        """Every row is its own unit, so every column has one value for it and it is in one group."""
        names, region = checked_columns(columns, "columns"), where or Region.everything()
        return cls(names, region, 1, tuple(set(names) | set(region.columns)))

    def to_json(self) -> dict[str, object]:
        return {
            "columns": list(self.columns),
            "fixed_columns": list(self.fixed_columns),
            "max_groups_per_unit": self.max_groups_per_unit,
            "where": self.where.to_json(),
        }

    @classmethod
    def from_json(cls, document: object) -> "Grouping":
        said = fields_of(document, "grouping", ["columns", "fixed_columns", "max_groups_per_unit", "where"])
        columns, fixed = (
            tuple(text_of(column, name) for column in list_of(said[name], name))
            for name in ("columns", "fixed_columns")
        )
        most = whole_of(said["max_groups_per_unit"], "max_groups_per_unit")
        return cls(columns, Region.from_json(said["where"]), most, fixed)


@dataclass(frozen=True, slots=True)
class CommonSpending:
    """Every group was (or may be) measured at one amount; which groups there are need not be known."""

    grouping: Grouping
    amount: Epsilon

    def __post_init__(self) -> None:
        checked_amount(self.amount)

    def losses(self) -> tuple[RegionLosses, ...]:
        apart = set(self.grouping.columns) <= set(self.grouping.fixed_columns)
        amount = self.amount * (1 if apart else self.grouping.max_groups_per_unit)
        return (RegionLosses.of_region(self.grouping.where.only(self.grouping.fixed_columns), amount),)

    def to_json(self) -> dict[str, object]:
        return {"amount": self.amount.to_json(), "event": "common", "grouping": self.grouping.to_json()}


@dataclass(frozen=True, slots=True)
class GroupSpending:
    """Each listed group was (or may be) measured at its own amount; a group that is not listed was not measured."""

    grouping: Grouping
    amounts: tuple[tuple[Key, Epsilon], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "amounts", checked_amounts(self.amounts, self.grouping.columns))
        for key, _ in self.amounts:
            if self.grouping.where.within(Region.at(self.grouping.columns, key)) is None:
                raise ArgumentError("key", key, f"no row of {self.grouping.where} is in this group", "Leave it out")

    def losses(self) -> tuple[RegionLosses, ...]:
        by_group = RegionLosses(self.grouping.where, self.grouping.columns, self.amounts)
        return (by_group.only(self.grouping.fixed_columns, self.grouping.max_groups_per_unit),)

    def to_json(self) -> dict[str, object]:
        amounts = [[[constant_to_json(part) for part in key], amount.to_json()] for key, amount in self.amounts]
        return {"amounts": amounts, "event": "groups", "grouping": self.grouping.to_json()}


@dataclass(frozen=True, slots=True)
class CombinedSpending:
    """Several spendings on the same data, one after the other or at once: their losses add where they overlap."""

    parts: tuple["Spending", ...]

    def __post_init__(self) -> None:
        listed = self.parts if isinstance(self.parts, tuple) else ()
        if not listed or not all(isinstance(part, Spending) for part in listed):
            raise ArgumentError("parts", self.parts, "it must be a tuple of spendings, one or more", "Pass the events")

    def losses(self) -> tuple[RegionLosses, ...]:
        return tuple(loss for part in self.parts for loss in part.losses())

    def to_json(self) -> dict[str, object]:
        return {"event": "combined", "parts": [part.to_json() for part in self.parts]}


Spending = CommonSpending | GroupSpending | CombinedSpending


def spending_from_json(document: object) -> Spending:
    """The event that `to_json` wrote."""
    kind = document.get("event") if isinstance(document, dict) else None
    if kind == "common":
        said = fields_of(document, "event", ["amount", "event", "grouping"])
        amount = Epsilon.from_json(text_of(said["amount"], "amount"))
        return CommonSpending(Grouping.from_json(said["grouping"]), amount)
    if kind == "groups":
        said = fields_of(document, "event", ["amounts", "event", "grouping"])
        grouping = Grouping.from_json(said["grouping"])
        return GroupSpending(
            grouping, tuple(_pair_from_json(pair, grouping) for pair in list_of(said["amounts"], "amounts"))
        )
    if kind == "combined":
        said = fields_of(document, "event", ["event", "parts"])
        return CombinedSpending(tuple(spending_from_json(part) for part in list_of(said["parts"], "parts")))
    raise ArgumentError("event", kind, "it must be one of common, groups, combined", "Pass what to_json wrote")


def settled(cost: Spending, loss: Spending) -> Spending:
    """`loss`, once it is checked that it settles `cost`: the same groups, and no group above its worst case.

    Sound only for releases that show their stopping level, because an ex-post loss is a statement about the output.
    No amount that was reached is quoted in an error: the release it belongs to has not been handed out.
    """
    if isinstance(cost, CombinedSpending) or isinstance(loss, CombinedSpending):
        costs = cost.parts if isinstance(cost, CombinedSpending) else None
        losses = loss.parts if isinstance(loss, CombinedSpending) else None
        if costs is None or losses is None or len(costs) != len(losses):
            raise BugError("a settlement has other parts than the spending it settles")
        for reserved, reached in zip(costs, losses, strict=True):
            settled(reserved, reached)
        return loss
    if cost.grouping != loss.grouping:
        raise BugError("a settlement names other groups than the spending it settles")
    if not _covers(cost, loss):
        raise BugError("a group was settled above its worst case, so its promise does not hold")
    return loss


def _covers(cost: CommonSpending | GroupSpending, loss: CommonSpending | GroupSpending) -> bool:
    if isinstance(cost, CommonSpending):
        amounts = [loss.amount] if isinstance(loss, CommonSpending) else [amount for _, amount in loss.amounts]
        return max(amounts) <= cost.amount
    if isinstance(loss, CommonSpending):
        # A common loss speaks of all groups, also those that the cost did not list.
        return False
    reserved = dict(cost.amounts)
    return all(key in reserved and amount <= reserved[key] for key, amount in loss.amounts)


def _pair_from_json(document: object, grouping: Grouping) -> tuple[Key, Epsilon]:
    pair = list_of(document, "amounts")
    if len(pair) != 2:
        raise ArgumentError("amounts", document, "each element is a key and an amount", "Pass what to_json wrote")
    key = tuple(constant_from_json(part, "key") for part in list_of(pair[0], "key"))
    return checked_key(key, grouping.columns, "key"), Epsilon.from_json(text_of(pair[1], "amount"))
