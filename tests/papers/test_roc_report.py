"""`python -m papers roc`: its page, its JSON, and what it refuses."""

import json

from paper_files.running import papers
from paper_files.text_files import write_texts

from papers.roc.roc_errors import METHODS

QUICK = ("roc", "--runs", "1", "--seed", "5")


def test_the_page_shows_made_up_and_public_rows(tmp_path):
    shown = papers(*QUICK, "--data", str(write_texts(tmp_path)))
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert all(len(line) <= 78 and line == line.rstrip() for line in lines)
    for name in METHODS:
        assert sum(line[:18].rstrip() == name for line in lines) == 4
    text = " ".join(shown.stdout.split())
    assert "TWITTER-like: 684 rows, 385 positive" in text
    assert "SMS: 30 rows" in text
    assert "This is not a release." in text
    assert "left out" not in text
    assert "Printed: medians err less than fixed thresholds. Here medians has the smaller error" in text
    assert sum(line.startswith("  reference") for line in lines) == 4


def test_json_has_every_measurement_and_names_what_is_left_out():
    shown = papers(*QUICK, "--json", env={"THRESHER_DATA": ""})
    assert shown.returncode == 0, shown.stderr
    document = json.loads(shown.stdout)
    assert (document["private"], document["runs"], document["seed"]) == (False, 1, 5)
    assert [each["data"] for each in document["sets"]] == ["TWITTER-like", "SMS-like"]
    assert len(document["errors"]) == 2 * 3 * len(METHODS)
    assert len(document["left_out"]) == 2
    assert document["remarks"]


def test_bad_options_and_bad_folders_are_refused(tmp_path):
    refused = papers(*QUICK, "--data", str(tmp_path / "nowhere"))
    assert (refused.returncode, refused.stdout) == (4, "")
    few = papers("roc", "--runs", "0", "--json", env={"THRESHER_DATA": ""})
    assert few.returncode == 2
    assert json.loads(few.stderr)["error"]["field"] == "runs"
    told = papers("roc", "--help").stdout
    assert all(option in told for option in ("--data", "--runs", "--seed", "--json"))
