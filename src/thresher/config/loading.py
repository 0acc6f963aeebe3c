"""From `thresher.toml` to `Declarations`: one section after the other, and the rules between them.

READ FIRST in this room: `load` -> `parsing` (TOML and its mistakes) -> `sections` (fields) -> `kinds` (columns).
Reads: one file. Writes: nothing. Never: opens the source or the ledger; puts an address into a message.
"""

import re
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

from thresher.amounts import Epsilon
from thresher.config.columns import Bands, Column, Referenced
from thresher.config.declarations import Contribution, Declarations, PublicDeclaration, Table, data_path
from thresher.config.kinds import HOW_TO_DECLARE, check_bands, kind_in
from thresher.config.own_budgets import own_budgets_in
from thresher.config.parsing import file_section, file_text
from thresher.config.relations import check_declared_once
from thresher.config.sections import MAX_NAME, Section, did_you_mean, dotted, is_whole
from thresher.config.shared_accounts import AccountDeclaration, account_of, accounts_in
from thresher.config.streams import Polled, StreamDeclaration, stream_in
from thresher.errors import ArgumentError

FILE_FIELDS = ("source", "ledger", "limits", "accounts", "tables", "public_tables", "streams")
SOURCE_FIELDS = ("url", "timeout_seconds")
LEDGER_FIELDS = ("url", "anchor", "lease_seconds")
LIMITS_FIELDS = ("max_groups",)
TABLE_FIELDS = (
    "unit",
    "max_groups_per_unit",
    "max_rows_per_group",
    "count_range",
    "budget",
    "max_epsilon_per_question",
    "budget_column",
    "budget_roster",
    "account",
    "version",
    "snapshot",
    "file",
    "table",
    "columns",
)
PUBLIC_FIELDS = ("file", "table")

_DAY_SECONDS = 86_400
_MOST_GROUPS = 1_000_000
_MOST_PER_UNIT = 1_000_000
_LARGEST_COUNT = 10**12
_WHOLE = Epsilon(1)
# "host=... password=..." is not an address here. Taken for the name of a file, it would be shown in messages.
_KEYWORDS = re.compile(r"\b(host|user|password|dbname)\s*=")
_SQLITE, _DUCKDB = "sqlite:///", "duckdb:///"


def load(path: Path | str) -> Declarations:
    """Return the declarations of a file. Paths in it start from the folder of the file."""
    if not isinstance(path, Path | str):
        raise ArgumentError("path", path, "it must name a file", 'Pass e.g. "thresher.toml"')
    file = Path(path)
    return read(file_text(file), file.parent, file.name)


def read(text: str, folder: Path, name: str = "thresher.toml") -> Declarations:
    """Return the declarations of a text whose paths start from `folder`. Refusals call it `name`."""
    if not isinstance(text, str):
        raise ArgumentError("text", text, "it must be text", "Pass a string")
    return _declarations(file_section(text, name), _one_name(Path(folder)))


def _one_name(folder: Path) -> Path:
    """Return the one absolute name of the folder, so that declarations do not depend on how it was written."""
    try:
        return folder.resolve()
    except (OSError, RuntimeError):  # a circle of links
        return folder.absolute()


