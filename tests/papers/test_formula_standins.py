"""Readers of the public data on which formulas are asked, and what is said about the numbers."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from paper_files.formula_files import PEOPLE, write_all, write_lines, write_people, write_sales, write_trips

from papers.probe.formula_remarks import formula_remarks
from papers.probe.formula_standins import ABOUT, FILES, formula_stand_ins
from papers.probe.formulas import METHODS, SHAPES, Cell, measured
from thresher.errors import SourceError
from thresher.noise import SeededEntropy

REAL = os.environ.get("THRESHER_DATA")


def only(folder):
    ((counted, shapes),) = formula_stand_ins(folder).found.values()
    return counted, shapes


def occurring(counted, rows):
    """The groups that have anything, by row and place, with the counts of every condition."""
    counts = counted.counts.reshape(len(counted.counts), rows, -1)
    return {
        (int(i), int(j)): counts[:, i, j].astype(int).tolist() for i, j in zip(*counts.any(0).nonzero(), strict=True)
    }


def test_trips_are_counted_by_region_and_day(tmp_path):
    counted, shapes = only(write_trips(tmp_path))
    assert counted.counts.shape == (3, 34 * 14)
    # A fare of 20 is not above 20; what is missing satisfies no condition, but is a trip.
    assert occurring(counted, 34) == {(0, 0): [5, 3, 3], (33, 13): [5, 0, 1]}
    assert (counted.thresholds.tolist(), counted.ranges.tolist()) == ([1444, 210, 614], [4000, 500, 2000])
    assert shapes == ("AND2", "OR2", "AND3")


def test_people_are_counted_by_location_and_hour(tmp_path):
    counted, shapes = only(write_people(tmp_path))
    assert counted.counts.shape == (2, 3 * 24)
    assert occurring(counted, 3) == {(0, 23): [501, 30], (1, 0): [117, 24]}
    assert (counted.thresholds.tolist(), counted.ranges.tolist()) == ([116, 24], [500, 100])
    assert counted.truth(SHAPES["AND2"]).nonzero()[0].tolist() == [23]
    assert counted.truth(SHAPES["OR2"]).nonzero()[0].tolist() == [23, 24]
    assert shapes == ("AND2", "OR2")


def test_lines_are_counted_by_item_and_day_that_is_no_saturday(tmp_path):
    counted, shapes = only(write_lines(tmp_path))
    assert counted.counts.shape == (2, 43 * 14)
    # Items 043 and 044 have fewer lines than 43 others; 042 has overtaken two. The sixth day is the Sunday.
    assert occurring(counted, 43) == {(0, 0): [3, 2], (1, 5): [1, 1], (40, 13): [3, 0]}
    assert (counted.thresholds.tolist(), counted.ranges.tolist()) == ([15, 7], [50, 20])
    assert shapes == ("AND2", "OR2")
    assert only(write_lines(tmp_path, 2))[0].counts.shape[1] % 14 == 0


def test_sales_are_counted_by_mall_and_day(tmp_path):
    counted, shapes = only(write_sales(tmp_path))
    assert counted.counts.shape == (3, 3 * 61)
    # Cevahir has no sale in these days, and its groups count 0.
    assert occurring(counted, 3) == {(1, 0): [6, 4, 6], (2, 60): [2, 1, 0]}
    assert (counted.thresholds.tolist(), counted.ranges.tolist()) == ([28, 17, 11], [100, 50, 50])
    assert shapes == ("AND3", "OR2")


def test_small_files_make_whole_tables(tmp_path, entropy):
    found = formula_stand_ins(write_all(tmp_path))
    assert list(found.found) == list(ABOUT) == list(FILES)
    assert not found.missing
    for counted, shapes in found.found.values():
        for shape in shapes:
            cells = [measured(method, SHAPES[shape], counted, 1, entropy) for method in METHODS]
            assert [cell.method for cell in cells] == list(METHODS)
            assert all(cell.epsilon is None or cell.epsilon > 0 for cell in cells)


def test_what_is_missing_is_said(tmp_path):
    assert [sentence.split(":")[0] for sentence in formula_stand_ins(None).missing] == [
        f"{source} is left out" for source in FILES
    ]
    empty = formula_stand_ins(tmp_path)
    assert not empty.found
    assert "no online_retail_uk/lines.parquet. It needs online_retail_uk/lines.parquet." in empty.missing[2]
    with pytest.raises(SourceError, match=r"the folder of data .*nowhere is not there"):
        formula_stand_ins(tmp_path / "nowhere")
    assert [sentence.split()[0] for sentence in formula_stand_ins(write_people(tmp_path)).missing] == [
        "nyc_green_taxi_2020",
        "online_retail_uk",
        "istanbul_mall_sales",
    ]


def test_a_file_that_is_something_else_is_named(tmp_path):
    for text in (PEOPLE.replace("people", "crowd"), PEOPLE.replace(",117", ",many"), ""):
        with pytest.raises(SourceError, match=r"campus_wifi_nus/hourly_people\.csv cannot be read.*people \(int64\)"):
            formula_stand_ins(write_people(tmp_path, text))
    write_people(tmp_path)
    for source in ("nyc_green_taxi_2020", "online_retail_uk", "istanbul_mall_sales"):
        ((name, columns),) = FILES[source].items()
        path = tmp_path / source / name
        path.parent.mkdir()
        for table in (pa.table({"other": [1]}), pa.table({column: ["x"] for column in columns})):
            pq.write_table(table, path)
            with pytest.raises(SourceError, match=f"{source}/{name} cannot be read"):
                formula_stand_ins(tmp_path)
        path.unlink()


def test_the_page_names_every_file_and_column():
    page = (Path(__file__).parents[2] / "docs" / "reproduce.md").read_text()
    for source, files in FILES.items():
        for name, columns in files.items():
            (line,) = [line for line in page.splitlines() if line.startswith(f"| `{source}/{name}` |")]
            assert all(f"`{column}`" in line for column in columns)


@pytest.mark.skipif(not REAL, reason="THRESHER_DATA names no folder")
def test_the_real_stand_ins():
    """Means and groups above, by condition, as published with the data."""
    found = formula_stand_ins(Path(REAL))
    if found.missing:
        pytest.skip("THRESHER_DATA is a folder without the public data sets")
    facts = {}
    for source, (counted, shapes) in found.found.items():
        above = (counted.slacks >= 0).sum(axis=1).tolist()
        facts[source] = (counted.counts.shape[1], counted.counts.mean(axis=1).round(2).tolist(), above)
        assert np.all(counted.counts.max(axis=1) <= counted.ranges)
        # Fixed seed: nothing can fail by accident.
        for shape in shapes:
            ours, theirs = (measured(m, SHAPES[shape], counted, 2, SeededEntropy(1)) for m in ("certified", "probe"))
            assert not ours.denied + ours.broken + ours.wider
            assert theirs.epsilon is None or ours.epsilon <= theirs.epsilon
    assert facts == {
        "nyc_green_taxi_2020": (476, [365.78, 69.2, 132.28], [21, 27, 30]),
        "campus_wifi_nus": (1320, [19.31, 4.69], [60, 53]),
        "online_retail_uk": (602, [6.7, 2.27], [29, 33]),
        "istanbul_mall_sales": (610, [12.36, 7.47, 4.49], [26, 33, 32]),
    }


class TestRemarks:
    THEIRS = Cell("probe", 0.5, 0.0, 0.0, 0, 0, 0, 10)
    OURS = Cell("certified", 0.05, 0.0, 0.0, 0, 0, 0, 10)
    DENIED = replace(THEIRS, epsilon=None, denied=10)

    def test_cheaper_everywhere(self):
        dear = replace(self.THEIRS, epsilon=0.1)
        public = {"cabs": {"AND2": [self.THEIRS, self.OURS], "OR2": [self.DENIED, self.OURS]}}
        against, kept = formula_remarks({}, public | {"shop": {"AND3": [dear, self.OURS]}})
        assert against == (
            "On public data, ProBE denies every run of 1 of 3 questions. Of the 2 that both answer, certified is dearer"
            " in none. Elsewhere it costs 2.0 to 10.0 times less."
        )
        assert "ProBE breaks its promise in 0 of 20 answers and denies 10 of 30 runs" in kept
        assert "certified breaks its own in 0 of 30, and certifies more than 0.1 in 0 of 30." in kept

    def test_dearer_is_told_by_name(self):
        dear, rash = replace(self.OURS, epsilon=2.67, wider=4, broken=1), replace(self.THEIRS, epsilon=0.031, broken=7)
        made_up, public = {"at: the line": {"AND1": [rash, dear]}}, {"cabs": {"AND2": [self.DENIED, self.OURS]}}
        on_made_up, on_public, kept = formula_remarks(made_up, public)
        assert "certified is dearer in 1 (AND1 on at, 2.67 against 0.031)." in on_made_up
        assert "times less" not in on_made_up
        assert on_public == "On public data, ProBE denies every run of 1 of 1 questions."
        assert "in 7 of 10 answers" in kept
        assert "breaks its own in 1 of 20, and certifies more than 0.1 in 4 of 20" in kept

    def test_nothing_measured_nothing_said(self):
        assert formula_remarks({"a": {}}, {}) == ()
