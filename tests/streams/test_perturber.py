"""Counts with noise: its law, that a wrong one is seen, and that no refusal depends on a count."""

import warnings

import numpy as np
import pytest
from laws import assert_fits, assert_rejected, laplace_p

from thresher.errors import ArgumentError
from thresher.noise import NOT_PRIVATE, NotPrivate, SeededEntropy, SystemEntropy
from thresher.streams.perturber import perturb


def test_noise_has_the_law_of_its_epsilon_in_every_series(entropy, trials):
    counts = np.tile([3, 700, 0], (trials(60_000, 1_000_000), 1))
    noise = np.asarray(perturb(counts, "0.1", entropy) - counts)
    assert_fits(laplace_p(noise.ravel(), 10.0))
    assert_rejected(laplace_p(noise.ravel(), 11.0))
    pairs = np.corrcoef(noise.T)[np.triu_indices(3, 1)]
    assert np.abs(pairs).max() < 5.2 / np.sqrt(len(noise)), "independent series: fails by accident once in 10**6"
    assert np.abs(noise).mean() == pytest.approx(10.0, rel=0.03), "the mean error is close to 1 / epsilon"


def test_the_same_counts_with_hardly_any_noise_are_the_counts():
    counts = np.arange(12).reshape(4, 3)
    assert (perturb(counts, 1000, SystemEntropy()) == counts).all()
    assert perturb([5, 0, 7], 1000).tolist() == [5, 0, 7], "one list of steps is one series, and stays so"
    assert perturb(np.zeros((0, 3), dtype=np.int64), 1).shape == (0, 3)


def test_seeded_noise_is_marked():
    assert isinstance(perturb([1, 2], "1", SeededEntropy(1)), NotPrivate)
    assert str(perturb([1, 2], "1", SeededEntropy(1))).endswith(NOT_PRIVATE)
    assert not isinstance(perturb([1, 2], "1"), NotPrivate)


@pytest.mark.parametrize("wide", [2**63 - 1, -(2**63), 2**62, -1, 0])
def test_no_count_is_refused_and_none_warns(wide):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seen = perturb(np.array([[wide, 4]]), 1000)
        assert seen.tolist() == [[max(min(wide, 2**40), -(2**40)), 4]]
        assert perturb(np.array([2**64 - 1], dtype=np.uint64), 1000).tolist() == [2**40]
        assert perturb([10**30, 3], 1000).tolist() == [2**40, 3]


@pytest.mark.parametrize(
    "counts",
    [[0.5, 1.0], ["secret"], [[1, 2], [3]], np.zeros((2, 2, 2), dtype=int), np.array([1.5]), None, [True, False]],
)
def test_what_is_not_counts_is_refused_by_its_type_and_never_quoted(counts):
    with pytest.raises(ArgumentError, match="counts") as refused:
        perturb(counts, "1")
    assert "0.5" not in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("epsilon", [0, -1, "nan", float("inf"), True, "1e-12", 10_000])
def test_epsilon_is_looked_at_before_any_count(epsilon):
    with pytest.raises(ArgumentError, match="epsilon"):
        perturb("not counts at all", epsilon)
