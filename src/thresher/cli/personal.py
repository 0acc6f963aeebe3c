"""`thresher personal`: budgets of people's own, what each method would make of them, and questions to such tables.

Reads: arguments, declarations, a roster. Writes: standard output, pictures; the ledger, through the engine. Never:
charges unasked; shows an analyst's page a class of budgets.
"""

import json
import sys
from pathlib import Path

import click
import numpy as np

import thresher
from thresher.cli.asking import budget_line, explanation
from thresher.cli.options import config_option, json_option, question_text, spinning
from thresher.cli.output import drawn, say
from thresher.cli.personal_pages import forecast_json, forecast_page
from thresher.engine import Engine
from thresher.errors import ArgumentError
from thresher.ledger import Balance
from thresher.personal.budget_classes import ClassLeft
from thresher.personal.forecast import Forecast, forecast
from thresher.personal.personal_counts import PersonalCounts
from thresher.personal.roster import Roster
from thresher.personal.weighted_read import PersonalPlan
from thresher.plan import Given, Plan, Released
from thresher.release import Release
from thresher.views import inert, paragraph
from thresher.views.budget_levels import error_picture, level_picture


@click.group()
def personal() -> None:
    """Budgets of people's own: plan on a public roster, and ask by the weighted release."""


@personal.command("plan")
@config_option
@click.option("--table", metavar="NAME", help="A declared table with budget_column; its roster, and what is left.")
@click.option("--budgets", metavar="FILE", help="Instead, a roster in a file of lines `person,budget`.")
@click.option("--default", metavar="EPSILON", help="The budget of lines of the file without one.")
@click.option("--grid", metavar="EPSILON", default="0.0001", show_default=True, help="Budgets are floored to it.")
@click.option("--parts", type=int, help="How many parts of least waste. Default: five.")
@click.option("--least-size", type=int, default=1, show_default=True, help="The fewest people in a part.")
@click.option("--output", "-o", metavar="FILE", help="Draw the budgets as FILE.svg.")
@click.option("--picture", metavar="FILE", help="Draw the error of every method as FILE.svg.")
@json_option
def plan_command(
    *,
    config: str,
    table: str | None,
    budgets: str | None,
    default: str | None,
    grid: str,
    parts: int | None,
    least_size: int,
    output: str | None,
    picture: str | None,
    as_json: bool,
) -> None:
    """Show the budgets, the parts of least waste, and the error that every method would have. For the curator.

    Everything here is a function of the public roster; nothing is read and nothing is charged.

    \b
      thresher personal plan --table patients
      thresher personal plan --budgets roster.csv --parts 3 -o budgets.svg --picture errors.svg
    """  # noqa: D301 - click reads the backslash
    for path in (output, picture):
        _check_svg(path)
    if (table is None) == (budgets is None):
        raise ArgumentError("table", table, "either a table or a file of budgets is looked at", "Pass --table NAME")
    left: list[ClassLeft] = []
    if table is not None:
        with thresher.open(config) as engine:
            left = engine.personal_classes(table)
        found = forecast(_roster(left), parts, least_size=least_size)
    else:
        found = forecast(_read(str(budgets), default, grid), parts, least_size=least_size)
    _draw(found, output, picture)
    say(json.dumps(forecast_json(found, left), indent=2) if as_json else drawn(forecast_page(found, left)))


@personal.command("run")
@click.argument("sql")
@config_option
@click.option("--share", metavar="SHARE", help="Of each person's own budget, at most this. Default 0.25.")
@click.option("--leftovers", is_flag=True, help="Draw on what each class of budgets has left, not on the whole.")
@click.option("--confidence", metavar="SHARE", help="Of a count: how sure its half width is. Default 0.95.")
@click.option("--miss-rate", metavar="RATE", help="Of a decision. Default 0.05.")
@click.option("--false-alarm-rate", metavar="RATE", help="Of a decision. Default 0.10.")
@click.option("--key", help="A name for this answer. The same key gives it again; a new key buys a fresh one.")
@click.option("--yes", "-y", is_flag=True, help="Pay without being asked.")
@click.option("--analyst", default="", help="On whose behalf, if the curator gives budgets to analysts.")
@json_option
def run_command(
    *,
    sql: str,
    config: str,
    share: str | None,
    leftovers: bool,
    confidence: str | None,
    miss_rate: str | None,
    false_alarm_rate: str | None,
    key: str | None,
    yes: bool,
    analyst: str,
    as_json: bool,
) -> None:
    """Ask a table of own budgets: a count or sum for each group, or, with HAVING, a decision about it.

    \b
      thresher personal run "SELECT ward, COUNT(*) FROM patients GROUP BY ward" --share 0.25
      thresher personal run "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 300"
    """  # noqa: D301 - click reads the backslash
    with thresher.open(config, analyst=analyst) as engine:
        plan = engine.plan_personal(
            question_text(sql),
            share=share,
            miss_rate=miss_rate,
            false_alarm_rate=false_alarm_rate,
            confidence=confidence,
            leftovers=leftovers,
        )
        found = _answered(plan, engine, key, yes, as_json)
        balance = engine.balance(plan)
    say(_json(found, balance) if as_json else _page(found, balance, plan))


