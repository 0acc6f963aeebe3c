"""Zones: reference values, both rates at their worst case, that less is not enough, and that nobody could do better."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from thresher.errors import ArgumentError
from thresher.noise import smallest_epsilon, smallest_zone
from thresher.noise.chances import CHANCES
from thresher.noise.zones import alarmed_formula, missed_formula

RATES = st.fractions(Fraction(1, 10**4), Fraction(49, 100))
WIDTHS = st.integers(1, 60)
COIN = 2.0**-32


@pytest.mark.parametrize(
    ("width", "reference", "error"), [(1, 2.8904, 5e-5), (2, 1.8971, 5e-5), (5, 0.78201, 5e-6), (20, 0.19550, 5e-6)]
)
def test_prices_meet_the_reference(width, reference, error):
    zone = smallest_zone("0.05", "0.1", width)
    assert float(zone.epsilon) == pytest.approx(reference, abs=error)
    assert float(zone.epsilon) < math.log(1 / (4 * 0.05 * 0.1)) / width, "continuous noise costs more"


def test_the_sharp_line_of_the_reference():
    """Misses and false alarms are .05 and .10, exactly but for the coin, at p = .05/.9 and a coin of .0529."""
    zone = smallest_zone("0.05", "0.1", 1)
    p = math.exp(-float(zone.epsilon))
    assert p == pytest.approx(0.05 / 0.9, rel=2e-9)
    assert zone.steps == 0
    assert float(zone.boundary) == pytest.approx(0.05 / (1 - 0.05 / 0.9), abs=1e-8)
    assert missed_formula(p, zone.steps, float(zone.boundary)) == pytest.approx(0.05, rel=1e-8)
    assert alarmed_formula(p, zone.steps, float(zone.boundary), 1) == pytest.approx(0.10, rel=1e-8)


def dlap(p, x):
    return (1 - p) / (1 + p) * p ** abs(x)


@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1, 3), Fraction(1, 17)])
@pytest.mark.parametrize(("steps", "width"), [(-1, 1), (0, 1), (0, 2), (1, 2), (3, 7), (-1, 4)])
def test_the_formulas_are_sums_of_the_law(p, steps, width):
    far = 200
    for boundary in (Fraction(0), Fraction(1, 3), Fraction(1)):
        missed = sum(dlap(p, x) for x in range(-far, -steps)) - boundary * dlap(p, -steps - 1)
        alarmed = sum(dlap(p, x) for x in range(width - steps, far)) + boundary * dlap(p, width - steps - 1)
        assert abs(missed - missed_formula(p, steps, boundary)) < p ** (far // 2)
        assert abs(alarmed - alarmed_formula(p, steps, boundary, width)) < p ** (far // 2)


def rates_at(nano, sensitivity, steps, boundary, width):
    p = mpmath.exp(-mpmath.mpf(nano) / (10**9 * sensitivity))
    chance = mpmath.mpf(boundary.numerator) / boundary.denominator
    return missed_formula(p, steps, chance), alarmed_formula(p, steps, chance, width)


def as_mpf(fraction):
    return mpmath.mpf(fraction.numerator) / fraction.denominator


@settings(max_examples=60)
@given(RATES, RATES, WIDTHS, st.integers(1, 40))
def test_both_rates_are_kept_and_a_nano_less_would_not_do(misses, alarms, width, sensitivity):
    zone = smallest_zone(misses, alarms, width, sensitivity)
    assert -1 <= zone.steps < width
    assert 0 <= zone.boundary <= 1
    assert (zone.boundary * CHANCES).denominator == 1
    with mpmath.workdps(60):
        missed, alarmed = rates_at(zone.epsilon.nano, sensitivity, zone.steps, zone.boundary, width)
        assert missed <= as_mpf(misses)
        assert alarmed <= as_mpf(alarms)
        # A nano less: wherever the line is that keeps misses, with the least coin, there are too many false alarms.
        for steps in range(max(-1, zone.steps - 2), min(width - 1, zone.steps + 3) + 1):
            coin = least_coin(zone.epsilon.nano - 1, sensitivity, steps, misses)
            if coin is not None:
                assert rates_at(zone.epsilon.nano - 1, sensitivity, steps, coin, width)[1] > as_mpf(alarms)


def least_coin(nano, sensitivity, steps, misses):
    """The least coin, in whole 2**-32, that keeps misses with this line; None if none does."""
    p = mpmath.exp(-mpmath.mpf(nano) / (10**9 * sensitivity))
    needed = (1 - as_mpf(misses) * (1 + p) / p ** (steps + 1)) / (1 - p)
    coin = max(0, int(mpmath.ceil(needed * CHANCES)))
    return Fraction(coin, CHANCES) if coin <= CHANCES else None


@settings(max_examples=60)
@given(RATES, RATES, WIDTHS)
def test_no_zone_is_cheaper_than_any_private_verdict(misses, alarms, width):
    """ln((1-a)/b)/w and ln((1-b)/a)/w bound every private verdict, with whatever noise; width 1 attains them."""
    epsilon = float(smallest_zone(misses, alarms, width).epsilon)
    bound = math.log(max((1 - alarms) / misses, (1 - misses) / alarms)) / width
    assert epsilon >= bound
    if width == 1:
        assert epsilon <= bound + 2e-9 + 2 * COIN / min(misses, alarms)


@pytest.mark.parametrize(("misses", "alarms"), [(0.05, 0.1), (0.1, 0.02), (0.3, 0.3)])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_no_other_rule_on_the_same_noise_has_fewer_false_alarms(misses, alarms, width):
    """All rules that report v with some chance, by linear programming: the least false alarms are those of the zone."""
    zone = smallest_zone(misses, alarms, width)
    p, values = math.exp(-float(zone.epsilon)), np.arange(-250, 250)
    here, there = dlap(p, values.astype(float)), dlap(p, (values + width).astype(float))
    best = linprog(there, A_ub=[-here], b_ub=[misses - here.sum()], bounds=[(0, 1)] * values.size)
    assert best.fun == pytest.approx(alarms, abs=1e-7)


@pytest.mark.parametrize(("width", "without_coin"), [(1, 2.9444), (2, 2.1972)])
def test_the_coin_saves_what_a_line_between_integers_wastes(width, without_coin):
    lines = []
    for steps in range(width):
        # Misses ask for one epsilon, false alarms for another; the dearer one decides.
        asked = smallest_epsilon("0.05", steps + 1), smallest_epsilon("0.1", width - steps)
        lines.append(max(float(epsilon) for epsilon in asked))
    assert min(lines) == pytest.approx(without_coin, abs=5e-5)
    assert float(smallest_zone("0.05", "0.1", width).epsilon) < min(lines)


def test_prices_fall_with_the_width_and_with_the_rates():
    widths = [smallest_zone("0.05", "0.1", width).epsilon for width in range(1, 30)]
    assert widths == sorted(widths, reverse=True)
    rates = [smallest_zone(Fraction(i, 100), "0.1", 3).epsilon for i in (1, 5, 10, 20, 49)]
    assert rates == sorted(rates, reverse=True)


def test_exchanging_the_rates_costs_the_same():
    """The mirror image, up to the grain of the coin."""
    for width in (1, 3, 8):
        one, other = smallest_zone("0.02", "0.2", width).epsilon, smallest_zone("0.2", "0.02", width).epsilon
        assert abs(one.nano - other.nano) <= 1 + 10**9 * COIN / 0.02


def test_extremes_are_priced():
    assert smallest_zone("0.05", "0.1", 1 << 40).epsilon.nano == 1
    assert float(smallest_zone("1e-30", "1e-30", 1).epsilon) == pytest.approx(30 * math.log(10), abs=1e-3)
    almost = Fraction(1, 2) - Fraction(1, 10**9)
    assert smallest_zone(almost, almost, 1).epsilon.nano <= 10


@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("miss_rate", lambda: smallest_zone("0.5", "0.1", 1)),
        ("miss_rate", lambda: smallest_zone(0, "0.1", 1)),
        ("false_alarm_rate", lambda: smallest_zone("0.1", "0.7", 1)),
        ("false_alarm_rate", lambda: smallest_zone("0.1", float("nan"), 1)),
        ("width", lambda: smallest_zone("0.1", "0.1", 0)),
        ("width", lambda: smallest_zone("0.1", "0.1", 1.5)),
        ("width", lambda: smallest_zone("0.1", "0.1", 1 << 62)),
        ("sensitivity", lambda: smallest_zone("0.1", "0.1", 1, 0)),
        ("sensitivity", lambda: smallest_zone("0.1", "0.1", 1, True)),
    ],
)
def test_bad_arguments_are_named(field, call):
    with pytest.raises(ArgumentError) as refused:
        call()
    assert refused.value.field == field
