"""Reference values of the threshold shift, continuous ones by a fine grid; and its worst case as the reference has."""

import math
from fractions import Fraction

import numpy as np
import pytest

from thresher.amounts import Epsilon
from thresher.decisions import threshold_shift
from thresher.decisions.shift import look, priced_shift, shift_of
from thresher.noise import smallest_epsilon, tail

BETA = Fraction(1, 20)
GRID = 10**6


@pytest.mark.parametrize(("half_width", "reference"), [(10, 0.2302585093), (1, 2.302585093)])
def test_prices_of_continuous_noise(half_width, reference):
    """With a margin of exactly the half width; the grid's own step is what integers gain."""
    epsilon = smallest_epsilon(BETA, half_width * GRID, GRID)
    assert float(epsilon) == pytest.approx(reference, rel=1e-6)


@pytest.mark.parametrize(
    ("half_width", "share"), [(1, 0.602), (2, 0.767), (5, 0.901), (10, 0.950), (50, 0.990), (200, 0.9975)]
)
def test_what_whole_numbers_save(half_width, share):
    """40 % at a half width of 1."""
    discrete = priced_shift(BETA, BETA, [(half_width, 1)]).epsilon
    assert float(discrete) * half_width / math.log(10) == pytest.approx(share, abs=6e-4)


@pytest.mark.parametrize(("steps", "rate", "reference"), [(0, "0.05", 2.9444389792), (1, "0.01", 2.2526059029)])
def test_prices_of_whole_numbers(steps, rate, reference):
    assert float(priced_shift(rate, rate, [(steps, 1)]).epsilon) == pytest.approx(reference, abs=1e-8)


@pytest.mark.parametrize("steps", [0, 1, 10])
def test_a_millionth_less_is_not_enough(steps):
    epsilon = priced_shift(BETA, BETA, [(steps, 1)]).epsilon
    assert tail(epsilon, steps + 1).high <= 0.05 + 1e-15
    assert tail(epsilon.fraction - Fraction(1, 10**6), steps + 1).low > 0.05


def test_misses_just_above_the_line(entropy):
    """Between .047 and .053, which a right law leaves, at 160,000 groups, with probability below 1e-7."""
    shift = shift_of(BETA, BETA, 10 * 10**4, 10**4)
    missed = (~look(np.zeros(160_000, np.int64), shift, entropy).reported).mean()
    assert 0.047 <= missed <= 0.053


def test_a_rate_of_one_half_is_free():
    seen = threshold_shift(np.array([5, -5]), 10, "0.5")
    assert seen.worst == Epsilon(0)
    assert seen.reported.all()
