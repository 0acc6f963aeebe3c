"""Linear regression from noisy sums: exact losses on tiny rosters, the bound on products, algebra without noise."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge

from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy
from thresher.personal.learners.linear_model import LinearRecipe, fit_line, noisy_sums, sum_terms, whole_records
from thresher.personal.learners.membership import Sharing, group_of
from thresher.personal.parts import Parts
from thresher.personal.roster import Roster

ONE = 1 << 12
METHODS = ["minimum", "threshold", "weighted"]


def sums(records, group, terms, present):
    weights = group.nano[group.roster.classes] // terms.grain * present
    products = records[:, :-1].T @ (weights[:, None] * records)
    return products[np.triu_indices(products.shape[0], m=products.shape[1])]


@pytest.mark.parametrize("method", METHODS)
def test_no_person_loses_more_than_the_own_weight(method):
    """Discrete Laplace noise on every sum: the loss is the absolute sum of moves times the rate, exactly."""
    roster = Roster.of(["0.01", "0.3", "1"])
    group = group_of(roster, method)
    terms = sum_terms(group, 2)
    rows = np.array([*itertools.product([0.5**0.5, -(0.5**0.5)], repeat=2), (1.0, 0.0), (0.2, 0.3)])
    closest = Fraction(0)
    for row, target in itertools.product(rows, [1.0, -1.0, 0.2]):
        records = whole_records(np.tile(row, (3, 1)), np.full(3, target), np.ones(3, dtype=bool))
        for person in range(3):
            moved = sums(records, group, terms, np.eye(3, dtype=np.int64)[person])
            lost = int(np.abs(moved).sum()) * terms.rate
            allowed = Fraction(int(group.nano[roster.classes[person]]), 10**9)
            assert lost <= allowed <= roster.levels[person].fraction
            if allowed:
                closest = max(closest, lost / allowed)
    assert closest > Fraction(99, 100)


@pytest.mark.parametrize("dimension", [1, 2, 3, 14, 60])
def test_no_clipped_record_has_products_beyond_the_bound(dimension):
    """Random rows of length 1, and the corners, where the absolute sum is largest."""
    rng = np.random.default_rng(dimension)
    rows = np.vstack([rng.normal(size=(200, dimension)), np.sign(rng.normal(size=(50, dimension)))])
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    records = np.abs(whole_records(rows, np.ones(250), np.ones(250, dtype=bool)))
    x, y = records[:, :-1], records[:, -1]
    sizes = (x.sum(axis=1) ** 2 + (x**2).sum(axis=1)) // 2 + x.sum(axis=1) * y
    most = sum_terms(group_of(Roster.of([1]), "minimum"), dimension).most
    assert sizes.max() <= most
    assert sizes.max() > 0.98 * most


@pytest.mark.parametrize("budget", ["0.000001", "0.01", "1", "1000"])
@pytest.mark.parametrize("people", [1, 10**6])
def test_sums_and_noise_stay_within_64_bits(budget, people):
    group = group_of(Roster(np.array([int(Fraction(budget) * 10**9)]), np.zeros(people, dtype=np.int64)), "minimum")
    terms = sum_terms(group, 14)
    assert group.most // terms.grain * ONE * ONE <= 1 << 60
    assert 1 / terms.rate <= 1 << 50


def made_up(people, seed=3):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(people, 3)) / 4
    rows /= np.maximum(np.linalg.norm(rows, axis=1), 1)[:, None]
    return rows, np.clip(rows @ [0.5, -0.4, 0.3] + 0.1 + rng.normal(size=people) / 20, -1, 1)


def test_with_much_budget_it_is_ridge_regression(entropy):
    rows, targets = made_up(3000)
    recipe = LinearRecipe(regularisation="0.01", intercept=False)
    fitted = fit_line(rows, targets, [100_000] * 3000, recipe, entropy)
    expected = Ridge(alpha=0.01 * 3000, fit_intercept=False).fit(rows, targets).coef_
    assert fitted.coefficients[0] == pytest.approx(expected, abs=1e-3)
    with_intercept = fit_line(rows * 7, targets * 5, [100_000] * 3000, LinearRecipe(bound=5, norm=7), entropy)
    assert with_intercept.predicted(rows * 7) == pytest.approx(targets * 5, abs=1.5)
    assert with_intercept.intercepts[0] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("method", [*METHODS, "sampling"])
def test_noise_is_as_large_as_it_says(method, entropy):
    """Sizes of 405 sums of nothing add up to the gamma law, whose quantiles are exact; false failure 1e-6."""
    group = group_of(Roster.of(["0.2", "0.5", "1", "1"]), method)
    terms = sum_terms(group, 3)
    nothing = np.zeros((4, 4), dtype=np.int64)
    draws = np.array([noisy_sums(nothing, group, terms, entropy) for _ in range(45)]).astype(float).ravel()
    total = np.abs(draws * terms.grain / (group.total * ONE * ONE)).sum() / (terms.mean_sd / 2**0.5)
    low, high = stats.gamma.ppf([5e-7, 1 - 5e-7], draws.size)
    assert draws.size == 405
    assert low < total < high
    # Power: noise twice or half as large is outside whenever this is inside.
    assert high < 2 * low


def test_parts_are_averaged_and_everybody_spends_at_most_the_own_budget():
    rows, targets = made_up(4000)
    roster = Roster.of(np.repeat([0.5, 2.0], 2000))
    sharing = Sharing("partition", parts=Parts.of(roster, (1,)))
    fitted = fit_line(rows, targets, roster, LinearRecipe(sharing=sharing), SeededEntropy(1))
    assert fitted.coefficients.shape == (2, 3)
    assert fitted.weights == pytest.approx([1 / 17, 16 / 17])
    assert [str(spent) for spent in fitted.spent] == ["0.5", "2"]
    assert fitted.stamp == "NOT PRIVATE"
    assert fitted.noise_sd[0] == pytest.approx(4 * fitted.noise_sd[1], rel=1e-6)


def test_missing_numbers_make_no_record_and_those_of_budget_0_are_not_read():
    rows, targets = made_up(50)
    budgets = [0.5] * 40 + [0] * 10

    def seeded(x, y):
        return fit_line(x, y, budgets, LinearRecipe(), SeededEntropy(4)).coefficients.tolist()

    absent = rows.copy()
    absent[7] = np.nan
    without = seeded(absent, targets)
    for x, y in [(np.inf, 0.1), (0.1, np.nan)]:
        other_rows, other_targets = rows.copy(), targets.copy()
        other_rows[7, 1], other_targets[7] = x, y
        assert seeded(other_rows, other_targets) == without
    other_rows, other_targets = absent.copy(), targets.copy()
    other_rows[40:], other_targets[40:] = 0.7, -1
    assert seeded(other_rows, other_targets) == without
    assert seeded(rows, targets) != without


@pytest.mark.parametrize(
    ("recipe", "word"),
    [
        (LinearRecipe(bound=0), "bound"),
        (LinearRecipe(norm=-1), "norm"),
        (LinearRecipe(regularisation=0), "regularisation"),
        (LinearRecipe(sharing=Sharing("best")), "method"),
        (LinearRecipe(sharing=Sharing(combine="vote")), "combine"),
    ],
)
def test_recipes_that_cannot_be_followed_are_refused(recipe, word):
    with pytest.raises(ArgumentError, match=word):
        fit_line(np.zeros((2, 1)), [0, 0], [1, 1], recipe)
