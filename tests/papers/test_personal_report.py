"""`python -m papers personal`: its page, its JSON, and what it refuses."""

import json

from paper_files.census_files_made import write_censuses
from paper_files.running import papers

QUICK = ("personal", "--runs", "2", "--model-runs", "1", "--people", "100", "--seed", "5")


def test_the_page_shows_made_up_people_and_censuses(tmp_path):
    (write_censuses(tmp_path, people=60) / "census_us_acs" / "persons.parquet").unlink()
    (tmp_path / "census_us_1980_mothers" / "mothers.parquet").unlink()
    page = papers(*QUICK, "--data", str(tmp_path))
    assert page.returncode == 0, page.stderr
    lines = page.stdout.splitlines()
    assert all(len(line) <= 78 and line == line.rstrip() for line in lines)
    shares = [line.removeprefix("Shares: ") for line in lines if line.startswith("Shares: ")]
    assert shares == ["made up, 100", "Brazil, all", "Brazil, 2"]
    assert sum(line.startswith("Models: ") for line in lines) == 2 * 2
    assert sum(line.startswith("Samples by threshold") for line in lines) == 2 * 2
    assert sum(line.startswith("all zero") for line in lines) == len(shares) + 1  # and where estimates lean
    # So few people have no reference to stand beside.
    assert not any(line.startswith("  reference") for line in lines)
    text = " ".join(page.stdout.split())
    assert "This is not a release." in text
    assert "census_us_1980_mothers/mothers.parquet is left out" in text
    assert "Printed: sampling is best where the threshold is the mean budget." in text


def test_json_has_every_measurement_of_the_wanted_parts_and_names_what_is_left_out():
    asked = papers(*QUICK, "--part", "sweep", "--json", env={"THRESHER_DATA": ""})
    document = json.loads(asked.stdout)
    assert (document["private"], document["runs"], document["model_runs"], document["seed"]) == (False, 2, 1, 5)
    assert [each["name"] for each in document["sets"]] == ["made up, 100"]
    assert [one["law"] for one in document["sweep"]] == ["uniform"] * 10 + ["normal"] * 11
    assert not document["counts"] + document["lean"] + document["models"] + document["model_sweep"]
    assert document["left_out"] == ["Census data are left out: no folder of data was named."]
    assert document["remarks"]


def test_bad_options_and_bad_folders_are_refused(tmp_path):
    refused = papers(*QUICK, "--data", str(tmp_path / "nowhere"))
    assert (refused.returncode, refused.stdout) == (4, "")
    for option, value in (("--model-runs", "0"), ("--people", "99")):
        few = papers("personal", option, value, "--json", env={"THRESHER_DATA": ""})
        assert few.returncode == 2
        assert json.loads(few.stderr)["error"]["field"] in ("runs", "people")
