"""Smoothed values, window sums and alarms of a stream, made from each step that was drawn. All of it is free.

They are a function of what was released. A stream that is opened again reads the last `look_back` steps of its plan
and then has the same values and tests. Only what depends on more steps than that can differ: an adaptive estimate that
reaches over torn steps and gaps, and an alarm that still rings because nothing was tested since.
Reads: released numbers. Writes: nothing. Never: a true count.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.errors import BugError
from thresher.streams.alarms import CROSSED, SILENT, AlarmWatch, Hysteresis
from thresher.streams.hierarchy_terms import combined_terms
from thresher.streams.median_smoother import MedianSmoother
from thresher.streams.smoothers import AdaptiveSmoother, AverageSmoother, JamesSteinSmoother
from thresher.streams.step_mechanism import LONGEST_GROUP
from thresher.streams.step_release import JOINS, AlarmState, NoisyStep, WindowState
from thresher.streams.stream_plan import StreamAlarm, StreamPlan
from thresher.streams.window_sums import WindowSums, WindowSumSmoother

Row = NDArray[np.float64]
# Decimal places of what is shown: a smoothed value is an estimate, and more digits would help nobody.
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class DerivedValues:
    """What a record shows beside the noisy counts."""

    values: tuple[float, ...] = ()
    windows: tuple[WindowState, ...] = ()
    alarms: tuple[AlarmState, ...] = ()


class Derivation:
    """Follow one stream, step by step; a step without a value is None.

    `since`: the step since which each alarm has been declared. An alarm reads no earlier step, because somebody who
    had seen its counts may have chosen the alarm by them (`alarms.md`).
    """

    def __init__(self, plan: StreamPlan, since: Sequence[int] | None = None) -> None:
        self._nothing = np.zeros((1, len(plan.names)), dtype=np.int64)
        # The medians of groups are computed once for each step: they are shown, and windows add them up.
        grouped = plan.tree is None and plan.declared.mechanism == "pegasus"
        self._medians = MedianSmoother(len(plan.names), LONGEST_GROUP) if grouped else None
        self._windows = [_Window(len(plan.names), length, grouped) for length in plan.declared.windows]
        self._smooth = None if grouped and plan.smoother == "median" else _smoothing(plan)
        began = [0] * len(plan.alarms) if since is None else since
        self._alarms = [_Alarm(watch, first) for watch, first in zip(plan.alarms, began, strict=True)]

    def follow(self, step: int, drawn: NoisyStep | None) -> DerivedValues:
        noisy = self._nothing if drawn is None else drawn.noisy[None]
        known = np.array([drawn is not None])
        joins, medians = None, np.zeros((1, 0))
        if drawn is not None and self._medians is not None:
            joins = _marks(drawn) == JOINS
            medians = self._medians.of_block(noisy.astype(np.float64), joins)
        windows = tuple(window.follow(noisy, known, joins, medians) for window in self._windows)
        alarms = tuple(alarm.follow(step, drawn) for alarm in self._alarms)
        if drawn is None:
            return DerivedValues(windows=windows, alarms=alarms)
        smoothed = medians if self._smooth is None else self._smooth(drawn)
        # A true count is never negative.
        values = np.round(np.maximum(smoothed, 0), _DIGITS).ravel()
        return DerivedValues(tuple(values.tolist()), windows, alarms)


class _Window:
    """Sums over the last steps: of noisy counts, without bias; or, where steps are grouped, of the groups' medians."""

    def __init__(self, series: int, length: int, grouped: bool) -> None:  # noqa: FBT001
        self._length, self._plain = length, WindowSums(series, length)
        self._smoother = WindowSumSmoother(series, length) if grouped else None

    def follow(
        self, noisy: NDArray[np.int64], known: NDArray[np.bool_], joins: NDArray[np.bool_] | None, medians: Row
    ) -> WindowState:
        sums, covered = self._plain.of_block(noisy, known)
        shown: Row = sums[0].astype(np.float64)
        if self._smoother is not None and joins is not None:
            smoothed = self._smoother.of_block(medians, joins)[0]
            # The smoother leaves steps without a value out. Where the window has some, noisy counts are added up.
            shown = smoothed if covered[0] == self._length else shown
        return WindowState(self._length, int(covered[0]), tuple(np.round(shown, _DIGITS).tolist()))


class _Alarm:
    """One declared alarm. It does not test a window in which a step is missing: its promise is about whole windows."""

    def __init__(self, watch: StreamAlarm, since: int) -> None:
        self._declared, self._place, self._since = watch.declared, watch.place, since
        self._watch = AlarmWatch(watch.alarm, 1)
        self._hysteresis = Hysteresis(1, watch.declared.on_steps, watch.declared.off_steps)

    def follow(self, step: int, drawn: NoisyStep | None) -> AlarmState:
        known = drawn is not None and step >= self._since
        noisy = int(drawn.noisy[self._place]) if drawn is not None and known else 0
        tested = self._watch.of_block(np.array([[noisy]]), np.array([known]))
        crossed = None if tested[0, 0] == SILENT else bool(tested[0, 0] == CROSSED)
        ringing = bool(self._hysteresis.of_block(tested)[0, 0])
        return AlarmState(self._declared.name, self._declared.series, ringing, crossed)


def _smoothing(plan: StreamPlan) -> Callable[[NoisyStep], Row]:
    """Return the function that makes a smoothed value of each series from its noisy counts so far."""
    series, perturber = len(plan.names), plan.measures.perturber
    if plan.smoother == "adaptive":
        adaptive = AdaptiveSmoother(series, perturber.fraction, float(plan.declared.strictness), plan.longest)
        return lambda drawn: np.asarray(adaptive.steps(drawn.noisy[None])[0])
    if plan.smoother == "none":
        return lambda drawn: _measured(drawn, perturber.nano)[0]
    if plan.smoother == "james-stein":
        shrinking = JamesSteinSmoother(series, perturber.fraction)
        return lambda drawn: shrinking.steps(drawn.noisy[None], _marks(drawn))[0]
    grouped = MedianSmoother(series, LONGEST_GROUP) if plan.smoother == "median" else AverageSmoother(series)

    def smoothed(drawn: NoisyStep) -> Row:
        values, weights = _measured(drawn, perturber.nano)
        rows = None if weights is None else weights[None]
        return np.asarray(grouped.steps(values[None], _marks(drawn), rows)[0])

    return smoothed


def _measured(drawn: NoisyStep, nano: int) -> tuple[Row, NDArray[np.int64] | None]:
    """Return each count by all its measurements, and the weights; None where all counts are measured alike."""
    return (drawn.noisy.astype(np.float64), None) if drawn.nano is None else combined_terms(drawn, nano)


def _marks(drawn: NoisyStep) -> NDArray[np.int8]:
    if drawn.marks is None:
        raise BugError("a smoother of groups needs a grouper")
    return drawn.marks[None]
