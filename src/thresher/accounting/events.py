"""Describe spending as frozen events: which groups were measured, and at what loss. Accounting interprets them.

An event is written down twice: before the data are read as the worst case (the cost), and afterwards as the loss that
was reached. `settled` checks that the loss never exceeds the cost.
Reads: public facts of a release. Writes: nothing. Never: adds up amounts across events (see `composition.py`).
Proof that the charges are enough: `composition.md`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from thresher.accounting.losses import STEP, RegionLosses, checked_amount, checked_amounts, steps
from thresher.accounting.regions import WRITTEN, Key, Region, checked_columns, keys_from_json, keys_to_json
from thresher.amounts import Epsilon, whole_number
from thresher.errors import ArgumentError, BugError


@dataclass(frozen=True, slots=True)
class Grouping:
    """The groups of a release: rows of `where`, divided by `columns`; a unit is in at most `max_groups_per_unit`.

    `fixed_columns` are the columns that have one value in all rows of a unit. Only they separate regions: a person
    with rows in two buildings is in the regions of both, even if each release counted that person in one building
    only. So the regions that are charged leave every other column out. Groups that fall together in this way are
    charged the sum of their largest losses, as many as `max_groups_per_unit`, because a unit may be in that many.
    Without fixed columns, that sum is charged to the whole table.
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
            raise ArgumentError("max_groups_per_unit", most, "it must be 1 or more", "Pass 1 or a larger integer")
        object.__setattr__(self, "max_groups_per_unit", most)

    @classmethod
    def of_rows(cls, columns: Iterable[str], where: Region | None = None) -> "Grouping":
        """Return the groups of a release in which every row is its own unit: all columns are fixed, one group each."""
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
        match document:
            case {
                "columns": [*columns],
                "fixed_columns": [*fixed_columns],
                "max_groups_per_unit": int(most),
                "where": where,
                **rest,
            } if not rest:
                return cls(tuple(columns), Region.from_json(where), most, tuple(fixed_columns))
        raise ArgumentError("grouping", document, "it must be an object that describes groups", WRITTEN)


@dataclass(frozen=True)
class CommonSpending:
    """Every group was (or may be) measured at one amount. The groups need not be known."""

    grouping: Grouping
    amount: Epsilon

    def __post_init__(self) -> None:
        checked_amount(self.amount)

    def losses(self) -> tuple[RegionLosses, ...]:
        return self._losses

    @cached_property
    def _losses(self) -> tuple[RegionLosses, ...]:
        apart = set(self.grouping.columns) <= set(self.grouping.fixed_columns)
        amount = self.amount if apart else self.amount * self.grouping.max_groups_per_unit
        return (RegionLosses.of_region(self.grouping.where.only(self.grouping.fixed_columns), amount),)

    def to_json(self) -> Mapping[str, object]:
        return self._document

    @cached_property
    def _document(self) -> dict[str, object]:
        return {"amount": self.amount.to_json(), "event": "common", "grouping": self.grouping.to_json()}


@dataclass(frozen=True)
class GroupSpending:
    """Each listed group was (or may be) measured at its own amount; a group that is not listed was not measured."""

    grouping: Grouping
    amounts: tuple[tuple[Key, Epsilon], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "amounts", checked_amounts(self.grouping.columns, self.amounts)[1])
        if self.grouping.where.restrictions:
            for key, _ in self.amounts:
                if self.grouping.where.within(Region.at(self.grouping.columns, key)) is None:
                    raise ArgumentError("key", key, f"no row of {self.grouping.where} is in this group", "Leave it out")

    def losses(self) -> tuple[RegionLosses, ...]:
        return self._losses

    @cached_property
    def _losses(self) -> tuple[RegionLosses, ...]:
        by_group = RegionLosses(self.grouping.where, self.grouping.columns, self.amounts)
        return (by_group.only(self.grouping.fixed_columns, self.grouping.max_groups_per_unit),)

    def to_json(self) -> Mapping[str, object]:
        return self._document

    @cached_property
    def _document(self) -> dict[str, object]:
        keys = keys_to_json([key for key, _ in self.amounts])
        amounts = [[key, amount.to_json()] for key, (_, amount) in zip(keys, self.amounts, strict=True)]
        return {"amounts": amounts, "event": "groups", "grouping": self.grouping.to_json()}


