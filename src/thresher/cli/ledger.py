"""`thresher ledger`: what may be lost and what has been, for the curator and, with less, for an analyst."""

import json
from typing import Any

import click
from rich.console import RenderableType
from rich.table import Table

from thresher.accounting import RegionLosses, account_loss, spending_from_json
from thresher.amounts import Epsilon
from thresher.cli.options import config_option, json_option, ledger_option, ledger_url
from thresher.cli.output import drawn, say
from thresher.errors import ArgumentError
from thresher.ledger import Balance, Book, Entry, open_book
from thresher.views import budget_bar, inert

_WIDTH = 118
_MOST_REGIONS = 12


@click.group()
def ledger() -> None:
    """Budgets, what has been spent, and whether the book is whole."""


@ledger.command()
@ledger_option
@config_option
@json_option
@click.option("--analyst", help="Show what this analyst may see: their own budget and questions, no regions.")
@click.option("--entries", "last", default=10, show_default=True, help="How many of the last entries to list.")
def show(*, url: str | None, config: str, as_json: bool, analyst: str | None, last: int) -> None:
    """Show every budget with a bar, the losses by region, and the last entries.

    A reservation that has not ended counts at its worst case. Opening the ledger verifies it first.
    """
    if analyst == "":
        raise ArgumentError("analyst", analyst, "it must name one", "Leave it out for the curator's view")
    book = open_book(ledger_url(url, config), make=False)
    try:
        statement = _statement(book, analyst, last)
    finally:
        book.close()
    say(json.dumps(statement, indent=2) if as_json else _page(statement))


@ledger.command()
@ledger_option
@config_option
@json_option
@click.option("--accept-anchor", is_flag=True, help="Make a missing anchor anew: only if this is the latest state.")
def verify(*, url: str | None, config: str, as_json: bool, accept_anchor: bool) -> None:
    """Derive every hash, sum and release again; name the first entry that does not fit."""
    book = open_book(ledger_url(url, config), make=False, accept_anchor=accept_anchor)
    try:
        report = book.verify()
    finally:
        book.close()
    if as_json:
        facts = {"entries": report.entries, "accounts": report.accounts, "releases": report.releases}
        click.echo(json.dumps({"whole": True, **facts, "head": report.head.hash}))
    else:
        click.echo(
            f"Whole: {report.entries} entries, {report.accounts} accounts and {report.releases} releases agree.\n"
            f"The book ends at entry {report.head.sequence}, {report.head.hash[:16]}…"
        )


def _statement(book: Book, analyst: str | None, last: int) -> dict[str, Any]:
    """All that is shown, for one reader."""
    entries = [entry for entry in book.entries() if analyst is None or entry.analyst == analyst]
    balances = [held for held in book.balances() if analyst is None or held.analyst == analyst]
    return {
        "accounts": [_account(held, book.losses(held.account) if analyst is None else []) for held in balances],
        "entries": [_line(entry) for entry in (entries[-last:] if last > 0 else [])],
    }


def _account(held: Balance, losses: list[RegionLosses]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "account": held.account,
        "analyst": held.analyst,
        "cap": None if held.cap is None else held.cap.to_json(),
        "spent": held.spent.to_json(),
        "remaining": None if held.remaining is None else held.remaining.to_json(),
        "open_reservations": held.reserved,
    }
    if losses and not held.analyst:
        regions = {region for loss in losses for region, _ in loss.regions()}
        totals = sorted(((account_loss(losses, within=region).loss, str(region)) for region in regions), reverse=True)
        shown["regions"] = [{"region": region, "loss": loss.to_json()} for loss, region in totals[:_MOST_REGIONS]]
    return shown


def _line(entry: Entry) -> dict[str, Any]:
    told = {name: entry.facts[name] for name in ("key", "question", "reservation") if name in entry.facts}
    if "worst_case" in entry.facts or "realised" in entry.facts:
        spending = spending_from_json(entry.facts.get("realised") or entry.facts["worst_case"])
        told["epsilon"] = max(amount for loss in spending.losses() for _, amount in loss.regions()).to_json()
    if "cap" in entry.facts:
        told["cap"] = Epsilon.from_nano(entry.facts["cap"]).to_json()
    said = {"entry": entry.sequence, "at": entry.at, "kind": entry.kind, "account": entry.account}
    return {**said, "analyst": entry.analyst, **told}


def _page(statement: dict[str, Any]) -> str:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("account", "spent", "cap", "", "open"):
        table.add_column(heading)
    for held in statement["accounts"]:
        name = held["account"] + (f" / {held['analyst']}" if held["analyst"] else "")
        open_ones = str(held["open_reservations"] or "")
        table.add_row(inert(name), held["spent"], held["cap"] or "no cap", _bar(held), open_ones)
    parts: list[RenderableType] = [table]
    for held in statement["accounts"]:
        if held.get("regions"):
            parts.append(f"\n[bold]{inert(held['account'])} by region[/bold] (the most exposed first)")
            parts += [inert(_cut(f"  {region['loss']:>12}  {region['region']}")) for region in held["regions"]]
    if statement["entries"]:
        parts += ["\n[bold]last entries[/bold]", *(inert(_cut(_told(line))) for line in statement["entries"])]
    return drawn(parts)


def _told(line: dict[str, Any]) -> str:
    about = _asked(line["question"]) if "question" in line else line.get("cap", "")
    about = f"of entry {line['reservation']}" if "reservation" in line else about
    amount = line.get("epsilon", "")
    return f"{line['entry']:>5}  {line['at'][:16]}Z  {line['kind']:<8} {line['account']:<12} {amount:<11} {about}"


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _bar(held: dict[str, Any]) -> str:
    return "" if held["cap"] is None else budget_bar(Epsilon(held["spent"]), Epsilon(held["cap"]))


def _asked(question: str) -> str:
    """A question of the engine's is a document that holds its normal form; others are shown as they are."""
    try:
        return str(json.loads(question)["question"])
    except (ValueError, KeyError, TypeError):
        return question
