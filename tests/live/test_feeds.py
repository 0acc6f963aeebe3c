"""Lines of JSON become items; items become steps, each put once; a wrong line of one person stops nobody."""

import json
import threading
import time
from collections.abc import Callable
from itertools import chain

import numpy as np
import pytest

from thresher.amounts import Epsilon
from thresher.errors import ArgumentError
from thresher.live.feeds import Counts, Event, JsonLines, Tick, pour, ticking
from thresher.question import Exact
from thresher.streams.step_buffer import StepBuffer
from thresher.streams.step_clock import StepClock
from thresher.streams.step_release import ENDED, GAP, RELEASED, StepRecord

STATES = ("gym", "library")
CLOCK = StepClock(0, 10)


class Kept:
    """A receiver without noise: it keeps the true counts, as only a test may."""

    def __init__(self, first: int = 0, last: int = 10**9) -> None:
        self.next_step, self.last, self.seen = first, last, {}

    def put(self, step: int, counts: Exact | Callable[[], Exact], relations: tuple[str, ...] = ()) -> StepRecord:
        assert step >= self.next_step
        self.next_step = step + 1
        self.seen[step] = (counts() if callable(counts) else counts).unseal()[:, 0].tolist()
        kind = RELEASED if step < self.last else ENDED
        return StepRecord("campus", step, CLOCK.began(step), kind, STATES, Epsilon("0.1"))

    def skip_to(self, step: int) -> StepRecord | None:
        first, self.next_step = self.next_step, max(self.next_step, step)
        gap = StepRecord("campus", first, CLOCK.began(first), GAP, STATES, Epsilon("0"))
        return gap if first < step else None


def event(unit, state, at) -> str:
    return json.dumps({"unit": unit, "state": state, "time": at})


def tick(at) -> str:
    return json.dumps({"tick": at})


def counts(step, **by_state) -> str:
    return json.dumps({"step": step, "counts": by_state})


def poured(lines, receiver=None, **rules):
    feed, receiver = JsonLines(lines, STATES), receiver or Kept()
    catch_up = rules.pop("catch_up", None)
    records = list(pour(feed, StepBuffer(STATES, CLOCK, **rules), receiver, catch_up))
    return feed, receiver, records


def test_events_wait_for_the_clock_and_empty_steps_come_too():
    lines = [event("ann", "gym", 3), event("bob", "gym", 4), event("bob", "library", 14), tick(19), tick(25), tick(52)]
    _, receiver, records = poured(lines)
    assert receiver.seen == {0: [2, 0], 1: [0, 1], 2: [0, 0], 3: [0, 0]}
    assert [record.step for record in records] == [0, 1, 2, 3]


def test_a_finished_file_needs_one_tick_at_its_end():
    lines = [event(n, "gym", 7 * n) for n in range(20)]
    _, ordered, _ = poured([*lines, tick(160)], ahead_steps=20)
    _, reversed_, _ = poured([*lines[::-1], tick(160)], ahead_steps=20)
    assert ordered.seen == reversed_.seen
    assert sum(counted[0] for counted in ordered.seen.values()) == 20


def test_counts_of_others_pass_as_they_are():
    _, receiver, _ = poured([counts(0, gym=3), counts(1, library=2), counts(4)])
    assert receiver.seen == {0: [3, 0], 1: [0, 2], 4: [0, 0]}
    with pytest.raises(ArgumentError, match=r"line = 2 .*not declared"):
        poured([counts(0, gym=3), counts(1, library=2, roof=9)])


def test_events_after_counts_of_many_steps_are_not_too_far_ahead():
    _, receiver, _ = poured(
        [counts(0, gym=3), counts(7, gym=4), event("ann", "gym", 81), event("bob", "gym", 5), tick(100)]
    )
    assert receiver.seen == {0: [3, 0], 7: [4, 0], 8: [1, 0]}


@pytest.mark.parametrize("line", [tick(10**9), counts(10**6, gym=1)], ids=["tick", "counts"])
def test_a_clock_that_is_years_ahead_is_refused_before_anything_is_over(line):
    receiver = Kept(0)
    with pytest.raises(ArgumentError, match="steps ahead of 0"):
        poured([line], receiver)
    assert receiver.seen == {}


def test_what_the_receiver_has_is_not_put_again():
    """The same feed from its beginning, after a restart: nothing twice, nothing lost."""
    lines = [event("ann", "gym", 3), event("bob", "gym", 14), tick(20), event("carl", "library", 24), tick(52)]
    whole = poured(lines)[1].seen
    for first in range(4):
        again = poured(lines, Kept(first))[1].seen
        assert again == {step: seen for step, seen in whole.items() if step >= first}
    assert poured([counts(0, gym=1), counts(1, gym=1)], Kept(1))[1].seen == {1: [1, 0]}


