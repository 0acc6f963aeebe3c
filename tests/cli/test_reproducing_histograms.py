"""`thresher reproduce histograms`: its page, its JSON, and what it refuses."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from cli.running import thresher
from reproduce.histogram_files import write_histograms

from thresher.mechanisms.histograms import MECHANISMS

ROOT = Path(__file__).parents[2]
NO_DATA = {"THRESHER_DATA": ""}
QUICK = ("reproduce", "histograms", "--runs", "1", "--seed", "5", "--side", "16")


def test_the_page_shows_made_up_and_public_histograms(tmp_path):
    folder = write_histograms(tmp_path)
    shown = thresher(*QUICK, "--data", str(folder))
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert all(len(line) <= 78 and line == line.rstrip() for line in lines)
    for name in MECHANISMS:
        assert sum(line[:17].rstrip() == name for line in lines) == (2 if name == "ag" else 4)
    text = " ".join(shown.stdout.split())
    assert "DPBench: 2 sets of 1 dimension" in text
    assert "This is no release." in text
    assert "left out" not in text
    assert "DPBench: In two dimensions, for cells" in text
    assert sum(line.startswith("dawa published !") for line in lines) == 4
    assert "dawa published is not private" in text
    assert text.count("! leaks: no release") == 4


def test_json_has_every_measurement_and_names_what_is_left_out(tmp_path):
    shown = thresher(*QUICK, "--json", env={"THRESHER_DATA": str(write_histograms(tmp_path, two=False))})
    assert shown.returncode == 0, shown.stderr
    document = json.loads(shown.stdout)
    assert (document["private"], document["runs"], document["seed"]) == (False, 1, 5)
    methods = {one["method"] for one in document["public"] if not one["leaks"]}
    assert methods == set(MECHANISMS) - {"ag"}
    assert set(document["regrets"]) == {"made up", "DPBench"}
    assert all(document["regrets"]["DPBench"]["1"]["cells"][name] >= 1 for name in methods)
    assert {one["method"] for one in document["public"] if one["leaks"]} == {"dawa published"}
    (left_out,) = document["left_out"]
    assert left_out.startswith("dpbench/hist_2d_nonzero.parquet is left out")


def test_without_data_the_made_up_part_is_shown():
    shown = thresher(*QUICK, env=NO_DATA)
    assert shown.returncode == 0, shown.stderr
    text = " ".join(shown.stdout.split())
    assert text.count("no folder of data was named") == 2
    assert "Name the folder with --data or THRESHER_DATA" in text
    assert "DPBench" not in text


def test_bad_options_and_bad_folders_are_refused(tmp_path):
    nowhere = str(tmp_path / "nowhere")
    refused = thresher(*QUICK, "--data", nowhere)
    assert (refused.returncode, refused.stdout) == (4, "")
    assert nowhere in refused.stderr
    few = thresher("reproduce", "histograms", "--runs", "0", "--json", env=NO_DATA)
    assert few.returncode == 2
    assert json.loads(few.stderr)["error"]["field"] == "runs"


def test_make_passes_the_folder_on(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    command = ["make", "--dry-run", "reproduce-histograms", "DATA=some where", "ARGS=--runs 2"]
    # The tests may themselves be run by make, which leaves word for the makes that it calls.
    apart = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    environment = {name: value for name, value in os.environ.items() if name not in apart}
    told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment).stdout
    assert told.splitlines()[-1].endswith('reproduce histograms --data "some where" --runs 2')


def test_help_names_every_option():
    told = thresher("reproduce", "histograms", "--help").stdout
    assert all(option in told for option in ("--data", "--runs", "--side", "--seed", "--json"))
