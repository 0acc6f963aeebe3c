"""A diagnostic of a declared table: a picture of how well a model fits.

Reads: declarations. Writes: nothing. Never: rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from thresher.amounts import Amount
from thresher.asks.desk import Desk, check_one_for_all
from thresher.asks.merging import merged
from thresher.diagnostics.planning import KINDS, Choices, DiagnosisPlan, Price, plan_diagnosis
from thresher.errors import ArgumentError


class DiagnosisOptions(TypedDict, total=False):
    """What a diagnostic is about, by the argument that names each column; its price; how it is made."""

    table: str
    label: str | None
    score: str | None
    actual: str | None
    fitted: str | None
    epsilon: Amount | None
    auc_error: Amount | None
    choices: Choices | None


@dataclass(frozen=True, slots=True)
class DiagnosisAsk:
    """A "roc", "binned" or "residuals" of a table; `columns` by the argument that names each."""

    kind: str
    table: str
    columns: Mapping[str, str | None]
    price: Price
    choices: Choices

    def plan(self, desk: Desk) -> DiagnosisPlan:
        """Return the plan: what it reads, what it costs, and how it is made."""
        table = desk.table(self.table)
        check_one_for_all(table)
        return plan_diagnosis(self.kind, table, self.columns, self.price, self.choices)


def diagnosis_ask(kind: str, options: Mapping[str, Any]) -> DiagnosisAsk:
    """Return the ask that these options make; a misspelt one is refused with the nearest name."""
    given = merged({}, options, DiagnosisOptions.__annotations__, "a diagnostic")
    if not isinstance(given.get("table"), str):
        raise ArgumentError("table", given.get("table"), "a declared table must be named", "Pass table=NAME")
    columns = {field: given.get(field) for one in KINDS.values() for field, _ in one.needs}
    price = Price(given.get("epsilon"), given.get("auc_error"))
    return DiagnosisAsk(kind, given["table"], columns, price, given.get("choices") or Choices())
