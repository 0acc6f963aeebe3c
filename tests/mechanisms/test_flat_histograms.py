"""Every histogram mechanism's manners, and the laws of the two flat ones."""

import mechanisms.replayed_noise as replayed
import numpy as np
import pytest
from laws import assert_fits, assert_rejected, laplace_p

from thresher.amounts import Epsilon
from thresher.errors import ArgumentError
from thresher.mechanisms.histograms import MECHANISMS, TWO_DIMENSIONS_ONLY, flat, noisy_histogram
from thresher.mechanisms.histograms.flat import laplace, uniform
from thresher.noise import SeededEntropy, SystemEntropy

EPSILON = "0.25"
SHAPES = [(1,), (2,), (3,), (7,), (16,), (37,), (1, 1), (1, 5), (5, 1), (2, 2), (3, 7), (13, 4), (17, 17)]


def offered(shape):
    return [name for name in MECHANISMS if len(shape) == 2 or name not in TWO_DIMENSIONS_ONLY]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_grid_is_served_whatever_the_data(shape):
    """One cell, primes, flat strips; no record at all, the same everywhere, one heap."""
    heap = np.zeros(shape, dtype=np.int64)
    heap.flat[-1] = 10**6
    for counts in (np.zeros(shape, dtype=np.int64), np.full(shape, 7), heap):
        for name in offered(shape):
            given = noisy_histogram(counts, EPSILON, name, SeededEntropy(3))
            assert given.counts.shape == shape
            assert type(given.counts) is np.ndarray
            assert given.counts.dtype == np.float64
            assert np.isfinite(given.counts).all()
            assert (given.mechanism, given.epsilon, given.stamp) == (name, Epsilon(EPSILON), "NOT PRIVATE")
            if given.parts is not None:
                assert given.parts.shape == shape
                assert set(np.unique(given.parts)) == set(range(given.parts.max() + 1))


@pytest.mark.parametrize("shape", [(1,), (6,), (3, 4)], ids=str)
@pytest.mark.parametrize("name", ["laplace", "hb", "ahp", "ag"])
def test_with_next_to_no_noise_the_counts_come_back(name, shape):
    """At epsilon 100 all draws of this seed are zero; clusters and blocks hold equal cells here."""
    if name in TWO_DIMENSIONS_ONLY and len(shape) == 1:
        shape = (1, *shape)
    counts = np.arange(np.prod(shape)).reshape(shape) * 1000 + 5
    assert np.allclose(noisy_histogram(counts, 100, name, SeededEntropy(1)).counts, counts, atol=1e-6)


def test_real_randomness_is_not_stamped_and_a_charge_is_rounded_up():
    assert laplace([1, 2], "0.1", entropy=SystemEntropy()).stamp == ""
    assert laplace([1, 2], "0.1").stamp == ""
    assert uniform([1, 2], "0.1000000001").epsilon == Epsilon("0.100000001")


@pytest.mark.parametrize("name", list(MECHANISMS))
@pytest.mark.parametrize(
    "counts",
    [
        [[3, -104729]],
        [[1.0, float("nan")]],
        [[1.5, 2.0]],
        [],
        np.zeros((0, 4), dtype=np.int64),
        np.zeros((2, 2, 2), dtype=np.int64),
        np.int64(104729),
        np.ma.masked_array([[1, 104729]], mask=[[False, True]]),
        [["104729"]],
        [[1, 2], [104729]],
        None,
        [[1 << 70]],
        np.array([[True, False]]),
    ],
    ids=lambda counts: type(counts).__name__,
)
def test_what_is_no_histogram_is_refused_without_a_word_about_its_counts(name, counts):
    with pytest.raises(ArgumentError) as refused:
        noisy_histogram(counts, EPSILON, name)
    assert refused.value.field == "counts"
    assert "104729" not in str(refused.value)


def test_one_dimension_is_refused_where_two_are_needed():
    with pytest.raises(ArgumentError, match="1 dimensions"):
        noisy_histogram([1, 2, 3], EPSILON, "ag")


@pytest.mark.parametrize("name", list(MECHANISMS))
@pytest.mark.parametrize("epsilon", [0, -1, "0.0000001", 101, float("nan"), "much", None])
def test_an_epsilon_that_cannot_be_spent_is_refused(name, epsilon):
    with pytest.raises(ArgumentError, match="epsilon"):
        noisy_histogram([[1, 2]], epsilon, name)


def test_an_unknown_mechanism_is_refused_and_the_known_ones_are_named():
    with pytest.raises(ArgumentError, match="laplace, uniform"):
        noisy_histogram([1, 2], EPSILON, "gauss")
    with pytest.raises(ArgumentError, match="entropy"):
        noisy_histogram([1, 2], EPSILON, entropy=7)


def test_counts_beyond_the_clamp_are_cut_and_nothing_overflows():
    huge = np.full((4, 4), (1 << 62) - 1)
    for name in MECHANISMS:
        assert noisy_histogram(huge, 1, name).counts.max() < 2.0**43


def test_the_noise_of_both_has_its_law(entropy):
    """False failure 1e-6 each; a scale five percent off fails."""
    counts = np.full(300_000, 9)
    noise = (laplace(counts, EPSILON, entropy=entropy).counts - 9).astype(np.int64)
    assert_fits(laplace_p(noise, 4))
    assert_rejected(laplace_p(noise, 4.2))
    totals = np.array([uniform([3, 4, 5], 2, entropy=entropy).counts[0] * 3 - 12 for _ in range(10_000)])
    assert_fits(laplace_p(np.rint(totals).astype(np.int64), 0.5))
    assert_rejected(laplace_p(np.rint(totals).astype(np.int64), 0.65))


@pytest.mark.parametrize("mechanism", [laplace, uniform])
def test_neighbours_are_aligned_at_exactly_epsilon(mechanism, monkeypatch):
    for here, there in replayed.neighbours([2, 0, 5]):
        for seed in range(5):
            cost = replayed.aligned_cost(
                mechanism,
                flat,
                monkeypatch,
                here,
                there,
                EPSILON,
                lambda moves, seed=seed: replayed.Replay(seed, moves),
            )
            assert cost == Epsilon(EPSILON).fraction


def test_a_mechanism_that_looks_at_the_data_without_noise_cannot_be_aligned(monkeypatch):
    def leaky(counts, epsilon):
        given = laplace(counts, epsilon)
        given.counts[counts == 0] = 0
        return given

    costs = [
        replayed.aligned_cost(leaky, flat, monkeypatch, *pair, EPSILON, lambda moves: replayed.Replay(1, moves))
        for pair in replayed.neighbours([2, 0, 5])
    ]
    assert None in costs
