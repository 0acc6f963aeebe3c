"""Weights and coins by roster: every method, exact chances, budgets of 0, halves."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from thresher.amounts import Epsilon
from thresher.errors import ArgumentError
from thresher.personal.learners.membership import (
    Sharing,
    combining_weights,
    fitted_groups,
    group_of,
    halved,
    roster_of,
    spent_by_class,
)
from thresher.personal.parts import Parts
from thresher.personal.roster import Roster

# The eight people of the literature's figure, and one who allows nothing.
BUDGETS = ["0", "0.01", "0.02", "0.05", "0.07", "0.08", "0.08", "0.1", "0.1"]
ROSTER = Roster.of(BUDGETS)
METHODS = ["minimum", "threshold", "sampling", "weighted"]


@pytest.mark.parametrize("method", METHODS)
def test_nobody_spends_more_than_allowed_and_nobody_of_budget_0_takes_part(method, entropy):
    group = group_of(ROSTER, method)
    assert all(spent <= level for spent, level in zip(group.spent, ROSTER.levels, strict=True))
    assert group.nano[0] == 0
    assert group.spent[0] == Epsilon(0)
    assert (group.weights(entropy)[0] == 0).all()
    assert 1 <= group.total <= group.most


def test_weights_are_those_of_the_methods():
    nano = [int(Fraction(b) * 10**9) for b in ("0", "0.01", "0.02", "0.05", "0.07", "0.08", "0.1")]
    assert ROSTER.nano.tolist() == nano
    assert group_of(ROSTER, "minimum").nano.tolist() == [0] + [nano[1]] * 6
    assert group_of(ROSTER, "threshold", "0.07").nano.tolist() == [0] * 4 + [nano[4]] * 3
    assert group_of(ROSTER, "weighted").nano.tolist() == nano
    assert group_of(ROSTER, "weighted", "0.08").nano.tolist() == [*nano[:6], nano[5]]
    assert group_of(ROSTER, "weighted", "0.08").total == int(0.47 * 10**9)
    # The mean of those who allow anything: 0.51 / 8.
    assert group_of(ROSTER, "threshold").nano.max() == 63_750_000


def test_somebody_who_allows_next_to_nothing_is_not_read():
    assert group_of(Roster.of(["0.00001", "0.1"]), "weighted").nano.tolist() == [0, 10**8]
    assert group_of(Roster.of(["0.0001", "0.1"]), "weighted").nano.tolist() == [10**5, 10**8]


def test_chances_are_published_ones_and_never_above_the_true_ones():
    chances = group_of(ROSTER, "sampling", "0.08").chances / 2**32
    assert chances[1:5] == pytest.approx([0.120669, 0.242551, 0.615595, 0.870582], abs=1e-6)
    assert chances[0] == 0
    assert (chances[5:] == 1).all()
    with mpmath.workdps(40):
        nano = [1, 7, 10**3, 10**6, 10**8, 123_456_789, 10**9 - 1, 10**9, 5 * 10**9, 10**10, 10**11, 10**15]
        roster = Roster.of([Fraction(budget, 10**9) for budget in nano])
        for level in (10**6, 10**9, 10**10, 10**11, 10**15):
            chances = group_of(roster, "sampling", Fraction(level, 10**9)).chances
            for budget, units in zip(nano, chances.tolist(), strict=True):
                true = mpmath.expm1(mpmath.mpf(budget) / 10**9) / mpmath.expm1(mpmath.mpf(level) / 10**9)
                assert units == (2**32 if budget >= level else int(mpmath.floor(true * 2**32)))


def test_coins_fall_as_often_as_they_should(entropy):
    """20,000 people of chance 0.28: five deviations are 318, false failure 6e-7; one of 0.32 would be 800 off."""
    roster = Roster.of(np.repeat(["0.5", "1.2"], [20_000, 10]))
    group = group_of(roster, "sampling", "1.2")
    chance = (np.exp(0.5) - 1) / (np.exp(1.2) - 1)
    weights = group.weights(entropy)
    assert abs((weights[:20_000] > 0).sum() - 20_000 * chance) < 5 * np.sqrt(20_000 * chance * (1 - chance))
    assert (weights[20_000:] == 1_200_000_000).all()
    assert group.total / 1.2e9 == pytest.approx(20_000 * chance + 10, rel=1e-6)


def test_parts_are_fitted_at_their_least_budget_and_nobody_is_in_two():
    groups = fitted_groups(ROSTER, Sharing("partition", parts=Parts.of(ROSTER, (3, 5))))
    assert sum(group.people for group in groups) == 8
    assert (np.sum([group.nano > 0 for group in groups], axis=0) == [0, 1, 1, 1, 1, 1, 1]).all()
    for group in groups:
        assert group.nano.max() == ROSTER.nano[group.nano > 0].min()
    weights = combining_weights(groups, "weighted")
    scores = np.array([group.people * group.nano.max() for group in groups], dtype=float)
    assert weights == pytest.approx(scores**2 / (scores**2).sum())
    assert combining_weights(groups, "vote") == pytest.approx([1 / 3] * 3)
    given = fitted_groups(ROSTER, Sharing("partition", parts=Parts.of(ROSTER, (4,))))
    assert [group.people for group in given] == [3, 5]


def test_halves_are_spent_twice():
    roster = Roster.of(["0.5", "0.000000003"])
    assert halved(roster).nano.tolist() == [1, 250_000_000]
    groups = fitted_groups(halved(roster), Sharing("minimum"))
    assert spent_by_class(groups, doubled=True) == (Epsilon.from_nano(2), Epsilon.from_nano(2))
    # Two levels may fall together.
    assert halved(Roster.of(["0.000000002", "0.000000003"])).classes.tolist() == [0, 0]


def test_rosters_that_do_not_fit_are_refused():
    with pytest.raises(ArgumentError, match="one person for each of the 3 rows"):
        roster_of(ROSTER, 3)
    with pytest.raises(ArgumentError, match="nobody"):
        roster_of([0, 0], 2)
    for bad in ([-1], [float("nan")], [1e9], ["x"], [None]):
        with pytest.raises(ArgumentError):
            roster_of(bad, 1)
    with pytest.raises(ArgumentError, match="another roster"):
        fitted_groups(ROSTER, Sharing("partition", parts=Parts.of(Roster.of(["0.1"] * 9))))
    for method, threshold in [("minimum", 1), ("threshold", 0), ("sampling", "0.2"), ("weighted", -1)]:
        with pytest.raises(ArgumentError, match="threshold"):
            group_of(ROSTER, method, threshold)
    with pytest.raises(ArgumentError, match="threshold"):
        fitted_groups(ROSTER, Sharing("partition", threshold=1))
