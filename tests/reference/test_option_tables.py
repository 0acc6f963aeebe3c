"""The tables of options that are written by hand state the defaults of the code, and what each option applies to."""

import dataclasses
import inspect
import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest
from reference.page_entries import cells_of

from thresher.decisions.aim import Aim
from thresher.decisions.arrays import progressive
from thresher.decisions.decision_options import Options
from thresher.diagnostics.diagnosis_plan import _USUAL, KINDS, DiagnosisOptions
from thresher.diagnostics.residual_options import ResidualOptions
from thresher.diagnostics.roc_curve import roc_options
from thresher.personal.personal_counts import _USUAL_CONFIDENCE
from thresher.personal.personal_verdicts import _USUAL as _USUAL_RATES
from thresher.personal.weighted_read import USUAL_SHARE

DOCS = Path(__file__).parents[2] / "docs"
PERSONAL = {"share": USUAL_SHARE, "leftovers": False, "confidence": _USUAL_CONFIDENCE, **_USUAL_RATES}
# Of each table: its page, how its head begins, and the defaults in the code; None means that there is none.
TABLES: dict[str, tuple[str, str, Mapping[str, object]]] = {
    "roc": (
        "reference/roc_curve.md",
        "| Option of `RocChoices`",
        {item.name: item.default for item in inspect.signature(roc_options).parameters.values()},
    ),
    "residuals": (
        "reference/residual_plot.md",
        "| Option of `ResidualChoices`",
        {field.name: field.default for field in dataclasses.fields(ResidualOptions)},
    ),
    "pictures": (
        "reference/engine.md",
        "| Option of `DiagnosisOptions`",
        dict.fromkeys(DiagnosisOptions.__annotations__) | _USUAL,
    ),
    "personal": ("reference/personal_engine.md", "| Option of `PersonalOptions`", PERSONAL),
    "personal budgets": ("personal.md", "| Option | Meaning | Default |", PERSONAL | {"key": None}),
}


def rows_of(page: str, head: str) -> list[list[str]]:
    """Return the cells of the rows of a table."""
    table = page[page.index(head) :].split("\n\n", maxsplit=1)[0].split("\n")[2:]
    return [cells_of(line) for line in table]


def wrong_defaults(rows: list[list[str]], defaults: Mapping[str, object]) -> list[str]:
    wrong = []
    for cells in rows:
        names = re.findall(r"`(\w+)`", cells[0])
        stated = cells[-1].split(", ") if ", " in cells[-1] and len(names) > 1 else [cells[-1]] * len(names)
        wrong += [name for name, text in zip(names, stated, strict=True) if not _is_default(text, defaults[name])]
    return wrong


def _is_default(text: str, default: object) -> bool:
    """Compare a cell with a default. Words stand where the code has none: "none", "required", "by the range"."""
    plain = text.strip("`").strip('"')
    if default is None or default is dataclasses.MISSING:
        return not re.fullmatch(r"[\d./,]+|true|false", plain)
    if isinstance(default, bool):
        return plain == str(default).lower()
    try:
        return Fraction(plain.replace(",", "")) == Fraction(str(default))
    except ValueError:
        return plain == default


@pytest.mark.parametrize("name", TABLES)
def test_a_table_states_the_defaults_of_the_code(name):
    page, head, defaults = TABLES[name]
    rows = rows_of((DOCS / page).read_text(), head)
    assert len(rows) >= 5
    assert not wrong_defaults(rows, defaults)


@pytest.mark.parametrize(
    ("cells", "default"),
    [
        (["`share`", "means", "0.3"], USUAL_SHARE),
        (["`share`", "means", "none"], USUAL_SHARE),
        (["`rows`", "means", "5"], None),
        (["`histogram`", "means", "`hb`"], "laplace"),
        (["`leftovers`", "means", "true"], False),
    ],
)
def test_a_planted_default_is_found(cells, default):
    assert wrong_defaults([cells], {"share": default, "rows": default, "histogram": default, "leftovers": default})


def test_options_of_pictures_stand_beside_the_kinds_that_take_them():
    page, head, _ = TABLES["pictures"]
    for cells in rows_of((DOCS / page).read_text(), head):
        for name in re.findall(r"`(\w+)`", cells[0]):
            takes = {kind for kind, of in KINDS.items() if name in (*dict(of.needs), *of.choices)}
            takes |= {"roc"} if name == "auc_error" else set()
            takes |= set(KINDS) if name in ("table", "epsilon", "rows") else set()
            assert takes == (set(KINDS) if cells[1] == "all" else set(re.findall(r"`(\w+)`", cells[1]))), name


def test_the_defaults_of_functions_on_arrays_are_those_of_decisions():
    """Their options are typed only; what is left out is left to the same aim."""
    page = (DOCS / "reference" / "decisions.md").read_text()
    levels, delta = Options().levels, next(item.default for item in dataclasses.fields(Aim) if item.name == "delta")
    assert Aim.__dataclass_fields__["levels"].default == levels
    assert f"the number of looks ({levels})" in page
    assert f"the confidence of the certificate ({float(1 - delta)})" in page
    assert Fraction(str(inspect.signature(progressive).parameters["miss_rate"].default)) == Options().miss_rate
