"""Diagnostics through the engine: priced, charged once, stored, and refused before anything is charged."""

import json

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

import thresher
from thresher.amounts import Epsilon
from thresher.codec import document
from thresher.errors import ArgumentError, BudgetError, KeyReusedError, TooDearError
from thresher.noise import SeededEntropy

DECLARED = """
[source]
url = "memory://"
[tables.loans]
{unit}
budget = "3"
max_epsilon_per_question = "2"
[tables.loans.columns]
bad = {{ min = 0, max = 1 }}
risk = {{ min = 0, max = 1, step = 0.001 }}
income = {{ min = 0, max = 200, step = 0.1 }}
guess = {{ min = 0, max = 200, step = 0.1 }}
ward = {{ values = ["eye"] }}
"""
ROC = {"table": "loans", "label": "bad", "score": "risk"}
RESIDUALS = {"table": "loans", "actual": "income", "fitted": "guess"}
ROWS = 4_000


def loans(rows=ROWS, each=1):
    chance = np.random.default_rng(5)
    risk = chance.beta(2, 2, rows)
    guess = chance.uniform(20, 120, rows)
    return pa.table(
        {
            "id": np.repeat(np.arange(rows // each), each),
            "bad": (chance.random(rows) < risk).astype(np.int64),
            "risk": risk,
            "income": guess + chance.normal(0, 5, rows),
            "guess": guess,
            "ward": ["eye"] * rows,
        }
    )


@pytest.fixture
def opened(tmp_path):
    engines = []

    def open_(table=None, unit=""):
        path = tmp_path / "thresher.toml"
        path.write_text(DECLARED.format(unit=unit))
        engines.append(thresher.open(path, tables={"loans": loans() if table is None else table}))
        return engines[-1]

    yield open_
    for engine in engines:
        engine.close()


def test_each_is_charged_once_and_stored(opened):
    engine = opened()
    asked = (("roc", ROC), ("binned", ROC), ("residuals", RESIDUALS))
    for spent, (kind, columns) in enumerate(asked, start=1):
        first = engine.diagnose(kind, **columns, epsilon="0.5")
        again = engine.diagnose(kind, **columns, epsilon="0.5")
        assert document(first) == document(again)
        assert (first.repeated, again.repeated) == (False, True)
        assert again.key == first.key
        assert sum(amount.nano for amount in first.split.values()) == first.epsilon.nano
        assert engine.ledger.balance("loans").spent == Epsilon("0.5") * spent


def test_it_says_what_the_rows_say(opened):
    """At epsilon 2 and 4,000 rows the noise is small: the AUC of these scores is 0.75 or so."""
    engine = opened()
    found = engine.diagnose("roc", **ROC, epsilon=2, entropy=SeededEntropy(1))
    table = loans()
    risk, bad = (np.asarray(table[name]) for name in ("risk", "bad"))
    above = risk[bad == 1][:, None] > risk[bad == 0][None, :]
    assert abs(found.auc - above.mean()) < 0.02
    assert found.stamp == "NOT PRIVATE"


def test_one_row_of_each_person(opened):
    """1,000 persons with four rows each count as 1,000; noise for epsilon 1 errs by 30 with probability below 1e-6."""
    engine = opened(loans(each=4), 'unit = "id"\nmax_rows_per_group = 4')
    found = engine.diagnose("residuals", **RESIDUALS, epsilon=1)
    assert abs(found.rows - ROWS // 4) < 50 * 20


def test_the_same_choices_in_other_types_are_the_same_question(opened):
    engine = opened()
    for rows in (ROWS, np.int64(ROWS)):
        engine.diagnose("roc", **ROC, epsilon="0.5", rows=rows)
    assert engine.ledger.balance("loans").spent == Epsilon("0.5")


def test_what_is_stored_is_drawn_as_it_was(opened):
    engine = opened()
    first, again = (engine.diagnose("roc", **ROC, epsilon="0.5") for _ in range(2))
    assert first.caption == again.caption
    assert list(first.split) == list(again.split)


def test_a_new_key_buys_a_fresh_one_and_an_old_key_is_not_reused(opened):
    engine = opened()
    one = engine.diagnose("roc", **ROC, epsilon="0.5", key="one")
    two = engine.diagnose("roc", **ROC, epsilon="0.5", key="two")
    assert document(one) != document(two)
    with pytest.raises(KeyReusedError):
        engine.diagnose("binned", **ROC, epsilon="0.5", key="one")
    assert engine.ledger.balance("loans").spent == Epsilon(1)


@pytest.mark.parametrize(
    ("kind", "asked", "field"),
    [
        ("pie", {**ROC, "epsilon": 1}, "kind"),
        ("roc", {**ROC}, "epsilon"),
        ("roc", {**ROC, "epsilon": 1, "auc_error": "0.1"}, "epsilon"),
        ("roc", {**ROC, "epsilon": 0}, "epsilon"),
        ("roc", {**ROC, "epsilon": -1}, "epsilon"),
        ("roc", {**ROC, "auc_error": "0.1"}, "auc_error"),
        ("binned", {**ROC, "auc_error": "0.1", "rows": 4_000}, "auc_error"),
        ("roc", {"table": "nowhere", "epsilon": 1}, "table"),
        ("roc", {"table": "loans", "label": "bad", "epsilon": 1}, "score"),
        ("roc", {**ROC, "label": "risk", "epsilon": 1}, "label"),
        ("roc", {**ROC, "score": "income", "epsilon": 1}, "score"),
        ("roc", {**ROC, "score": "ward", "epsilon": 1}, "score"),
        ("roc", {**ROC, "score": "absent", "epsilon": 1}, "score"),
        ("roc", {**ROC, "actual": "income", "epsilon": 1}, "actual"),
        ("roc", {**ROC, "epsilon": 1, "depth": 99}, "depth"),
        ("roc", {**ROC, "epsilon": 1, "thresholds": "none"}, "thresholds"),
        ("roc", {**ROC, "epsilon": 1, "histogram": "ag"}, "histogram"),
        ("roc", {**ROC, "epsilon": 1, "rows": -5}, "rows"),
        ("binned", {**ROC, "epsilon": 1, "depth": 0}, "depth"),
        ("binned", {**ROC, "epsilon": 1, "histogram": "dawa"}, "histogram"),
        ("residuals", {**RESIDUALS, "epsilon": 1, "depth": 4}, "depth"),
        ("roc", {**ROC, "epsilon": 1, "thresholds": np.array([0.5])}, "thresholds"),
        ("roc", {**ROC, "epsilon": 1, "histogram": ["hb"]}, "histogram"),
        ("roc", {**ROC, "auc_error": "0.1", "rows": 4_000, "histogram": "hb"}, "histogram"),
        ("residuals", {**RESIDUALS, "epsilon": 1, "histogram": "none"}, "histogram"),
    ],
)
def test_refusals_come_before_any_charge(kind, asked, field, opened):
    engine = opened()
    with pytest.raises(ArgumentError) as refused:
        engine.diagnose(kind, **asked)
    assert refused.value.field == field
    assert not engine.ledger.balance("loans").spent
    assert not [entry for entry in engine.ledger.entries() if entry.kind == "reserve"]


def test_limits_and_budgets_hold(opened):
    engine = opened()
    with pytest.raises(TooDearError, match="max_epsilon_per_question"):
        engine.diagnose("roc", **ROC, epsilon="2.5")
    engine.diagnose("roc", **ROC, epsilon=2)
    with pytest.raises(BudgetError, match="short"):
        engine.diagnose("binned", **ROC, epsilon=2)
    assert engine.ledger.balance("loans").spent == Epsilon(2)


def test_no_rows_at_all_is_an_answer_like_any_other(opened):
    engine = opened(loans().slice(0, 0))
    for kind, columns in (("roc", ROC), ("binned", ROC), ("residuals", RESIDUALS)):
        assert engine.diagnose(kind, **columns, epsilon="0.5").epsilon == Epsilon("0.5")


def test_a_price_from_an_error(opened, trials):
    """An estimate: the error is kept in about 19 of 20 runs. More than 6 misses of 20 have probability below 1e-4."""
    engine = opened()
    plan = engine.plan_diagnosis("roc", **ROC, auc_error="0.05", rows=ROWS)
    assert "estimate" in str(plan)
    assert Epsilon(0) < plan.epsilon < Epsilon("0.5")
    risk, bad = (np.asarray(loans()[name]) for name in ("risk", "bad"))
    truth = (risk[bad == 1][:, None] > risk[bad == 0][None, :]).mean()
    entropy, runs = SeededEntropy(8), trials(20, 400)
    exact = np.stack([bad, np.rint(risk * 1000)], axis=1).astype(np.int64)
    found = [plan.run(thresher.question.Exact(exact), entropy)[0].auc for _ in range(runs)]
    missed = sum(auc is None or abs(auc - truth) > 0.05 for auc in found)
    assert binom.sf(missed - 1, runs, 0.05) > 1e-6


def test_a_budget_keeps_its_unit(opened, tmp_path):
    opened().diagnose("roc", **ROC, epsilon="0.5")
    other = opened(unit='unit = "id"')
    with pytest.raises(thresher.errors.DeclarationError, match="privacy unit"):
        other.ledger.balance("loans")


def test_what_is_stored_says_nothing_exact(opened):
    engine = opened()
    engine.diagnose("roc", **ROC, epsilon="0.5")
    (stored,) = (entry for entry in engine.ledger.entries() if entry.kind == "reserve")
    said = json.loads(stored.facts["question"])
    assert (said["family"], said["kind"], said["price"]) == ("diagnosis", "roc", {"epsilon": "0.5"})
    assert set(said) == {"identity", "family", "table", "columns", "kind", "named", "choices", "price"}
