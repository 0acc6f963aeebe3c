"""`thresher audit`: everything that ships and everything known to be broken on trial; or a mechanism of your own.

Reads: arguments, a module that is named. Writes: standard output, progress on standard error. Never: a verdict.
"""

import json
import math
from collections.abc import Sequence
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
    "claimed is what the ledger charges, or the error rate promised; at least is what was measured, from below, at the"
    " confidence stated (exact where a law was enumerated). A claim is refuted when at least exceeds claimed. That it"
    " stands is no proof: the proofs lie beside the code."
)
_OF_YOURS = "epsilon", "here", "there", "neighbours", "samples", "time_limit"
_OF_OURS = "only", "seed", "processes"
_EXAMPLE = """thresher audit --mechanism mine:noisy_count --epsilon 1 --here '[1,2,3]' --there '[1,2,3,4]'"""


@click.group(invoke_without_command=True, epilog=f"Example: {_EXAMPLE}")
@click.option("--only", metavar="TEXT", help="Try what has this text in its name.")
@click.option("--confidence", default="0.999", show_default=True, help="Of each refutation by itself.")
@click.option("--seed", type=int, help="Repeat an audit: the same draws every time.")
@click.option("--processes", type=click.IntRange(1, 64), help="Default: 2, or the number of processors if less.")
@click.option(
    "--mechanism", metavar="MODULE:FUNCTION", help="Audit this function of your own instead; it gets one input."
)
@click.option("--epsilon", help="What your mechanism claims to lose at most.")
@click.option("--here", metavar="JSON", help="One input of your mechanism.")
@click.option("--there", metavar="JSON", help="Its neighbour: a record more or less, or one more in one cell.")
@click.option("--neighbours", type=Choice(["either", "records", "counts", "any"]), default="either", show_default=True)
@click.option("--samples", type=int, default=20_000, show_default=True, help="Calls of your mechanism on each input.")
@click.option("--time-limit", type=float, default=10.0, show_default=True, help="Seconds that one call of it may take.")
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
    """Try to refute what is claimed: privacy against what the ledger charges, errors against what is promised.

    Every mechanism that ships must stand, and every mechanism known to be broken must be caught: exit code 0 if so, 1
    if not. With --mechanism, a function of your own is called over and over on two neighbouring inputs instead: exit
    code 0 if its claim stands, 1 if it is refuted. Exit code 2: it could not be tried, or an argument was refused.
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
        task = bar.add_task("calling it", total=2 * samples)
        visit = visited(
            mechanism,
            inputs,
            epsilon or "",
            samples=samples,
            time_limit=time_limit,
            neighbours=neighbours,
            confidence=sure,
            progress=lambda done, _: bar.update(task, completed=done),
        )
    _show_visit(visit, mechanism, sure, as_json=as_json)


audit.add_command(attack)


def _check_options(context: click.Context, mechanism: str | None) -> None:
    """An option that would do nothing is refused: whoever gave it expects something of it."""
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
        task = bar.add_task("on trial", total=len(chosen))

        def told(outcome: Outcome) -> None:
            bar.update(task, advance=1, description=f"{outcome.case.name}: {outcome.verdict}")

        outcomes = audited(chosen, seed=seed, confidence=confidence, processes=processes, progress=told)
    show(_page(outcomes, confidence, seed), as_json=as_json)
    if not all(outcome.as_expected for outcome in outcomes):
        raise click.exceptions.Exit(_NOT_AS_IT_SHOULD_BE)


def _chosen(only: str | None) -> tuple[Case, ...]:
    found = tuple(case for case in cases() if only is None or only in case.name)
    if not found:
        raise ArgumentError("only", only, "nothing on trial has this in its name", "Leave it out to see all names")
    return found


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


def _trial(name: str, found: Finding, verdict: str, told: str, *, fine: bool) -> Line:
    """What was claimed, what was measured, and what became of it; what is not as it should be is red."""
    samples = f"{found.samples:,}" if found.samples else "exact"
    shown = Span(verdict, GOOD if fine else ALARM)
    return line(name, _figure(found.claimed), _figure(found.measured), samples, shown, told)


def _figure(number: float) -> str:
    return "infinite" if number == math.inf else f"{number:.3f}"


def _summary(outcomes: Sequence[Outcome], confidence: Fraction) -> str:
    ships = [outcome.as_expected for outcome in outcomes if outcome.case.sound]
    broken = [outcome.as_expected for outcome in outcomes if not outcome.case.sound]
    told = [f"{sum(ships)} of {len(ships)} that ship stand"] if ships else []
    told += [f"{sum(broken)} of {len(broken)} broken ones are caught"] if broken else []
    return f"{', '.join(told)}; each refutation by itself at {_percent(confidence)} confidence."


def _percent(confidence: Fraction) -> str:
    """As many digits as it takes; of what is as good as certain, some."""
    shown = f"{float(100 * confidence):.12g}"
    return "more than 99.999999 %" if shown == "100" else f"{shown} %"


def _row(outcome: Outcome) -> Line:
    found = outcome.finding
    if found is None:
        return line(outcome.case.name, "-", "-", "-", Span(outcome.verdict, ALARM), outcome.failure)
    told = f"{found.where}; {found.event}"
    return _trial(found.name, found, outcome.verdict, told, fine=outcome.as_expected)


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


def _finding(found: Finding | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "about": found.about,
        "kind": found.kind,
        "claimed": found.claimed,
        "measured": found.measured if math.isfinite(found.measured) else "infinite",
        "samples": found.samples,
        "where": found.where,
        "event": found.event,
        "refuted": found.refuted,
    }


def _show_visit(visit: Visit, mechanism: str, confidence: Fraction, *, as_json: bool) -> None:
    found = visit.finding
    verdict = "not tried" if found is None else "REFUTED" if found.refuted else "stands"
    document = {
        "mechanism": mechanism,
        "confidence": float(confidence),
        "verdict": verdict.lower(),
        "failure": visit.failure or None,
        "note": visit.note or None,
        "runs_that_raised": {"here": visit.raised[0], "there": visit.raised[1]},
        "finding": _finding(found),
    }
    if found is None:
        blocks: list[Block] = [Fact("", f"{mechanism} could not be tried: {visit.failure}.")]
    else:
        told = f"{found.event}, at {_percent(confidence)} confidence"
        blocks = _trials("Your mechanism", [_trial(mechanism, found, verdict, told, fine=not found.refuted)])
        if any(visit.raised):
            raised = f"It raised in {visit.raised[0]:,} and {visit.raised[1]:,} runs; that counts as output."
            blocks += [SPACE, Fact("", raised)]
        if visit.note:
            blocks += [SPACE, Fact("", f"{visit.note}.")]
        if not found.refuted:
            unproven = "That it stands is no proof: other inputs, or more samples, may tell more."
            blocks += [SPACE, Fact("", unproven)]
    show(Page(tuple(blocks), document), as_json=as_json)
    if found is None or found.refuted:
        raise click.exceptions.Exit(_UNFIT if found is None else _NOT_AS_IT_SHOULD_BE)


def _parsed(text: str, field: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise ArgumentError(field, text, "it must be JSON", "Write e.g. '[1, 2, 3]' in quotes") from None


def _progress(*, quiet: bool) -> Progress:
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal)
