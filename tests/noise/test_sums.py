"""Sums of noise: exact tails against convolution, reference values, draws, and mistakes that the same checks catch."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.errors import ArgumentError, BugError
from thresher.noise import NoiseSum, discrete_laplace, least_distance, sums, tail
from thresher.noise.sums import Powers, alike_formula, unlike_formula

HALF = Fraction(1, 2)


def exact(p):
    """Powers of a fraction; a power that is no whole number is an error."""

    def of(x):
        if Fraction(x).denominator != 1:
            raise ValueError(x)
        return p ** int(x)

    return Powers(of, lambda x: 1 - of(x))


def mass(p, x):
    return (1 - p) / (1 + p) * p ** abs(x)


@pytest.mark.parametrize(
    ("p", "terms", "at_least", "probability"),
    [
        (HALF, 2, 3, Fraction(17, 108)),
        (HALF, 2, 1, Fraction(11, 27)),
        (Fraction(1, 3), 3, 2, Fraction(107, 512)),
        (HALF, 1, 3, Fraction(1, 12)),
    ],
)
def test_reference_values(p, terms, at_least, probability):
    assert alike_formula(exact(p), at_least, terms) == probability


@pytest.mark.parametrize("p", [HALF, Fraction(1, 3), Fraction(4, 5)])
@pytest.mark.parametrize("terms", [1, 2, 3, 4, 5])
def test_one_term_more_is_one_convolution_more(p, terms):
    """P[S + X >= a], summed over X exactly: for X >= a and below by hand, where S's tail is 1 minus another."""

    def reach(m, a):
        return alike_formula(exact(p), a, m) if a >= 1 else 1 - alike_formula(exact(p), 1 - a, m)

    for a in (1, 2, 7):
        far = 80
        near = sum(mass(p, x) * reach(terms, a - x) for x in range(-far, far + 1))
        rest = p**far / (1 + p)
        assert near <= alike_formula(exact(p), a, terms + 1) <= near + 2 * rest


@pytest.mark.parametrize("p", [HALF, Fraction(3, 7)])
@pytest.mark.parametrize("terms", [1, 2, 3, 9, 24])
def test_the_weights_are_those_of_the_double_sum(p, terms):
    """The recurrence against the formula it was made from, in fractions."""

    def weight(j):
        inner = sum(math.comb(terms, i) * math.comb(j - 1, i - 1) * p ** (2 * i) for i in range(1, j + 1))
        return (inner if j else 1) / (1 + p) ** (terms + j)

    def reached(at_least, terms):
        return sum(math.comb(at_least + i - 1, i) * (1 - p) ** i for i in range(terms))

    for at_least in (1, 5):
        wanted = p**at_least * sum(weight(j) * reached(at_least, terms - j) for j in range(terms))
        assert alike_formula(exact(p), at_least, terms) == wanted


@pytest.mark.parametrize(("terms", "distance"), [(288, 396), (1024, 745)])
def test_a_day_of_noises_is_still_exact(terms, distance):
    """Against the law by a Fourier sum, which knows nothing of the formula; found in well under a second."""
    noise = NoiseSum((1,) * terms)
    assert least_distance(noise, Fraction(1, 10), Fraction(1, 20)) == distance
    angle, p = 2 * np.pi * np.arange(1 << 15) / (1 << 15), math.exp(-0.1)
    turned = ((1 - p) ** 2 / (1 - 2 * p * np.cos(angle) + p * p)) ** terms
    law = np.fft.fft(turned).real / (1 << 15)
    for at_least in (distance - 1, distance, 3 * distance):
        tail_seen = law[at_least : 1 << 14].sum()
        low, high = noise.tail("0.1", at_least)
        assert low == pytest.approx(tail_seen, abs=1e-10)
        assert high - low <= 1e-12 * high
        assert noise.sketched(0.1, at_least) == pytest.approx(high, rel=1e-9)
    assert noise.tail("0.1", distance - 1).low > 0.05 >= noise.tail("0.1", distance).high


@settings(max_examples=60)
@given(st.integers(1, 64), st.integers(1, 5000), st.fractions(Fraction(1, 10**6), 3))
def test_brackets_hold_the_formula_at_fifty_digits(terms, at_least, rate):
    with mpmath.workdps(60):
        decay = mpmath.mpf(rate.numerator) / rate.denominator
        of = lambda x: mpmath.exp(-decay * mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator)  # noqa: E731
        true = alike_formula(Powers(of, lambda x: 1 - of(x)), at_least, terms)
        low, high = NoiseSum((1,) * terms).tail(rate, at_least)
        assert low <= true <= high
        assert high - low <= 1e-13 * high + 1e-300
        assert NoiseSum((1,) * terms).sketched(float(rate), at_least) == pytest.approx(
            float(true), rel=1e-9, abs=1e-290
        )


def test_one_term_is_the_tail_of_one():
    assert NoiseSum((1,)).tail("0.2", 11) == tail("0.2", 11)
    assert NoiseSum((3,), over=1, sensitivity=5).tail("0.2", 10) == tail("0.2", 4, 5), "3 X >= 10 is X >= 4"


