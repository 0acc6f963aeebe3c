"""The sampling method: all coins and values of small rosters, published chances, draws against the law."""

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from laws import assert_fits, assert_rejected, chi_square_p

from thresher.amounts import Epsilon
from thresher.errors import ArgumentError
from thresher.noise import SystemEntropy, discrete_laplace
from thresher.noise.chances import CHANCES
from thresher.personal.personal_release import INDEPENDENT
from thresher.personal.roster import Roster
from thresher.personal.sampling import sampled_frequency, sampled_sum, sampling_chance, sampling_plan

FIGURE = ["0.01", "0.02", "0.05", "0.07", "0.09", "0.11", "0.14", "0.15"]


def law(chances, rate, values, reach):
    """P[Y = y] for |y| <= reach, every set of people taken in turn, in forty digits."""
    p = mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator)
    masses = dict.fromkeys(range(-reach, reach + 1), mpmath.mpf(0))
    for coins in itertools.product((0, 1), repeat=len(values)):
        weight = mpmath.mpf(1)
        for coin, odds in zip(coins, chances, strict=True):
            weight *= odds if coin else 1 - odds
        centre = sum(coin * value for coin, value in zip(coins, values, strict=True))
        for y in masses:
            masses[y] += weight * (1 - p) / (1 + p) * p ** abs(y - centre)
    return masses


def worst_losses(roster, plan, chances):
    """For every person the largest log ratio of any output of any values, with and without them."""
    odds = [chances[place] for place in roster.classes]
    bound, worst = plan.bound, [mpmath.mpf(0)] * roster.people
    laws = {
        values: law(odds, plan.rate, values, 4 * bound)
        for values in itertools.product((-bound, 0, bound), repeat=roster.people)
    }
    for values, here in laws.items():
        for person in range(roster.people):
            without = laws[(*values[:person], 0, *values[person + 1 :])]
            worst[person] = max([worst[person], *(abs(mpmath.log(here[y] / without[y])) for y in here)])
    return worst


@pytest.mark.parametrize("budgets", [["0.5", 1, 2], [1, 1], [0, "0.2", "1.5"], ["0.001", 3]], ids=str)
@pytest.mark.parametrize("bound", [1, 2])
def test_nobody_loses_more_than_their_budget(budgets, bound):
    """All coins, values and outputs near the centre; the bound is attained beyond all sums."""
    roster = Roster.of(budgets)
    with mpmath.workdps(40):
        for cap in (None, "0.7"):
            plan = sampling_plan(roster, cap, bound)
            exact = [mpmath.mpf(int(each)) / CHANCES for each in plan.chances]
            for person, loss in enumerate(worst_losses(roster, plan, exact)):
                spent = plan.spent[roster.classes[person]]
                assert loss <= mpmath.mpf(spent.nano) / 10**9 * (1 + mpmath.mpf(10) ** -30)
                assert spent <= roster.levels[roster.classes[person]]
                assert loss >= mpmath.mpf(spent.nano) / 10**9 - 1e-8, "no budget is left unused"


def test_chances_in_proportion_to_budgets_are_caught():
    roster = Roster.of(["0.5", 1, 2])
    plan = sampling_plan(roster, 2)
    with mpmath.workdps(40):
        losses = worst_losses(roster, plan, [mpmath.mpf("0.25"), mpmath.mpf("0.5"), mpmath.mpf(1)])
        assert losses[0] > 0.9
        assert losses[1] > 1.4


def test_published_chances():
    plan = sampling_plan(Roster.of(FIGURE), "0.08")
    published = [0.120669, 0.242551, 0.615595, 0.870582, 1, 1, 1, 1]
    assert (plan.chances / CHANCES).tolist() == pytest.approx(published, abs=1e-6)


def test_chances_are_the_largest_that_do_not_exceed_the_formula():
    rng = np.random.default_rng(3)
    with mpmath.workdps(60):
        for cap in (1, 17, 10**6, 80_000_000, 10**9, 7 * 10**11):
            for nano in {0, 1, cap - 1, cap, *rng.integers(0, cap, 20).tolist()}:
                ideal = mpmath.expm1(mpmath.mpf(nano) / 10**9) / mpmath.expm1(mpmath.mpf(cap) / 10**9) * CHANCES
                assert sampling_chance(nano, cap) == (CHANCES if nano >= cap else int(mpmath.floor(ideal)))


