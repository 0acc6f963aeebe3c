"""`thresher personal` as people run it: the picture of a roster, a count, a decision, what is left, refusals."""

import json
import os
import xml.etree.ElementTree as ET

import numpy as np
import pyarrow as pa
import pytest
from cli.running import thresher
from click.testing import CliRunner
from pyarrow import parquet

from thresher.cli import commands
from thresher.errors import ArgumentError

DECLARED = """
[source]
url = "patients.parquet"
[tables.patients]
unit = "patient_id"
budget_column = "privacy_budget"
budget_roster = { table = "roster", column = "eps", people = "people" }
[tables.patients.columns]
privacy_budget = { min = 0, max = 1, step = 0.05, missing = 0, fixed = true }
ward = { values = ["eye", "ear"] }
[public_tables.roster]
file = "sizes.csv"
"""
FIGURE = ("0.01", "0.02", "0.05", "0.07", "0.09", "0.11", "0.14", "0.15")
COUNT = "SELECT ward, COUNT(*) FROM patients GROUP BY ward"


@pytest.fixture
def folder(tmp_path):
    levels, each = (0.0, 0.1, 0.5, 1.0), 1_000
    columns = {
        "patient_id": np.arange(len(levels) * each),
        "privacy_budget": np.repeat(np.array(levels), each),
        "ward": ["eye", "ear"] * (len(levels) * each // 2),
    }
    parquet.write_table(pa.table(columns), tmp_path / "patients.parquet")
    (tmp_path / "sizes.csv").write_text("eps,people\n" + "".join(f"{level},{each}\n" for level in levels))
    (tmp_path / "thresher.toml").write_text(DECLARED)
    (tmp_path / "eight.csv").write_text("".join(f"p{n},{budget}\n" for n, budget in enumerate(FIGURE)))
    return tmp_path


def told(folder, *arguments):
    """What the command says, run in this process: a process of its own takes a second."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        return CliRunner().invoke(commands, arguments)
    finally:
        os.chdir(before)


def test_the_eight_people_of_the_figure(folder):
    done = thresher(
        "personal", "plan", "--budgets", "eight.csv", "--parts", "3", "-o", "b.svg", "--picture", "e.svg", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert "0.0038 in all" in done.stdout
    assert "part 2 from 0.07" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 78
    for name in ("b.svg", "e.svg"):
        assert ET.parse(folder / name).getroot().tag.endswith("svg")  # noqa: S314 - our own file
    said = json.loads(told(folder, "personal", "plan", "--budgets", "eight.csv", "--json").stdout)
    errors = {one["method"]: one["predicted_sd"] for one in said["methods"]}
    assert errors["choice"] == pytest.approx(0.3136, abs=1e-3)  # no better than a count picked blindly
    assert errors["weighted"] == min(error for method, error in errors.items() if method != "choice")
    assert errors["minimum"] == pytest.approx(17.678, abs=1e-3)


def test_a_count_is_charged_once_and_what_is_left_is_the_curators(folder):
    done = thresher("personal", "run", COUNT, "--yes", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "each person up to 0.25 of their own budget" in done.stdout
    assert "independent" in done.stdout
    again = json.loads(told(folder, "personal", "run", COUNT, "--json").stdout)
    assert again["repeated"] is True
    assert all(abs(float(seen) - 1500) < 400 for seen in again["estimates"])
    left = json.loads(told(folder, "personal", "plan", "--table", "patients", "--json").stdout)["left"]
    held = {one["budget"]: one["left"] for one in left if one["people"]}
    assert held["0.074999999"].startswith("0.0562")
    assert "personal:patients" in told(folder, "ledger", "show").stdout
    assert "privacy_budget" not in told(folder, "ledger", "show", "--analyst", "ann", "--json").stdout


def test_a_decision(folder):
    sql = "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 100"
    done = told(folder, "personal", "run", sql, "--yes", "--share", "1")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("above ") >= 2


REFUSED = [
    (("run", COUNT), "needs a yes"),
    (("run", COUNT, "--share", "2", "--yes"), "share = '2' is refused"),
    (("plan",), "either a table or a file"),
    (("plan", "--budgets", "nowhere.csv"), "no such file"),
    (("plan", "--budgets", "eight.csv", "--parts", "9"), "parts = 9 is refused"),
    (("plan", "--budgets", "eight.csv", "-o", "b.gif"), ".svg"),
    (("plan", "--table", "patients", "--least-size", "9999"), "at most 0 parts have 9999 people"),
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED, ids=range(len(REFUSED)))
def test_refusals(folder, arguments, said):
    refused = told(folder, "personal", *arguments).exception
    assert isinstance(refused, ArgumentError)
    assert said in str(refused)


def test_an_ordinary_question_is_pointed_here(folder):
    refused = told(folder, "ask", "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 5", "--yes").exception
    assert "thresher personal run" in str(refused)


def test_bad_lines_are_refused_by_number(folder):
    (folder / "bad.csv").write_text("ann,0.1\nbob,-1\ncleo,nan\ndan,1e9\n")
    done = thresher("personal", "plan", "--budgets", "bad.csv", cwd=folder)
    assert done.returncode == 2
    assert all(f"line {line}" in done.stderr for line in (2, 3, 4))


def test_the_demo_shows_eight_people_and_many(tmp_path):
    done = thresher("demo", "personal", "--seed", "7", "--people", "2000", "--picture", "e.svg", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "NOT PRIVATE" in done.stdout
    for waste in ("waste 0.0118", "waste 0.0038", "waste 0.0010"):
        assert waste in done.stdout
    assert "Cecilia" in done.stdout
    assert "2,000 people" in done.stdout
    assert ET.parse(tmp_path / "e.svg").getroot().tag.endswith("svg")  # noqa: S314 - our own file
    assert "from 1,000" in str(told(tmp_path, "demo", "personal", "--people", "5").exception)