def by_pairs(p, at_least, large, small, far=1200):
    """The tail of two unlike terms by summing over all that the first may be."""
    total = 0.0
    for k in range(-far, far + 1):
        n = -((large * k - at_least) // small)
        total += mass(p, k) * (p**n / (1 + p) if n >= 0 else 1 - p ** (1 - n) / (1 + p))
    return total


@settings(max_examples=80)
@given(st.integers(1, 32), st.integers(1, 40), st.integers(1, 300), st.floats(0.3, 0.95))
def test_two_coefficients_against_all_pairs(first, second, at_least, p):
    if first == second:
        return
    noise = NoiseSum((first, second))
    seen = noise.sketched(-math.log(p), at_least)
    assert seen == pytest.approx(by_pairs(p, at_least, max(first, second), min(first, second)), rel=1e-9, abs=1e-12)


def test_endpoint_reference():
    """A range of 100 steps, threshold at 65 of them: 35 X1 - 65 X2 >= 60,000 at epsilon 0.5."""
    low, high = NoiseSum((35, 65), over=100, sensitivity=100).tail("0.5", 600)
    assert low <= 0.00693274 + 5e-9
    assert high == pytest.approx(0.00693274, abs=5e-9)


@settings(max_examples=60)
@given(st.integers(2, 400), st.integers(1, 399), st.integers(1, 3000), st.floats(0.02, 0.6))
def test_the_bound_is_never_too_small_and_close(large, small, at_least, rate):
    if small >= large:
        return
    plain, rounded = sums._float_powers(rate), sums._MOST_RESIDUES
    try:
        sums._MOST_RESIDUES = 400
        true = unlike_formula(plain, at_least, large, small)
        sums._MOST_RESIDUES = 0
        bound = unlike_formula(plain, at_least, large, small)
    finally:
        sums._MOST_RESIDUES = rounded
    assert true * (1 - 1e-9) <= bound <= true * math.exp(rate) * (1 + 1e-9)


@pytest.mark.parametrize("noise", [NoiseSum((1,) * 3), NoiseSum((1,) * 20, 1, 2), NoiseSum((7, 3), 10, 10)])
def test_the_least_distance_is_enough_and_one_less_is_not(noise):
    for rate in (Fraction(1, 20), Fraction(1, 1000)):
        distance = least_distance(noise, Fraction(3, 10), rate)
        assert noise.tail("0.3", distance).high <= rate
        assert distance == 1 or noise.tail("0.3", distance - 1).low > rate


def test_draws_stray_as_far_as_the_tails_say(entropy, trials):
    """Within 5.1 standard errors, which a right law exceeds with probability 4e-7; wrong laws are told apart."""
    count = trials(200_000, 2_000_000)
    for noise, at_least in ((NoiseSum((1,) * 5), 12), (NoiseSum((65, 35), 100, 100), 250)):
        draws = [discrete_laplace("0.5", count, noise.sensitivity, entropy) for _ in noise.coefficients]
        sum_of = sum(c * draw for c, draw in zip(noise.coefficients, draws, strict=True))
        seen = float((np.asarray(sum_of) >= at_least * noise.over).mean())
        error = 5.1 * math.sqrt(0.25 / count)
        assert abs(seen - noise.tail("0.5", at_least).high) < error
        for wrong in ("0.45", "0.55"):
            assert abs(seen - noise.tail(wrong, at_least).high) > error


class TestMistakes:
    """What a careless build would do is seen by the checks above."""

    def test_a_term_left_out(self):
        assert alike_formula(exact(HALF), 3, 1) != Fraction(17, 108)

    def test_rounding_down_where_it_must_go_up(self):
        """With floors in place of ceilings the tail is another one, and too large for a promise to be sharp."""
        p, large, small, at_least = 0.7, 5, 3, 7
        down = sum(
            mass(p, k) * (p**n / (1 + p) if n >= 0 else 1 - p ** (1 - n) / (1 + p))
            for k in range(-200, 201)
            for n in [(at_least - large * k) // small]
        )
        assert abs(down - by_pairs(p, at_least, large, small)) > 0.01


def test_refusals():
    for coefficients in ((), (1, 2, 3), (0, 1), (1, 1, 2)):
        with pytest.raises((BugError, TypeError)):
            NoiseSum(coefficients)
    with pytest.raises(ArgumentError, match="at_least"):
        NoiseSum((1,)).tail(1, 0)


def test_every_small_case_by_brute_force():
    """Three terms alike and all pairs of coefficients up to 4, p = 1/2, over the whole lattice within 60."""
    p = 0.5
    line = np.array([mass(p, x) for x in range(-60, 61)])
    for large, small in itertools.combinations(range(4, 0, -1), 2):
        grid = np.add.outer(large * np.arange(-60, 61), small * np.arange(-60, 61))
        joint = np.outer(line, line)
        for at_least in range(1, 9):
            seen = NoiseSum((large, small)).sketched(math.log(2), at_least)
            assert seen == pytest.approx(float(joint[grid >= at_least].sum()), abs=1e-12)
