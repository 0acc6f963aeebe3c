"""`thresher personal`: forecast the error of each method on a roster, and ask tables in which people set budgets.

Reads: arguments, declarations, a roster. Writes: standard output, pictures; the ledger, through the engine. Never:
charges unasked; shows an analyst a class of budgets.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click
import numpy as np

from thresher.cli.opening import opened, versions_option
from thresher.cli.options import (
    analyst_option,
    config_option,
    json_option,
    key_option,
    question_text,
    yes_option,
)
from thresher.cli.output import show
from thresher.cli.payment import kept, paid
from thresher.errors import ArgumentError
from thresher.personal.budget_classes import ClassLeft
from thresher.personal.forecast import Forecast, forecast
from thresher.personal.personal_counts import PersonalCounts
from thresher.personal.roster import Roster
from thresher.plan import Plan
from thresher.release import Release
from thresher.views.budget_levels import error_picture, level_picture
from thresher.views.forecast_page import forecast_page

if TYPE_CHECKING:
    from thresher.personal.weighted_read import PersonalOptions


@click.group()
def personal() -> None:
    """People set their own budgets: forecast errors from a public roster, and ask a table of such people."""


@personal.command("plan")
@config_option
@click.option("--table", metavar="NAME", help="A declared table with budget_column: show its roster, and what is left.")
@click.option("--budgets", metavar="FILE", help="Instead of a table: a file of lines `person,budget`.")
@click.option("--default", metavar="EPSILON", help="The budget of lines in the file that name none.")
@click.option(
    "--grid", metavar="EPSILON", default="0.0001", show_default=True, help="Round budgets in the file down to it."
)
@click.option("--parts", type=int, help="How many parts of least waste. Default: 5.")
@click.option("--least-size", type=int, default=1, show_default=True, help="The fewest people in one part.")
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
    """Show the budgets, the parts of least waste, and the error that each method would have. For the curator.

    All of it follows from the public roster: no private row is read, and nothing is charged.

    \b
      thresher personal plan --table patients
      thresher personal plan --budgets roster.csv --parts 3 -o budgets.svg --picture errors.svg
    """  # noqa: D301 - click reads the backslash
    _check_svg("output", output)
    _check_svg("picture", picture)
    if (table is None) == (budgets is None):
        fix = "Pass --table NAME or --budgets FILE"
        raise ArgumentError("table", table, "either a table or a file of budgets is needed, not both", fix)
    left: list[ClassLeft] = []
    if table is not None:
        with opened(config) as engine:
            left = engine.personal_classes(table)
    roster = _read(str(budgets), default, grid) if table is None else _roster(left)
    outlook = forecast(roster, parts, least_size=least_size)
    _draw(outlook, output, picture)
    show(forecast_page(outlook, left), as_json=as_json)


@personal.command("run")
@click.argument("sql")
@config_option
@click.option("--share", metavar="SHARE", help="The most that each person loses of their own budget [0.25].")
@click.option("--leftovers", is_flag=True, help="Take --share of what people have left, not of their whole budgets.")
@click.option("--confidence", metavar="SHARE", help="Of a count: the probability of its half width [0.95].")
@click.option(
    "--miss-rate", metavar="RATE", help="Of a decision: most probability of missing a group that qualifies [0.05]."
)
@click.option("--false-alarm-rate", metavar="RATE", help="Of a decision: most probability of a false alarm [0.10].")
@key_option
@yes_option
@analyst_option
@versions_option
@json_option
def run_command(
    *,
    sql: str,
    config: str,
    key: str | None,
    yes: bool,
    analyst: str,
    as_json: bool,
    **options: Unpack["PersonalOptions"],
) -> None:
    """Ask a table with budget_column: a count or sum for each group, or, with HAVING, which groups meet a condition.

    \b
      thresher personal run "SELECT ward, COUNT(*) FROM patients GROUP BY ward" --share 0.25
      thresher personal run "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 300"
    """  # noqa: D301 - click reads the backslash
    with opened(config, analyst) as engine:
        plan: Plan[PersonalCounts | Release] = engine.plan_personal(question_text(sql), **options)
        answer = paid(engine, plan, key=key, yes=yes, quiet=as_json)
        with kept(answer.key):
            page = answer.page(every=True) if isinstance(answer, Release) else answer.page()
            show(page + engine.balance(plan).page(), as_json=as_json)


def _roster(left: list[ClassLeft]) -> Roster:
    """Return a roster of as many people in each class, in the order of the classes."""
    classes = [one for one in left if one.people]
    if not classes:
        rule = "nobody on its public roster has a budget above 0"
        raise ArgumentError("table", "its roster", rule, "Check budget_roster in thresher.toml and the public table")
    levels = np.array([one.budget.nano for one in classes], dtype=np.int64)
    return Roster(levels, np.repeat(np.arange(len(classes), dtype=np.int64), [one.people for one in classes]))


def _read(path: str, default: str | None, grid: str) -> Roster:
    if not Path(path).is_file():
        raise ArgumentError("budgets", path, "there is no such file", "Name a file of lines `person,budget`")
    return Roster.from_lines(Path(path), default=default, grid=grid)


def _check_svg(field: str, path: str | None) -> None:
    if path is not None and (not path.lower().endswith(".svg") or not Path(path).absolute().parent.is_dir()):
        raise ArgumentError(field, path, "it must be an .svg file in a folder that exists", f"Pass {field}=file.svg")


def _draw(outlook: Forecast, output: str | None, picture: str | None) -> None:
    levels, sizes = [float(level) for level in outlook.roster.levels], outlook.roster.sizes.tolist()
    if output is not None:
        cuts = [float(level) for level in outlook.parts.levels[1:]]
        Path(output).write_text(level_picture(levels, sizes, cuts), encoding="utf-8")
    if picture is not None:
        errors = [(one.method, one.predicted_sd) for one in outlook.outlooks]
        Path(picture).write_text(error_picture("Error by method, forecast", errors), encoding="utf-8")
