"""Show a price, ask for a yes, and have the answer charged: the one way of every command that charges.

Reads: plans, a terminal. Writes: standard output and error; the ledger, through the engine. Never: charges unasked.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from thresher.amounts import rounded_down
from thresher.cli.options import spinning
from thresher.engine import Engine
from thresher.errors import ArgumentError
from thresher.pages import Page
from thresher.plan import Given, Plan
from thresher.views.terminal import facts


def paid(engine: Engine, plan: Plan[Given], *, key: str | None = None, yes: bool, quiet: bool, see: str = "") -> Given:
    """Return the stored answer, or a new one if its price is agreed to. `see`: the command that shows the plan."""
    release = engine.stored(plan, key=key)
    if release is not None:
        return release
    if plan.epsilon and not yes:
        balance = engine.balance(plan)
        amount = None if balance.remaining is None else rounded_down(balance.remaining.fraction)
        left = "" if amount is None else f" Left: {amount} of {balance.cap}."
        agree(
            plan.page,
            f"This costs {plan.price_in_words}.{left}",
            refusal=f"this question costs {plan.price_in_words} and needs a yes, and there is no terminal to ask on",
            fix=f"Add --yes{f', or see the plan first: {see}' if see else ''}",
        )
    with spinning(quiet=quiet) as progress:
        return engine.answer(plan, key=key, progress=progress)


def agree(page: Callable[[], Page], price: str, *, refusal: str, fix: str, question: str = "Pay it?") -> None:
    """Show a plan and its price, and ask for a yes. Without a terminal to ask on, refuse and spend nothing."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise ArgumentError("yes", False, refusal, fix)
    click.echo(f"{facts(page())}\n\n  {price}", err=True)
    if not click.confirm(f"  {question}", err=True):
        raise ArgumentError("yes", False, "you did not agree to the price", "Nothing was read or paid")


@contextmanager
def kept(key: str) -> Iterator[None]:
    """Say how to fetch a paid answer that cannot be shown."""
    try:
        yield
    except OSError as error:
        error.add_note(f"The answer is paid and stored. Asking again with --key {key} is free and shows it")
        raise
