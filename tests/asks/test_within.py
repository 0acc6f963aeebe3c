"""`within` is the short name of every half width: the same question as under the older name, and never both."""

import json

import pyarrow as pa
import pytest
from cli.running import thresher as command

import thresher
from thresher.errors import ArgumentError, QuestionError
from thresher.noise import SeededEntropy

SQL = "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 120"
TOML = """
[source]
url = "memory://"
[tables.stays]
budget = "5"
count_range = 300
version = "1"
[tables.stays.columns]
ward = { values = ["eye", "stroke", "surgery"] }
"""
IN_TEXT = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({}={}) ward" + SQL.removeprefix("SELECT ward")


@pytest.fixture
def engine(tmp_path):
    (tmp_path / "thresher.toml").write_text(TOML)
    rows = pa.table({"ward": ["stroke"] * 170 + ["eye"] * 12})
    with thresher.open(tmp_path / "thresher.toml", tables={"stays": rows}) as opened:
        yield opened


@pytest.mark.parametrize("width", [10, "10", "10%", {"COUNT(*)": 10}, "COUNT(*)=10"], ids=str)
def test_the_spelling_makes_no_other_question(engine, width):
    new, old = engine.plan(SQL, within=width), engine.plan(SQL, uncertain_region=width)
    assert new.identity == old.identity
    assert new.epsilon == old.epsilon
    if isinstance(width, str):
        texts = (IN_TEXT.format(name, f"'{width}'") for name in ("within", "uncertain_region"))
        assert [engine.plan(text).identity for text in texts] == [new.identity] * 2
    engine.decide(SQL, uncertain_region=width, entropy=SeededEntropy(1))
    assert engine.decide(SQL, within=width).repeated


def test_both_names_are_refused(engine):
    with pytest.raises(ArgumentError, match="given under its older name too") as refusal:
        engine.plan(SQL, within=10, uncertain_region=10)
    assert refusal.value.field == "within"
    for text, option in (("within", "uncertain_region"), ("uncertain_region", "within"), ("within", "within")):
        with pytest.raises(ArgumentError, match="the question's text says 10 already"):
            engine.plan(IN_TEXT.format(text, 10), **{option: 10})
    with pytest.raises((ArgumentError, QuestionError)):
        engine.plan(IN_TEXT.format("within", "10, uncertain_region=10"))


@pytest.mark.parametrize("name", ["within", "uncertain_region"])
def test_a_refusal_names_the_option_as_it_was_spelt(engine, name):
    for width in (0, {"AVG(age)": 1}, "wide"):
        with pytest.raises(ArgumentError) as refusal:
            engine.plan(SQL, **{name: width})
        assert refusal.value.field == name
        assert str(refusal.value).startswith(f"{name} = ")


def test_a_refinement_takes_it_too(engine):
    engine.decide(SQL, within=10, key="k", entropy=SeededEntropy(1))
    new = engine.plan_refinement(SQL, of="k", within=5)
    old = engine.plan_refinement(SQL, of="k", uncertain_region=5)
    assert (new.identity, new.epsilon) == (old.identity, old.epsilon)
    with pytest.raises(ArgumentError, match="under its older name too"):
        engine.plan_refinement(SQL, of="k", within=5, uncertain_region=5)


def test_the_command_line_takes_either_and_refuses_both(tmp_path):
    (tmp_path / "stays.csv").write_text("ward\n" + "stroke\n" * 170)
    (tmp_path / "thresher.toml").write_text(TOML.replace("memory://", "stays.csv"))
    plans = [command("plan", SQL, flag, "10", "--json", cwd=tmp_path) for flag in ("--within", "--uncertain-region")]
    assert plans[0].stdout == plans[1].stdout
    assert json.loads(plans[0].stdout)["epsilon"]
    both = command("plan", SQL, "--within", "10", "--uncertain-region", "10", cwd=tmp_path)
    assert both.returncode == 2
    assert "--within = '10' is refused: a half width is given under its older name too" in both.stderr
    wrong = command("plan", SQL, "--within", "0", cwd=tmp_path)
    assert "--within = '0' is refused: a half width must be above zero" in wrong.stderr
