"""Draw records of a stream with characters: noisy counts as dots, smoothed values as a line, alarms underneath.

    dots (·)       the noisy counts, which the promises are about
    line           the smoothed values, best effort
    █ under it     an alarm rings; · it is tested and silent; blank: its window is not full, or there is no value
    x ░ ▸          a step that is torn, a gap, the end of the budget

Reads: records; a truth only where the caller made it up. Writes: nothing. Never: more than 78 columns; markup.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.errors import ArgumentError
from thresher.pages import Block, Fact, Line, Lines, Span, line, visible
from thresher.pages.page import ALARM, CURVE, FAINT, STRONG, UNSURE
from thresher.streams.step_release import ENDED, GAP, RELEASED, TORN, AlarmState, StepRecord

_WIDTH, _MARGIN, _COLUMNS, _LONGEST_NAME = 78, 13, 62, 40
# A Braille character has two dots across and four down.
_ACROSS, _DOWN = 2, 4
_BRAILLE, _DOTS = 0x2800, ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_OUTLIERS = 0.98
_LONGEST_GAP = 144
_MARKS = {RELEASED: " ", GAP: "░", TORN: "x", ENDED: "▸"}
_TONES = {"·": FAINT, "+": UNSURE, "█": ALARM}
_SHOWN = 4

Series = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Scale:
    """From `low` at the bottom of the last row to `high` at the top of the first."""

    low: float
    high: float
    rows: int

    def places(self, values: Series, parts: int = 1) -> NDArray[np.int64]:
        """Return rows from the top, each divided into `parts`; values outside are put at the edge."""
        room = self.rows * parts
        share = (self.high - np.nan_to_num(values)) / (self.high - self.low)
        return np.clip((share * room).astype(np.int64), 0, room - 1)

    def labels(self) -> dict[int, str]:
        """Return the labels of the ends and of zero, by row; zero replaces an end in the same row."""
        return {int(self.places(np.array([tick]))[0]): _number(tick) for tick in (self.low, self.high, 0.0)}


def stream_chart(
    records: Sequence[StepRecord],
    series: Sequence[str] | None = None,
    *,
    rows: int = 8,
    truth: Mapping[str, ArrayLike] | None = None,
) -> tuple[Block, ...]:
    """Return one panel for each series, and notes; a `truth` (`+`) holds one number for each record.

    By default the series are those that alarms watch, then others, four at most.
    """
    if not records:
        return (Lines((line("  no step is released yet"),)),)
    lines: list[Line] = []
    shown = records if truth else _spread(records)
    for name in chosen_series(records, series):
        lines += [*_panel(shown, name, rows, (truth or {}).get(name)), line("")]
    left = len(records[-1].names) - _SHOWN
    if series is None and left > 0:
        lines += [line(f"  and {left:,} series more: choose with --series"), line("")]
    return (Lines(tuple(lines)), *_notes(records))


def _spread(records: Sequence[StepRecord]) -> list[StepRecord]:
    """Split a gap of several steps into gaps of one step; a very long gap is cut short."""
    return [replace(r, step=r.step + i, steps=1) for r in records for i in range(min(r.steps, _LONGEST_GAP))]


def chosen_series(records: Sequence[StepRecord], series: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the series that are drawn, or refuse names that the stream does not have."""
    names = records[-1].names
    if series is not None:
        return known_series(names, series)
    watched = [state.series for state in _last_alarms(records)]
    return tuple(dict.fromkeys([*watched, *names]))[:_SHOWN]


def known_series(names: Sequence[str], series: Sequence[str]) -> tuple[str, ...]:
    """Return these series, each once, or refuse a series that is not among the names."""
    for name in series:
        if name not in names:
            raise ArgumentError("series", name, "the stream has no series of that name", f"Name one of {_few(names)}")
    return tuple(dict.fromkeys(series))


def ringing_steps(records: Sequence[StepRecord], alarm: str) -> list[tuple[int, int]]:
    """Return when an alarm rang: the first and the last step of each spell."""
    spells: list[tuple[int, int]] = []
    before = False
    for record in records:
        now = any(state.ringing for state in record.alarms if state.name == alarm)
        if now:
            spells = [*spells[:-1], (spells[-1][0], record.step)] if before else [*spells, (record.step, record.step)]
        before = now
    return spells


