"""Curves without noise: published areas, Mann-Whitney by brute force, areas between curves, binormal curves."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr, ndtri

from thresher.diagnostics.curves import (
    binormal_curve,
    curve_of_counts,
    exact_curve,
    mann_whitney,
)
from thresher.diagnostics.scored_rows import scored_rows

SCORES = (0.9, 0.8, 0.7, 0.6, 0.55, 0.4, 0.3, 0.2)
LABELS = (1, 1, 0, 1, 0, 1, 0, 0)
ROWS = st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=1, max_size=30)


def by_pairs(rows):
    """The share of pairs in order, ties half."""
    above = [score for label, score in rows if label]
    below = [score for label, score in rows if not label]
    pairs = [(a > b) + Fraction(a == b, 2) for a, b in itertools.product(above, below)]
    return Fraction(sum(pairs)) / len(pairs) if pairs else Fraction(1, 2)


def read(rows):
    return scored_rows([label for label, _ in rows], [score / 6 for _, score in rows])


def test_published_areas():
    rows = scored_rows(LABELS, SCORES)
    assert mann_whitney(rows) == Fraction(13, 16)
    assert exact_curve(rows).area == 0.8125
    for thresholds, area in (([0.5], 0.625), ([0.65, 0.35], 0.75), ([0.75, 0.5, 0.25], 0.78125)):
        found = curve_of_counts(*rows.counts(np.array(thresholds)))
        assert found.area == area
        assert (found.positives, found.negatives) == (4, 4)
        for rates in (found.curve.false_positive_rate, found.curve.true_positive_rate):
            assert rates.size == len(thresholds) + 2
            assert (rates[0], rates[-1]) == (0, 1)


@given(ROWS)
def test_noise_off_with_all_thresholds_is_mann_whitney(rows):
    expected = by_pairs(rows)
    given_rows = read(rows)
    assert mann_whitney(given_rows) == expected
    found = exact_curve(given_rows)
    if found.area is None:
        assert len({label for label, _ in rows}) < 2
    else:
        assert found.area == pytest.approx(float(expected), abs=1e-12)


@given(ROWS, st.sets(st.integers(0, 12), min_size=1))
def test_counts_are_those_of_scores_above_a_threshold(rows, cuts):
    falling = sorted((cut / 12 for cut in cuts), reverse=True)
    positives, negatives = read(rows).counts(np.array(falling))
    for label, counts in ((True, positives), (False, negatives)):
        mine = [score / 6 for mark, score in rows if mark == label]
        for cut, above in zip(falling, np.cumsum(counts), strict=False):
            assert above == sum(score > cut for score in mine)
        assert counts.sum() == len(mine)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=9))
def test_noisy_counts_always_give_a_curve(counts):
    found = curve_of_counts(*np.array(counts, dtype=float).T)
    x, y = found.curve.false_positive_rate, found.curve.true_positive_rate
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
    assert x.size == y.size == len(counts) + 1
    assert (np.diff(x) >= 0).all()
    assert (np.diff(y) >= 0).all()
    if min(found.positives, found.negatives) <= 0:
        assert found.area is None
        assert (x == y).all()
    else:
        assert 0 <= found.area <= 1


def test_isotonic_sums_by_hand():
    """Sums 3, 1, 2 become 2, 2, 2; sums 1, 2, 3 stay."""
    found = curve_of_counts([3, -2, 1], [1, 1, 1])
    assert found.curve.true_positive_rate.tolist() == [0, 1, 1, 1]
    assert found.curve.false_positive_rate == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert (found.positives, found.negatives) == (2, 3)


@pytest.mark.parametrize("area", [0.5, 0.6, 0.85, 0.98])
def test_binormal_curves_have_their_area(area):
    lift = np.sqrt(2) * ndtri(area)
    assert quad(lambda x: ndtr(lift + ndtri(x)), 0, 1)[0] == pytest.approx(area, abs=1e-6)
    curve = binormal_curve(area)
    assert curve.area == pytest.approx(area, abs=2e-4)
    assert (np.diff(curve.true_positive_rate) >= 0).all()
    assert np.diff(curve.false_positive_rate).min() >= 0


def test_extreme_areas_are_drawn_too():
    assert binormal_curve(1.0).area == pytest.approx(1, abs=1e-3)
    assert binormal_curve(0.0).area == pytest.approx(0, abs=1e-3)
