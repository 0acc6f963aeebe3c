"""`thresher demo`: show the tour of the made-up hospital as a page, or as JSON.

Reads: arguments. Writes: standard output; a folder, if one is to be kept. Never: a line of text wider than 78 columns.
"""

import tempfile
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from thresher.audit.testers.confidence import least_probability, most_probability
from thresher.cli.demo_personal import demo_personal
from thresher.cli.demo_stream import demo_stream
from thresher.cli.flags import Choice
from thresher.cli.options import json_option, repeat_option, spinning
from thresher.cli.output import show
from thresher.decisions.look import ReachingLook
from thresher.demo import QUESTION, Tour, tour
from thresher.demo.tour import CONFIDENCE, MECHANISMS, MISS_RATE, REGION, SHARPER_MISS_RATE, SHARPER_REGION
from thresher.errors import ArgumentError
from thresher.guarantee import BELOW, percent
from thresher.noise import SeededEntropy, SystemEntropy
from thresher.pages import Block, Fact, Lines, Page, Span, line
from thresher.pages.answer import LEGEND, level_summary, verdict_summary, verdict_table
from thresher.pages.page import ALARM, SEEDED, SPACE, heading, plain_lines
from thresher.plan import LABEL

TRY = 'thresher ask "SELECT gender FROM patients GROUP BY gender HAVING COUNT(*) > 55000"'
_ELSEWHERE = ("question", "promise")
# The probability beyond each end of a 95 % interval.
_DOUBT = 0.025


@click.group(invoke_without_command=True)
@repeat_option
@click.option("--keep", metavar="FOLDER", help="Keep the hospital and its thresher.toml, to ask questions of your own.")
@click.option(
    "--mechanism",
    type=Choice(MECHANISMS),
    default=MECHANISMS[0],
    show_default=True,
    help="The mechanism that answers.",
)
@json_option
@click.pass_context
def demo(context: click.Context, *, seed: int | None, keep: str | None, mechanism: str, as_json: bool) -> None:
    """Ask a made-up hospital which diseases are frequent among the old or the very young.

    Builds the hospital (110,000 patients, 60 diseases). Shows the price of the question before it is asked, the answer
    beside the truth, the ledger before and after, a repeat that is free, a refusal when the budget cannot pay, and how
    often groups exactly at the threshold are missed.

    `thresher demo stream` replays a made-up day on a campus: a count every five minutes, and two alarms.
    `thresher demo personal` counts people who each have a privacy budget of their own.
    """
    if context.invoked_subcommand is not None:
        if any(context.get_parameter_source(name) is not ParameterSource.DEFAULT for name in context.params):
            raise click.UsageError(f"Write the options of `thresher demo {context.invoked_subcommand}` after its name.")
        return
    entropy = SystemEntropy() if seed is None else SeededEntropy(seed)
    with spinning(quiet=as_json) as progress:
        if keep is None:
            with tempfile.TemporaryDirectory() as folder:
                shown = tour(Path(folder), entropy, mechanism, progress)
        else:
            shown = tour(_empty_folder(keep), entropy, mechanism, progress)
    show(_page(shown, keep), as_json=as_json)


demo.add_command(demo_personal)
demo.add_command(demo_stream)


def _empty_folder(name: str) -> Path:
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = any(folder.iterdir())
    except OSError:
        raise ArgumentError("keep", name, "this folder cannot be made or read", "Name another folder") from None
    if taken:
        raise ArgumentError("keep", name, "the folder is not empty", "Name a new folder")
    return folder


