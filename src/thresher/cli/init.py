"""`thresher init`: write a commented thresher.toml for a file or a database, from its catalogue alone.

Reads: the catalogue of a source, a person's answers. Writes: thresher.toml. Never: rows; a bound or a list of values
taken from them.
"""

import json
from glob import has_magic
from pathlib import Path
from typing import TypedDict, Unpack

import click

from thresher.cli.help_pages import RareOption, ShortHelp
from thresher.cli.init_answers import Flags, Tables, asked_for, choices_in
from thresher.cli.init_summary import draft_document, draft_summary
from thresher.cli.options import CONFIG, json_option
from thresher.cli.output import say
from thresher.config import Declarations, RelationFacts, data_path, derived_relations, drafted
from thresher.errors import ArgumentError
from thresher.sources import open_source


class _Typed(TypedDict):
    """Flags that say what only a person knows."""

    budget: str | None
    unit: str | None
    limits: str | None
    rows_are_people: bool
    values: tuple[str, ...]
    bounds: tuple[str, ...]
    public_tables: tuple[str, ...]
    table_version: str | None


@click.command(cls=ShortHelp)
@click.argument("source")
@click.option("--budget", metavar="EPSILON", help="The most that all questions may ever cost.")
@click.option("--unit", metavar="COLUMN", help="The column that names the people who are protected.")
@click.option("--limits", metavar="GROUPS,ROWS", help="Most groups of one person, and rows in each: 10,3.")
@click.option("--rows-are-people", is_flag=True, help="Each row is a different person.")
@click.option("--values", multiple=True, metavar="COL=A,B", help="List the values of a column.")
@click.option("--bounds", multiple=True, metavar="COL=A:B:STEP", help="Bound a number or a date.")
@click.option("--public-table", "public_tables", multiple=True, metavar="NAME", help="A table that anybody may see.")
@click.option("--table", "tables", multiple=True, metavar="NAME", cls=RareOption, help="Draft only this table.")
@click.option("--table-version", metavar="TEXT", cls=RareOption, help="You change it whenever the rows change.")
@click.option("--output", "-o", default=CONFIG, show_default=True, metavar="FILE", help="Where to write it.")
@json_option
def init(*, source: str, tables: tuple[str, ...], output: str, as_json: bool, **typed: Unpack[_Typed]) -> None:
    """Write thresher.toml for your data. Reads names and types, never rows.

    SOURCE: a file, a folder, or an address.

    \b
      thresher init visits.parquet --budget 1 --unit person_id --limits 10,3
      thresher init postgresql://user@host/database

    Bounds and lists of values are public: taking them from rows reveals them.
    """  # noqa: D301 - click reads the backslash
    target = Path(output)
    if target.exists():
        raise ArgumentError("output", output, "it exists already", "Move it away, or name another file")
    flags = Flags(**typed)
    if flags.table_version is not None and _many_files(source):
        rule = "a folder or a pattern may hold other files tomorrow, and the version would not change"
        raise ArgumentError("table_version", flags.table_version, rule, "Name one file, or leave it out")
    catalogue, facts = _looked_up(source)
    unknown = sorted(set(tables) - set(catalogue))
    if unknown:
        has = f"It has: {', '.join(sorted(catalogue))}"
        raise ArgumentError("table", ", ".join(unknown), "the source has no such table", has)
    derived = derived_relations(facts)
    named: Tables = {name: catalogue[name] for name in tables or catalogue if tables or name not in derived}
    choices = choices_in(flags, named, catalogue)
    if not as_json:
        choices = asked_for(choices, named)
    draft = drafted(source, catalogue, choices, facts, wanted=tuple(named) if tables else ())
    try:
        target.write_text(draft.text, encoding="utf-8")
    except OSError as error:
        raise ArgumentError("output", output, f"it cannot be written ({error.strerror})", "Name another file") from None
    say(json.dumps(draft_document(draft, output)) if as_json else "\n".join(draft_summary(draft, choices, output)))


def _looked_up(source: str) -> tuple[Tables, dict[str, RelationFacts]]:
    """Return the tables of the source with their columns, and what else its catalogue says about them."""
    opened = open_source(Declarations(source, "sqlite:///ledger.db", {}))
    try:
        catalogue, facts = opened.catalogue(), opened.facts()
    finally:
        opened.close()
    if not catalogue:
        fix = "Name a file, or a folder of files; for Spark name a Parquet file and set the url later"
        raise ArgumentError("source", source, "there is no table in it", fix)
    return catalogue, dict(facts)


def _many_files(source: str) -> bool:
    path = data_path(source, Path())
    return path is not None and (path.is_dir() or (has_magic(source) and not path.exists()))
