"""Window sums by groups: the value in print, brute force over all groups in the window, blocks, lockstep, memory."""

import numpy as np
import pytest

from thresher.errors import ArgumentError
from thresher.streams import AverageSmoother, MedianSmoother
from thresher.streams.step_release import ALONE, JOINS, OPENS
from thresher.streams.window_sums import WindowSumSmoother


def made_up(seed, steps, series, ends=0.1):
    generator = np.random.default_rng(seed)
    noisy, marks = generator.integers(-9, 30, (steps, series)), np.empty((steps, series), dtype=np.int8)
    for column in marks.T:
        closed = True
        for step, end in enumerate(generator.random(steps) < ends):
            column[step] = OPENS if closed else ALONE if end else JOINS
            closed = column[step] == ALONE
    return noisy, marks


def by_hand(noisy, marks, length):
    """Algorithm 17 word for word, for one series."""
    sums = []
    for now in range(len(noisy)):
        groups = np.cumsum(marks[: now + 1] != JOINS)
        first = max(0, now - length + 1)
        total = 0.0
        for group in np.unique(groups[first:]):
            total += np.median(noisy[: now + 1][groups == group]) * np.sum(groups[first:] == group)
        sums.append(total)
    return sums


def test_the_value_in_print():
    noisy = np.array([5.6, 4.4, 6.7, 9.5, 10.2])[:, None]
    marks = np.array([OPENS, JOINS, JOINS, ALONE, OPENS], dtype=np.int8)[:, None]
    assert WindowSumSmoother(1, 4).steps(noisy, marks)[-1, 0] == pytest.approx(30.9)
    # What was said at the time, added up, is another number.
    assert MedianSmoother(1).steps(noisy, marks)[1:].sum() == pytest.approx(30.3)


@pytest.mark.parametrize("length", [1, 2, 5, 16, 1000])
@pytest.mark.parametrize("ends", [0.02, 0.5])
def test_all_groups_in_the_window_by_their_latest_medians(length, ends):
    """Whole numbers have medians in halves, so sums are exact."""
    noisy, marks = made_up(length, 120, 3, ends)
    sums = WindowSumSmoother(3, length).steps(noisy, marks)
    for series in range(3):
        assert sums[:, series].tolist() == by_hand(noisy[:, series], marks[:, series], length)


def test_blocks_and_lockstep_give_the_same_bits():
    noisy, marks = made_up(2, 150, 4)
    whole, split = WindowSumSmoother(4, 12).steps(noisy, marks), WindowSumSmoother(4, 12)
    pairs = zip(*(np.split(array, [1, 2, 90, 91]) for array in (noisy, marks)), strict=True)
    assert np.array_equal(np.concatenate([split.steps(*block) for block in pairs]), whole)
    for series in range(4):
        alone = WindowSumSmoother(1, 12).steps(noisy[:, series], marks[:, series])
        assert np.array_equal(alone[:, 0], whole[:, series])


def test_many_windows_may_share_one_smoother():
    noisy, marks = made_up(3, 100, 2)
    medians = MedianSmoother(2).steps(noisy, marks)
    for length in (4, 30):
        expected = WindowSumSmoother(2, length).steps(noisy, marks)
        assert np.array_equal(WindowSumSmoother(2, length).of_values(medians, marks), expected)
    means = AverageSmoother(2).steps(noisy, marks)
    assert WindowSumSmoother(2, 10**6).of_values(means, marks)[-1] == pytest.approx(noisy.sum(axis=0))


def test_memory_is_bounded_by_the_groups_in_the_window():
    smoother = WindowSumSmoother(2, 32)
    for seed in range(40):
        smoother.steps(*made_up(seed, 50, 2, ends=1.0))
    assert smoother._values.shape[1] <= 64


def test_what_does_not_fit_is_refused():
    for length in (0, -1, 1.5, 1 << 30):
        with pytest.raises(ArgumentError) as refusal:
            WindowSumSmoother(1, length)
        assert refusal.value.field == "length"
