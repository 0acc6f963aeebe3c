"""`thresher reproduce personal`: shares, samples by threshold, leaning estimates and models, by every personal method.

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
from thresher.cli.personal_tables import count_tables, lean_table, model_sweep_tables, model_tables, sweep_tables
from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy, SystemEntropy
from thresher.reproduce.personal_counts import CountError, Lean, SweepError, count_errors, leans, sweep_errors
from thresher.reproduce.personal_data import (
    LAWS,
    LEARNT_PEOPLE,
    PEOPLE,
    Asked,
    Labelled,
    correlated,
    made_up,
    made_up_labels,
)
from thresher.reproduce.personal_files import Censuses, censuses
from thresher.reproduce.personal_methods import Trials
from thresher.reproduce.personal_models import CHANGED, WAYS, ModelScore, ModelSweep, model_scores, model_sweep
from thresher.reproduce.personal_remarks import count_remarks, lean_remarks, model_remarks, sweep_remarks
from thresher.views.text import paragraph

PARTS = ("counts", "sweep", "lean", "models")
_LEAST_PEOPLE = 100
_FEW_ATTRIBUTES = 2
_KEY = (
    "weighted: people count in proportion to their budgets, up to a cap. sampling: people are drawn by their budgets,"
    " up to a threshold. parts: people of like budgets together, each part at its least budget, put together by"
    " precision or summed; by precision, by noise alone (parts that estimate best), by waste (parts that waste least)."
    " threshold: those above it. exponential: a count chosen by what it costs to change. minimum: all at the least"
    " budget. all zero: the answer is 0, always. foretold: the standard deviation for questions that half say yes to;"
    " for rare answers, one in a hundred."
)
_MODELS = (
    "Models: ridge 0.001, four fifths learnt from, the rest tested on. output and objective perturbation for people who"
    " come or go; changed: objective perturbation for people who change, as in the literature."
)
_GETTING = (
    "Name the folder with --data or THRESHER_DATA. docs/reproduce.md says which columns the files need and where the"
    " data were published."
)


@dataclass(frozen=True, slots=True)
class _Found:
    """What was measured, part by part."""

    counts: list[CountError]
    sweep: list[SweepError]
    lean: list[Lean]
    models: list[ModelScore]
    model_sweep: list[ModelSweep]

    def remarks(self) -> tuple[str, ...]:
        counted = count_remarks(self.counts), sweep_remarks(self.sweep, self.counts), lean_remarks(self.lean)
        return tuple(remark for part in (*counted, model_remarks(self.models, self.model_sweep)) for remark in part)


@click.command()
@click.option("--data", metavar="FOLDER", envvar="THRESHER_DATA", help="Public data sets. Default: $THRESHER_DATA.")
@click.option("--part", "parts", type=click.Choice(PARTS), multiple=True, help="Only this; may be given again.")
@click.option("--runs", type=int, default=25, show_default=True, help="How often each question is answered.")
@click.option("--model-runs", type=int, default=4, show_default=True, help="How often each model is learnt.")
@click.option("--people", type=int, help="So many made-up people. Default: 100,000, and 50,000 to learn from.")
@click.option("--seed", type=int, help="Repeat a measurement.")
@json_option
def personal(
    *,
    data: str | None,
    parts: tuple[str, ...],
    runs: int,
    model_runs: int,
    people: int | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Budgets of one's own: errors of shares and of models by every method, beside those of saying 0.

    On made-up people with budgets by two laws, beside the numbers of our reference simulation; on census data where the
    folder has them, with random range questions over all attributes and over two. Budgets there are made up as well.
    """
    if people is not None and not _LEAST_PEOPLE <= people <= PEOPLE:
        raise ArgumentError("people", people, f"it must be from {_LEAST_PEOPLE:,} to {PEOPLE:,}", "Leave it out")
    entropy = SystemEntropy() if seed is None else SeededEntropy(seed)
    trials, of_models = Trials(runs, entropy), Trials(model_runs, entropy)
    public = censuses(Path(data) if data else None)
    asked = (made_up(people or PEOPLE), *(each.asked(few) for each in public.found for few in (None, _FEW_ATTRIBUTES)))
    most = min(people or PEOPLE, LEARNT_PEOPLE)
    labelled = (made_up_labels(most), *(each.labelled(most) for each in public.found))
    with spinning(quiet=as_json) as progress:
        shown = (replace(each, progress=progress) for each in (trials, of_models))
        found = _measured(parts or PARTS, asked, labelled, *shown)
    if as_json:
        document = {
            "private": False,  # errors are counted against the truth
            "runs": runs,
            "model_runs": model_runs,
            "people": people,
            "seed": seed,
            "laws": {law.name: law.about for law in LAWS.values()},
            "sets": [_about(each) for each in asked],
            "learnt": [{"name": each.name, "about": each.about, "people": len(each.labels)} for each in labelled],
            **asdict(found),
            "left_out": list(public.missing),
            "remarks": list(found.remarks()),
        }
        say(json.dumps(document, indent=2))
        return
    say("\n".join(_page(found, asked, labelled, public, (runs, model_runs))))


def _measured(
    wanted: Sequence[str], asked: Sequence[Asked], labelled: Sequence[Labelled], trials: Trials, of_models: Trials
) -> _Found:
    found = _Found([], [], [], [], [])
    for law in LAWS.values():
        if "counts" in wanted:
            found.counts.extend(one for each in asked for one in count_errors(each, law, trials))
        if "sweep" in wanted:
            found.sweep.extend(one for each in asked for one in sweep_errors(each, law, trials))
        if "models" in wanted:
            for each in labelled:
                ways = (*WAYS, CHANGED) if each is labelled[0] else WAYS
                found.models.extend(model_scores(each, law, of_models, ways))
                found.model_sweep.extend(model_sweep(each, law, of_models))
    if "lean" in wanted:
        found.lean.extend(leans(*correlated(asked[0].people), trials))
    return found


def _page(
    found: _Found, asked: Sequence[Asked], labelled: Sequence[Labelled], public: Censuses, runs: tuple[int, int]
) -> list[str]:
    lines = [paragraph(f"Runs of each question: {runs[0]:,}; of each model: {runs[1]:,}. {_KEY}")]
    lines += [paragraph(_MODELS)] if found.models else []
    lines += [paragraph("Errors are counted against the truth, which is public here. This is no release."), ""]
    lines += [paragraph(f"{law.name}: budgets from {law.about}.", "-", 2) for law in LAWS.values()]
    for each in asked:
        shares = f"{each.people:,} people; true shares {each.shares.min():.3g} to {each.shares.max():.3g}"
        lines += [paragraph(f"{each.name}: {each.about}; {shares}, mean {each.shares.mean():.3g}.", "-", 2)]
    if found.models:
        lines += [
            paragraph(f"{each.name}, models: {each.about}; {len(each.labels):,} people.", "-", 2) for each in labelled
        ]
    lines += count_tables(found.counts) + sweep_tables(found.sweep) + lean_table(found.lean)
    lines += model_tables(found.models) + model_sweep_tables(found.model_sweep)
    lines += ["", *map(paragraph, public.missing)]
    lines += [paragraph(_GETTING), ""] if public.missing else []
    lines += ["Remarks, from these numbers"]
    return lines + [paragraph(remark, "-", 2) for remark in found.remarks()]


def _about(data: Asked) -> dict[str, Any]:
    return {"name": data.name, "about": data.about, "people": data.people, "shares": data.shares.tolist()}
