"""The ask of a suggestion: limits on one person, for questions about a declared table.

Reads: declarations. Writes: nothing. Never: rows; asks for anybody but the curator.
"""

from dataclasses import dataclass

from thresher.amounts import Amount
from thresher.asks.desk import Desk, check_one_for_all
from thresher.config import Table
from thresher.errors import ArgumentError
from thresher.question import with_public_values
from thresher.suggestions.suggestion_plan import SuggestionPlan, plan_suggestion


@dataclass(frozen=True, slots=True)
class SuggestionAsk:
    """A table, or a table and the column that questions group by: TABLE or TABLE.COLUMN."""

    table: str
    epsilon: Amount | None = None

    def plan(self, desk: Desk) -> SuggestionPlan:
        """Return the plan: what it counts, what it costs and what is promised."""
        if desk.analyst:
            rule = "limits are for the curator to choose, and so are suggestions"
            raise ArgumentError("analyst", desk.analyst, rule, "Leave it out, if you are the curator")
        table, column = self._named(desk)
        check_one_for_all(table)
        return plan_suggestion(with_public_values(table, desk.public), column, self.epsilon)

    def _named(self, desk: Desk) -> tuple[Table, str]:
        """Return the table and the column; a name of a table may hold dots."""
        if self.table in desk.declared.tables:
            return desk.declared.tables[self.table], ""
        name, _, column = self.table.rpartition(".")
        table = desk.table(name or self.table)
        if column not in table.columns:
            known = ", ".join(table.columns)
            raise ArgumentError("column", column, f"{name} has no such declared column", f"Pass one of {known}")
        return table, column
