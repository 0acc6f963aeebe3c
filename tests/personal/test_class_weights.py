"""Weights of classes: nobody pays more than allowed, neighbours are as close as promised, the noise is as wide."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from thresher.amounts import NANO
from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy
from thresher.personal.class_weights import ClassWeights, class_weights
from thresher.personal.roster import Roster
from thresher.personal.weighted import weighted_plan

FAILS = 1e-7
ROSTERS = st.lists(st.tuples(st.integers(10**5, 2 * NANO), st.integers(0, 500)), min_size=1, max_size=8)


def made(roster, share=Fraction(1, 4), reach=1, each=1):
    nano = [budget for budget, _ in roster]
    return class_weights(nano, [share * budget / NANO for budget in nano], [size for _, size in roster], reach, each)


@given(ROSTERS.filter(lambda roster: any(size for _, size in roster)), st.integers(1, 5))
def test_nobody_pays_more_than_their_share(roster, reach):
    weights = made(roster, reach=reach)
    for weight, nano, share in zip(weights.weights, weights.nano, weights.shares, strict=True):
        assert weight * weights.grid <= Fraction(nano, 4 * NANO)
        assert share.fraction * nano >= weight * weights.grid * NANO
        assert share.fraction <= Fraction(1, 4)


@given(ROSTERS.filter(lambda roster: any(size for _, size in roster)), st.data())
def test_neighbours_differ_by_what_the_class_pays(roster, data):
    """With the same noise, somebody of class c moves the sums by W_c for each unit; the loss is that times the rate."""
    weights = made(roster, reach=2, each=1)
    active = [place for place, weight in enumerate(weights.weights) if weight]
    counts = np.array(data.draw(st.lists(st.lists(st.integers(0, 9), min_size=len(active), max_size=len(active)),
                                         min_size=3, max_size=3)))  # fmt: skip
    who = data.draw(st.integers(0, len(active) - 1))
    more = counts.copy()
    more[:2, who] += 1
    here, there = (weights.released(table, SeededEntropy(5)) for table in (counts, more))
    moved = sum(abs(b - a) for a, b in zip(here, there, strict=True))
    loss = moved * weights.grid / weights.reach
    assert loss == weights.weights[active[who]] * weights.grid
    assert loss * NANO <= Fraction(weights.nano[active[who]], 4)


def test_equal_budgets_are_ordinary_privacy():
    """One class: weight 1, and noise at the whole of what it allows."""
    weights = class_weights([NANO], [Fraction(1, 2)], [100], 3)
    assert (weights.weights, weights.grid, weights.reach) == ((1,), Fraction(1, 2), 3)
    assert weights.mean == 1


def test_the_cap_is_the_best_of_the_levels():
    roster = [(NANO // 100 * k, 1000) for k in (1, 2, 5, 10, 50, 100)]
    best, nano = made(roster), [budget for budget, _ in roster]
    for cap in nano:
        allowed = [Fraction(min(budget, cap), 4 * NANO) for budget in nano]
        top = max(allowed)
        parts = 1 << 20
        other = ClassWeights(
            tuple(nano), (1000,) * 6, tuple(int(most * parts / top) for most in allowed), top / parts, 1
        )
        assert best.predicted_sd <= other.predicted_sd * (1 + 1e-5)


def test_the_noise_is_as_wide_as_forecast_and_the_test_would_see_it_otherwise(trials):
    """The mean square of n draws of Laplace noise is within z sqrt(5 / n) of its variance: z for 1e-7, both sides."""
    weights = made([(NANO // 10, 10), (NANO, 10)])
    size = trials(20_000, 200_000)
    noisy = weights.released(np.zeros((size, len([w for w in weights.weights if w])), dtype=np.int64), SeededEntropy(3))
    ratio = float(np.mean(np.square(np.array(noisy) / float(weights.mean)))) / weights.noise_sd**2
    allowed = norm.isf(FAILS / 2) * (5 / size) ** 0.5
    assert abs(ratio - 1) < allowed, f"fails falsely with probability {FAILS}"
    assert allowed < 0.25, "half or twice the scale would be seen: ratios of 1/4 and 4"


def test_nothing_left_is_refused():
    with pytest.raises(ArgumentError, match="nobody on the roster"):
        class_weights([NANO], [Fraction(0)], [10], 1)
    with pytest.raises(ArgumentError, match="wider than can be drawn"):
        class_weights([NANO], [Fraction(1, NANO)], [10], 10)


@pytest.mark.parametrize(("few", "much"), [("0.001", "10"), ("0.01", "10"), ("0.001", "3"), ("0.05", "0.1")])
def test_the_cap_may_lie_between_two_levels(few, much):
    """The engine's weights are as good as those on arrays, whose best cap is found otherwise."""
    people, levels = (10_000, 10), (Fraction(few), Fraction(much))
    here = class_weights([int(level * NANO) for level in levels], levels, people, 1)
    there = weighted_plan(Roster.of([few] * people[0] + [much] * people[1]))
    assert here.predicted_sd == pytest.approx(there.predicted_sd * sum(people), rel=1e-4)
