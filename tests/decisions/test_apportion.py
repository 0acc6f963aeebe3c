"""Shares of the miss rate: the error lemma over all assignments, reference shares and savings, sums in fractions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from formula_shapes import DISTRIBUTED, GROUPED, MAJORITY, SHAPES, mask_of, trees, true_of
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from thresher.amounts import Epsilon
from thresher.decisions.probe.apportion import direct_epsilon, even_shares, implicant_shares, once_shares, probe_shares
from thresher.decisions.shift import priced_shift
from thresher.errors import ArgumentError
from thresher.noise import smallest_epsilon
from thresher.question.implicants import minimal_form, primes
from thresher.question.trees import every, occurrences, some

BETA = Fraction(1, 20)
EQUAL = [1] * 6
weights_of_six = st.lists(st.integers(1, 10**6).map(lambda n: Fraction(n, 997)), min_size=6, max_size=6)


def floats(shares):
    return [float(share) for share in shares]


def cost(shares, weights=EQUAL, times=None):
    """By the continuous formula, in the papers' units."""
    paid = enumerate(zip(shares, weights, strict=False))
    return sum((times or {}).get(i, 1) * float(w) * math.log(1 / (2 * float(b))) for i, (b, w) in paid if b)


class TestTheErrorLemma:
    @settings(max_examples=120)
    @given(trees(6))
    def test_over_all_pairs_of_assignments(self, tree):
        """If it truly holds and is not reported, every implicant that is true has a condition that was missed."""
        known = primes(tree)
        implicants, implicates = ([mask_of(s) for s in sets] for sets in (known.implicants, known.implicates))
        for truth in range(64):
            held = true_of(tree, truth)
            true_ones = [i for i in implicants if i & truth == i]
            false_ones = [c for c in implicates if not c & truth]
            assert bool(true_ones) == held
            assert bool(false_ones) != held
            for reported in range(64):
                if true_of(tree, reported) != held:
                    assert all(i & truth & ~reported for i in true_ones)
                    assert all(c & ~truth & reported for c in false_ones)

    @settings(max_examples=60)
    @given(trees(6), weights_of_six)
    def test_misses_keep_to_the_rate_wherever_the_truth_lies(self, tree, weights):
        """Exactly, for independent misses and false conditions that are never reported, which is the worst."""
        assert worst_misses(tree, implicant_shares(tree, weights, BETA)) <= BETA

    def test_shares_for_one_implicant_only_would_not_do(self):
        """Power: the smallest implicant's share for all, or all of the rate for parts of an AND."""
        assert worst_misses(GROUPED, (BETA,) * 3) > BETA
        assert worst_misses(every(0, 1), (BETA * 9 / 10,) * 2) > BETA
        exact = 1 - (1 - BETA / 2) ** 2
        assert worst_misses(GROUPED, implicant_shares(GROUPED, EQUAL, BETA)) == max(exact, BETA)


def worst_misses(tree, shares):
    """The largest probability of a miss over all truths; a condition without a share is never reported."""
    measured = [atom for atom, share in enumerate(shares) if share]
    worst = Fraction(0)
    for truth in range(64):
        if true_of(tree, truth):
            held = [atom for atom in measured if truth >> atom & 1]
            missed = Fraction(0)
            for seen in itertools.product([False, True], repeat=len(held)):
                reported = mask_of(tuple(atom for atom, kept in zip(held, seen, strict=True) if kept))
                if not true_of(tree, reported):
                    chances = zip(held, seen, strict=True)
                    missed += math.prod(1 - shares[atom] if kept else shares[atom] for atom, kept in chances)
            worst = max(worst, missed)
    return worst


class TestReferenceShares:
    @pytest.mark.parametrize(
        ("tree", "weights", "shares"),
        [
            (every(0, 1, 2), EQUAL, [BETA / 3] * 3),
            (some(0, 1, 2, 3, 4, 5), EQUAL, [BETA] * 6),
            (GROUPED, EQUAL, [BETA, BETA / 2, BETA / 2]),
            (DISTRIBUTED, EQUAL, [BETA, BETA / 2, BETA / 2]),
            (some(every(0, 1), every(0, 2)), EQUAL, [BETA / 3, 2 * BETA / 3, 2 * BETA / 3]),
            (every(0, 1), ["0.1", "0.05"], [2 * BETA / 3, BETA / 3]),
            (some(0, every(0, 1)), EQUAL, [BETA, 0]),
            (MAJORITY, EQUAL, [BETA / 2] * 3),
        ],
    )
    def test_exactly(self, tree, weights, shares):
        assert implicant_shares(tree, weights, "0.05") == tuple(shares)

    def test_of_a_majority_by_iteration(self):
        shares = floats(implicant_shares(MAJORITY, [1, 3, "0.4"], "0.05"))
        assert shares == pytest.approx([0.0159091, 0.0340909, 0.0159091], abs=5e-8)

    def test_of_the_others(self):
        assert even_shares(DISTRIBUTED, "0.05") == (BETA / 3,) * 3
        assert probe_shares(DISTRIBUTED, EQUAL, "0.05") == (BETA / 4,) * 3
        assert once_shares(DISTRIBUTED, EQUAL, "0.05") == (BETA / 6, BETA / 3, BETA / 3)


