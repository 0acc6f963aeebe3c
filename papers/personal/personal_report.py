"""Run `python -m papers personal`: shares, samples by threshold, leaning estimates and models, by every method.

Reads: arguments, a folder of public data. Writes: standard output. Never: a line wider than 78 columns.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import click

from papers.personal.personal_counts import CountError, Lean, SweepError, count_errors, leans, sweep_errors
from papers.personal.personal_data import (
    LAWS,
    LEARNT_PEOPLE,
    PEOPLE,
    Asked,
    Labelled,
    correlated,
    made_up,
    made_up_labels,
)
from papers.personal.personal_files import censuses
from papers.personal.personal_methods import Trials
from papers.personal.personal_models import CHANGED, WAYS, ModelScore, ModelSweep, model_scores, model_sweep
from papers.personal.personal_remarks import count_remarks, lean_remarks, model_remarks, sweep_remarks
from papers.personal.personal_tables import count_tables, lean_table, model_sweep_tables, model_tables, sweep_tables
from papers.report import Report, Request, report_command
from thresher.errors import ArgumentError
from thresher.views.text import paragraph

PARTS = ("counts", "sweep", "lean", "models")
_LEAST_PEOPLE = 100
_FEW_ATTRIBUTES = 2
_KEY = (
    "weighted: people count in proportion to their budgets, up to a cap. sampling: people are drawn by their budgets,"
    " up to a threshold. parts: people of like budgets together, each part at its least budget, put together by"
    " precision or summed; by precision, by noise alone (parts that estimate best), by waste (parts that waste least)."
    " threshold: those above it. exponential: a count chosen by what it costs to change. minimum: all at the least"
    " budget. all zero: the answer is always 0. foretold: the standard deviation for questions that half of the people"
    " answer with yes; for rare answers, one in a hundred."
)
_MODELS = (
    "Models: ridge 0.001, four fifths learnt from, the rest tested on. output and objective perturbation for people who"
    " come or go; changed: objective perturbation for people who change, as in the literature."
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


@report_command(25, "How often each question is answered.")
@click.option("--part", "parts", type=click.Choice(PARTS), multiple=True, help="Only this; may be given again.")
@click.option("--model-runs", type=int, default=4, show_default=True, help="How often each model is learnt.")
@click.option("--people", type=int, help="So many made-up people. Default: 100,000, and 50,000 to learn from.")
def personal(asked: Request, parts: tuple[str, ...], model_runs: int, people: int | None) -> Report:
    """Personal budgets: errors of shares and of models by every method, and of the answer 0.

    Made-up people have budgets of two laws; the numbers of our reference simulation are beside theirs. On census data,
    if the folder has them, questions are random ranges over all attributes and over two. Budgets are made up there too.
    """
    if people is not None and not _LEAST_PEOPLE <= people <= PEOPLE:
        raise ArgumentError("people", people, f"it must be from {_LEAST_PEOPLE:,} to {PEOPLE:,}", "Leave it out")
    trials = Trials(asked.runs, asked.entropy, progress=asked.progress)
    of_models = replace(trials, runs=model_runs)
    public = censuses(asked.data)
    sets = (made_up(people or PEOPLE), *(each.asked(few) for each in public.found for few in (None, _FEW_ATTRIBUTES)))
    most = min(people or PEOPLE, LEARNT_PEOPLE)
    labelled = (made_up_labels(most), *(each.labelled(most) for each in public.found))
    found = _measured(parts or PARTS, sets, labelled, trials, of_models)
    document = {
        "runs": asked.runs,
        "model_runs": model_runs,
        "people": people,
        "seed": asked.seed,
        "laws": {law.name: law.about for law in LAWS.values()},
        "sets": [_about(each) for each in sets],
        "learnt": [{"name": each.name, "about": each.about, "people": len(each.labels)} for each in labelled],
        **asdict(found),
    }
    about = f"Runs of each question: {asked.runs:,}; of each model: {model_runs:,}. {_KEY}"
    tables = _tables(found, sets, labelled)
    return Report(about, tables, public.missing, found.remarks(), document)


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


def _tables(found: _Found, asked: Sequence[Asked], labelled: Sequence[Labelled]) -> list[str]:
    lines = [paragraph(_MODELS)] if found.models else []
    lines += ["", *(paragraph(f"{law.name}: budgets from {law.about}.", "-", 2) for law in LAWS.values())]
    for each in asked:
        shares = f"{each.people:,} people; true shares {each.shares.min():.3g} to {each.shares.max():.3g}"
        lines += [paragraph(f"{each.name}: {each.about}; {shares}, mean {each.shares.mean():.3g}.", "-", 2)]
    if found.models:
        lines += [
            paragraph(f"{each.name}, models: {each.about}; {len(each.labels):,} people.", "-", 2) for each in labelled
        ]
    lines += count_tables(found.counts) + sweep_tables(found.sweep) + lean_table(found.lean)
    return lines + model_tables(found.models) + model_sweep_tables(found.model_sweep)


def _about(data: Asked) -> dict[str, Any]:
    return {"name": data.name, "about": data.about, "people": data.people, "shares": data.shares.tolist()}
