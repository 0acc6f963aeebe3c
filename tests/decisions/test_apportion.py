"""Shares of the miss rate: the error lemma over all assignments, reference shares and costs, sums in fractions."""

import itertools
import math
from fractions import Fraction

import pytest
from formula_shapes import DISTRIBUTED, GROUPED, SHAPES, mask_of, trees, true_of
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.decisions.probe.apportion import even_shares, once_shares, probe_shares
from thresher.errors import ArgumentError
from thresher.question.implicants import primes
from thresher.question.trees import every, occurrences

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
        assert worst_misses(tree, once_shares(tree, weights, BETA)) <= BETA
        assert worst_misses(tree, probe_shares(tree, weights, BETA)) <= BETA

    def test_shares_for_one_implicant_only_would_not_do(self):
        """Power: the smallest implicant's share for all, or all of the rate for parts of an AND."""
        assert worst_misses(GROUPED, (BETA,) * 3) > BETA
        assert worst_misses(every(0, 1), (BETA * 9 / 10,) * 2) > BETA


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


def test_reference_shares():
    assert even_shares(DISTRIBUTED, "0.05") == (BETA / 3,) * 3
    assert probe_shares(DISTRIBUTED, EQUAL, "0.05") == (BETA / 4,) * 3
    assert once_shares(DISTRIBUTED, EQUAL, "0.05") == (BETA / 6, BETA / 3, BETA / 3)


# Per leaf and paid by the leaf, per leaf and paid once; in units of the weight.
COSTS = {
    "AND1": (2.3026, 2.3026),
    "AND2": (5.9915, 5.9915),
    "AND3": (10.2036, 10.2036),
    "AND4": (14.7555, 14.7555),
    "AND5": (19.5601, 19.5601),
    "AND6": (24.5661, 24.5661),
    "OR2": (5.9915, 5.9915),
    "OR3": (10.2036, 10.2036),
    "OR4": (14.7555, 14.7555),
    "OR5": (19.5601, 19.5601),
    "OR6": (24.5661, 24.5661),
    "Q0|(Q1&Q2)": (10.2036, 10.2036),
    "(Q0|Q1)&(Q0|Q2)": (14.7555, 11.0666),
    "(Q0&Q1)|(Q0&Q2)": (14.7555, 11.0666),
    "(Q0&Q1)|(Q2&Q3)": (14.7555, 14.7555),
    "maj3": (24.5661, 12.2830),
}


@pytest.mark.parametrize("name", COSTS)
def test_the_table_of_costs(name):
    tree, (by_leaf, paid_once) = SHAPES[name], COSTS[name]
    shares = probe_shares(tree, EQUAL, "0.05")
    assert cost(shares, times=occurrences(tree)) == pytest.approx(by_leaf, abs=5e-5)
    assert cost(shares) == pytest.approx(paid_once, abs=5e-5)


@pytest.mark.parametrize(
    ("name", "by_leaf"),
    [
        ("AND2", 0.0241),
        ("AND3", 0.0496),
        ("AND4", 0.0929),
        ("AND6", 0.2885),
        ("OR3", 0.0496),
        ("OR6", 0.2885),
    ],
)
def test_the_table_of_costs_for_unequal_widths(name, by_leaf):
    """Half widths of 30 % of ranges from 1,000 down to 100."""
    weights = [1 / (Fraction(3, 10) * reach) for reach in (1000, 700, 500, 300, 200, 100)]
    assert cost(probe_shares(SHAPES[name], weights, "0.05"), weights) == pytest.approx(by_leaf, abs=5e-5)


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
        written = occurrences(tree)
        for shares in (probe_shares(tree, weights, BETA), once_shares(tree, weights, BETA)):
            total = sum(times * shares[atom] for atom, times in written.items())
            assert BETA * (1 - Fraction(1, 10**12)) <= total <= BETA
        assert sum(even_shares(tree, BETA)) == BETA


@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("miss_rate", lambda: even_shares(0, 0)),
        ("miss_rate", lambda: once_shares(0, [1], 1)),
        ("weights", lambda: probe_shares(every(0, 1), [1], "0.05")),
        ("weights[1]", lambda: once_shares(every(0, 1), [1, 0], "0.05")),
        ("weights[0]", lambda: once_shares(0, ["x"], "0.05")),
    ],
)
def test_bad_arguments_are_named(field, call):
    with pytest.raises(ArgumentError) as refused:
        call()
    assert refused.value.field == field
