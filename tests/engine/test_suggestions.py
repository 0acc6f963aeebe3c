"""Suggested limits through the engine and the command: charged once, stored, for the curator, and no file changes."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from cli.running import thresher as command
from laws import assert_fits, laplace_p

import thresher
from thresher.amounts import Epsilon
from thresher.errors import ArgumentError, BudgetError, TooDearError
from thresher.noise import SeededEntropy

DECLARED = """
[source]
url = "visits.parquet"
[tables.visits]
unit = "person"
budget = "2"
max_epsilon_per_question = "1.5"
[tables.visits.columns]
ward = { values = ["a", "b", "c", "d", "e", "f"] }
note = { text = true }
"""


@pytest.fixture
def folder(tmp_path):
    """9,000 people in one ward, 900 in two, 100 in six; the last have 3 rows in each."""
    rows = [(who, "a") for who in range(9000)]
    rows += [(who, ward) for who in range(9000, 9900) for ward in "ab"]
    rows += [(who, ward) for who in range(9900, 10_000) for ward in "abcdef" for _ in range(3)]
    people, wards = zip(*rows, strict=True)
    pa.parquet.write_table(pa.table({"person": people, "ward": wards, "note": wards}), tmp_path / "visits.parquet")
    (tmp_path / "thresher.toml").write_text(DECLARED)
    return tmp_path


def test_limits_are_suggested_charged_once_and_stored(folder):
    before = (folder / "thresher.toml").read_bytes()
    with thresher.open(folder / "thresher.toml") as engine:
        plan = engine.plan_suggestion("visits.ward", epsilon="0.5")
        assert plan.epsilon == Epsilon("0.5")
        assert "about 800 people; with fewer, nothing is suggested" in str(plan)
        assert engine.left(plan).spent == Epsilon(0)
        found = engine.suggest("visits.ward", epsilon="0.5", entropy=SeededEntropy(1))
        assert (found.max_groups, found.max_rows) == (2, 1)
        assert found.lines == ("max_groups_per_unit = 2", "max_rows_per_group = 1")
        assert "so at most 10 % of the people lose a row by both" in found.guarantee.sentence
        assert "Nothing is promised about the share of rows" in str(found)
        again = engine.suggest("visits.ward", epsilon="0.5")
        assert again.repeated
        assert again == found
        assert engine.balance(plan).spent == Epsilon("0.5")
        assert [one.kind for one in engine.ledger.entries()][-2:] == ["reserve", "settle"]
        other = engine.suggest("visits", epsilon="0.3", entropy=SeededEntropy(2))
        assert (other.max_groups, other.max_rows, other.group_edges) == (None, 2, ())
    assert (folder / "thresher.toml").read_bytes() == before


def test_the_noise_of_each_count_has_half_of_epsilon_for_groups_and_half_for_rows(folder):
    with thresher.open(folder / "thresher.toml") as engine:
        plan = engine.plan_suggestion("visits.ward", epsilon="0.5")
        exact = engine._source.fetch(plan.need)
        truth, entropy = exact.unseal()[:, 0], SeededEntropy(3)
        runs = [plan.run(exact, entropy)[0] for _ in range(400)]
    noise = np.array([[*one.group_counts, *one.row_counts] for one in runs]) - truth
    groups = len(plan.group_edges)
    for part in (noise[:, :groups], noise[:, groups:]):
        assert_fits(laplace_p(part.ravel(), 4))
        assert laplace_p(part.ravel(), 2) < 1e-9, "all of epsilon on each would be seen"


def test_too_little_epsilon_suggests_nothing_and_says_so(folder):
    shown = command("suggest", "visits.ward", "--epsilon", "0.001", "--yes", cwd=folder)
    assert shown.returncode == 0, shown.stderr
    text = " ".join(shown.stdout.split())
    assert "max_groups_per_unit and max_rows_per_group: so little epsilon cannot tell" in text
    assert "max_groups_per_unit =" not in text


def test_the_command_shows_the_lines_for_the_file(folder):
    shown = command("suggest", "visits.ward", "--epsilon", "0.5", "--yes", "--json", cwd=folder)
    assert shown.returncode == 0, shown.stderr
    document = json.loads(shown.stdout)
    assert document["lines"][0].startswith("max_groups_per_unit = ")
    assert document["epsilon"] == "0.5"
    text = " ".join(command("suggest", "visits.ward", "--epsilon", "0.5", cwd=folder).stdout.split())
    assert "at most 5 % of the people exceed it" in text
    assert "no file was changed" in text
    assert command("suggest", "visits.ward", "--epsilon", "0.4", cwd=folder).returncode == 2, "it needs a yes"
    default = command("suggest", "visits", "--yes", "--json", cwd=folder)
    assert json.loads(default.stdout)["epsilon"] == "0.02", "a hundredth of the budget"


def test_it_is_refused_before_anything_is_charged(folder):
    with thresher.open(folder / "thresher.toml") as engine:
        for table, epsilon in (("visits.wart", 1), ("nobody", 1), ("visits.note", 1), ("visits.ward", 0)):
            with pytest.raises(ArgumentError):
                engine.suggest(table, epsilon=epsilon)
        with pytest.raises(TooDearError):
            engine.suggest("visits.ward", epsilon=1.6)
        engine.suggest("visits.ward", epsilon=1.5)
        with pytest.raises(BudgetError):
            engine.suggest("visits.ward", epsilon=1)
    with (
        thresher.open(folder / "thresher.toml", analyst="ann") as engine,
        pytest.raises(ArgumentError, match="curator"),
    ):
        engine.suggest("visits.ward", epsilon="0.1")
    text = (folder / "thresher.toml").read_text()
    (folder / "thresher.toml").write_text(text.replace('unit = "person"\n', ""))
    with thresher.open(folder / "thresher.toml") as engine, pytest.raises(ArgumentError, match="no limit applies"):
        engine.suggest("visits.ward", epsilon="0.1")
