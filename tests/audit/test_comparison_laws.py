"""Rows of noisy comparisons against the values of the literature, forty digits, and each other."""

import math

import mpmath
import numpy as np
import pytest
from laws import largest_loss

from thresher.audit.laws.comparison_laws import (
    gptt_log_ratio,
    laplace,
    log_probability,
    one_sided,
    silence,
    transcript_law,
    two_sided,
)

# The values in print have six places.
TOLERANCE = 6e-7


def probability(row, margins, threshold, query):
    return math.exp(log_probability([answer == "T" for answer in row], margins, threshold, query))


@pytest.mark.parametrize(
    ("row", "queries", "scales", "value"),
    [
        ("T", (0,), (2, 4), 0.5),
        ("BT", (0, 1), (2, 4), 0.250522),
        ("BB", (0, 1), (2, 4), 0.249478),
        ("BBT", (-3, -3, 2), (2, 4), 0.325927),
        ("TT", (1, 0), (2, 8), 0.291190),
        ("TBT", (1, 0, 1), (2, 8), 0.141550),
        ("BBB", (1, 0, 1), (2, 8), 0.124826),
        ("T", (50,), (20, 40), 0.822678),
        ("T", (3,), (0.2, 0.4), 0.999631),
        # Thresholds that depend on data: both sensitivities add up.
        ("T", (-1,), (4, 8), 0.458531),
        ("BT", (-1, 2), (4, 8), 0.275343),
        ("BB", (-1, 2), (4, 8), 0.266126),
    ],
)
def test_laplace_comparisons(row, queries, scales, value):
    assert probability(row, queries, *map(laplace, scales)) == pytest.approx(value, abs=TOLERANCE)


@pytest.mark.parametrize(
    ("scales", "stops", "none"),
    [((2, 4), (0, 0.000001, 0.5, 0.387845), 0.112155), ((1, 1), (0, 0, 0.5, 0.489610), 0.010390)],
)
def test_where_the_search_for_a_bound_stops(scales, stops, none):
    law = transcript_law([count - 95 for count in (10, 40, 95, 100)], 1, *map(laplace, scales))
    rows = [(False,) * i + (True,) for i in range(4)]
    assert [law[row] for row in rows] == pytest.approx(stops, abs=TOLERANCE)
    assert law[(False,) * 4] == pytest.approx(none, abs=TOLERANCE)


def test_whole_number_comparisons():
    threshold, query = two_sided(0.5), two_sided(0.25)
    assert probability("T", (0,), threshold, query) == pytest.approx(0.542494, abs=TOLERANCE)
    assert probability("BT", (0, 1), threshold, query) == pytest.approx(0.245822, abs=TOLERANCE)


GPTT_COPIES = (1, 2, 3, 4, 5, 8, 16, 32, 64, 128, 256, 1024)
# The variants in print: what blurs the threshold, and each query.
VARIANTS = {
    "itemset mining, epsilon 1": (0.25, 0.75),
    "high dimensional, epsilon 1": (0.5, 0.5),
    "itemset mining, epsilon 0.1": (0.025, 0.075),
    "high dimensional, epsilon 0.1": (0.05, 0.05),
    "feature selection, epsilon 1": (1.0, math.inf),
}
TABLE = """
itemset mining, epsilon 1: 1.0326 2.1885 3.3892 4.6130 5.8510 9.6116 19.775 40.270 81.442 164.001 329.367 1322.68
high dimensional, epsilon 1: 0.7367 1.5295 2.3491 3.1846 4.0308 6.6083 13.611 27.796 56.358 113.686 228.571 918.919
itemset mining, epsilon 0.1: 0.1050 0.2243 0.3494 0.4779 0.6088 1.0099 2.1110 4.3673 8.9555 18.234 36.922 149.672
high dimensional, epsilon 0.1: 0.0750 0.1562 0.2405 0.3268 0.4145 0.6827 1.4181 2.9245 5.9886 12.189 24.688 100.211
feature selection, epsilon 1: inf inf inf inf inf inf inf inf inf inf inf inf
"""


def test_variants_that_never_stop_lose_without_end():
    for name, line in (each.split(": ") for each in TABLE.strip().splitlines()):
        for copies, shown in zip(GPTT_COPIES, line.split(), strict=True):
            within = 0.51 * 10.0 ** -len(shown.partition(".")[2])
            assert gptt_log_ratio(copies, *VARIANTS[name]) == pytest.approx(float(shown), abs=within), name


@pytest.mark.parametrize(("first", "second", "slope"), [(0.25, 0.75, 1.2942), (0.5, 0.5, 0.8997)])
def test_the_loss_grows_by_a_constant_for_each_copy(first, second, slope):
    """At least what blurs a query, and in the limit 2 log(2 exp(second / 2) - 1)."""
    assert 2 * math.log(2 * math.exp(second / 2) - 1) == pytest.approx(slope, abs=5e-5)
    near = (gptt_log_ratio(4096, first, second) - gptt_log_ratio(2048, first, second)) / 2048
    assert near == pytest.approx(slope, abs=5e-4)
    assert all(gptt_log_ratio(t, first, second) >= t * second for t in GPTT_COPIES)


def test_the_first_copy_too_many():
    assert gptt_log_ratio(1, 0.25, 0.75) > 1
    assert gptt_log_ratio(1, 0.5, 0.5) < 1 < gptt_log_ratio(2, 0.5, 0.5)


def test_queries_without_noise_have_answers_that_only_one_neighbour_can_give():
    row = [False] * 3 + [True] * 3
    here = log_probability(row, [0] * 3 + [1] * 3, laplace(1), silence())
    assert math.exp(here) == pytest.approx((1 - math.exp(-1)) / 2, rel=1e-12)
    assert math.exp(here) == pytest.approx(0.31606, abs=5e-6)
    assert log_probability(row, [1] * 3 + [0] * 3, laplace(1), silence()) == -math.inf


