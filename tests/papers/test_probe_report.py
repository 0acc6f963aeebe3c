"""`python -m papers probe`: its page, its JSON, and what it refuses."""

import json
from pathlib import Path

import pytest
from paper_files.formula_files import write_all, write_people
from paper_files.running import papers

from papers.probe.formula_standins import FILES
from papers.probe.formulas import METHODS

ROOT = Path(__file__).parents[2]
NO_DATA = {"THRESHER_DATA": ""}
QUICK = ("probe", "--runs", "1", "--seed", "5", "--shape", "AND2")


def test_the_page_shows_made_up_groups_and_stand_ins(tmp_path):
    folder = write_all(tmp_path)
    shown = papers(*QUICK, "--data", str(folder))
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert all(len(line) <= 78 and line == line.rstrip() for line in lines)
    # Three kinds of made-up groups have two conditions or more; the malls are asked other formulas.
    assert sum(line.startswith("AND2 ") for line in lines) == 3 + 3
    assert [line for line in lines if line in FILES] == ["nyc_green_taxi_2020", "campus_wifi_nus", "online_retail_uk"]
    text = " ".join(shown.stdout.split())
    assert "the 43 items with most lines" in text
    assert "This is not a release." in text
    assert "left out" not in text
    assert "On public data, ProBE denies" in text
    again = papers(*QUICK, env={"THRESHER_DATA": str(folder)})
    assert again.stdout == shown.stdout


def test_json_says_the_same_and_names_what_is_left_out(tmp_path):
    shown = papers(*QUICK, "--data", str(write_people(tmp_path)), "--json")
    assert shown.returncode == 0, shown.stderr
    document = json.loads(shown.stdout)
    assert (document["private"], document["runs"], document["seed"]) == (False, 1, 5)
    assert len(document["tables"]) == 5
    ((source, rows),) = document["stand_ins"].items()
    assert source == "campus_wifi_nus"
    assert [cell["method"] for cell in rows["AND2"]] == list(METHODS)
    assert [sentence.split()[0] for sentence in document["left_out"]] == [one for one in FILES if one != source]
    assert len(document["remarks"]) == 3


def test_without_data_the_made_up_part_is_shown():
    shown = papers(*QUICK, env=NO_DATA)
    text = " ".join(shown.stdout.split())
    assert text.count("no folder of data was named") == len(FILES)
    assert "Name the folder with --data or THRESHER_DATA" in text
    assert "On made-up groups, ProBE denies" in text
    assert "On public data" not in text


@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_named_folder_that_is_not_there_is_refused_with_its_path(tmp_path, by):
    nowhere = str(tmp_path / "nowhere")
    named, env = (["--data", nowhere], {}) if by == "option" else ([], {"THRESHER_DATA": nowhere})
    refused = papers(*QUICK, *named, env={**NO_DATA, **env})
    assert refused.returncode == 4
    assert nowhere in refused.stderr
    assert refused.stdout == ""


def test_a_file_that_is_something_else_is_exit_code_four(tmp_path):
    failed = papers(*QUICK, "--data", str(write_people(tmp_path, "week,hour\nweek 4,5\n")))
    assert failed.returncode == 4
    assert "campus_wifi_nus/hourly_people.csv cannot be read" in failed.stderr
    assert failed.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "field"),
    [(["--runs", "0"], "runs"), (["--runs", "10001"], "runs"), (["--shape", "AND9"], "shape")],
)
def test_bad_options_are_refused(arguments, field):
    refused = papers("probe", *arguments, "--json", env=NO_DATA)
    assert refused.returncode == 2
    assert json.loads(refused.stderr)["error"]["field"] == field
