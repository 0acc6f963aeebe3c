"""`thresher init`: write a commented thresher.toml for a file or a database, from its catalogue alone.

Reads: the catalogue of a source. Writes: thresher.toml. Never: rows; a bound or a list of values taken from them.
"""

import json
import shlex
from pathlib import Path

import click

from thresher.cli.help_pages import ShortHelp
from thresher.cli.options import CONFIG, json_option
from thresher.cli.output import say
from thresher.config import Declarations, starter
from thresher.errors import ArgumentError
from thresher.sources import open_source


@click.command(cls=ShortHelp)
@click.argument("source")
@click.option("--table", "tables", multiple=True, metavar="NAME", help="Only this table; may be repeated.")
@click.option("--output", "-o", default=CONFIG, show_default=True, metavar="FILE", help="Where to write it.")
@json_option
def init(*, source: str, tables: tuple[str, ...], output: str, as_json: bool) -> None:
    """Write thresher.toml for your data. Reads names and types, never rows.

    SOURCE: a Parquet, CSV or Arrow file, a folder of them, or an address.

    \b
      thresher init patients.parquet
      thresher init duckdb:///clinic.duckdb
      thresher init postgresql://user@host/database

    Bounds, lists of values and the budget are left blank (___) for you: they are public, and taking them from the
    rows would reveal the rows.
    """  # noqa: D301 - click reads the backslash
    target = Path(output)
    if target.exists():
        raise ArgumentError("output", output, "it exists already", "Move it away, or name another file")
    opened = open_source(Declarations(source, "sqlite:///ledger.db", {}))
    try:
        catalogue = opened.catalogue()
    finally:
        opened.close()
    if not catalogue:
        fix = "Name a file, or a folder of files; for Spark name a Parquet file and set the url later"
        raise ArgumentError("source", source, "there is no table in it", fix)
    unknown = sorted(set(tables) - set(catalogue))
    if unknown:
        has = f"It has: {', '.join(sorted(catalogue))}"
        raise ArgumentError("table", ", ".join(unknown), "the source has no such table", has)
    wanted = {name: columns for name, columns in catalogue.items() if not tables or name in tables}
    text = starter(source, wanted)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ArgumentError("output", output, f"it cannot be written ({error.strerror})", "Name another file") from None
    blanks = sum("___" in line and not line.lstrip().startswith("#") for line in text.splitlines())
    if as_json:
        say(json.dumps({"written": str(target), "tables": sorted(wanted), "blanks": blanks}))
        return
    counted = [(len(wanted), "table"), (sum(map(len, wanted.values())), "column")]
    size = ", ".join(f"{number:,} {noun}{'' if number == 1 else 's'}" for number, noun in counted)
    where = "" if output == CONFIG else f"-c {shlex.quote(output)} "
    say(
        f"Wrote {target}: {size}. No row was read.\n"
        f"  1. Fill in the {blanks} lines that hold ___ . What you write is public: copying it from rows would\n"
        "     reveal them.\n"
        "  2. Remove the # before columns to group by or to ask about. The others may stay off.\n"
        f'  3. thresher plan {where}"SELECT ... GROUP BY ... HAVING COUNT(*) > ..."'
    )
