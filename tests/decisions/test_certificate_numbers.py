import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from thresher.decisions import score_levels
from thresher.decisions.certificate import most_successes, plan_numbers
from thresher.decisions.score_files import WEIGHTS
from thresher.decisions.score_levels import ladder, log_above
from thresher.decisions.score_tables import SCORE
from thresher.errors import ArgumentError


def numbers(groups, levels=90, rate="0.1", delta="0.02", miss_rate="0.05"):
    return plan_numbers(groups, levels, miss_rate, rate, delta)


def test_the_plan_meets_the_reference():
    plan = numbers(574, len(ladder("0.05", 1000, 5)))
    assert float(plan.log_term) == pytest.approx(8.517193, abs=2e-6)
    assert (plan.weight, plan.margin, plan.hidden) == (Fraction("1.43"), Fraction(1, 2), 52)
    few = numbers(60)
    assert (few.weight, few.margin) == (Fraction("3.9"), Fraction("0.3"))
    assert float(numbers(574, 81).log_term) == pytest.approx(8.411833, abs=2e-6)
    assert numbers(574, 81).hidden == 52
    assert numbers(610).weight == Fraction("1.43")


def test_too_few_groups_are_told_before_data_are_read():
    assert float(numbers(25).spare) == pytest.approx(0.0911, abs=5e-5)
    assert float(numbers(24).spare) == pytest.approx(-0.0039, abs=5e-5)


@settings(max_examples=60)
@given(st.integers(1, 10**6), st.integers(1, 300), st.sampled_from(["0.02", "0.1", "0.5"]), st.floats(1e-9, 0.5))
def test_every_number_is_on_its_safe_side(groups, levels, rate, delta):
    plan = numbers(groups, levels, rate, delta)
    failing = Fraction(str(delta))
    with mpmath.workdps(40):
        share = Fraction(9, 10) * failing / levels
        exact = mpmath.log(mpmath.mpf(share.denominator) / share.numerator)
        cost = mpmath.mpf(plan.log_term.numerator) / plan.log_term.denominator
        assert exact <= cost <= exact + mpmath.mpf(1) / SCORE
    line = -(plan.log_term + plan.weight * plan.margin) * SCORE
    assert line - 1 < plan.stop_at <= line
    assert plan.weight in WEIGHTS
    assert plan.margin == min(Fraction(1, 2), Fraction(rate) * groups / 20)
    # scipy's tail errs by some 1e-12 of itself.
    share = 0.1 * delta / levels
    assert stats.binom.sf(plan.hidden, groups, 0.05) <= share * (1 + 1e-9)
    assert plan.hidden == 0 or stats.binom.sf(plan.hidden - 1, groups, 0.05) > share * (1 - 1e-9)


@settings(max_examples=60)
@given(st.integers(1, 120), st.fractions(Fraction(1, 100), Fraction(49, 100), max_denominator=100), st.integers(1, 12))
def test_the_quantile_is_exact(trials, chance, zeros):
    share = Fraction(1, 10**zeros)
    masses = [math.comb(trials, i) * chance**i * (1 - chance) ** (trials - i) for i in range(trials + 1)]
    q = most_successes(trials, chance, share)
    assert sum(masses[q + 1 :]) <= share
    # One less would be too few, or meet the share exactly; only the likeliest number is never undercut.
    assert q <= (trials + 1) * chance or sum(masses[q:]) >= share


def test_a_tail_that_meets_its_share_exactly_is_never_undercut():
    """P[2 of 2] = 1/400 is exactly the share: 1 is right, 2 would be careful, 0 would be wrong."""
    assert most_successes(2, Fraction(1, 20), Fraction(1, 400)) in (1, 2)
    assert most_successes(2, Fraction(1, 20), Fraction(1, 401)) == 2


def test_a_share_that_is_too_small_by_a_hair_is_not_rounded_away():
    """Shares closer below a tail than the terms are kept: what was rounded off must count against us, not for us."""
    chance, close = Fraction(7, 100), 0
    for trials in range(30, 90):
        masses = [math.comb(trials, i) * chance**i * (1 - chance) ** (trials - i) for i in range(trials + 1)]
        tail = sum(masses[trials // 6 + 1 :])
        share = tail.limit_denominator(1 << 140)
        close += tail - share > 0
        assert sum(masses[most_successes(trials, chance, share) + 1 :]) <= share
    assert close > 10


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(9, 10), Fraction(1, 10**40), Fraction(999, 1000)], ids=str)
def test_logarithms_are_rounded_up_by_less_than_a_part(share):
    for parts in (1, 10_000, SCORE):
        found = log_above(share, parts)
        with mpmath.workdps(60):
            exact = mpmath.log(mpmath.mpf(share.denominator) / share.numerator) * parts
            assert exact <= found * parts < exact + 1


@pytest.mark.parametrize("error", [-1e-4, -1e-9, 1e-9, 1e-4])
def test_logarithms_do_not_rest_on_the_float_they_start_from(error, monkeypatch):
    asked = [(Fraction(1, 5000), SCORE), (Fraction(1, 10), 10_000), (Fraction(9, 10), 7)]
    right = [log_above(*ask) for ask in asked]

    class Skewed:
        def __getattr__(self, name):
            return getattr(math, name)

        def log(self, x):
            return math.log(x) * (1 + error)

    monkeypatch.setattr(score_levels, "math", Skewed())
    assert [log_above(*ask) for ask in asked] == right


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"groups": 0}, "groups"),
        ({"groups": 2.5}, "groups"),
        ({"levels": 0}, "levels"),
        ({"levels": True}, "levels"),
        ({"rate": 0}, "false_alarm_rate"),
        ({"rate": 1}, "false_alarm_rate"),
        ({"delta": 0}, "delta"),
        ({"delta": "1"}, "delta"),
        ({"miss_rate": -1}, "miss_rate"),
    ],
)
def test_bad_numbers_are_named(changed, field):
    with pytest.raises(ArgumentError, match=rf"^{field} = "):
        numbers(**{"groups": 574, **changed})
