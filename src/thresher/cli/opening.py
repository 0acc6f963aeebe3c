"""How a command opens an engine or a ledger: for whom, and with which editions of its tables.

Reads: arguments, `thresher.toml`. Writes: nothing.
"""

from collections.abc import Sequence
from pathlib import Path

import click

import thresher
from thresher.accounts import BookOptions, book_options
from thresher.cli.help_pages import RareOption
from thresher.cli.options import CONFIG
from thresher.config import load
from thresher.engine import Engine
from thresher.errors import ArgumentError

_VERSIONS = "thresher.table_versions"


def _versions(ctx: click.Context, _: click.Parameter, named: Sequence[str]) -> None:
    """Keep the versions of tables, each written as TABLE=VERSION, for `opened`."""
    found: dict[str, str] = {}
    for text in named:
        table, equals, version = text.partition("=")
        if not (table and equals and version) or table in found:
            rule = "it must be TABLE=VERSION, each table once"
            raise ArgumentError("table_version", text, rule, "Write --table-version visits=2026-11-19")
        found[table] = version
    ctx.meta[_VERSIONS] = found


versions_option = click.option(
    "--table-version",
    metavar="TABLE=VERSION",
    multiple=True,
    cls=RareOption,
    expose_value=False,
    callback=_versions,
    help="Edition of a table's rows today, in place of its declared version. For the curator's nightly jobs.",
)


def opened(config: str, analyst: str = "") -> Engine:
    """Open an engine for a command, with the versions of tables that it was given."""
    return thresher.open(config, analyst=analyst, versions=click.get_current_context().meta.get(_VERSIONS))


def ledger_place(url: str | None, config: str) -> tuple[str, BookOptions]:
    """Return the address of the ledger and how it is opened: as named, as declared, or as usual where nothing is."""
    if url is not None:
        return url, {}
    if config == CONFIG and not Path(config).exists():
        return "sqlite:///ledger.db", {}
    declared = load(config)
    return declared.ledger, book_options(declared)
