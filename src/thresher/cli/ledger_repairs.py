"""`thresher ledger accept-restore`, `forfeit` and `rename`: what a curator does after something went wrong."""

from pathlib import Path

import click

from thresher.cli.help_pages import ShortHelp
from thresher.cli.opening import ledger_place
from thresher.cli.options import config_option, json_option, ledger_option, yes_option
from thresher.cli.output import show
from thresher.errors import ArgumentError
from thresher.ledger import closed_book, open_book
from thresher.ledger.anchor import Anchor
from thresher.ledger.restoring import accept_restore
from thresher.pages import Page
from thresher.pages.page import plain_lines


@click.command("accept-restore", cls=ShortHelp)
@ledger_option
@config_option
@click.option("--anchor", metavar="FILE", help="The newest anchor, if it is not the declared one: with several hosts.")
@yes_option
@json_option
def accept_restore_command(*, url: str | None, config: str, anchor: str | None, yes: bool, as_json: bool) -> None:
    """Go on with a restored backup of the ledger, and charge what its anchor has seen since.

    Use it only if no newer copy of the ledger is left. Each account is charged with all that it had lost when the
    anchor was written, for every group. Answers of before can be read, and not refined; steps of streams that the
    anchor has seen are never released again.
    """
    place, options = ledger_place(url, config)
    book = closed_book(place, **options)
    seen = book.anchor if anchor is None else Anchor(Path(anchor))
    if seen is None:
        rule = "this ledger has no anchor beside it or beside thresher.toml"
        raise ArgumentError("anchor", "", rule, "Name the newest anchor file")
    if not yes and not click.confirm("Is this the newest copy of the ledger that is left?", err=True):
        raise ArgumentError("yes", yes, "a restored ledger is accepted by a yes", "Restore the newest copy first")
    try:
        restored = accept_restore(book, seen)
    finally:
        book.close()
    lines = [f"The backup had forgotten {restored.forgotten} entries. Charged now, for every group:"]
    lines += [
        f"  {name}{f' / {analyst}' if analyst else ''}: {after} spent (the backup knew of {before})"
        for name, analyst, before, after in restored.charged
    ]
    charged = [
        {"account": name, "analyst": analyst, "before": before.to_json(), "spent": after.to_json()}
        for name, analyst, before, after in restored.charged
    ]
    document = {"forgotten_entries": restored.forgotten, "charged": charged}
    show(Page((plain_lines(lines),), document), as_json=as_json)


@click.command("forfeit", cls=ShortHelp)
@click.argument("entry", type=int)
@ledger_option
@config_option
@json_option
def forfeit_command(*, entry: int, url: str | None, config: str, as_json: bool) -> None:
    """End the open reservation of ENTRY, whose process is gone. What it reserved stays charged.

    A reservation ends by itself when its process shows no sign of life for a minute. This is for a clock that was set
    back, or for a process that hangs. `thresher ledger show` lists open reservations with their entries.
    """
    place, options = ledger_place(url, config)
    book = open_book(place, **options, make=False)
    try:
        loss = book.forfeit_entry(entry)
    finally:
        book.close()
    document = {"entry": entry, "spent": loss.to_json()}
    text = f"Entry {entry} is forfeited. Its account has spent {loss}; nothing is given back."
    show(Page((plain_lines([text]),), document), as_json=as_json)


@click.command("rename", cls=ShortHelp)
@click.argument("old")
@click.argument("new")
@ledger_option
@config_option
@json_option
def rename_command(*, old: str, new: str, url: str | None, config: str, as_json: bool) -> None:
    """Let the account OLD go by the name NEW, with all that it has lost: for a table that was renamed."""
    place, options = ledger_place(url, config)
    book = open_book(place, **options, make=False)
    try:
        book.rename(old, new)
        balance = book.balance(new)
    finally:
        book.close()
    text = f"The account {old} is called {new} now: {balance.in_words}."
    show(Page((plain_lines([text]),), {"old": old, "new": new, "spent": balance.spent.to_json()}), as_json=as_json)
