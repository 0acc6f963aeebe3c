import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import DRAWS

from thresher.amounts import Epsilon
from thresher.errors import ArgumentError
from thresher.noise import (
    chain,
    cheapest_offer,
    conditional_shift,
    discrete_laplace,
    history_shift,
    refine,
    refined_tail,
    smallest_epsilon,
    tail,
    tails,
)
from thresher.noise.tails import refined_tail_formula, tail_formula

# So many steps to a unit that integer noise meets the continuous reference values to five places.
UNIT = 10**6


def test_the_exact_tail():
    assert tail_formula(Fraction(1, 2), 3) == Fraction(1, 12)


@pytest.mark.parametrize(
    ("miss_rate", "margin", "reference"),
    [
        ("0.05", 1, "2.9444389792"),
        ("0.05", 2, "1.3862943611"),
        ("0.05", 11, "0.218725"),
        ("0.01", 2, "2.2526059029"),
        ("0.05", 3, "0.8832"),
        ("0.05", 6, "0.4148"),
        ("0.05", 51, "0.04559"),
        ("0.05", 201, "0.011484"),
    ],
)
def test_smallest_epsilon_meets_the_reference(miss_rate, margin, reference):
    digits = min(9, len(reference.split(".")[1]))  # the answer is the next nano above
    assert abs(smallest_epsilon(miss_rate, margin).fraction - Fraction(reference)) <= Fraction(1, 10**digits)


@settings(max_examples=60)
@given(st.fractions(Fraction(1, 10**6), Fraction(499, 1000)), st.integers(1, 3000), st.integers(1, 500))
def test_smallest_epsilon_is_enough_and_one_nano_less_is_not(miss_rate, margin, sensitivity):
    epsilon = smallest_epsilon(miss_rate, margin, sensitivity)
    with mpmath.workdps(60):

        def missed(nano):
            p = mpmath.exp(-mpmath.mpf(nano) / (10**9 * sensitivity))
            return p**margin / (1 + p)

        bound = mpmath.mpf(miss_rate.numerator) / miss_rate.denominator
        assert missed(epsilon.nano) <= bound
        assert missed(epsilon.nano - 1) > bound


@settings(max_examples=60)
@given(
    st.fractions(Fraction(1, 10**9), Fraction(1, 2)),
    st.lists(st.tuples(st.integers(1, 3000), st.integers(1, 16)), min_size=1, max_size=16),
)
def test_the_cheapest_offer_is_that_of_the_least_epsilon(miss_rate, offers):
    """Most offers are left out by floats; equal ones, and ones a nano apart, are not."""
    more = [*offers, *((2 * margin, 2 * sensitivity) for margin, sensitivity in offers)]
    prices = [(smallest_epsilon(miss_rate, *offer), offer[::-1]) for offer in more]
    assert cheapest_offer(miss_rate, more) == min(prices)[1][::-1]


def test_half_or_more_needs_no_data():
    assert smallest_epsilon("0.5", 1) == smallest_epsilon("0.7", 10) == Epsilon(0)


def test_a_promise_is_met_by_the_noise_at_the_worst_case(entropy):
    """A group exactly at the threshold, half width 10: misses meet the promise within 4.9 standard errors (1e-6)."""
    epsilon = smallest_epsilon("0.05", 11)
    missed = (discrete_laplace(epsilon, DRAWS, entropy=entropy) <= -11).mean()
    assert abs(missed - 0.05) < 4.9 * math.sqrt(0.05 * 0.95 / DRAWS)
    too_cheap = (discrete_laplace(epsilon.fraction * Fraction(9, 10), DRAWS, entropy=entropy) <= -11).mean()
    assert too_cheap > 0.05 + 4.9 * math.sqrt(0.05 * 0.95 / DRAWS)


