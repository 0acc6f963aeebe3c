"""Spark Structured Streaming as a feed: Spark counts the steps, and a running stream releases them.

    frame of unit, state, time ─► foreachBatch: stored by step ─► counted when the clock ends the step ─► put

Reads: frames of Spark, the clock. Writes: events of open steps, in a folder. Never: a step twice; a clock that events
move.
"""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, SupportsIndex

from thresher.live.feeds import Receiver
from thresher.question import Exact
from thresher.sources.spark_steps import SparkSteps
from thresher.streams.step_blocks import checked_between
from thresher.streams.step_buffer import MOST, state_names
from thresher.streams.step_clock import StepClock, Time
from thresher.streams.step_release import ENDED, StepRecord


def spark_steps(
    folder: str, states: tuple[str, ...], clock: StepClock, max_states: SupportsIndex = 1, key: str = ""
) -> SparkSteps:
    """Declare how frames become counts of this clock's steps."""
    most = checked_between(max_states, "max_states", 1, MOST)
    return SparkSteps(folder, state_names(states), clock.start, clock.step_seconds, most, key)


class SparkFeed:
    """Pass `batch` to `foreachBatch`, or call `start`, which does. Also call `deliver` when a step is over.

    Spark runs no micro-batch while nothing arrives, but empty steps are released too. Steps that the receiver has are
    never put again: a micro-batch that Spark runs twice after a restart changes nothing. To replay files, let `now`
    return the start of the stream, allow as many `ahead_steps` as there are steps, and `deliver` with the time of the
    end when all is read. `written` is called with each record.
    """

    def __init__(
        self,
        steps: SparkSteps,
        into: Receiver,
        written: Callable[[StepRecord], object],
        late_steps: SupportsIndex = 1,
        ahead_steps: SupportsIndex = 1,
        now: Callable[[], Time] = time.time,
    ) -> None:
        self._steps, self._into, self._written, self._now = steps, into, written, now
        self._late = checked_between(late_steps, "late_steps", 0, MOST)
        self._ahead = checked_between(ahead_steps, "ahead_steps", 0, MOST)
        self._clock = StepClock.at(steps.start, steps.step_seconds)
        self._one_at_a_time = threading.Lock()
        self.ended = False

    def start(self, events: Any, *, available_now: bool = False) -> Any:
        """Start a `StreamingQuery` over a streaming frame. `available_now`: it ends when all present data are read."""
        writer = events.writeStream.foreachBatch(self.batch).option("checkpointLocation", self._steps.checkpoint)
        return (writer.trigger(availableNow=True) if available_now else writer).start()

    def batch(self, frame: Any, number: int) -> None:  # noqa: ARG002 - Spark passes it; rows that come twice count once
        """Store the events of one micro-batch, then deliver the steps that are due."""
        now = self._now()
        with self._one_at_a_time:
            if not self.ended:
                self._steps.keep(frame, self._into.next_step, self._clock.step_of(now) + self._ahead)
        self.deliver(frame.sparkSession, now)

    def deliver(self, session: Any, now: Time | None = None) -> None:
        """Count and put each step that is due."""
        passed = self._clock.step_of(self._now() if now is None else now)
        with self._one_at_a_time:
            due = range(self._into.next_step, passed - self._late)
            if self.ended or not due:
                return
            for step in due:
                # Spark counts the step after it is charged.
                record = self._into.put(step, partial(self._counts, session, step))
                self._written(record)
                if record.kind == ENDED:
                    self.ended = True
                    break
            self._steps.forget(session, self._into.next_step)

    def _counts(self, session: Any, step: int) -> Exact:
        return self._steps.counts(session, range(step, step + 1))[step]