def step_line(record: StepRecord, series: Sequence[str]) -> str:
    """Return one step in one line: noisy counts (and ~ smoothed ones), and what rings. It has no control codes."""
    start = f"{record.step:>7}  {record.at[:16].replace('T', ' ')}  "
    if record.drawn is None:
        return f"{start}{record.kind}: {visible(record.note)}"
    counts = {
        name: f"{visible(name)} {'not looked at' if noisy is None else f'{noisy:,}'} (~{_number(value)})"
        for name, noisy, value in zip(record.names, record.noisy, record.values, strict=True)
    }
    ringing = [f"{visible(state.name)} rings" for state in record.alarms if state.ringing]
    stamp = f"  {record.stamp}" if record.stamp else ""
    return _cut(start + "  ".join([*ringing, *(counts[name] for name in series)]), _WIDTH - len(stamp)) + stamp


# One panel


def _panel(records: Sequence[StepRecord], name: str, rows: int, truth: ArrayLike | None) -> list[Line]:
    place = records[-1].names.index(name)
    noisy = np.array([math.nan if r.drawn is None else float(r.drawn.noisy[place]) for r in records])
    values = np.array([math.nan if r.drawn is None else r.values[place] for r in records])
    true = None if truth is None else np.asarray(truth, dtype=np.float64)
    page = np.full((rows, _COLUMNS), " ")
    scale = _scale(noisy, values, true, rows)
    _put(page, scale, noisy, "·")
    if true is not None:
        _put(page, scale, _binned(true, _COLUMNS), "+")
    _put_line(page, scale, _binned(values, _ACROSS * _COLUMNS))
    labels = scale.labels()
    body = [_row(labels.get(number, ""), "".join(marks)) for number, marks in enumerate(page)]
    return [_title(records, name, place), *body, *_below(records, name)]


def _scale(noisy: Series, values: Series, truth: Series | None, rows: int) -> _Scale:
    shown = [part[np.isfinite(part)] for part in (values, *([] if truth is None else [truth]))]
    seen = noisy[np.isfinite(noisy)]
    tails = np.quantile(seen, [1 - _OUTLIERS, _OUTLIERS]) if seen.size else np.zeros(2)
    joined = np.concatenate([*shown, tails])
    return _Scale(-_nice(-min(float(joined.min()), 0.0)), max(_nice(float(joined.max())), 1.0), rows)


def _nice(value: float) -> float:
    """Round up to two digits, for a label that is easy to read."""
    if value <= 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / unit - 1e-9) * unit


def _binned(values: Series, places: int) -> Series:
    """Return the mean of the steps that share a place; a step that covers several places is in each of them."""
    edges = np.arange(places + 1) * values.size / places
    first, last = np.floor(edges[:-1]).astype(np.int64), np.ceil(edges[1:] - 1e-9).astype(np.int64)
    known = np.isfinite(values)
    sums = np.concatenate([[0.0], np.cumsum(np.where(known, values, 0.0))])
    sizes = np.concatenate([[0], np.cumsum(known)])
    number = sizes[last] - sizes[first]
    return np.where(number > 0, (sums[last] - sums[first]) / np.maximum(number, 1), math.nan)


