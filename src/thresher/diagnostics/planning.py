"""A diagnostic of a declared table as a plan: which columns it needs, what it costs, and how it is made.

Reads: declarations. Writes: nothing. Never: a row before the charge is on disk; a choice that depends on one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.accounting import CommonSpending, Grouping, Region
from thresher.amounts import Amount, Epsilon, exact_fraction, whole_number
from thresher.codec import decoded, handed_out
from thresher.config import Column, Grid, Numbered, Table, Truth, decimal_text
from thresher.diagnostics.binned_residuals import binned_options
from thresher.diagnostics.releases import Diagnostic
from thresher.diagnostics.residual_options import ResidualOptions, residual_options
from thresher.diagnostics.residual_plot import plotted
from thresher.diagnostics.roc_curve import roc_options
from thresher.diagnostics.roc_price import epsilon_for_auc
from thresher.errors import ArgumentError, BugError
from thresher.guarantee import Guarantee
from thresher.noise import Entropy
from thresher.plan import Plan, subject_of
from thresher.question import Exact, Identity, RowsNeed, identity_of

Reals = NDArray[np.float64]
_NO_RATE = "How far the picture is off is not promised: see docs/diagnostics.md for what is seen at which size."
_SCORED = (("label", "0 or 1"), ("score", "numbers from 0 to 1"))
_FITTED = (("actual", "numbers"), ("fitted", "numbers"))


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of diagnostic.

    needs     the argument that names each column, and what kind of column it must be
    choices   which choices apply to it, besides the number of rows
    options   checks them, with the price, before anything is charged
    made      the release, from the checked options and the two columns
    """

    needs: tuple[tuple[str, str], ...]
    choices: tuple[str, ...]
    options: Callable[..., Any]
    made: Callable[[Any, Reals, Reals, Entropy], Diagnostic]


def _scored(options: Any, label: Reals, score: Reals, entropy: Entropy) -> Diagnostic:
    found: Diagnostic = options.made(label, score, entropy)
    return found


def _residuals(options: ResidualOptions, actual: Reals, fitted: Reals, entropy: Entropy) -> Diagnostic:
    return plotted(fitted, actual - fitted, options, entropy)


KINDS: Mapping[str, Kind] = {
    "roc": Kind(_SCORED, ("thresholds", "depth", "histogram"), roc_options, _scored),
    "binned": Kind(_SCORED, ("depth",), binned_options, _scored),
    "residuals": Kind(_FITTED, ("histogram",), residual_options, _residuals),
}


@dataclass(frozen=True, slots=True)
class Choices:
    """How a diagnostic is made, beside its price; all public. None: left out.

    rows         the number of rows, if that is public; else it is counted with noise, and paid for
    thresholds   of a ROC curve: "medians", the default, or "fixed"
    depth        so many halvings of the scores; left out, it follows from rows times epsilon
    histogram    a mechanism of `thresher.mechanisms.histograms`, for residuals and ROC curves; "laplace", the default
    """

    rows: int | None = None
    thresholds: str | None = None
    depth: int | None = None
    histogram: str | None = None

    def given(self) -> dict[str, Any]:
        """Return what was not left out, by name, whole numbers in one form each."""
        told = {choice.name: getattr(self, choice.name) for choice in fields(self)}
        given = {name: value for name, value in told.items() if value is not None}
        return {name: whole_number(value, name) if name in _WHOLE else value for name, value in given.items()}


