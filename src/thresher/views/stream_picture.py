"""Draw records of a stream: noisy counts as dots, smoothed values as lines, alarms as bars on top.

Reads: records; true counts only if the caller made them up. Writes: nothing. Never: a script, or text not escaped.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from thresher.errors import ArgumentError
from thresher.streams.step_release import StepRecord
from thresher.streams.stream_chart import chosen_series, ringing_steps
from thresher.views.svg import (
    COLOURS,
    WIDTH,
    Axis,
    Surroundings,
    across,
    dot,
    down,
    path,
    picture,
    row_above,
    width_of,
    written,
)

_DOT = 1.1
_BAR_HEIGHT = 7.0
_TICKS = 6


def stream_picture(
    records: Sequence[StepRecord], series: Sequence[str] | None = None, truth: Mapping[str, ArrayLike] | None = None
) -> str:
    """Draw at most six series in one picture as SVG; a `truth`, dashed, holds one number for each record."""
    if not records:
        raise ArgumentError("records", "none", "there is nothing to draw", "Release a step first")
    names = chosen_series(records, series)
    if len(names) > COLOURS:
        rule = f"a picture shows at most {COLOURS} series"
        raise ArgumentError("series", f"{len(names)} of them", rule, "Draw several pictures")
    true = {name: np.asarray(counts, dtype=np.float64) for name, counts in (truth or {}).items() if name in names}
    for name, counts in true.items():
        if counts.shape != (len(records),):
            rule = f"it must hold one number for each of the {len(records)} records"
            raise ArgumentError(f"truth[{name!r}]", f"shape {counts.shape}", rule, "Pass a flat array of that length")
    known = [record for record in records if record.drawn is not None]
    x_axis = _axis(f"step (step {records[0].step} began {records[0].at})", records[0].step, records[-1].step)
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
        entries.append((f"line{colour}", f"{name}, smoothed"))
        entries += [(f"line{colour} dashed", f"{name}, the truth")] if name in true else []
    about = f"{', '.join(names)} of the stream {records[-1].stream}, steps {records[0].step} to {records[-1].step}."
    title = " · ".join([records[-1].stream, *sorted({record.stamp for record in records if record.stamp})])
    bars, rows = _alarms(records, names, x_axis)
    notes = ["Dots are the noisy counts that were released."]
    notes += ["The truth is drawn only because it is made up."] if true else []
    return picture(title, about, (x_axis, y_axis), [*marks, *bars], Surroundings(entries, rows, (" ".join(notes),)))


def _point(x_axis: Axis, y_axis: Axis, record: StepRecord, place: int, colour: int) -> str:
    noisy = 0 if record.drawn is None else float(record.drawn.noisy[place])
    height = min(max(noisy, y_axis.low), y_axis.high)
    return dot(across(x_axis, record.step), down(y_axis, height), _DOT, colour)


def _runs(records: Sequence[StepRecord]) -> list[list[StepRecord]]:
    """Return runs of consecutive steps that have values: no line crosses a step without one."""
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


def _alarms(records: Sequence[StepRecord], names: Sequence[str], x_axis: Axis) -> tuple[list[str], int]:
    """Return rows above the plot, one for each alarm that rang, and their number.

    A row has bars in the colour of the alarm's series, and the alarm's name beside the last bar.
    """
    states = {s.name: s.series for record in records for s in record.alarms if s.series in names}
    spells = {alarm: ringing_steps(records, alarm) for alarm in states}
    rang = [alarm for alarm in states if spells[alarm]]
    parts = []
    for row, alarm in enumerate(rang):
        base, colour, name = row_above(row), list(names).index(states[alarm]), f"{alarm} rings"
        for first, last in spells[alarm]:
            left, right = across(x_axis, first), across(x_axis, last)
            where = f'x="{left:.1f}" y="{base - _BAR_HEIGHT:.1f}" width="{max(right - left, 2.0):.1f}"'
            parts.append(f'<rect class="fill{colour}" {where} height="{_BAR_HEIGHT}"/>')
        begin, end = (across(x_axis, step) for step in (spells[alarm][0][0], spells[alarm][-1][1]))
        beside = end + 5 + width_of(name) <= WIDTH
        parts.append(written(end + 5 if beside else begin - 5, base, name, anchor="start" if beside else "end"))
    return parts, len(rang)


def _heights(known: Sequence[StepRecord], places: Sequence[int], truth: Mapping[str, np.ndarray]) -> Axis:
    values = [record.values[place] for record in known for place in places]
    noisy = [float(record.drawn.noisy[place]) for record in known if record.drawn is not None for place in places]
    tails = np.quantile(noisy, [0.01, 0.99]).tolist() if noisy else []
    seen = [0.0, *values, *tails, *(float(value) for true in truth.values() for value in true)]
    return _axis("count of a step", min(seen), max(*seen, 1.0))


def _axis(label: str, low: float, high: float) -> Axis:
    """Return an even axis with round ticks."""
    high = high if high > low else low + 1
    rough = (high - low) / _TICKS
    unit = 10.0 ** math.floor(math.log10(rough))
    gap = max(1.0, next(unit * times for times in (1, 2, 5, 10) if unit * times >= rough))
    first = math.ceil(low / gap - 1e-9)
    return Axis(label, low, high, float, [tick * gap for tick in range(first, math.floor(high / gap + 1e-9) + 1)])
