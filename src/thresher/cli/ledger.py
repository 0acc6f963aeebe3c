"""`thresher ledger`: show budgets and what was spent of them, to the curator and, with less, to an analyst.

Reads: a ledger. Writes: standard output; an anchor file, on request. Never: a ledger that does not exist yet.
"""

import click

from thresher.cli.help_pages import ShortHelp
from thresher.cli.ledger_repairs import accept_restore_command, forfeit_command, rename_command
from thresher.cli.opening import ledger_place
from thresher.cli.options import config_option, json_option, ledger_option
from thresher.cli.output import show
from thresher.errors import ArgumentError
from thresher.ledger import open_book
from thresher.pages import Page
from thresher.pages.page import plain_lines


@click.group()
def ledger() -> None:
    """Show what was spent and what is left, and check that the file is intact."""


for command in (accept_restore_command, forfeit_command, rename_command):
    ledger.add_command(command)


@ledger.command("show", cls=ShortHelp)
@ledger_option
@config_option
@json_option
@click.option("--analyst", metavar="NAME", help="What this analyst may see: their own budget and questions.")
@click.option("--entries", "last", metavar="NUMBER", default=10, show_default=True, help="How many entries to list.")
def show_command(*, url: str | None, config: str, as_json: bool, analyst: str | None, last: int) -> None:
    """Show budgets, losses by region, and the last entries.

    A question that has not ended counts at its worst case. Opening the ledger verifies it first.
    """
    if analyst == "":
        raise ArgumentError("analyst", analyst, "it must be a name", "Leave it out for the curator's view")
    place, options = ledger_place(url, config)
    book = open_book(place, **options, make=False)
    try:
        page = book.page(analyst=analyst, last=last)
    finally:
        book.close()
    show(page, as_json=as_json)


@ledger.command("verify", cls=ShortHelp)
@ledger_option
@config_option
@json_option
@click.option("--accept-anchor", is_flag=True, help="Make a missing anchor file anew. Only for the newest copy.")
def verify_command(*, url: str | None, config: str, as_json: bool, accept_anchor: bool) -> None:
    """Derive each hash and sum again.

    Names the first entry that does not fit, if there is one.
    """
    place, options = ledger_place(url, config)
    book = open_book(place, **options, make=False, accept_anchor=accept_anchor)
    try:
        report = book.verify()
    finally:
        book.close()
    agree = (
        f"Intact: {_many(report.entries, 'entry', 'entries')}, {_many(report.accounts, 'account')} and "
        f"{_many(report.releases, 'release')} agree."
    )
    ends = f"The ledger ends at entry {report.head.sequence}, {report.head.hash[:16]}…"
    facts = {"entries": report.entries, "accounts": report.accounts, "releases": report.releases}
    show(Page((plain_lines([agree, ends]),), {"whole": True, **facts, "head": report.head.hash}), as_json=as_json)


def _many(number: int, one: str, more: str = "") -> str:
    """Return a number of things in words."""
    return f"{number} {one if number == 1 else more or one + 's'}"