@pytest.mark.parametrize(
    ("copies", "value", "tolerance"),
    [(1, 0.3305, 5.1e-5), (3, 1.059, 5.1e-4), (8, 2.9868, 5.1e-5), (16, 6.15, 5.1e-3), (1024, 409, 0.51)],
)
def test_monotone_queries_do_not_rescue_it(copies, value, tolerance):
    assert gptt_log_ratio(copies, 0.5, 0.5, monotone=True) == pytest.approx(value, abs=tolerance)


@pytest.mark.parametrize(
    ("copies", "value"), [(1, "0.222"), (4, "0.907"), (8, "1.843"), (16, "3.75"), (64, "15.5"), (256, "63.1")]
)
def test_a_count_that_starts_anew_loses_without_end(copies, value):
    row = [False] * copies + [True] * copies
    sides = [0] * 2 * copies, [1] * copies + [-1] * copies
    ratio = np.subtract(*(log_probability(row, side, laplace(2), laplace(8)) for side in sides))
    assert ratio == pytest.approx(float(value), abs=0.51 * 10.0 ** -len(value.partition(".")[2]))


@pytest.mark.parametrize(("bottoms", "value"), [(1, 0.4998), (3, 0.930), (10, 1.0)])
def test_the_right_one_comes_as_near_as_it_may(bottoms, value):
    """Bottoms up by one, one top down by one, at epsilon 1. The higher the bottoms, the larger the loss."""
    row = [False] * bottoms + [True]

    def loss(level, top):
        sides = ([level + up] * bottoms + [top - up] for up in (0, 1))
        here, there = (log_probability(row, side, laplace(2), laplace(4)) for side in sides)
        return here - there

    assert loss(10, -20) == pytest.approx(value, abs=5.1e-5)
    rising = [loss(level, -20) for level in (0, 5, 10, 20, 40, 80, 160)]
    assert rising == sorted(rising)
    assert rising[-1] <= 1 + 1e-9


FORTY = [
    (laplace, (3, 7), lambda: _continuous(3, 7)),
    (two_sided, (0.3, 0.2), lambda: _discrete("0.3", "0.2", two=True)),
    (one_sided, (0.3, 0.2), lambda: _discrete("0.3", "0.2", two=False)),
]
ROWS = [((False, True), (2, -3)), ((True, False, False, True), (0, 5, -1, 2)), ((False,) * 9 + (True,) * 9, (1,) * 18)]


@pytest.mark.parametrize(("law", "sizes", "in_forty_digits"), FORTY, ids=lambda part: getattr(part, "__name__", ""))
@pytest.mark.parametrize(("row", "margins"), ROWS)
def test_against_forty_digits(law, sizes, in_forty_digits, row, margins):
    with mpmath.workdps(40):
        truth = mpmath.log(in_forty_digits()(row, margins))
    assert log_probability(row, margins, *map(law, sizes)) == pytest.approx(float(truth), abs=1e-10)


ALL_LAWS = [
    (laplace(2), laplace(4)),
    (two_sided(0.5), two_sided(0.2)),
    (one_sided(0.5), one_sided(0.2)),
    (laplace(1), silence()),
]


def _continuous(first, second):
    def below(x):
        return mpmath.exp(x / second) / 2 if x < 0 else 1 - mpmath.exp(-x / second) / 2

    def truth(row, margins):
        def term(z):
            mass = mpmath.exp(-abs(z) / first) / (2 * first)
            for top, margin in zip(row, margins, strict=True):
                mass *= 1 - below(z - margin) if top else below(z - margin)
            return mass

        kinks = sorted({0, *margins})
        ends = [kinks[0] - 400, kinks[0] - 40, *kinks, kinks[-1] + 10, kinks[-1] + 40, kinks[-1] + 400]
        return mpmath.quad(term, ends)

    return truth


def _discrete(first, second, *, two):
    p, q = (mpmath.exp(-mpmath.mpf(rate)) for rate in (first, second))

    def from_(x):
        if two:
            return q**x / (1 + q) if x >= 1 else 1 - q ** (1 - x) / (1 + q)
        return q ** max(x, 0)

    def truth(row, margins):
        total = mpmath.mpf(0)
        for z in range(-350 if two else 0, 351):
            mass = (1 - p) / (1 + p) * p ** abs(z) if two else (1 - p) * p**z
            for top, margin in zip(row, margins, strict=True):
                mass *= from_(z - margin) if top else 1 - from_(z - margin)
            total += mass
        return total

    return truth


@pytest.mark.parametrize("laws", ALL_LAWS)
@pytest.mark.parametrize("most", [1, 2, 4])
def test_all_rows_together_are_certain(laws, most):
    law = transcript_law([-1, 0, 2, 0], most, *laws)
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)
    assert all(sum(row) <= most for row in law)
    assert len(law) == {1: 5, 2: 11, 4: 16}[most]


def test_a_margin_that_is_certain_changes_nothing():
    """Far above: always top; then the rest of the row has its own law."""
    alone = log_probability([False, True], [0, 1], laplace(2), laplace(4))
    assert log_probability([True, False, True], [2000, 0, 1], laplace(2), laplace(4)) == pytest.approx(alone, abs=1e-12)


def test_the_loss_of_a_sparse_vector_is_what_it_costs():
    noises = one_sided(0.5), one_sided(0.25)
    assert largest_loss([2, -2], [3, -3], 1, *noises) == pytest.approx(1, abs=1e-12)
    assert largest_loss([1, 1], [1, 1], 1, laplace(2), laplace(4)) == 0