# Per leaf and paid by the leaf, per leaf and paid once, prime implicants; in units of the weight.
SAVINGS = {
    "AND1": (2.3026, 2.3026, 2.3026),
    "AND2": (5.9915, 5.9915, 5.9915),
    "AND3": (10.2036, 10.2036, 10.2036),
    "AND4": (14.7555, 14.7555, 14.7555),
    "AND5": (19.5601, 19.5601, 19.5601),
    "AND6": (24.5661, 24.5661, 24.5661),
    "OR2": (5.9915, 5.9915, 4.6052),
    "OR3": (10.2036, 10.2036, 6.9078),
    "OR4": (14.7555, 14.7555, 9.2103),
    "OR5": (19.5601, 19.5601, 11.5129),
    "OR6": (24.5661, 24.5661, 13.8155),
    "Q0|(Q1&Q2)": (10.2036, 10.2036, 8.2940),
    "(Q0|Q1)&(Q0|Q2)": (14.7555, 11.0666, 8.2940),
    "(Q0&Q1)|(Q0&Q2)": (14.7555, 11.0666, 8.8173),
    "(Q0&Q1)|(Q2&Q3)": (14.7555, 14.7555, 11.9829),
    "maj3": (24.5661, 12.2830, 8.9872),
}


@pytest.mark.parametrize("name", SAVINGS)
def test_the_savings_table(name):
    tree, (by_leaf, paid_once, ours) = SHAPES[name], SAVINGS[name]
    shares = probe_shares(tree, EQUAL, "0.05")
    assert cost(shares, times=occurrences(tree)) == pytest.approx(by_leaf, abs=5e-5)
    assert cost(shares) == pytest.approx(paid_once, abs=5e-5)
    assert cost(implicant_shares(tree, EQUAL, "0.05")) == pytest.approx(ours, abs=5e-5)


@pytest.mark.parametrize(
    ("name", "by_leaf", "ours"),
    [
        ("AND2", 0.0241, 0.0241),
        ("AND3", 0.0496, 0.0496),
        ("AND4", 0.0929, 0.0929),
        ("AND6", 0.2885, 0.2885),
        ("OR3", 0.0496, 0.0340),
        ("OR6", 0.2885, 0.1747),
    ],
)
def test_the_savings_table_for_unequal_widths(name, by_leaf, ours):
    """Half widths of 30 % of ranges from 1,000 down to 100."""
    weights = [1 / (Fraction(3, 10) * reach) for reach in (1000, 700, 500, 300, 200, 100)]
    assert cost(probe_shares(SHAPES[name], weights, "0.05"), weights) == pytest.approx(by_leaf, abs=5e-5)
    assert cost(implicant_shares(SHAPES[name], weights, "0.05"), weights) == pytest.approx(ours, abs=5e-5)


def test_fewer_ands_may_cost_more():
    """Quine and McCluskey minimise ANDs: three leaves become four, which cost more where every leaf is paid."""
    tree = every(0, some(1, 2))
    before, after = (
        cost(probe_shares(form, EQUAL, "0.05"), times=occurrences(form)) for form in (tree, minimal_form(tree))
    )
    assert (before, after) == pytest.approx((10.2036, 14.7555), abs=5e-5)


def printed_shares(spreads, widths, rate):
    """Equation (18) as it stands: the sensitivity inside the product, so that it is raised to the power n - 1."""
    places = range(len(spreads))

    def product(skipped, factor=1):
        return math.prod(widths[x] * factor for x in places if x != skipped)

    below = sum(product(y, spreads[y]) for y in places)
    return [spreads[i] * rate * product(i) / below for i in places]


def test_the_printed_formula_spends_twice_the_miss_rate():
    half = Fraction(1, 2)
    assert sum(printed_shares([half] * 3, [1] * 3, BETA)) == 2 * BETA
    assert sum(probe_shares(every(0, 1, 2), [half] * 3, BETA)) == BETA
    # Where all sensitivities are 1, or there are two conditions, print and proof agree.
    assert tuple(printed_shares([1, 1, 1], [2, 3, 5], BETA)) == probe_shares(
        every(0, 1, 2), ["0.5", Fraction(1, 3), "0.2"], BETA
    )
    assert tuple(printed_shares([3, 7], [2, 5], BETA)) == probe_shares(every(0, 1), ["1.5", "1.4"], BETA)


