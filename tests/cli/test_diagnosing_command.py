"""`thresher diagnose` as people run it: a price, a picture on the terminal, a file, JSON, refusals."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pyarrow as pa
import pytest
from cli.running import thresher
from pyarrow import parquet

DECLARED = """
[source]
url = "loans.parquet"
[tables.loans]
budget = "2"
[tables.loans.columns]
bad = { min = 0, max = 1 }
risk = { min = 0, max = 1, step = 0.001 }
income = { min = 0, max = 200, step = 0.1 }
guess = { min = 0, max = 200, step = 0.1 }
"""
ROC = ("roc", "--table", "loans", "--label", "bad", "--score", "risk")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place, chance, rows = tmp_path_factory.mktemp("loans"), np.random.default_rng(2), 3_000
    risk, guess = chance.beta(2, 2, rows), chance.uniform(20, 120, rows)
    columns = {"bad": (chance.random(rows) < risk).astype(np.int64), "risk": risk}
    columns |= {"guess": guess, "income": guess + chance.normal(0, 5, rows)}
    parquet.write_table(pa.table(columns), place / "loans.parquet")
    (place / "thresher.toml").write_text(DECLARED)
    return place


def test_a_curve_on_the_terminal_and_as_a_picture(folder):
    done = thresher("diagnose", *ROC, "--epsilon", "0.3", "--yes", "-o", "roc.svg", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "AUC 0." in done.stdout
    assert "epsilon 0.3" in done.stdout
    assert "no diagnostic makes them so" in " ".join(done.stdout.split())
    assert "roc.svg" in done.stdout
    drawn = ET.parse(folder / "roc.svg").getroot()  # noqa: S314 - our own file
    assert drawn.tag.endswith("svg")
    again = thresher("diagnose", *ROC, "--epsilon", "0.3", "--json", cwd=folder)
    told = json.loads(again.stdout)
    assert again.returncode == 0
    assert told["repeated"] is True
    assert told["budget"]["spent"] == "0.3"
    assert 0.6 < told["auc"] < 0.9


def test_residuals_as_a_png(folder):
    asked = ("residuals", "--table", "loans", "--actual", "income", "--fitted", "guess", "--epsilon", "0.3")
    done = thresher("diagnose", *asked, "--yes", "-o", "fan.png", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "fan.png").read_bytes().startswith(b"\x89PNG")
    assert "residual against fitted" in done.stdout


@pytest.mark.parametrize(
    ("more", "told", "code"),
    [
        ((), "epsilon", 2),
        (("--epsilon", "0.2"), "needs a yes", 2),
        (("--epsilon", "0", "-y"), "above zero", 2),
        (("--epsilon", "0.2", "-y", "-o", "roc.gif"), ".svg or .png", 2),
        (("--epsilon", "0.2", "-y", "-o", "nowhere/roc.svg"), "folder", 2),
        (("--epsilon", "0.2", "-y", "--depth", "44"), "--depth", 2),
        (("--epsilon", "0.2", "-y", "--actual", "income"), "does not apply to roc", 2),
        (("--auc-error", "0.05", "-y"), "--auc-error", 2),
        (("--epsilon", "5", "-y"), "cannot pay", 3),
    ],
)
def test_refusals_charge_nothing(more, told, code, folder):
    before = thresher("ledger", "show", "--json", cwd=folder).stdout
    done = thresher("diagnose", *ROC, *more, cwd=folder)
    assert done.returncode == code
    assert told in done.stderr
    assert not done.stdout
    after = thresher("ledger", "show", "--json", cwd=folder).stdout
    assert reserved(after) == reserved(before)


def reserved(shown):
    """How often something was charged; a ledger that is not there yet holds nothing."""
    return shown.count('"reserve"') if shown else 0


def test_help_teaches():
    shown = thresher("diagnose", "--help")
    assert shown.returncode == 0
    assert "thresher diagnose roc --table" in shown.stdout
    assert "no picture makes it private" in " ".join(shown.stdout.split())
