"""`python -m papers histograms`: its page, its JSON, what it refuses, and what was written about it."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from paper_files.histogram_files import write_histograms
from paper_files.running import papers

from papers.histograms import histograms_report
from papers.histograms.histogram_sets import HistogramSet
from thresher.mechanisms.histograms import MECHANISMS

ROOT = Path(__file__).parents[2]
HISTOGRAMS = (ROOT / "docs" / "reproduce.md").read_text().partition("\n## Histograms\n")[2].partition("\n## ")[0]
AUDIT = (ROOT / "docs" / "audit.md").read_text()
NO_DATA = {"THRESHER_DATA": ""}
QUICK = ("histograms", "--runs", "1", "--seed", "5", "--side", "16")


def test_the_page_shows_made_up_and_public_histograms(tmp_path):
    folder = write_histograms(tmp_path)
    shown = papers(*QUICK, "--data", str(folder))
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert all(len(line) <= 78 and line == line.rstrip() for line in lines)
    for name in MECHANISMS:
        assert sum(line[:17].rstrip() == name for line in lines) == (2 if name == "ag" else 4)
    text = " ".join(shown.stdout.split())
    assert "DPBench: 2 sets of 1 dimension" in text
    assert "This is not a release." in text
    assert "left out" not in text
    assert "DPBench: In two dimensions, for cells" in text
    assert sum(line.startswith("dawa published !") for line in lines) == 4
    assert "dawa published is not private" in text
    assert text.count("! leaks: not a release") == 4


def test_json_has_every_measurement_and_names_what_is_left_out(tmp_path, monkeypatch):
    few = HistogramSet("few", np.arange(20))
    monkeypatch.setattr(histograms_report, "made_up_histograms", lambda: (few,))
    shown = papers(*QUICK, "--json", env={"THRESHER_DATA": str(write_histograms(tmp_path, two=False))})
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


def test_without_data_the_made_up_part_is_shown_as_the_page_has_it():
    """Every mechanism has a part in that table, and each draws from the same seed: a change of one of them shows."""
    shown = papers("histograms", "--seed", "1", env=NO_DATA)
    assert shown.returncode == 0, shown.stderr
    text = " ".join(shown.stdout.split())
    assert text.count("no folder of data was named") == 2
    assert "Name the folder with --data or THRESHER_DATA" in text
    assert "DPBench" not in text
    plots = shown.stdout.partition("made up: 3 sets of 2 dimensions\n")[2].partition("\n!")[0].splitlines()[2:]
    printed = {line[:17].rstrip(): line[17:].split() for line in plots}
    assert set(printed) == {*MECHANISMS, "dawa published !"}
    assert printed == table_on_the_page("Three made-up residual plots"), "docs/reproduce.md is stale: measure anew"


def table_on_the_page(start):
    rows = HISTOGRAMS.partition(start)[2].partition("|---|")[2].partition("\n\n")[0].splitlines()[1:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {name: [number for number in numbers if number] for name, *numbers in cells}


@pytest.mark.parametrize(("start", "dimensions"), [("Seven lists", "one dimension"), ("Five maps", "two dimensions")])
def test_remarks_on_the_page_fit_its_tables(start, dimensions):
    remark = re.search(rf"- In {dimensions}, (.*?)\.\n(?=-)", HISTOGRAMS, re.DOTALL)[1]
    private = {name: numbers for name, numbers in table_on_the_page(start).items() if "!" not in name}
    for column, part in zip((3, 7), " ".join(remark.split()).split("; "), strict=True):
        said = re.fullmatch(r"for \w+ (\S+) has the least average regret, (\S+), and (\S+) the largest, (\S+)", part)
        best, least, worst, most = said.groups()
        assert private[best][column] == least == min((numbers[column] for numbers in private.values()), key=value)
        assert value(private[worst][column]) == max(value(numbers[column]) for numbers in private.values())
        # The table has thousands to a tenth.
        assert value(private[worst][column]) == pytest.approx(value(most), abs=50 if most.count(",") else 0)


def value(number):
    return float(number.removesuffix("k").replace(",", "")) * (1000 if number.endswith("k") else 1)


def test_both_pages_say_the_same_of_what_a_leak_gains():
    remark, paragraph = HISTOGRAMS.partition("- dawa published")[2], AUDIT.partition("**What the leak changes.**")[2]
    by_sister = re.findall(r"([\d.]+)\s+times\s+as\s+large\s+for\s+(\w+)", remark)
    assert [kind for _, kind in by_sister] == ["cells", "prefixes"] * 2
    told = re.findall(r"\d\.\d+", paragraph.partition("\n\n")[0])
    assert told == [ratio for wanted in ("cells", "prefixes") for ratio, kind in by_sister if kind == wanted]


def test_bad_options_and_bad_folders_are_refused(tmp_path):
    nowhere = str(tmp_path / "nowhere")
    refused = papers(*QUICK, "--data", nowhere)
    assert (refused.returncode, refused.stdout) == (4, "")
    assert nowhere in refused.stderr
    few = papers("histograms", "--runs", "0", "--json", env=NO_DATA)
    assert few.returncode == 2
    assert json.loads(few.stderr)["error"]["field"] == "runs"


def test_help_names_every_option():
    told = papers("histograms", "--help").stdout
    assert all(option in told for option in ("--data", "--runs", "--side", "--seed", "--json"))
