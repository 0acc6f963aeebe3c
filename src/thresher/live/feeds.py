"""Feeds of a stream: events, counts of whole steps, and ticks; from Python, from lines of JSON, or by the wall clock.

    {"unit": "ann", "state": "gym", "time": "2026-01-31T08:00:12Z"}     an event
    {"tick": "2026-01-31T08:05:00Z"}                                     the time: close the steps that are due
    {"step": 12, "counts": {"gym": 3, "library": 41}}                    a step that was counted elsewhere

A line with a unit is an event, whatever else it holds. An event that cannot be read, and a line that is not JSON, is
passed over and counted, so that no person can stop a stream by what they send. Ticks and counts come from the operator
of the feed: a wrong one is refused by the number of its line, which reveals no value.
Reads: lines, the machine's clock. Writes: nothing. Never: a part of a line in a message; a tick that depends on
events.
"""

import json
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from thresher.errors import ArgumentError
from thresher.question import Exact
from thresher.streams.step_buffer import StepBuffer, state_names
from thresher.streams.step_clock import StepClock, Time, instant
from thresher.streams.step_release import ENDED, StepRecord

_LARGEST = 2**53
# How many items a feed may be ahead of the stream.
_MOST_WAITING = 10_000
# The machine's clock may be set while we wait, so it is read at least this often.
_PATIENCE_SECONDS = 1.0
# The most steps that may become due at once: a year of steps of five minutes.
MOST_AT_ONCE = 105_408
_TICK = 'Write {"tick": "2026-01-31T08:05:00Z"}'
_COUNTS = 'Write {"step": 12, "counts": {"gym": 3}} with whole numbers from 0 on; states that are left out count 0'


@dataclass(frozen=True, slots=True)
class Event:
    """Report that one unit was in one state at a time. The fields are as sent; the buffer checks them."""

    unit: object
    state: object
    time: object


