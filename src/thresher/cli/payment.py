"""The price, the choice to pay it, and the answer: one way for every command that charges.

Reads: plans, a terminal. Writes: standard output and error; the ledger, through the engine. Never: charges unasked.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from thresher.cli.options import spinning
from thresher.engine import Engine
from thresher.errors import ArgumentError
from thresher.pages import Page
from thresher.plan import Given, Plan
from thresher.views.terminal import facts


def paid(engine: Engine, plan: Plan[Given], *, key: str | None = None, yes: bool, quiet: bool, see: str = "") -> Given:
    """Return the stored answer, or a new one once its price is agreed to. `see` is what shows the plan."""
    release = engine.stored(plan, key=key)
    if release is not None:
        return release
    if plan.epsilon and not yes:
        balance = engine.balance(plan)
        left = "" if balance.cap is None else f"; {balance.remaining} of {balance.cap} is left"
        agree(
            plan.page,
            f"This costs {plan.price_in_words}{left}.",
            refusal=f"the question costs {plan.price_in_words} and needs a yes, and there is no terminal to ask on",
            fix=f"Add --yes to pay it{f', or look at `{see}` first' if see else ''}",
        )
    with spinning(quiet=quiet) as progress:
        return engine.answer(plan, key=key, progress=progress)


def agree(page: Callable[[], Page], price: str, *, refusal: str, fix: str, question: str = "Pay it?") -> None:
    """Show a plan and its price, and let a person choose. Where nobody can be asked, nothing is spent."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise ArgumentError("yes", False, refusal, fix)
    click.echo(f"{facts(page())}\n\n  {price}", err=True)
    if not click.confirm(f"  {question}", err=True):
        raise ArgumentError("yes", False, "you did not agree to the price", "Nothing was read or paid")


@contextmanager
def kept(key: str) -> Iterator[None]:
    """Say how to have a paid answer again, if it cannot be shown."""
    try:
        yield
    except OSError as error:
        error.add_note(f"The answer is paid for and stored: ask again with --key {key}")
        raise
