"""The ask of a diagnostic: a picture of how well a model fits the rows of a declared table.

Reads: declarations. Writes: nothing. Never: rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from thresher.asks.desk import Desk, check_one_for_all
from thresher.asks.merging import merged
from thresher.diagnostics.diagnosis_plan import DiagnosisOptions, DiagnosisPlan, plan_diagnosis
from thresher.errors import ArgumentError
from thresher.question import with_public_values


@dataclass(frozen=True, slots=True)
class DiagnosisAsk:
    """A "roc", "binned" or "residuals" of a table, and its options as they were passed."""

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def plan(self, desk: Desk) -> DiagnosisPlan:
        """Return the plan: what the picture reads, what it costs, and how it is made. Misspelt options are refused."""
        given = merged({}, self.options, DiagnosisOptions.__annotations__, "a diagnostic")
        name = given.pop("table", None)
        if not isinstance(name, str):
            raise ArgumentError("table", name, "it must be the name of a declared table", "Pass table=NAME")
        # All columns decide which row of a person is read, so the public values of all of them are needed.
        table = with_public_values(desk.table(name), desk.public)
        check_one_for_all(table)
        return plan_diagnosis(self.kind, table, given)
