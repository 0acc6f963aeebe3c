"""`thresher audit attack`: its page, its JSON, its picture, and what it refuses."""

import json
from xml.etree import ElementTree

import pytest
from audit.test_attacks_tables import write_dpbench
from click.testing import CliRunner

from thresher.cli.audit_attack import attack
from thresher.cli.flags import by_flags
from thresher.errors import ArgumentError, SourceError

QUICK = ("--runs", "3", "--seed", "5")


def run(*arguments):
    return CliRunner(env={"THRESHER_DATA": ""}).invoke(attack, [*QUICK, *arguments])


def test_the_page_shows_rates_beside_the_dissertations_and_one_attack(tmp_path):
    shown = run("--data", str(write_dpbench(tmp_path)), "--epsilon", "1", "--epsilon", "0.1")
    assert shown.exit_code == 0, shown.output
    lines = shown.output.splitlines()
    assert all(len(line) <= 78 and line == line.rstrip() for line in lines)
    assert [line for line in lines if line.startswith("HEPTH, epsilon")] == ["HEPTH, epsilon 1", "HEPTH, epsilon 0.1"]
    assert sum(line.startswith("  dissertation") for line in lines) == 8
    assert "  dissertation        0.904             1.000            of 10 runs" in lines
    assert "This is no release." in " ".join(shown.output.split())
    assert "left out" not in shown.output
    assert run("--data", str(tmp_path), "--epsilon", "1", "--epsilon", "0.1").output == shown.output


def test_without_data_made_up_histograms_are_attacked():
    shown = run()
    assert shown.exit_code == 0, shown.output
    assert all(len(line) <= 78 for line in shown.output.splitlines())
    text = " ".join(shown.output.split())
    assert "ADULT, MEDCOST, INCOME, HEPTH are left out: no folder of data was named" in text
    assert "made-up-crowded, one attack, 1 claimed: 9" in text
    assert "  dissertation" not in shown.output


def test_one_made_up_histogram_needs_no_folder_and_lacks_nothing():
    shown = run("--dataset", "made-up-steep")
    assert "left out" not in shown.output
    assert shown.output.count("means of 3 runs") == 1


def test_json_says_the_same_and_the_picture_is_one(tmp_path):
    picture = tmp_path / "attack.svg"
    shown = run("--dataset", "made-up-crowded", "--picture", str(picture), "--json")
    assert shown.exit_code == 0, shown.output
    document = json.loads(shown.output)
    assert document["private"] is False
    assert document["settings"] == {"second_epsilon": None, "passes": None, "runs": 3, "seed": 5}
    (table,) = document["tables"]
    assert [row["attack"] for row in table["rows"]] == ["printed noise", "rounding", "increasing", "both ways"]
    assert document["drawn"]["claimed_epsilon"] == "1"
    assert document["drawn"]["picture"] == str(picture)
    drawn = ElementTree.fromstring(picture.read_text())  # noqa: S314 - our own
    right = round(document["drawn"]["success"]["overall"] * 4096)
    assert f"{right:,} of 4,096 cells found exactly" in "".join(drawn.itertext())
    assert f"The picture is in {picture}" in run("--dataset", "made-up-steep", "--picture", str(picture)).output


def test_noisy_answers_are_told_of_and_claimed_for(tmp_path):
    options = ("--data", str(write_dpbench(tmp_path)), "--dataset", "HEPTH", "--second-epsilon", "0.5", "--passes", "4")
    text = " ".join(run(*options).output.split())
    assert "noise of its own, epsilon 0.5, and is asked for 4 times" in text
    assert "HEPTH, one attack, 1.5 claimed" in text
    settings = json.loads(run(*options, "--json").output)["settings"]
    assert (settings["second_epsilon"], settings["passes"]) == ("0.5", 4)


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (["--epsilon", "0"], "--epsilon = '0'"),
        (["--epsilon", "x"], "--epsilon = 'x'"),
        (["--second-epsilon", "-1"], "--second-epsilon = '-1'"),
        (["--second-epsilon", "infinite"], "--second-epsilon = 'infinite'"),
        (["--second-epsilon", "1", "--passes", "1"], "--passes = 1"),
        (["--runs", "0"], "--runs = 0"),
        (["--dataset", "ATLANTIS"], "--dataset = 'ATLANTIS'"),
        (["--picture", "attack.png"], "--picture = 'attack.png'"),
        (["--picture", "no/such/folder/attack.svg"], "--picture = "),
    ],
)
def test_what_cannot_be_done_is_refused_by_its_flag(arguments, start):
    refused = run(*arguments)
    assert isinstance(refused.exception, ArgumentError)
    assert by_flags(refused.exception, attack).startswith(start)
    assert refused.output == ""


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    assert isinstance(run("--data", str(tmp_path / "nowhere")).exception, SourceError)


def test_help_teaches():
    text = " ".join(run("--help").output.split())
    assert "thresher audit attack --dataset made-up-crowded --picture attack.svg" in text
    assert "Default 100, with noisy answers 3" in text