def test_draws_fit_the_law(entropy, trials):
    """Coins and noise together, from the public function; false failure 1e-6, other chances are refused."""
    roster, values = Roster.of(["0.5", "0.5", 1, 2]), np.array([1, 1, 1, 0])
    plan, runs = sampling_plan(roster, 2), trials(8_000, 200_000)
    drawn = np.array([sampled_sum(plan, values, entropy=entropy).noisy[0] for _ in range(runs)])

    def cdf(chances):
        odds = [mpmath.mpf(int(chances[place])) / CHANCES for place in roster.classes]
        masses = law(odds, plan.rate, values.tolist(), 60)
        upto = np.cumsum([float(mass) for mass in masses.values()])
        return lambda x: upto[np.clip(x + 60, 0, 120)]

    assert_fits(chi_square_p(drawn, cdf(plan.chances), -6, 9, 15))
    assert_rejected(chi_square_p(drawn, cdf(np.full(3, CHANCES)), -6, 9, 15))


def test_equal_budgets_are_ordinary_privacy(make_entropy):
    plan = sampling_plan(Roster.of(["0.7"] * 4))
    assert plan.chances.tolist() == [CHANCES]
    source = make_entropy()
    source.read(16)  # the coins, which all fall one way
    ordinary = 2 + discrete_laplace("0.7", 1, entropy=source)
    found = sampled_sum(plan, np.array([1, 0, 1, 0]), entropy=make_entropy())
    assert found.noisy.tolist() == ordinary.tolist()
    assert found.estimate == ordinary[0]
    assert found.assumption == ""


def test_somebody_who_allows_nothing_is_never_taken(make_entropy):
    plan = sampling_plan(Roster.of([0, 1, 1]))
    for flag in (0, 1):
        found = [sampled_frequency(plan, np.array([x, flag, 1]), entropy=make_entropy()).noisy[0] for x in (0, 1)]
        assert found[0] == found[1]


def test_the_predicted_deviation_is_what_is_seen(entropy, trials):
    """Root mean square of 3,000 errors: deviation below 2.1 %, allowed 15 %. And the estimate is unbiased."""
    rng = np.random.default_rng(5)
    roster, runs = Roster.of(["0.3"] * 40 + [1] * 20), trials(3_000, 30_000)
    for cap in ("0.3", "0.5", 1):
        plan, errors = sampling_plan(roster, cap), []
        for flags in rng.random((runs, 60)) < 0.5:
            found = sampled_frequency(plan, flags, entropy=entropy)
            errors.append(found.estimate - flags.mean())
        assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(plan.predicted_sd, rel=0.15)
        assert abs(np.mean(errors)) < 6 * plan.predicted_sd / np.sqrt(runs)
        assert found.assumption == (INDEPENDENT if cap != "0.3" else "")
        assert found.stamp == entropy.stamp


def test_the_best_cap_is_one_of_the_best_levels():
    roster = Roster.of(np.round(np.random.default_rng(2).uniform(0.01, 1, 300), 2).tolist())
    best = sampling_plan(roster).predicted_sd
    assert best <= 1.001 * min(sampling_plan(roster, level).predicted_sd for level in roster.levels)
    assert sampling_plan(Roster.of([0, 10**6, 900])).cap <= Epsilon(1000)


@pytest.mark.parametrize(("field", "value"), [("cap", 0), ("cap", -1), ("cap", "x"), ("bound", 0), ("share", 2)])
def test_bad_input_is_refused(field, value):
    with pytest.raises(ArgumentError, match=rf"^{field} = "):
        sampling_plan(**{"roster": Roster.of([1, 2]), field: value})


def test_arrays_are_refused_before_anything_is_drawn():
    def never(count):
        raise AssertionError("entropy was read")

    plan = sampling_plan(Roster.of([1, 2]), Fraction(1))
    for values in ([1, 0], np.array([1.0, 0.0]), np.array([1]), None):
        for release in (sampled_sum, sampled_frequency):
            with pytest.raises(ArgumentError, match=r"^(values|flags) = "):
                release(plan, values, entropy=SystemEntropy(never))