def _put(page: NDArray[np.str_], scale: _Scale, values: Series, mark: str) -> None:
    column = np.minimum(np.arange(values.size) * _COLUMNS // values.size, _COLUMNS - 1)
    known = np.isfinite(values)
    page[scale.places(values)[known], column[known]] = mark


def _put_line(page: NDArray[np.str_], scale: _Scale, values: Series) -> None:
    """Draw a line in Braille dots, without holes where it is steep."""
    down = scale.places(values, _DOWN)
    cells = np.zeros(page.shape, dtype=np.int64)
    for across in range(values.size):
        if math.isnan(values[across]):
            continue
        joined = across > 0 and not math.isnan(values[across - 1])
        ends = sorted((int(down[across]), int(down[across - 1] if joined else down[across])))
        for place in range(ends[0], ends[1] + 1):
            cells[place // _DOWN, across // _ACROSS] |= _DOTS[place % _DOWN][across % _ACROSS]
    for row, column in zip(*np.nonzero(cells), strict=True):
        page[row, column] = chr(_BRAILLE + int(cells[row, column]))


def _row(label: str, marks: str) -> Line:
    """Return marks behind a label, with one tone for each run of equal marks."""
    runs = groupby(marks.rstrip(), lambda mark: CURVE if ord(mark) >= _BRAILLE else _TONES.get(mark, ""))
    return line(f"{label:>{_MARGIN - 1}} │", *(Span("".join(run), tone) for tone, run in runs))


def _title(records: Sequence[StepRecord], name: str, place: int) -> Line:
    name = _cut(name, _LONGEST_NAME)
    last = next((record for record in reversed(records) if record.drawn is not None), None)
    if last is None:
        return line("  ", Span(name, STRONG), "  no value")
    parts = [f"{_number(last.values[place])} at {last.at[11:16]}"]
    for window in last.windows:
        missing = f" ({window.covered} known)" if window.covered < window.length else ""
        parts.append(f"last {window.length} steps{missing} {_number(window.sums[place])}")
    return line("  ", Span(name, STRONG), f"   {_cut('   '.join(parts), _WIDTH - len(name) - 5)}")


def _below(records: Sequence[StepRecord], name: str) -> list[Line]:
    """Return the axis of time, a row for each alarm of the series, and a row for steps without a value."""
    lines = [line(f"{'':>{_MARGIN}}{'─' * _COLUMNS}"), line(f"{'':>{_MARGIN}}{_times(records)}")]
    for state in _last_alarms(records):
        if state.series == name:
            marks = _by_column([_alarm_mark(record, state.name) for record in records], "█· ")
            lines.append(_row(_cut(state.name, _MARGIN - 2), marks))
    marks = _by_column([_MARKS[record.kind] for record in records], "▸x░ ")
    return [*lines, _row("steps", marks)] if marks.strip() else lines


def _by_column(marks: Sequence[str], order: str) -> str:
    """Return for each column the first mark, in this order, that any of its steps has."""
    places = np.arange(_COLUMNS + 1) * len(marks) / _COLUMNS
    shown = []
    for column in range(_COLUMNS):
        first = int(places[column])
        here = marks[first : max(first + 1, math.ceil(places[column + 1] - 1e-9))]
        shown.append(min(here, key=order.index))
    return "".join(shown)


def _alarm_mark(record: StepRecord, alarm: str) -> str:
    state = next((state for state in record.alarms if state.name == alarm), None)
    return " " if state is None else "█" if state.ringing else " " if state.crossed is None else "·"


def _times(records: Sequence[StepRecord]) -> str:
    """Return when the first, the middle and the last step began."""
    one_day = records[0].at[:10] == records[-1].at[:10]
    ends = [records[0], records[len(records) // 2], records[-1]]
    first, middle, last = ((r.at[11:16] if one_day else r.at[5:16].replace("T", " ")) for r in ends)
    half = _COLUMNS // 2
    return f"{first}{middle:>{half - len(first) + len(middle)}}{last:>{_COLUMNS - half - len(middle)}}"


def _notes(records: Sequence[StepRecord]) -> list[Fact]:
    """Return the steps without a value, and the end of the budget."""
    counted = {kind: sum(record.steps for record in records if record.kind == kind) for kind in (TORN, GAP)}
    reasons = {TORN: "torn (charged, and lost in a crash)", GAP: "passed over (nobody listened)"}
    notes = [
        f"{number:,} {'step' if number == 1 else 'steps'} {reasons[kind]}" for kind, number in counted.items() if number
    ]
    ended = [Fact("ended", records[-1].note)] if records[-1].kind == ENDED else []
    return [*([Fact("steps", "; ".join(notes))] if notes else []), *ended]


def _last_alarms(records: Sequence[StepRecord]) -> tuple[AlarmState, ...]:
    return next((record.alarms for record in reversed(records) if record.alarms), ())


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == round(value) else f"{value:.1f}"


def _few(names: Sequence[str]) -> str:
    return ", ".join(map(visible, names[:6])) + (", ..." if len(names) > 6 else "")


def _cut(text: str, width: int) -> str:
    text = visible(text)
    return text if len(text) <= width else f"{text[: width - 1]}…"
