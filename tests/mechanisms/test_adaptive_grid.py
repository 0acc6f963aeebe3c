"""Two grids: what they depend on, what they cost, and how they are combined."""

from fractions import Fraction

import mechanisms.replayed_noise as replayed
import numpy as np
import pytest

from thresher.mechanisms.histograms import adaptive_grid as module
from thresher.mechanisms.histograms.adaptive_grid import (
    adaptive_grid,
    coarse_grid,
    estimate_from_grids,
    fine_grid,
    grid_shares,
)
from thresher.mechanisms.histograms.buckets import bucket_sums

EPSILON = "0.8"


def test_the_shares_come_to_epsilon():
    shares = grid_shares(Fraction(4, 5))
    assert shares.total + shares.coarse + shares.fine == Fraction(4, 5)
    assert shares.coarse == shares.fine


def test_the_first_grid_follows_the_noisy_total():
    """max(10, ceil(sqrt(N epsilon / 10) / 4)), and never more lines than cells."""
    assert coarse_grid((64, 64), 1000, Fraction(1)).shape == (10, 10)
    assert coarse_grid((64, 64), 16_010, Fraction(1)).shape == (11, 11)
    assert coarse_grid((64, 5), 16_010, Fraction(1)).shape == (11, 5)
    assert coarse_grid((64, 64), -50, Fraction(1)).shape == (10, 10)
    assert coarse_grid((64, 64), 10**9, Fraction(1)).shape == (64, 64)


def test_blocks_are_boxes_of_nearly_equal_sides():
    coarse = coarse_grid((23, 37), 0, Fraction(1))
    assert boxes(coarse.labels) == 100
    sizes = np.bincount(coarse.labels.ravel())
    assert sizes.min() >= 2 * 3
    assert sizes.max() <= 3 * 4


def test_a_block_is_divided_by_what_was_seen_in_it():
    """ceil(sqrt(c epsilon / 5)) parts along each axis, at least one, at most its rows or columns."""
    coarse = coarse_grid((40, 40), 0, Fraction(1))
    first = np.zeros(100, dtype=np.int64)
    first[:5] = [-7, 5, 6, 21, 10**6]
    labels = fine_grid(coarse, first, Fraction(1))
    parts = [np.unique(labels[coarse.labels == block]).size for block in range(100)]
    assert parts[:5] == [1, 1, 4, 9, 16]
    assert set(parts[5:]) == {1}
    assert boxes(labels) == sum(parts)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (11, 13), (40, 3), (30, 30)], ids=str)
def test_parts_lie_inside_blocks_and_leave_no_gap(shape):
    coarse = coarse_grid(shape, 0, Fraction(1))
    generator = np.random.default_rng(3)
    labels = fine_grid(coarse, generator.integers(-10, 300, coarse.labels.max() + 1), Fraction(1, 2))
    assert boxes(labels) == labels.max() + 1
    pairs = np.unique(np.stack([labels.ravel(), coarse.labels.ravel()]), axis=1)
    assert pairs.shape[1] == labels.max() + 1


def boxes(labels):
    """How many labels there are, each the label of a full box."""
    found = np.unique(labels)
    for label in found:
        rows, columns = np.nonzero(labels == label)
        assert rows.size == (np.ptp(rows) + 1) * (np.ptp(columns) + 1)
    return found.size


def test_combination_is_least_squares_over_the_parts():
    coarse = coarse_grid((20, 30), 0, Fraction(1))
    generator = np.random.default_rng(4)
    first = generator.integers(0, 60, 100)
    labels = fine_grid(coarse, first, Fraction(1))
    second = generator.integers(-9, 60, labels.max() + 1)
    given = estimate_from_grids(coarse, first, labels, second)
    totals = np.bincount(labels.ravel(), weights=given.ravel())
    block_of = np.zeros(second.size, dtype=int)
    block_of[labels.ravel()] = coarse.labels.ravel()
    rows = np.vstack([np.eye(100)[:, block_of], np.eye(second.size)])
    best = np.linalg.lstsq(rows, np.concatenate([first, second]).astype(float), rcond=None)[0]
    assert np.allclose(totals, best)
    assert not np.allclose(second, best)
    assert all(np.ptp(given[labels == label]) == 0 for label in range(second.size))


def test_exact_measurements_give_exact_blocks():
    counts = np.random.default_rng(5).integers(0, 50, (20, 20))
    coarse = coarse_grid(counts.shape, 10_000, Fraction(1))
    first = bucket_sums(counts, coarse.labels)
    labels = fine_grid(coarse, first, Fraction(1))
    given = estimate_from_grids(coarse, first, labels, bucket_sums(counts, labels))
    assert np.allclose(np.bincount(labels.ravel(), weights=given.ravel()), bucket_sums(counts, labels))


@pytest.mark.parametrize("counts", [[[3, 0], [9, 1]], [[40, 2, 0]]], ids=str)
def test_neighbours_are_aligned_at_exactly_epsilon(counts, monkeypatch):
    for here, there in replayed.neighbours(counts):
        for seed in range(3):
            assert cost(adaptive_grid, monkeypatch, here, there, EPSILON, seed) == Fraction(EPSILON)


def test_blocks_larger_than_cells_are_aligned_too(monkeypatch):
    """A grid with lines two cells apart, so that parts of blocks are really chosen by what was seen."""
    monkeypatch.setattr(module, "_LEAST_LINES", 2)
    here = np.array([[9, 0, 1, 4], [0, 3, 2, 2]])
    seen = {replayed_parts(monkeypatch, here, seed) for seed in range(8)}
    assert len(seen) > 1
    for pair in list(replayed.neighbours(here))[:6]:
        for seed in range(3):
            assert cost(adaptive_grid, monkeypatch, *pair, 8, seed) == 8


def test_the_true_total_in_the_rule_is_found_out(monkeypatch):
    """At 16,000 records one more adds a line; with lines by the true total, no noise can hide it."""
    edge = 16_000
    assert coarse_grid((64, 64), edge, Fraction(1)).shape != coarse_grid((64, 64), edge + 1, Fraction(1)).shape
    monkeypatch.setattr(module, "_LEAST_LINES", 1)
    # sqrt(160 / 10) / 4 = 1 line up to 160 records at epsilon 1; the mutant's rule is told the truth.
    here, there = np.array([[160, 0]]), np.array([[161, 0]])
    amount = Fraction(20, 19)
    assert cost(adaptive_grid, monkeypatch, here, there, amount, 1) == amount
    with monkeypatch.context() as patch:
        real = module.coarse_grid
        told = {160: real((1, 2), 160, Fraction(1)), 161: real((1, 2), 161, Fraction(1))}
        assert told[160].shape != told[161].shape

        def leaky(counts, epsilon):
            with patch.context() as inner:
                inner.setattr(module, "coarse_grid", lambda *_: told[int(counts.sum())])
                return adaptive_grid(counts, epsilon)

        assert cost(leaky, monkeypatch, here, there, amount, 1) is None


def cost(mechanism, monkeypatch, here, there, epsilon, seed):
    return replayed.aligned_cost(
        mechanism, module, monkeypatch, here, there, epsilon, lambda moves: replayed.Replay(seed, moves)
    )


def replayed_parts(monkeypatch, counts, seed):
    replay = replayed.Replay(seed)
    replayed.run(adaptive_grid, module, monkeypatch, counts, 8, replay)
    return replay.sizes[-1]
