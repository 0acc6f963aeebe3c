"""Trees over the cells: what is measured, what it costs, and least squares against numpy's."""

from fractions import Fraction

import mechanisms.replayed_noise as replayed
import numpy as np
import pytest

from thresher.amounts import Epsilon
from thresher.errors import ArgumentError
from thresher.mechanisms.histograms import hierarchical as module
from thresher.mechanisms.histograms.hierarchical import best_branching, blocks, estimate_from_levels, hierarchical

TREES = [
    ((5,), 2),
    ((7,), 2),
    ((8,), 2),
    ((10,), 3),
    ((9,), 8),
    ((1,), 2),
    ((4, 4), 2),
    ((3, 7), 2),
    ((1, 6), 3),
    ((10, 4), 3),
]


def strategy(shape, branching):
    """One row for each count that is measured, found by probing with one record in each cell; and the level sizes."""
    probes = np.eye(int(np.prod(shape)), dtype=np.int64).reshape(-1, *shape)
    levels = [blocks(probe, branching) for probe in probes]
    rows = np.array([np.concatenate([level.ravel() for level in one]) for one in levels]).T
    return rows, [level.shape for level in levels[0]]


@pytest.mark.parametrize(("shape", "branching"), TREES, ids=str)
def test_a_record_is_counted_once_in_every_level(shape, branching):
    rows, shapes = strategy(shape, branching)
    assert (rows.sum(axis=0) == len(shapes)).all()
    assert branching ** (len(shapes) - 1) < max(shape) <= branching ** len(shapes) or max(shape) == 1
    # No level is a root: its count would tell no more than the sum of the next.
    assert np.prod(shapes[0]) > 1 or np.prod(shape) == 1


@pytest.mark.parametrize(("shape", "branching"), TREES, ids=str)
def test_reconstruction_is_least_squares(shape, branching):
    rows, shapes = strategy(shape, branching)
    generator = np.random.default_rng(5)
    for _ in range(3):
        seen = generator.integers(-50, 200, rows.shape[0])
        ends = np.cumsum([np.prod(one) for one in shapes])
        levels = [part.reshape(one).astype(float) for part, one in zip(np.split(seen, ends[:-1]), shapes, strict=True)]
        best = np.linalg.lstsq(rows.astype(float), seen.astype(float), rcond=None)[0]
        assert np.allclose(estimate_from_levels(levels, branching), best.reshape(shape), atol=1e-9)
        if len(shapes) > 1:
            # Taking the cells alone, or giving all siblings equal shares, is something else.
            assert not np.allclose(levels[-1], best.reshape(shape), atol=1e-3)


@pytest.mark.parametrize(("shape", "branching"), TREES, ids=str)
def test_exact_counts_come_back_as_they_are(shape, branching):
    counts = np.random.default_rng(1).integers(0, 10**6, shape)
    assert np.allclose(
        estimate_from_levels([level.astype(float) for level in blocks(counts, branching)], branching), counts
    )


@pytest.mark.parametrize(("shape", "branching"), [((3,), 2), ((5,), 2), ((2, 3), 2), ((4,), 4)], ids=str)
def test_neighbours_are_aligned_at_exactly_epsilon(shape, branching, monkeypatch):
    def tree(counts, epsilon):
        return hierarchical(counts, epsilon, branching=branching)

    counts = np.arange(np.prod(shape)).reshape(shape)
    for here, there in replayed.neighbours(counts):
        cost = replayed.aligned_cost(
            tree, module, monkeypatch, here, there, "0.3", lambda moves: replayed.Replay(4, moves)
        )
        assert cost == Fraction(3, 10)


def test_what_is_released_is_made_of_noisy_blocks(monkeypatch):
    counts, replay = np.arange(10), replayed.Replay(2)
    shown = replayed.run(
        lambda cells, epsilon: hierarchical(cells, epsilon, branching=3), module, monkeypatch, counts, "0.5", replay
    )
    again = replayed.Replay(2)
    noisy = [(level + again("0.5", level.size).reshape(level.shape)).astype(float) for level in blocks(counts, 3)]
    assert replay.rates == [Fraction(1, 6)] * 3
    assert np.array_equal(shown, estimate_from_levels(noisy, 3))


def test_the_branching_is_the_best_of_all():
    def height(side, base):
        levels = 1
        while base**levels < side:
            levels += 1
        return levels

    for side in [1, 2, 3, 4, 5, 16, 17, 31, 100, 255, 256, 1000, 4096]:
        bases = range(2, max(side, 2) + 1)
        for dimensions, formula in (
            (1, lambda b, h: 3 * (b - 1) * h**3 - 2 * (b + 1) * h**2),
            (2, lambda b, h: b * h**2),
        ):
            costs = {base: formula(base, height(side, base)) for base in bases}
            assert costs[best_branching(side, dimensions)] == min(costs.values())
    assert best_branching(4096) == 16
    assert best_branching(256, 2) == 7
    assert best_branching(1 << 22) > 2


def test_ranges_are_better_and_cells_worse_than_with_plain_noise(entropy, trials):
    """On 4,096 cells: the variance of half of them, and of one, against 2 / epsilon**2 per cell of plain noise.

    By the exact covariance, half the cells has 0.033 times and one cell 8.47 times that of plain noise. The mean of 60
    squares falls below 0.18 of its expectation, or rises above 15 times it, with probability below 1e-6 even for
    plain Laplace noise (Chernoff); plain noise would fail both.
    """
    rounds, plain = trials(60, 600), 2.0
    zeros = np.zeros(4096, dtype=np.int64)
    seen = np.array([hierarchical(zeros, 1, entropy=entropy).counts for _ in range(rounds)])
    assert (seen[:, :2048].sum(axis=1) ** 2).mean() < 0.5 * 2048 * plain
    assert (seen[:, 17] ** 2).mean() > 1.5 * plain


@pytest.mark.parametrize("branching", [0, 1, -3, 2.5, "2", True, 1 << 40])
def test_a_branching_that_makes_no_tree_is_refused(branching):
    with pytest.raises(ArgumentError, match="branching"):
        hierarchical([1, 2, 3], 1, branching=branching)


def test_the_charge_is_epsilon_whatever_the_height():
    assert hierarchical([1, 2, 3, 4, 5], "0.1", branching=2).epsilon == Epsilon("0.1")