@given(st.fractions(Fraction(1, 1000), 50), st.integers(0, 2000))
def test_tails_are_bracketed_tightly(epsilon, at_least):
    bracket = tail(epsilon, at_least)
    with mpmath.workdps(60):
        p = mpmath.exp(-mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        truth = p**at_least / (1 + p)
        assert bracket.low <= truth <= bracket.high
    if bracket.low > 1e-300:
        assert bracket.high / bracket.low - 1 < 1e-14


def test_tails_far_out_are_bracketed_by_zero_and_the_least_float():
    assert tail(1000, 1000) == (0.0, 5e-324)


@pytest.mark.parametrize(("seen", "reference"), [(-3 * UNIT, 0.17467), (-UNIT, 0.02646), (3 * UNIT // 2, 0.00973)])
def test_refined_tails_meet_the_continuous_reference(seen, reference):
    bracket = refined_tail(seen, 2 * UNIT, "0.5", "1.2", UNIT)
    assert bracket.high - bracket.low < 1e-15
    assert bracket.high == pytest.approx(reference, abs=6e-6)


def test_refined_tail_formula_sums_the_kernel():
    """Against the exact kernel of p1 = 1/2, p2 = 1/3, by Bayes' rule."""
    p1, p2 = Fraction(1, 2), Fraction(1, 3)
    same = (1 - p1) ** 2 * p2 / ((1 - p2) ** 2 * p1)

    def mass(p, x):
        return (1 - p) / (1 + p) * p ** abs(x)

    for x in (-5, -3, -1, 0, 2):
        for a in (1, 2, 3, 4):
            direct = sum(
                mass(p2, y) * ((same if x == y else 0) + (1 - same) * mass(p1, x - y)) / mass(p1, x)
                for y in range(-200, -a + 1)
            )
            formula = refined_tail_formula(p2 / p1, p1 * p2, max(-x, 0), a)
            assert 0 <= formula - direct < Fraction(1, 10**60)


def test_conditional_shift_meets_the_reference():
    assert conditional_shift(0, "1.2", "0.02", UNIT) / UNIT == pytest.approx(math.log(25) / 1.2, abs=2e-6)
    assert conditional_shift("0.5", "1.2", "0.02", UNIT) / UNIT == pytest.approx(5.0960, abs=5e-5)


def test_the_default_last_level_with_conditional_calibration():
    """beta = .05 over four levels from 1e-5: the half width is 1 at 3.754691, and not below it."""
    share, first = Fraction(1, 80), Fraction(1, 10**5)

    def half_width(last):
        ratio = (last / first) ** Fraction(1, 3)
        return conditional_shift(Fraction(str(last / ratio)), Fraction(str(last)), share, UNIT) / UNIT

    assert half_width(3.754691) <= 1 + 2e-6
    assert half_width(3.7546) > 1 + 1e-5


def test_history_shift_meets_the_reference():
    shifts = history_shift(np.array([0, -1, -3, -8, 5]) * UNIT, "0.5", "1.2", "0.02", UNIT) / UNIT
    assert shifts == pytest.approx([1.5764, 2.1646, 3.3411, 5.0960, 1.5764], abs=5e-5)


@settings(max_examples=40)
@given(
    st.fractions(Fraction(1, 50), 2),
    st.fractions(Fraction(1, 50), 2),
    st.fractions(Fraction(1, 1000), Fraction(2, 5)),
    st.lists(st.integers(-300, 50), min_size=1, max_size=6),
)
def test_shifts_are_the_least_that_keep_their_share(first, step, share, seen):
    """Checked with enclosures, at the shift (kept) and one below it (broken), for the truth at and above threshold."""
    second = first + step
    shifts = history_shift(np.array(seen), first, second, share)
    most = conditional_shift(first, second, share)
    for y, a in zip(seen, shifts.tolist(), strict=True):
        assert 1 <= a <= most
        for above in (0, 1, 7):
            assert refined_tail(y - above, a + above, first, second).low <= share
        if a > 1:
            assert refined_tail(y, a - 1, first, second).high > share
    assert refined_tail(-most - 5, most, first, second).low <= share
    if most > 1:
        assert refined_tail(-most - 5, most - 1, first, second).high > share


def _misses(shift_after, noise, levels, entropy):
    """An adversary's policy on three levels: one step if the first look was low, else two steps at once."""
    lost = noise <= -shift_after(0, levels[0], 1)
    low = noise < -1.5 * UNIT
    middle = refine(noise, levels[0], levels[1], UNIT, entropy)
    lost |= low & (middle <= -shift_after(levels[0], levels[1], 1))
    last = refine(middle, levels[1], levels[2], UNIT, entropy)
    lost |= low & (last <= -shift_after(levels[1], levels[2], 1))
    leap = refine(noise, levels[0], levels[2], UNIT, entropy)
    lost |= ~low & (leap <= -shift_after(levels[0], levels[2], 2))
    return lost.mean()


def test_an_adversarial_choice_of_levels_breaks_marginal_but_not_conditional_shifts(entropy):
    levels, share = [Fraction(1), Fraction(2), Fraction(4)], Fraction(5, 300)
    noise = discrete_laplace(levels[0], DRAWS, UNIT, entropy)

    def marginal(_, level, steps):
        return conditional_shift(0, level, steps * share, UNIT)

    def conditional(before, level, steps):
        return conditional_shift(before, level, steps * share, UNIT)

    error = math.sqrt(0.05 / DRAWS)
    assert _misses(marginal, noise, levels, entropy) == pytest.approx(0.0546, abs=5 * error)
    kept = _misses(conditional, noise, levels, entropy)
    assert kept == pytest.approx(0.0231, abs=5 * error)
    assert kept <= 0.05


def test_fixed_levels_keep_the_promise_by_the_union_of_marginals(entropy):
    levels = ["0.5", "1", "2"]
    rows = chain(levels, DRAWS, UNIT, entropy)
    cuts = np.array([conditional_shift(0, level, Fraction(5, 300), UNIT) for level in levels])
    assert (rows <= -cuts[:, None]).any(axis=0).mean() <= 0.05


@pytest.mark.parametrize("miss_rate", [0, -0.1, 1, 1.5, float("nan"), True, None, "0.05x"])
def test_a_miss_rate_is_a_probability(miss_rate):
    for call in (
        lambda: smallest_epsilon(miss_rate, 5),
        lambda: conditional_shift("0.1", "0.2", miss_rate),
        lambda: history_shift(np.array([1]), "0.1", "0.2", miss_rate),
    ):
        with pytest.raises(ArgumentError, match=r"^miss_rate = "):
            call()


@pytest.mark.parametrize("margin", [0, -1, 1.5, True, None, 1 << 70])
def test_a_margin_is_a_positive_integer(margin):
    with pytest.raises(ArgumentError, match=r"^margin = "):
        smallest_epsilon("0.05", margin)


def test_the_fix_fits_the_side_that_was_broken():
    for margin, fix in ((0, "Pass 1 or a larger integer"), (1 << 70, "Count in larger units"), (10.5, "Pass an int")):
        with pytest.raises(ArgumentError, match=fix):
            smallest_epsilon("0.05", margin)


def test_other_bad_arguments_are_named():
    with pytest.raises(ArgumentError, match=r"^sensitivity = "):
        smallest_epsilon("0.05", 5, 0)
    with pytest.raises(ArgumentError, match=r"^at_least = "):
        tail(1, -1)
    with pytest.raises(ArgumentError, match=r"^at_least = "):
        refined_tail(0, 0, 1, 2)
    with pytest.raises(ArgumentError, match=r"^seen = "):
        refined_tail(0.5, 1, 1, 2)
    with pytest.raises(ArgumentError, match=r"^seen = ") as refusal:
        history_shift(np.array([7919.0]), 1, 2, "0.1")
    assert "7919" not in str(refusal.value)
    with pytest.raises(ArgumentError, match=r"^to_epsilon = "):
        conditional_shift(0, 0, "0.1")
    with pytest.raises(ArgumentError, match="even an epsilon of a million"):
        smallest_epsilon("0.05", 1, 10**9)


@pytest.mark.parametrize("error", [-1e-3, -1e-9, 1e-9, 1e-3])
def test_shifts_do_not_rest_on_the_float_they_start_from(error, monkeypatch):
    """With a logarithm that is off, the answers are the same: every guess is proved or mended."""
    asked = [(Fraction(1, 2), Fraction(6, 5), "0.02"), (Fraction(1, 50), Fraction(1, 25), "0.25"), (1, 3, "0.0001")]
    right = [(conditional_shift(*ask), history_shift(np.arange(-9, 3), *ask).tolist()) for ask in asked]

    class Skewed:
        def __getattr__(self, name):
            return getattr(math, name)

        def log(self, x):
            return math.log(x) * (1 + error)

    monkeypatch.setattr(tails, "math", Skewed())
    assert [(conditional_shift(*ask), history_shift(np.arange(-9, 3), *ask).tolist()) for ask in asked] == right


@pytest.mark.parametrize("share", ["0.02", "0.0000000000000000000000000001"])
def test_shifts_of_the_narrowest_steps_are_the_least(share):
    first, second = Fraction(1, 10), Fraction(1, 10) + Fraction(1, 10**12)
    shift = conditional_shift(first, second, share)
    assert refined_tail(-shift, shift, first, second).low <= Fraction(share)
    assert refined_tail(-shift, shift - 1, first, second).high > Fraction(share)
    assert refined_tail(-shift, shift - 2, first, second).low > Fraction(share)
