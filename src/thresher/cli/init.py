"""`thresher init`: a commented starter for a file or a database, from its catalogue alone.

Reads: the catalogue of a source. Writes: thresher.toml. Never: rows; a bound or a list of values taken from them.
"""

import json
from pathlib import Path

import click

from thresher.cli.options import CONFIG, json_option
from thresher.config import Declarations, starter
from thresher.errors import ArgumentError
from thresher.sources import open_source


@click.command()
@click.argument("source")
@click.option("--table", "tables", multiple=True, help="Only this table; may be repeated.")
@click.option("--output", "-o", default=CONFIG, show_default=True, metavar="FILE", help="Where to write it.")
@json_option
def init(*, source: str, tables: tuple[str, ...], output: str, as_json: bool) -> None:
    r"""Write a starter thresher.toml for SOURCE: a file (Parquet, CSV, Arrow), a folder of them, or an address.

    \b
      thresher init patients.parquet
      thresher init duckdb:///clinic.duckdb
      thresher init postgresql://user@host/database
      thresher init 'spark://local[2]'

    Only the catalogue is read: names and types. What must come from you is left as a marked blank (___): bounds and
    lists of values are public promises, and taking them from the rows would give those away.
    """
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
        raise ArgumentError("table", ", ".join(tables), "the source has no such table", f"It has: {listed}")
    text = starter(source, wanted)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ArgumentError("output", output, f"it cannot be written ({error.strerror})", "Name another file") from None
    if as_json:
        click.echo(json.dumps({"written": str(target), "tables": sorted(wanted), "blanks": text.count("___")}))
    else:
        blanks = text.count("= ___")
        click.echo(f"Wrote {target}: {len(wanted)} table(s). Fill in the {blanks} blanks marked ___, then try:")
        click.echo(f'  thresher plan -c {target} "SELECT ... GROUP BY ... HAVING COUNT(*) > ..."')
