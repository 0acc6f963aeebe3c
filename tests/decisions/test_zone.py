"""The look that keeps two rates outside a zone: its coin falls at one value only, and its law is the exact one."""

import math
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from thresher.decisions import threshold_zone
from thresher.decisions.shift import look, priced_shift, priced_zone, zone_of
from thresher.noise.zones import alarmed_formula, missed_formula

MODULE = sys.modules["thresher.decisions.shift"]
BETA, ALPHA = Fraction(1, 20), Fraction(1, 10)
# 4.9 standard errors: a right law fails with probability 1e-6.
ERRORS = 4.9


@pytest.fixture
def scripted(monkeypatch):
    """Margins come out as they are, and the coin falls as told; gives how often it was thrown."""
    thrown = []

    def prepare(falls):
        def coins(_, size, entropy):
            del entropy
            thrown.append(size)
            return np.full(size, falls)

        monkeypatch.setattr(MODULE, "discrete_laplace", lambda *_: 0)
        monkeypatch.setattr(MODULE, "chances", coins)
        return thrown

    return prepare


@pytest.mark.parametrize("width", [1, 2, 5, 20])
def test_the_coin_decides_at_one_value(width, scripted):
    shift, values = zone_of(BETA, ALPHA, width, 1), np.arange(-60, 60)
    thrown = scripted(False)
    without = look(values, shift)
    scripted(True)
    with_coin = look(values, shift)
    assert values[without.reported].min() == -shift.steps
    assert values[with_coin.reported].min() == -shift.steps - 1
    assert thrown == [1, 1], "one group was there, so one coin"
    assert (with_coin.certain == without.certain).all()
    assert with_coin.verdict[values == -shift.steps - 1].tolist() == [0], "reported by the coin is uncertain"


@pytest.mark.parametrize(
    ("width", "alarms"), [(1, "0.1"), (1, "0.02"), (2, "0.1"), (5, "0.1"), (5, "0.4"), (20, "0.01")]
)
def test_both_rates_are_those_of_the_formulas(width, alarms, entropy, trials):
    """At 0 and at -width, within 4.9 standard errors; for width 1 they are the promised rates themselves."""
    count = trials(200_000, 4_000_000)
    shift = zone_of(BETA, Fraction(alarms), width, 1)
    p = math.exp(-float(shift.epsilon))
    missed = (~look(np.zeros(count, np.int64), shift, entropy).reported).mean()
    alarmed = look(np.full(count, -width), shift, entropy).reported.mean()
    chances = [
        missed_formula(p, shift.steps, float(shift.boundary)),
        alarmed_formula(p, shift.steps, float(shift.boundary), width),
    ]
    for rate, chance, promise in zip((missed, alarmed), chances, (BETA, Fraction(alarms)), strict=True):
        assert rate == pytest.approx(chance, abs=ERRORS * math.sqrt(chance / count))
        assert chance == pytest.approx(float(promise), rel=1e-6)


@pytest.mark.parametrize("off", [-1, 1])
def test_a_coin_one_value_off_is_caught(off, entropy):
    """The same check, with the coin thrown at the value next to the right one."""
    count, shift = 200_000, zone_of(BETA, ALPHA, 5, 1)
    noisy = np.asarray(look(np.zeros(count, np.int64), shift, entropy).noisy)
    edge = noisy == -shift.steps - 1 + off
    coin = np.random.default_rng(1).random(count) < float(shift.boundary)
    reported = (noisy >= -shift.steps) & ~edge | edge & coin
    assert abs((~reported).mean() - 0.05) > ERRORS * math.sqrt(0.05 / count)


def test_a_zone_costs_no_more_than_a_shift_with_the_same_clear_distance():
    for half_width in (1, 5, 20):
        zone, shift = (price(BETA, ALPHA, [(half_width, 1)]) for price in (priced_zone, priced_shift))
        assert zone.clear == 2 * half_width
        assert zone_of(BETA, ALPHA, shift.clear, 1).epsilon <= shift.epsilon


def test_a_zone_of_several_atoms_is_as_wide_as_the_narrowest():
    zone = priced_zone(BETA, ALPHA, [(10, 1), (30, 2), (650, 65)])
    assert Fraction(zone.clear, zone.scale) == 20
    assert priced_zone(BETA, ALPHA, [(0, 3)]).clear == 1, "no slack: a sharp line"


def test_without_a_coin_none_is_thrown(entropy):
    shift = replace(zone_of(BETA, ALPHA, 5, 1), boundary=Fraction(0))
    seen = look(np.full(1000, -shift.steps - 1), shift, entropy)
    assert (seen.reported == (np.asarray(seen.noisy) >= -shift.steps)).all()


def test_as_one_call_on_an_array(entropy):
    seen = threshold_zone([-500, 0, 500], 5, "0.05", "0.1", entropy=entropy)
    assert seen.reported.tolist() == [False, True, True]
    assert seen.worst == zone_of(BETA, ALPHA, 5, 1).epsilon
    assert seen.clear == 5
