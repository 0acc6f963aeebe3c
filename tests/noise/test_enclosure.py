from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import BugError
from thresher.noise.enclosure import Enclosure, ImpreciseError, certified, exp_minus, exp_of_small

positive = st.fractions(Fraction(1, 10**6), 1000)


def _holds(enclosure, number):
    return Fraction(enclosure.low, 1 << enclosure.bits) <= number <= Fraction(enclosure.high, 1 << enclosure.bits)


@given(st.fractions(0, 1000), st.sampled_from([16, 64, 128, 700]))
def test_exponentials_lie_inside_and_are_tight(rate, bits):
    enclosure = exp_minus(rate, bits)
    with mpmath.workprec(3000):
        value = mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator) * mpmath.mpf(2) ** bits
        assert enclosure.low <= value <= enclosure.high
    assert enclosure.high - enclosure.low <= 3


@given(positive, positive, st.integers(0, 9))
def test_every_operation_encloses_the_exact_result(a, b, n):
    x, y = Enclosure.of(a, 64), Enclosure.of(b, 64)
    larger, smaller = (a, b) if a >= b else (b, a)
    assert _holds(x + y, a + b)
    assert _holds(Enclosure.of(larger, 64) - Enclosure.of(smaller, 64), larger - smaller)
    assert _holds(x * y, a * b)
    assert _holds(x / y, a / b)
    assert _holds(x**n, a**n)
    assert _holds(1 + x, 1 + a)
    assert _holds(1 / x, 1 / a)
    assert _holds(2000 - x, 2000 - a)
    assert _holds(3 * x, 3 * a)
    assert _holds(x / 7, a / 7)


def test_a_wide_bracket_does_not_answer():
    wide = Enclosure(3, 5, 3)
    with pytest.raises(ImpreciseError):
        wide.floor(3)
    with pytest.raises(ImpreciseError):
        wide.at_most(Fraction(1, 2))
    with pytest.raises(ImpreciseError):
        Enclosure(1, 1, 3) / Enclosure(0, 1, 3)
    assert Enclosure(3, 3, 3).floor(1) == 0
    assert wide.at_most(Fraction(5, 8))
    assert not wide.at_most(Fraction(2, 8))


def test_more_bits_are_tried_until_the_answer_is_settled():
    asked = []

    def ask(bits):
        asked.append(bits)
        if bits < 1000:
            raise ImpreciseError
        return "settled"

    assert certified(ask) == "settled"
    assert asked == [128, 256, 512, 1024]


def test_a_number_on_the_boundary_is_reported_as_a_bug():
    def ask(bits):
        raise ImpreciseError

    with pytest.raises(BugError):
        certified(ask)


@given(st.fractions(0, Fraction(249, 1000)), st.integers(2, 40))
def test_the_series_encloses_at_every_precision(x, bits):
    """Few bits, so that a dropped unit or a wrong rounding shows."""
    series = exp_of_small(Enclosure.of(x, bits))
    with mpmath.workprec(400):
        assert series.low <= mpmath.exp(mpmath.mpf(x.numerator) / x.denominator) * 2**bits <= series.high


def test_the_remainder_of_the_series_is_covered():
    """The sum of the terms alone stays below the exponential somewhere: the last unit is needed."""
    needed = 0
    for numerator in range(1, 60):
        for bits in range(6, 30):
            series = exp_of_small(Enclosure.of(Fraction(numerator, 256), bits))
            with mpmath.workprec(400):
                needed += bool(mpmath.exp(mpmath.mpf(numerator) / 256) * 2**bits > series.high - 1)
    assert needed
