"""Plan a diagnostic of a declared table: which columns it needs, what it costs, and how it is made.

Reads: declarations. Writes: nothing. Never: a row before the charge is on disk; a choice that depends on a row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from thresher.accounting import CommonSpending, Grouping, Region
from thresher.amounts import Amount, Epsilon, exact_fraction, whole_number
from thresher.codec import decoded, handed_out
from thresher.config import Column, Grid, Numbered, Table, Truth, decimal_text
from thresher.diagnostics.binned_residuals import BinnedOptions, binned_options
from thresher.diagnostics.releases import Diagnostic
from thresher.diagnostics.residual_options import ResidualOptions, residual_options
from thresher.diagnostics.residual_plot import plotted
from thresher.diagnostics.roc_curve import RocOptions, roc_options
from thresher.diagnostics.roc_price import epsilon_for_auc
from thresher.errors import ArgumentError, BugError
from thresher.guarantee import Guarantee
from thresher.noise import Entropy
from thresher.plan import Plan, Statements, subject_of
from thresher.question import Exact, Identity, RowsNeed, identity_of

Reals = NDArray[np.float64]
_NO_RATE = "How far off the picture is, is not promised; docs/diagnostics.md says what can be seen at which size."
_SCORED = (("label", "0 or 1"), ("score", "numbers from 0 to 1"))
_FITTED = (("actual", "numbers"), ("fitted", "numbers"))


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of diagnostic.

    needs     the argument that names each column, and what the column must hold
    choices   which choices apply, besides the number of rows
    options   checks the choices and the price, before anything is charged
    made      makes the release, from the checked options and the two columns
    """

    needs: tuple[tuple[str, str], ...]
    choices: tuple[str, ...]
    options: Callable[..., Any]
    made: Callable[[Any, Reals, Reals, Entropy], Diagnostic]


def _residuals(options: ResidualOptions, actual: Reals, fitted: Reals, entropy: Entropy) -> Diagnostic:
    return plotted(fitted, actual - fitted, options, entropy)


KINDS: Mapping[str, Kind] = {
    "roc": Kind(_SCORED, ("thresholds", "depth", "histogram"), roc_options, RocOptions.made),
    "binned": Kind(_SCORED, ("depth",), binned_options, BinnedOptions.made),
    "residuals": Kind(_FITTED, ("histogram",), residual_options, _residuals),
}


class DiagnosisOptions(TypedDict, total=False):
    """Every option of a diagnostic: its table and columns, its price, and how it is made. All are public.

    label, score, actual, fitted    the columns, by what they hold; which of them are needed depends on the kind
    epsilon, auc_error    the price, or, for a ROC curve, the error of the AUC that is acceptable
    rows         the number of rows, if that is public; left out, it is counted with noise, and paid for
    thresholds   of a ROC curve: "medians" (default) or "fixed"
    depth        the number of halvings of the scores; left out, it follows from the number of rows and from epsilon
    histogram    for residuals and ROC curves, a mechanism of `thresher.mechanisms.histograms`; default "laplace"
    """

    table: str
    label: str | None
    score: str | None
    actual: str | None
    fitted: str | None
    epsilon: Amount | None
    auc_error: Amount | None
    rows: int | None
    thresholds: str | None
    depth: int | None
    histogram: str | None


_COLUMNS = ("label", "score", "actual", "fitted")
_PRICES = ("epsilon", "auc_error")
_CHOICES = ("thresholds", "depth", "histogram")
_WHOLE = ("rows", "depth")
_USUAL = {"thresholds": "medians", "histogram": "laplace"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisPlan(Plan[Diagnostic]):
    """A diagnostic with its price. `options` are those of its kind, checked, with the price in them."""

    kind: str
    columns: tuple[Column, ...]
    options: Any

    def affordable(self, limit: Epsilon) -> str | None:
        """Name the epsilon that is left, for the same picture with more noise."""
        return f"Ask for epsilon={limit}: the same picture with more noise" if limit else None

    def recall(self, body: bytes, key: str) -> Diagnostic:
        """Hand out a stored diagnostic again."""
        return handed_out(decoded(Diagnostic, body), key, repeated=True)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Diagnostic, None]:
        """Unseal one row of each unit, and make the release."""
        if exact is None:
            raise BugError("a diagnostic needs rows")
        first, second = (_values(column, codes) for column, codes in zip(self.columns, exact.unseal().T, strict=True))
        return KINDS[self.kind].made(self.options, first, second, entropy), None

    def explanation(self) -> Statements:
        names = " and ".join(column.name for column in self.columns)
        about = f"{self.kind} of {names} in {self.account}"
        return [("diagnostic", about), ("epsilon", str(self.epsilon)), ("promise", self.guarantee.sentence)]


