"""Deviations of stretches: exact, the same in both writings, and as steady as the proof says."""

from fractions import Fraction

import numpy as np
import pytest

from thresher.errors import ArgumentError
from thresher.mechanisms.histograms import deviations as module
from thresher.mechanisms.histograms.deviations import checked_longest, deviations
from thresher.mechanisms.histograms.estimate import FAR


def _by_fractions(cells, length, start, unit):
    stretch = [int(cell) for cell in cells[start : start + length]]
    mean = Fraction(sum(stretch), length)
    return unit * sum(abs(cell - mean) for cell in stretch)


@pytest.fixture(params=["compiled", "arrays"])
def writing(request, monkeypatch):
    if request.param == "arrays":
        monkeypatch.setattr(module, "compiler", lambda: None)
    else:
        pytest.importorskip("numba")


@pytest.mark.parametrize("cells", [1, 2, 3, 7, 33, 100])
@pytest.mark.parametrize("largest", [1, 50, FAR])
def test_every_stretch_is_exact(cells, largest, writing):
    counts = np.random.default_rng(cells).integers(0, largest + 1, cells)
    seen = deviations(counts, 32)
    assert seen.unit == min(32, 1 << (cells.bit_length() - 1))
    for k in range(seen.lengths):
        for start in range(cells - (1 << k) + 1):
            assert seen.costs[k, start] == _by_fractions(counts, 1 << k, start, seen.unit)
        assert not seen.costs[k, cells - (1 << k) + 1 :].any()


@pytest.mark.parametrize(("counts", "deviation"), [((5, 5), 0), ((5, 5, 6, 9), "5.5"), ((0, 0, 5, 5), 10)])
def test_known_deviations(counts, deviation):
    seen = deviations(np.array(counts))
    assert Fraction(int(seen.costs[-1, 0]), seen.unit) == Fraction(deviation)


def test_the_largest_counts_and_longest_stretches_stay_within_64_bits(writing):
    length = 4096
    counts = np.zeros(length, dtype=np.int64)
    counts[::2] = FAR
    seen = deviations(counts, length)
    cut = (1 << 61) // length**2 - 1
    assert seen.costs[-1, 0] == length * cut * length // 2  # half full, half empty
    assert seen.costs.min() >= 0


def test_both_writings_agree_on_chunks_and_their_edges():
    pytest.importorskip("numba")
    counts = np.random.default_rng(0).geometric(0.01, 20_011)
    there = deviations(counts, 16).costs
    fitting = pytest.MonkeyPatch()
    with fitting.context() as patch:
        patch.setattr(module, "compiler", lambda: None)
        here = deviations(counts, 16).costs
    assert (here == there).all()


def test_one_record_moves_a_stretch_by_no_more_than_two_less_two_over_its_length():
    """And that much is reached, so that a smaller bound in the proof would be wrong."""
    rng, reached = np.random.default_rng(5), set()
    for _ in range(30):
        counts = rng.integers(0, 4, 16)
        seen = deviations(counts)
        for j in range(16):
            more = deviations(counts + (np.arange(16) == j))
            moved = np.abs(more.costs - seen.costs)
            for k in range(seen.lengths):
                length, starts = 1 << k, np.arange(16)
                holds = (starts <= j) & (j < starts + length)
                assert not moved[k, ~holds].any()
                assert moved[k].max() <= 2 * seen.unit - 2 * seen.unit // length
                reached |= {k} if moved[k].max() == 2 * seen.unit - 2 * seen.unit // length else set()
    assert reached >= {0, 1, 2, 3}


@pytest.mark.parametrize("longest", [0, 3, -4, 1 << 17, 2.0, True, None, "8"])
def test_the_longest_stretch_is_a_power_of_two(longest):
    with pytest.raises(ArgumentError, match=r"^longest = "):
        checked_longest(longest)
