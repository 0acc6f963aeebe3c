"""What each class of budgets has lost and has left, by the losses that the ledger keeps.

Reads: declarations, public tables, losses. Writes: nothing. Never: private rows; a class in a message to an analyst.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from thresher.accounting import Region, RegionLosses, account_loss
from thresher.amounts import NANO, Epsilon
from thresher.config import Table
from thresher.personal.class_sizes import class_sizes, own_budgets_of
from thresher.question import PublicTable, Question, group_keys, grouping_of
from thresher.question.conditions import ALWAYS


@dataclass(frozen=True, slots=True)
class ClassLeft:
    """What a class of budgets has left: for the curator."""

    budget: Epsilon
    people: int
    spent_share: Epsilon

    @property
    def left(self) -> Epsilon:
        """Of each person's own budget, rounded down."""
        return Epsilon.from_nano(self.budget.nano * (NANO - min(NANO, self.spent_share.nano)) // NANO)


def classes_left(table: Table, public: Mapping[str, PublicTable], losses: Sequence[RegionLosses]) -> list[ClassLeft]:
    """Every class that may lose something, with its public size."""
    own, sizes = own_budgets_of(table), class_sizes(table, public)
    found = zip(own.codes, sizes, spent_shares(table, losses), strict=True)
    return [ClassLeft(Epsilon.from_nano(own.nano(code)), people, spent) for code, people, spent in found]


def spent_shares(table: Table, losses: Sequence[RegionLosses]) -> list[Epsilon]:
    """The share of their own budgets that people of each class may have lost, wherever they are; never too small."""
    own = own_budgets_of(table)
    budget = table.columns[own.column]
    by_class = Question(table, (budget,), tuple((code,) for code in own.codes), ALWAYS, True, "")
    columns, keys = grouping_of(by_class).columns, group_keys(by_class) or []
    if not losses:
        return [Epsilon(0)] * len(keys)
    return [account_loss(losses, within=Region.at(columns, key)).loss for key in keys]
