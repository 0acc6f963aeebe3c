"""Run `thresher audit`: try all mechanisms that ship and all that are known to be broken, or one of your own.

Reads: arguments, the named module. Writes: standard output, progress on standard error. Never: decides a verdict.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from thresher.audit.foreign.neighbours import Notion
from thresher.audit.foreign.visitor import Visit, visited
from thresher.audit.session import Case, Outcome, audited, cases
from thresher.audit.subjects import KINDS, Finding
from thresher.cli.audit_attack import attack
from thresher.cli.flags import Choice
from thresher.cli.options import json_option
from thresher.cli.output import show
from thresher.errors import ArgumentError
from thresher.noise.arguments import checked_confidence
from thresher.pages import Block, Fact, Line, Page, Span, Table, line
from thresher.pages.page import ALARM, GOOD, SPACE, heading

_NOT_AS_IT_SHOULD_BE = 1
_UNFIT = 2
_READING = (
    "claimed: what the ledger charges, or the error rate that is promised. at least: a lower bound of the real value,"
    " at the stated confidence (the exact value where the output law is known). A claim is refuted if at least exceeds"
    " claimed. A claim that stands is not proved; the proofs lie beside the code."
)
_OF_YOURS = "epsilon", "here", "there", "neighbours", "samples", "time_limit"
_OF_OURS = "only", "seed", "processes"
_EXAMPLE = """thresher audit --mechanism mine:noisy_count --epsilon 1 --here '[1,2,3]' --there '[1,2,3,4]'"""


@click.group(invoke_without_command=True, epilog=f"Example: {_EXAMPLE}")
@click.option("--only", metavar="TEXT", help="Try the mechanisms with this text in their name.")
@click.option("--confidence", default="0.999", show_default=True, help="Confidence of each refutation by itself.")
@click.option("--seed", type=int, help="Make an audit repeatable: the same draws each time.")
@click.option(
    "--processes",
    metavar="NUMBER",
    type=click.IntRange(1, 64),
    help="How many processes try mechanisms at once. Default: 2, or the number of processors if less.",
)
@click.option(
    "--mechanism", metavar="MODULE:FUNCTION", help="Audit this function of yours instead. It takes one input."
)
@click.option("--epsilon", help="The most epsilon that your mechanism claims to cost.")
@click.option("--here", metavar="JSON", help="One input of your mechanism.")
@click.option("--there", metavar="JSON", help="Its neighbour: one record more or less, or one cell that differs by 1.")
@click.option(
    "--neighbours",
    type=Choice(["either", "records", "counts", "any"]),
    default="either",
    show_default=True,
    help="How the inputs must differ: by a record, by 1 in one cell, by either; any: they are not checked.",
)
@click.option("--samples", type=int, default=20_000, show_default=True, help="Calls of your mechanism on each input.")
@click.option("--time-limit", type=float, default=10.0, show_default=True, help="Seconds that one call may take.")
@json_option
@click.pass_context
def audit(
    context: click.Context,
    *,
    only: str | None,
    confidence: str,
    seed: int | None,
    processes: int | None,
    mechanism: str | None,
    epsilon: str | None,
    here: str | None,
    there: str | None,
    neighbours: Notion,
    samples: int,
    time_limit: float,
    as_json: bool,
) -> None:
    """Try to refute all claims: privacy against what the ledger charges, error rates against what is promised.

    Each mechanism that ships must stand, and each mechanism known to be broken must be caught: exit code 0 if so, 1 if
    not. With --mechanism, a function of yours is called many times on two neighbouring inputs instead: exit code 0 if
    its claim stands, 1 if it is refuted. Exit code 2: it could not be tried, or an argument was refused.
    """
    _check_options(context, mechanism)
    if context.invoked_subcommand is not None:
        return
    sure = checked_confidence(confidence)
    if mechanism is None:
        _audit_everything(_chosen(only), sure, seed, processes, as_json=as_json)
        return
    needed = {"--epsilon": epsilon, "--here": here, "--there": there}
    for flag, value in needed.items():
        if value is None:
            raise click.UsageError(f"--mechanism needs {flag}. For example: {_EXAMPLE}")
    inputs = _parsed(here or "", "here"), _parsed(there or "", "there")
    with _progress(quiet=as_json) as bar:
        task = bar.add_task("calls", total=2 * samples)
        visit = visited(
            mechanism,
            inputs,
            epsilon or "",
            samples=samples,
            time_limit=time_limit,
            neighbours=neighbours,
            confidence=sure,
            progress=lambda done: bar.update(task, completed=done),
        )
    _show_visit(visit, mechanism, sure, as_json=as_json)


audit.add_command(attack)


def _check_options(context: click.Context, mechanism: str | None) -> None:
    """Refuse an option that would have no effect, because whoever passed it expects one."""
    flags = {str(option.name): option.opts[0] for option in context.command.params}
    given = [name for name in flags if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE]
    if context.invoked_subcommand is not None:
        idle, why = given, f"write the options of {context.invoked_subcommand} after it"
    elif mechanism is None:
        idle, why = [name for name in given if name in _OF_YOURS], f"it needs --mechanism. For example: {_EXAMPLE}"
    else:
        idle, why = [name for name in given if name in _OF_OURS], "it does nothing with --mechanism. Leave it out"
    if idle:
        raise click.UsageError(f"{flags[idle[0]]} is refused: {why}")


def _audit_everything(
    chosen: Sequence[Case], confidence: Fraction, seed: int | None, processes: int | None, *, as_json: bool
) -> None:
    with _progress(quiet=as_json) as bar:
        task = bar.add_task("trials", total=len(chosen))

        def show_progress(outcome: Outcome) -> None:
            bar.update(task, advance=1, description=f"{outcome.case.name}: {outcome.verdict}")

        outcomes = audited(chosen, seed=seed, confidence=confidence, processes=processes, progress=show_progress)
    show(_page(outcomes, confidence, seed), as_json=as_json)
    if not all(outcome.as_expected for outcome in outcomes):
        raise click.exceptions.Exit(_NOT_AS_IT_SHOULD_BE)


def _chosen(only: str | None) -> tuple[Case, ...]:
    chosen = tuple(case for case in cases() if only is None or only in case.name)
    if not chosen:
        rule = "no mechanism on trial has this text in its name"
        raise ArgumentError("only", only, rule, "Use part of a name in docs/audit.md, such as broken_prune, or median")
    return chosen


def _page(outcomes: Sequence[Outcome], confidence: Fraction, seed: int | None) -> Page:
    blocks: list[Block] = [Fact("", _READING), SPACE]
    for sound, title in ((True, "What ships: must stand"), (False, "Known to be broken: must be caught")):
        rows = [_row(outcome) for outcome in outcomes if outcome.case.sound == sound]
        if rows:
            blocks += [*_trials(title, rows), SPACE]
    blocks.append(Fact("", _summary(outcomes, confidence)))
    return Page(tuple(blocks), _document(outcomes, confidence, seed))


def _trials(title: str, rows: Sequence[Line]) -> list[Block]:
    headings = ("name", "claimed", "at least", "samples", "verdict", "told by")
    return [heading(title), Table(headings, tuple(rows), (1, 2, 3), folds=True)]


def _trial(name: str, finding: Finding, verdict: str, told: str, *, fine: bool) -> Line:
    """Return the row of one trial. A verdict that is not as it should be is red."""
    samples = f"{finding.samples:,}" if finding.samples else "exact"
    shown = Span(verdict, GOOD if fine else ALARM)
    return line(name, _figure(finding.claimed), _figure(finding.measured), samples, shown, told)


def _figure(number: float) -> str:
    return "infinite" if number == math.inf else f"{number:.3f}"


def _summary(outcomes: Sequence[Outcome], confidence: Fraction) -> str:
    ships = [outcome.as_expected for outcome in outcomes if outcome.case.sound]
    broken = [outcome.as_expected for outcome in outcomes if not outcome.case.sound]
    parts = [f"{sum(ships)} of {len(ships)} that ship stand"] if ships else []
    parts += [f"{sum(broken)} of {len(broken)} broken ones are caught"] if broken else []
    return f"{', '.join(parts)}; each refutation by itself at {_percent(confidence)} confidence."


def _percent(confidence: Fraction) -> str:
    """Return a percentage with all its digits, except for one that rounds to 100."""
    shown = f"{float(100 * confidence):.12g}"
    return "more than 99.999999 %" if shown == "100" else f"{shown} %"


def _row(outcome: Outcome) -> Line:
    finding = outcome.finding
    if finding is None:
        return line(outcome.case.name, "-", "-", "-", Span(outcome.verdict, ALARM), outcome.failure)
    told = f"{finding.where}; {finding.event}"
    return _trial(finding.name, finding, outcome.verdict, told, fine=outcome.as_expected)


def _document(outcomes: Sequence[Outcome], confidence: Fraction, seed: int | None) -> dict[str, Any]:
    return {
        "confidence": float(confidence),
        "seed": seed,
        "as_expected": all(outcome.as_expected for outcome in outcomes),
        "kinds": KINDS,
        "trials": [
            {
                "name": outcome.case.name,
                "ships": outcome.case.sound,
                "verdict": outcome.verdict.lower(),
                "as_expected": outcome.as_expected,
                "seconds": round(outcome.seconds, 3),
                "failure": outcome.failure or None,
                "finding": _finding(outcome.finding),
            }
            for outcome in outcomes
        ],
    }


def _finding(finding: Finding | None) -> dict[str, Any] | None:
    if finding is None:
        return None
    facts = {name: value for name, value in asdict(finding).items() if name != "name"}
    if not math.isfinite(finding.measured):
        facts["measured"] = "infinite"
    return {**facts, "refuted": finding.refuted}


def _show_visit(visit: Visit, mechanism: str, confidence: Fraction, *, as_json: bool) -> None:
    finding = visit.finding
    verdict = "not tried" if finding is None else "REFUTED" if finding.refuted else "stands"
    document = {
        "mechanism": mechanism,
        "confidence": float(confidence),
        "verdict": verdict.lower(),
        "failure": visit.failure or None,
        "note": visit.note or None,
        "runs_that_raised": {"here": visit.raised[0], "there": visit.raised[1]},
        "finding": _finding(finding),
    }
    if finding is None:
        blocks: list[Block] = [Fact("", f"{mechanism} could not be tried: {visit.failure}.")]
    else:
        told = f"{finding.event}, at {_percent(confidence)} confidence"
        blocks = _trials("Your mechanism", [_trial(mechanism, finding, verdict, told, fine=not finding.refuted)])
        if any(visit.raised):
            raised = (
                f"It raised in {visit.raised[0]:,} runs on here, {visit.raised[1]:,} on there. An error is an output."
            )
            blocks += [SPACE, Fact("", raised)]
        if visit.note:
            blocks += [SPACE, Fact("", f"{visit.note}.")]
        if not finding.refuted:
            unproven = "The claim stands, but that is not a proof: other inputs or more samples may refute it."
            blocks += [SPACE, Fact("", unproven)]
    show(Page(tuple(blocks), document), as_json=as_json)
    if finding is None or finding.refuted:
        raise click.exceptions.Exit(_UNFIT if finding is None else _NOT_AS_IT_SHOULD_BE)


def _parsed(text: str, field: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise ArgumentError(field, text, "it must be JSON", "Pass '[1, 2, 3]' in quotes, for example") from None


def _progress(*, quiet: bool) -> Progress:
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal)