def _page(shown: Tour, keep: str | None) -> Page:
    """Return the whole page; a seeded run says so before and after it."""
    answer = shown.answer
    blocks: list[Block] = [
        heading("The question"),
        plain_lines([*(f"  {text}" for text in QUESTION.splitlines()), ""]),
        heading(f"Its price, before any patient is read (thresher plan{_confidence(shown)})"),
        *(Fact(label or " ", text, LABEL) for label, text in shown.plan.explanation() if label not in _ELSEWHERE),
        SPACE,
        *shown.before.page().blocks,
        SPACE,
        heading("The answer (thresher ask)"),
        verdict_table(answer, extra=_truth_columns(shown)),
        Fact("", LEGEND),
        SPACE,
        Fact("", f"{verdict_summary(answer)}. {_errors(shown)}"),
        SPACE,
        Fact("promise", answer.guarantee.sentence),
        Fact("", "The truth is shown only because this hospital is made up."),
        SPACE,
        *([Fact("levels", level_summary(answer))] if shown.plan.shows_levels else []),
        *shown.after.page().blocks,
        Fact(" ", "What is spent is the largest loss of any one group."),
        SPACE,
        heading("The same question again"),
        Fact("", "This is the stored answer. Asking again is free."),
        *shown.after_again.page().blocks,
        SPACE,
        heading("A sharper question"),
        Fact("", _sharper(shown)),
        Fact("", f"Refused: {shown.refusal}" if shown.refusal else "The budget could pay for it, so it was answered."),
        SPACE,
        heading("Does the promise hold?"),
        Fact("", _measurement(shown)),
    ]
    if keep:
        blocks += [SPACE, Fact("", f"Kept in {keep}: go there and try `{TRY}`")]
    if answer.stamp:
        again = Lines((line(""), line(Span(answer.stamp, ALARM))))
        blocks = [*SEEDED, *blocks, again]
    return Page(tuple(blocks), _document(shown), answer.stamp)


def _confidence(shown: Tour) -> str:
    return f" --confidence {CONFIDENCE}" if isinstance(shown.plan.look, ReachingLook) else ""


def _sharper(shown: Tour) -> str:
    if isinstance(shown.plan.look, ReachingLook):
        return f"The same with a miss rate of {SHARPER_MISS_RATE} in place of {MISS_RATE}."
    return f"The same with {SHARPER_REGION} in place of {REGION}."


def _truth_columns(shown: Tour) -> dict[str, list[str]]:
    # If each group shows its own epsilon, the age does not fit on the line.
    age = {} if len(shown.answer.levels) > 1 else {" age": [f"{truth.mean_age:>4.1f}" for truth in shown.truth]}
    return {
        "patients": [f"{truth.patients:>8,}" for truth in shown.truth],
        **age,
        "truth": ["yes" if truth.qualifies else "no" for truth in shown.truth],
    }


def _errors(shown: Tour) -> str:
    pairs = list(zip(shown.answer.verdicts, shown.truth, strict=True))
    missed = sum(verdict == BELOW and truth.qualifies for verdict, truth in pairs)
    extra = sum(verdict != BELOW and not truth.qualifies for verdict, truth in pairs)
    return f"Missed: {missed}. Reported though they do not qualify: {extra}."


def _measurement(shown: Tour) -> str:
    tried, missed, rate = shown.trials.tried, shown.trials.missed, shown.plan.asked.options.miss_rate
    low, high = (float(bound(missed, tried, _DOUBT)) for bound in (least_probability, most_probability))
    told = (
        f"{missed:,} of {tried:,} groups exactly at the threshold were missed: {100 * missed / tried:.1f} % (95 % "
        f"interval {100 * low:.1f} to {100 * high:.1f} %; promised: at most {percent(rate)})."
    )
    if shown.plan.look.each_group_stops:
        return f"{told} Misses at one measurement are often misses at the next, so fewer are missed in all."
    return told


def _document(shown: Tour) -> dict[str, Any]:
    return {
        "private": not shown.answer.stamp,
        "plan": shown.plan.document(),
        "answer": shown.answer.document(),
        "truth_shown_because_made_up": [
            {"patients": truth.patients, "mean_age": round(truth.mean_age, 2), "qualifies": truth.qualifies}
            for truth in shown.truth
        ],
        "spent": {
            "before": shown.before.spent.to_json(),
            "after": shown.after.spent.to_json(),
            "after_again": shown.after_again.spent.to_json(),
        },
        "repeat_is_equal": shown.again == shown.answer,
        "refusal": shown.refusal,
        "worst_case": {
            "trials": shown.trials.tried,
            "missed": shown.trials.missed,
            "miss_rate": MISS_RATE,
        },
    }
