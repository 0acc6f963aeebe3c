"""`python -m papers` and `make reproduce`: what they teach, what they pass on, and that the product knows neither."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
from cli.running import thresher
from paper_files.running import ROOT, papers

PAPERS = ("mide", "probe", "histograms", "roc", "streams", "personal")


@pytest.mark.parametrize("paper", [None, *PAPERS])
def test_the_commands_teach(paper):
    shown = papers(*([paper] if paper else []), "--help")
    assert shown.returncode == 0
    assert "Usage: python -m papers" in shown.stdout
    if paper is None:
        assert re.findall(r"^  (\w+)  ", shown.stdout.partition("Commands:")[2], re.MULTILINE) == sorted(PAPERS)
    else:
        assert all(option in shown.stdout for option in ("--data", "--runs", "--seed", "--json"))


def test_it_runs_as_a_module_of_the_project():
    command = [sys.executable, "-m", "papers", "mide", "--runs", "0", "--json"]
    refused = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert refused.returncode == 2, refused.stderr
    assert json.loads(refused.stderr)["error"]["field"] == "runs"


def test_the_product_has_no_such_command():
    refused = thresher("reproduce", "mide")
    assert refused.returncode == 2
    assert "No such command" in refused.stderr


def test_the_wheel_holds_the_product_only():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert build == {"packages": ["src/thresher"]}


def made(folder, *given):
    """The commands that `make reproduce` would run for a project in `folder`."""
    folder.mkdir(exist_ok=True)
    shutil.copy(ROOT / "Makefile", folder)
    (folder / "pyproject.toml").touch()
    # The tests may themselves be run by make, which leaves word for the makes that it calls.
    apart = ("DATA", "PAPER", "THRESHER_DATA", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    environment = {name: value for name, value in os.environ.items() if name not in apart}
    command = ["make", "--dry-run", "reproduce", *given]
    told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder, env=environment).stdout
    line = re.fullmatch(r"for paper in (.*); do .* -m papers \$paper (.*) \|\| exit 1; .*", told.splitlines()[-1])
    return line[1], line[2].strip()


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        (["DATA=some where"], '--data "some where"'),
        (["DATA="], ""),
        (["THRESHER_DATA=elsewhere"], ""),
        (["THRESHER_DATA=elsewhere", "DATA=here"], '--data "here"'),
        (["DATA=here", "ARGS=--runs 2"], '--data "here" --runs 2'),
        ([], '--data "../shared/data"'),
    ],
)
def test_make_passes_a_folder_on_only_if_there_is_one(tmp_path, given, passed):
    """Beside the project lies a folder of data, which is taken if nobody names another."""
    (tmp_path / "shared" / "data").mkdir(parents=True)
    named, options = made(tmp_path / "project", *given)
    assert named.split() == list(PAPERS)
    assert options == passed


def test_make_measures_the_paper_that_is_named(tmp_path):
    assert made(tmp_path, "PAPER=mide", "DATA=") == ("mide", "")