def plan_diagnosis(kind: str, table: Table, given: Mapping[str, Any]) -> DiagnosisPlan:
    """Return the plan of a diagnostic; `given` are the `DiagnosisOptions` that were given, except the table."""
    if kind not in KINDS:
        raise ArgumentError("kind", kind, "there is no such diagnostic", f"Pass one of {', '.join(KINDS)}")
    choices = _choices(kind, given)
    price, estimate = _price(kind, given)
    columns = _columns(kind, given, table)
    return DiagnosisPlan(
        family="diagnosis",
        account=table.account,
        subject=subject_of(table),
        identity=_identity(kind, table, columns, given, choices, price),
        need=RowsNeed(table, tuple(columns.values())),
        cost=CommonSpending(Grouping((), Region.everything(), 1, ()), price),
        epsilon=price,
        guarantee=Guarantee("diagnosis", facts={"epsilon": str(price), "error": estimate or _NO_RATE}),
        limits={f"max_epsilon_per_question of {table.account}": table.max_epsilon_per_question},
        kind=kind,
        columns=tuple(columns.values()),
        options=KINDS[kind].options(price.fraction, **choices),
    )


def _identity(
    kind: str,
    table: Table,
    columns: Mapping[str, Column],
    given: Mapping[str, Any],
    choices: Mapping[str, Any],
    epsilon: Epsilon,
) -> Identity:
    """Return the identity: the same diagnostic has the same columns, choices and price as given."""
    named = {field: column.name for field, column in columns.items()}
    price = {name: decimal_text(exact_fraction(given[name], name)) for name in _PRICES if name in given}
    asked = {"kind": kind, "named": named, "choices": dict(choices), "price": price}
    usual = {name: value for name, value in _USUAL.items() if name in KINDS[kind].choices}
    measured = {"kind": kind, "named": named, "choices": {**usual, **choices}, "epsilon": str(epsilon)}
    return identity_of("diagnosis", table, named.values(), asked, measured)


def _choices(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given choices, whole numbers in one form. A choice that does not apply is refused."""
    for name, value in given.items():
        if name not in _CHOICES:
            continue
        if name not in _WHOLE and not isinstance(value, str):
            raise ArgumentError(name, type(value).__name__, "it must be a name", "Leave it out for the default")
        if name not in KINDS[kind].choices:
            raise ArgumentError(name, value, f"it does not apply to {kind}", "Leave it out")
        if value != _USUAL.get(name) and "auc_error" in given:
            raise ArgumentError(
                name,
                value,
                "auc_error is priced for the defaults only",
                "Leave it out, or pass epsilon instead of auc_error",
            )
    wholes = {name: whole_number(given[name], name) for name in _WHOLE if name in given}
    return {**{name: given[name] for name in _USUAL if name in given}, **wholes}


def _price(kind: str, given: Mapping[str, Any]) -> tuple[Epsilon, str]:
    """Return the epsilon, and where it comes from if it was not given."""
    if len(given.keys() & set(_PRICES)) != 1:
        rule = "either epsilon or auc_error is needed, and not both"
        raise ArgumentError("epsilon", given.get("epsilon"), rule, "Pass epsilon=0.5, for example")
    if "epsilon" in given:
        price = Epsilon.covering(given["epsilon"])
        if not price:
            raise ArgumentError("epsilon", given["epsilon"], "it must be above zero", "Pass 0.5, for example")
        return price, ""
    if kind != "roc" or "rows" not in given:
        rule = "it can be priced only for a ROC curve of a public number of rows"
        raise ArgumentError("auc_error", given["auc_error"], rule, "Pass epsilon instead, or rows= as well")
    price_of_error = epsilon_for_auc(given["auc_error"], given["rows"])
    return price_of_error.epsilon, str(price_of_error)


def _columns(kind: str, given: Mapping[str, Any], table: Table) -> dict[str, Column]:
    """Return the columns that this kind needs, by the option that names each."""
    wanted = dict(KINDS[kind].needs)
    for field in _COLUMNS:
        if field in given and field not in wanted:
            raise ArgumentError(field, given[field], f"it does not apply to {kind}", f"Pass {' and '.join(wanted)}")
    return {field: _column(field, given.get(field), needed, table) for field, needed in wanted.items()}


def _column(field: str, name: str | None, needed: str, table: Table) -> Column:
    if name is None:
        raise ArgumentError(field, None, f"it must name a column of {needed}", f"Pass {field}=NAME")
    if name not in table.columns:
        known = ", ".join(table.columns)
        raise ArgumentError(field, name, f"{table.name} has no such declared column", f"Pass one of {known}")
    column = table.columns[name]
    if not _fits(column, needed):
        raise ArgumentError(field, name, f"it must be declared as {needed}", "Change its declaration in thresher.toml")
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
    """Return the values that the codes stand for, row by row."""
    step = column.kind.step if isinstance(column.kind, Grid) else Fraction(1)
    values: NDArray[np.float64] = codes.astype(np.float64) * float(exact_fraction(step, "step"))
    return values
