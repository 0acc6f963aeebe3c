"""Made-up streams are those of our reference simulation; public ones are read as they are written."""

import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from paper_files.stream_files_made import write_streams

from papers.streams.stream_data import LOADS, MANY, WEEK, campus, loads, multi, wifi
from papers.streams.stream_files import PLACES, public_streams
from thresher.errors import SourceError

FLIGHTS = "us_flights_2001/departures_128_airports_5min.parquet"


@pytest.mark.parametrize(
    ("total", "seed", "realised", "largest", "zeros", "first_week"),
    [
        (2_846, 11, 2_884, 3, 0.954, 89),
        (101_843, 12, 101_634, 39, 0.551, 3_460),
        (2_141_963, 13, 2_142_646, 522, 0.185, 80_469),
    ],
)
def test_one_access_point_is_that_of_the_reference(total, seed, realised, largest, zeros, first_week):
    counts = wifi(57_901, total, seed)
    assert (counts.sum(), counts.max(), counts[:WEEK].sum()) == (realised, largest, first_week)
    assert np.mean(counts == 0) == pytest.approx(zeros, abs=5e-4)
    assert counts.dtype == np.int64


def test_all_numbers_are_the_very_ones():
    """Checksums of the published generators' output; another call or another order would change them."""
    three = loads()
    assert three.series == tuple(LOADS)
    assert three.counts.sum(axis=0).tolist() == [2_930, 101_689, 2_140_489]
    many = campus()
    assert many.counts.shape == (20_000, MANY)
    assert zlib.crc32(np.ascontiguousarray(many.counts)) == 3_713_500_929
    assert (campus(6_000).counts == many.counts[:6_000]).all()
    assert multi(50, 4, 300.0, 6).shape == (4, 50)


def test_public_streams_are_read(tmp_path):
    public = public_streams(write_streams(tmp_path), 30)
    assert public.missing == ()
    singles = {each.name: each for each in public.singles}
    assert list(singles) == list(PLACES)
    assert singles["flights"].series == ("PSG", "FAI", "ORD")
    assert singles["flights"].counts[0].tolist() == [2, 0, 1]
    assert singles["car parks"].counts[5].tolist() == [55, 14, 90]
    assert singles["tweets"].counts[:2].tolist() == [[0, 4, 90], [1, 4, 90]]
    assert [singles[name].counts[3].tolist() for name in ("entrance", "road", "bank", "taxis")] == [
        [1],
        [10],
        [100],
        [1000],
    ]
    assert all(len(each.counts) == 30 for each in (*public.singles, *public.trees))
    trees = {each.name: each for each in public.trees}
    assert [(name, each.counts.shape[1]) for name, each in trees.items()] == [
        ("flights", 4),
        ("car parks", 128),
        ("pedestrians", 16),
    ]
    # Sensor 3 has an hour less than the others, and of those the first 16 are taken.
    assert "sensor 3" not in trees["pedestrians"].series
    assert singles["pedestrians"].series == ("sensor 0", "sensor 9", "sensor 16")
    # The last 30 of 40 steps.
    assert trees["pedestrians"].counts[2, :2].tolist() == [12, 22]


def test_an_hour_without_a_row_counts_nothing(tmp_path):
    place = write_streams(tmp_path) / "melbourne_pedestrians" / "hourly_counts.parquet"
    table = pq.read_table(place)
    pq.write_table(table.filter(pa.compute.less(table["sensor_id"], 16)), place)
    counts = {each.name: each for each in public_streams(tmp_path, 100).trees}["pedestrians"].counts
    assert counts[:3, 3].tolist() == [0, 31, 32]


def test_what_is_not_there_is_named_and_what_does_not_fit_is_refused(tmp_path):
    assert public_streams(None, 10).missing == ("Public streams are left out: no folder of data was named.",)
    some = public_streams(write_streams(tmp_path, singles=False), 10)
    assert [each.name for each in some.singles] == ["flights", "car parks", "pedestrians"]
    assert some.missing[0] == f"{PLACES['tweets']} is left out: the folder of data has no {PLACES['tweets']}."
    with pytest.raises(SourceError, match="is not there"):
        public_streams(tmp_path / "nowhere", 10)
    for table, rule in (
        ({"step": [0], "ORD": [1]}, "columns PSG, FAI, ORD"),
        ({"ORD": [1]}, "a column step"),
        ({"step": [0, 1], "PSG": [1, 1], "FAI": [1, 1], "ORD": [1, -1]}, "counts of 0 or more"),
        ({"step": [0], "PSG": ["x"], "FAI": [1], "ORD": [1]}, "needs the columns"),
        ({"step": pa.array([], pa.int64()), "PSG": pa.array([], pa.int64())}, "counts of 0 or more"),
        ({"step": [0, 1], "PSG": [1, None], "FAI": [1, 1], "ORD": [1, 1]}, "whole number in every row"),
    ):
        pq.write_table(pa.table(table), tmp_path / FLIGHTS)
        with pytest.raises(SourceError, match=rule):
            public_streams(tmp_path, 10)
    (tmp_path / FLIGHTS).write_bytes(b"no parquet")
    with pytest.raises(SourceError, match="a column step"):
        public_streams(tmp_path, 10)
