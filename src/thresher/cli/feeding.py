"""The feeds of `thresher stream run` and `replay`: lines, recorded files, a growing table, and a clock.

Reads: standard input, a file, the declared table. Writes: the ledger, through the stream. Never: a step that the clock
has not ended; a part of a line in a message.
"""

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

from thresher.config import Declarations
from thresher.errors import ArgumentError, SourceUnavailableError
from thresher.live.feeds import Event, Item, JsonLines, Tick, pour, ticking
from thresher.live.running_stream import RunningStream
from thresher.live.table_feed import StepTable, TableFeed, poll
from thresher.sources import open_source
from thresher.streams.step_clock import instant
from thresher.streams.step_release import StepRecord
from thresher.streams.stream_plan import StreamPlan

# How many steps ahead of the first the events of a recorded file may lie.
MOST_AHEAD = 10**6
_LAST_BYTES = 1 << 20
_BLOCK = 1 << 16
# A writer may lock the source for a while. After this time the source counts as gone.
_MOST_AWAY_SECONDS = 60.0


class Ears:
    """The reader of a feed's lines, and the buffer of its events; both count what they pass over."""

    def __init__(self, stream: RunningStream, feed: str, ahead_steps: int | None = None) -> None:
        self.lines = JsonLines(_lines(feed), stream.plan.states)
        self.buffer = stream.buffer(ahead_steps)

    def events(self) -> Iterator[Item]:
        """Yield the events alone, for the wall clock: then no tick or count of a feed ends a step."""
        for item in self.lines:
            if isinstance(item, Event):
                yield item
            else:
                self.lines.unreadable += 1

    def counters(self) -> dict[str, int]:
        """Return how many lines and events were not counted, and why. These are true numbers, for the curator only."""
        return {"unreadable lines": self.lines.unreadable, **self.buffer.counters}


def listened(stream: RunningStream, ears: Ears, *, by_wall: bool) -> Iterator[StepRecord]:
    """Yield the records of a feed of lines. Steps end by the ticks of the feed, or by the wall clock."""
    plan = stream.plan
    if not by_wall:
        yield from pour(ears.lines, ears.buffer, stream)
        return
    gap = stream.skip_to(max(plan.clock.step_of(time.time()), 0))
    if gap is not None:
        yield gap
    # There is a tick for each step. If a tick makes more steps due, this machine slept.
    most = plan.declared.late_steps + 1
    yield from pour(ticking(ears.events(), plan.clock), ears.buffer, stream, most)


def recorded(stream: RunningStream, ears: Ears, until: str | None) -> Iterator[StepRecord]:
    """Yield the records of a recorded file. `until`: when the recording ended, which no event may decide."""
    plan = stream.plan
    if until is None:
        yield from pour(ears.lines, ears.buffer, stream)
        return
    end = end_of(plan, until)
    # No later events can come, so the clock moves past the declared late steps at once.
    closing = plan.clock.began_at(end) + timedelta(seconds=plan.declared.late_steps * plan.declared.step_seconds)
    yield from pour(_then(ears.lines, Tick(closing)), ears.buffer, stream)


def polled(stream: RunningStream, declared: Declarations, until: str | None) -> Iterator[StepRecord]:
    """Yield the records of the declared table. A step is read when it is over and no longer waits for late rows."""
    plan, settings = stream.plan, stream.plan.declared
    table = settings.polled
    if table is None:
        rule = "the stream declares no table"
        raise ArgumentError("from", None, rule, "Pass --from - for lines on standard input, or declare table = ...")
    rows = StepTable(declared.tables[table.table], table.state_column, table.time_column)
    if rows.names != plan.states:
        rule = f"its states are not the values of the column {table.state_column}"
        raise ArgumentError("stream", plan.name, rule, "Declare the same names in the same order")
    late = settings.late_steps
    feed = TableFeed(lambda: open_source(declared), rows, plan.clock, settings.max_states_per_unit, late)
    end, reached = None if until is None else end_of(plan, until), time.monotonic()
    while end is None or stream.next_step < end:
        now = datetime.now(UTC)
        if end is not None:
            now = min(now, plan.clock.began_at(end + late))
        try:
            yield from poll(feed, now, stream)
            reached = time.monotonic()
        except SourceUnavailableError:
            # Nothing was read and nothing is charged, so the step is tried again.
            if time.monotonic() - reached > _MOST_AWAY_SECONDS:
                raise
        if stream.ended or (end is not None and stream.next_step >= end):
            return
        due = plan.clock.began_at(stream.next_step + late + 1).timestamp()
        time.sleep(min(max(due - time.time(), 0.01), 1.0))


def end_of(plan: StreamPlan, until: str) -> int:
    """Return the first step that is not over at this time."""
    if instant(until) is None:
        rule = "it must be a time with its zone"
        raise ArgumentError("until", until, rule, "Write it in UTC: --until 2026-03-03T00:00:00Z")
    return max(plan.clock.step_of(until), 0)


def last_counted(file: str) -> int | None:
    """Return the end of a file of counts, the step after its last line; None if the last line does not say."""
    try:
        with Path(file).open("rb") as lines:
            lines.seek(max(0, lines.seek(0, 2) - _LAST_BYTES))
            last = json.loads(lines.read().strip().rsplit(b"\n", 1)[-1])
    except (OSError, ValueError, RecursionError):
        return None
    step = last.get("step") if isinstance(last, dict) and "counts" in last else None
    return step + 1 if type(step) is int and 0 <= step < 2**53 else None


def _then(items: Iterable[Item], last: Item) -> Iterator[Item]:
    yield from items
    yield last


def _read(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield lines as they come, without Python's buffer: a thread that waits in it would keep its lock at the end."""
    try:
        descriptor = stream.fileno()
    except OSError:  # not a file of the operating system
        yield from stream
        return
    rest = b""
    while block := os.read(descriptor, _BLOCK):
        *lines, rest = (rest + block).split(b"\n")
        yield from lines
    if rest:
        yield rest


def _lines(feed: str) -> Iterator[bytes]:
    if feed == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise ArgumentError("from", "-", "standard input is closed", "Name a file")
        yield from _read(sys.stdin.buffer)
        return
    try:
        with Path(feed).open("rb") as lines:
            yield from lines
    except OSError:
        raise ArgumentError("from", feed, "the file cannot be read", "Check its name") from None
