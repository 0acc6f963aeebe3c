"""Smooth tails: the table of quantiles, quadrature, slopes, and that integers lie below them."""

import math

import pytest
from scipy import integrate

from thresher.decisions.values.smooth_tails import least_rate, tail_quantile, tail_slope_curve
from thresher.noise import NoiseSum

RATES = (0.05, 0.025, 0.05 / 3, 0.05 / 6)
QUANTILES = {
    1: (2.3026, 2.9957, 3.4012, 4.0943),
    2: (3.2718, 4.1130, 4.5942, 5.4031),
    3: (4.0104, 4.9686, 5.5101, 6.4114),
    5: (5.1816, 6.3327, 6.9739, 8.0286),
    16: (9.2875, 11.1625, 12.1812, 13.8215),
    32: (13.1453, 15.7323, 17.1260, 19.3529),
    64: (18.5993, 22.2113, 24.1480, 27.2282),
}


def summed(terms, t):
    """P[sum of so many Laplace numbers of scale 1 >= t]."""
    return tail_slope_curve(NoiseSum((1,) * terms), t, 1.0)[0]


@pytest.mark.parametrize("terms", QUANTILES)
def test_the_table_of_quantiles(terms):
    found = [tail_quantile(NoiseSum((1,) * terms), rate) for rate in RATES]
    assert found == pytest.approx(QUANTILES[terms], abs=5.1e-5)


def test_one_and_two_terms_are_known():
    for t in (0.0, 0.3, 2.0, 11.0):
        assert summed(1, t) == pytest.approx(math.exp(-t) / 2)
        assert summed(2, t) == pytest.approx((2 + t) * math.exp(-t) / 4)


@pytest.mark.parametrize("terms", [1, 2, 4, 9])
@pytest.mark.parametrize("t", [0.0, 0.5, 3.0, 10.0])
def test_one_term_more_is_one_convolution_more(terms, t):
    def reach(x):
        return summed(terms, x) if x >= 0 else 1 - summed(terms, -x)

    seen, _ = integrate.quad(lambda x: math.exp(-abs(x)) / 2 * reach(t - x), -60, 60, points=[0, t], limit=400)
    assert summed(terms + 1, t) == pytest.approx(seen, abs=1e-9)


@pytest.mark.parametrize(
    "noise", [NoiseSum((1,)), NoiseSum((1,) * 7, 1, 3), NoiseSum((65, 35), 100, 100), NoiseSum((99, 1), 100, 100)]
)
def test_slopes_are_slopes(noise):
    for width, epsilon in ((2.5, 0.4), (10.5, 0.1), (30.0, 1.0)):
        step = 1e-5
        ends = [tail_slope_curve(noise, width, epsilon + side * step) for side in (-1, 1)]
        _, slope, curve = tail_slope_curve(noise, width, epsilon)
        assert slope == pytest.approx((ends[1][0] - ends[0][0]) / (2 * step), rel=1e-5)
        assert curve == pytest.approx((ends[1][1] - ends[0][1]) / (2 * step), rel=1e-4)


@pytest.mark.parametrize("wide", [1.0, 3.0])
@pytest.mark.parametrize("narrow", [0.2, 0.9])
def test_two_scales_by_quadrature(wide, narrow):
    noise = NoiseSum((int(10 * wide), int(10 * narrow)), 10, 1)
    for t in (0.1, 1.0, 6.0):

        def reach(x, b=narrow):
            return math.exp(-x / b) / 2 if x >= 0 else 1 - math.exp(x / b) / 2

        parts = [
            integrate.quad(lambda x, t=t: math.exp(-abs(x) / wide) / (2 * wide) * reach(t - x), *ends)[0]
            for ends in ((-90, 0), (0, t), (t, 90))
        ]
        assert tail_slope_curve(noise, t, 1.0)[0] == pytest.approx(sum(parts), abs=1e-9)


def test_two_scales_nearly_alike_join_on_smoothly():
    alike, apart = (tail_slope_curve(NoiseSum((10**6, c), 10**6, 1), 3.0, 1.0)[0] for c in (10**6, 10**6 - 11))
    assert apart == pytest.approx(alike, rel=1e-4)


def test_integers_lie_below_half_a_step_earlier():
    """Observed, not proved: the smooth tail at a - 1/2 is above the discrete one at a."""
    for terms in (1, 2, 3, 8, 31, 64):
        noise = NoiseSum((1,) * terms)
        for at_least in (1, 2, 11, 101):
            for epsilon in (0.01, 0.3, 1.5):
                assert noise.sketched(epsilon, at_least) <= tail_slope_curve(noise, at_least - 0.5, epsilon)[0]


def test_the_least_number_is_enough_and_hardly_less_is_not():
    for guess in (1e-6, 1.0, 1e9):
        assert least_rate(lambda x: x >= 3.25, guess) == pytest.approx(3.25, rel=1e-8)
