"""Alarms with a promise: how often they miss, at every step, and from where on they hold still.

    low     the sum of the last w counts is below the threshold
    high    it is above the threshold
    jump    the count is at least the threshold above that of w steps ago
    drop    it is at least the threshold below that
    change  either of the two

Noisy counts are compared with a line that is shifted towards ringing, by just as much as the exact tail of the noise
asks for. All of it is free, being made of counts that were released already. Smoothed estimates cannot carry such a
promise, because nobody knows by how much they are biased (`monitors`). Where the line lies is found in `alarm_lines`.
Reads: noisy counts. Writes: nothing. Never: a promise about anything but each step's own test. Proof: `alarms.md`.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.config import decimal_text
from thresher.noise import NoiseSum
from thresher.streams.step_blocks import block_of, checked_between, checked_series, present_of, values_of
from thresher.streams.window_sums import RunningSums

Kind = Literal["low", "high", "jump", "drop", "change"]
# One step's own test: it rings, it does not, or a step it needs is missing and nothing is said.
CROSSED, QUIET, SILENT = 1, 0, -1


@dataclass(frozen=True, slots=True)
class Alarm:
    """A line for noisy sums, or noisy differences, and what it promises at every single step.

    `shift`: how far the line lies on the ringing side. `zone`: at so many whole values next to those of the event
    nothing is promised. `noise`: by what the number compared strays. `summed`: it reads window sums, not counts.
    """

    kind: Kind
    threshold: int
    window: int
    epsilon: Fraction
    miss_rate: Fraction
    false_alarm_rate: Fraction
    noise: NoiseSum
    shift: int
    zone: int
    summed: bool = False

    @property
    def differs(self) -> bool:
        """Whether it compares two steps; otherwise a sum with the threshold."""
        return self.kind not in ("low", "high")

    def judged(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Which of these noisy sums, or noisy differences, ring."""
        numbers = np.asarray(values)
        if self.kind == "low":
            return np.asarray(numbers < self.threshold + self.shift)
        if self.kind == "high":
            return np.asarray(numbers > self.threshold - self.shift)
        size = {"jump": numbers, "drop": -numbers, "change": np.abs(numbers)}[self.kind]
        return np.asarray(size >= self.threshold - self.shift)

    def true(self, values: ArrayLike) -> NDArray[np.bool_]:
        """For studies, of true sums or differences: whether the event holds, so that misses are bounded."""
        return replace(self, shift=0).judged(values)

    def safe(self, values: ArrayLike) -> NDArray[np.bool_]:
        """For studies, of true sums or differences: whether false alarms are bounded there."""
        return ~replace(self, shift=self.zone).judged(values)

    def crossed(self, noisy: ArrayLike, present: ArrayLike | None = None) -> NDArray[np.int8]:
        """The test of every step of a whole block: CROSSED, QUIET, or SILENT where the window is not full."""
        block = block_of(noisy, "noisy")
        return AlarmWatch(self, block.shape[1]).steps(block, present)

    @property
    def sentence(self) -> str:
        """The promise as people read it."""
        what, event, between, safe = self._words()
        missed, alarmed = decimal_text(self.miss_rate), decimal_text(self.false_alarm_rate)
        unsaid = f" {between} nothing is promised." if self.zone else ""
        return (
            f"Rings when {what} is {event}. At each step at which it is, the alarm fails to ring with probability at "
            f"most {missed}; at each step at which it is {safe}, it rings with probability at most {alarmed}.{unsaid}"
        )

    def _words(self) -> tuple[str, str, str, str]:
        line, zone = self.threshold, self.zone
        if self.differs:
            way = {"jump": "the rise of the count", "drop": "the fall of the count", "change": "the change either way"}
            ago = "the step before" if self.window == 1 else f"{self.window} steps before"
            between = f"From {line - zone} to {line - 1}"
            return f"{way[self.kind]} against {ago}", f"{line} or more", between, f"{line - zone - 1} or less"
        what = "the count" if self.window == 1 else f"the sum of the last {self.window} counts"
        if self.kind == "low":
            return what, f"below {line}", f"From {line} to {line + zone - 1}", f"{line + zone} or more"
        return what, f"above {line}", f"From {line - zone + 1} to {line}", f"{line - zone} or less"


class AlarmWatch:
    """One alarm over many series, as steps come. What it reads are sums over the alarm's members."""

    def __init__(self, alarm: Alarm, series: int) -> None:
        self._alarm, self._series = alarm, checked_series(series)
        longest = alarm.window + alarm.differs
        self._sums = RunningSums(self._series, 1 if alarm.summed else longest)
        self._known = RunningSums(1, longest)

    def steps(self, noisy: ArrayLike, present: ArrayLike | None = None) -> NDArray[np.int8]:
        """CROSSED, QUIET, or SILENT where a step that is needed was not `present`, or not yet."""
        block = block_of(noisy, "noisy", self._series)
        return self.of_block(block, present_of(present, len(block)))

    def of_block(self, block: NDArray[np.int64], present: NDArray[np.bool_]) -> NDArray[np.int8]:
        """The same of a block that was checked."""
        known = present[:, None]
        compared, ready = np.empty_like(block), np.empty((len(block), 1), dtype=np.bool_)
        for rows in self._sums.batches(np.where(known, block, 0)):
            compared[rows] = self._compared()
        for rows in self._known.batches(known.astype(np.int64)):
            ready[rows] = self._ready()
        return np.where(ready, self._alarm.judged(compared), SILENT).astype(np.int8)

    def _compared(self) -> NDArray[np.int64]:
        window = self._alarm.window
        if not self._alarm.differs:
            return self._sums.last(1 if self._alarm.summed else window)
        return self._sums.last(1) - (self._sums.last(window + 1) - self._sums.last(window))

    def _ready(self) -> NDArray[np.bool_]:
        window = self._alarm.window
        if not self._alarm.differs:
            return np.asarray(self._known.last(window) == window)
        before = self._known.last(window + 1) - self._known.last(window)
        return np.asarray((self._known.last(1) == 1) & (before == 1))


class Hysteresis:
    """Rings after `on` steps in a row that crossed, and is quiet again after `off` in a row that did not.

    Reads booleans, or what an alarm says of each step; where it says nothing, all stays as it is. What is shown is
    steadier and later; an alarm's promise is about its own test of each step, not about this.
    """

    def __init__(self, series: int, on: int = 1, off: int = 1) -> None:
        self._series = checked_series(series)
        self._on, self._off = (checked_between(count, name, 1, 1 << 30) for count, name in ((on, "on"), (off, "off")))
        self._ringing = np.zeros(self._series, dtype=np.bool_)
        self._against = np.zeros(self._series, dtype=np.int64)

    def steps(self, crossed: ArrayLike) -> NDArray[np.bool_]:
        """Whether each series rings, at each of these steps."""
        return self.of_block(values_of(np.asarray(crossed).astype(np.int8), "crossed", self._series))

    def of_block(self, tests: NDArray[np.int8] | NDArray[np.float64]) -> NDArray[np.bool_]:
        """The same of tests that were checked."""
        shown = np.empty(tests.shape, dtype=np.bool_)
        for step, row in enumerate(tests):
            turned, held = (row == np.where(self._ringing, *states) for states in ((QUIET, CROSSED), (CROSSED, QUIET)))
            self._against = np.where(turned, self._against + 1, np.where(held, 0, self._against))
            turns = self._against >= np.where(self._ringing, self._off, self._on)
            self._ringing = self._ringing ^ turns
            self._against[turns] = 0
            shown[step] = self._ringing
        return shown
