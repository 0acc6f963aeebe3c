"""A diagnostic of a declared table as a plan: which columns it needs, what it costs, and how it is made.

Reads: declarations. Writes: nothing. Never: a row before the charge is on disk; a choice that depends on one.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.accounting import CommonSpending, Grouping, Region, Spending
from thresher.amounts import Amount, Epsilon, exact_fraction, whole_number
from thresher.codec import decoded, handed_out
from thresher.config import Column, Grid, Numbered, Table, Truth
from thresher.diagnostics.binned_residuals import binned_residual_plot
from thresher.diagnostics.releases import Diagnostic
from thresher.diagnostics.residual_plot import residual_plot
from thresher.diagnostics.roc_curve import roc_curve
from thresher.diagnostics.roc_price import epsilon_for_auc
from thresher.errors import ArgumentError, BugError
from thresher.noise import Entropy, SeededEntropy
from thresher.plan import Guarantee, OldPlan
from thresher.question import Exact, RowsNeed

# What each diagnostic looks at: the argument that names the column, and what kind of column it must be.
NEEDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "roc": (("label", "0 or 1"), ("score", "numbers from 0 to 1")),
    "binned": (("label", "0 or 1"), ("score", "numbers from 0 to 1")),
    "residuals": (("actual", "numbers"), ("fitted", "numbers")),
}
_PROMISE = "One privacy unit more or less changes the chance of any picture by a factor of at most e^{}. {}"
_NO_RATE = "How far the picture is off is not promised: see docs/diagnostics.md for what is seen at which size."


@dataclass(frozen=True, slots=True)
class Choices:
    """How a diagnostic is made, beside its price; all public.

    rows         the number of rows, if that is public; else it is counted with noise, and paid for
    thresholds   of a ROC curve: "medians" or "fixed"
    depth        so many halvings of the scores; left out, it follows from rows times epsilon
    histogram    a mechanism of `thresher.mechanisms.histograms`, for residuals and ROC curves
    """

    rows: int | None = None
    thresholds: str = "medians"
    depth: int | None = None
    histogram: str = "laplace"


@dataclass(frozen=True, slots=True)
class DiagnosisPlan(OldPlan):
    """A diagnostic with its price. `told` says where the price comes from, if it was not named."""

    kind: str
    table: Table
    columns: tuple[Column, ...]
    epsilon: Epsilon
    choices: Choices
    told: str = ""
    written_key: str | None = None
    shows_levels: bool = False

    @property
    def account(self) -> str:
        return self.table.name

    @property
    def need(self) -> RowsNeed:
        return RowsNeed(self.table, self.columns)

    @property
    def cost(self) -> Spending:
        return CommonSpending(Grouping((), Region.everything(), 1, ()), self.epsilon)

    @property
    def limits(self) -> dict[str, Epsilon | None]:
        return {f"max_epsilon_per_question of {self.account}": self.table.max_epsilon_per_question}

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee("", "", "", "", _PROMISE.format(self.epsilon, self.told or _NO_RATE))

    def identity_text(self) -> str:
        """What makes it the same diagnostic: what it is about, how it is made, and its price."""
        said = {
            "diagnostic": self.kind,
            "columns": [column.name for column in self.columns],
            "choices": repr(self.choices),
            "data": self.table.fingerprint(),
            "epsilon": self.epsilon.to_json(),
            "unit": None if self.table.contribution is None else self.table.contribution.unit,
        }
        return json.dumps(said)

    def affordable(self, limit: Epsilon) -> str | None:
        return f"Ask for epsilon={limit}: the same picture with more noise" if limit else None

    def recall(self, body: bytes, key: str) -> Diagnostic:
        """Hand out a stored diagnostic again."""
        return handed_out(decoded(Diagnostic, body), key, repeated=True)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Diagnostic, Spending]:
        """Unseal, and make the release. Of each unit there is one row."""
        if exact is None:
            raise BugError("a diagnostic needs rows")
        first, second = (_values(column, codes) for column, codes in zip(self.columns, exact.unseal().T, strict=True))
        return self._made(first, second, entropy), self.cost

    def _made(self, first: NDArray[np.float64], second: NDArray[np.float64], entropy: Entropy) -> Diagnostic:
        how, price = self.choices, self.epsilon.fraction
        if self.kind == "roc":
            return roc_curve(
                first,
                second,
                price,
                thresholds=how.thresholds,
                depth=how.depth,
                rows=how.rows,
                histogram=how.histogram,
                entropy=entropy,
            )
        if self.kind == "binned":
            return binned_residual_plot(first, second, price, depth=how.depth, rows=how.rows, entropy=entropy)
        actual, fitted = first, second
        return residual_plot(fitted, actual - fitted, price, rows=how.rows, histogram=how.histogram, entropy=entropy)

    def __str__(self) -> str:
        names = " and ".join(column.name for column in self.columns)
        about = f"{self.kind} of {names} in {self.account}"
        return f"diagnostic  {about}\nepsilon     {self.epsilon}\npromise     {self.guarantee}\n"


@dataclass(frozen=True, slots=True)
class Price:
    """What the asker names: an epsilon, or, for a ROC curve, the error of the AUC that can be lived with."""

    epsilon: Amount | None = None
    auc_error: Amount | None = None

    def settled(self, kind: str, rows: int | None) -> tuple[Epsilon, str]:
        """The epsilon, and where it comes from if it was not named."""
        if (self.epsilon is None) == (self.auc_error is None):
            raise ArgumentError("epsilon", self.epsilon, "it or auc_error must be named, not both", "Pass 0.5, say")
        if self.auc_error is None:
            price = Epsilon.covering(self.epsilon or 0)
            if not price:
                raise ArgumentError("epsilon", self.epsilon, "it must be above zero", "Pass 0.5, say")
            return price, ""
        if kind != "roc" or rows is None:
            rule = "an error of the AUC has a price for a ROC curve of a public number of rows"
            raise ArgumentError("auc_error", self.auc_error, rule, "Pass epsilon, or the number of rows besides")
        found = epsilon_for_auc(self.auc_error, rows)
        return found.epsilon, str(found)


def plan_diagnosis(
    kind: str, table: Table, named: Mapping[str, str | None], asked: Price, choices: Choices
) -> DiagnosisPlan:
    """The plan of a diagnostic; `named` are the columns by the argument that names them."""
    if kind not in NEEDS:
        raise ArgumentError("kind", kind, "there is no such diagnostic", f"Pass one of {', '.join(NEEDS)}")
    choices = _settled(kind, choices, asked)
    price, told = asked.settled(kind, choices.rows)
    wanted = dict(NEEDS[kind])
    for field, name in named.items():
        if field not in wanted and name is not None:
            raise ArgumentError(field, name, f"{kind} has no use for it", f"Pass {' and '.join(wanted)}")
    columns = tuple(_column(field, named.get(field), needed, table) for field, needed in wanted.items())
    plan = DiagnosisPlan(kind, table, columns, price, choices, told)
    # Whatever can be refused is refused now, before anything is charged: by making it of no rows at all.
    plan.run(Exact(np.empty((0, len(columns)), dtype=np.int64)), SeededEntropy(0))
    return plan


# Which choices each diagnostic has a use for, besides the number of rows.
_USES = {"roc": ("thresholds", "depth", "histogram"), "binned": ("depth",), "residuals": ("histogram",)}


def _settled(kind: str, choices: Choices, asked: Price) -> Choices:
    """The choices in one form each, for they make the key. One without use would buy the same picture again."""
    usual = Choices()
    for field in ("thresholds", "depth", "histogram"):
        value = getattr(choices, field)
        if field != "depth" and not isinstance(value, str):
            raise ArgumentError(field, type(value).__name__, "it must be a name", "Leave it out for the usual one")
        if value != getattr(usual, field) and field not in _USES[kind]:
            raise ArgumentError(field, value, f"{kind} has no use for it", "Leave it out")
        if value != getattr(usual, field) and asked.auc_error is not None:
            raise ArgumentError(field, value, "an error of the AUC is priced for the usual way only", "Pass epsilon")
    rows = None if choices.rows is None else whole_number(choices.rows, "rows")
    depth = None if choices.depth is None else whole_number(choices.depth, "depth")
    return replace(choices, rows=rows, depth=depth)


def _column(field: str, name: str | None, needed: str, table: Table) -> Column:
    if name is None:
        raise ArgumentError(field, None, f"a column of {needed} must be named", f"Pass {field}=NAME")
    if name not in table.columns:
        known = ", ".join(table.columns)
        raise ArgumentError(field, name, f"{table.name} declares no such column", f"Pass one of {known}")
    column = table.columns[name]
    if not _fits(column, needed):
        fix = "Declare it so in thresher.toml"
        raise ArgumentError(field, name, f"it must be declared as {needed}", fix)
    return column


def _fits(column: Column, needed: str) -> bool:
    kind = column.kind
    if needed == "0 or 1":
        if isinstance(kind, Grid):
            return kind.step == 1 and 0 <= kind.minimum <= kind.maximum <= 1
        return isinstance(kind, Truth) or (isinstance(kind, Numbered) and set(kind.values) <= {0, 1})
    if not isinstance(kind, Grid):
        return False
    return needed == "numbers" or 0 <= kind.minimum <= kind.maximum <= 1


def _values(column: Column, codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """What the codes stand for. Each row by itself."""
    step = column.kind.step if isinstance(column.kind, Grid) else Fraction(1)
    values: NDArray[np.float64] = codes.astype(np.float64) * float(exact_fraction(step, "step"))
    return values
