"""What follows from a step that was drawn: smoothed values, window sums, alarms. All of it is free.

It is a function of what was released, so that a stream that is opened again finds the same by looking back.
Reads: what was drawn. Writes: nothing. Never: a true count.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.errors import BugError
from thresher.streams import window_sums
from thresher.streams.adaptive_smoother import AdaptiveSmoother
from thresher.streams.alarms import CROSSED, SILENT, AlarmWatch
from thresher.streams.hierarchy_terms import combined
from thresher.streams.monitors import Hysteresis
from thresher.streams.smoothers import AverageSmoother, JamesSteinSmoother, MedianSmoother
from thresher.streams.step_release import AlarmState, Drawn, WindowSums
from thresher.streams.stream_plan import LONGEST, StreamPlan, Watch
from thresher.streams.window_sum_smoother import WindowSumSmoother

Row = NDArray[np.float64]
# Digits of what is shown: a smoothed value is an estimate, and a binary fraction helps nobody.
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Followed:
    """What a record shows beside what was drawn."""

    values: tuple[float, ...] = ()
    windows: tuple[WindowSums, ...] = ()
    alarms: tuple[AlarmState, ...] = ()


class Follower:
    """Follows one stream, step by step; a step without a value is followed as None.

    `since`: the step from which on each alarm has been declared. An alarm reads no step before it, because somebody who
    had seen those counts may have chosen it by them (`alarms.md`).
    """

    def __init__(self, plan: StreamPlan, since: Sequence[int] | None = None) -> None:
        self._smooth = _smoothing(plan)
        self._windows = [_Window(plan, length) for length in plan.declared.windows]
        began = [0] * len(plan.watches) if since is None else since
        self._alarms = [_Alarm(watch, first) for watch, first in zip(plan.watches, began, strict=True)]

    def follow(self, step: int, drawn: Drawn | None) -> Followed:
        windows = tuple(window.follow(drawn) for window in self._windows)
        alarms = tuple(alarm.follow(step, drawn) for alarm in self._alarms)
        if drawn is None:
            return Followed(windows=windows, alarms=alarms)
        # Nobody is counted less than not at all.
        values = np.round(np.maximum(self._smooth(drawn), 0), _DIGITS)
        return Followed(tuple(values.tolist()), windows, alarms)


class _Window:
    """The sums of the last steps: of noisy counts, unbiased; or, where steps are grouped, of the groups' medians."""

    def __init__(self, plan: StreamPlan, length: int) -> None:
        self._series, self._length = len(plan.names), length
        self._plain = window_sums.WindowSums(self._series, length)
        grouped = plan.tree is None and plan.declared.mechanism == "pegasus"
        self._smoother = WindowSumSmoother(self._series, length, LONGEST) if grouped else None

    def follow(self, drawn: Drawn | None) -> WindowSums:
        present = drawn is not None
        row = np.zeros((1, self._series), dtype=np.int64) if drawn is None else drawn.noisy[None]
        sums, covered = self._plain.steps(row, np.array([present]))
        shown: Row = sums[0].astype(np.float64)
        if self._smoother is not None and drawn is not None and drawn.marks is not None:
            smoothed = self._smoother.steps(row, drawn.marks[None])[0]
            # The smoother knows of no missing steps: where some are, what is known of the others is added up.
            shown = smoothed if covered[0] == self._length else shown
        return WindowSums(self._length, int(covered[0]), tuple(np.round(shown, _DIGITS).tolist()))


class _Alarm:
    """One declared alarm. It says nothing of a window in which a step is missing: its promise is about whole ones."""

    def __init__(self, watch: Watch, since: int) -> None:
        self._declared, self._place, self._since = watch.declared, watch.place, since
        self._watch = AlarmWatch(watch.alarm, 1)
        self._hysteresis = Hysteresis(1, watch.declared.on_steps, watch.declared.off_steps)

    def follow(self, step: int, drawn: Drawn | None) -> AlarmState:
        known = drawn is not None and step >= self._since
        noisy = int(drawn.noisy[self._place]) if drawn is not None and known else 0
        tested = self._watch.steps(np.array([[noisy]]), np.array([known]))
        crossed = None if tested[0, 0] == SILENT else bool(tested[0, 0] == CROSSED)
        ringing = bool(self._hysteresis.steps(tested)[0, 0])
        return AlarmState(self._declared.name, self._declared.series, ringing, crossed)


def _smoothing(plan: StreamPlan) -> Callable[[Drawn], Row]:
    """What makes a value of each series' noisy counts so far."""
    series, perturber = len(plan.names), plan.measures.perturber
    if plan.smoother == "adaptive":
        adaptive = AdaptiveSmoother(series, perturber.fraction, float(plan.declared.strictness), plan.longest)
        return lambda drawn: np.asarray(adaptive.steps(drawn.noisy[None])[0])
    if plan.smoother == "none":
        return lambda drawn: combined(drawn, perturber.nano)[0]
    if plan.smoother == "james-stein":
        shrinking = JamesSteinSmoother(series, perturber.fraction)
        return lambda drawn: shrinking.steps(drawn.noisy[None], _marks(drawn))[0]
    grouped = MedianSmoother(series, LONGEST) if plan.smoother == "median" else AverageSmoother(series)

    def smoothed(drawn: Drawn) -> Row:
        values, weights = combined(drawn, perturber.nano)
        return np.asarray(grouped.steps(values[None], _marks(drawn), weights[None])[0])

    return smoothed


def _marks(drawn: Drawn) -> NDArray[np.int8]:
    if drawn.marks is None:
        raise BugError("a smoother of groups needs a grouper")
    return drawn.marks[None]
