"""Readers of the public data that stand in for the paper's: what they count, and what they say where it is missing."""

import os
import shutil
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from paper_files.stand_in_files import BUILDINGS, write_cabs, write_campus

from papers.mide.mide_standins import FILES, stand_ins
from papers.mide.mide_tables import MECHANISMS, WHOLE, Settings, table_of
from thresher.errors import SourceError
from thresher.noise import SeededEntropy

REAL = os.environ.get("THRESHER_DATA")


def named(found):
    return {data.name: data for sets in found.found.values() for data in sets}


def test_the_campus_is_counted_by_building_and_hour(tmp_path):
    found = stand_ins(write_campus(tmp_path))
    sets = named(found)
    assert list(sets) == ["Q1H", "Q1M", "Q1L", "Q2H", "Q2M", "Q2L"]
    monday, tuesday = sets["Q1M"].counts.reshape(3, 15), sets["Q2M"].counts.reshape(3, 15)
    assert {(int(b), int(h)): int(monday[b, h]) for b, h in zip(*monday.nonzero(), strict=True)} == {
        (0, 0): 91,  # the most of the hour
        (0, 14): 73,
    }
    assert {(int(b), int(h)): int(tuesday[b, h]) for b, h in zip(*tuesday.nonzero(), strict=True)} == {(1, 0): 7}
    # 9/10 of 100 devices, of which 1, 0.8 and 0.6; every hour of a building has its threshold.
    for level, lines in {"H": (90, "6.3", "1.8"), "M": (72, "5.04", "1.44"), "L": (54, "3.78", "1.08")}.items():
        assert sets[f"Q1{level}"].thresholds == tuple(Fraction(line) for line in lines for _ in range(15))
    assert [(sets[name].margins >= 0).sum() for name in sets] == [1, 2, 2, 1, 1, 1]
    assert len(found.missing) == 1


def test_the_cabs_are_counted_by_region_and_day(tmp_path):
    sets = named(stand_ins(write_cabs(tmp_path)))
    assert list(sets) == ["Q3H", "Q3M", "Q3L", "Q4H", "Q4M", "Q4L"]
    before, after = sets["Q3H"].counts.reshape(34, 14), sets["Q4H"].counts.reshape(34, 16)
    assert {(int(r), int(d)): int(before[r, d]) for r, d in zip(*before.nonzero(), strict=True)} == {
        (0, 0): 12,
        (0, 13): 10,
    }
    assert {(int(r), int(d)): int(after[r, d]) for r, d in zip(*after.nonzero(), strict=True)} == {
        (0, 0): 11,
        (33, 15): 3,
    }
    # The busiest day of 8 to 14 March has 10 trips in region 1, and none elsewhere.
    assert sets["Q3M"].thresholds == (Fraction(8),) * 14 + (Fraction(0),) * 33 * 14
    assert sets["Q4L"].thresholds == (Fraction(6),) * 16 + (Fraction(0),) * 33 * 16
    assert [(sets[name].margins >= 0).sum() for name in sets] == [1, 2, 2, 2, 2, 2]


def test_small_files_make_whole_tables(tmp_path, entropy):
    for data in named(stand_ins(write_cabs(write_campus(tmp_path)))).values():
        table = table_of(data, WHOLE, Settings(1), entropy)
        assert [row.mechanism for row in table.rows] == list(MECHANISMS)
        assert table.above == (data.margins >= 0).sum()


def test_what_is_missing_is_said(tmp_path):
    both = stand_ins(None).missing
    assert [sentence.split(":")[0] for sentence in both] == ["Q1 and Q2 are left out", "Q3 and Q4 are left out"]
    assert all("no folder of data was named" in sentence for sentence in both)
    assert stand_ins(tmp_path).found == {}
    with pytest.raises(SourceError, match=r"the folder of data .*nowhere\\x1b is not there: name another"):
        stand_ins(tmp_path / "nowhere\x1b")
    assert "has no campus_wifi_gt/occupancy_10min.parquet" in stand_ins(tmp_path).missing[0]
    assert "They need nyc_green_taxi_2020/trips.parquet." in stand_ins(tmp_path).missing[1]
    write_campus(tmp_path)
    (tmp_path / "campus_wifi_gt" / "buildings.csv").unlink()
    assert "has no campus_wifi_gt/buildings.csv" in stand_ins(tmp_path).missing[0]
    write_cabs(tmp_path)
    assert list(stand_ins(tmp_path).found) == ["nyc_green_taxi_2020"]
    assert [sentence[:9] for sentence in stand_ins(tmp_path).missing] == ["Q1 and Q2"]


@pytest.mark.parametrize(
    "buildings",
    [
        BUILDINGS.replace("max_occupancy", "seats"),
        BUILDINGS.replace(",100,", ",many,"),
        "",
        "building_id\n1,2\n",
    ],
)
def test_a_table_of_buildings_that_is_something_else_is_named(tmp_path, buildings):
    with pytest.raises(SourceError, match=r"campus_wifi_gt/buildings\.csv cannot be read.*max_occupancy \(int64\)"):
        stand_ins(write_campus(tmp_path, buildings))


def test_trips_that_are_something_else_are_named(tmp_path):
    trips = write_cabs(tmp_path) / "nyc_green_taxi_2020" / "trips.parquet"
    for write in (
        lambda: trips.write_bytes(b"no parquet"),
        lambda: pq.write_table(pa.table({"pickup_time": [1]}), trips),
        lambda: pq.write_table(pa.table({"pickup_time": ["soon"], "pickup_region": [1]}), trips),
        lambda: pq.write_table(pa.table({"pickup_time": [1], "pickup_region": ["north"]}), trips),
    ):
        write()
        with pytest.raises(SourceError, match=r"nyc_green_taxi_2020/trips\.parquet cannot be read.*pickup_region"):
            stand_ins(tmp_path)
    shutil.rmtree(trips.parent)
    assert len(stand_ins(tmp_path).missing) == 2


def test_the_page_names_every_file_and_column():
    page = (Path(__file__).parents[2] / "docs" / "reproduce.md").read_text()
    for source, files in FILES.items():
        for name, columns in files.items():
            (line,) = [line for line in page.splitlines() if line.startswith(f"| `{source}/{name}` |")]
            assert all(f"`{column}`" in line for column in columns)


@pytest.mark.skipif(not REAL, reason="THRESHER_DATA names no folder")
def test_the_real_stand_ins():
    """Groups and mean counts as published with the data; the groups above were counted once with other code."""
    found = stand_ins(Path(REAL))
    if found.missing:
        pytest.skip("THRESHER_DATA is a folder without the public data sets")
    sets = named(found)
    facts = {name: (data.counts.size, round(float(data.counts.mean()), 2)) for name, data in sets.items()}
    assert {name: facts[f"{name}H"] for name in ("Q1", "Q2", "Q3", "Q4")} == {
        "Q1": (2550, 89.49),
        "Q2": (2550, 83.49),
        "Q3": (476, 365.78),
        "Q4": (544, 86.88),
    }
    above = [(int((data.margins >= 0).sum())) for data in sets.values()]
    assert above == [213, 790, 1474, 184, 573, 1144, 97, 293, 362, 0, 6, 20]
    table = table_of(sets["Q3L"], WHOLE, Settings(2), SeededEntropy(1))
    assert table.row("dppwlm strict").half_width == 1
