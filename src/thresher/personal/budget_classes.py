"""The classes of people's own budgets in a declared table: how many are in each, what they have lost and have left.

Reads: declarations, public tables, losses of the ledger. Writes: nothing. Never: private rows; a class in a message to
an analyst. Wrong sizes cost accuracy, never privacy.
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
    """What a class of budgets has left: for the curator."""

    budget: Epsilon
    people: int
    spent_share: Epsilon

    @property
    def left(self) -> Epsilon:
        """Of each person's own budget, rounded down."""
        return Epsilon.from_nano(self.budget.nano * (NANO - min(NANO, self.spent_share.nano)) // NANO)


def own_budgets_of(table: Table) -> OwnBudgets:
    """The people's own budgets, or the refusal of a table that has one for all."""
    if table.own_budgets is None:
        rule = f"the people of {table.name} have no budgets of their own"
        raise ArgumentError("personal", True, rule, "Declare budget_column, or ask without personal")
    return table.own_budgets


def class_sizes(table: Table, public: Mapping[str, PublicTable]) -> tuple[int, ...]:
    """People on the roster in each class of `own_budgets.codes`; who has the budget 0 is in none."""
    own = own_budgets_of(table)
    place, roster = f"tables.{table.name}.budget_roster", public[own.roster.table]
    budgets = _column(roster, own.roster.column, place)
    people = None if own.roster.people is None else _column(roster, own.roster.people, place)
    found = dict.fromkeys(own.codes, 0)
    for row, budget in enumerate(budgets, start=1):
        code = _code(own, budget, f"{place}: row {row} of {roster.name}")
        number = 1 if people is None else _whole(people[row - 1], f"{place}: row {row} of {roster.name}")
        if code in found:
            found[code] += number
    return tuple(found.values())


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


def _column(roster: PublicTable, name: str, place: str) -> tuple[PublicValue, ...]:
    if name not in roster.columns:
        raise DeclarationError(place, f"the public table {roster.name} has no column {name}")
    return roster.columns[name]


def _code(own: OwnBudgets, budget: PublicValue, place: str) -> int:
    """The code of such a budget; in the middle between two, where floats may fall either way, the upper one."""
    if budget is None:
        return 0 if own.grid.missing is None else int(own.grid.missing / own.grid.step)
    if isinstance(budget, bool) or not isinstance(budget, Fraction):
        raise DeclarationError(place, "a budget is a number")
    if not 0 <= budget <= own.grid.maximum:
        raise DeclarationError(place, "a budget lies between 0 and the declared max")
    return math.floor(budget / own.grid.step + Fraction(1, 2))


def _whole(number: PublicValue, place: str) -> int:
    if isinstance(number, bool) or not isinstance(number, Fraction) or number < 0 or number.denominator != 1:
        raise DeclarationError(place, "a number of people is 0 or a whole number above it")
    return number.numerator
