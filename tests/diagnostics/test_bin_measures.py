"""Totals of bins: ordinary means without noise, sensitivity over every record, the law of the noise, the band."""

from fractions import Fraction

import numpy as np
import pytest
from laws import assert_fits, assert_rejected, laplace_p

from thresher.diagnostics.bin_measures import HALF_BIN, BinTotals, error_band, means_of, noisy_totals, totals_of
from thresher.diagnostics.scored_rows import STEPS, scored_rows

NINE, ONE = Fraction(9, 10), Fraction(1, 10)


def cuts_at(*edges):
    return np.array([round(edge * STEPS) for edge in edges], dtype=np.int64)


def test_published_means():
    cuts = cuts_at(0, 1)
    means = means_of(totals_of(scored_rows([0, 1], [0.2, 0.3]), cuts), cuts)
    assert means.counts.tolist() == [2]
    assert means.predicted[0] == pytest.approx(0.25, abs=1e-5)
    assert means.residual[0] == pytest.approx(0.25, abs=1e-5)


def test_exact_totals_give_the_ordinary_means():
    generator = np.random.default_rng(11)
    scores = generator.beta(0.5, 2, 5000)
    labels = generator.random(5000) < scores
    cuts = cuts_at(0, 0.001, 0.05, 0.3, 0.75, 0.9, 1)
    totals = totals_of(scored_rows(labels, scores), cuts)
    means = means_of(totals, cuts)
    place = np.searchsorted(cuts[1:-1] / STEPS, scores, side="right")
    for k in range(6):
        inside = place == k
        assert totals.positives[k] == labels[inside].sum()
        assert totals.negatives[k] == (~labels[inside]).sum()
        assert means.predicted[k] == pytest.approx(scores[inside].mean(), abs=2e-6)
        assert means.residual[k] == pytest.approx((labels - scores)[inside].mean(), abs=2e-6)


@pytest.mark.parametrize("cuts", [cuts_at(0, 0.5, 0.75, 1), np.array([0, 1, 2, 5, 12, STEPS])])
def test_a_record_moves_one_count_by_one_and_one_sum_by_half_a_bin_at_most(cuts):
    """Every end of every bin and every point near it, with both labels."""
    points = np.unique(np.clip(cuts[:, None] + np.arange(-12, 13), 0, STEPS))
    reached = 0
    for point in points:
        for label in (0, 1):
            totals = totals_of(scored_rows([label], [point / STEPS]), cuts)
            counts = np.concatenate([totals.positives, totals.negatives])
            place = np.flatnonzero(totals.positives + totals.negatives)
            assert counts.sum() == np.abs(counts).sum() == 1
            assert not np.delete(totals.offsets, place).any()
            assert abs(totals.offsets[place[0]]) <= HALF_BIN
            assert cuts[place[0]] <= point <= cuts[place[0] + 1]
            reached = max(reached, abs(int(totals.offsets[place[0]])))
    assert reached == HALF_BIN


def test_published_scales(entropy):
    """Counts 1/0.9; centred sums in [0.5, 0.75] 1.25, in units of the score."""
    half, none = 0.125, np.zeros(200_000, dtype=np.int64)
    noisy = noisy_totals(BinTotals(none, none, none), NINE, ONE, entropy=entropy)
    # Mean absolute deviations of 200,000 draws: 1.5 % is more than six standard errors.
    counts = np.concatenate([noisy.positives, noisy.negatives])
    assert np.abs(counts).mean() == pytest.approx(1 / np.sinh(0.9), rel=0.015)
    assert np.abs(noisy.offsets).mean() / HALF_BIN * half == pytest.approx(1.25, rel=0.015)


def test_the_noise_has_its_law(entropy, trials):
    """Chi-square, false failure 1e-6 each; a rate 10 % off is rejected."""
    none = np.zeros(trials(200_000, 1_000_000), dtype=np.int64)
    noisy = noisy_totals(BinTotals(none + 5, none, none - 7), NINE, ONE, entropy=entropy)
    for draws, scale in (
        (noisy.positives - 5, 1 / 0.9),
        (noisy.negatives, 1 / 0.9),
        (noisy.offsets + 7, 10 * HALF_BIN),
    ):
        assert_fits(laplace_p(draws, scale))
        assert_rejected(laplace_p(draws, 1.1 * scale))


def log_mass(shift, rate):
    return -rate * np.abs(shift)


def test_the_loss_is_at_most_the_sum_and_reached():
    """All that a record changes are two numbers; the joint law at every offset of the noise around them."""
    cuts, noise = cuts_at(0, 63 / 64, 1), np.arange(-3, 4)
    offsets = np.arange(-2, 3) * HALF_BIN
    worst = 0.0
    for point in np.unique(np.clip(cuts[:, None] + np.arange(-2, 3), 0, STEPS)):
        moved = totals_of(scored_rows([1], [point / STEPS]), cuts)
        by_count = max(abs(log_mass(noise, 0.9) - log_mass(noise - moved.positives.sum(), 0.9)))
        by_sum = max(abs(log_mass(offsets, 0.1 / HALF_BIN) - log_mass(offsets - moved.offsets.sum(), 0.1 / HALF_BIN)))
        worst = max(worst, by_count + by_sum)
    assert worst == pytest.approx(1, abs=1e-12)


def test_means_stay_where_they_can_lie():
    cuts = cuts_at(0, 0.25, 0.5, 1)
    wild = BinTotals(np.array([-50, 90, 0]), np.array([20, -80, 0]), np.array([10**9, -(10**9), 0]))
    means = means_of(wild, cuts)
    assert means.counts.tolist() == [1, 10, 1]
    assert means.predicted.tolist() == [0.25, 0.25, 0.75]
    assert means.residual.tolist() == [-0.25, 0.75, -0.75]
    assert np.isfinite(error_band(means, cuts, NINE, ONE)).all()


def test_the_band_holds_nineteen_times_in_twenty(entropy, measured):
    """Labels drawn with the predicted chances, then noise, 4,000 bins. One standard error is 0.3 %.

    A little more than 95 %, because the band takes labels to vary as they do at the mean prediction of a bin.
    """
    generator = np.random.default_rng(5)
    cuts, bins, inside = cuts_at(0, 0.2, 0.5, 0.6, 1), 4, []
    for _ in range(1000):
        scores = generator.uniform(0, 1, 600)
        totals = totals_of(scored_rows(generator.random(600) < scores, scores), cuts)
        means = means_of(noisy_totals(totals, Fraction(1, 5), Fraction(1, 50), entropy=entropy), cuts)
        inside.append(np.abs(means.residual) <= error_band(means, cuts, Fraction(1, 5), Fraction(1, 50)))
    share = float(np.mean(inside))
    measured(f"binned residuals: {share:.1%} of {1000 * bins} bins lie inside the band of a right model")
    assert 0.945 < share < 0.985
