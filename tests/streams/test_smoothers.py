"""Smoothers: values in print, brute force over groups, weights, blocks, lockstep, compiled and plain, memory."""

import inspect
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy, discrete_laplace
from thresher.streams import AverageSmoother, JamesSteinSmoother, MedianSmoother, median_smoother
from thresher.streams.step_release import ALONE, JOINS, OPENS

PRINTED = np.array([5.6, 4.4, 6.7, 9.5, 10.2])[:, None]
MARKS = np.array([OPENS, JOINS, JOINS, ALONE, OPENS], dtype=np.int8)[:, None]
KINDS = {
    "average": AverageSmoother,
    "median": MedianSmoother,
    "james-stein": lambda series: JamesSteinSmoother(series, "0.5"),
}


def made_up(seed, steps, series):
    """Noisy counts with many ties, and marks as a grouper gives them."""
    generator = np.random.default_rng(seed)
    noisy = generator.integers(-9, 10, (steps, series))
    marks = np.empty((steps, series), dtype=np.int8)
    for column in marks.T:
        closed = True
        for step, ends in enumerate(generator.random(steps) < 0.08):
            column[step] = OPENS if closed else ALONE if ends else JOINS
            closed = column[step] == ALONE
    return noisy, marks


def last_groups(marks):
    """The steps of the last group at every step, for one series."""
    start = 0
    for step, mark in enumerate(marks.tolist()):
        start = start if mark == JOINS else step
        yield slice(start, step + 1)


def test_values_in_print():
    assert MedianSmoother(1).steps(PRINTED, MARKS)[:, 0].tolist() == pytest.approx([5.6, 5, 5.6, 9.5, 10.2])
    assert AverageSmoother(1).steps(PRINTED, MARKS)[2, 0] == pytest.approx(5.566667, abs=1e-6)
    # Fewer than four steps: nothing to shrink by. In print they are shrunk, and past the mean.
    assert JamesSteinSmoother(1, 1).steps(PRINTED, MARKS)[:, 0].tolist() == pytest.approx(PRINTED[:, 0].tolist())
    numbers = PRINTED[:3, 0]
    assert printed(numbers, 2.0, towards=numbers[-1]) == pytest.approx(6.120487, abs=1e-6)
    assert printed(numbers, 2.0, towards=numbers.mean()) == pytest.approx(4.987154, abs=1e-6)


def printed(numbers, variance, towards):
    """Equation 5.7, and with its last term put right."""
    squares = ((numbers - numbers.mean()) ** 2).sum()
    return (1 - (len(numbers) - 1) * variance / squares) * (numbers[-1] - numbers.mean()) + towards


def by_hand(kind, numbers):
    if kind == "average":
        return statistics.fmean(numbers)
    if kind == "median":
        return statistics.median(numbers)
    p, mean = np.exp(-0.5), statistics.fmean(numbers)
    squares = sum((number - mean) ** 2 for number in numbers)
    if len(numbers) < 4:
        return numbers[-1]
    shrunk = 1 - (len(numbers) - 3) * 2 * p / (1 - p) ** 2 / squares if squares else 0.0
    return mean + max(0.0, shrunk) * (numbers[-1] - mean)


@pytest.mark.parametrize("kind", KINDS)
def test_every_step_is_what_its_last_group_says(kind):
    noisy, marks = made_up(1, 150, 3)
    values = KINDS[kind](3).steps(noisy, marks)
    assert values.dtype == np.float64
    for series in range(3):
        expected = [by_hand(kind, noisy[group, series].tolist()) for group in last_groups(marks[:, series])]
        assert values[:, series].tolist() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("compiled_from", [0, 200, 1 << 60])
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_and_lockstep_give_the_same_bits(kind, compiled_from, monkeypatch):
    monkeypatch.setattr(median_smoother, "_COMPILED_FROM", compiled_from)
    noisy, marks = made_up(2, 120, 4)
    whole = KINDS[kind](4).steps(noisy, marks)
    split = KINDS[kind](4)
    parts = [split.steps(*block) for block in zip(*(np.split(a, [1, 2, 60, 61]) for a in (noisy, marks)), strict=True)]
    assert np.array_equal(np.concatenate(parts), whole)
    for series in range(4):
        alone = KINDS[kind](1).steps(noisy[:, series], marks[:, series])
        assert np.array_equal(alone[:, 0], whole[:, series])


def weighted_median(numbers, weights):
    """The middle of all points m at which neither side has more than half of the weight."""
    pairs = sorted((number, weight) for number, weight in zip(numbers, weights, strict=True) if weight)
    if not pairs:
        return 0.0
    total, fits = sum(weights), []
    for number, _ in pairs:
        below = sum(weight for other, weight in pairs if other < number)
        above = sum(weight for other, weight in pairs if other > number)
        if 2 * below <= total and 2 * above <= total:
            fits.append(number)
    return (min(fits) + max(fits)) / 2


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 3)), min_size=1, max_size=40))
def test_the_weighted_median_is_the_middle_of_the_weight(pairs):
    numbers, weights = (np.array(column)[:, None] for column in zip(*pairs, strict=True))
    marks = np.full(numbers.shape, JOINS, dtype=np.int8)
    found = MedianSmoother(1).steps(numbers, marks, weights)[:, 0].tolist()
    seen = range(1, len(pairs) + 1)
    assert found == [weighted_median(numbers[:n, 0].tolist(), weights[:n, 0].tolist()) for n in seen]


