"""The limit that few people exceed: one person moves one count by one, and each limit keeps its promise."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import CERTAIN_REJECTION, assert_fits, laplace_p

from thresher.amounts import Epsilon
from thresher.audit.mutants import limit_mutants
from thresher.audit.session import tried
from thresher.audit.shipped import limit_subjects
from thresher.errors import ArgumentError
from thresher.mechanisms.people_limits import (
    limit_edges,
    noise_reach,
    people_in_bins,
    people_limit,
    recommended_limit,
)
from thresher.noise import SeededEntropy, discrete_laplace

SHARE = Fraction(1, 20)


def test_edges_are_public_and_end_at_the_most():
    assert limit_edges(1) == (1,)
    assert limit_edges(4) == (1, 2, 3, 4)
    assert limit_edges(100) == (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 100)
    assert len(limit_edges(2**20)) == 41 - 1
    assert limit_edges(24)[-2:] == (16, 24)


def groups_of(table):
    """In how many groups each person has rows: the exact counts that a source would return."""
    people = {}
    for person, group in table:
        people.setdefault(person, set()).add(group)
    return [len(groups) for groups in people.values()]


def test_all_neighbours_of_small_tables_change_one_bin_by_one():
    """Every table of two people over two groups, with each possible third person added."""
    edges = limit_edges(3)
    rows = list(product("ab", "xyz"))
    for chosen in product([False, True], repeat=len(rows)):
        table = [row for row, taken in zip(rows, chosen, strict=True) if taken]
        before = people_in_bins(groups_of(table), edges)
        for groups in ("x", "xy", "xyz", "xxxx"):
            after = people_in_bins(groups_of([*table, *(("c", group) for group in groups)]), edges)
            assert sorted(after - before) == [0] * (len(edges) - 1) + [1]


@given(st.lists(st.integers(0, 300), max_size=40), st.integers(1, 10**6), st.integers(1, 200))
def test_one_person_changes_one_bin_by_one(sizes, more, most):
    edges = limit_edges(most)
    moved = people_in_bins([*sizes, more], edges) - people_in_bins(sizes, edges)
    assert moved.sum() == np.abs(moved).sum() == 1


def test_people_without_rows_are_in_no_bin():
    assert people_in_bins([0, 0, 1, 2, 3, 9], limit_edges(4)).tolist() == [1, 1, 1, 1]


def test_each_count_has_its_own_noise_of_the_promised_law():
    edges, epsilon = limit_edges(6), Fraction(1, 3)
    entropy = SeededEntropy(3)
    drawn = np.array([people_limit([50, 0, 7, 1, 0], edges, epsilon, entropy=entropy).noisy for _ in range(4000)])
    noise = drawn - np.array([50, 0, 7, 1, 0])
    assert_fits(laplace_p(noise.ravel(), 3))
    assert laplace_p(noise.ravel(), 1.5) < CERTAIN_REJECTION, "twice the epsilon would be seen"
    correlation = np.corrcoef(noise.T) - np.eye(5)
    assert np.abs(correlation).max() < 0.1


def zipf(people, most, power, generator):
    chances = np.arange(1, most + 1) ** -power
    return generator.choice(np.arange(1, most + 1), size=people, p=chances / chances.sum())


def broken(sizes, edges, epsilon, runs, entropy):
    """How many of these runs recommend a limit that more than the share exceed, and which limits there were."""
    people, charge = people_in_bins(sizes, edges), Epsilon(epsilon)
    noise = np.asarray(discrete_laplace(epsilon, runs * len(edges), entropy=entropy)).reshape(runs, len(edges))
    limits = [recommended_limit([int(t) for t in people + one], edges, charge, SHARE) for one in noise]
    sizes = np.asarray(sizes)
    bad = {edge for edge in edges if (sizes > edge).sum() > SHARE * len(sizes)}
    return sum(limit in bad for limit in limits), limits


def test_the_promise_is_rarely_broken_and_the_limit_is_useful():
    """10,000 people at epsilon 0.04: at most 5 % of 1,000 runs may break it; the best edge is 8."""
    edges = limit_edges(100)
    sizes = zipf(10_000, 100, 2.2, np.random.default_rng(1105))
    best = next(edge for edge in edges if (sizes > edge).mean() <= SHARE)
    wrong, limits = broken(sizes, edges, Fraction(1, 25), 1000, SeededEntropy(5))
    assert wrong <= 50
    assert sum(limit is not None and limit <= 4 * best for limit in limits) > 500
    wrong, limits = broken(sizes, edges, Fraction(1, 5), 200, SeededEntropy(6))
    assert wrong == 0
    assert set(limits) <= {best, edges[edges.index(best) + 1], edges[edges.index(best) + 2]}


@pytest.mark.parametrize("place", range(5))
def test_where_one_person_too_many_exceeds_an_edge_the_edge_is_rarely_recommended(place):
    edges = limit_edges(8)
    sizes = np.r_[np.full(9_499, edges[place]), np.full(501, 8)]
    wrong, _ = broken(sizes, edges, Fraction(1, 10), 1000, SeededEntropy(place))
    assert wrong <= 50


def test_without_the_allowance_for_noise_the_promise_would_break():
    """The power of the test above: an edge chosen by the noisy counts as they are is wrong nearly half of the time."""
    edges = limit_edges(8)
    people = people_in_bins(np.r_[np.full(9_499, 2), np.full(501, 8)], edges)
    noise = np.asarray(discrete_laplace(Fraction(1, 10), 1000 * len(edges), entropy=SeededEntropy(9))).reshape(1000, -1)
    noisy = people + noise
    assert (noisy[:, 2:].sum(axis=1) <= float(SHARE) * noisy.sum(axis=1)).mean() > 0.3


def test_so_little_epsilon_that_noise_decides_recommends_nothing():
    edges = limit_edges(8)
    assert people_limit([100, 0, 0, 0, 0, 0], edges, 1, entropy=SeededEntropy(1)).limit is None
    assert people_limit([9000, 0, 0, 0, 0, 0], edges, 1, entropy=SeededEntropy(1)).limit == 1
    assert people_limit([0, 0, 0, 0, 0, 9000], edges, 1, entropy=SeededEntropy(1)).limit == 8


def test_the_reach_of_noise_is_the_least_that_keeps_its_rate():
    from thresher.noise import NoiseSum  # noqa: PLC0415

    for terms, rate in ((1, Fraction(1, 40)), (6, Fraction(1, 40)), (13, Fraction(1, 520))):
        reach = noise_reach(terms, Epsilon("0.1"), rate)
        tail = NoiseSum((1,) * terms).tail
        assert tail("0.1", reach + 1).high <= rate < tail("0.1", reach).low


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (([1], (1, 2), 1), {}),
        (([1, 1], (2, 1), 1), {}),
        (([1, 1], (0, 1), 1), {}),
        (([], (), 1), {}),
        (([1, 1], (1, 2), 0), {}),
        (([1, 1], (1, 2), 1), {"share": 0}),
        (([1, 1], (1, 2), 1), {"share": 1}),
    ],
)
def test_bad_arguments_are_refused(arguments, options):
    with pytest.raises(ArgumentError):
        people_limit(*arguments, **options)
    with pytest.raises(ArgumentError):
        limit_edges(0)


@pytest.mark.parametrize("subject", limit_subjects.subjects(), ids=lambda subject: subject.name)
def test_the_audit_does_not_refute_what_ships(subject):
    finding = tried(subject, SeededEntropy(11), Fraction(999_999, 10**6))
    assert finding.measured <= finding.claimed
    assert finding.kind == "errors" or finding.measured > 0.3 * finding.claimed


def test_noise_of_half_the_scale_is_refuted():
    (mutant,) = limit_mutants.subjects()
    assert tried(mutant, SeededEntropy(12), Fraction(999_999, 10**6)).refuted
