"""`python -m papers streams`: its page, its JSON, and what it refuses."""

import json

from paper_files.running import papers
from paper_files.stream_files_made import write_streams

from papers.streams.stream_tables import shown
from papers.streams.stream_trees import METHODS

QUICK = ("streams", "--runs", "1", "--steps", "100", "--seed", "5")


def test_the_page_shows_made_up_and_public_streams(tmp_path):
    page = papers(*QUICK, "--data", str(write_streams(tmp_path)))
    assert page.returncode == 0, page.stderr
    lines = page.stdout.splitlines()
    assert all(len(line) <= 78 and line == line.rstrip() for line in lines)
    heads = [line for line in lines if line.startswith(("Counts:", "Windows:", "Events:", "Trees:"))]
    assert sum(line.startswith("Trees:") for line in heads) == 2 * 4
    assert {"Counts: flights", "Counts: one series each", "Windows: flights, PSG, epsilon 0.01"} <= set(heads)
    assert sum(line.startswith("all zero") for line in lines) == len(heads)  # beside every table
    text = " ".join(page.stdout.split())
    assert "This is not a release." in text
    assert "left out" not in text
    assert "Printed: PeGaSus is best everywhere." in text
    assert sum(line.startswith("  reference") for line in lines) >= 5


def test_json_has_every_measurement_of_the_wanted_parts_and_names_what_is_left_out():
    asked = papers(*QUICK, "--part", "counts", "--part", "trees", "--json", env={"THRESHER_DATA": ""})
    document = json.loads(asked.stdout)
    assert (document["private"], document["runs"], document["tree_runs"], document["seed"]) == (False, 1, 1, 5)
    assert [each["name"] for each in document["sets"]] == ["access points"]
    assert {one["epsilon"] for one in document["counts"]} == {"0.1", "0.01"}
    assert len(document["trees"]) == 2 * len(METHODS)
    assert not document["windows"] + document["events"]
    assert document["left_out"] == ["Public streams are left out: no folder of data was named."]
    assert document["remarks"]


def test_bad_options_and_bad_folders_are_refused(tmp_path):
    refused = papers(*QUICK, "--data", str(tmp_path / "nowhere"))
    assert (refused.returncode, refused.stdout) == (4, "")
    for option, value in (("--tree-runs", "0"), ("--steps", "60000")):
        few = papers("streams", option, value, "--json", env={"THRESHER_DATA": ""})
        assert few.returncode == 2
        assert json.loads(few.stderr)["error"]["field"] in ("runs", "steps")


def test_numbers_keep_their_width():
    numbers = (0.00123, 0.2247, 1.0, 9.99996, 61.34, 801.0, 9999.4, 18_912.0, 1_234_567.0)
    assert [shown(value) for value in numbers] == [
        "0.0012", "0.2247", "1.000", "10.000", "61.34", "801.0", "9999", "18.9k", "1235k"
    ]  # fmt: skip
