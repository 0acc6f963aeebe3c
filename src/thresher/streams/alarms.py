"""Alarms with a promise for each step: how often they miss an event, and how often they ring without one.

    low     the sum of the last w counts is below the threshold
    high    it is above the threshold
    jump    the count is at least the threshold above that of w steps ago
    drop    it is at least the threshold below that
    change  either of the two

`alarm` and `tree_alarm` place the line with which noisy counts are compared: as far on the ringing side of the
threshold as the exact tail of the noise needs. Alarms are free, because they read released counts. Smoothed estimates
cannot carry such a promise, because their bias is unknown (`monitors`).
Reads: noisy counts. Writes: nothing. Never: a promise from an unchecked float, or about more than the test of each
step. Proof: `alarms.md`.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, exact_fraction
from thresher.errors import ArgumentError
from thresher.guarantee import percent
from thresher.noise import NoiseSum, least_distance
from thresher.noise.arguments import checked_probability, checked_rate
from thresher.noise.enclosure import certified
from thresher.streams.step_blocks import (
    MOST_COUNT,
    block_of,
    checked_between,
    checked_series,
    present_of,
    values_of,
)
from thresher.streams.tree_windows import checked_length, levels_of
from thresher.streams.window_sums import MOST_STEPS, RunningSums

Kind = Literal["low", "high", "jump", "drop", "change"]
# It takes about two seconds to place an alarm over this many noises.
MOST_NOISES = 4096
# The test of one step: it rings, it does not, or a step that it needs is missing.
CROSSED, QUIET, SILENT = 1, 0, -1


@dataclass(frozen=True, slots=True)
class Alarm:
    """A line for noisy sums, or noisy differences, and what it promises at each step.

    `shift`: how far the line lies on the ringing side. `zone`: at how many whole values, next to those of the event,
    nothing is promised. `noise`: the noise in the number that is compared. `summed`: it reads window sums, not counts.
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
        """Say whether it compares two steps; otherwise it compares a sum with the threshold."""
        return self.kind not in ("low", "high")

    def judged(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Say which of these noisy sums, or noisy differences, ring."""
        numbers = np.asarray(values)
        if self.kind == "low":
            return np.asarray(numbers < self.threshold + self.shift)
        if self.kind == "high":
            return np.asarray(numbers > self.threshold - self.shift)
        size = {"jump": numbers, "drop": -numbers, "change": np.abs(numbers)}[self.kind]
        return np.asarray(size >= self.threshold - self.shift)

    def true(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Say for true sums or differences whether the event holds, so that misses are bounded. For studies."""
        return replace(self, shift=0).judged(values)

    def safe(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Say for true sums or differences whether false alarms are bounded there. For studies."""
        return ~replace(self, shift=self.zone).judged(values)

    def crossed(self, noisy: ArrayLike, present: ArrayLike | None = None) -> NDArray[np.int8]:
        """Test each step of a whole block: CROSSED, QUIET, or SILENT where the window is not full."""
        block = block_of(noisy, "noisy")
        return AlarmWatch(self, block.shape[1]).steps(block, present)

    @property
    def sentence(self) -> str:
        """Return the promise in words."""
        return self.promise("Over the noise")

    def promise(self, about: str) -> str:
        """Return the promise in words; `about` says which counts it is about."""
        what, event, between, safe = self._words()
        zone = f" {between} nothing is promised." if self.zone else ""
        return (
            f"Rings when {what} is {event}. {about}: in each step in which it is, the alarm fails to ring with "
            f"probability at most {percent(self.miss_rate)}; in each step in which it is {safe}, it rings with "
            f"probability at most {percent(self.false_alarm_rate)}.{zone}"
        )

    def _words(self) -> tuple[str, str, str, str]:
        line, zone = self.threshold, self.zone
        if self.differs:
            way = {"jump": "the rise of the count", "drop": "the fall of the count", "change": "the change either way"}
            ago = "the step before" if self.window == 1 else f"{self.window:,} steps before"
            between = f"From {line - zone:,} to {line - 1:,}"
            return f"{way[self.kind]} against {ago}", f"{line:,} or more", between, f"{line - zone - 1:,} or less"
        what = "the count" if self.window == 1 else f"the sum of the last {self.window:,} counts"
        if self.kind == "low":
            return what, f"below {line:,}", f"From {line:,} to {line + zone - 1:,}", f"{line + zone:,} or more"
        return what, f"above {line:,}", f"From {line - zone + 1:,} to {line:,}", f"{line - zone:,} or less"


class AlarmWatch:
    """One alarm over many series, as steps come. It reads sums over the alarm's members."""

    def __init__(self, alarm: Alarm, series: int) -> None:
        self._alarm, self._series = alarm, checked_series(series)
        longest = alarm.window + alarm.differs
        self._sums = RunningSums(self._series, 1 if alarm.summed else longest)
        self._known = RunningSums(1, longest)

    def steps(self, noisy: ArrayLike, present: ArrayLike | None = None) -> NDArray[np.int8]:
        """Test the next steps: CROSSED, QUIET, or SILENT where the window holds a step that was not `present`."""
        block = block_of(noisy, "noisy", self._series)
        return self.of_block(block, present_of(present, len(block)))

    def of_block(self, block: NDArray[np.int64], present: NDArray[np.bool_]) -> NDArray[np.int8]:
        """Do the same for a block that was checked."""
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
    """Ring after `on` steps in a row that crossed, and be quiet again after `off` steps in a row that did not.

    It reads booleans, or an alarm's tests; a SILENT test changes nothing. What it shows is steadier and later than the
    tests. An alarm's promise is about its tests, not about what is shown here.
    """

    def __init__(self, series: int, on: int = 1, off: int = 1) -> None:
        self._series = checked_series(series)
        self._on, self._off = (checked_between(count, name, 1, 1 << 30) for count, name in ((on, "on"), (off, "off")))
        self._ringing = np.zeros(self._series, dtype=np.bool_)
        self._against = np.zeros(self._series, dtype=np.int64)

    def steps(self, crossed: ArrayLike) -> NDArray[np.bool_]:
        """Say whether each series rings at each of these steps."""
        return self.of_block(values_of(np.asarray(crossed).astype(np.int8), "crossed", self._series))

    def of_block(self, tests: NDArray[np.int8] | NDArray[np.float64]) -> NDArray[np.bool_]:
        """Do the same for tests that were checked."""
        shown = np.empty(tests.shape, dtype=np.bool_)
        for step, row in enumerate(tests):
            turns, stays = (row == np.where(self._ringing, *tests) for tests in ((QUIET, CROSSED), (CROSSED, QUIET)))
            self._against = np.where(turns, self._against + 1, np.where(stays, 0, self._against))
            turns = self._against >= np.where(self._ringing, self._off, self._on)
            self._ringing = self._ringing ^ turns
            self._against[turns] = 0
            shown[step] = self._ringing
        return shown


# Where the line lies


def alarm(
    kind: Kind,
    threshold: Amount,
    window: int,
    epsilon: Amount,
    miss_rate: Amount,
    false_alarm_rate: Amount,
    members: int = 1,
) -> Alarm:
    """Make an alarm over counts with noise at `epsilon` each (`perturb`), or over sums of `members` such series.

    Privacy: post-processing; free beyond the noisy counts.
    Utility: at each step at which the event is true, the alarm is silent with probability at most `miss_rate`. At each
    step at which the true number lies beyond the zone, it rings with probability at most `false_alarm_rate`. The shift
    and the zone are the least that keep both rates. Over n steps expect at most n times the rate; errors of nearby
    steps share their noise.
    Runtime: grows with the square of window times members: 0.1 s for a thousand noises, once. At most 4,096.
    """
    if kind not in get_args(Kind):
        raise ArgumentError("kind", kind, f"it must be one of {', '.join(get_args(Kind))}", 'Pass e.g. "low"')
    steps, series = checked_between(window, "window", 1, MOST_STEPS), checked_between(members, "members", 1, MOST_COUNT)
    terms = series * (steps if kind in ("low", "high") else 2)
    if terms > MOST_NOISES:
        rule = f"it adds up {terms} noises, and exact tails are computed for at most {MOST_NOISES}"
        raise ArgumentError("window", window, rule, "Take a shorter window, fewer members, or tree_alarm")
    checked_rate(epsilon, 1)
    return _placed(kind, threshold, steps, epsilon, miss_rate, false_alarm_rate, NoiseSum((1,) * terms))


def tree_alarm(
    kind: Literal["low", "high"],
    threshold: Amount,
    length: int,
    epsilon: Amount,
    miss_rate: Amount,
    false_alarm_rate: Amount,
    members: int = 1,
) -> Alarm:
    """Make an alarm over the sums of `TreeWindows(series, length, epsilon)`, or over sums of `members` such series.

    Privacy: post-processing of those windows, which have their own price. Utility: as `alarm`; the noise is that of
    log2(length) + 1 nodes, the most that a window has. Runtime: milliseconds, once.
    """
    if kind not in ("low", "high"):
        raise ArgumentError("kind", kind, "windows of a tree are sums, which are low or high", 'Pass "low" or "high"')
    steps = checked_length(length)
    levels, series = levels_of(steps), checked_between(members, "members", 1, MOST_COUNT)
    if series * levels > MOST_NOISES:
        rule = f"it adds up {series * levels} noises, and exact tails are computed for at most {MOST_NOISES}"
        raise ArgumentError("members", members, rule, "Take fewer members")
    checked_rate(epsilon, levels)
    noise = NoiseSum((1,) * (series * levels), sensitivity=levels)
    placed = _placed(kind, threshold, steps, epsilon, miss_rate, false_alarm_rate, noise)
    return replace(placed, summed=True)


def _placed(
    kind: Kind,
    threshold: Amount,
    window: int,
    epsilon: Amount,
    miss_rate: Amount,
    false_alarm_rate: Amount,
    noise: NoiseSum,
) -> Alarm:
    """Find the shift by the tail at the miss rate, and the zone by the tail at the false-alarm rate."""
    missed = checked_probability(miss_rate, "miss_rate")
    alarmed = checked_probability(false_alarm_rate, "false_alarm_rate")
    amount, line = exact_fraction(epsilon, "epsilon"), _whole_threshold(kind, threshold)
    shift = least_distance(noise, amount, missed) - 1
    zone = shift + least_distance(noise, amount, alarmed) - 1
    if kind == "change":
        zone = _change_zone(noise, amount, alarmed, line, shift)
    if line < zone + (kind == "change") and kind in ("high", "change"):
        least = zone if kind == "high" else shift + least_distance(noise, amount, alarmed / 2)
        rule = "even if all true counts were zero, noise would raise the alarm more often than the false-alarm rate"
        raise ArgumentError("threshold", threshold, rule, f"Pass {least} or more, a larger epsilon, or larger rates")
    return Alarm(kind, line, window, amount, missed, alarmed, noise, shift, zone)


def _whole_threshold(kind: Kind, threshold: Amount) -> int:
    """Return the whole threshold that means the same: below 2.5 is below 3, above 2.5 is above 2."""
    number = exact_fraction(threshold, "threshold")
    line = math.floor(number) if kind == "high" else math.ceil(number)
    least = 0 if kind == "high" else 1
    if not least <= line <= MOST_COUNT:
        rule = f'for "{kind}" it must be {least} or more, and at most 2**40'
        raise ArgumentError("threshold", threshold, rule, "Pass a number of counts")
    return line


def _change_zone(noise: NoiseSum, epsilon: Fraction, alarmed: Fraction, line: int, shift: int) -> int:
    """Return the zone of `change`, where noise may cross the line at either end, so that both tails count.

    It is `line` if the false-alarm rate cannot be kept even where nothing changes.
    """
    far = line - shift

    def quiet(change: int) -> bool:
        def kept(bits: int) -> bool:
            near, opposite = (noise.enclosed(epsilon, far - way * change, bits) for way in (1, -1))
            return (near + opposite).at_most(alarmed)

        return certified(kept, noise.bits)

    change = far - least_distance(noise, epsilon, alarmed / 2)
    if change < 0:
        return line
    # Half the rate at the near end is enough, because the other end is further. Larger changes are tried one by one.
    while change + 1 < far and quiet(change + 1):
        change += 1
    return line - 1 - change
