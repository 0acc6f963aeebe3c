"""The threshold shift at its worst case, its exact law, its prices; and that careless ones fail."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from thresher.amounts import Epsilon
from thresher.decisions import threshold_shift
from thresher.decisions.shift import Shift, look, priced_shift
from thresher.errors import ArgumentError
from thresher.noise import discrete_laplace, tail
from thresher.noise.entropy import NotPrivate

FALSE_FAILURE = 1e-6


@pytest.mark.parametrize(
    ("tolerances", "epsilon"),
    [
        ([(10, 1)], "0.218725417"),
        ([(10, 1)] * 6, "0.218725417"),  # six conditions cost what one costs
        ([(1, 1)], "1.386294362"),
        ([(0, 1)], "2.94443898"),  # ln 19
        ([(19, 10)], "1.179920941"),  # a unit cut into ten steps: 1.386 without
        ([(650, 65), (1000, 1)], "0.218725417"),
    ],
)
def test_prices_are_those_of_the_specification(tolerances, epsilon):
    assert priced_shift("0.05", "0.1", tolerances).epsilon == Epsilon(epsilon)


def test_the_price_never_grows_with_a_wider_region_nor_with_a_larger_rate():
    prices = [priced_shift("0.05", "0.1", [(slack, 10)]).epsilon for slack in range(0, 60, 7)]
    assert prices == sorted(prices, reverse=True)
    rates = [priced_shift(Fraction(i, 100), "0.1", [(5, 1)]).epsilon for i in (1, 5, 20, 49)]
    assert rates == sorted(rates, reverse=True)


@pytest.mark.parametrize("alarm", ["0.001", "0.05", "0.1", "0.6"])
@pytest.mark.parametrize("tolerances", [[(10, 1)], [(19, 10)], [(0, 3)]])
def test_both_promises_hold_exactly_and_not_by_more_than_a_step(tolerances, alarm):
    shift, rate = priced_shift("0.05", alarm, tolerances), float(alarm)
    assert tail(shift.epsilon, shift.steps + 1, shift.scale).high <= 0.05 + 1e-15
    reach = shift.clear - shift.steps
    assert shift.certain == reach - 1
    assert tail(shift.epsilon, reach, shift.scale).high <= rate
    assert reach == 1 or tail(shift.epsilon, reach - 1, shift.scale).low > rate


def missed_too_often(missed: int, trials: int, rate: float) -> bool:
    """Whether so many misses would come with a chance below the false-failure probability if the rate held."""
    return bool(binom.sf(missed - 1, trials, rate) < FALSE_FAILURE)


def test_misses_at_the_worst_case(entropy, trials):
    count = trials(400_000, 4_000_000)
    seen = look(np.zeros(count, dtype=np.int64), priced_shift("0.05", "0.1", [(19, 10)]), entropy)
    missed = int((~seen.reported).sum())
    assert not missed_too_often(missed, count, 0.05)
    assert missed > 0.9 * 0.05 * count, "the least epsilon leaves no slack"


def test_false_alarms_at_the_worst_case(entropy, trials):
    count, shift = trials(400_000, 4_000_000), priced_shift("0.05", "0.1", [(10, 1)])
    just_short = look(np.full(count, -1, dtype=np.int64), shift, entropy)
    assert not missed_too_often(int(just_short.certain.sum()), count, 0.1)
    clear = look(np.full(count, -shift.clear, dtype=np.int64), shift, entropy)
    assert not missed_too_often(int(clear.reported.sum()), count, 0.1)
    assert missed_too_often(int(just_short.reported.sum()), count, 0.1), "close to the line there is no promise"


def test_careless_shifts_are_caught(entropy):
    """Power: noise a tenth too wide, or a line one step too high, is missed too often at the same counts."""
    count, shift = 400_000, priced_shift("0.05", "0.1", [(10, 1)])
    line_moved = Shift(shift.epsilon, shift.scale, shift.steps - 1, shift.certain, shift.clear)
    at_the_line = np.zeros(count, dtype=np.int64)
    assert missed_too_often(int((~look(at_the_line, line_moved, entropy).reported).sum()), count, 0.05)
    wider = discrete_laplace(shift.epsilon.fraction * 9 / 10, count, 1, entropy)
    assert missed_too_often(int((wider < -shift.steps).sum()), count, 0.05)


def test_verdicts_are_ordered_and_stamped(entropy):
    seen = threshold_shift(np.array([-100, 0, 100]), half_width=10, entropy=entropy)
    assert seen.reported.tolist() == [False, True, True]
    assert not (seen.certain & ~seen.reported).any()
    assert isinstance(seen.noisy, NotPrivate)


@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("margins", lambda: threshold_shift(np.array([0.5]), 10)),
        ("half_width", lambda: threshold_shift(np.array([1]), -1)),
        ("half_width", lambda: threshold_shift(np.array([1]), True)),
        ("miss_rate", lambda: threshold_shift(np.array([1]), 10, miss_rate=0)),
        ("tolerances", lambda: priced_shift("0.05", "0.1", [])),
    ],
)
def test_bad_arguments_are_named(field, call):
    with pytest.raises(ArgumentError) as refused:
        call()
    assert refused.value.field == field
