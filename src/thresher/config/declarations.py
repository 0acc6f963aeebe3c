"""`thresher.toml` as frozen declarations: everything that is public about the data, and nothing else.

Reads: nothing. Writes: nothing. Never: data, defaults that depend on data.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

from thresher.amounts import Epsilon
from thresher.config.columns import Column
from thresher.config.own_budgets import OwnBudgets
from thresher.config.sections import MAX_NAME
from thresher.config.shared_accounts import AccountDeclaration
from thresher.config.streams import StreamDeclaration
from thresher.errors import ArgumentError, DeclarationError

# Settings in the address of a server that decide which database it names, or which schema a table is looked for in.
_NAMING = ("dbname", "host", "hostaddr", "options", "port", "service")


@dataclass(frozen=True, slots=True)
class Contribution:
    """The limits of one privacy unit: the most groups in which it counts, and the most rows in each of them."""

    unit: str
    max_groups: int
    max_rows: int


@dataclass(frozen=True, slots=True)
class Table:
    """A private table. Without `contribution` every row is its own unit."""

    name: str
    columns: Mapping[str, Column]
    budget: Epsilon
    max_epsilon_per_question: Epsilon | None = None
    contribution: Contribution | None = None
    count_range: int | None = None
    # Where the source keeps it, if not under its own name: another relation ("schema.table"), or a file.
    relation: str | None = None
    file: Path | None = None
    # Changed by the curator when the rows change: answers about another version are other answers. None: not declared.
    version: str | None = None
    # Which source holds it: an address without user and password, which `Declarations` sets in its tables.
    source: str = ""
    # Declared if each person brings a budget: then `budget` is 1, which stands for all of each person's budget.
    own_budgets: OwnBudgets | None = None
    # The account of people that pays, if it is not the table's own; then `budget` is that of the account.
    people: AccountDeclaration | None = None
    # Declared by the curator: the rows never change.
    snapshot: bool = False

    @property
    def account(self) -> str:
        """Return the name of its account in the ledger. Shares of personal budgets are kept under another name."""
        if self.people is not None:
            return self.people.name
        return self.name if self.own_budgets is None else f"personal:{self.name}"

    @property
    def names_its_rows(self) -> bool:
        """Tell whether the curator declared which rows these are, so that they can be measured again."""
        return self.snapshot or self.version is not None

    @property
    def edition(self) -> str:
        """Return the version by which the sources order the rows of a unit."""
        return "1" if self.version is None else self.version

    @property
    def rows_per_unit(self) -> int:
        """Return the most rows of one unit that one group may hold."""
        return self.contribution.max_rows if self.contribution else 1

    @property
    def fixed_columns(self) -> tuple[str, ...]:
        """Columns in which all rows of a unit agree; if a row is a unit, that is every column."""
        return tuple(name for name, column in self.columns.items() if column.fixed or self.contribution is None)


@dataclass(frozen=True, slots=True)
class PublicDeclaration:
    """A table that anybody may see. It is read whole, and may be joined."""

    name: str
    relation: str | None = None
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class Declarations:
    """The content of one `thresher.toml`. Relative paths start from `folder`, the folder of the file.

    Without tables there may be no source: `source` is then empty, and streams are fed from outside.
    """

    source: str
    ledger: str
    tables: Mapping[str, Table]
    public_tables: Mapping[str, PublicDeclaration] = field(default_factory=dict)
    streams: Mapping[str, StreamDeclaration] = field(default_factory=dict)
    accounts: Mapping[str, AccountDeclaration] = field(default_factory=dict)
    folder: Path = Path()
    anchor: Path | None = None
    # How long a process may show no sign of life before the ledger charges what it has reserved; None: as usual.
    lease_seconds: int | None = None
    timeout_seconds: int = 600
    max_groups: int = 10_000
    # The line of each place in the file, such as "tables.visits.columns.age". Lines are not part of the declarations.
    lines: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        place = place_of(self.source, self.folder)
        tables = {name: replace(table, source=place) for name, table in self.tables.items()}
        object.__setattr__(self, "tables", tables)

    def budgets(self) -> dict[str, Epsilon]:
        """Return the budget of each account: declared ones, and those of tables and streams."""
        accounts = {account.name: account.budget for account in self.accounts.values()}
        tables = {table.account: table.budget for table in self.tables.values()}
        return accounts | tables | {stream.account_name: stream.budget for stream in self.streams.values()}

    def with_versions(self, versions: Mapping[str, str]) -> "Declarations":
        """Return the same declarations with the versions that the curator names now, by table."""
        tables = dict(self.tables)
        for name, version in versions.items():
            if name not in tables:
                known = ", ".join(tables) or "none"
                raise ArgumentError("versions", name, f"no such table is declared; declared: {known}", "Name one")
            if not isinstance(version, str) or not 1 <= len(version) <= MAX_NAME or not version.isprintable():
                rule = f"a version is a text of 1 to {MAX_NAME} printable characters"
                raise ArgumentError(f"versions.{name}", version, rule, 'Pass e.g. "2026-11-19"')
            tables[name] = replace(tables[name], version=version)
        return replace(self, tables=tables)

    def line_of(self, place: str) -> int | None:
        """Return the line of a place, or of the nearest place around it; None if there was no file."""
        while place and place not in self.lines:
            place = place.rpartition(".")[0]
        return self.lines.get(place)

    def located(self, error: DeclarationError) -> DeclarationError:
        """Return a refusal that was made after the file was read, with its line."""
        if error.line is not None:
            return error
        return DeclarationError(error.place, error.message, self.line_of(error.place))


def data_path(source: str, folder: Path) -> Path | None:
    """Return the file or folder that an address names; None for a server, a DuckDB address, a cluster and memory."""
    scheme, found, rest = source.partition("://")
    if not found:
        return folder / source if source else None
    if scheme not in ("file", "parquet", "csv"):
        return None
    # After parquet:// and csv:// a path begins with a slash, and an absolute path with two.
    return folder / (rest if scheme == "file" else rest.removeprefix("/"))


def place_of(source: str, folder: Path = Path()) -> str:
    """Return a text that differs for sources with different rows, without user and password.

    The rows of a cluster and of tables in memory are named elsewhere, so the scheme is enough for these.
    """
    path = data_path(source, folder)
    if path is not None:
        return str(path)
    scheme, _, rest = source.partition("://")
    if scheme in ("", "spark", "memory"):
        return scheme
    if scheme == "duckdb":
        return source
    try:
        parts = urlsplit(f"//{rest}")
        hosts = parts.netloc.rpartition("@")[2]
        server = hosts if "," in hosts else f"{parts.hostname or ''}:{parts.port or ''}"
    except ValueError:  # the place of the port may hold a part of a password
        return scheme
    naming = sorted(setting for setting in parse_qsl(parts.query) if setting[0] in _NAMING)
    if parts.username and parts.path in ("", "/") and not any(name == "dbname" for name, _ in naming):
        naming = [("dbname", parts.username), *naming]  # PostgreSQL then opens the database of that name
    return f"{scheme}://{server}{parts.path}{'?' if naming else ''}{urlencode(naming)}"