_WHOLE = ("rows", "depth")
_USUAL = {"thresholds": "medians", "histogram": "laplace"}


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

    def given(self) -> dict[str, str]:
        """Return what was named, in one form."""
        told = {"epsilon": self.epsilon, "auc_error": self.auc_error}
        return {name: decimal_text(exact_fraction(value, name)) for name, value in told.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisPlan(Plan[Diagnostic]):
    """A diagnostic with its price. `options` are those of its kind, checked and with the price in them."""

    kind: str
    columns: tuple[Column, ...]
    options: Any

    def affordable(self, limit: Epsilon) -> str | None:
        """Name the epsilon that is left: the same picture with more noise."""
        return f"Ask for epsilon={limit}: the same picture with more noise" if limit else None

    def recall(self, body: bytes, key: str) -> Diagnostic:
        """Hand out a stored diagnostic again."""
        return handed_out(decoded(Diagnostic, body), key, repeated=True)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Diagnostic, None]:
        """Unseal, and make the release. Of each unit there is one row."""
        if exact is None:
            raise BugError("a diagnostic needs rows")
        first, second = (_values(column, codes) for column, codes in zip(self.columns, exact.unseal().T, strict=True))
        return KINDS[self.kind].made(self.options, first, second, entropy), None

    def __str__(self) -> str:
        names = " and ".join(column.name for column in self.columns)
        about = f"{self.kind} of {names} in {self.account}"
        return f"diagnostic  {about}\nepsilon     {self.epsilon}\npromise     {self.guarantee}\n"


def plan_diagnosis(
    kind: str, table: Table, named: Mapping[str, str | None], asked: Price, choices: Choices
) -> DiagnosisPlan:
    """The plan of a diagnostic; `named` are the columns by the argument that names them."""
    if kind not in KINDS:
        raise ArgumentError("kind", kind, "there is no such diagnostic", f"Pass one of {', '.join(KINDS)}")
    given = _checked(kind, choices, asked)
    price, told = asked.settled(kind, given.get("rows"))
    wanted = dict(KINDS[kind].needs)
    for field, name in named.items():
        if field not in wanted and name is not None:
            raise ArgumentError(field, name, f"it does not apply to {kind}", f"Pass {' and '.join(wanted)}")
    columns = {field: _column(field, named.get(field), needed, table) for field, needed in wanted.items()}
    return DiagnosisPlan(
        family="diagnosis",
        account=table.account,
        subject=subject_of(table),
        identity=_identity(kind, table, columns, asked.given(), given, price),
        need=RowsNeed(table, tuple(columns.values())),
        cost=CommonSpending(Grouping((), Region.everything(), 1, ()), price),
        epsilon=price,
        guarantee=Guarantee("diagnosis", facts={"epsilon": str(price), "error": told or _NO_RATE}),
        limits={f"max_epsilon_per_question of {table.account}": table.max_epsilon_per_question},
        kind=kind,
        columns=tuple(columns.values()),
        options=KINDS[kind].options(price.fraction, **given),
    )


def _identity(
    kind: str,
    table: Table,
    columns: Mapping[str, Column],
    price: Mapping[str, str],
    given: Mapping[str, Any],
    epsilon: Epsilon,
) -> Identity:
    """The same diagnostic has the same columns, and choices and price as they were given."""
    named = {field: column.name for field, column in columns.items()}
    asked = {"kind": kind, "named": named, "choices": dict(given), "price": dict(price)}
    usual = {name: value for name, value in _USUAL.items() if name in KINDS[kind].choices}
    measured = {"kind": kind, "named": named, "choices": {**usual, **given}, "epsilon": str(epsilon)}
    return identity_of("diagnosis", table, named.values(), asked, measured)


def _checked(kind: str, choices: Choices, asked: Price) -> dict[str, Any]:
    """The choices that were given. One that does not apply would buy the same picture again."""
    for name in ("thresholds", "depth", "histogram"):
        value = getattr(choices, name)
        if value is None:
            continue
        if name not in _WHOLE and not isinstance(value, str):
            raise ArgumentError(name, type(value).__name__, "it must be a name", "Leave it out for the usual one")
        if name not in KINDS[kind].choices:
            raise ArgumentError(name, value, f"it does not apply to {kind}", "Leave it out")
        if value != _USUAL.get(name) and asked.auc_error is not None:
            raise ArgumentError(name, value, "an error of the AUC is priced for the usual way only", "Pass epsilon")
    return choices.given()


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