def _answered(plan: Plan[Given], engine: Engine, key: str | None, yes: bool, quiet: bool) -> Given:  # noqa: FBT001
    """The stored answer, or a new one once its price is agreed to."""
    found = engine.stored(plan, key=key)
    if found is None:
        if not yes:
            _confirm(plan, engine)
        with spinning(quiet=quiet) as progress:
            found = engine.answer(plan, key=key, progress=progress)
    return found


def _confirm(plan: Plan[Released], engine: Engine) -> None:
    """The price, which is a share of everybody's own budget, and the choice to pay it."""
    share = plan.epsilon
    if sys.stdin is None or not sys.stdin.isatty():
        rule = f"the question costs everybody up to {share} of their own budget, and nobody can be asked"
        raise ArgumentError("yes", False, rule, "Pass --yes to pay it")
    click.echo(explanation(str(plan)), err=True)
    click.echo(f"\n  This costs everybody up to {share} of their own budget.", err=True)
    click.echo(drawn([budget_line(engine.balance(plan))]), err=True)
    if not click.confirm("  Pay it?", err=True):
        raise ArgumentError("yes", False, "you did not want to pay", "Nothing was asked and nothing was charged")


def _page(found: PersonalCounts | Release, balance: Balance, plan: PersonalPlan[PersonalCounts | Release]) -> str:
    numbers = found.estimates if isinstance(found, PersonalCounts) else found.values[0].numbers
    verdicts = [""] * len(numbers) if isinstance(found, PersonalCounts) else list(found.verdicts)
    rows = [
        f"  {inert(' / '.join(map(str, group))):<24} {verdict:<10} {number:>14}"
        for group, verdict, number in zip(found.groups, verdicts, numbers, strict=True)
    ]
    notes: tuple[str, ...] = found.notes
    spent, sentence = plan.read.share, plan.guarantee.sentence
    if isinstance(found, PersonalCounts):
        told = f"As a count of all on the roster who have a budget, expect a standard deviation of {found.predicted_sd}"
        notes = (*notes, f"{told}: the promise is about noise alone", found.assumption)
    of = "what everybody has left of their own budget" if plan.read.leftovers else "everybody's own budget"
    paid = "0 now: paid for before" if found.repeated else f"up to {spent} of {of}"
    parts = [
        *([f"[bold red]{found.stamp}[/bold red]"] if found.stamp else []),
        f"[bold]{inert(plan.read.atom.aggregate)}[/bold], weighted",
        *rows,
        "",
        paragraph(inert(sentence), "promise"),
        *(paragraph(inert(note), "note") for note in notes),
        paragraph(f"{paid}; stored under key {inert(found.key)}: asking again is free", "charge"),
        budget_line(balance),
    ]
    return drawn(parts)


def _json(found: PersonalCounts | Release, balance: Balance) -> str:
    budget = {"account": balance.account, "spent": balance.spent.to_json()}
    more = {"positives": [list(group) for group in found.positives]} if isinstance(found, Release) else {}
    shown = {**found.document(), **more, "key": found.key, "repeated": found.repeated}
    return json.dumps(
        {**shown, "budget": {**budget, "cap": None if balance.cap is None else str(balance.cap)}}, indent=2
    )


def _roster(left: list[ClassLeft]) -> Roster:
    """People by class, whoever they are."""
    kept = [one for one in left if one.people]
    if not kept:
        raise ArgumentError("table", "its roster", "nobody on it has a budget", "Look at the public table")
    levels = np.array([one.budget.nano for one in kept], dtype=np.int64)
    return Roster(levels, np.repeat(np.arange(len(kept), dtype=np.int64), [one.people for one in kept]))


def _read(path: str, default: str | None, grid: str) -> Roster:
    if not Path(path).is_file():
        raise ArgumentError("budgets", path, "there is no such file", "Name a file of lines `person,budget`")
    return Roster.from_lines(Path(path), default=default, grid=grid)


def _check_svg(path: str | None) -> None:
    if path is not None and (not path.lower().endswith(".svg") or not Path(path).absolute().parent.is_dir()):
        raise ArgumentError("output", path, "it names an .svg file in a folder that exists", "Write budgets.svg, say")


def _draw(found: Forecast, output: str | None, picture: str | None) -> None:
    levels, sizes = [float(level) for level in found.roster.levels], found.roster.sizes.tolist()
    if output is not None:
        cuts = [float(level) for level in found.parts.levels[1:]]
        Path(output).write_text(level_picture(levels, sizes, cuts), encoding="utf-8")
    if picture is not None:
        errors = [(outlook.method, outlook.predicted_sd) for outlook in found.outlooks]
        Path(picture).write_text(error_picture("Error by method, forecast", errors), encoding="utf-8")
