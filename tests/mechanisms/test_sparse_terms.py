"""How a sparse vector's budget is split, and the public offset of one-sided noise."""

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from thresher.amounts import Epsilon
from thresher.errors import ArgumentError
from thresher.mechanisms.sparse_terms import Setting, budget_split, mean_gap, sparse_terms

AWKWARD = ["1", "0.1", "0.000001", "0.333333333", Fraction(1, 3), "7.7", Fraction(10**9 + 7, 10**10), 10]


@pytest.mark.parametrize("epsilon", AWKWARD)
@pytest.mark.parametrize("most", [1, 2, 3, 4, 8, 27, 1000])
@pytest.mark.parametrize("kind", ["general", "monotone"])
def test_the_parts_add_up_exactly(epsilon, most, kind):
    whole = Fraction(epsilon)
    first, second = budget_split(whole, most, kind)
    assert first > 0
    assert second > 0
    assert first + second == whole
    assert (first * 10**9).denominator == 1


@pytest.mark.parametrize("most", [1, 2, 3, 4, 8, 27, 1000])
@pytest.mark.parametrize(("kind", "times"), [("general", 2), ("monotone", 1)])
def test_the_split_is_the_best_to_a_nano(most, kind, times):
    first, _ = budget_split(Fraction(1), most, kind)
    best = 1 / (1 + mpmath.mpf(times * most) ** (mpmath.mpf(2) / 3))
    assert abs(mpmath.mpf(first.numerator) / first.denominator - best) < 1e-9

    def variance(part):
        return (1 / part) ** 2 + (times * most / (1 - part)) ** 2

    assert variance(float(first)) <= min(variance(float(first) * 1.01), variance(float(first) * 0.99))


def test_the_scales_of_the_literature():
    terms = sparse_terms(1, 1)
    assert float(terms.threshold_rate) == pytest.approx(0.386488, abs=5e-7)
    assert float(1 / terms.threshold_rate) == pytest.approx(2.587401, abs=5e-6)
    assert float(1 / terms.query_rate) == pytest.approx(3.259921, abs=5e-6)


@pytest.mark.parametrize(
    ("most", "kind", "deviation"),
    [
        *((c, "general", d) for c, d in ((1, 4.16), (2, 6.60), (3, 8.92))),
        *((c, "monotone", d / 2**0.5) for c, d in ((1, 4.00), (2, 5.89), (3, 7.65))),
    ],
)
def test_the_deviation_of_a_comparison(most, kind, deviation):
    """In the continuous limit: one-sided noise has one variance where two-sided noise has two."""
    terms = sparse_terms(most, 1, Setting(kind=kind))
    measured = float(1 / terms.threshold_rate**2 + 1 / terms.query_rate**2) ** 0.5
    assert measured == pytest.approx(deviation, abs=0.006)
    printed = (2 * 2**2 + 2 * (4 * most) ** 2) ** 0.5
    assert printed == pytest.approx({1: 6.32, 2: 11.66, 3: 17.21}[most], abs=0.006)
    assert measured < printed


def test_nested_queries_spend_all_of_it_twice():
    terms = sparse_terms(1, "0.7", Setting(kind="nested", sensitivity=2))
    assert terms.threshold_rate == terms.query_rate == Fraction(7, 20)
    assert terms.epsilon == Epsilon("0.7")
    assert terms.offset == 0


@pytest.mark.parametrize(
    "rates",
    list(itertools.permutations([Fraction(1, 3), Fraction(2, 7), Fraction(1, 1000), Fraction(5), Fraction(1)], 2)),
)
def test_the_offset_is_the_nearest_whole_number_to_the_gap_of_means(rates):
    with mpmath.workdps(40):
        first, second = (1 / mpmath.expm1(mpmath.mpf(rate.numerator) / rate.denominator) for rate in rates)
        assert mean_gap(*rates) == mpmath.nint(second - first)


def test_equal_rates_need_no_offset_and_two_sided_noise_has_none():
    assert mean_gap(Fraction(1, 9), Fraction(1, 9)) == 0
    assert mean_gap(Fraction(1, 9), Fraction(1, 9) + Fraction(1, 10**12)) == 0
    assert sparse_terms(5, "0.1", Setting(noise="two-sided")).offset == 0
    assert sparse_terms(5, "0.1").offset > 0


def test_what_is_charged_is_rounded_up():
    assert sparse_terms(1, Fraction(1, 3)).epsilon == Epsilon("0.333333334")


BAD = [
    ("most", lambda: sparse_terms(0, 1)),
    ("most", lambda: sparse_terms(-1, 1)),
    ("most", lambda: sparse_terms(1.0, 1)),
    ("most", lambda: sparse_terms(True, 1)),
    ("most", lambda: sparse_terms(10**7, 1)),
    ("most", lambda: sparse_terms(2, 1, Setting(kind="nested"))),
    ("epsilon", lambda: sparse_terms(1, 0)),
    ("epsilon", lambda: sparse_terms(1, -1)),
    ("epsilon", lambda: sparse_terms(1, float("nan"))),
    ("epsilon", lambda: sparse_terms(1, "much")),
    ("epsilon", lambda: sparse_terms(1, 10**4)),
    ("epsilon", lambda: sparse_terms(1, "1e-9")),
    ("epsilon", lambda: sparse_terms(1, "1e-12")),
    ("sensitivity", lambda: Setting(sensitivity=0)),
    ("sensitivity", lambda: Setting(sensitivity=1.5)),
    ("kind", lambda: Setting(kind="monotonic")),
    ("kind", lambda: Setting(kind=np.array([1, 2]))),
    ("side", lambda: Setting(side="over")),
    ("noise", lambda: Setting(noise="gaussian")),
    ("setting", lambda: sparse_terms(1, 1, "monotone")),
]


@pytest.mark.parametrize(("field", "make"), BAD)
def test_what_cannot_be_is_refused(field, make):
    with pytest.raises(ArgumentError) as refusal:
        make()
    assert refusal.value.field == field


def test_numpys_integers_do_not_wrap_around():
    terms = sparse_terms(np.int8(100), 1, Setting(sensitivity=np.int8(100)))
    assert terms.query_rate == sparse_terms(100, 1, Setting(sensitivity=100)).query_rate > 0