@dataclass(frozen=True, slots=True)
class Tick:
    """Tell the time of the feed's operator: all earlier events that are not late have been sent."""

    time: Time


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of one step, one row for each state, sealed."""

    step: int
    counts: Exact


Item = Event | Tick | Counts


class Receiver(Protocol):
    """Where steps go. `next_step` is the first step without a record."""

    @property
    def next_step(self) -> int: ...

    def put(self, step: int, counts: Exact | Callable[[], Exact], relations: tuple[str, ...] = ()) -> StepRecord:
        """Release a step, once, from counts, or from a function that fetches them after the charge.

        Steps before it that were never put become gaps. `relations`: the tables behind the counts, for the ledger.
        """
        ...

    def skip_to(self, step: int) -> StepRecord | None:
        """Go on with this step; return the record of the gap before it, if there is one."""
        ...


class JsonLines:
    """Items from lines of JSON, in order. `unreadable`: how many lines were passed over, for the curator only."""

    def __init__(self, lines: Iterable[str | bytes], states: Sequence[str]) -> None:
        self._lines, self._states = lines, state_names(states)
        self._known = frozenset(self._states)
        self.unreadable = 0

    def __iter__(self) -> Iterator[Item]:
        for number, line in enumerate(self._lines, 1):
            if line.strip():
                item = self._read(line, number)
                if item is not None:
                    yield item

    def _read(self, line: str | bytes, number: int) -> Item | None:
        try:
            content = json.loads(line)
        except (ValueError, RecursionError):  # not JSON, not text, or nested too deeply
            content = None
        if isinstance(content, dict) and "unit" in content:
            return Event(content["unit"], content.get("state"), content.get("time"))
        if isinstance(content, dict) and "tick" in content:
            return Tick(_tick(content["tick"], number))
        if isinstance(content, dict) and "counts" in content:
            return self._counts(content, number)
        self.unreadable += 1
        return None

    def _counts(self, content: dict[str, Any], number: int) -> Counts:
        given = content["counts"]
        if not isinstance(given, dict) or not _is_count(content.get("step")):
            raise ArgumentError("line", number, "a step has a number and counts by state", _COUNTS)
        if not self._known.issuperset(given):
            raise ArgumentError("line", number, "it counts a state that is not declared", _COUNTS)
        counts = [given.get(state, 0) for state in self._states]
        if not all(map(_is_count, counts)):
            raise ArgumentError("line", number, "counts are whole numbers, never negative", _COUNTS)
        return Counts(content["step"], Exact(np.array(counts, dtype=np.int64)[:, None]))


def pour(
    items: Iterable[Item], buffer: StepBuffer, into: Receiver, catch_up: int | None = None
) -> Iterator[StepRecord]:
    """Put the steps of the items, and yield each record as soon as it exists.

    Steps that the receiver has are not put again, so after a restart the feed may start from its beginning. A finished
    file needs no ticks inside: add one at its end, and let the buffer look ahead over all of its steps. `catch_up`: if
    a tick makes more steps due than this, nobody listened for a while, and only this many of the last steps are put.
    """
    buffer.start_at(into.next_step)
    for item in items:
        if isinstance(item, Event):
            buffer.offer(item.unit, item.state, item.time)
            continue
        _check_jump(item, buffer, into)
        for step, counts in _finished(item, buffer, catch_up):
            if step >= into.next_step:
                gap = into.skip_to(step)
                if gap is not None:
                    yield gap
                record = into.put(step, counts)
                yield record
                if record.kind == ENDED:
                    return
                # After counts of a step, events of the next one are not too far ahead.
                buffer.start_at(into.next_step)


def ticking(items: Iterable[Item], clock: StepClock, now: Callable[[], float] = time.time) -> Iterator[Item]:
    """Yield the items as they come, and a tick whenever a step of the clock has begun, until the items end.

    Another thread reads the items, and waits while they are not taken; its errors are raised here. A tick comes within
    a second of the beginning of its step.
    """
    waiting: queue.Queue[Item | None] = queue.Queue(_MOST_WAITING)
    failed: list[BaseException] = []

    def read() -> None:
        try:
            for item in items:
                waiting.put(item)
        except BaseException as error:  # noqa: BLE001 - it is raised in the other thread
            failed.append(error)
        waiting.put(None)

    threading.Thread(target=read, daemon=True).start()
    ticked: int | None = None
    while True:
        seconds = now()
        step = clock.step_of(seconds)
        if ticked is None or step > ticked:
            ticked = step
            yield Tick(seconds)
        left = clock.began_at(max(step, -1) + 1).timestamp() - seconds
        try:
            item = waiting.get(timeout=min(max(left, 0.001), _PATIENCE_SECONDS))
        except queue.Empty:
            continue
        if item is None:
            break
        yield item
    if failed:
        raise failed[0]


def _check_jump(item: Tick | Counts, buffer: StepBuffer, into: Receiver) -> None:
    """Refuse a clock that is years ahead: all steps before it would end without their events."""
    step = item.step if isinstance(item, Counts) else buffer.due(item.time).stop
    if step - into.next_step > MOST_AT_ONCE:
        rule = f"it is more than {MOST_AT_ONCE:,} steps ahead of {into.next_step}, the next step"
        raise ArgumentError("step" if isinstance(item, Counts) else "tick", step, rule, "Check the feed's clock")


def _finished(item: Tick | Counts, buffer: StepBuffer, catch_up: int | None) -> Iterator[tuple[int, Exact]]:
    """Yield the steps that end by an item, with their counts."""
    if isinstance(item, Counts):
        yield item.step, item.counts
        return
    due = buffer.due(item.time)
    for step in due if catch_up is None else due[max(0, len(due) - catch_up) :]:
        yield step, buffer.close(step)


def _tick(time: Any, number: int) -> Time:
    if instant(time) is None:
        raise ArgumentError("line", number, "a tick is one instant of the years 1 to 9999", _TICK)
    tick: Time = time
    return tick


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= _LARGEST