def _declarations(file: Section, folder: Path) -> Declarations:
    file.only(*FILE_FIELDS)
    fed = "streams" in file and "tables" not in file
    if not fed:
        file.required("source", 'Write [source] and under it url = "duckdb:///clinic.duckdb"')
    source = file.section("source", 'Write [source] and under it url = "duckdb:///clinic.duckdb"')
    source.only(*SOURCE_FIELDS)
    ledger = file.section("ledger", 'Write [ledger] and under it url = "sqlite:///ledger.db"')
    ledger.only(*LEDGER_FIELDS)
    limits = file.section("limits", "Write [limits] and under it max_groups = 10000")
    limits.only(*LIMITS_FIELDS)
    public = _public_tables(file, folder)
    url = _source(source, folder) if source.content or not fed else ""
    accounts = accounts_in(file)
    tables = {} if fed else _tables(file, folder, public, accounts)
    streams = _streams(file, folder, tables, accounts)
    check_declared_once(file.section("tables", ""), tables, public, data_path(url, folder))
    return Declarations(
        source=url,
        ledger=_ledger(ledger, folder),
        tables=tables,
        public_tables=public,
        streams=streams,
        accounts=accounts,
        folder=folder,
        anchor=_path(ledger, "anchor", folder),
        lease_seconds=_lease(ledger),
        timeout_seconds=source.whole("timeout_seconds", _DAY_SECONDS, 600, "Write seconds: timeout_seconds = 600"),
        max_groups=limits.whole("max_groups", _MOST_GROUPS, 10_000, "Write max_groups = 10000"),
        lines=file.places.by_name(),
    )


def _lease(ledger: Section) -> int | None:
    if "lease_seconds" not in ledger:
        return None
    return ledger.whole("lease_seconds", _DAY_SECONDS, 60, "Write lease_seconds = 60")


def _source(source: Section, folder: Path) -> str:
    fix = 'Write e.g. url = "duckdb:///clinic.duckdb", "visits.parquet", "postgresql://user@host/clinic"'
    source.required("url", fix)
    url = source.text("url", fix)
    if not url.isprintable() or ("://" not in url and _KEYWORDS.search(url)):
        rule = "a source is an address such as duckdb:///FILE, or a path, without control codes"
        raise source.refusal("url", rule, fix, shown='"..."')
    return _placed(url, _DUCKDB, folder)


def _ledger(ledger: Section, folder: Path) -> str:
    fix = 'Write url = "sqlite:///ledger.db" or "postgresql://user@host/ledger"'
    url = ledger.text("url", fix) if "url" in ledger else "sqlite:///ledger.db"
    if not url.startswith((_SQLITE, "postgresql://", "postgres://")) or url == _SQLITE or not url.isprintable():
        shown = None if "://" in url else '"..."'
        raise ledger.refusal("url", "a ledger is sqlite:///FILE or postgresql://...", fix, shown=shown)
    return _placed(url, _SQLITE, folder)


def _placed(url: str, scheme: str, folder: Path) -> str:
    """Return the address of a file, whose path starts from the folder of the declarations."""
    file = url.removeprefix(scheme)
    return url if file in ("", url) else f"{scheme}{folder / file}"


def _path(section: Section, field: str, folder: Path) -> Path | None:
    if field not in section:
        return None
    path = section.text(field, f'Write a path such as {field} = "data/patients.parquet"')
    if "://" in path:
        raise section.refusal(field, "it must be a path, not an address", "Addresses belong under [source]")
    return folder / path


def _public_tables(file: Section, folder: Path) -> dict[str, PublicDeclaration]:
    fix = "Write one section for each, such as [public_tables.diseases]"
    public = {}
    for name, section in file.section("public_tables", fix).sections(fix):
        section.only(*PUBLIC_FIELDS)
        public[name] = PublicDeclaration(name, *_place_of_rows(section, folder))
    return public


def _place_of_rows(section: Section, folder: Path) -> tuple[str | None, Path | None]:
    """Return the relation or the file with the rows of a table, if it is not the relation of its name."""
    relation = section.text("table", 'Write e.g. table = "clinic.patients"') if "table" in section else None
    if relation is not None and "file" in section:
        raise section.refusal("file", "`table` already says where the rows are", "Keep one of the two")
    return relation, _path(section, "file", folder)


