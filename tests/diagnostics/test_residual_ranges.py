"""Ranges: the exact law of all looks on few records, with noise as good as off the ends of the data, odd data."""

from fractions import Fraction
from math import log

import numpy as np
import pytest
from laws import assert_fits, assert_rejected
from scipy import stats

from thresher.amounts import Epsilon
from thresher.audit.shipped.residual_subjects import LOOKS, range_law
from thresher.diagnostics.residual_ranges import (
    Looks,
    band_counts,
    band_of,
    best_stretch,
    bounded,
    looks_of,
    narrow_range,
    whole_units,
)
from thresher.mechanisms.bounds import counts_within

SPAN = (0.0, 9.0)
CLEAR = Epsilon(50)
MILLI = Fraction(1, 1000)
# One record more, in the middle of the range, at its end, and outside of where the others are.
NEIGHBOURS = [((4.0, 4.5, 4.5), 4.5), ((), 1.0), ((4.5, 4.5), 8.5), ((1.0, 4.5, 8.0), 4.5)]


@pytest.mark.parametrize(("records", "extra"), NEIGHBOURS)
def test_no_path_loses_more_than_its_looks(records, extra):
    """Every range in the end, after one look or two: the loss is within epsilon for each look that was taken."""
    here, there = (range_law(LOOKS, np.array(each), SPAN) for each in (records, (*records, extra)))
    assert here.keys() == there.keys()
    assert sum(here.values()) == pytest.approx(1, abs=1e-5)
    for outcome in here:
        loss = abs(log(here[outcome] / there[outcome]))
        assert loss <= float(LOOKS.epsilon) * outcome[1] + 1e-9


def test_a_second_look_for_nothing_is_caught():
    here, there = (range_law(LOOKS, np.array(each), SPAN) for each in ((4.5, 4.5), (4.5, 4.5, 8.5)))
    twice = [abs(log(here[outcome] / there[outcome])) for outcome in here if outcome[1] == 2]
    assert max(twice) > 1.9 * float(LOOKS.epsilon)


def test_looks_draw_that_law(entropy, trials):
    """Chi-square, false failure 1e-6; noise of twice the epsilon is told from it."""
    looks = Looks(3, Epsilon("1.5"), 0.5, 2, 3)
    records, runs = np.array([1.0, 4.5, 4.5]), trials(1_500, 20_000)
    seen = [looks.taken(records, SPAN, entropy) for _ in range(runs)]
    assert_fits(chi_square(seen, range_law(looks, records, SPAN)))
    assert_rejected(chi_square(seen, range_law(LOOKS, records, SPAN)))


def chi_square(seen, law):
    expected = {outcome: chance * len(seen) for outcome, chance in law.items()}
    likely = [outcome for outcome in expected if expected[outcome] >= 10]
    observed = np.array([seen.count(outcome) for outcome in likely])
    means = np.array([expected[outcome] for outcome in likely])
    rest, mean = len(seen) - observed.sum(), max(len(seen) - means.sum(), 1e-9)
    terms, cells = [*((observed - means) ** 2 / means)], len(likely)
    if mean >= 10:
        terms, cells = [*terms, (rest - mean) ** 2 / mean], cells + 1
    return float(stats.chi2.sf(sum(terms), cells - 1))


@pytest.mark.parametrize(("low", "high"), [(1, 50), (-3, 3), (1000, 1050), (-0.002, 0.001), (-9e6, -8e6)])
def test_without_noise_to_speak_of_the_range_fits_the_data(low, high, entropy):
    """At epsilon 25 for each step, P[any of some 200 draws reaches 10 records] < 1e-100."""
    records = np.linspace(low, high, 4001)
    found = narrow_range(records, MILLI, CLEAR, records.size, None, entropy)
    start, end = found.span
    held = ((records >= start) & (records <= end)).mean()
    assert held > 0.9
    assert end - start < 2 * (high - low)
    assert not found.capped


@pytest.mark.parametrize("size", [None, 500])
def test_a_bound_costs_its_share_and_no_less(size, entropy):
    share = Epsilon("0.123456789")
    found = bounded(np.arange(500.0), MILLI, share, Fraction(3, 4), size, entropy)
    assert found.epsilon == share


def test_what_is_spent_is_the_bound_and_every_look(entropy):
    share = Epsilon("0.4")
    spent = {narrow_range(np.zeros(3000), MILLI, share, 3000, None, entropy).epsilon for _ in range(5)}
    assert spent == {Epsilon("0.8")}, "constant values take all three looks"
    assert narrow_range(np.arange(-9.0, 9.0), MILLI, share, 18, None, entropy).epsilon == share, "too few for more"


def test_whole_units_hold_their_records():
    records = np.array([0.0, -0.0005, 0.001, 0.0011, -2.5, np.inf, -np.inf, 1e300])
    assert whole_units(records, MILLI).tolist() == [0, 1, 1, 2, 2500, 1 << 62, 1 << 62, 1 << 62]
    assert counts_within(whole_units(records, MILLI), [1 << 60]).tolist() == [5], "the farthest are in no bound"


def test_bands_are_those_of_an_ordinary_histogram():
    draws = np.random.default_rng(6)
    records = np.concatenate([draws.normal(size=5000), [-1.5, 2.5, np.inf, -np.inf]])
    for bands in (1, 2, 7, 128):
        expected, _ = np.histogram(records[np.isfinite(records)], bands, (-1.5, 2.5))
        assert np.abs(band_counts(records, (-1.5, 2.5), bands) - expected).sum() <= 2, "but for records on an edge"
        assert band_counts(records, (-1.5, 2.5), bands).sum() == expected.sum()
    assert band_of(records[-4:], (-1.5, 2.5), 8).tolist() == [0, 7, 8, 8]


def test_best_stretch_is_the_best_of_all():
    draws = np.random.default_rng(7)
    for _ in range(300):
        noisy, price = draws.integers(-9, 12, draws.integers(1, 9)), float(draws.uniform(0, 8))
        gains = {(i, j): (noisy[i:j] - price).sum() for i in range(len(noisy)) for j in range(i + 1, len(noisy) + 1)}
        found = best_stretch(noisy, price)
        if max(gains.values()) <= 0:
            assert found == (0, len(noisy))
        else:
            assert gains[found] == pytest.approx(max(gains.values()))


def test_looks_follow_from_public_numbers():
    assert looks_of(100, Epsilon("0.1")) == Looks(16, Epsilon("0.1"), 10.0, 1)
    assert looks_of(400, Epsilon("0.1")) == Looks(16, Epsilon("0.1"), 10.0, 3)
    assert looks_of(10_000, Epsilon("0.1")) == Looks(32, Epsilon("0.1"), 31.25, 3)


@pytest.mark.parametrize("records", [[], [7.0], [0.0] * 900, [1e300] * 900, [np.inf] * 900, [5e-324] * 9], ids=str)
@pytest.mark.parametrize("rows", [2, 900])
def test_odd_data_have_ranges_too(records, rows, entropy):
    for epsilon in ("0.01", "2"):
        found = narrow_range(np.array(records), MILLI, Epsilon(epsilon), rows, None, entropy)
        assert np.isfinite(found.span).all()
        assert found.span[0] < found.span[1]
