"""`thresher stream`: private counts of each step, for ever. The plan, a run, a replay, and what was released.

Reads: arguments, declarations, feeds. Writes: standard output, files; the ledger, through the stream. Never: charges a
stream without a yes.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from thresher.accounts import open_accounts
from thresher.cli.feeding import MOST_AHEAD, Ears, end_of, last_counted, listened, polled, recorded
from thresher.cli.flags import Choice
from thresher.cli.options import config_option, together
from thresher.cli.output import show
from thresher.cli.payment import agree
from thresher.cli.showing import Showing, record_json, showing
from thresher.config import Declarations, load
from thresher.errors import ArgumentError, BudgetError, LedgerError
from thresher.ledger import Book
from thresher.live.open_stream import open_stream, planned
from thresher.live.recorded_noise import RecordedEntropy
from thresher.live.running_stream import LAST_STEPS, RunningStream
from thresher.live.sinks import JsonLinesFile, write_parquet
from thresher.live.stream_pages import after_page
from thresher.pages import Fact, Page
from thresher.pages.page import SPACE
from thresher.streams.step_release import StepRecord
from thresher.streams.stream_chart import known_series
from thresher.views.stream_picture import stream_picture

_SUFFIXES = (".ndjson", ".parquet", ".svg")
_PATIENCE_SECONDS, _PAUSE_SECONDS = 2.0, 0.1

json_lines = click.option("--json", "as_json", is_flag=True, help="Print JSON, one line for each step.")
series_option = click.option("--series", multiple=True, metavar="NAME", help="Which series to draw; may be repeated.")
running_options = together(
    click.option("--output", "-o", metavar="FILE", help="Append every record to FILE.ndjson, once."),
    series_option,
    click.option("--yes", "-y", is_flag=True, help="Begin the stream without being asked."),
    click.option("--seed", type=int, help="For trials: repeat the noise of this seed. NOT PRIVATE."),
    click.option(
        "--counters",
        is_flag=True,
        help="At the end, say on standard error what was not counted. True numbers: curator only.",
    ),
    json_lines,
)


@click.group()
def stream() -> None:
    """Release private counts of each step, with windows and alarms: [streams.NAME] in thresher.toml.

    \b
      thresher stream plan campus                      what it protects, costs and promises; free
      sensors | thresher stream run campus --from -    release each step as it ends
      thresher stream show campus --steps 0:288        draw what was released; free
    """  # noqa: D301 - click reads the backslash


@stream.command("plan")
@click.argument("name")
@config_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def plan_command(*, name: str, config: str, as_json: bool) -> None:
    """Show what a stream protects, what a step costs, and what its alarms promise. Reads no feed, charges nothing.

    \b
      thresher stream plan campus
    """  # noqa: D301 - click reads the backslash
    declared = load(config)
    plan = planned(declared, name)
    book = open_accounts(declared)
    try:
        balance = book.balance(plan.account)
    finally:
        book.close()
    show(plan.page() + Page((SPACE,)) + balance.page(), as_json=as_json)


@stream.command("run")
@click.argument("name")
@config_option
@click.option("--from", "feed", metavar="FILE", help="Lines of JSON; - is standard input. Default: the declared table.")
@click.option(
    "--clock",
    type=Choice(["feed", "wall"]),
    default="feed",
    show_default=True,
    help="What ends a step: ticks in the feed, or this machine's clock.",
)
@click.option("--until", metavar="TIME", help="When to stop reading a table. Default: go on for ever.")
@running_options
def run_command(
    *,
    name: str,
    config: str,
    feed: str | None,
    clock: str,
    until: str | None,
    output: str | None,
    series: tuple[str, ...],
    yes: bool,
    seed: int | None,
    counters: bool,
    as_json: bool,
) -> None:
    """Release each step of a stream as it ends. Killed and started again, it goes on with the next step.

    Lines are events, ticks that tell the time, or counts of whole steps:

    \b
      {"unit": "ann", "state": "gym", "time": "2026-03-02T08:00:12Z"}
      {"tick": "2026-03-02T08:10:00Z"}
      {"step": 12, "counts": {"gym": 3, "library": 41}}

    \b
      sensors | thresher stream run campus --from - --clock wall --yes
      thresher stream run phones --yes --json >> released.ndjson

    Ends with exit code 3 when the budget is exhausted; the last record says so.
    """  # noqa: D301 - click reads the backslash
    if until is not None and feed is not None:
        raise ArgumentError("until", until, "it is for a table", "Leave it out, or use `thresher stream replay`")
    declared = load(config)
    with _opened(declared, name, series, seed) as running:
        _agree(running, yes=yes)
        if feed is None:
            records = polled(running, declared, until)
        else:
            ears = Ears(running, feed)
            records = _counted(listened(running, ears, by_wall=clock == "wall"), ears, counters=counters)
        _carry_on(running, records, Showing(name, as_json, series or None), output)


@stream.command("replay")
@click.argument("name")
@click.argument("file")
@config_option
@click.option("--until", metavar="TIME", help="When the recording of events ended, such as 2026-03-03T00:00:00Z.")
@running_options
def replay_command(
    *,
    name: str,
    file: str,
    config: str,
    until: str | None,
    output: str | None,
    series: tuple[str, ...],
    yes: bool,
    seed: int | None,
    counters: bool,
    as_json: bool,
) -> None:
    """Release the steps of a recorded FILE at full speed, charged like any others. Released steps are passed over.

    FILE holds lines as for `thresher stream run`. Events without ticks need --until, because the time of the last
    event is private, and the clock must come from you.

    \b
      thresher stream replay campus monday.ndjson --until 2026-03-03T00:00:00Z --yes
      thresher stream replay campus counts.ndjson --yes --json
    """  # noqa: D301 - click reads the backslash
    with _opened(load(config), name, series, seed) as running:
        end = last_counted(file) if until is None else end_of(running.plan, until)
        _agree(running, yes=yes)
        how = Showing(name, as_json, series or None, running.next_step, end)
        ears = Ears(running, file, MOST_AHEAD)
        records = _counted(recorded(running, ears, until), ears, counters=counters)
        _carry_on(running, records, how, output)


@stream.command("show")
@click.argument("name")
@config_option
@click.option("--steps", metavar="FIRST:LAST", help="Which steps, the last not included. Default: the last 288.")
@series_option
@click.option("--output", "-o", metavar="FILE", help="Write them to FILE.ndjson, FILE.parquet or FILE.svg.")
@json_lines
def show_command(
    *, name: str, config: str, steps: str | None, series: tuple[str, ...], output: str | None, as_json: bool
) -> None:
    """Draw what was released, as it is stored. This is free.

    \b
      thresher stream show campus --steps 96:144 --series library
      thresher stream show campus --steps 0:288 -o day.svg
    """  # noqa: D301 - click reads the backslash
    if output is not None and Path(output).suffix not in _SUFFIXES:
        rule = f"its name must end in one of {', '.join(_SUFFIXES)}"
        raise ArgumentError("output", output, rule, "Write -o released.parquet")
    with _opened(load(config), name, series, reading=True) as running:
        first, last = _span(steps, running.next_step)
        records = list(running.records(first, last - 1))
        if output is not None:
            _write(records, Path(output), series, running.name)
        if as_json:
            for record in records:
                click.echo(record_json(record))
        else:
            file = (Fact("file", f"written to {output}"),) if output else ()
            show(running.page(records, series or None) + Page(file), as_json=False)


# Carrying on


def _counted(records: Iterator[StepRecord], ears: Ears, *, counters: bool) -> Iterator[StepRecord]:
    """Yield the records; at their end, or if they are stopped, say what was not counted, if `counters` are wanted."""
    try:
        yield from records
    finally:
        if counters:
            reasons = ", ".join(f"{why} {count}" for why, count in ears.counters().items() if count) or "nothing"
            click.echo(f"Not counted (true numbers, for the curator only): {reasons}", err=True)


@contextmanager
def _opened(
    declared: Declarations, name: str, series: tuple[str, ...], seed: int | None = None, *, reading: bool = False
) -> Iterator[RunningStream]:
    """Open a stream, or refuse a name or series that is not declared before anything is charged."""
    known_series(planned(declared, name).names, series)
    book = open_accounts(declared)
    try:
        with _patiently(declared, name, seed, book, reading=reading) as running:
            yield running
    finally:
        book.close()


def _patiently(declared: Declarations, name: str, seed: int | None, book: Book, *, reading: bool) -> RunningStream:
    """Open a stream. Wait if another process is in the middle of a step, which takes milliseconds."""
    entropy = None if seed is None else RecordedEntropy(seed)
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return open_stream(declared, name, book=book, entropy=entropy, reading=reading)
        except LedgerError:
            if time.monotonic() > end:
                raise
            time.sleep(_PAUSE_SECONDS)


def _agree(running: RunningStream, *, yes: bool) -> None:
    """Ask for a yes before the first step. A stream that goes on was agreed to before."""
    plan = running.plan
    if not yes and not running.next_step:
        agree(
            plan.page,
            f"Each step costs epsilon {plan.step_epsilon}.",
            refusal=f"each step costs epsilon {plan.step_epsilon}, and there is no terminal to ask for a yes",
            fix=f"Pass --yes to begin, or see `thresher stream plan {plan.name}`",
            question="Begin it?",
        )


def _carry_on(running: RunningStream, records: Iterator[StepRecord], how: Showing, output: str | None) -> None:
    """Show and write each record as it comes. Exit with code 3 if the budget has ended."""
    last: StepRecord | None = None
    before = list(running.records(max(0, running.next_step - LAST_STEPS))) if how.lively else []
    try:
        with _sink(running, output) as write, showing(how, before) as tell:
            for record in records:
                last = record
                write(record)
                tell(record)
    except KeyboardInterrupt as stopped:
        stopped.add_note(f"All steps before {running.next_step} are stored. Start it again to go on from there.")
        raise
    if not how.as_json:
        show(after_page(running.plan, running.balance(), last, running.next_step), as_json=False)
    if running.ended:
        raise click.exceptions.Exit(BudgetError.exit_code)


@contextmanager
def _sink(running: RunningStream, output: str | None) -> Iterator[Callable[[StepRecord], object]]:
    """Yield a function that appends a record to a file, after the stored records that the file lacks."""
    if output is None:
        yield lambda _: None
        return
    if Path(output).suffix != ".ndjson":
        raise ArgumentError("output", output, "its name must end in .ndjson", "Write -o released.ndjson")
    with JsonLinesFile(output, running.name) as file:
        for record in running.records(file.next_step):
            file.write(record)
        yield file.write


# Showing


def _span(steps: str | None, released: int) -> tuple[int, int]:
    """Return the first step and the end of --steps, by default of the last 288."""
    if steps is None:
        return max(0, released - LAST_STEPS), released
    numbers = re.fullmatch(r"(\d{0,15}):(\d{0,15})", steps, re.ASCII)
    if numbers is None:
        raise ArgumentError("steps", steps, "it must be two numbers of steps with a colon", "Write --steps 0:288")
    return int(numbers[1] or 0), min(int(numbers[2] or released), released)


def _write(records: list[StepRecord], path: Path, series: tuple[str, ...], name: str) -> None:
    """Write records to a file whose ending names its format."""
    if path.suffix == ".svg":
        path.write_text(stream_picture(records, series or None), encoding="utf-8")
    elif path.suffix == ".parquet":
        write_parquet(records, path)
    else:
        with JsonLinesFile(path, name) as file:
            if records and file.next_step > records[0].step:
                rule = f"the file already holds the steps before {file.next_step}, and each step is written once"
                raise ArgumentError("output", str(path), rule, "Name a new file, or later --steps")
            for record in records:
                file.write(record)