def _tables(
    file: Section,
    folder: Path,
    public: dict[str, PublicDeclaration],
    accounts: dict[str, AccountDeclaration],
) -> dict[str, Table]:
    fix = "Declare at least one private table: [tables.patients]"
    file.required("tables", fix)
    tables = file.section("tables", fix)
    if not tables.content:
        raise tables.refusal_here("there is no table to ask about", fix)
    folded = {name.casefold() for name in public}
    private = {}
    for name, section in tables.sections(fix):
        if name.casefold() in folded:
            rule = "this table is declared as public too, and a table is private or public"
            raise section.refusal_here(rule, "Remove it here, or from [public_tables]")
        private[name] = _table(name, section, folder, public, accounts)
        own = [table.account for table in private.values() if table.people is None]
        if len({*own, *accounts}) < len(own) + len(accounts):
            raise section.refusal_here("another account has the same name", "Give one of them another name")
    return private


def _streams(
    file: Section, folder: Path, tables: dict[str, Table], accounts: dict[str, AccountDeclaration]
) -> dict[str, StreamDeclaration]:
    fix = "Write one section for each, such as [streams.campus]"
    streams: dict[str, StreamDeclaration] = {}
    for name, section in file.section("streams", fix).sections(fix):
        stream = stream_in(name, section, folder, accounts)
        if stream.people is None and stream.account_name in {table.account for table in tables.values()}:
            raise section.refusal_here("a table's account has the same name", "Give one of them another name")
        if stream.polled is not None:
            if stream.polled.table not in tables:
                raise section.refusal("table", "no such table is declared", "Declare it: [tables.NAME]")
            if stream.people != tables[stream.polled.table].people and stream.people is not None:
                rule = f"the table {stream.polled.table} does not have the account {stream.people.name}"
                raise section.refusal("account", rule, f'Write account = "{stream.people.name}" in the table too')
            if tables[stream.polled.table].own_budgets is not None:
                rule = "each person in this table has a budget, and a stream needs one budget for all"
                raise section.refusal("table", rule, "Name a table without budget_column")
            stream = replace(stream, polled=_about_table(stream.polled, tables[stream.polled.table]))
        for other in streams.values():
            if other.account_name == stream.account_name and stream.people is None:
                _check_shared(section, stream, other)
        streams[name] = stream
    return streams


def _about_table(polled: Polled, table: Table) -> Polled:
    """Return the polled table with its unit, rows and columns: with others it would be another stream."""
    states, times = (table.columns.get(name) for name in (polled.state_column, polled.time_column))
    unit = None if table.contribution is None else table.contribution.unit
    return replace(polled, relation=table.relation, file=table.file, unit=unit, states=states, times=times)


def _check_shared(section: Section, stream: StreamDeclaration, other: StreamDeclaration) -> None:
    """Refuse streams that share an account unless they protect the same thing, on one clock and with one budget."""
    rule = f"the stream {other.name} has the same account, and {{}}"
    if other.polled and stream.polled and other.polled.unit != stream.polled.unit:
        raise section.refusal("table", rule.format("protects another unit"), "Declare one unit for both tables")
    if other.protected_steps != stream.protected_steps:
        raise section.refusal("protect", rule.format("an account protects one thing"), "Write the same in both")
    if (other.start, other.step_seconds) != (stream.start, stream.step_seconds):
        rule = rule.format("its steps begin at other moments")
        raise section.refusal("step_seconds", rule, "Give both the same start and step_seconds")
    if other.budget != stream.budget:
        raise section.refusal("budget", rule.format("an account has one budget"), "Write the same in both")


