"""Run `python -m papers streams`: counts, windows, events and trees of streams by epsilon, with known numbers.

Reads: arguments, a folder of public data. Writes: standard output. Never: a line wider than 78 columns.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import click

from papers.report import Report, Request, report_command
from papers.streams.stream_counts import UnitError, unit_errors
from papers.streams.stream_data import STEPS, WEEK, StreamSet, busiest, campus, first, loads
from papers.streams.stream_draws import EPSILONS, Trials
from papers.streams.stream_files import public_streams
from papers.streams.stream_monitors import EVENTS, SHARES, EventScore, event_scores
from papers.streams.stream_remarks import event_remarks, tree_remarks, unit_remarks, window_remarks
from papers.streams.stream_tables import event_tables, tree_tables, unit_tables, window_tables
from papers.streams.stream_trees import TREE_STEPS, TreeError, tree_errors
from papers.streams.stream_windows import WindowError, window_errors
from thresher.errors import ArgumentError
from thresher.views.text import paragraph

PARTS = ("counts", "windows", "events", "trees")
_LEAST_STEPS = 100
_KEY = (
    "all zero: the answer is always 0. laplace: noise at each step. backward: its mean over that many steps. adaptive:"
    " its mean over as many steps as agree, at 2 or 3 standard deviations. pegasus: groups of steps whose deviation is"
    " below 5 (as printed) or 60 over epsilon of the groups, and the median of a group; average, james-stein: other"
    " estimates of its middle; one-sided: other noise for the groups."
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


@report_command(5, "How often each stream is released.")
@click.option("--part", "parts", type=click.Choice(PARTS), multiple=True, help="Only this; may be given again.")
@click.option("--tree-runs", type=int, default=1, show_default=True, help="How often each tree is released.")
@click.option("--steps", type=int, help="The most steps. Default: 57,901 if made up, 8,064 if public.")
def streams(asked: Request, parts: tuple[str, ...], tree_runs: int, steps: int | None) -> Report:
    """Private streams: errors of counts, windows, events and trees, with those of the answer 0.

    Each is measured at epsilon 0.1 and 0.01 a step: on made-up access points of the dissertation's sizes, with the
    numbers of our reference simulation, then on the last steps of public streams, if the folder has them. Trees are
    measured on 6,000 steps of made-up and 2,016 steps of public streams.
    """
    if steps is not None and not _LEAST_STEPS <= steps <= STEPS:
        raise ArgumentError("steps", steps, f"it must be from {_LEAST_STEPS:,} to {STEPS:,}", "Leave it out")
    trials = Trials(asked.runs, asked.entropy, progress=asked.progress)
    of_trees = replace(trials, runs=tree_runs)
    public = public_streams(asked.data, steps or 4 * WEEK)
    sets = (loads(steps or STEPS), *public.singles)
    found = _streams_measured(parts or PARTS, sets, trials)
    if not parts or "trees" in parts:
        trees = (campus(min(steps or STEPS, TREE_STEPS)), *(first(each, WEEK) for each in public.trees))
        found.trees.extend(one for each in trees for one in tree_errors(each, of_trees))
    document = {
        "runs": asked.runs,
        "tree_runs": tree_runs,
        "steps": steps,
        "seed": asked.seed,
        "epsilons": EPSILONS,
        "sets": [_about(each) for each in sets],
        **{name: [asdict(one) for one in getattr(found, name)] for name in PARTS},
    }
    about = f"Runs of each stream: {asked.runs:,}; of each tree: {tree_runs:,}. {_KEY}"
    return Report(about, _tables(found, sets), public.missing, found.remarks(), document)


def _streams_measured(wanted: Sequence[str], sets: Sequence[StreamSet], trials: Trials) -> _Found:
    """Measure the wanted parts; windows and events of public sets only for the busiest series, to limit the page."""
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


def _tables(found: _Found, sets: Sequence[StreamSet]) -> list[str]:
    lines = [""]
    for each in sets:
        spans = ", ".join(
            f"{name} {mean:,.3g}" for name, mean in zip(each.series, each.counts.mean(axis=0), strict=True)
        )
        lines += [paragraph(f"{each.name}: {each.about}, {len(each.counts):,} steps; mean counts: {spans}.", "-", 2)]
    lines += unit_tables(sets, found.counts, EPSILONS)
    return lines + window_tables(found.windows) + event_tables(found.events) + tree_tables(found.trees)


def _about(data: StreamSet) -> dict[str, Any]:
    means = [float(mean) for mean in data.counts.mean(axis=0)]
    return {
        "name": data.name,
        "about": data.about,
        "steps": len(data.counts),
        "means": dict(zip(data.series, means, strict=True)),
    }