@dataclass(frozen=True)
class CombinedSpending:
    """Several spendings on the same data. Their losses add where they overlap."""

    parts: tuple["Spending", ...]

    def __post_init__(self) -> None:
        listed = self.parts if isinstance(self.parts, tuple) else ()
        if not listed or not all(isinstance(part, Spending) for part in listed):
            raise ArgumentError("parts", self.parts, "it must be a tuple of spendings, one or more", "Pass the events")

    def losses(self) -> tuple[RegionLosses, ...]:
        return tuple(loss for part in self.parts for loss in part.losses())

    def to_json(self) -> Mapping[str, object]:
        return {"event": "combined", "parts": [part.to_json() for part in self.parts]}


Spending = CommonSpending | GroupSpending | CombinedSpending


def step_spending(step: int, epsilon: Epsilon, protected_steps: int | None) -> CommonSpending:
    """Return what a step of a stream, which costs a unit `epsilon`, takes from its account. Proof: `steps.md`.

    protected_steps   1: one step of a unit is protected, and each step is a region. w > 1: any w consecutive steps of a
                      unit are protected; each step is charged w times, so that the largest charge covers the loss of
                      any such window. None: all steps of a unit are protected, and their losses add up without end
    """
    if whole_number(step, "step") < 0:
        raise ArgumentError("step", step, "steps are counted from 0", "Pass 0 or more")
    if protected_steps is None:
        return CommonSpending(Grouping((), Region.everything(), 1, ()), epsilon)
    length = whole_number(protected_steps, "protected_steps")
    if length < 1:
        raise ArgumentError("protected_steps", length, "it must be 1 or more", "Pass 1 to protect events")
    when = steps(Fraction(step), Fraction(step + 1))
    return CommonSpending(Grouping((), when, 1, (STEP,)), epsilon * length)


def spending_from_json(document: object) -> Spending:
    """Return the event that `to_json` wrote, with exactly the fields that it writes."""
    match document:
        case {"event": "common", "amount": str(amount), "grouping": grouping, **rest} if not rest:
            return CommonSpending(Grouping.from_json(grouping), Epsilon.from_json(amount))
        case {"event": "groups", "amounts": [*pairs], "grouping": grouping, **rest} if not rest:
            written = [_pair(pair) for pair in pairs]
            keys = keys_from_json([key for key, _ in written])
            amounts = (Epsilon.from_json(amount) for _, amount in written)
            return GroupSpending(Grouping.from_json(grouping), tuple(zip(keys, amounts, strict=True)))
        case {"event": "combined", "parts": [*parts], **rest} if not rest:
            return CombinedSpending(tuple(spending_from_json(part) for part in parts))
    raise ArgumentError("event", document, "it must be one of common, groups, combined, with its fields", WRITTEN)


def settled(cost: Spending, loss: Spending) -> Spending:
    """Return `loss` after a check that it settles `cost`: the same groups, and no group above its worst case.

    This is sound only for releases that show their stopping level, because an ex-post loss is a statement about the
    output. No error quotes an amount that was reached, because the release with it has not been handed out.
    """
    if isinstance(cost, CombinedSpending) or isinstance(loss, CombinedSpending):
        costs = cost.parts if isinstance(cost, CombinedSpending) else None
        losses = loss.parts if isinstance(loss, CombinedSpending) else None
        if costs is None or losses is None or len(costs) != len(losses):
            raise BugError("the parts of a settlement differ from those of the spending that it settles")
        for reserved, reached in zip(costs, losses, strict=True):
            settled(reserved, reached)
        return loss
    if cost.grouping != loss.grouping:
        raise BugError("the groups of a settlement differ from those of the spending that it settles")
    if not _covers(cost, loss):
        raise BugError("a group was settled above its worst case, so its promise does not hold")
    return loss


def _covers(cost: CommonSpending | GroupSpending, loss: CommonSpending | GroupSpending) -> bool:
    if isinstance(cost, CommonSpending):
        amounts = [loss.amount] if isinstance(loss, CommonSpending) else [amount for _, amount in loss.amounts]
        return max(amounts) <= cost.amount
    if isinstance(loss, CommonSpending):
        # A common loss is about all groups, also those that the cost did not list.
        return False
    reserved = dict(cost.amounts)
    return all(key in reserved and amount <= reserved[key] for key, amount in loss.amounts)


def _pair(document: object) -> tuple[object, str]:
    match document:
        case [key, str(amount)]:
            return key, amount
    raise ArgumentError("amounts", document, "each element must be a list of a key and an amount", WRITTEN)
