"""Distances of samples and histograms: against scipy, by hand, and bad input."""

import numpy as np
import pytest
from scipy import stats

from papers.residuals.residual_shape import FLAT, Shape, shape_difference, shape_of
from papers.residuals.sample_distance import ks_distance, shares_in, total_variation
from thresher.errors import ArgumentError


def test_ks_distance_is_scipys(trials):
    draws = np.random.default_rng(4)
    for _ in range(trials(200, 2_000)):
        first, second = (draws.integers(0, 12, draws.integers(1, 40)) for _ in range(2))
        assert ks_distance(first, second) == pytest.approx(stats.ks_2samp(first, second).statistic, abs=1e-12)


def test_ks_distance_by_hand():
    assert ks_distance([1, 2, 3], [4, 5]) == 1
    assert ks_distance([1, 2, 3], [3, 2, 1]) == 0
    assert ks_distance([0, 1], [1, 2, 3, 4]) == 0.75
    assert ks_distance([-np.inf, 0], [0, np.inf]) == 0.5


def test_total_variation_by_hand():
    assert total_variation([1, 1], [2, 2]) == 0
    assert total_variation([3, 0], [0, 5]) == 1
    assert total_variation([[1, 1], [2, 0]], [[1, 1], [0, 2]]) == 0.5
    assert total_variation([0, 0], [1, 0]) == total_variation([1, 0], [0, 0]) == 1
    assert total_variation([0, 0], [0, 0]) == 0


def test_total_variation_with_what_lies_outside_is_the_printed_formula():
    draws = np.random.default_rng(5)
    true, seen = draws.normal(size=(500, 2)), draws.normal(scale=2, size=(400, 2))
    edges = np.linspace(-4, 4, 11), np.linspace(-4, 4, 11)
    inside = [np.histogram2d(*each.T, bins=edges)[0] / len(each) for each in (true, seen)]
    assert inside[0].sum() == 1 > inside[1].sum()
    printed = (np.abs(inside[0] - inside[1]).sum() + 1 - inside[1].sum()) / 2
    assert total_variation(shares_in(true, edges), shares_in(seen, edges)) == pytest.approx(printed, abs=1e-12)


def test_no_points_are_as_far_as_can_be():
    edges = np.linspace(0, 1, 3), np.linspace(0, 1, 3)
    assert total_variation(shares_in(np.full((3, 2), 0.5), edges), shares_in(np.empty((0, 2)), edges)) == 1


@pytest.mark.parametrize("bad", [[], [np.nan], [[1.0]], ["a"], None])
def test_bad_samples(bad):
    with pytest.raises(ArgumentError):
        ks_distance(bad, [1])
    with pytest.raises(ArgumentError):
        ks_distance([1], bad)


@pytest.mark.parametrize("bad", [[], [-1, 2], [np.nan, 1], [np.inf, 1], [1, 2, 3], [[1, 2]]])
def test_bad_histograms(bad):
    with pytest.raises(ArgumentError):
        total_variation([1, 2], bad)


def test_shapes():
    across, up = [0.1, 0.3, 0.5, 0.6, 0.8], [0.2, 0.4, 0.6, 0.0, -0.2]
    shape = shape_of(across, up)
    assert (shape.lower, shape.upper) == (pytest.approx(1), pytest.approx(-1))
    assert shape_difference(shape) == shape_difference(FLAT, shape) == pytest.approx(2)
    assert shape_difference(Shape(1, 2), Shape(0, 5)) == 4
    assert shape_of([0.4], [0.3]) == shape_of([0.4, 0.4], [0.3, 0.1]) == shape_of([], []) == FLAT
