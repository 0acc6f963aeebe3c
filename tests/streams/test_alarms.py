"""Alarms: values of the literature, both promises exactly and by drawing, what is silent, and refusals."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from thresher.errors import ArgumentError
from thresher.noise import NoiseSum
from thresher.streams.alarms import CROSSED, QUIET, SILENT, AlarmWatch, alarm, tree_alarm
from thresher.streams.perturber import perturb
from thresher.streams.tree_windows import TreeWindows

MISS_RATE, ALARM_RATE = 0.05, 0.1
KINDS = ("low", "high", "jump", "drop", "change")
ACCIDENT = 1e-6
ROUNDING = 1e-12


def law_of_sum(epsilon, terms, reach=1200):
    """P[N = x] for x from -reach to reach, by convolution."""
    x = np.arange(-reach, reach + 1)
    p = math.exp(-epsilon)
    one = (1 - p) / (1 + p) * p ** np.abs(x)
    law = one
    for _ in range(terms - 1):
        law = np.convolve(law, one)[reach:-reach]
    return x, law


@pytest.mark.parametrize(
    ("epsilon", "window", "shift", "rate"),
    [
        ("0.1", 1, 23, 0.04763),
        ("0.1", 2, 33, 0.04686),
        ("0.1", 12, 80, 0.04972),
        ("0.1", 48, 161, 0.04946),
        ("1", 1, 2, 0.03640),
        ("1", 2, 3, 0.03648),
        ("1", 12, 8, 0.03561),
        ("1", 48, 15, 0.04940),
    ],
)
def test_shifts_of_the_specification(epsilon, window, shift, rate):
    low = alarm("low", 1000, window, epsilon, "0.05", "0.1")
    assert low.shift == shift
    assert low.noise.tail(epsilon, shift + 1).high == pytest.approx(rate, abs=1e-5)
    assert low.noise.tail(epsilon, shift).low > MISS_RATE, "one less would not do"
    assert alarm("high", 1000, window, epsilon, "0.05", "0.1").shift == shift
    if window == 2:
        assert {alarm(kind, 1000, 48, epsilon, "0.05", "0.1").shift for kind in KINDS[2:]} == {shift}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("epsilon", "window", "members"), [("1", 1, 1), ("0.5", 3, 1), ("0.3", 2, 4)])
def test_both_promises_hold_at_every_true_value_and_no_line_nearer_does(kind, epsilon, window, members):
    threshold = 90
    placed = alarm(kind, threshold, window, epsilon, MISS_RATE, ALARM_RATE, members)
    noise, law = law_of_sum(float(epsilon), members * (2 if placed.differs else window))

    def rings(line, value):
        return float(law[line.judged(value + noise)].sum())

    values = np.arange(-250, 251)
    true, safe = placed.true(values), placed.safe(values)
    assert not (true & safe).any()
    ways = 2 if kind == "change" else 1
    assert (~true & ~safe).sum() == ways * placed.zone, "the zone counts the values without a promise"
    missed = max(1 - rings(placed, value) for value in values[true])
    alarmed = max(rings(placed, value) for value in values[safe])
    assert missed <= MISS_RATE + ROUNDING
    assert alarmed <= ALARM_RATE + ROUNDING
    # The same check sees a line that is one off, and a zone that is one too narrow.
    nearer = replace(placed, shift=placed.shift - 1)
    assert max(1 - rings(nearer, value) for value in values[true]) > MISS_RATE
    narrow = replace(placed, zone=placed.zone - 1)
    assert max(rings(placed, value) for value in values[narrow.safe(values)]) > ALARM_RATE


def worst_counts(kind, window, miss):
    """Counts of 2 * window steps whose last step is at the worst case: of a miss, or of a false alarm."""
    placed = alarm(kind, 60, window, "1", MISS_RATE, ALARM_RATE)
    values = np.arange(-200, 300)
    ends = values[placed.true(values) if miss else placed.safe(values)]
    value = int(ends[np.abs(ends - 60 if kind != "drop" else ends + 60).argmin()])
    counts = np.full(2 * window, 100, dtype=np.int64)
    if placed.differs:
        counts[-1] = counts[-1 - window] + value
    else:
        counts[-window:] = value // window
        counts[-1] += value % window
    return placed, counts


@pytest.mark.parametrize("kind", KINDS)
def test_drawn_errors_at_the_worst_case_have_the_rate_that_is_computed(kind, entropy, trials, measured):
    """20,000 independent steps each; a right alarm fails with probability at most 1e-6, one shifted by one is seen."""
    steps = trials(20_000, 200_000)
    for window in (1, 12):
        for miss in (True, False):
            placed, counts = worst_counts(kind, window, miss)
            noisy = perturb(np.tile(counts[:, None], steps), "1", entropy)
            last = placed.crossed(noisy)[-1]
            assert (last != SILENT).all()
            errors = int((last == (QUIET if miss else CROSSED)).sum())
            promised = MISS_RATE if miss else ALARM_RATE
            assert errors <= stats.binom.isf(ACCIDENT, steps, promised)
            nearer = replace(placed, shift=placed.shift + (-1 if miss else 1))
            worse = int((nearer.crossed(noisy)[-1] == (QUIET if miss else CROSSED)).sum())
            assert worse > errors
            if window == 1:
                assert worse > stats.binom.isf(ACCIDENT, steps, promised), "one off is refuted"
            measured(f"alarm {kind}, window {window}, {'misses' if miss else 'false alarms'}: {errors / steps:.4f}")


def test_a_long_stream_misses_no_more_often_than_promised(entropy, trials, measured):
    """Errors of nearby steps share noise: the variance is at most w times that of independent ones; 4.9 of those."""
    steps, window = trials(24_000, 400_000), 12
    placed = alarm("low", 1201, window, "0.1", MISS_RATE, ALARM_RATE)
    for level, state, rate in ((100, QUIET, MISS_RATE), (100 + placed.zone // window + 1, CROSSED, ALARM_RATE)):
        tests = placed.crossed(perturb(np.full(steps + window - 1, level), "0.1", entropy))[window - 1 :]
        errors = int((tests == state).sum())
        assert errors <= rate * steps + 4.9 * math.sqrt(window * rate * steps)
        measured(f"alarm low over {steps:,} steps at {level}: {errors / steps:.4f} of at most {rate}")
    far = alarm("low", 1201, window, "0.13", MISS_RATE, ALARM_RATE)
    missed = int((far.crossed(perturb(np.full(steps + window - 1, 100), "0.1", entropy)) == QUIET).sum())
    assert missed > MISS_RATE * steps + 4.9 * math.sqrt(window * MISS_RATE * steps), "another epsilon is refuted"


def test_jumps_look_at_the_count_w_steps_ago():
    counts = np.array([10, 0, 0, 70, 0, 0, 0])
    jump, drop, change = (alarm(kind, 60, 3, 1000, MISS_RATE, ALARM_RATE) for kind in KINDS[2:])
    assert jump.shift == drop.shift == change.shift == 0
    assert jump.crossed(counts)[:, 0].tolist() == [SILENT] * 3 + [CROSSED, QUIET, QUIET, QUIET]
    assert drop.crossed(counts)[:, 0].tolist() == [SILENT] * 3 + [QUIET, QUIET, QUIET, CROSSED]
    assert change.crossed(counts)[:, 0].tolist() == [SILENT] * 3 + [CROSSED, QUIET, QUIET, CROSSED]


def test_thresholds_between_whole_numbers_mean_what_they_say():
    def crossed(kind, threshold, count):
        return alarm(kind, threshold, 1, 1000, MISS_RATE, ALARM_RATE).judged(count).item()

    assert crossed("low", "2.5", 2)
    assert not crossed("low", "2.5", 3)
    assert crossed("high", "2.5", 3)
    assert not crossed("high", "2.5", 2)
    assert crossed("jump", "2.5", 3)
    assert not crossed("jump", "2.5", 2)


def test_steps_that_are_missing_silence_every_window_that_needs_them():
    present = np.array([True, True, False, True, True, True, True])
    counts = np.array([5, 5, 10**9, 5, 5, 5, 5])
    low = alarm("low", 11, 2, 1000, MISS_RATE, ALARM_RATE)
    assert low.crossed(counts, present)[:, 0].tolist() == [SILENT, CROSSED, SILENT, SILENT, CROSSED, CROSSED, CROSSED]
    jump = alarm("jump", 1, 3, 1000, MISS_RATE, ALARM_RATE)
    assert jump.crossed(counts, present)[:, 0].tolist() == [SILENT] * 3 + [QUIET, QUIET, SILENT, QUIET]


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_may_be_cut_anywhere_and_series_go_side_by_side(kind, entropy):
    placed = alarm(kind, 40, 7, "0.5", MISS_RATE, ALARM_RATE)
    noisy = np.asarray(perturb(np.tile(np.arange(60)[:, None] % 23, 4), "0.5", entropy))
    present = np.arange(60) % 17 != 5
    whole = placed.crossed(noisy, present)
    watch = AlarmWatch(placed, 4)
    parts = [watch.steps(noisy[a:b], present[a:b]) for a, b in ((0, 1), (1, 2), (2, 30), (30, 30), (30, 60))]
    assert (np.concatenate(parts) == whole).all()
    apart = [placed.crossed(noisy[:, s], present)[:, 0] for s in range(4)]
    assert (np.stack(apart, axis=1) == whole).all()


def test_members_count_as_so_many_noises():
    together = alarm("low", 500, 12, "0.1", MISS_RATE, ALARM_RATE, members=4)
    assert together.noise == NoiseSum((1,) * 48)
    assert together.shift == 161
    assert alarm("jump", 500, 12, "0.1", MISS_RATE, ALARM_RATE, members=6).shift == 80


def test_a_tree_alarm_keeps_both_rates_at_every_place_of_a_block(entropy, trials):
    """Every place has its own number of noises; the line is made for the most."""
    series, length = trials(4_000, 40_000), 8
    low = tree_alarm("low", 5001, length, "1", MISS_RATE, ALARM_RATE)
    assert low.noise == NoiseSum((1,) * 4, sensitivity=4)
    quiet = -(-(5001 + low.zone) // length)
    for level, state, rate in ((625, QUIET, MISS_RATE), (quiet, CROSSED, ALARM_RATE)):
        windows = TreeWindows(series, length, "1", entropy).steps(np.full((3 * length, series), level))
        tests = low.crossed(windows)
        assert (tests[: length - 1] == SILENT).all(), "a window that is not full says nothing"
        errors = (tests[length - 1 :] == state).sum(axis=1)
        assert errors.max() <= stats.binom.isf(ACCIDENT / len(errors), series, rate)
    place = 2 * length
    exact = NoiseSum((1,) * 4, sensitivity=4).tail("1", low.shift + 1).high
    windows = TreeWindows(series, length, "1", entropy).steps(np.full((place + 1, series), 625))
    missed = int((low.crossed(windows)[place] == QUIET).sum())
    assert stats.binom.isf(1 - ACCIDENT / 2, series, exact) <= missed <= stats.binom.isf(ACCIDENT / 2, series, exact)


def test_more_noises_stray_further():
    for terms in range(1, 12):
        for at_least in (1, 2, 9):
            assert (
                NoiseSum((1,) * terms).tail("0.5", at_least).high
                < NoiseSum((1,) * (terms + 1)).tail("0.5", at_least).low
            )


def test_sentences_say_the_numbers():
    said = alarm("low", 1000, 12, "0.1", "0.05", "0.1").sentence
    assert said == (
        "Rings when the sum of the last 12 counts is below 1,000. Over the noise: in each step in which it is, the "
        "alarm fails to ring with probability at most 5 %; in each step in which it is 1,142 or more, it rings with "
        "probability at most 10 %. From 1,000 to 1,141 nothing is promised."
    )
    assert (
        "the rise of the count against the step before is 100 or more" in alarm("jump", 100, 1, 1, ".05", ".1").sentence
    )
    assert "nothing is promised" not in alarm("high", 100, 1, 1000, ".05", ".1").sentence


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("lower", 10, 1, 1, 0.05, 0.1), "kind"),
        (("low", 0, 1, 1, 0.05, 0.1), "threshold"),
        (("high", -1, 1, 1, 0.05, 0.1), "threshold"),
        (("jump", 2**41, 1, 1, 0.05, 0.1), "threshold"),
        (("low", 10, 0, 1, 0.05, 0.1), "window"),
        (("low", 10, 5000, 1, 0.05, 0.1), "window"),
        (("low", 10, 1, 0, 0.05, 0.1), "epsilon"),
        (("low", 10, 1, 1, 0, 0.1), "miss_rate"),
        (("low", 10, 1, 1, 0.05, 1), "false_alarm_rate"),
        (("low", 10, 1, 1, 0.05, 0.1, 0), "members"),
        (("low", 10, 48, 1, 0.05, 0.1, 100), "window"),
    ],
)
def test_refusals_name_the_field(arguments, field):
    with pytest.raises(ArgumentError, match=f"^{field} = "):
        alarm(*arguments)


@pytest.mark.parametrize("kind", ["high", "change"])
def test_an_alarm_that_noise_alone_would_ring_is_refused_with_the_least_that_is_not(kind):
    with pytest.raises(ArgumentError, match="noise would raise the alarm") as refused:
        alarm(kind, 1, 12, "0.1", MISS_RATE, ALARM_RATE)
    least = int(refused.value.fix.split()[1])
    kept = alarm(kind, least, 12, "0.1", MISS_RATE, ALARM_RATE)
    assert kept.safe(0).item()
    with pytest.raises(ArgumentError, match="noise would raise the alarm"):
        alarm(kind, least - 1, 12, "0.1", MISS_RATE, ALARM_RATE)


def test_trees_are_refused_what_they_cannot_do():
    with pytest.raises(ArgumentError, match="low or high"):
        tree_alarm("jump", 10, 8, 1, 0.05, 0.1)
    with pytest.raises(ArgumentError, match="power of 2"):
        tree_alarm("low", 10, 12, 1, 0.05, 0.1)
