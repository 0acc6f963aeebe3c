"""The desk at which asks become plans: what is declared, what is public, and whose question it is.

Reads: declarations, public tables; the ledger, only if a price depends on it. Writes: nothing. Never: private rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from thresher.config import Declarations, Table
from thresher.errors import ArgumentError
from thresher.ledger import Book
from thresher.plan import Plan
from thresher.question import PublicTable

Planned_co = TypeVar("Planned_co", bound=Plan[Any], covariant=True)


@dataclass(frozen=True, slots=True)
class Desk:
    """Where questions are planned. `book` opens the ledger, which most plans do not need."""

    declared: Declarations
    public: Mapping[str, PublicTable]
    book: Callable[[], Book]
    analyst: str = ""

    def table(self, name: str) -> Table:
        """Return the declared table of this name."""
        tables = self.declared.tables
        if name not in tables:
            raise ArgumentError("table", name, "no such table is declared", f"Pass one of {', '.join(tables)}")
        return tables[name]


class Ask(Protocol[Planned_co]):
    """A question of some family, before it has a price."""

    def plan(self, desk: Desk) -> Planned_co:
        """Return the plan. Spends nothing and reads no private row."""


def check_one_for_all(table: Table) -> None:
    """Refuse an ordinary question about a table in which each person has a budget of their own."""
    if table.own_budgets is not None:
        rule = f"each person in {table.name} has a budget of their own, and this question would charge all alike"
        fix = "Ask with personal=True, by personal_count, or by `thresher personal run`"
        raise ArgumentError("table", table.name, rule, fix)
