"""The personal exponential mechanism for counts: all flags of small rosters, costs by search, draws against the law."""

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from laws import assert_fits, assert_rejected, chi_square_p

from thresher.errors import ArgumentError
from thresher.noise import SystemEntropy
from thresher.personal.baselines import minimum_plan
from thresher.personal.count_choice import RATE, exponential_frequency, exponential_plan
from thresher.personal.personal_release import INDEPENDENT
from thresher.personal.roster import Roster

ROSTERS = [["0.5", 1, 2], [1, 1, 1], ["0.1", "0.1", "0.7", 3], [0, "0.4", 1, 0]]


def counted(roster, flags):
    return np.bincount(roster.classes[np.array(flags) > 0], minlength=roster.nano.size)


def law(costs, rate=RATE):
    weights = [mpmath.exp(-mpmath.mpf(rate.numerator) * int(cost) / rate.denominator) for cost in costs]
    return [weight / mpmath.fsum(weights) for weight in weights]


@pytest.mark.parametrize("budgets", ROSTERS, ids=str)
def test_costs_are_the_least_budgets_that_must_flip(budgets):
    """Against a search over all flags that have so many set."""
    roster = Roster.of(budgets)
    plan, nano = exponential_plan(roster), roster.nano[roster.classes]
    read = [person for person in range(roster.people) if nano[person]]
    assert plan.people == len(read)
    for flags in itertools.product((0, 1), repeat=roster.people):
        costs = plan.costs(counted(roster, flags))
        for wanted, cost in enumerate(costs.tolist()):
            ways = [other for other in itertools.product((0, 1), repeat=len(read)) if sum(other) == wanted]
            flips = (
                sum(nano[person] for person, flag in zip(read, way, strict=True) if flag != flags[person])
                for way in ways
            )
            assert cost == min(flips)


def worst_losses(roster, plan, rate):
    laws = {
        flags: law(plan.costs(counted(roster, flags)), rate)
        for flags in itertools.product((0, 1), repeat=roster.people)
    }
    return [
        max(
            abs(mpmath.log(p / q))
            for flags, here in laws.items()
            for p, q in zip(here, laws[(*flags[:person], 1 - flags[person], *flags[person + 1 :])], strict=True)
        )
        for person in range(roster.people)
    ]


@pytest.mark.parametrize("budgets", ROSTERS, ids=str)
def test_nobody_loses_more_than_their_budget(budgets):
    roster = Roster.of(budgets)
    plan = exponential_plan(roster)
    with mpmath.workdps(40):
        losses = worst_losses(roster, plan, RATE)
        for person, loss in enumerate(losses):
            budget = mpmath.mpf(int(roster.nano[roster.classes[person]])) / 10**9
            assert loss <= budget
            assert loss >= budget / 2
        broken = worst_losses(roster, plan, 2 * RATE)
        assert any(loss > 1.05 * roster.nano[roster.classes[j]] / 1e9 for j, loss in enumerate(broken) if loss)


def test_draws_fit_the_law(entropy, trials):
    """False failure 1e-6; the law at twice the rate is refused."""
    roster, flags = Roster.of(["0.2"] * 5 + [1] * 4), np.array([1, 0, 1, 0, 0, 1, 1, 0, 0])
    plan, runs = exponential_plan(roster), trials(4_000, 40_000)
    drawn = np.array([exponential_frequency(plan, flags, entropy=entropy).noisy[0] for _ in range(runs)])

    def cdf(rate):
        upto = np.cumsum([float(mass) for mass in law(plan.costs(counted(roster, flags)), rate)])
        return lambda x: np.where(np.asarray(x) < 0, 0, upto[np.clip(x, 0, 9)])

    assert_fits(chi_square_p(drawn, cdf(RATE), 0, 10, 10))
    assert_rejected(chi_square_p(drawn, cdf(2 * RATE), 0, 10, 10))


def test_where_it_helps_and_where_it_does_not():
    """Published: with many small budgets worse than the least for all; with three small ones among many, far better."""
    many = Roster.of(np.round(np.linspace(0.01, 0.1, 20_000), 4).tolist())
    assert exponential_plan(many).predicted_sd > 1.3 * minimum_plan(many).predicted_sd
    few = Roster.of(["0.01"] * 3 + ["0.1"] * 9_997)
    assert exponential_plan(few).predicted_sd < 0.4 * minimum_plan(few).predicted_sd


def test_the_predicted_deviation_is_what_is_seen(entropy, trials):
    roster, runs = Roster.of(["0.2"] * 40 + [1] * 20), trials(2_000, 20_000)
    plan = exponential_plan(roster)
    flags = np.arange(60) % 2
    errors = [exponential_frequency(plan, flags, entropy=entropy).estimate - 0.5 for _ in range(runs)]
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(plan.predicted_sd, rel=0.2)


def test_those_who_allow_nothing_are_not_counted(make_entropy):
    plan = exponential_plan(Roster.of([0, 1, 1]))
    found = [exponential_frequency(plan, np.array([x, 1, 0]), entropy=make_entropy()) for x in (0, 1)]
    assert found[0].noisy.tolist() == found[1].noisy.tolist()
    assert found[0].assumption == INDEPENDENT
    assert exponential_frequency(exponential_plan(Roster.of([1])), np.array([True])).assumption == ""


def test_bad_input_is_refused():
    with pytest.raises(ArgumentError, match=r"^roster = .*two billion"):
        exponential_plan(Roster(np.array([10**12]), np.zeros(2_400_000, dtype=np.int64)))
    with pytest.raises(ArgumentError, match=r"^roster = .*below a nano"):
        exponential_plan(Roster.of([0]))
    with pytest.raises(ArgumentError, match=r"^share = "):
        exponential_plan(Roster.of([1]), share=Fraction(3, 2))

    def never(count):
        raise AssertionError("entropy was read")

    for flags in ([1], np.array([0.5]), np.array([1, 0])):
        with pytest.raises(ArgumentError, match=r"^flags = "):
            exponential_frequency(exponential_plan(Roster.of([1])), flags, entropy=SystemEntropy(never))
