"""Write tables of `python -m papers personal` as text: methods down, laws of budgets or thresholds across.

Reads: measured errors. Writes: nothing. Never: a line wider than 78 columns.
"""

from collections.abc import Iterable, Sequence

from papers.personal.personal_counts import CountError, Lean, SweepError
from papers.personal.personal_data import LAWS, MADE_UP
from papers.personal.personal_models import CHANGED, LOGISTIC, ModelScore, ModelSweep
from papers.personal.personal_reference import CORRELATED, CORRELATED_TRUTH, COUNTS, MISCLASSIFIED

_NAME, _SHORT, _CELL = 26, 20, 10
_MODEL = 18
_REFERENCE = "  reference"


def count_tables(found: Sequence[CountError]) -> list[str]:
    """Return mean errors in ten thousandths, spreads over runs, predictions and reference: a table for each set."""
    lines: list[str] = []
    for data in dict.fromkeys(one.data for one in found):
        mine = {(one.law, one.method): one for one in found if one.data == data}
        laws = [law for law in LAWS if any(law == key[0] for key in mine)]
        lines += ["", f"Shares: {data}"]
        lines += [f"{'mean error, 1e-4':<{_NAME}}" + "".join(f"{law:>9}{'spread':>8}{'foretold':>9}" for law in laws)]
        for method in dict.fromkeys(key[1] for key in mine):
            ones = [mine[law, method] for law in laws]
            cells = "".join(f"{_tens(one.error):>9}{_tens(one.spread):>8}{_told(one.predicted_sd):>9}" for one in ones)
            lines += [f"{method:<{_NAME}}{cells}".rstrip()]
            known = [COUNTS.get((law, method)) for law in laws]
            if data == MADE_UP and any(known):
                lines += [f"{_REFERENCE:<{_NAME}}" + "".join(f"{_told(each):>9}{'':17}" for each in known).rstrip()]
    return lines


def sweep_tables(found: Sequence[SweepError]) -> list[str]:
    """Return errors of sampling in ten thousandths by threshold: a table for each law."""
    lines: list[str] = []
    for law in dict.fromkeys(one.law for one in found):
        mine = [one for one in found if one.law == law]
        thresholds = dict.fromkeys(one.threshold for one in mine)
        lines += ["", f"Sampling by threshold, mean error in 1e-4: {law} budgets", _heads(thresholds)]
        for data in dict.fromkeys(one.data for one in mine):
            errors = {one.threshold: one.error for one in mine if one.data == data}
            lines += [f"{data:<{_SHORT}}" + "".join(f"{_tens(errors[each], 3):>5}" for each in thresholds)]
    return lines


def lean_table(found: Sequence[Lean]) -> list[str]:
    """Return the estimates if budgets depend on answers."""
    if not found:
        return []
    lines = ["", f"Budgets that depend on answers: the true share is {found[0].truth:.4f}"]
    lines += [f"{'estimated share':<{_NAME}}{'mean':>9}{'spread':>9}{'off':>9}{'reference off':>15}"]
    for one in found:
        known = CORRELATED.get(one.method)
        told = "" if known is None else f"{known - CORRELATED_TRUTH:+.4f}"
        cells = f"{one.estimate:9.4f}{one.spread:9.4f}{one.estimate - one.truth:+9.4f}{told:>15}"
        lines += [f"{one.method:<{_NAME}}{cells}".rstrip()]
    return lines


def model_tables(found: Sequence[ModelScore]) -> list[str]:
    """Return shares misclassified / areas: a table for each set and law."""
    lines: list[str] = []
    for data, law in dict.fromkeys((one.data, one.law) for one in found):
        mine = {(one.model, one.way, one.method): one for one in found if (one.data, one.law) == (data, law)}
        columns = list(dict.fromkeys(key[:2] for key in mine))
        lines += ["", f"Models: {data}, {law} budgets (misclassified/area)"]
        lines += [f"{'':<{_MODEL}}" + "".join(f"{model:>{_CELL}}" for model, _ in columns)]
        lines += [f"{'':<{_MODEL}}" + "".join(f"{way:>{_CELL}}" for _, way in columns)]
        for method in dict.fromkeys(key[2] for key in mine):
            cells = [mine[(*column, method)] for column in columns]
            shown = "".join(f"{_part(one.misclassified)}/{_part(one.area)}".rjust(_CELL) for one in cells)
            lines += [f"{method:<{_MODEL}}{shown}"]
            known = MISCLASSIFIED.get((law, method))
            if known is not None and (LOGISTIC, CHANGED) in columns and data == MADE_UP:
                place = _MODEL + _CELL * columns.index((LOGISTIC, CHANGED))
                lines += [f"{_REFERENCE:<{place}}  {_part(known)}"]
    return lines


def model_sweep_tables(found: Sequence[ModelSweep]) -> list[str]:
    """Return areas of sampling by threshold: a table for each law and model."""
    lines: list[str] = []
    for law, model in dict.fromkeys((one.law, one.model) for one in found):
        mine = [one for one in found if (one.law, one.model) == (law, model)]
        thresholds = dict.fromkeys(one.threshold for one in mine)
        lines += ["", f"Samples by threshold, area (objective): {model}, {law} budgets", _heads(thresholds)]
        for data in dict.fromkeys(one.data for one in mine):
            areas = {one.threshold: one.area for one in mine if one.data == data}
            lines += [f"{data:<{_SHORT}}" + "".join(f"{_part(areas[each]):>5}" for each in thresholds)]
    return lines


def _heads(thresholds: Iterable[float]) -> str:
    return f"{'':<{_SHORT}}" + "".join(f"{each:>5g}" for each in thresholds)


def _tens(value: float, digits: int = 3) -> str:
    """Return a number in ten thousandths, with `digits` digits."""
    scaled = value * 1e4
    return f"{scaled:.{max(0, digits - len(str(int(scaled))))}f}"


def _told(value: float | None) -> str:
    return "" if value is None else _tens(value)


def _part(value: float) -> str:
    """Return three decimals without the 0 before them."""
    return f"{value:.3f}".removeprefix("0")
