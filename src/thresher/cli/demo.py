"""`thresher demo`: the tour of the made-up hospital as a page, or as JSON; `thresher demo stream` is another.

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
from thresher.cli.options import json_option, spinning
from thresher.cli.output import show
from thresher.decisions.look import ReachingLook
from thresher.demo import QUESTION, Tour, tour
from thresher.demo.tour import MECHANISMS, MISS_RATE, REGION, SHARPER_MISS_RATE, SHARPER_REGION
from thresher.errors import ArgumentError
from thresher.guarantee import BELOW, percent
from thresher.noise import SeededEntropy, SystemEntropy
from thresher.pages import Block, Fact, Lines, Page, Span, line
from thresher.pages.answer import level_summary, verdict_summary, verdict_table
from thresher.pages.page import ALARM, SEEDED, SPACE, heading, plain_lines
from thresher.plan import LABEL

TRY = 'thresher ask "SELECT gender FROM patients GROUP BY gender HAVING COUNT(*) > 55000"'
_ELSEWHERE = ("question", "understood", "promise")
# Of each end of a 95 % interval.
_DOUBT = 0.025


@click.group(invoke_without_command=True)
@click.option("--seed", type=int, help="Repeat a run. Whoever knows the seed can remove the noise: NOT PRIVATE.")
@click.option("--keep", metavar="FOLDER", help="Keep the hospital and its thresher.toml, to ask questions of your own.")
@click.option(
    "--mechanism",
    type=Choice(MECHANISMS),
    default=MECHANISMS[0],
    show_default=True,
    help="By which mechanism to ask.",
)
@json_option
@click.pass_context
def demo(context: click.Context, *, seed: int | None, keep: str | None, mechanism: str, as_json: bool) -> None:
    """Decide which viral diseases are prevalent among the old or the very young, in a made-up hospital.

    Builds the hospital (110,000 patients, 60 diseases), shows the price of the question before it is asked, the answer
    beside the truth, the ledger before and after, a repeat that is free, a refusal when the budget is out, and how
    often the worst case is missed.

    `thresher demo stream` replays a made-up day on a campus instead: counts of every five minutes, and two alarms.
    `thresher demo personal` counts people who each have a privacy budget of their own.
    """
    if context.invoked_subcommand is not None:
        if any(context.get_parameter_source(name) is not ParameterSource.DEFAULT for name in context.params):
            raise click.UsageError(f"Options of `thresher demo {context.invoked_subcommand}` stand behind its name.")
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
        raise ArgumentError("keep", name, "no folder can be made there", "Name another one") from None
    if taken:
        raise ArgumentError("keep", name, "the folder is not empty", "Name one that is not there yet")
    return folder


def _page(shown: Tour, keep: str | None) -> Page:
    """The whole page; what it says of itself stands before and after it."""
    answer = shown.answer
    blocks: list[Block] = [
        heading("The question"),
        plain_lines([*(f"  {text}" for text in QUESTION.splitlines()), ""]),
        heading("Its price, before any patient is read (thresher plan)"),
        *(Fact(label or " ", text, LABEL) for label, text in shown.plan.explanation() if label not in _ELSEWHERE),
        SPACE,
        *shown.before.page().blocks,
        SPACE,
        heading("The answer (thresher ask)"),
        verdict_table(answer, extra=_truth_columns(shown)),
        SPACE,
        Fact("", f"{verdict_summary(answer)}. {_errors(shown)}"),
        SPACE,
        Fact("promise", answer.guarantee.sentence),
        Fact("", "The truth is shown only because this hospital is made up."),
        SPACE,
        *([Fact("levels", level_summary(answer))] if shown.plan.shows_levels else []),
        *shown.after.page().blocks,
        Fact(" ", "spent is the most that any one group has lost"),
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


def _sharper(shown: Tour) -> str:
    if isinstance(shown.plan.look, ReachingLook):
        return f"The same with a miss rate of {SHARPER_MISS_RATE} in place of {MISS_RATE}."
    return f"The same with {SHARPER_REGION} in place of {REGION}."


def _truth_columns(shown: Tour) -> dict[str, list[str]]:
    # Where every group has an epsilon of its own, there is no room for the age.
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
        f"{missed:,} of {tried:,} groups exactly at the threshold were missed: {missed / tried:.1%} (95 % interval "
        f"{low:.1%} to {high:.1%}; promised: at most {percent(rate)})."
    )
    if shown.plan.look.each_group_stops:
        return f"{told} Misses at one measurement are often misses at the next, so that fewer are seen."
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
