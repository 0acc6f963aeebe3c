"""Records of a stream as a picture: noisy counts as dots, smoothed values as lines, alarms as bars on top.

Reads: records; a truth only where the caller made it up. Writes: nothing. Never: a script, or text not escaped.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from thresher.errors import ArgumentError
from thresher.streams.step_release import StepRecord
from thresher.streams.stream_chart import chosen_series, ringing_steps
from thresher.views.svg import COLOURS, Axis, across, dot, down, legend, path, picture, written

_DOT = 1.1
_BAR_TOP, _BAR_HEIGHT = 60.0, 7.0
_TICKS = 6


def stream_picture(
    records: Sequence[StepRecord], series: Sequence[str] | None = None, truth: Mapping[str, ArrayLike] | None = None
) -> str:
    """At most four series in one picture as SVG; a `truth`, dashed, holds one number for each record."""
    if not records:
        raise ArgumentError("records", "none", "there is nothing to draw", "Release a step first")
    names = chosen_series(records, series)
    if len(names) > COLOURS:
        rule = f"a picture shows at most {COLOURS} series"
        raise ArgumentError("series", f"{len(names)} of them", rule, "Draw several pictures")
    true = {name: np.asarray((truth or {})[name], dtype=np.float64) for name in names if name in (truth or {})}
    known = [record for record in records if record.drawn is not None]
    x_axis = _axis(f"step; step {records[0].step} began {records[0].at}", records[0].step, records[-1].step)
    places = [records[-1].names.index(name) for name in names]
    y_axis = _heights(known, places, true)
    marks, entries = [], []
    for colour, (name, place) in enumerate(zip(names, places, strict=True)):
        marks += [_point(x_axis, y_axis, record, place, colour) for record in known]
        for run in _runs(records):
            points = [(across(x_axis, r.step), down(y_axis, r.values[place])) for r in run]
            marks.append(path(points, f"line{colour}"))
        if name in true:
            steps = [across(x_axis, record.step) for record in records]
            shown = list(zip(steps, (down(y_axis, value) for value in true[name].tolist()), strict=True))
            marks.append(path(shown, f"line{colour} dashed"))
        entries.append((f"line{colour}", f"{name}: smoothed; dots: noisy"))
    entries += [("rule dashed", "dashed: the truth, which is made up")] if true else []
    about = f"{', '.join(names)} of the stream {records[-1].stream}, steps {records[0].step} to {records[-1].step}."
    title = " · ".join([records[-1].stream, *sorted({record.stamp for record in records if record.stamp})])
    return picture(title, about, (x_axis, y_axis), [*marks, *_alarms(records, names, x_axis), *legend(entries)])


def _point(x_axis: Axis, y_axis: Axis, record: StepRecord, place: int, colour: int) -> str:
    noisy = 0 if record.drawn is None else float(record.drawn.noisy[place])
    height = min(max(noisy, y_axis.low), y_axis.high)
    return dot(across(x_axis, record.step), down(y_axis, height), _DOT, colour)


def _runs(records: Sequence[StepRecord]) -> list[list[StepRecord]]:
    """Steps on end that have values: no line leads over a step without one."""
    runs: list[list[StepRecord]] = []
    before = False
    for record in records:
        now = record.drawn is not None
        if now and before:
            runs[-1].append(record)
        elif now:
            runs.append([record])
        before = now
    return runs


def _alarms(records: Sequence[StepRecord], names: Sequence[str], x_axis: Axis) -> list[str]:
    """A bar for each spell of each alarm, in the colour of its series, with its name."""
    states = {s.name: s.series for record in records for s in record.alarms if s.series in names}
    parts = []
    for row, (alarm, series) in enumerate(states.items()):
        top = _BAR_TOP + row * (_BAR_HEIGHT + 12)
        colour = list(names).index(series)
        for first, last in ringing_steps(records, alarm):
            left, right = across(x_axis, first), across(x_axis, last)
            wide = max(right - left, 2.0)
            parts.append(
                f'<rect class="fill{colour}" x="{left:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{_BAR_HEIGHT}"/>'
            )
            parts.append(written(right + 5, top + _BAR_HEIGHT + 1, f"{alarm} rings"))
    return parts


def _heights(known: Sequence[StepRecord], places: Sequence[int], truth: Mapping[str, np.ndarray]) -> Axis:
    values = [record.values[place] for record in known for place in places]
    noisy = [float(record.drawn.noisy[place]) for record in known if record.drawn is not None for place in places]
    tails = np.quantile(noisy, [0.01, 0.99]).tolist() if noisy else []
    seen = [0.0, *values, *tails, *(float(value) for true in truth.values() for value in true)]
    # Room above for the names.
    return _axis("units counted in a step", min(seen), max(*seen, 1.0) * 1.25)


def _axis(label: str, low: float, high: float) -> Axis:
    """Evenly, with round ticks."""
    high = high if high > low else low + 1
    rough = (high - low) / _TICKS
    unit = 10.0 ** math.floor(math.log10(rough))
    gap = max(1.0, next(unit * times for times in (1, 2, 5, 10) if unit * times >= rough))
    first = math.ceil(low / gap - 1e-9)
    return Axis(label, low, high, float, [tick * gap for tick in range(first, math.floor(high / gap + 1e-9) + 1)])
