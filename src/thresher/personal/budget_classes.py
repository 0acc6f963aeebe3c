"""Sort the people of a declared table into classes by budget: how many are in each, what they have lost and have left.

Reads: declarations, public tables, losses of the ledger. Writes: nothing. Never: private rows; a class in a message to
an analyst. Wrong public sizes cost accuracy, never privacy.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from thresher.accounting import Region, RegionLosses, account_loss
from thresher.amounts import NANO, Epsilon
from thresher.config import OwnBudgets, Table
from thresher.errors import ArgumentError, DeclarationError
from thresher.question import PublicTable, PublicValue, Question, group_keys, grouping_of
from thresher.question.conditions import ALWAYS


@dataclass(frozen=True, slots=True)
class ClassLeft:
    """What one class of budgets has left: for the curator."""

    budget: Epsilon
    people: int
    spent_share: Epsilon

    @property
    def left(self) -> Epsilon:
        """Return what is left of each person's own budget, rounded down."""
        return Epsilon.from_nano(self.budget.nano * (NANO - min(NANO, self.spent_share.nano)) // NANO)


def own_budgets_of(table: Table) -> OwnBudgets:
    """Return the declared budgets of a table's people. A table with one budget for all is refused."""
    if table.own_budgets is None:
        rule = f"the table {table.name} has one budget for all its people"
        raise ArgumentError("personal", True, rule, "Declare budget_column, or ask without personal")
    return table.own_budgets


def class_sizes(table: Table, public: Mapping[str, PublicTable]) -> tuple[int, ...]:
    """Return how many people on the roster are in each class; people with budget 0 are in none."""
    own = own_budgets_of(table)
    place, roster = f"tables.{table.name}.budget_roster", public[own.roster.table]
    budgets = _column(roster, own.roster.column, place)
    people = None if own.roster.people is None else _column(roster, own.roster.people, place)
    sizes = dict.fromkeys(own.codes, 0)
    for row, budget in enumerate(budgets, start=1):
        code = _code(own, budget, f"{place}: row {row} of {roster.name}")
        number = 1 if people is None else _whole(people[row - 1], f"{place}: row {row} of {roster.name}")
        if code in sizes:
            sizes[code] += number
    return tuple(sizes.values())


def classes_left(table: Table, public: Mapping[str, PublicTable], losses: Sequence[RegionLosses]) -> list[ClassLeft]:
    """Return each class that may lose something, with its public size."""
    own, sizes = own_budgets_of(table), class_sizes(table, public)
    classes = zip(own.codes, sizes, spent_shares(table, losses), strict=True)
    return [ClassLeft(Epsilon.from_nano(own.nano(code)), people, spent) for code, people, spent in classes]


def spent_shares(table: Table, losses: Sequence[RegionLosses]) -> list[Epsilon]:
    """Return the share of their own budgets that people of each class may have lost in all groups; never too small."""
    own = own_budgets_of(table)
    budget = table.columns[own.column]
    by_class = Question(table, (budget,), tuple((code,) for code in own.codes), ALWAYS, True, "")
    columns, keys = grouping_of(by_class).columns, group_keys(by_class) or []
    if not losses:
        return [Epsilon(0)] * len(keys)
    return [account_loss(losses, within=Region.at(columns, key)).loss for key in keys]


def _column(roster: PublicTable, name: str, place: str) -> tuple[PublicValue, ...]:
    if name not in roster.columns:
        raise DeclarationError(place, f"the public table {roster.name} has no column {name}")
    return roster.columns[name]


def _code(own: OwnBudgets, budget: PublicValue, place: str) -> int:
    """Return the code of a budget: the nearest one; of two, the upper one, because floats may round either way."""
    if budget is None:
        return 0 if own.grid.missing is None else int(own.grid.missing / own.grid.step)
    if isinstance(budget, bool) or not isinstance(budget, Fraction):
        raise DeclarationError(place, "a budget must be a number")
    if not 0 <= budget <= own.grid.maximum:
        raise DeclarationError(place, "a budget must lie between 0 and the declared max")
    return math.floor(budget / own.grid.step + Fraction(1, 2))


def _whole(number: PublicValue, place: str) -> int:
    if isinstance(number, bool) or not isinstance(number, Fraction) or number < 0 or number.denominator != 1:
        raise DeclarationError(place, "a number of people must be a whole number, 0 or more")
    return number.numerator
