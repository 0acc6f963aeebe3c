"""Regret by hand, the sets that are measured, and remarks that follow from the numbers."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from paper_files.histogram_files import write_histograms

from papers.histograms.histogram_sets import HistogramSet, made_up_histograms, public_histograms
from papers.histograms.regrets import EPSILONS, Measured, histogram_remarks, measured, regrets
from thresher.errors import ArgumentError, SourceError
from thresher.mechanisms.histograms import MECHANISMS
from thresher.noise import SeededEntropy


def one(method, cells, data="a", epsilon="1", leaks=False, prefixes=1.0):
    return Measured(data, 1, epsilon, method, leaks, cells, prefixes)


def test_regret_by_hand():
    """Error over the least private error, setting by setting, then the mean; a leak may come out below one."""
    found = [one("x", 2.0), one("y", 6.0), one("leak", 1.0, leaks=True)]
    found += [one("x", 9.0, data="b"), one("y", 3.0, data="b"), one("leak", 3.0, data="b", leaks=True)]
    assert regrets(found, "cells") == {"x": 2.0, "y": 2.0, "leak": 0.75}
    assert regrets(found, "prefixes") == {"x": 1.0, "y": 1.0, "leak": 1.0}


def test_an_error_of_nothing_leaves_the_others_out():
    found = [one("x", 0.0), one("y", 2.0), one("x", 1.0, data="b"), one("y", 2.0, data="b")]
    assert regrets(found, "cells") == {"x": 1.0, "y": 2.0}


def test_errors_are_those_of_cells_and_of_prefixes():
    counts = np.array([4, 0, 2])
    found = measured(
        HistogramSet("three", counts),
        2,
        SeededEntropy(1),
        {"off": lambda cells, _epsilon, _entropy: cells + np.array([1.0, -1.0, 3.0])},
        ("1",),
    )
    last = found[-1]
    assert (last.method, last.leaks) == ("off", True)
    assert last.cells == pytest.approx(5 / 3)
    assert last.prefixes == pytest.approx((1 + 0 + 3) / 3)
    assert [each.method for each in found[:-1]] == [name for name in MECHANISMS if name != "ag"]
    table = measured(HistogramSet("table", counts.reshape(1, 3)), 1, SeededEntropy(1), epsilons=("1",))
    assert [each.method for each in table] == list(MECHANISMS)


def test_more_epsilon_is_less_error_and_runs_are_repeatable():
    data = made_up_histograms()[1]
    found = measured(data, 2, SeededEntropy(4), epsilons=EPSILONS[:2])
    plain = {each.epsilon: each.cells for each in found if each.method == "laplace"}
    # Mean absolute noise of 1,024 draws at scale 1 / epsilon is within a tenth of it, far beyond 1e-6.
    assert plain["0.01"] == pytest.approx(100, rel=0.15)
    assert plain["0.1"] == pytest.approx(10, rel=0.15)
    assert found == measured(data, 2, SeededEntropy(4), epsilons=EPSILONS[:2])
    assert {each.epsilon for each in found} == set(EPSILONS[:2])


@pytest.mark.parametrize("runs", [0, -1, 10_001])
def test_runs_that_cannot_be_are_refused(runs):
    with pytest.raises(ArgumentError, match="runs"):
        measured(made_up_histograms()[0], runs, SeededEntropy(1))


def test_made_up_histograms_are_what_is_said():
    lists, plots = made_up_histograms()[:2], made_up_histograms()[2:]
    assert all(each.counts.shape == (512,) and each.counts.min() >= 0 for each in lists)
    assert all(each.counts.shape == (20, 20) and 4_700 < each.counts.sum() < 5_030 for each in plots)
    even, fan, curve = (each.counts for each in plots)
    spread = [np.count_nonzero(fan[:, column]) for column in (0, 19)]
    assert spread[0] < spread[1]
    assert np.ptp(even.argmax(axis=0)) <= 1 < np.ptp(curve.argmax(axis=0))


def test_public_histograms_are_read(tmp_path):
    public = public_histograms(write_histograms(tmp_path))
    assert public.missing == ()
    assert [(each.name, each.counts.shape) for each in public.found] == [("A", (40,)), ("B", (40,)), ("M", (256, 256))]
    assert public.found[0].counts.sum() == 4 * 900
    assert public.found[2].counts[255, 255] == 3
    part = public_histograms(write_histograms(tmp_path / "one", two=False))
    assert len(part.found) == 2
    assert "hist_2d_nonzero.parquet is left out" in part.missing[0]
    assert len(public_histograms(None).missing) == 2
    coarse = public_histograms(tmp_path, 64).found[2].counts
    assert coarse.shape == (64, 64)
    assert (coarse[0, 1], coarse[63, 63], coarse.sum()) == (5000, 3, 5003)
    with pytest.raises(ArgumentError, match="side"):
        public_histograms(tmp_path, 100)


def test_tables_that_do_not_fit_are_refused(tmp_path):
    write_histograms(tmp_path)
    file = tmp_path / "dpbench" / "hist_2d_nonzero.parquet"
    for row, count in ((256, 1), (-1, 1), (3, -1)):
        pq.write_table(pa.table({"dataset": ["M"], "row": [row], "col": [0], "count": [count]}), file)
        with pytest.raises(SourceError, match="cells numbered from 0"):
            public_histograms(tmp_path)
    pq.write_table(pa.table({"dataset": ["M"]}), file)
    with pytest.raises(SourceError, match="needs the columns"):
        public_histograms(tmp_path)


def test_remarks_follow_from_the_numbers():
    found = [one("x", 2.0, prefixes=9.0), one("y", 6.0), one("leak", 1.0, leaks=True)]
    found += [one("x", 4.0, data="b"), one("y", 4.0, data="b"), one("leak", 8.0, data="b", leaks=True)]
    best, gain = histogram_remarks(found, "leak", ("x", "no such"))
    assert "In one dimension, for cells x has the least average regret, 1, and y the largest, 2;" in best
    assert "for prefixes y has the least average regret, 1, and x the largest, 5." in best
    assert gain.startswith("leak is not private")
    assert "Against x, its error is 1 times as large for cells (smaller in 1 of 2 settings)" in gain
    assert "and 0.333 times as large for prefixes (smaller in 1 of 2 settings), in the geometric mean." in gain
    assert "no such" not in gain
    assert len(histogram_remarks(found, "no such", ("x",))) == 1
