"""`thresher personal`: budgets of people's own, what each method would make of them, and questions to such tables.

Reads: arguments, declarations, a roster. Writes: standard output, pictures; the ledger, through the engine. Never:
charges unasked; shows an analyst's page a class of budgets.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click
import numpy as np

import thresher
from thresher.cli.options import analyst_option, config_option, json_option, key_option, question_text, yes_option
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
    show(forecast_page(found, left), as_json=as_json)


@personal.command("run")
@click.argument("sql")
@config_option
@click.option("--share", metavar="SHARE", help="Of each person's own budget, at most this. Default 0.25.")
@click.option("--leftovers", is_flag=True, help="Draw on what each class of budgets has left, not on the whole.")
@click.option("--confidence", metavar="SHARE", help="Of a count: how sure its half width is. Default 0.95.")
@click.option("--miss-rate", metavar="RATE", help="Of a decision. Default 0.05.")
@click.option("--false-alarm-rate", metavar="RATE", help="Of a decision. Default 0.10.")
@key_option
@yes_option
@analyst_option
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
    """Ask a table of own budgets: a count or sum for each group, or, with HAVING, a decision about it.

    \b
      thresher personal run "SELECT ward, COUNT(*) FROM patients GROUP BY ward" --share 0.25
      thresher personal run "SELECT ward FROM patients GROUP BY ward HAVING COUNT(*) > 300"
    """  # noqa: D301 - click reads the backslash
    with thresher.open(config, analyst=analyst) as engine:
        plan: Plan[PersonalCounts | Release] = engine.plan_personal(question_text(sql), **options)
        found = paid(engine, plan, key=key, yes=yes, quiet=as_json)
        with kept(found.key):
            page = found.page(every=True) if isinstance(found, Release) else found.page()
            show(page + engine.balance(plan).page(), as_json=as_json)


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