class TestEveryTree:
    @given(trees(6), weights_of_six)
    def test_sums_keep_to_the_rate_in_fractions(self, tree, weights):
        known, written = primes(tree), occurrences(tree)
        ours = implicant_shares(tree, weights, BETA)
        assert max(sum(ours[atom] for atom in implicant) for implicant in known.implicants) <= BETA
        assert {atom for atom, share in enumerate(ours) if share} == set(known.atoms)
        for shares in (probe_shares(tree, weights, BETA), once_shares(tree, weights, BETA)):
            total = sum(times * shares[atom] for atom, times in written.items())
            assert BETA * (1 - Fraction(1, 10**12)) <= total <= BETA
        assert sum(even_shares(tree, BETA)) == BETA

    @given(trees(6), weights_of_six)
    def test_no_other_shares_cost_less(self, tree, weights):
        """Neither ProBE's, whose constraint implies ours, nor small steps that keep the sums."""
        ours = cost(implicant_shares(tree, weights, BETA), weights)
        for other in (probe_shares(tree, weights, BETA), once_shares(tree, weights, BETA), even_shares(tree, BETA)):
            kept = [share if atom in primes(tree).atoms else 0 for atom, share in enumerate(other)]
            assert ours <= cost(kept, weights) + 1e-6 * float(sum(weights))

    @given(trees(5), weights_of_six)
    def test_equivalent_trees_have_equal_shares(self, tree, weights):
        form = minimal_form(tree)
        ours, theirs = (implicant_shares(shape, weights, BETA) for shape in (tree, form))
        assert ours[: len(theirs)] == theirs
        assert not any(ours[len(theirs) :])

    @settings(max_examples=25)
    @given(trees(6), st.lists(st.floats(0.01, 1), min_size=6, max_size=6))
    def test_they_are_what_a_general_solver_finds(self, tree, numbers):
        weights, atoms = np.array(numbers), list(primes(tree).atoms)
        among = np.array([[atom in implicant for atom in atoms] for implicant in primes(tree).implicants], float)
        rates = weights[atoms]
        start = np.full(len(atoms), 1 / len(atoms))
        found = minimize(
            lambda b: -(rates * np.log(b)).sum(),
            start,
            jac=lambda b: -rates / b,
            bounds=[(1e-6, 1)] * len(atoms),
            constraints={"type": "ineq", "fun": lambda b: 1 - among @ b, "jac": lambda b: -among},
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-12},
        )
        shares = implicant_shares(tree, [Fraction(w) for w in numbers], BETA)
        ours = sum(w * math.log(float(BETA / shares[atom])) for atom, w in zip(atoms, rates, strict=True))
        assert ours <= found.fun + 1e-6


def test_beyond_sixteen_conditions():
    weights = [1] * 40
    assert implicant_shares(some(*range(40)), weights, BETA) == (BETA,) * 40, "written once: still exact"
    ones = implicant_shares(some(every(0, *range(1, 20)), every(0, *range(20, 40))), weights, BETA)
    assert ones == (BETA / 40,) * 40, "otherwise as if all were joined by AND"


def test_weights_far_apart_leave_every_condition_a_share():
    for tree in (every(0, 1, 2), MAJORITY):
        shares = implicant_shares(tree, [Fraction(1, 10**40), 1, 10**30], BETA)
        assert all(shares)
        assert max(sum(shares[atom] for atom in implicant) for implicant in primes(tree).implicants) <= BETA
        assert all(smallest_epsilon(share, 10) for share in shares)


@pytest.mark.parametrize(
    ("name", "steps", "epsilon", "to_one_margin"),
    [
        ("AND2", 10, 0.568697, 0.385),
        ("AND2", 100, 0.059614, 0.384),
        ("AND3", 10, 0.968068, 0.226),
        ("AND6", 10, 2.328931, 0.094),
        ("OR6", 10, 1.312352, 0.167),
    ],
)
def test_the_price_of_measuring_one_by_one(name, steps, epsilon, to_one_margin):
    """With noise of whole numbers; one margin costs the same for all of these."""
    direct = direct_epsilon(implicant_shares(SHAPES[name], EQUAL, "0.05"), [(steps, 1)] * 6)
    assert float(direct) == pytest.approx(epsilon, abs=2e-6)
    margin = priced_shift("0.05", "0.1", [(steps, 1)] * 6).epsilon
    assert float(margin) / float(direct) == pytest.approx(to_one_margin, abs=1e-3)


def test_what_makes_no_difference_is_not_paid():
    shares = implicant_shares(some(0, every(0, 1)), EQUAL, "0.05")
    assert direct_epsilon(shares, [(10, 1)] * 2) == Epsilon("0.218725417")


@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("miss_rate", lambda: even_shares(0, 0)),
        ("miss_rate", lambda: implicant_shares(0, [1], 1)),
        ("weights", lambda: probe_shares(every(0, 1), [1], "0.05")),
        ("weights[1]", lambda: implicant_shares(every(0, 1), [1, 0], "0.05")),
        ("weights[0]", lambda: once_shares(0, ["x"], "0.05")),
        ("tolerances", lambda: direct_epsilon((BETA, BETA), [(10, 1)])),
    ],
)
def test_bad_arguments_are_named(field, call):
    with pytest.raises(ArgumentError) as refused:
        call()
    assert refused.value.field == field
