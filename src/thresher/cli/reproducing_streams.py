"""`thresher reproduce streams`: counts, windows, events and trees of streams, by epsilon, beside what is known of them.

Reads: arguments, a folder of public data. Writes: standard output. Never: a line wider than 78 columns.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click

from thresher.cli.options import json_option, spinning
from thresher.cli.output import say
from thresher.cli.stream_tables import event_tables, tree_tables, unit_tables, window_tables
from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy, SystemEntropy
from thresher.reproduce.stream_data import STEPS, WEEK, StreamSet, busiest, campus, first, loads
from thresher.reproduce.stream_draws import EPSILONS, Trials
from thresher.reproduce.stream_files import PublicStreams, public_streams
from thresher.reproduce.stream_monitors import EVENTS, SHARES, EventScore, event_scores
from thresher.reproduce.stream_remarks import event_remarks, tree_remarks, unit_remarks, window_remarks
from thresher.reproduce.stream_trees import TREE_STEPS, TreeError, tree_errors
from thresher.reproduce.stream_windows import WindowError, window_errors
from thresher.reproduce.streams import UnitError, unit_errors
from thresher.views.text import paragraph

PARTS = ("counts", "windows", "events", "trees")
_LEAST_STEPS = 100
_KEY = (
    "all zero: the answer is 0, always. laplace: noise at every step. backward: its mean over so many steps. adaptive:"
    " its mean over as many steps as agree, at 2 or 3 standard deviations. pegasus: groups of steps whose deviation is"
    " below 5 (as printed) or 60 over epsilon of the groups, and the median of a group; average, james-stein: another"
    " middle of it; one-sided: other noise for the groups."
)
_GETTING = (
    "Name the folder with --data or THRESHER_DATA. docs/reproduce.md says which columns the files need and where the"
    " data were published."
)


@dataclass(frozen=True, slots=True)
class _Found:
    """What was measured, part by part."""

    counts: list[UnitError]
    windows: list[WindowError]
    events: list[EventScore]
    trees: list[TreeError]

    def remarks(self) -> tuple[str, ...]:
        counted = unit_remarks(self.counts), window_remarks(self.windows), event_remarks(self.events)
        return tuple(remark for part in (*counted, tree_remarks(self.trees)) for remark in part)


@click.command()
@click.option("--data", metavar="FOLDER", envvar="THRESHER_DATA", help="Public data sets. Default: $THRESHER_DATA.")
@click.option("--part", "parts", type=click.Choice(PARTS), multiple=True, help="Only this; may be given again.")
@click.option("--runs", type=int, default=5, show_default=True, help="How often each stream is released.")
@click.option("--tree-runs", type=int, default=1, show_default=True, help="How often each tree is released.")
@click.option("--steps", type=int, help="So many steps at most. Default: 57,901 if made up, 8,064 if public.")
@click.option("--seed", type=int, help="Repeat a measurement.")
@json_option
def streams(
    *,
    data: str | None,
    parts: tuple[str, ...],
    runs: int,
    tree_runs: int,
    steps: int | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Private streams: errors of counts, windows, events and trees, always beside those of saying 0.

    On made-up access points of the sizes of the dissertation's, beside the numbers of our reference simulation, then
    on the last steps of public streams, where the folder has them, at epsilon 0.1 and 0.01 a step. Trees are measured
    on 6,000 steps if made up, and on 2,016 if public.
    """
    if steps is not None and not _LEAST_STEPS <= steps <= STEPS:
        raise ArgumentError("steps", steps, f"it must be from {_LEAST_STEPS:,} to {STEPS:,}", "Leave it out")
    trials = Trials(runs, SystemEntropy() if seed is None else SeededEntropy(seed))
    of_trees = replace(trials, runs=tree_runs)
    public = public_streams(Path(data) if data else None, steps or 4 * WEEK)
    sets = (loads(steps or STEPS), *public.singles)
    with spinning(quiet=as_json) as progress:
        found = _streams_measured(parts or PARTS, sets, replace(trials, progress=progress))
        if not parts or "trees" in parts:
            trees = (campus(min(steps or STEPS, TREE_STEPS)), *(first(each, WEEK) for each in public.trees))
            for each in trees:
                found.trees.extend(tree_errors(each, replace(of_trees, progress=progress)))
    if as_json:
        document = {
            "private": False,  # errors are counted against the truth
            "runs": runs,
            "tree_runs": tree_runs,
            "steps": steps,
            "seed": seed,
            "epsilons": EPSILONS,
            "sets": [_about(each) for each in sets],
            **{name: [asdict(one) for one in getattr(found, name)] for name in PARTS},
            "left_out": list(public.missing),
            "remarks": list(found.remarks()),
        }
        say(json.dumps(document, indent=2))
        return
    say("\n".join(_page(found, sets, public, (runs, tree_runs))))


def _streams_measured(wanted: Sequence[str], sets: Sequence[StreamSet], trials: Trials) -> _Found:
    """Of public sets, windows and events are those of the busiest series: the page would be endless otherwise."""
    found = _Found([], [], [], [])
    made_up, *public = sets
    if "counts" in wanted:
        found.counts.extend(one for each in sets for one in unit_errors(each, trials))
    if "windows" in wanted:
        found.windows.extend(one for each in (made_up, *map(busiest, public)) for one in window_errors(each, trials))
    if "events" in wanted:
        found.events.extend(event_scores(made_up, EVENTS, trials))
        found.events.extend(one for each in public for one in event_scores(each, SHARES, trials))
    return found


def _page(found: _Found, sets: Sequence[StreamSet], public: PublicStreams, runs: tuple[int, int]) -> list[str]:
    lines = [paragraph(f"Runs of each stream: {runs[0]:,}; of each tree: {runs[1]:,}. {_KEY}")]
    lines += [paragraph("Errors are counted against the truth, which is public here. This is no release."), ""]
    for each in sets:
        spans = ", ".join(
            f"{name} {mean:,.3g}" for name, mean in zip(each.series, each.counts.mean(axis=0), strict=True)
        )
        lines += [paragraph(f"{each.name}: {each.about}, {len(each.counts):,} steps; mean counts: {spans}.", "-", 2)]
    lines += unit_tables(sets, found.counts, EPSILONS)
    lines += window_tables(found.windows) + event_tables(found.events) + tree_tables(found.trees)
    lines += ["", *map(paragraph, public.missing)]
    lines += [paragraph(_GETTING), ""] if public.missing else []
    lines += ["Remarks, from these numbers"]
    return lines + [paragraph(remark, "-", 2) for remark in found.remarks()]


def _about(data: StreamSet) -> dict[str, Any]:
    means = [float(mean) for mean in data.counts.mean(axis=0)]
    return {
        "name": data.name,
        "about": data.about,
        "steps": len(data.counts),
        "means": dict(zip(data.series, means, strict=True)),
    }
