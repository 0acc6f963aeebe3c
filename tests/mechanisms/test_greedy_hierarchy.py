"""The greedy hierarchy: known designs, explicit matrices, paths that add up, least squares."""

from fractions import Fraction

import numpy as np
import pytest
from laws import assert_fits, assert_rejected, laplace_p

from thresher.errors import ArgumentError
from thresher.mechanisms.histograms import greedy_hierarchy as module
from thresher.mechanisms.histograms.greedy_hierarchy import (
    WHOLE,
    checked_workload,
    greedy_shares,
    measured_totals,
)
from thresher.noise import SystemEntropy

ONE = Fraction(1)


def _ones(buckets):
    return np.ones(buckets, dtype=np.int64)


def _sizes(buckets):
    return 1 << np.random.default_rng(buckets).integers(0, 6, buckets)


@pytest.mark.parametrize(
    ("buckets", "workload", "rows", "trace"),
    [(4, "prefix", 4, 10), (16, "prefix", 18, 126.3927), (64, "prefix", 91, 1740.894), (8, "identity", 8, 8)],
)
def test_known_designs(buckets, workload, rows, trace):
    shares, error = greedy_shares(_ones(buckets), ONE, workload)
    assert shares.rows == rows
    assert error == pytest.approx(trace, abs=5e-4)


@pytest.mark.parametrize("buckets", [1, 2, 3, 5, 16, 31, 100, 1000])
@pytest.mark.parametrize("epsilon", [Fraction(100), ONE, Fraction(1, 10**6)])
def test_every_path_spends_the_whole_budget_and_no_more(buckets, epsilon):
    shares, _ = greedy_shares(_sizes(buckets), epsilon)
    spent = np.zeros(buckets, dtype=np.int64)
    for level, own in enumerate(shares.levels):
        spent += own[np.arange(buckets) >> level]
        assert (own >= 0).all()
        assert all(Fraction(int(units), WHOLE) * epsilon >= Fraction(1, 10**9) for units in np.unique(own[own > 0]))
    assert (spent == WHOLE).all()
    assert shares.levels[-1].size == 1


def _matrix(shares, buckets):
    """One row for each measured total, weighted by its share."""
    rows = [
        (node, own / WHOLE, level)
        for level, level_shares in enumerate(shares.levels)
        for node, own in enumerate(level_shares.tolist())
        if own
    ]
    return np.array([np.where(np.arange(buckets) >> level == node, weight, 0.0) for node, weight, level in rows])


def _gram_of_prefixes(sizes):
    cells = np.repeat(np.arange(sizes.size), sizes)
    prefixes = np.tri(sizes.sum())
    spread = (cells[:, None] == np.arange(sizes.size)) / sizes
    return (prefixes @ spread).T @ (prefixes @ spread)


@pytest.mark.parametrize("buckets", [1, 2, 3, 7, 16, 45])
def test_the_error_that_is_told_is_that_of_explicit_matrices(buckets):
    """Up to the rounding of shares to six bits; a design by the wrong workload differs by far more."""
    sizes = _sizes(buckets)
    shares, error = greedy_shares(sizes, ONE)
    matrix = _matrix(shares, buckets)
    explicit = np.trace(_gram_of_prefixes(sizes) @ np.linalg.inv(matrix.T @ matrix))
    assert explicit == pytest.approx(error, rel=0.03)
    assert error <= np.trace(_gram_of_prefixes(sizes)) * (1 + 1e-12)  # at least as good as plain noise


def test_single_cells_of_long_buckets_need_no_hierarchy():
    shares, error = greedy_shares(_sizes(37), ONE, "identity")
    assert shares.rows == 37
    assert error == pytest.approx((1 / _sizes(37)).sum())