def test_weights_of_the_mean_are_those_of_least_variance():
    noisy, marks = made_up(3, 100, 2)
    nano = np.random.default_rng(3).choice([0, 10**7, 3 * 10**7], noisy.shape)
    found = AverageSmoother(2).steps(noisy, marks, weights=nano)
    for series in range(2):
        for step, group in enumerate(last_groups(marks[:, series])):
            precision = nano[group, series].astype(float) ** 2
            expected = (precision * noisy[group, series]).sum() / precision.sum() if precision.any() else 0.0
            assert found[step, series] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("smoother", [AverageSmoother, MedianSmoother])
def test_equal_weights_change_nothing(smoother):
    noisy, marks = made_up(4, 80, 3)
    same = np.full(noisy.shape, 20_000_000)
    plain, weighted = smoother(3).steps(noisy, marks), smoother(3).steps(noisy, marks, same)
    assert np.allclose(plain, weighted, rtol=0, atol=1e-12)


def test_the_compiled_loop_and_its_python_agree(monkeypatch):
    noisy, marks = made_up(5, 90, 3)
    weights = np.random.default_rng(5).integers(0, 3, noisy.shape)
    plain = MedianSmoother(3).steps(noisy, marks, weights)
    monkeypatch.setattr(median_smoother, "_COMPILED_FROM", 0)
    assert np.array_equal(MedianSmoother(3).steps(noisy, marks, weights), plain)
    medians = np.empty(noisy.shape)
    held = np.zeros((3, 6), dtype=np.int64)
    held[:, 5] = 1000
    rows = np.zeros((3, 91)), np.zeros((3, 91), dtype=np.int64)
    inspect.unwrap(median_smoother._advance)(noisy.astype(float), marks == JOINS, weights, medians, *rows, held)
    assert np.array_equal(medians, plain)


@pytest.mark.parametrize("compiled_from", [0, 1 << 60])
def test_a_group_longer_than_the_longest_is_begun_anew(compiled_from, monkeypatch):
    monkeypatch.setattr(median_smoother, "_COMPILED_FROM", compiled_from)
    numbers = np.arange(10)[:, None]
    marks = np.full((10, 1), JOINS, dtype=np.int8)
    values = MedianSmoother(1, longest=4).steps(numbers, marks)[:, 0].tolist()
    assert values == [0, 0.5, 1, 1.5, 4, 4.5, 5, 5.5, 8, 8.5]


def test_smoothing_a_flat_stream_makes_its_error_smaller_and_the_equation_in_print_larger():
    """2,000 steps of a flat stream at epsilon 0.1: seeded, so nothing is left to chance."""
    noisy = np.asarray(discrete_laplace("0.1", 2000, entropy=SeededEntropy(5)))
    marks = np.where(np.arange(2000) % 20, JOINS, OPENS).astype(np.int8)

    def error(values):
        return float(np.abs(np.ravel(values)).mean())

    plain = error(noisy)
    assert 9 < plain < 11
    assert error(MedianSmoother(1).steps(noisy, marks)) < 0.45 * plain
    assert error(AverageSmoother(1).steps(noisy, marks)) < 0.5 * plain
    assert error(JamesSteinSmoother(1, "0.1").steps(noisy, marks)) < 0.75 * plain
    groups = [noisy[group] for group in last_groups(marks)]
    in_print = [printed(g, 200.0, towards=g[-1]) if len(set(g.tolist())) > 1 else g[-1] for g in groups]
    assert error(np.array(in_print)) > 1.3 * plain


NUMBERS, SOME = np.zeros((2, 3), dtype=np.int64), np.ones((2, 3), dtype=np.int8)
REFUSED = [
    ("series", lambda: AverageSmoother(0)),
    ("longest", lambda: MedianSmoother(1, 0)),
    ("epsilon_p", lambda: JamesSteinSmoother(1, 0)),
    ("noisy", lambda: AverageSmoother(2).steps(NUMBERS, SOME)),
    ("noisy", lambda: MedianSmoother(3).steps(NUMBERS.astype(str), SOME)),
    ("marks", lambda: MedianSmoother(3).steps(NUMBERS, SOME[:1])),
    ("marks", lambda: JamesSteinSmoother(3, 1).steps(NUMBERS, SOME.astype(float))),
    ("weights", lambda: MedianSmoother(3).steps(NUMBERS, SOME, NUMBERS[:1])),
    ("weights", lambda: MedianSmoother(3).steps(NUMBERS, SOME, NUMBERS - 1)),
    ("weights", lambda: AverageSmoother(3).steps(NUMBERS, SOME, np.full((2, 3), 0.01))),
]


@pytest.mark.parametrize(("field", "ask"), REFUSED)
def test_what_does_not_fit_is_refused(field, ask):
    with pytest.raises(ArgumentError) as refusal:
        ask()
    assert refusal.value.field == field
