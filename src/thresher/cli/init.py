"""`thresher init`: write a commented thresher.toml for a file or a database, from its catalogue alone.

Reads: the catalogue of a source. Writes: thresher.toml. Never: rows; a bound or a list of values taken from them.
"""

import json
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
        raise ArgumentError("output", output, "it exists already", "Name another file with --output, or move it away")
    opened = open_source(Declarations(source, "sqlite:///ledger.db", {}))
    try:
        found = opened.catalogue()
    finally:
        opened.close()
    wanted = {name: columns for name, columns in found.items() if not tables or name in tables}
    if not wanted:
        listed = ", ".join(sorted(found)) or "none"
        if not found:
            fix = "For files name the file itself, or the folder; for Spark name a Parquet file and set the url later"
            raise ArgumentError("source", source, "there is no table in it", fix)
        raise ArgumentError("table", ", ".join(tables), "the source has no such table", f"It has: {listed}")
    text = starter(source, wanted)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ArgumentError("output", output, f"it cannot be written ({error.strerror})", "Name another file") from None
    blanks = sum("___" in line and not line.lstrip().startswith("#") for line in text.splitlines())
    if as_json:
        say(json.dumps({"written": str(target), "tables": sorted(wanted), "blanks": blanks}))
        return
    say(
        f"Wrote {target} with {', '.join(sorted(wanted))}. Next:\n"
        f"  1. Fill in the {blanks} lines that hold ___ . They are public promises; do not look them up in the rows.\n"
        "  2. Remove the # before columns to group by or to ask about; the others may stay switched off.\n"
        f'  3. thresher plan -c {target} "SELECT ... GROUP BY ... HAVING COUNT(*) > ..." --uncertain-region 20'
    )