@pytest.mark.parametrize("buckets", [1, 2, 3, 8, 21])
def test_estimates_are_weighted_least_squares(buckets, monkeypatch):
    """By the real measurements, which are caught on their way, and explicit normal equations."""
    sizes, epsilon = _sizes(buckets), Fraction(1, 5)
    totals = np.random.default_rng(0).integers(0, 1000, buckets)
    shares, _ = greedy_shares(sizes, epsilon)
    caught = {}

    def catching(truth, own, rate, entropy):
        caught["noisy"], caught["variances"] = real(truth, own, rate, entropy)
        return caught["noisy"], caught["variances"]

    real = module._noisy
    monkeypatch.setattr(module, "_noisy", catching)
    found = measured_totals(totals, shares, epsilon, SystemEntropy())
    sizes_of_levels = [level.size for level in shares.levels]
    nodes = [(level, node) for level, size in enumerate(sizes_of_levels) for node in range(size)]
    design = np.array([(np.arange(buckets) >> level) == node for level, node in nodes], dtype=float)
    weights = 1 / caught["variances"]
    normal = design.T @ (weights[:, None] * design)
    expected = np.linalg.solve(normal, design.T @ (weights * caught["noisy"]))
    assert found == pytest.approx(expected, abs=1e-6)
    assert not np.array_equal(found, totals) or buckets == 1


def test_plain_buckets_have_noise_of_the_whole_epsilon(entropy):
    """For single cells every bucket is measured once, at epsilon: chi-square, false failure 1e-6."""
    buckets = 100_000
    shares, _ = greedy_shares(_ones(buckets), Fraction(1, 10), "identity")
    noise = measured_totals(np.zeros(buckets, dtype=np.int64), shares, Fraction(1, 10), entropy)
    assert (noise == np.rint(noise)).all()
    assert_fits(laplace_p(noise.astype(np.int64), 10))
    assert_rejected(laplace_p(noise.astype(np.int64), 11))


def test_the_hierarchy_errs_on_prefixes_as_its_design_says(entropy, trials):
    """The mean squared error over prefixes, within six standard errors (1e-6 or so) and the rounding of shares.

    Plain noise on buckets errs more, and would be told apart.
    """
    buckets, runs, epsilon = 256, trials(100, 2000), Fraction(1, 10)
    shares, trace = greedy_shares(_ones(buckets), epsilon)
    plain, _ = greedy_shares(_ones(buckets), epsilon, "identity")
    zeros, expected = np.zeros(buckets, dtype=np.int64), 2 * trace / float(epsilon) ** 2
    for kind, fits in ((shares, True), (plain, False)):
        errors = [(np.cumsum(measured_totals(zeros, kind, epsilon, entropy)) ** 2).sum() for _ in range(runs)]
        allowed = 6 * np.std(errors) / runs**0.5 + 0.03 * expected
        assert (abs(np.mean(errors) - expected) < allowed) if fits else np.mean(errors) > 1.2 * expected


def test_an_unknown_workload_is_refused():
    with pytest.raises(ArgumentError, match=r"^workload = "):
        checked_workload("ranges")


@pytest.mark.parametrize(("field", "arguments"), [
    ("sizes", {"sizes": []}), ("sizes", {"sizes": [0, 1]}), ("sizes", {"sizes": [-1]}), ("sizes", {"sizes": [[1]]}),
    ("sizes", {"sizes": [1.5]}), ("sizes", {"sizes": None}), ("sizes", {"sizes": "12"}),
    ("sizes", {"sizes": [2**61] * 8}), ("sizes", {"sizes": [2**21] * 3}), ("sizes", {"sizes": [2**63, 1]}),
    ("epsilon", {"epsilon": 0}),
    ("epsilon", {"epsilon": -1}), ("epsilon", {"epsilon": "x"}), ("epsilon", {"epsilon": float("nan")}),
    ("epsilon", {"epsilon": 1001}), ("workload", {"workload": "x"}), ("workload", {"workload": None}),
])  # fmt: skip
def test_bad_shares_are_refused(field, arguments):
    with pytest.raises(ArgumentError, match=rf"^{field} = "):
        greedy_shares(**{"sizes": [1, 2], "epsilon": 1} | arguments)


def test_lists_and_amounts_are_read_as_everywhere():
    (ours, error), (same, again) = greedy_shares([1, 2, 4, 1], "0.5"), greedy_shares(np.array([1, 2, 4, 1]), ONE / 2)
    assert error == again
    assert all((one == other).all() for one, other in zip(ours.levels, same.levels, strict=True))
