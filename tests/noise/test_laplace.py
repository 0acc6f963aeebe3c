from fractions import Fraction

import mpmath
import numpy as np
import pytest
from laws import DRAWS, assert_fits, assert_rejected, geometric_p, laplace_p

from thresher.errors import ArgumentError
from thresher.noise import SystemEntropy, discrete_laplace, geometric, laplace
from thresher.noise.draw_tables import draw_table
from thresher.noise.laplace import digits_of

SCALES = ["0.125", "0.5", "1", "10", "16", "17", "1000", "1000000", "1000000000"]


def _epsilon(scale):
    return 1 / Fraction(scale)


@pytest.mark.parametrize("scale", SCALES)
def test_both_laws_fit_and_a_scale_five_percent_off_is_rejected(scale, entropy):
    """Chi-square at a million draws; false failure at most 1e-6 a check, and the same check has power both ways."""
    width = float(scale)
    for draw, p_value in ((discrete_laplace, laplace_p), (geometric, geometric_p)):
        draws = draw(_epsilon(scale), DRAWS, entropy=entropy)
        assert draws.dtype == np.int64
        assert_fits(p_value(draws, width))
        if width >= 0.5:  # below, nearly every draw is zero whatever the scale
            assert_rejected(p_value(draws, 1.05 * width))
            assert_rejected(p_value(draws, width / 1.05))


def test_the_operating_systems_noise_fits_too():
    assert_fits(laplace_p(discrete_laplace("0.1", DRAWS), 10))


@pytest.mark.parametrize("size", [1, 5, 31, 33, 200, 4095, 4096, 70_000])
def test_every_way_of_drawing_has_the_same_law(size, entropy):
    """Coins, search and look-up, chosen by size, pooled over many calls."""
    rounds = max(1, 200_000 // size) if size > 32 else 20_000 // size
    draws = np.concatenate([discrete_laplace("0.25", size, entropy=entropy) for _ in range(rounds)])
    assert_fits(laplace_p(draws, 4))
    assert_rejected(laplace_p(draws, 4 * 1.3))


@pytest.mark.parametrize("scale", ["0.3", "3", "40", "5000"])
def test_draws_beyond_the_leading_digit_keep_the_law(scale, entropy, monkeypatch):
    """With a leading table of one scale, a third of all draws go beyond it."""
    monkeypatch.setattr(laplace, "_LEADING_SCALE", Fraction(1))
    digits_of.cache_clear()
    assert digits_of(_epsilon(scale), signed=True)[-1].count <= 256
    try:
        assert_fits(laplace_p(discrete_laplace(_epsilon(scale), DRAWS, entropy=entropy), float(scale)))
        assert_fits(geometric_p(geometric(_epsilon(scale), DRAWS, entropy=entropy), float(scale)))
    finally:
        digits_of.cache_clear()


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(7), Fraction(100), Fraction(70_000)])
@pytest.mark.parametrize("signed", [True, False])
def test_digits_multiply_to_the_law(scale, signed):
    """The probability of a number, digit by digit, equals the closed form to forty places."""
    with mpmath.workdps(60):

        def exponential(rate):
            return mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator)

        p, digits = exponential(1 / scale), digits_of(1 / scale, signed=signed)
        masses = [_masses(digit, exponential) for digit in digits]
        for x in (0, 1, -1, 2, 5, -5, 255, 256, -257, 1000, 65_536 + 3):
            magnitude, made = (~x if x < 0 else x), mpmath.mpf(1)
            if (x < 0 and not signed) or magnitude >= digits[-1].count << 8 * (len(digits) - 1):
                continue
            for place, digit in enumerate(digits):
                d = magnitude >> 8 * place if digit.leading else magnitude >> 8 * place & 255
                made *= masses[place][~d if x < 0 and place == 0 else d]
            truth = (1 - p) / (1 + p) * p ** abs(x) if signed else (1 - p) * p**x
            assert mpmath.almosteq(made, truth, rel_eps=mpmath.mpf(10) ** -40)


def _masses(digit, exponential):
    edges = [0, *digit.cumulative(exponential), 1]
    return {d: edges[i + 1] - edges[i] for i, d in enumerate(digit.outcomes())}


def test_sensitivity_stretches_the_noise(entropy):
    assert_fits(laplace_p(discrete_laplace("0.5", DRAWS, sensitivity=5, entropy=entropy), 10))


def test_draws_are_independent_of_each_other(entropy):
    draws = np.asarray(discrete_laplace("0.1", DRAWS, entropy=entropy), dtype=float)
    for lag in (1, 2, 1 << 15):
        correlation = np.corrcoef(draws[lag:], draws[:-lag])[0, 1]
        assert abs(correlation) < 4.9 / np.sqrt(DRAWS)  # 4.9 standard errors: 1e-6


def test_no_draws_is_an_empty_answer():
    assert discrete_laplace(1, 0).shape == (0,)
    assert geometric(1, 0).dtype == np.int64


def test_tables_are_shared_between_calls():
    discrete_laplace(Fraction(1, 7), 1000)
    built = draw_table.cache_info().misses
    discrete_laplace(Fraction(1, 7), 1000)
    assert draw_table.cache_info().misses == built


BAD_EPSILONS = [
    0,
    -1,
    "-0.1",
    float("nan"),
    float("inf"),
    True,
    None,
    "x",
    1e308,
    1e-320,
    10**7,
    1001,
    "1e-10",
    [1],
    "1,5",
]


@pytest.mark.parametrize("epsilon", BAD_EPSILONS)
@pytest.mark.parametrize("draw", [discrete_laplace, geometric])
def test_a_bad_epsilon_is_refused_before_anything_is_drawn(draw, epsilon):
    def never(count):
        raise AssertionError("entropy was read")

    with pytest.raises(ArgumentError, match=r"^epsilon = ") as refusal:
        draw(epsilon, 10, entropy=SystemEntropy(never))
    assert refusal.value.field == "epsilon"


@pytest.mark.parametrize("sensitivity", [0, -1, 0.5, 1.0, True, "1", None, Fraction(1)])
def test_a_sensitivity_is_a_positive_integer(sensitivity):
    with pytest.raises(ArgumentError, match=r"^sensitivity = "):
        discrete_laplace(1, 10, sensitivity=sensitivity)


@pytest.mark.parametrize("size", [-1, 1 << 40, 2.0, True, "3", None, (2, 3)])
def test_a_size_is_a_sane_count(size):
    with pytest.raises(ArgumentError, match=r"^size = "):
        discrete_laplace(1, size)


def test_the_fix_fits_the_side_that_was_broken():
    with pytest.raises(ArgumentError, match="0 or more"):
        discrete_laplace(1, -1)
    with pytest.raises(ArgumentError, match="several calls"):
        discrete_laplace(1, 1 << 40)
    with pytest.raises(ArgumentError, match="must be an integer"):
        discrete_laplace(1, 2, sensitivity=0.5)


def test_the_ends_of_the_scale_are_accepted():
    assert not discrete_laplace(1000, 1000).any()
    assert np.abs(discrete_laplace("0.000000001", 1000)).max() > 10**8
