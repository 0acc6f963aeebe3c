"""`thresher demo stream`: replay a made-up day on a campus, with releases beside the truth, and two alarms.

Reads: arguments. Writes: standard output; a folder, with --keep. Never: a line of text wider than 78 columns.
"""

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from thresher.cli.output import show
from thresher.cli.showing import Showing, showing
from thresher.demo.campus import STEPS, Campus, campus_day
from thresher.demo.replaying import Replayed, replay
from thresher.errors import ArgumentError
from thresher.live.recorded_noise import RecordedEntropy
from thresher.pages import Block, Fact, Lines, Page, Span, line
from thresher.pages.page import ALARM, SEEDED, SPACE, heading
from thresher.streams.step_release import TORN
from thresher.streams.stream_chart import ringing_steps, stream_chart

_SERIES = ("dorms", "hall", "library")
_TITLE = "A made-up day on a campus"
_SLOWEST = 60.0


@click.command("stream")
@click.option("--seed", type=int, help="Repeat a run. Somebody who knows the seed can remove the noise: NOT PRIVATE.")
@click.option("--keep", metavar="FOLDER", help="Keep the campus there. The next start with it goes on with the day.")
@click.option("--pace", type=float, default=0.0, metavar="SECONDS", help="Wait this long after each step. Default: 0.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a line for each step, and one about all of them.")
def demo_stream(*, seed: int | None, keep: str | None, pace: float, as_json: bool) -> None:
    """Replay a made-up day on a campus: five buildings, a count every five minutes, two alarms with a promise.

    Each step is charged, drawn, stored and only then shown. Kill it and start it again with the same folder: what was
    released is shown as it was, and the day goes on with the next step.

    \b
      thresher demo stream --keep campus --pace 0.1     (stop it half way, and start it again)
      thresher stream show campus --config campus/thresher.toml --steps 96:144
    """  # noqa: D301 - click reads the backslash
    if not 0 <= pace <= _SLOWEST:
        raise ArgumentError("pace", pace, f"it must be from 0 to {_SLOWEST:.0f} seconds", "Pass 0.1")
    with ExitStack() as stack:
        folder = Path(keep) if keep is not None else Path(stack.enter_context(tempfile.TemporaryDirectory()))
        campus = campus_day(folder)
        how = Showing(_TITLE, as_json, _SERIES, 0, STEPS, campus.truth, lines=False)
        entropy = None if seed is None else RecordedEntropy(seed)
        shown = replay(campus, entropy, lambda before: showing(how, before), pace)
    show(_page(campus, shown, keep, chart=not how.lively), as_json=as_json, indent=None)


def _page(campus: Campus, shown: Replayed, keep: str | None, *, chart: bool) -> Page:
    """Show the day as it was released, and what it cost."""
    rows = [campus.truth(record) for record in shown.records]
    truth = {name: [row[name] for row in rows] for name in campus.buildings}
    stamp = next((record.stamp for record in shown.records if record.stamp), "")
    drawn = (
        "Dots are the released noisy counts, the line is made of them, and + is the truth, which is shown only because "
        "this campus is made up."
    )
    blocks: list[Block] = [
        *(SEEDED if stamp else ()),
        *([heading(_TITLE), *stream_chart(shown.records, _SERIES, truth=truth)] if chart else []),
        Fact("", drawn),
        *([Fact("went on", _went_on(shown))] if shown.began_with else []),
        SPACE,
    ]
    for watch in shown.plan.alarms:
        rang = f" ({watch.declared.series}) {_rang(shown, watch.declared.name)}"
        blocks += [Lines((line("  ", Span(watch.declared.name, ALARM), rang),)), Fact("promise", watch.promise), SPACE]
    blocks += [*shown.balance.page().blocks, *(Fact(label, text) for label, text in _losses(shown).items())]
    if keep:
        path = Path(keep) / "thresher.toml"
        blocks += [SPACE, Fact("", f"Kept in {keep}: try `thresher stream show campus --config {path}`")]
    if stamp:
        blocks.append(Lines((line(""), line(Span(stamp, ALARM)))))
    return Page(tuple(blocks), _document(shown), stamp)


def _went_on(shown: Replayed) -> str:
    torn = [record.step for record in shown.records if record.kind == TORN]
    lost = f" Torn steps, charged and lost in a kill: {', '.join(map(str, torn))}." if torn else ""
    if shown.began_with == STEPS:
        return f"the whole day was released before. Showing it again is free.{lost}"
    at = shown.records[shown.began_with].at[11:16]
    return f"at step {shown.began_with} ({at}). The steps before it are shown as they were released.{lost}"


def _rang(shown: Replayed, alarm: str) -> str:
    spells = ringing_steps(shown.records, alarm)
    times = [f"from {shown.plan.clock.began(a)[11:16]} to {shown.plan.clock.began(b + 1)[11:16]}" for a, b in spells]
    return f"rang {', '.join(times)}" if times else "did not ring"


def _losses(shown: Replayed) -> dict[str, str]:
    step, day = shown.plan.step_epsilon, shown.plan.lost_within(STEPS)
    return {
        "one step": f"somebody present in one step loses at most epsilon {step}",
        "all day": f"somebody present in all {STEPS} steps lost at most epsilon {day} in all; each further day costs "
        "as much again",
    }


def _document(shown: Replayed) -> dict[str, Any]:
    return {
        "private": not any(record.stamp for record in shown.records),
        "went_on_at": shown.began_with,
        "alarms": {
            watch.declared.name: {
                "rang": [list(spell) for spell in ringing_steps(shown.records, watch.declared.name)],
                "promise": watch.promise,
            }
            for watch in shown.plan.alarms
        },
        "spent": shown.balance.spent.to_json(),
        "lost_in_a_step": shown.plan.step_epsilon.to_json(),
        "lost_all_day": shown.plan.lost_within(STEPS).to_json(),
    }
