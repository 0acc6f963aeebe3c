"""`thresher plan` and `thresher ask`: the price before paying, then the answer with its promise.

Reads: arguments, declarations. Writes: standard output; the ledger, through the engine. Never: charges unasked.
"""

import json
import sys

import click
from rich.console import RenderableType

import thresher
from thresher.cli.options import config_option, json_option, question_text, spinning, wish_options, wishes
from thresher.cli.output import drawn, say
from thresher.engine import Engine
from thresher.errors import ArgumentError
from thresher.guarantee import MISSES
from thresher.ledger import Balance
from thresher.plan import Plan, Released
from thresher.release import ABOVE, BELOW, Release
from thresher.views import budget_bar, inert, level_summary, paragraph, verdict_summary, verdict_table

LABEL = 12


@click.command("plan")
@click.argument("sql")
@config_option
@wish_options
@json_option
@click.pass_context
def plan_command(
    context: click.Context,
    *,
    sql: str,
    config: str,
    as_json: bool,
) -> None:
    """EXPLAIN PRIVACY: what a question would read, cost and promise. Spends nothing, reads no private row.

    SQL is the question, @FILE to read it from a file, or - for standard input:

    \b
      thresher plan "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 120" --uncertain-region 10
    """  # noqa: D301 - click reads the backslash
    with thresher.open(config) as engine:
        plan = engine.plan(question_text(sql), **wishes(context))
        say(json.dumps(plan.document(), indent=2) if as_json else explanation(str(plan)))


@click.command("ask")
@click.argument("sql")
@config_option
@wish_options
@click.option("--key", help="A name for this answer. The same key gives it again; a new key buys a fresh one.")
@click.option("--yes", "-y", is_flag=True, help="Pay without being asked.")
@click.option("--all", "every", is_flag=True, help="List groups that are not reported as well.")
@click.option("--analyst", default="", help="On whose behalf, if the curator gives budgets to analysts.")
@json_option
@click.pass_context
def ask_command(
    context: click.Context,
    *,
    sql: str,
    config: str,
    key: str | None,
    yes: bool,
    every: bool,
    analyst: str,
    as_json: bool,
) -> None:
    """Ask a question: see the price, pay it, and get the answer with its promise.

    SQL is the question, @FILE to read it from a file, or - for standard input. Asked again, the same question is
    answered from the ledger for nothing.

    \b
      thresher ask "SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 120" --uncertain-region 10
    """  # noqa: D301 - click reads the backslash
    with thresher.open(config, analyst=analyst) as engine:
        plan = engine.plan(question_text(sql), **wishes(context))
        release = engine.stored(plan, key=key)
        if release is None:
            if plan.epsilon and not yes:
                confirm(engine, plan)
            with spinning(quiet=as_json) as progress:
                release = engine.answer(plan, key=key, progress=progress)
        balance = engine.balance(plan)
        try:
            page = answer_json(release, balance, plan) if as_json else answer_page(release, balance, every=every)
            say(page)
        except OSError as error:
            error.add_note(f"The answer is paid for and stored: ask again with --key {release.key}")
            raise


def explanation(told: str) -> str:
    """A plan's own words, wrapped for a terminal."""
    return "\n".join(paragraph(line[LABEL:], line[:LABEL].strip() or " ", LABEL) for line in told.splitlines())


def answer_page(release: Release, balance: Balance, *, every: bool = False) -> str:
    """Verdicts, the promise, and what is left."""
    rows = verdict_table(release, every=every)
    parts: list[RenderableType] = [rows, ""] if rows.row_count else []
    parts += [
        f"  [bold]{verdict_summary(release)}[/bold]" + _hint(release, every=every),
        "",
        *([paragraph(inert(release.denied), "denied")] if release.denied else []),
        paragraph(release.guarantee.sentence, "promise"),
        paragraph(_charge(release), "charge"),
        *([paragraph(level_summary(release), "levels")] if len(release.levels) > 1 else []),
        budget_line(balance),
        paragraph("spent is the most that any one group has lost", " "),
        *(paragraph(inert(note), "note") for note in release.notes),
    ]
    if release.stamp:
        parts = [f"[bold red]{release.stamp}[/bold red]", *parts]
    return drawn(parts)


def _hint(release: Release, *, every: bool) -> str:
    if release.denied:
        return ""
    if release.bound == MISSES:
        return "" if every or BELOW not in release.verdicts else "; --all lists those below too"
    return "" if every or set(release.verdicts) <= {ABOVE} else "; --all lists uncertain and below"


def budget_line(balance: Balance) -> str:
    bar = budget_bar(balance.spent, balance.cap)
    return f"  {'budget':<9}{inert(balance.account)}: {balance.spent} of {balance.cap} spent {bar}"


def _charge(release: Release) -> str:
    if release.refines and not release.repeated:
        of = f"the measurement of key {release.refines}"
        paid = f"{release.spent_epsilon}, the difference to {of}; stored under key {release.key}"
        return f"epsilon {paid}: asking again is free" if release.key else f"0: {of}, read again"
    if not release.planned_epsilon:
        return "0: the answer does not depend on the data"
    if release.repeated:
        return f"0 now: this answer was paid for before (epsilon {release.spent_epsilon}, key {release.key})"
    back = release.planned_epsilon - release.spent_epsilon
    rest = f" of {release.planned_epsilon} reserved, the rest given back" if back else ""
    return f"epsilon {release.spent_epsilon}{rest}; stored under key {release.key}: asking again is free"


def confirm(engine: Engine, plan: Plan[Released], see: str = "thresher plan") -> None:
    """The price, and the choice to pay it. Where nobody can be asked, nothing is spent."""
    balance, most = engine.balance(plan), "at most " if plan.shows_levels else ""
    if sys.stdin is None or not sys.stdin.isatty():
        fix = f"Pass --yes to pay it, or see `{see}`"
        rule = f"the question costs {most}epsilon {plan.epsilon}, and nobody can be asked"
        raise ArgumentError("yes", False, rule, fix)
    click.echo(explanation(str(plan)), err=True)
    click.echo(f"\n  This costs {most}epsilon {plan.epsilon}; {balance.remaining} of {balance.cap} is left.", err=True)
    if not click.confirm("  Pay it?", err=True):
        raise ArgumentError("yes", False, "you did not want to pay", "Nothing was asked and nothing was charged")


def answer_json(release: Release, balance: Balance, plan: Plan[Release]) -> str:
    """All of an answer, and what is left."""
    shown = {
        **release.document(),
        "positives": [list(group) for group in release.positives],
        "key": release.key,
        "repeated": release.repeated,
        "half_width_asked_for": plan.guarantee.document()["half_width"],
        "levels": [{"epsilon": epsilon.to_json(), "groups": groups} for epsilon, groups in release.levels.items()],
        "budget": {
            "account": balance.account,
            "cap": None if balance.cap is None else balance.cap.to_json(),
            "spent": balance.spent.to_json(),
        },
    }
    return json.dumps(shown, indent=2)
