"""A table in which each person brings a budget: the column that holds the budgets, and the public roster.

Budgets are kept in steps, like all numbers: a value goes to the nearest multiple of `step`. Nobody may lose more than
the written budget, so a code stands for the smallest value that is rounded to it (`own_budgets.md`).
Reads: one section. Writes: nothing. Never: data.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from thresher.amounts import NANO
from thresher.config.columns import Column, Grid
from thresher.config.sections import Section, did_you_mean

ROSTER_FIELDS = ("table", "column", "people")
# The most classes of budgets: each class is read separately for each group.
MOST_LEVELS = 1_000
_LARGEST = 1_000
# The most that a database's rounding may be wrong by, from a written budget to its code, in nano-epsilon.
_ROUNDING = 1


@dataclass(frozen=True, slots=True)
class BudgetRoster:
    """The public table that tells how many people have which budget: in each row one person, or `people` persons."""

    table: str
    column: str
    people: str | None = None


@dataclass(frozen=True, slots=True)
class OwnBudgets:
    """The column of budgets, and the roster. `grid` is how the column is declared."""

    column: str
    grid: Grid
    roster: BudgetRoster

    @property
    def codes(self) -> range:
        """Return the classes with a budget above 0. People with a budget of 0 are never read."""
        return range(1, self.grid.highest + 1)

    def nano(self, code: int) -> int:
        """Return the budget of a class in nano-epsilon, which is at most the budget that anybody in it wrote."""
        least = (2 * code - 1) * self.grid.step / 2 * NANO
        return int(least // 1) - _ROUNDING


def own_budgets_in(table: Section, columns: Mapping[str, Column], public: Mapping[str, object]) -> OwnBudgets | None:
    """Return what `budget_column` and `budget_roster` declare; None if the table has one budget for all."""
    if "budget_column" not in table:
        if "budget_roster" in table:
            rule = "it tells who has which budget, and the table declares no budget_column"
            raise table.refusal("budget_roster", rule, 'Write budget_column = "privacy_budget", or remove it')
        return None
    for field in ("budget", "max_epsilon_per_question"):
        if field in table:
            rule = "with budget_column each person brings a budget"
            raise table.refusal(field, rule, "Remove it; each question says which share of the budgets it uses")
    name = table.column_name("budget_column", "Name a declared column of numbers")
    grid = _grid(table, name, columns)
    return OwnBudgets(name, grid, _roster(table, public))


def _grid(table: Section, name: str, columns: Mapping[str, Column]) -> Grid:
    fix = f"Declare {name} = {{ min = 0, max = 1, step = 0.01 }}"
    column = columns.get(name)
    if column is None:
        rule = f"no such column is declared in this table{did_you_mean(name, columns)}"
        raise table.refusal("budget_column", rule, fix)
    grid = column.kind
    if not isinstance(grid, Grid) or grid.minimum != 0:
        raise table.refusal("budget_column", "budgets are declared as numbers with min = 0", fix)
    if grid.maximum > _LARGEST:
        raise table.refusal("budget_column", "an epsilon above a thousand protects nobody", "Declare a smaller max")
    if grid.highest > MOST_LEVELS:
        rule = f"it has {grid.highest:,} levels above 0, and at most {MOST_LEVELS:,} are allowed"
        raise table.refusal("budget_column", rule, "Declare a larger step, or a smaller max")
    if grid.step * NANO < 10:
        raise table.refusal("budget_column", "its step is below ten nano-epsilon", "Declare a larger step")
    if not column.fixed and "unit" in table:
        rule = "a person has one budget, so all rows of a unit must hold the same"
        raise table.refusal("budget_column", rule, f"Write fixed = true in {name}; the lowest of several counts")
    return grid


def _roster(table: Section, public: Mapping[str, object]) -> BudgetRoster:
    fix = 'Write budget_roster = { table = "roster", column = "privacy_budget" }'
    table.required("budget_roster", f"How many people have which budget must be public. {fix}")
    roster = table.section("budget_roster", fix)
    roster.only(*ROSTER_FIELDS)
    for field in ROSTER_FIELDS[:2]:
        roster.required(field, fix)
    name = roster.text("table", "Name a table of [public_tables]")
    if name not in public:
        rule = f"no such public table is declared{did_you_mean(name, public)}"
        raise roster.refusal("table", rule, "Declare it: [public_tables.NAME]")
    column = roster.column_name("column", "Name the column of the public table that holds budgets")
    people = "people" in roster
    return BudgetRoster(name, column, roster.column_name("people", "Name a column of numbers") if people else None)
