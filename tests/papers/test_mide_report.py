"""`python -m papers mide`: its page, its document, and its refusals."""

import json
from pathlib import Path

import pytest
from paper_files.running import papers
from paper_files.stand_in_files import write_cabs, write_campus

from papers.mide.mide_tables import MECHANISMS

ROOT = Path(__file__).parents[2]
NO_DATA = {"THRESHER_DATA": ""}


def test_the_page(tmp_path):
    folder = write_cabs(write_campus(tmp_path))
    shown = papers("mide", "--runs", "1", "--data", str(folder), "--seed", "5")
    assert shown.returncode == 0, shown.stderr
    assert shown.stderr == ""
    lines = shown.stdout.splitlines()
    for line in lines:
        assert len(line) <= 78
        assert line == line.rstrip()
    headings = [line.split(":")[0] for line in lines if " groups, " in line]
    assert headings == ["far", "mid", "near"] * 2 + [f"Q{i}{level}" for i in (1, 2, 3, 4) for level in "HML"]
    assert sum(line.startswith("  reference") for line in lines) == 13
    text = " ".join(shown.stdout.split())
    assert "9/10 of the building's max_occupancy" in text
    assert "it is taken from 8 to 14 March" in text
    assert "This is not a release." in text
    assert "left out" not in text
    assert text.count("ends with a wider half width than the 1 asked for") == 1
    again = papers("mide", "--runs", "1", "--seed", "5", env={"THRESHER_DATA": str(folder)})
    assert again.stdout == shown.stdout


@pytest.mark.parametrize("folder", [None, "."])
def test_without_data_the_made_up_part_is_shown(tmp_path, folder):
    named = ["--data", folder] if folder else []
    shown = papers("mide", "--runs", "1", *named, env=NO_DATA, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    text = " ".join(shown.stdout.split())
    assert "near: 420 groups, 51 above" in text
    assert "Q1 and Q2 are left out" in text
    assert "Q3 and Q4 are left out" in text
    assert "Name the folder with --data or THRESHER_DATA" in text
    assert "Remarks, from these numbers" in text


@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_named_folder_that_is_not_there_is_refused_with_its_path(tmp_path, by):
    nowhere = str(tmp_path / "nowhere")
    named, env = (["--data", nowhere], {}) if by == "option" else ([], {"THRESHER_DATA": nowhere})
    refused = papers("mide", *named, env={**NO_DATA, **env})
    assert refused.returncode == 4
    assert nowhere in refused.stderr
    assert refused.stdout == ""


def test_json_says_the_same():
    shown = papers("mide", "--runs", "1", "--half-width", "3", "--miss-rate", "0.1", "--json", env=NO_DATA)
    document = json.loads(shown.stdout)
    assert document["private"] is False
    assert document["settings"] == {
        "runs": 1,
        "miss_rate": 0.1,
        "false_alarm_rate": 0.1,
        "half_width": 3,
        "first_epsilon": "0.00001",
        "levels": 4,
        "seed": None,
    }
    assert [(table["data"], table["grid"]) for table in document["made_up"]] == [
        (data, grid) for grid in ("fine grid", "whole numbers") for data in ("far", "mid", "near")
    ]
    for table in document["made_up"]:
        assert [row["mechanism"] for row in table["rows"]] == list(MECHANISMS)
        assert all(row["reference"] is None for row in table["rows"])
    assert document["stand_ins"] == []
    assert len(document["left_out"]) == 2
    assert len(document["remarks"]) == 4


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["--runs", "0"], "runs"),
        (["--runs", "many"], "runs"),
        (["--miss-rate", "0.7"], "miss_rate"),
        (["--miss-rate", "x"], "miss_rate"),
        (["--half-width", "0"], "half_width"),
        (["--seed", "1.5"], "seed"),
        (["--nonsense"], None),
    ],
)
def test_bad_options_are_refused(arguments, field):
    refused = papers("mide", *arguments, "--json", env=NO_DATA)
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert json.loads(refused.stderr)["error"]["field"] == field


def test_a_file_that_is_something_else_is_exit_code_four(tmp_path):
    folder = write_campus(tmp_path, "building_id,seats\n002,5\n")
    failed = papers("mide", "--runs", "1", "--data", str(folder))
    assert failed.returncode == 4
    assert "campus_wifi_gt/buildings.csv cannot be read" in failed.stderr
    assert failed.stderr.count("\n") == 1