def _table(
    name: str,
    section: Section,
    folder: Path,
    public: dict[str, PublicDeclaration],
    accounts: dict[str, AccountDeclaration],
) -> Table:
    section.only(*TABLE_FIELDS)
    people = account_of(section, accounts)
    if people is None and "budget_column" not in section:
        section.required("budget", 'Write the most epsilon that all questions may ever cost: budget = "3.0"')
    contribution = _contribution(section)
    relation, file = _place_of_rows(section, folder)
    columns = _columns(section, contribution, public)
    own = own_budgets_in(section, columns, public)
    if people is not None and (contribution is None or own is not None):
        rule = f"the account {people.name} protects each {people.unit}, and the table must say which rows are whose"
        fix = 'Name the column that holds them: unit = "person_id"'
        if own is not None:
            rule = "each person in this table has a budget, and an account has one budget for all"
            fix = "Remove `account`, or `budget_column` and `budget_roster`"
        raise section.refusal("account", rule, fix)
    limited, fix = "max_epsilon_per_question" in section, "Write a public guess such as 5000"
    return Table(
        name=name,
        columns=columns,
        budget=people.budget if people else section.amount("budget") if own is None else _WHOLE,
        max_epsilon_per_question=section.amount("max_epsilon_per_question") if limited else None,
        contribution=contribution,
        count_range=section.whole("count_range", _LARGEST_COUNT, 1, fix) if "count_range" in section else None,
        relation=relation,
        file=file,
        version=_version(section),
        own_budgets=own,
        people=people,
        snapshot=section.flag("snapshot", "Write snapshot = true if the rows never change"),
    )


def _contribution(section: Section) -> Contribution | None:
    limits = ("max_groups_per_unit", "max_rows_per_group")
    if "unit" not in section:
        for field in limits:
            if field in section:
                rule = "without `unit` each row is a different person, in one group and with one row"
                raise section.refusal(field, rule, 'Name the column of people, unit = "patient_id", or remove this')
        return None
    fix = 'Name a column, unit = "patient_id", or leave it out: then each row is a different person'
    unit = section.column_name("unit", fix)
    reason = "Write a small number: the noise grows with it, and rows beyond it are left out"
    groups, rows = (section.whole(field, _MOST_PER_UNIT, 1, reason) for field in limits)
    return Contribution(unit, groups, rows)


def _version(section: Section) -> str | None:
    if "version" not in section:
        return None
    written = section.content["version"]
    if isinstance(written, date) and not isinstance(written, datetime):
        return written.isoformat()
    fix = 'Write e.g. version = "2024-06", and another version when the rows change'
    if not isinstance(written, str) and not is_whole(written):
        raise section.refusal("version", "it must be text, a whole number or a day", fix)
    version = section.text("version", fix) if isinstance(written, str) else str(written)
    if len(version) > MAX_NAME:
        raise section.refusal("version", f"it has more than {MAX_NAME} characters", fix)
    return version


def _columns(
    table: Section, contribution: Contribution | None, public: dict[str, PublicDeclaration]
) -> dict[str, Column]:
    fix = f"Write under [{dotted((*table.steps, 'columns'))}] e.g. age = {{ min = 0, max = 110 }}"
    table.required("columns", fix)
    columns = table.section("columns", fix)
    if not columns.content:
        raise columns.refusal_here("without columns nothing can be asked", f"{fix}, or remove the # before one")
    sections = dict(columns.sections(HOW_TO_DECLARE))
    kinds = {name: kind_in(section) for name, section in sections.items()}
    for name, kind in kinds.items():
        if isinstance(kind, Bands):
            check_bands(sections[name], kind, kinds)
            if contribution is not None and contribution.unit == name:
                rule = "the unit is a column of the source, and this column is made of bands"
                raise sections[name].refusal("bands_of", rule, "Name another unit, or give the bands another name")
        if isinstance(kind, Referenced) and kind.table not in public:
            rule = f"no such public table is declared{did_you_mean(kind.table, public)}"
            fix = "Declare it: [public_tables.NAME]"
            raise sections[name].refusal("public_table", rule, fix)
    return {name: Column(name, kinds[name], _fixed(sections[name], contribution)) for name in kinds}


def _fixed(column: Section, contribution: Contribution | None) -> bool:
    fixed = column.flag("fixed", "Write fixed = true if all rows of a unit hold the same value")
    if fixed and contribution is None:
        rule = "without `unit` each row is a different person, so all columns are already fixed"
        raise column.refusal("fixed", rule, "Remove it, or name a unit")
    return fixed
