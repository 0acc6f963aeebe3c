"""`thresher plan`, `ask` and `refine`: show the price, then the answer with its promise.

Reads: arguments, declarations. Writes: standard output; the ledger, through the engine. Never: charges unasked.
"""

from typing import TYPE_CHECKING, Unpack

import click

from thresher.amounts import rounded_down
from thresher.cli.finer import next_step
from thresher.cli.flags import in_flags
from thresher.cli.help_pages import RareOption, ShortHelp
from thresher.cli.opening import opened, versions_option
from thresher.cli.options import (
    CONFIG,
    all_option,
    analyst_option,
    config_option,
    json_option,
    key_option,
    question_text,
    sharper_options,
    wish_options,
    yes_option,
)
from thresher.cli.output import show
from thresher.cli.payment import kept, paid
from thresher.engine import Engine
from thresher.ledger import Balance
from thresher.pages import Fact, Page
from thresher.pages.page import SPACE
from thresher.plan import LABEL, Plan
from thresher.release import Release

if TYPE_CHECKING:
    from thresher.asks.refinement_ask import SharperOptions
    from thresher.decisions.decision_options import DecisionOptions


@click.command("plan", cls=ShortHelp)
@click.argument("sql")
@config_option
@wish_options
@versions_option
@click.option("--details", is_flag=True, help="How it is measured, and exact amounts.")
@json_option
def plan_command(*, sql: str, config: str, details: bool, as_json: bool, **options: Unpack["DecisionOptions"]) -> None:
    """Show what a question would cost and promise. Reads no row, spends nothing.

    SQL: a question, @FILE, or - for standard input.

    \b
      thresher plan "SELECT ward FROM stays GROUP BY ward
                     HAVING COUNT(*) > 120" --within 10
    """  # noqa: D301 - click reads the backslash
    with opened(config) as engine:
        plan = engine.plan(question_text(sql), **options)
        how = "" if details else "How it works: --details. "
        show(plan.page(details=details) + _left(engine, plan, f"{how}To ask: thresher ask"), as_json=as_json)


@click.command("ask", cls=ShortHelp)
@click.argument("sql")
@config_option
@wish_options
@key_option
@yes_option
@all_option
@analyst_option
@versions_option
@json_option
def ask_command(
    *,
    sql: str,
    config: str,
    key: str | None,
    yes: bool,
    every: bool,
    analyst: str,
    as_json: bool,
    **options: Unpack["DecisionOptions"],
) -> None:
    """Show the cost, ask for a yes, pay, and answer. Asking the same again is free.

    SQL: a question, @FILE, or - for standard input.

    \b
      thresher ask "SELECT ward FROM stays GROUP BY ward
                    HAVING COUNT(*) > 120" --within 10
    """  # noqa: D301 - click reads the backslash
    with opened(config, analyst) as engine:
        text = question_text(sql)
        plan = engine.plan(text, **options)
        release = paid(engine, plan, key=key, yes=yes, quiet=as_json, see="thresher plan")
        with kept(release.key):
            given = {"--config": config, "--analyst": analyst}
            more = {flag: value for flag, value in given.items() if value not in ("", CONFIG)}
            finer = Page(()) if as_json else next_step(engine, plan, release, text, more)
            show(_page(engine, plan, release, every=every) + finer, as_json=as_json)


@click.command("refine", cls=ShortHelp)
@click.argument("sql")
@click.option("--of", required=True, metavar="NAME", help="Name of the stored answer.")
@config_option
@sharper_options
@click.option(
    "--given-seen",
    is_flag=True,
    cls=RareOption,
    help="State rates that hold whatever was seen before. This costs more than asking again.",
)
@click.option("--plan", "only_plan", is_flag=True, help="Show cost and promise only. Spends nothing.")
@yes_option
@all_option
@analyst_option
@versions_option
@json_option
def refine_command(
    *,
    sql: str,
    of: str,
    config: str,
    given_seen: bool,
    only_plan: bool,
    yes: bool,
    every: bool,
    analyst: str,
    as_json: bool,
    **options: Unpack["SharperOptions"],
) -> None:
    """Make a stored answer finer, for the difference in price.

    SQL: the same question. What you leave out stays as it was. A coarser width is free, and so is another threshold
    of a single condition if the measurement is fine enough. An answer is refined once: go on from its refinement.

    \b
      thresher refine "SELECT ward FROM stays GROUP BY ward
                       HAVING COUNT(*) > 120" --of monday --within 5
    """  # noqa: D301 - click reads the backslash
    with opened(config, analyst) as engine:
        plan = engine.plan_refinement(question_text(sql), of=of, given_seen=given_seen, **options)
        if only_plan:
            show(plan.page() + _left(engine, plan, "To pay and measure: leave out --plan"), as_json=as_json)
            return
        release = paid(engine, plan, yes=yes, quiet=as_json, see="thresher refine --plan")
        with kept(release.key):
            show(_page(engine, plan, release, every=every), as_json=as_json)


def _left(engine: Engine, plan: Plan[Release], then_do: str) -> Page:
    """Return what is left of the budget before and after the question, and what to do next."""
    then = Fact("", f"Nothing was read or paid. {then_do}")
    balance = engine.left(plan)
    if balance is None:
        return Page((Fact("budget", "the ledger cannot be read now", LABEL), SPACE, then))
    return Page((Fact("budget", _after(balance, plan), LABEL), SPACE, then), balance.page().document)


def _after(balance: Balance, plan: Plan[Release]) -> str:
    """Say what is left before the question, and at least after it, or that it can be too little."""
    if balance.remaining is None:
        return _of_limit(balance)
    left = f"{_of_limit(balance)} left"
    if plan.epsilon <= balance.remaining:
        return f"{left}; at least {rounded_down((balance.remaining - plan.epsilon).fraction)} after this question"
    fits = plan.affordable(balance.remaining)
    advice = f". {in_flags(fits, click.get_current_context().command)}" if fits else ""
    return f"{left}, which can be too little: a question is refused if its groups have less left than it costs{advice}"


def _page(engine: Engine, plan: Plan[Release], release: Release, *, every: bool) -> Page:
    """Return the answer, what is left, and the half width that was asked for, from which an answer may differ."""
    asked = {"half_width_asked_for": plan.guarantee.document()["half_width"]}
    balance = engine.balance(plan)
    left = Page((Fact("left", _of_limit(balance)),), {**balance.page().document, **asked})
    return release.page(every=every, flag="--all") + left


def _of_limit(balance: Balance) -> str:
    """Say what is left of a budget, rounded down."""
    if balance.remaining is None:
        return f"{balance.account}: no limit"
    return f"{balance.account}: {rounded_down(balance.remaining.fraction)} of {balance.cap}"
