"""Show the steps of a stream as they come: a chart that moves, a line of text for each, or JSON.

Reads: records. Writes: standard output, flushed with every step; a progress bar on standard error. Never: a record held
back until the next one.
"""

import json
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.progress_bar import ProgressBar

from thresher.cli.output import can_show, say
from thresher.live.running_stream import LAST_STEPS
from thresher.pages import Lines, Page, Span, line, visible
from thresher.pages.page import ALARM, STRONG
from thresher.streams.step_release import StepRecord
from thresher.streams.stream_chart import chosen_series, step_line, stream_chart
from thresher.views.terminal import rich_parts
from thresher.views.text import WIDTH

# How often in a second a chart is drawn again.
_PER_SECOND = 8
_FEWEST_ROWS, _MOST_ROWS, _AROUND = 3, 8, 6
_LETTERS = "█·│─░⣿"

Show = Callable[[StepRecord], None]


@dataclass(frozen=True, slots=True)
class Showing:
    """How steps are shown. `first` and `steps`: where a replay begins and ends, for its progress.

    `lines`: whether each step has a line of text where no chart moves. `truth`: the true counts of made-up data.
    """

    title: str
    as_json: bool = False
    series: Sequence[str] | None = None
    first: int = 0
    steps: int | None = None
    truth: Callable[[StepRecord], dict[str, int]] | None = None
    lines: bool = True

    @property
    def lively(self) -> bool:
        """Say whether there is a terminal on which a chart can move."""
        return not self.as_json and sys.stdout.isatty() and can_show(_LETTERS)


@contextmanager
def showing(how: Showing, before: Sequence[StepRecord] = ()) -> Iterator[Show]:
    """Yield a function that shows one step. `before`: steps of an earlier run, for the chart or as JSON."""
    if how.lively:
        yield from _live(how, before)
        return
    tell = _json_line if how.as_json else _line
    with _progress(how) as moved:

        def show(record: StepRecord) -> None:
            tell(how, record)
            moved(record)

        for record in before if how.as_json else ():
            show(record)
        yield show


def record_json(record: StepRecord, truth: dict[str, int] | None = None) -> str:
    """Write one record as one line of JSON."""
    document: dict[str, Any] = record.document()
    if truth is not None:
        document["truth_shown_because_made_up"] = truth
    return json.dumps(document)


def _json_line(how: Showing, record: StepRecord) -> None:
    click.echo(record_json(record, how.truth(record) if how.truth else None))
    sys.stdout.flush()


def _line(how: Showing, record: StepRecord) -> None:
    if not how.lines:
        return
    say(step_line(record, chosen_series([record], how.series)))
    sys.stdout.flush()


def _live(how: Showing, before: Sequence[StepRecord]) -> Iterator[Show]:
    console = Console(highlight=False, emoji=False)
    kept = deque(before, maxlen=LAST_STEPS)
    drawn_at = 0.0
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:

        def show(record: StepRecord) -> None:
            nonlocal drawn_at
            kept.append(record)
            now = time.monotonic()
            if now - drawn_at >= 1 / _PER_SECOND or record.step + 1 == how.steps:
                drawn_at = now
                live.update(_picture(how, list(kept), console.height), refresh=True)

        yield show
        if kept:
            live.update(_picture(how, list(kept), console.height), refresh=True)


def _picture(how: Showing, kept: list[StepRecord], height: int) -> Group:
    """Draw the chart, as tall as the terminal allows, and the progress of a replay."""
    room = max((height - 3) // (_FEWEST_ROWS + _AROUND), 1)
    series = chosen_series(kept, how.series)[:room]
    rows = min(max((height - 3) // len(series) - _AROUND, _FEWEST_ROWS), _MOST_ROWS)
    truth = None
    if how.truth is not None:
        rows_of_truth = [how.truth(record) for record in kept]
        truth = {name: [row[name] for row in rows_of_truth] for name in rows_of_truth[-1]}
    stamp = next((f"  {record.stamp}" for record in kept if record.stamp), "")
    title = Lines((line(Span(how.title, STRONG), Span(stamp, ALARM)),))
    parts = rich_parts(Page((title, *stream_chart(kept, series, rows=rows, truth=truth))))
    if how.steps is None:
        return Group(*parts)
    return Group(*parts, ProgressBar(total=how.steps - how.first, completed=kept[-1].step + 1 - how.first, width=WIDTH))


@contextmanager
def _progress(how: Showing) -> Iterator[Show]:
    """Yield a function that moves a bar on standard error, for runs whose standard output goes elsewhere."""
    console = Console(stderr=True)
    if how.steps is None or not console.is_terminal or sys.stdout.isatty():
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(visible(how.title), total=how.steps - how.first)
        yield lambda record: progress.update(task, completed=record.step + 1 - how.first)
