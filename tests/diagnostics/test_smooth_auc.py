"""The smooth area: published numbers, all small neighbours, the law of what is put out, and what it refuses."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from laws import assert_fits, assert_rejected, cauchy_loss
from scipy import stats

from thresher.diagnostics.curves import mann_whitney
from thresher.diagnostics.releases import MODEL_CAVEAT
from thresher.diagnostics.scored_rows import scored_rows
from thresher.diagnostics.smooth_auc import auc_sensitivity, constants, placed_auc, smooth_auc
from thresher.errors import ArgumentError
from thresher.mechanisms.cauchy import point_near
from thresher.mechanisms.smooth_median import noise_factor
from thresher.noise import SystemEntropy


def by_definition(positives, negatives, smoothing):
    least = min(positives, negatives)
    return max(math.exp(-smoothing * k) / max(1, least - k) for k in range(least + 2))


def test_the_published_sensitivity():
    assert float(auc_sensitivity(385, 299, "0.0866")) == pytest.approx(0.003344, abs=1e-6)
    assert auc_sensitivity(385, 299, "0.0866") == Fraction(1, 299)


@pytest.mark.parametrize("smoothing", ["0.001", "0.05", "0.0866", "0.5", "3"])
def test_the_maximum_lies_at_an_end(smoothing):
    for least in [*range(12), 40, 77, 500, 20_000]:
        found = auc_sensitivity(least + 3, least, smoothing)
        expected = by_definition(least + 3, least, float(smoothing))
        assert float(found) == pytest.approx(expected, rel=1e-12)
        if least > 1:
            with mpmath.workdps(60):
                power = mpmath.exp(-mpmath.mpf(smoothing) * (least - 1))
                exact = max(mpmath.mpf(1) / least, power)
                seen = mpmath.mpf(found.numerator) / found.denominator
                # Never below the true one, and hardly above.
                assert exact * (1 - mpmath.mpf(10) ** -50) <= seen <= exact * (1 + mpmath.mpf(2) ** -80)
        assert auc_sensitivity(least, least + 3, smoothing) == found


SCORES = (0.25, 0.5, 0.75)


def small_neighbours(most=4):
    """All rows of up to `most` labels and scores, and one row more."""
    kinds = list(itertools.product((0, 1), SCORES))
    for size in range(most + 1):
        for rows in itertools.combinations_with_replacement(kinds, size):
            yield rows, [(*rows, extra) for extra in kinds]


def read(rows):
    return scored_rows(np.array([row[0] for row in rows], dtype=int), np.array([row[1] for row in rows], dtype=float))


@pytest.mark.parametrize(("epsilon", "share"), [("0.1", "0.866"), ("1", "0.866"), ("1", "0.3"), ("4", "0.95")])
def test_no_small_neighbours_lose_more_than_epsilon(epsilon, share):
    """All of them: how far the area moves against the sensitivity of either, smoothness, and the loss itself."""
    spend = Fraction(epsilon)
    factor, smooth = constants(spend, spend * Fraction(share))
    known, worst, furthest = {}, 0.0, 0.0

    def place(rows):
        key = tuple(sorted(rows))
        if key not in known:
            known[key] = placed_auc(read(rows), 1, factor, smooth)
        return known[key]

    for rows, neighbours in small_neighbours():
        centre, scale = place(rows)
        for more in neighbours:
            other, wide = place(more)
            assert abs(centre - other) * factor <= min(scale, wide)
            assert max(scale / wide, wide / scale) <= Fraction(math.exp(float(spend) * float(share)) * (1 + 1e-12))
            furthest = max(furthest, float(abs(centre - other) * factor / min(scale, wide)))
            worst = max(worst, cauchy_loss((float(centre), float(scale)), (float(other), float(wide))))
    assert worst <= float(spend) * (1 + 1e-9)
    assert worst > 0.15 * float(spend)
    assert furthest > 0.45


def test_the_bound_on_a_move_is_attained():
    """Ten positives above all negatives, and one more below them."""
    high = [(1, 0.75)] * 9 + [(0, 0.5)] * 10
    more = [*high, (1, 0.25)]
    assert mann_whitney(read(high)) - mann_whitney(read(more)) == Fraction(1, 10)


def test_constants_leave_room_for_rounding():
    factor, smooth = constants(1)
    assert factor == noise_factor(1, Fraction(866_025_403, 10**9))
    assert 0 < Fraction(866_025_403, 10**9) - smooth <= Fraction(1, 10**10)


def cell_law(centre, scale, steps):
    """P of every point, by arctangents."""
    edges = np.arctan((np.arange(steps) + 0.5 - centre) / scale) / np.pi
    return np.diff(np.concatenate([[-0.5], edges, [0.5]]))


def chi_square(draws, law):
    expected, observed = law * len(draws), np.bincount(draws, minlength=law.size)
    assert expected.min() > 10
    return float(stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), law.size - 1))


def test_draws_fit_the_arctangent_law(entropy, trials):
    """Through the public function, around an area between two points; a scale a half off is rejected."""
    labels, scores = [1, 1, 1, 0, 0, 0, 0, 1], [0.9, 0.8, 0.4, 0.5, 0.5, 0.2, 0.1, 0.5]
    found = [smooth_auc(labels, scores, 3, steps=9, entropy=entropy) for _ in range(trials(4_000, 60_000))]
    draws = np.array([each.point for each in found])
    centre, scale = placed_auc(scored_rows(labels, scores), 9, *constants(3))
    assert centre.denominator > 1
    assert_fits(chi_square(draws, cell_law(float(centre), float(scale), 9)))
    for wrong in (float(scale) * 1.6, float(scale) / 1.6):
        assert_rejected(chi_square(draws, cell_law(float(centre), wrong, 9)))
    assert {each.auc for each in found} == {point / 9 for point in range(10)}
    assert (str(found[0].epsilon), found[0].stamp, found[0].caveats) == ("3", entropy.stamp, (MODEL_CAVEAT,))


def test_a_centre_between_points_is_not_rounded_first(entropy):
    """Centre 2.4 with next to no noise is 2, and 2.5 is 2 or 3, half of the time each."""
    tiny = Fraction(1, 10**9)
    assert {point_near(Fraction(12, 5), tiny, 9, entropy) for _ in range(50)} == {2}
    halves = [point_near(Fraction(5, 2), tiny, 9, entropy) for _ in range(400)]
    assert 120 < halves.count(2) < 280  # false failure below 1e-14
    assert halves.count(2) + halves.count(3) == 400


def test_without_pairs_the_area_is_one_half_with_all_the_noise(entropy):
    for labels, scores in (([], []), ([1, 1], [0.5, 0.6]), ([0] * 9, [0.1] * 9), ([np.nan, 1], [0.5, np.nan])):
        rows = scored_rows(np.array(labels, dtype=float), np.array(scores, dtype=float))
        factor, smooth = constants(1)
        assert placed_auc(rows, 10, factor, smooth) == (5, 10 * factor)
        found = smooth_auc(np.array(labels, dtype=float), np.array(scores, dtype=float), 1, entropy=entropy)
        assert 0 <= found.auc <= 1
        assert found.curve.area == pytest.approx(found.auc, abs=2e-3)


def test_many_rows_leave_little_noise(entropy):
    labels = np.arange(40_000) % 2
    scores = (labels + np.linspace(0, 1, 40_000)) / 2
    factor, smooth = constants(5)
    centre, scale = placed_auc(scored_rows(labels, scores), 10**6, factor, smooth)
    assert (centre, scale) == (10**6, factor * 50)
    # Beyond 10,000 scales of noise lies less than one draw in 15,000: not 3 of 20, but with probability 4e-10.
    found = [smooth_auc(labels, scores, 5, entropy=entropy).auc for _ in range(20)]
    assert sum(abs(each - 1) > 0.5 * float(factor) for each in found) < 3
    assert smooth_auc([], [], 1).stamp == ""


def never(count):
    raise AssertionError("entropy was read")


BAD = [
    ("labels", np.array(["a", "b"])),
    ("labels", [0, 1, 1]),
    ("scores", np.array([[0.5, 0.25]])),
    ("epsilon", 0),
    ("epsilon", -1),
    ("epsilon", "0.00001"),
    ("epsilon", float("nan")),
    ("smoothing", 0),
    ("smoothing", 1),
    ("smoothing", float("inf")),
    ("steps", 0),
    ("steps", 2.5),
    ("entropy", "seed"),
]


@pytest.mark.parametrize(("field", "value"), BAD, ids=str)
def test_bad_input_is_refused_before_anything_is_drawn(field, value):
    asked = {"labels": [0, 1], "scores": [0.5, 0.25], "epsilon": 1, "entropy": SystemEntropy(never)} | {field: value}
    with pytest.raises(ArgumentError, match=rf"^{field} = "):
        smooth_auc(**asked)


def test_a_bad_sensitivity_is_refused():
    for counts in ((-1, 3), (3, 2.5), (True, 3)):
        with pytest.raises(ArgumentError, match=r"^count = "):
            auc_sensitivity(*counts, "0.1")
    with pytest.raises(ArgumentError, match=r"^smoothing = "):
        auc_sensitivity(3, 3, 0)
