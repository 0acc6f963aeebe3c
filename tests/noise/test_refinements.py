"""The least level to refine to: enough whatever was seen, and a nano less is not."""

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.amounts import NANO, Epsilon
from thresher.errors import ArgumentError
from thresher.noise import conditional_shift, refined_tail, smallest_epsilon, smallest_refinement
from thresher.noise.tails import refined_tail_formula

RATES = st.fractions(Fraction(1, 10**6), Fraction(2, 5))


def worst_tail(before, after, margin, sensitivity):
    """The largest chance, over all that could have been seen, that refined noise is -margin or less."""
    first, second = (mpmath.mpf(nano) / (NANO * sensitivity) for nano in (before, after))
    return refined_tail_formula(mpmath.exp(first - second), mpmath.exp(-first - second), margin, margin)


@settings(max_examples=60)
@given(st.integers(50, 5 * NANO), RATES, st.integers(1, 300), st.integers(1, 50))
def test_it_is_enough_and_one_nano_less_is_not(before, miss_rate, margin, sensitivity):
    after = smallest_refinement(Epsilon.from_nano(before), miss_rate, margin, sensitivity).nano
    assert after > before
    with mpmath.workdps(60):
        bound = mpmath.mpf(miss_rate.numerator) / miss_rate.denominator
        assert worst_tail(before, after, margin, sensitivity) <= bound
        if after - 1 > before:
            assert worst_tail(before, after - 1, margin, sensitivity) > bound


@pytest.mark.parametrize(
    ("before", "miss_rate", "margin"), [("0.5", "0.02", 6), ("0.01", "0.0125", 2), ("2", "0.2", 1)]
)
def test_it_undoes_the_conditional_shift(before, miss_rate, margin):
    after = smallest_refinement(before, miss_rate, margin)
    assert conditional_shift(before, after, miss_rate) == margin
    assert conditional_shift(before, Epsilon.from_nano(after.nano - 1), miss_rate) == margin + 1
    for seen in (-margin - 5, -margin, -1, 0, 3):
        assert refined_tail(seen, margin, before, after).low <= Fraction(miss_rate)


def test_with_nothing_seen_it_is_the_least_epsilon():
    assert smallest_refinement(0, "0.05", 11) == smallest_epsilon("0.05", 11)


@settings(max_examples=40)
@given(st.integers(1, NANO), st.integers(1, NANO), RATES, st.integers(1, 60))
def test_a_finer_history_asks_for_no_less(coarse, more, miss_rate, margin):
    """What was seen at a finer level may be worse luck; so the ladder's reserved level covers every way up to it."""
    before, finer = Epsilon.from_nano(coarse), Epsilon.from_nano(coarse + more)
    assert smallest_refinement(before, miss_rate, margin) <= smallest_refinement(finer, miss_rate, margin)


@settings(max_examples=40)
@given(st.integers(1, NANO), st.integers(1, 60))
def test_the_worst_tail_falls_with_the_level(before, margin):
    with mpmath.workdps(60):
        tails = [worst_tail(before, before + step, margin, 1) for step in (1, 10**3, 10**6, 10**8, 10**9)]
    assert tails == sorted(tails, reverse=True)


@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("from_epsilon", lambda: smallest_refinement(-1, "0.05", 2)),
        ("from_epsilon", lambda: smallest_refinement(float("nan"), "0.05", 2)),
        ("from_epsilon", lambda: smallest_refinement("0.1234567891234", "0.05", 2)),
        ("miss_rate", lambda: smallest_refinement("0.1", 0, 2)),
        ("miss_rate", lambda: smallest_refinement("0.1", 1, 2)),
        ("margin", lambda: smallest_refinement("0.1", "0.05", 0)),
        ("margin", lambda: smallest_refinement("0.1", "0.05", 2.5)),
        ("sensitivity", lambda: smallest_refinement("0.1", "0.05", 2, 0)),
    ],
)
def test_bad_arguments_are_named(field, call):
    with pytest.raises(ArgumentError) as refused:
        call()
    assert refused.value.field == field
