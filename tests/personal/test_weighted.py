"""The weighted release: exact losses of all values of small rosters, the best cap, dominance, published figures."""

import inspect
import itertools
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from laws import assert_fits, assert_rejected, laplace_p

from thresher.amounts import Epsilon
from thresher.errors import ArgumentError
from thresher.noise import NOT_PRIVATE, NotPrivate, SystemEntropy, discrete_laplace
from thresher.personal import baselines, count_choice, part_releases, sampling, weighted
from thresher.personal.baselines import minimum_plan, threshold_plan
from thresher.personal.count_choice import exponential_plan
from thresher.personal.part_releases import frequency_weights, partition_frequency
from thresher.personal.partition import in_rounds, most_parts, partition
from thresher.personal.personal_release import INDEPENDENT
from thresher.personal.roster import Roster
from thresher.personal.roster_values import shared
from thresher.personal.sampling import sampled_frequency, sampling_plan
from thresher.personal.weighted import (
    best_cap,
    weighted_frequency,
    weighted_histogram,
    weighted_mean,
    weighted_plan,
    weighted_sum,
)

FIGURE = ["0.01", "0.02", "0.05", "0.07", "0.09", "0.11", "0.14", "0.15"]
SMALL = [["0.5", 1, 2], [1, 1, 1], [0, "0.3", "0.7"], ["0.1", "0.123456789", 3], ["0.000000001", 1, 900]]
PLANS = {
    "weighted": weighted_plan,
    "capped": lambda roster, bound=1: weighted_plan(roster, Epsilon.from_nano(int(roster.nano[-1]) // 2 + 1), bound),
    "share": lambda roster, bound=1: weighted_plan(roster, None, bound, share="0.3"),
    "minimum": minimum_plan,
    "threshold": threshold_plan,
}


def never(count):
    raise AssertionError("entropy was read")


def budgets_of(roster):
    return [roster.levels[place].fraction for place in roster.classes]


# Privacy, exactly


@pytest.mark.parametrize("budgets", SMALL, ids=str)
@pytest.mark.parametrize("method", PLANS)
@pytest.mark.parametrize("bound", [1, 2])
def test_nobody_loses_more_than_their_budget_and_exactly_what_is_said(budgets, method, bound):
    """A discrete Laplace law that is moved by k loses k rate: losses of all values of everybody, as fractions."""
    roster = Roster.of(budgets)
    plan = PLANS[method](roster, bound=bound)
    worst = [Fraction(0)] * roster.people
    weights = [int(plan.weights[place]) for place in roster.classes]
    for values in itertools.product(range(-bound, bound + 1), repeat=roster.people):
        here = sum(w * x for w, x in zip(weights, values, strict=True))
        for person in range(roster.people):
            without = here - weights[person] * values[person]
            worst[person] = max(worst[person], abs(here - without) * plan.rate)
    for person, loss in enumerate(worst):
        said = plan.spent[roster.classes[person]].fraction
        assert loss <= said <= budgets_of(roster)[person]
        assert said - loss < Fraction(1, 10**9)
        if budgets_of(roster)[person] == 0:
            assert loss == 0


def test_what_is_released_is_that_sum_and_that_noise(entropy, trials):
    """Noise of the public function against the law; false failure 1e-6, and noise of another rate is refused."""
    roster = Roster.of(["0.4", "0.8", "0.8"])
    plan = weighted_plan(roster)
    flags, runs = np.array([True, False, True]), trials(8_000, 200_000)
    assert plan.weights.tolist() == [1, 2]
    noise = np.array([weighted_frequency(plan, flags, entropy=entropy).noisy[0] for _ in range(runs)]) - 3
    assert_fits(laplace_p(noise, 2.5))
    assert_rejected(laplace_p(noise, 2.0))


@pytest.mark.parametrize("method", ["weighted", "minimum", "threshold"])
@pytest.mark.parametrize("epsilon", ["0.7", "1.234567891", 1])
def test_equal_budgets_are_ordinary_privacy_bit_for_bit(method, epsilon, make_entropy):
    """The same draw from the same bits: not nearly, but the same law."""
    plan, flags = PLANS[method](Roster.of([epsilon] * 5)), np.array([1, 0, 1, 1, 0])
    assert plan.grid == Epsilon(epsilon).fraction
    assert plan.weights.tolist() == [1]
    assert plan.fair
    ordinary = 3 + discrete_laplace(epsilon, 1, entropy=make_entropy())
    found = weighted_sum(plan, flags, entropy=make_entropy())
    assert found.noisy.tolist() == ordinary.tolist()
    assert found.estimates.tolist() == pytest.approx(ordinary.tolist())
    assert found.assumption == ""


def test_somebody_who_allows_nothing_has_no_part(make_entropy):
    roster = Roster.of([0, "0.5", 1])
    for plan in (weighted_plan(roster), minimum_plan(roster), threshold_plan(roster)):
        for release in (weighted_frequency, weighted_sum, weighted_mean):
            found = [release(plan, np.array([x, 1, 1]), entropy=make_entropy()).noisy.tolist() for x in (0, 1)]
            assert found[0] == found[1]
        cells = [weighted_histogram(plan, np.array([x, 0, 1]), 2, entropy=make_entropy()) for x in (0, 1)]
        assert cells[0].noisy.tolist() == cells[1].noisy.tolist()
        assert plan.spent[0] == Epsilon(0)


def silent(plan):
    """The same plan with hardly any noise: sums come out as they are."""
    return weighted.WeightedPlan(
        plan.method, plan.roster, plan.weights, Fraction(500), plan.bound, plan.frequency, plan.spent
    )


def test_histograms_bound_what_one_person_adds(entropy):
    """Exactly: rows of all tables with entries up to 2 add up to at most the bound, cut from the last cells."""
    roster = Roster.of([1, 2])
    plan = silent(weighted_plan(roster, bound=2))
    for row in itertools.product(range(-1, 3), repeat=3):
        table = np.array([[0, 0, 0], row])
        added = weighted_histogram(plan, table, 3, entropy=entropy).noisy / 2
        assert np.abs(added).sum() <= 2
        assert added.sum() == min(sum(max(x, 0) for x in row), 2)
        assert all(have <= max(want, 0) for have, want in zip(added, row, strict=True))
    assert weighted_histogram(plan, np.array([2, 0]), 3, entropy=entropy).noisy.tolist() == [2, 0, 1]
    assert weighted_histogram(plan, np.array([-1, 3]), 3, entropy=entropy).noisy.tolist() == [0, 0, 0]


def test_means_of_those_present_spend_half_on_their_number(entropy, trials):
    """Both draws against their laws at half the rate; false failure 2e-6."""
    roster = Roster.of(["0.5", 1])
    plan, runs = weighted_plan(roster, bound=3), trials(5_000, 50_000)
    drawn = np.array(
        [
            weighted_mean(plan, np.array([3, -2]), np.array([True, True]), entropy=entropy).noisy.tolist()
            for _ in range(runs)
        ]
    ) - [3 - 4, 3]
    assert_fits(laplace_p(drawn[:, 0], float(2 / plan.rate)))
    assert_fits(laplace_p(drawn[:, 1], float(2 / plan.grid)))
    assert_rejected(laplace_p(drawn[:, 0], float(1 / plan.rate)))
    assert_rejected(laplace_p(drawn[:, 1], float(1 / plan.grid)))


# Utility


def test_published_figures():
    roster = Roster.of(FIGURE)
    plan = weighted_plan(roster, "0.08")
    assert plan.total_weight * plan.grid == Fraction("0.47")
    assert plan.noise_sd == pytest.approx(3.0090, abs=1e-4)
    assert minimum_plan(roster).noise_sd == pytest.approx(17.678, abs=1e-3)
    assert minimum_plan(roster).predicted_sd ** 2 + 1 / 32 == pytest.approx(312.53, abs=1e-2)


def variance_at(levels, sizes, cap, spread):
    weights = np.minimum(levels, np.reshape(cap, (-1, 1)))
    total = weights @ sizes
    return 2 / total**2 + spread * ((weights / total[:, None] - 1 / sizes.sum()) ** 2 @ sizes)


def test_the_best_cap_is_best_among_all():
    """Against a search over levels and between them, on random rosters; sometimes it lies strictly between two."""
    rng = np.random.default_rng(7)
    between = 0
    for _ in range(200):
        classes = int(rng.integers(1, 12))
        levels = np.sort(rng.choice(2_000, classes, replace=False) + 1) / 1000
        sizes = rng.integers(1, 300, classes)
        frequency = Fraction(int(rng.integers(1, 100)), 100)
        spread = float(frequency * (1 - frequency))
        nano = np.rint(levels * 1e9).astype(np.int64)
        cap = best_cap(nano, sizes, frequency)
        tried = np.concatenate([np.linspace(1e-3, levels[-1], 2000), levels])
        least = variance_at(levels, sizes, tried, spread).min()
        assert variance_at(levels, sizes, cap / 1e9, spread)[0] <= least * (1 + 1e-9)
        between += cap not in nano
    assert between > 50
    assert best_cap(np.array([1, 5]), np.array([9, 9]), Fraction(0)) == 5, "values that are all alike: noise is all"


def test_no_method_beats_the_weighted_release():
    """Predicted deviations on random rosters, some with people who allow nothing; a millionth for rounding."""
    rng = np.random.default_rng(11)
    wins = {}
    for _ in range(40):
        people = int(rng.integers(3, 400))
        levels = np.round(rng.choice([rng.uniform(0.01, 0.3, people), rng.lognormal(-3, 1, people) + 0.001]), 3)
        roster = Roster.of([*np.where(rng.random(people) < 0.05, 0, levels).tolist(), 0.05])
        best = weighted_plan(roster).predicted_sd
        parts = [partition(roster, k) for k in (1, 2, 3, 5) if k <= most_parts(roster)]
        others = {
            "minimum": minimum_plan(roster).predicted_sd,
            "threshold": threshold_plan(roster).predicted_sd,
            "sampling": sampling_plan(roster).predicted_sd,
            "parts": min(frequency_weights(each).predicted_sd for each in parts),
            "rounds": frequency_weights(in_rounds(roster, min(3, most_parts(roster)), 3)).predicted_sd,
            "cap at the mean": weighted_plan(roster, float(f"{levels.mean():.4f}")).predicted_sd,
        }
        for name, deviation in others.items():
            # Unequal budgets below 1: discrete noise is at most 1/24 below its continuous formula.
            assert best <= deviation * (1 + 1e-3), name
            wins[name] = wins.get(name, 0) + (deviation > 1.05 * best)
    assert min(wins[name] for name in ("minimum", "threshold", "parts")) > 12, "and by a good deal"


def test_the_predicted_deviation_is_what_is_seen(entropy, trials):
    """Values and noise drawn anew; the root mean square of 4,000 errors has a deviation of 1.8 %: eight of these."""
    rng = np.random.default_rng(5)
    roster, runs = Roster.of(["0.1"] * 30 + ["0.5"] * 20 + [1] * 10), trials(4_000, 40_000)
    for plan in (weighted_plan(roster), threshold_plan(roster), weighted_plan(roster, bound=4)):
        errors = []
        for flags in rng.random((runs, 60)) < 0.5:
            found = weighted_mean(plan, plan.bound * flags, entropy=entropy)
            errors.append(found.estimate - plan.bound * flags.mean())
        assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(plan.predicted_sd, rel=0.15)
        assert np.sqrt(np.mean(np.square(errors))) != pytest.approx(1.3 * plan.predicted_sd, rel=0.15)
        assert abs(np.mean(errors)) < 6 * plan.predicted_sd / math.sqrt(runs)


def test_every_kind_of_release_estimates_the_same_roster(entropy):
    """Noise is small here; what is left is arithmetic."""
    roster = Roster.of([900, 900, 450])
    plan = weighted_plan(roster, 900, bound=10)
    values = np.array([7, -12, 4])
    assert plan.weights.tolist() == [1, 2]
    assert weighted_sum(plan, values, entropy=entropy).estimate == pytest.approx(3 * (2 * 7 - 2 * 10 + 4) / 5)
    assert weighted_mean(plan, values, entropy=entropy).estimate == pytest.approx((2 * 7 - 2 * 10 + 4) / 5)
    present = np.array([True, False, True])
    assert weighted_mean(plan, values, present, entropy=entropy).estimate == pytest.approx((2 * 7 + 4) / 3)
    nobody = weighted_mean(plan, values, np.zeros(3, dtype=bool), entropy=entropy)
    assert -10 <= nobody.estimate <= 10
    assert weighted_frequency(plan, values, entropy=entropy).estimate == pytest.approx(1)
    assert weighted_frequency(plan, values, entropy=entropy).assumption == INDEPENDENT


def test_stamps(entropy):
    plan = weighted_plan(Roster.of([1, 2]))
    found = weighted_frequency(plan, np.array([True, True]), entropy=entropy)
    assert found.stamp == entropy.stamp
    assert isinstance(found.noisy, NotPrivate) == (entropy.stamp == NOT_PRIVATE)
    assert weighted_frequency(plan, np.array([True, True])).stamp == ""


# Bad input


GOOD = {"roster": Roster.of(["0.5", 1]), "cap": "0.5", "bound": 1, "share": 1, "frequency": "0.5"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("roster", Roster.of([0, 0])),
        ("cap", 0),
        ("cap", -1),
        ("cap", "0.0000000001"),
        ("cap", float("nan")),
        ("bound", 0),
        ("bound", 1.5),
        ("bound", True),
        ("bound", 2**50),
        ("share", 0),
        ("share", "1.01"),
        ("frequency", "1.01"),
        ("frequency", -1),
    ],
    ids=str,
)
def test_plans_refuse_what_is_no_plan(field, value):
    with pytest.raises(ArgumentError, match=rf"^{field} = "):
        weighted_plan(**GOOD | {field: value})


def test_a_threshold_above_everybody_is_refused():
    with pytest.raises(ArgumentError, match=r"^threshold = .*nobody"):
        threshold_plan(Roster.of(["0.5", 1]), "1.1")
    assert threshold_plan(Roster.of(["0.5", 1]), "0.6").grid == 1
    assert threshold_plan(Roster.of([0, 1]), 0).weights.tolist() == [0, 1]


BAD_ARRAYS = [[1, 0], np.array([1.0, 0.0]), np.array([1]), np.array([[1, 0]]), np.array(["a", "b"]), None]
BAD_ARRAYS += [np.array([1, 0], dtype=np.uint64), np.array([1, None]), np.ma.masked_array([1, 0], mask=[True, False])]


@pytest.mark.parametrize("values", BAD_ARRAYS, ids=repr)
def test_arrays_are_refused_by_shape_and_type_before_anything_is_drawn(values):
    plan, source = weighted_plan(Roster.of([1, 2])), SystemEntropy(never)
    for release in (weighted_sum, weighted_mean, weighted_frequency):
        with pytest.raises(ArgumentError, match=r"^(values|flags) = "):
            release(plan, values, entropy=source)
    if not (isinstance(values, np.ndarray) and values.shape == (1, 2)):
        with pytest.raises(ArgumentError, match=r"^cells = "):
            weighted_histogram(plan, values, 2, entropy=source)


def test_no_value_decides_about_a_refusal_or_shows():
    plan = weighted_plan(Roster.of([1, 2]), bound=3)
    widest = np.array([np.iinfo(np.int64).max, np.iinfo(np.int64).min])
    assert weighted_sum(silent(plan), widest).noisy.tolist() == [3 * 1 - 3 * 2]
    weighted_histogram(plan, widest, 2)
    weighted_histogram(plan, np.stack([widest, widest], axis=1), 2)
    with pytest.raises(ArgumentError) as refusal:
        weighted_sum(plan, np.array([104_729]))
    assert "104729" not in str(refusal.value)
    for count in (0, -1, 1.5):
        with pytest.raises(ArgumentError, match=r"^count = "):
            weighted_histogram(plan, widest, count)
    with pytest.raises(ArgumentError, match=r"^cells = .*2 columns"):
        weighted_histogram(plan, np.zeros((2, 2), dtype=int), 3)


def test_the_largest_and_the_smallest_that_are_accepted(entropy):
    roster = Roster.of(["0.000000001", 10**6])
    plan = weighted_plan(roster, bound=2**40)
    assert plan.spent[1] == Epsilon(1000), "beyond that nothing is gained"
    assert abs(int(weighted_sum(plan, np.array([2**62, 2**62]), entropy=entropy).noisy[0])) < 2**62
    tiny = weighted_plan(Roster.of(["0.000000001"] * 3), bound=10**6)
    assert weighted_sum(tiny, np.array([1, 1, 1]), entropy=entropy).noise_scale == pytest.approx(1e15)


@pytest.mark.parametrize("make", [weighted_plan, minimum_plan, threshold_plan, sampling_plan])
def test_noise_that_would_not_fit_is_refused_beforehand(make):
    roster = Roster.of(["0.000000001", "0.000000002"])
    with pytest.raises(ArgumentError, match=r"^bound = .*64 bits"):
        make(roster, bound=2**40)
    assert make(roster, bound=2**20).rate > 0


ROOMS = (weighted, baselines, sampling, count_choice, part_releases)


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
def test_the_reference_lists_true_signatures(room):
    folder = Path(__file__).parents[2] / "docs" / "reference"
    page = "".join((folder / f"personal_{name}.md").read_text() for name in ("releases", "parts"))
    inner = {"best_cap", "shared", "checked_bound", "fraction_of", "check_noise", "laplace_sd", "sampling_chance"}
    public = {name: f for name, f in inspect.getmembers(room, inspect.isfunction) if f.__module__ == room.__name__}
    for name, function in public.items():
        shown = inspect.signature(function).parameters.values()
        written = [p.name if p.default is p.empty else f"{p.name}={_plain(p.default)}" for p in shown]
        keyword = next((i for i, p in enumerate(shown) if p.kind is p.KEYWORD_ONLY), None)
        if keyword is not None:
            written.insert(keyword, "*")
        assert name.startswith("_") or name in inner or f"`{name}({', '.join(written)})`" in page


def _plain(default):
    return str(default) if isinstance(default, Fraction) else repr(default)


def test_shares_are_floored_and_plans_use_no_more():
    roster = Roster.of(["0.000000003", "0.5", 1])
    assert shared(roster, "0.5").tolist() == [1, 250_000_000, 500_000_000]
    for make in (weighted_plan, minimum_plan, threshold_plan, sampling_plan, exponential_plan):
        plan = make(roster, share="0.5")
        for spent, level in zip(plan.spent, roster.levels, strict=True):
            assert spent.fraction <= level.fraction / 2


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: weighted_plan([0.1, 0.2]),
        lambda: weighted_frequency(sampling_plan(Roster.of(["0.1"] * 3)), np.ones(3, dtype=bool)),
        lambda: sampled_frequency(weighted_plan(Roster.of(["0.1"] * 3)), np.ones(3, dtype=bool)),
        lambda: partition_frequency((), np.ones(3, dtype=bool)),
    ],
)
def test_what_is_no_plan_or_roster_is_refused_by_its_kind(wrong):
    with pytest.raises(ArgumentError, match="it must be"):
        wrong()
