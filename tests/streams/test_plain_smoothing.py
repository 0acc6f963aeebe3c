"""Free things made of noisy counts: windows, means, the adaptive smoother, monitors, hysteresis; and their laws."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.errors import ArgumentError
from thresher.streams.alarms import SILENT, Hysteresis
from thresher.streams.monitors import BEST_EFFORT, Monitor, sums_of_rows
from thresher.streams.perturber import perturb
from thresher.streams.smoothers import AdaptiveSmoother
from thresher.streams.window_sums import RunningSums, WindowSums, backward_means

CUTS = ((0, 1), (1, 2), (2, 2), (2, 40), (40, 41), (41, 150))


def noisy_counts(entropy, steps=150, series=3):
    counts = np.repeat([[0, 4, 90], [0, 40, 90], [30, 40, 10]], steps // 3, axis=0)
    return np.asarray(perturb(counts[:, :series], "0.5", entropy))


def by_hand(noisy, epsilon, strictness, longest):
    """The definition, one step of one series at a time."""
    estimates = []
    for t in range(len(noisy)):
        intervals, kept, length = [], float(noisy[t]), 1
        while length <= min(longest, t + 1):
            mean, radius = noisy[t + 1 - length : t + 1].sum() / length, strictness * math.sqrt(2 / length) / epsilon
            if any(mean - radius > high or mean + radius < low for low, high in intervals):
                break
            intervals.append((mean - radius, mean + radius))
            kept, length = mean, 2 * length
        estimates.append(kept)
    return np.array(estimates)


OBJECTS = {
    "window sums": lambda series: WindowSums(series, 9),
    "adaptive": lambda series: AdaptiveSmoother(series, "0.5", 2.0, 32),
    "adaptive, strict": lambda series: AdaptiveSmoother(series, "0.5", 3.0, 16),
    "low monitor": lambda series: Monitor(series, "low", 100, 11),
    "jump monitor": lambda series: Monitor(series, "jump", 20, 5),
    "own monitor": lambda series: Monitor(series, lambda rows: rows.max(axis=0), 20, 5),
    "hysteresis": lambda series: Hysteresis(series, 2, 3),
}


def result(held, block):
    found = held.steps(block > 20 if isinstance(held, Hysteresis) else block)
    if isinstance(held, WindowSums):
        return np.concatenate([found[0], found[1][:, None]], axis=1)
    return np.concatenate([found.scores, found.flags], axis=1) if isinstance(held, Monitor) else found


class TestLaws:
    @pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
    def test_blocks_may_be_cut_anywhere(self, make, entropy):
        noisy = noisy_counts(entropy)
        held = make(3)
        parts = np.concatenate([result(held, noisy[a:b]) for a, b in CUTS])
        assert np.array_equal(parts, result(make(3), noisy), equal_nan=True)

    @pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
    def test_series_go_side_by_side_as_one_by_one(self, make, entropy):
        noisy = noisy_counts(entropy)
        together = result(make(3), noisy)
        for series in range(3):
            alone = result(make(1), noisy[:, [series]])
            columns = [series] if alone.shape[1] == 1 else [series, 3 + series * (together.shape[1] == 6)]
            assert np.array_equal(together[:, columns], alone, equal_nan=True)

    @pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
    def test_memory_is_bounded_and_what_is_read_is_not_changed(self, make, entropy):
        noisy, held = noisy_counts(entropy), make(3)
        before = noisy.copy()
        sizes = []
        for _ in range(40):
            first = result(held, noisy)
            kept = first.copy()
            result(held, noisy)
            assert np.array_equal(first, kept, equal_nan=True), "what was handed out does not change afterwards"
            sizes.append(footprint(held))
        assert (noisy == before).all()
        assert sizes[-1] == sizes[len(sizes) // 2], "it has stopped growing"

    @pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
    def test_a_block_of_another_number_of_series_is_refused(self, make):
        with pytest.raises(ArgumentError):
            make(3).steps(np.zeros((4, 2), dtype=np.int64))


def footprint(held):
    """Bytes in arrays that an object holds, one level down."""
    inner = [vars(value) for value in vars(held).values() if isinstance(value, RunningSums)]
    return sum(
        value.nbytes for content in (vars(held), *inner) for value in content.values() if isinstance(value, np.ndarray)
    )


@settings(max_examples=60)
@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=80),
    st.sampled_from([1.0, 2.0, 3.0]),
    st.sampled_from([1, 3, 8, 64]),
    st.sampled_from(["0.0001", "0.1", "2"]),
)
def test_the_adaptive_smoother_is_its_definition(values, strictness, longest, epsilon):
    noisy = np.array(values)
    seen = AdaptiveSmoother(1, epsilon, strictness, longest).steps(noisy)[:, 0]
    assert seen == pytest.approx(by_hand(noisy, float(epsilon), strictness, longest), rel=1e-12, abs=1e-9)


def test_it_averages_what_holds_still_and_follows_a_change(entropy):
    level = np.repeat([0, 500], [4096, 100])
    estimates = AdaptiveSmoother(1, "0.1", 3.0).steps(perturb(level, "0.1", entropy))[:, 0]
    assert np.abs(estimates[2048:4096]).mean() < 1.5, "noise of one count is 10"
    assert np.abs(estimates[4100:] - 500).max() < 60, "5 steps after a change of 50 scales the old level is forgotten"


def test_sums_wrap_without_harm():
    """Cumulative sums beyond 64 bits: windows are still right."""
    sums = RunningSums(1, 4)
    block = np.full((40, 1), 2**60)
    found = np.concatenate([sums.last(3).copy() for _ in sums.batches(block)])
    assert found[3:, 0].tolist() == [3 * 2**60] * 37


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(-9, 9), st.booleans()), min_size=1, max_size=60), st.integers(1, 12))
def test_windows_say_how_many_steps_they_cover(steps, length):
    noisy, present = np.array([value for value, _ in steps]), np.array([known for _, known in steps])
    sums, covered = WindowSums(1, length).steps(noisy, present)
    for t in range(len(steps)):
        last = steps[max(0, t + 1 - length) : t + 1]
        assert sums[t, 0] == sum(value for value, known in last if known)
        assert covered[t] == sum(known for _, known in last)


def test_backward_means():
    assert backward_means([3, 5, 10, 0], 2).tolist() == [3, 4, 7.5, 5]
    assert backward_means([[3, 1], [5, 1]], 8).tolist() == [[3, 1], [4, 1]]
    assert backward_means(np.zeros((0, 2), dtype=int), 3).shape == (0, 2)


class TestMonitors:
    def test_scores_and_flags(self):
        values = np.array([1.0, 2.0, 10.0, 2.0])
        low, high = Monitor(1, "low", 12, 2).steps(values), Monitor(1, "high", 11, 2).steps(values)
        assert low.scores[1:, 0].tolist() == [-3, -12, -12]
        assert low.flags[:, 0].tolist() == [False, True, False, False], "12 is not below 12"
        assert high.flags[:, 0].tolist() == [False, False, True, True]
        jump, drop = Monitor(1, "jump", 8, 1).steps(values), Monitor(1, "drop", 8, 1).steps(values)
        assert jump.scores[1:, 0].tolist() == [1, 8, -8]
        assert jump.flags[:, 0].tolist() == [False, False, True, False]
        assert drop.flags[:, 0].tolist() == [False, False, False, True]
        assert Monitor(1, "change", 8, 1).steps(values).flags[:, 0].tolist() == [False, False, True, True]
        assert np.isnan(jump.scores[0, 0])
        assert low.label == BEST_EFFORT
        assert "no error rate is promised" in low.label

    def test_a_function_of_ones_own_sees_released_values_only_in_full_windows(self):
        seen = []

        def spread(rows):
            seen.append(rows.copy())
            rows[:] = -1.0
            return rows.shape[0] + np.zeros(2)

        values = np.arange(8.0).reshape(4, 2)
        watched = Monitor(2, spread, 3, 3).steps(values)
        assert [rows.tolist() for rows in seen] == [values[:3].tolist(), values[1:].tolist()]
        assert watched.flags.tolist() == [[False] * 2] * 2 + [[True] * 2] * 2

    @given(st.integers(1, 40), st.integers(0, 30))
    def test_sums_of_rows(self, length, more):
        rows = np.arange(2.0 * (length + more)).reshape(-1, 2) ** 2
        wanted = [rows[i : i + length].sum(axis=0) for i in range(more + 1)]
        assert sums_of_rows(rows, length) == pytest.approx(np.array(wanted))

    @pytest.mark.parametrize(
        ("arguments", "field"),
        [((1, "up", 1, 1), "kind"), ((1, "low", math.nan, 1), "threshold"), ((1, "low", 1, 0), "window")],
    )
    def test_refusals(self, arguments, field):
        with pytest.raises(ArgumentError, match=f"^{field} = "):
            Monitor(*arguments)


class TestHysteresis:
    @pytest.mark.parametrize(
        ("on", "off", "crossed", "ringing"),
        [
            (1, 1, "0101", "0101"),
            (2, 1, "0110110", "0010010"),
            (2, 3, "1100100011", "0111111001"),
            (2, 2, "1.1.0.0.", "00111100"),
        ],
    )
    def test_it_turns_after_so_many_in_a_row(self, on, off, crossed, ringing):
        tests = np.array([SILENT if said == "." else int(said) for said in crossed], dtype=np.int8)
        assert Hysteresis(1, on, off).steps(tests)[:, 0].tolist() == [said == "1" for said in ringing]

    def test_refusals(self):
        with pytest.raises(ArgumentError, match=r"^on = "):
            Hysteresis(1, 0, 1)


@pytest.mark.parametrize("strictness", [0, -1.0, math.nan, math.inf, "3"])
def test_strictness_is_a_positive_number(strictness):
    with pytest.raises(ArgumentError, match="strictness"):
        AdaptiveSmoother(1, "0.1", strictness)
