"""`show="values"` as an option: in Python, in the text, on the command line; and what does not go with it."""

import json

import pyarrow as pa
import pytest
from cli.running import thresher as command
from engine.clinics import clinic

import thresher
from thresher.decisions import DecisionPlan, ValuesPlan
from thresher.decisions.decision_options import options_of
from thresher.errors import ArgumentError, QuestionError
from thresher.noise import SeededEntropy

SQL = "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 30 AND AVG(age) > 65"


@pytest.fixture
def engine(tmp_path):
    with thresher.open(clinic(tmp_path)) as opened:
        yield opened


def test_it_is_an_option_like_all_others(engine):
    assert isinstance(engine.plan(SQL, uncertain_region=10), DecisionPlan)
    assert isinstance(engine.plan(SQL, uncertain_region=10, show="verdicts"), DecisionPlan)
    plan = engine.plan(SQL, uncertain_region=10, show="values")
    assert isinstance(plan, ValuesPlan)
    answer = engine.decide(SQL, uncertain_region=10, show="values")
    assert [shown.text for shown in answer.values] == ["(AVG(age) - 65) x rows", "AVG(age)", "COUNT(*)"]
    text = SQL.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(show='values', uncertain_region=10)")
    assert engine.decide(text) == answer
    with pytest.raises(ArgumentError, match="Write it in one of the two places"):
        engine.plan(text, show="values")
    assert engine.decide(SQL, uncertain_region=10).values == ()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"show": "everything"}, "Pass verdicts or values"),
        ({"show": "values", "mechanism": "ppwlm"}, "measures each number once"),
        ({"show": "values", "mechanism": "ppwlm", "levels": 3}, "measures each number once"),
    ],
)
def test_what_does_not_go_with_it(options, says):
    with pytest.raises(ArgumentError, match=says):
        options_of(options)


def test_a_misspelt_option_in_the_text(engine):
    with pytest.raises(QuestionError, match="show"):
        engine.plan(SQL.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(shows='values')"))


def test_on_the_command_line(tmp_path):
    clinic(tmp_path)
    asked = ("--uncertain-region", "10", "--show", "values")
    planned = command("plan", SQL, *asked, "--json", cwd=tmp_path)
    document = json.loads(planned.stdout)
    assert document["shown"] == ["(AVG(age) - 65) x rows", "AVG(age)", "COUNT(*)"]
    assert "together, from" in command("plan", SQL, *asked, "--details", cwd=tmp_path).stdout
    answer = json.loads(command("ask", SQL, *asked, "--yes", "--json", cwd=tmp_path).stdout)
    assert len(answer["values"]) == 3
    shown = command("ask", SQL, *asked, "--yes", "--all", cwd=tmp_path).stdout
    assert "COUNT(*)" in shown
    assert " ± " in shown


def test_only_an_unwritten_guard_is_left(tmp_path):
    """An average above its declared minimum always holds where there are rows: a count of rows decides."""
    (tmp_path / "thresher.toml").write_text(
        '[source]\nurl = "memory://"\n[tables.stays]\nbudget = "5"\ncount_range = 300\n[tables.stays.columns]\n'
        'ward = { values = ["eye", "stroke"] }\nage = { min = 0, max = 110, step = 1 }\n'
    )
    rows = pa.table({"ward": ["stroke"] * 170, "age": [50] * 170})
    with thresher.open(tmp_path / "thresher.toml", tables={"stays": rows}) as engine:
        for having in ("AVG(age) >= 0", "AVG(age) <= 110", "NOT AVG(age) < 0"):
            for width in ({}, {"within": 10}):
                sql = f"SELECT ward FROM stays GROUP BY ward HAVING {having}"
                plan = engine.plan(sql, show="values", **width)
                assert "COUNT(age) by itself" in dict(plan.details())["measured"]
                answer = engine.decide(sql, show="values", entropy=SeededEntropy(1), **width)
                assert ("stroke",) in answer.positives
                assert str(answer)
                assert answer.page(every=True)
