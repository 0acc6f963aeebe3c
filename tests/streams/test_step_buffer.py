"""Events become counts: any order, any repetition, at most k states for a unit, and no unit decides about another."""

import copy
import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import ArgumentError, BugError
from thresher.streams.step_buffer import StepBuffer, state_rank, unit_digest
from thresher.streams.step_clock import StepClock

STATES = ("library", "gym", "canteen")
CLOCK = StepClock(0, 10)
COUNTS = tuple[tuple[int, ...], ...]

units = st.one_of(st.integers(0, 4), st.sampled_from(["ann", "bob", "0", "1"]))
events = st.tuples(units, st.sampled_from([*STATES, "roof"]), st.integers(-20, 60))


def closed(buffer: StepBuffer, step: int) -> tuple[int, ...]:
    return tuple(buffer.close(step).unseal()[:, 0].tolist())


def counted(feed, most: int = 1, last: int = 5) -> COUNTS:
    """All that is offered before any step closes."""
    buffer = StepBuffer(STATES, CLOCK, late_steps=last, max_states=most)
    for event in feed:
        buffer.offer(*event)
    return tuple(closed(buffer, step) for step in range(last + 1))


def by_definition(feed, most: int, last: int = 5) -> COUNTS:
    """The same, written as the rule is said: sets, then the first k by rank."""
    rows = []
    for step in range(last + 1):
        row = dict.fromkeys(STATES, 0)
        taken = {(type(unit), unit, state) for unit, state, time in feed if time // 10 == step and state in STATES}
        for kind, unit in {(kind, unit) for kind, unit, _ in taken}:
            mine = [state for k, u, state in taken if (k, u) == (kind, unit)]
            for state in sorted(mine, key=lambda s: state_rank("", unit_digest(unit), step, s))[:most]:
                row[state] += 1
        rows.append(tuple(row.values()))
    return tuple(rows)


@given(st.lists(events, max_size=40), st.integers(1, 3))
def test_counts_are_what_the_rule_says(feed, most):
    assert counted(feed, most) == by_definition(feed, most)


def test_any_order_of_arrival_gives_the_same_counts():
    dice = random.Random(5)
    feed = [(dice.randrange(30), dice.choice(STATES), dice.randrange(60)) for _ in range(120)]
    expected = counted(feed, 2)
    assert sum(map(sum, expected)) > 60
    for _ in range(1000):
        dice.shuffle(feed)
        assert counted(feed, 2) == expected


def test_the_first_to_arrive_would_be_another_rule():
    """The test above can fail: kept by arrival, the counts of a shuffled feed differ."""
    feed = [(unit, state, 5) for unit in range(20) for state in STATES]

    def first_come(given):
        seen: dict[int, str] = {}
        for unit, state, _ in given:
            seen.setdefault(unit, state)
        return [list(seen.values()).count(state) for state in STATES]

    assert first_come(feed) != first_come(feed[::-1])
    assert counted(feed) == counted(feed[::-1])
    assert min(counted(feed)[0]) > 0  # and the digest prefers no state


@given(st.lists(events, max_size=40), units, st.integers(0, 5), st.integers(1, 2), st.data())
def test_one_unit_in_one_step_moves_at_most_k_counts_by_one(feed, unit, step, most, data):
    """While steps close in between at the same moments of the clock; no other step moves at all."""
    closings = data.draw(st.lists(st.integers(0, len(feed)), min_size=6, max_size=6).map(sorted))

    def run(*, without: bool) -> np.ndarray:
        buffer, rows = StepBuffer(STATES, CLOCK, max_states=most), []
        for place in range(len(feed) + 1):
            for _ in range(closings.count(place)):
                rows.append(closed(buffer, len(rows)))
            if place < len(feed):
                who, state, time = feed[place]
                left_out = without and (type(who), who, time // 10) == (type(unit), unit, step)
                if not left_out:
                    buffer.offer(who, state, time)
        return np.array(rows)

    moved = np.abs(run(without=False) - run(without=True))
    assert moved.max() <= 1
    assert moved[step].sum() <= most
    assert moved.sum() == moved[step].sum()


def test_a_clock_that_events_move_would_let_one_person_silence_everybody():
    """What engines do with the largest time seen: one event, and 50 others are late. Ours counts all 50."""
    others = [(f"person {n}", "gym", 5) for n in range(50)]

    def by_largest_time(feed) -> int:
        newest, taken = 0, 0
        for _, _, time in feed:
            newest = max(newest, time)
            taken += time // 10 >= newest // 10 - 1
        return taken

    skewed = ("somebody", "gym", 25)
    assert by_largest_time([skewed, *others]) - by_largest_time(others) == 1 - 50
    assert counted([skewed, *others])[0] == counted(others)[0] == (0, 50, 0)


def test_a_closed_step_stays_closed_and_the_curator_may_see_why():
    buffer = StepBuffer(STATES, CLOCK)
    buffer.offer("ann", "gym", 5)
    buffer.offer("ann", "gym", 6)
    buffer.offer("ann", "canteen", 7)
    buffer.offer("bob", "roof", 5)
    buffer.offer("bob", "gym", -5)
    buffer.offer("bob", "gym", "1970-01-01T00:00:05")
    buffer.offer(1.5, "gym", 5)
    buffer.offer("bob", ["gym"], 5)
    buffer.offer("bob", "gym", 29)
    buffer.offer("bob", "gym", 30)
    assert sum(closed(buffer, 0)) == 1
    buffer.offer("carl", "gym", 5)
    assert closed(buffer, 1) == (0, 0, 0)
    assert closed(buffer, 2) == (0, 1, 0)
    assert buffer.counters == {
        "late": 1,
        "before the start": 1,
        "too far ahead": 1,
        "unreadable": 2,
        "unknown state": 2,
        "repeated": 1,
        "more states than allowed": 1,
    }
    with pytest.raises(ArgumentError, match="Close steps in order"):
        buffer.close(2)


def test_reading_the_counters_changes_nothing():
    buffer = StepBuffer(STATES, CLOCK)
    buffer.counters["late"] = 7
    assert buffer.counters["late"] == 0


def test_the_clock_says_what_is_due():
    buffer = StepBuffer(STATES, CLOCK, late_steps=2)
    assert list(buffer.due(29.9)) == []
    assert list(buffer.due(30)) == [0]
    assert list(buffer.due(55)) == [0, 1, 2]
    buffer.close(0)
    assert list(buffer.due(55)) == [1, 2]
    assert list(buffer.due("1969-01-01T00:00:00Z")) == []


def test_a_gap_is_forgotten_not_counted():
    buffer = StepBuffer(STATES, CLOCK, ahead_steps=9)
    for time in (5, 15, 25):
        buffer.offer("ann", "gym", time)
    assert closed(buffer, 1) == (0, 1, 0)
    buffer.start_at(8)
    assert buffer.next_step == 8
    buffer.start_at(2)
    assert buffer.next_step == 8
    assert closed(buffer, 8) == (0, 0, 0)


def test_what_is_closed_is_forgotten():
    """Memory: after many steps no more is held than after a few, and never the name of a unit."""
    buffer = StepBuffer(STATES, CLOCK)
    for step in range(2000):
        for unit in range(5):
            buffer.offer(f"nobody-{unit}", STATES[unit % 3], 10 * step)
        held = buffer._open
        assert sum(map(len, held.values())) <= 5 * 3
        assert "nobody" not in repr(held)
        if step > 0:
            buffer.close(step - 1)


def test_open_steps_are_written_nowhere():
    buffer = StepBuffer(STATES, CLOCK)
    for write in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(BugError):
            write(buffer)


def test_units_of_two_kinds_are_two_units():
    assert counted([("1", "gym", 5), (1, "gym", 5), (np.int64(1), "gym", 5), ("\ud800", "gym", 5)])[0] == (0, 3, 0)
    assert counted([(True, "gym", 5), (2**63, "gym", 5), (10**5000, "gym", 5), (None, "gym", 5)])[0] == (0, 0, 0)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("states", {"states": []}),
        ("states", {"states": "gym"}),
        ("states", {"states": ["gym", "gym"]}),
        ("states", {"states": ["gym", ""]}),
        ("late_steps", {"late_steps": -1}),
        ("ahead_steps", {"ahead_steps": 10**7}),
        ("max_states", {"max_states": 0}),
        ("max_states", {"max_states": 1.0}),
    ],
)
def test_public_parameters_are_checked(field, wrong):
    with pytest.raises(ArgumentError, match=f"^{field}"):
        StepBuffer(**{"states": STATES, "clock": CLOCK, **wrong})