def test_after_a_gap_only_the_last_steps_are_caught_up():
    lines = [event("ann", "gym", 3), tick(20), tick(10_000), event("bob", "gym", 9_995), tick(10_010)]
    _, receiver, records = poured(lines, catch_up=2)
    assert [(record.step, record.kind) for record in records[:3]] == [(0, RELEASED), (1, GAP), (997, RELEASED)]
    assert receiver.seen == {0: [1, 0], 997: [0, 0], 998: [0, 0], 999: [1, 0]}


def test_nothing_follows_the_end():
    _, receiver, records = poured([tick(1000), tick(2000)], Kept(last=3))
    assert [record.kind for record in records] == [RELEASED] * 3 + [ENDED]
    assert max(receiver.seen) == 3


UNREADABLE = [
    "{",
    "7",
    "[]",
    '"gym"',
    "null",
    "{}",
    '{"Unit": "ann"}',
    "[" * 100_000,
    '{"step": 3}',
    b"\xff\xfe\xfa",
    "9" * 5000,
]


@pytest.mark.parametrize("line", UNREADABLE, ids=lambda line: repr(line[:12]))
def test_a_line_that_is_nothing_is_passed_over(line):
    feed, receiver, _ = poured(["", "  \n", event("ann", "gym", 3), line, tick(20)])
    assert feed.unreadable == 1
    assert receiver.seen == {0: [1, 0]}


@pytest.mark.parametrize(
    "said",
    [
        {"unit": "ann"},
        {"unit": None, "state": "gym", "time": 3},
        {"unit": {"a": 1}, "state": "gym", "time": 3},
        {"unit": "ann", "state": 3, "time": 3},
        {"unit": "ann", "state": "gym", "time": "yesterday"},
        {"unit": "ann", "state": "gym", "time": float("nan")},
        {"unit": "ann", "tick": "never", "counts": -1, "step": -1},
    ],
    ids=str,
)
def test_an_event_can_be_wrong_in_any_way_and_stops_nothing(said):
    _, receiver, _ = poured([json.dumps(said), event("bob", "gym", 4), tick(20)])
    assert receiver.seen == {0: [1, 0]}


@pytest.mark.parametrize(
    "line",
    [
        counts(3, gym=-1),
        counts(3, gym=1.5),
        counts(3, gym=2.0),
        counts(3, gym=True),
        counts(3, gym="1"),
        counts(3, gym=None),
        counts(3, gym=2**60),
        counts(-3, gym=1),
        counts("3", gym=1),
        '{"counts": {"gym": 1}}',
        '{"step": 3, "counts": [104729]}',
        '{"step": 3, "counts": {"gym": NaN}}',
        tick("1970-01-01T00:01:44"),
        tick(None),
    ],
)
def test_ticks_and_counts_are_refused_by_the_number_of_their_line(line):
    with pytest.raises(ArgumentError, match=r"^line = 3 is refused: ") as refusal:
        poured([event("ann", "gym", 3), "", line])
    assert "104" not in str(refusal.value)


def test_counts_stay_sealed():
    (item,) = JsonLines([counts(3, gym=104729)], STATES)
    assert isinstance(item, Counts)
    assert "104729" not in repr(item)


def test_python_items_need_no_lines():
    receiver = Kept()
    items = chain((Event(np.int64(n), "gym", 3) for n in range(4)), [Tick(time=20)])
    list(pour(items, StepBuffer(STATES, CLOCK), receiver))
    assert receiver.seen == {0: [4, 0]}


def test_the_wall_clock_ticks_though_nobody_sends_anything():
    silent = threading.Event()

    def nothing():
        silent.wait(20)
        yield from ()

    seen = []
    started = time.time()
    clock = StepClock(int(started) - 100, 1)
    for item in ticking(nothing(), clock):
        seen.append(clock.step_of(item.time))
        if len(seen) == 3:
            silent.set()
            break
    assert seen == list(range(seen[0], seen[0] + 3))
    assert 1 <= time.time() - started < 15


def test_items_come_between_the_ticks_in_their_order():
    """A clock of our own: 4 seconds pass with every look at it."""
    looks = iter(range(3, 1000, 4))
    items = [Event("ann", "gym", n) for n in range(6)]
    seen = list(ticking(items, CLOCK, now=lambda: float(next(looks))))
    assert [item for item in seen if isinstance(item, Event)] == items
    ticked = [CLOCK.step_of(item.time) for item in seen if isinstance(item, Tick)]
    assert ticked == sorted(set(ticked))
    assert ticked[:3] == [0, 1, 2]


def test_what_goes_wrong_in_the_feed_is_told():
    with pytest.raises(ArgumentError, match="line = 1"):
        list(ticking(JsonLines([counts(0, gym=-1)], STATES), StepClock(0, 300)))


def test_a_clock_that_starts_later_waits():
    seen = list(ticking([Event("ann", "gym", 3)], StepClock("2999-01-01T00:00:00Z", 60)))
    assert [type(item) for item in seen] == [Tick, Event]
