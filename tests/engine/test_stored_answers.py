"""A stored answer says that it is one, of which day, and is not given for a table in memory with other columns."""

import json
from datetime import UTC, datetime

import pandas
import pyarrow as pa
import pytest

import thresher
from thresher.amounts import rounded_up
from thresher.errors import DeclarationError
from thresher.noise import SeededEntropy

SQL = "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 120"
ROWS = {"ward": ["stroke"] * 170 + ["eye"] * 12, "note": ["x"] * 182}
TOML = """
[source]
url = "memory://"
[tables.stays]
budget = "5"
{}
[tables.stays.columns]
ward = {{ values = ["eye", "stroke", "surgery"] }}
"""
DAY = "2026-11-18"


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Opens an engine over columns in memory, on the same ledger each time; the ledger's clock stands at one day."""
    engines = []

    def open_it(columns, version=""):
        (tmp_path / "thresher.toml").write_text(TOML.format(version))
        table = columns if hasattr(columns, "columns") else pa.table(columns)
        engines.append(thresher.open(tmp_path / "thresher.toml", tables={"stays": table}))
        monkeypatch.setattr(engines[-1].ledger, "_clock", lambda: datetime(2026, 11, 18, 23, 59, tzinfo=UTC))
        return engines[-1]

    yield open_it
    for engine in engines:
        engine.close()


def test_a_stored_answer_says_so_everywhere(opened):
    engine = opened(ROWS)
    first = engine.decide(SQL, uncertain_region=10)
    again = engine.decide(SQL, uncertain_region=10)
    # Few groups climb alone: what they lose depends on the noise.
    paid = rounded_up(first.spent_epsilon.fraction)
    plan = engine.plan(SQL, uncertain_region=10)
    says = f"This is the stored answer {again.key} of {DAY} to the same question. Paid now: 0."
    for stored in (again, engine.stored(plan)):
        assert str(stored).startswith(says)
        assert f"stored answer of {DAY}, paid now: 0" in repr(stored)
        assert says in stored._repr_html_()
        assert stored.page().document["repeated"] is True
        assert stored.page().document["paid_on"] == DAY == stored.paid_on
        assert f"0 now; epsilon {paid} when it was first asked, on {DAY}" in stored._repr_html_()
        assert stored.to_bytes() == first.to_bytes()
    for new in (str(first), repr(first), first._repr_html_(), json.dumps(dict(first.page().document), default=str)):
        assert "stored answer of" not in new
        assert DAY not in new
    assert first == again


def test_a_stored_picture_says_so(tmp_path):
    (tmp_path / "thresher.toml").write_text(
        '[source]\nurl = "memory://"\n[tables.loans]\nbudget = "5"\n[tables.loans.columns]\n'
        "risk = { min = 0, max = 1, step = 0.01 }\ndefaulted = { values = [true, false] }\n"
    )
    loans = pa.table({"risk": [0.1, 0.9] * 50, "defaulted": [False, True] * 50})
    with thresher.open(tmp_path / "thresher.toml", tables={"loans": loans}) as engine:
        asked = {"table": "loans", "label": "defaulted", "score": "risk", "epsilon": 1, "rows": 100}
        engine.diagnose("roc", **asked, entropy=SeededEntropy(1))
        again = engine.diagnose("roc", **asked)
    day = again.paid_on
    assert len(day) == 10
    assert f"This is the stored answer {again.key} of {day}" in again._repr_html_()
    assert again.page().document["paid_on"] == day
    assert f"paid_on='{day}'" in repr(again)


def test_other_columns_in_memory_are_refused_until_a_version_is_set(opened):
    first = opened(ROWS).decide(SQL, uncertain_region=10)
    other = opened({**ROWS, "age": [1] * 182})
    spent = str(other.ledger.balance("stays").spent)
    plan = other.plan(SQL, uncertain_region=10)
    for ask in (lambda: other.decide(SQL, uncertain_region=10), lambda: other.stored(plan)):
        with pytest.raises(DeclarationError) as refusal:
            ask()
        assert str(refusal.value) == (
            "tables.stays.version: the table in memory has other columns than when the answer "
            f"{first.key} was stored, on {DAY}. That answer describes the rows as they were then, so it is not given "
            'for this table. Nothing was read or paid. Set a new version, such as version = "2" under [tables.stays], '
            'or thresher.open(..., versions={"stays": "2"}), and ask again, at the full price'
        )
    assert str(other.ledger.balance("stays").spent) == spent
    assert not opened({**ROWS, "age": [1] * 182}, 'version = "2"').decide(SQL, uncertain_region=10).repeated
    assert opened(ROWS).decide(SQL, uncertain_region=10).repeated


@pytest.mark.parametrize(
    "columns",
    [
        {"note": [1.5] * 9, "ward": ["eye"] * 9},
        {"note": [None] * 400, "ward": ["surgery"] * 400},
        pandas.DataFrame({"ward": pandas.Categorical(["eye", "other"]), "note": [True, False]}),
        pandas.DataFrame({"ward": ["eye", "other"], "note": [1, 2]}, index=["a", "b"]),
    ],
    ids=["type", "rows", "categories", "index"],
)
def test_only_names_of_columns_are_compared(opened, columns):
    """One person can change types, categories and numbers of rows: a refusal by them would tell of that person."""
    opened(ROWS).decide(SQL, uncertain_region=10)
    assert opened(columns).decide(SQL, uncertain_region=10).repeated


def test_names_are_kept_as_a_hash_in_the_line_of_the_reservation_only(opened):
    engine = opened(ROWS)
    engine.decide(SQL, uncertain_region=10)
    opened({"ward": ["eye"]}, 'version = "3"').decide(SQL, uncertain_region=10)
    first, second = (entry for entry in engine.ledger.entries() if entry.kind == "reserve")
    assert "note" not in first.document
    assert len(first.facts["columns"]) == 32
    assert "columns" not in second.facts
    engine.ledger.verify()


def test_other_names_with_the_same_key_are_refused_as_another_question_first(opened):
    opened(ROWS).decide(SQL, uncertain_region=10, key="monday")
    with pytest.raises(thresher.errors.KeyReusedError):
        opened({"ward": ["eye"]}).decide(SQL, uncertain_region=11, key="monday")
