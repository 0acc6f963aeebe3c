"""Where the data is: the URL of the source and the declared files.

Reads: names of files. Writes: nothing. Never: a password in a message.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

from thresher.config import Declarations, PublicDeclaration, Table, data_path
from thresher.errors import DeclarationError
from thresher.sources.protocol import UNREAD

SUFFIXES = (".parquet", ".csv", ".tsv", ".arrow", ".feather", ".ipc")
_DATABASES = (".duckdb", ".ddb", ".db")
_SCHEME = re.compile(r"([a-z]+)://(.*)", re.DOTALL)
_KNOWN = (
    "duckdb:///clinic.duckdb, a Parquet, CSV or Arrow file, a folder of them, postgresql://…, spark://… or memory://"
)
_RELATIVE = "Relative paths start at the folder of thresher.toml."


@dataclass(frozen=True, slots=True)
class Address:
    """The `engine` (duckdb, postgres, spark or memory), and its `target`: a database file, a server, or nothing."""

    engine: str
    target: str
    shown: str
    files: Mapping[str, "Files"]

    def paths(self) -> dict[str, tuple[str, ...]]:
        """Return the files of each table whose files are all there. Others are refused when the catalogue is read."""
        return {name: files.paths for name, files in self.files.items() if files.paths and not files.absent()}


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a table, the setting that names them, and the value of that setting."""

    paths: tuple[str, ...]
    setting: str
    written: str

    @property
    def suffix(self) -> str:
        return Path(self.paths[0]).suffix.lower()

    def absent(self) -> list[str]:
        return [path for path in self.paths if not os.access(path, os.R_OK)]

    def check(self) -> None:
        """Refuse a file that is absent, is a folder, or may not be read. No row is read."""
        missing = self.absent()
        if not missing and self.paths:
            return
        if not missing or not any(os.path.lexists(path) for path in missing):
            raise DeclarationError(self.setting, f"no such file: {self.written}. {_RELATIVE} {UNREAD}")
        raise DeclarationError(
            self.setting, f"{self.written} may not be read by this user. Grant the right to read it. {UNREAD}"
        )


def address(declarations: Declarations) -> Address:
    """Return where each table is. Files that are absent are refused later, when the declarations are checked."""
    where = _address(declarations)
    _refuse_shared(where.files, declarations)
    return where


def _refuse_shared(files: Mapping[str, Files], declarations: Declarations) -> None:
    """Refuse a private table with a file of another one, by a pattern or a link: its rows would have two budgets."""
    taken: dict[str, str] = {}
    for section, tables in (("public_tables", declarations.public_tables), ("tables", declarations.tables)):
        for name, table in tables.items():
            known = files.get(name if table.file is not None else table.relation or name)
            for path in known.paths if known else ():
                twin = taken.setdefault(os.path.realpath(path), f"[{section}.{name}]")
                if section == "tables" and twin != f"[tables.{name}]":
                    raise DeclarationError(
                        f"tables.{name}",
                        f"{twin} has the file {Path(path).name} too, and rows are declared once. Keep one of the two",
                    )


def _address(declarations: Declarations) -> Address:
    url = declarations.source
    match = _SCHEME.fullmatch(url)
    scheme, rest = (match[1], match[2]) if match else ("", url)
    own = _own_files(declarations)
    if scheme in ("postgresql", "postgres"):
        return Address("postgres", url, "the PostgreSQL server", own)
    if scheme == "spark":
        master = rest if rest.startswith("local") else url
        return Address("spark", master, "Spark", own)
    if scheme == "memory":
        return Address("memory", "", "the tables in memory", own)
    if scheme == "duckdb" or (scheme == "" and rest.endswith(_DATABASES)):
        target = str(_path(rest, declarations.folder, rooted=scheme == "")) if rest.strip("/") else ""
        return Address("duckdb", target, target or "DuckDB", own)
    path = data_path(url, declarations.folder)
    if path is not None:
        return Address("duckdb", "", str(path), {**_files_at(path, declarations), **own})
    raise DeclarationError("source.url", f"{scheme}:// is not a known address. Write {_KNOWN}")


def _path(rest: str, folder: Path, *, rooted: bool) -> Path:
    """Return the path after `duckdb://`, which begins with a slash, or with two slashes if it is absolute."""
    if rooted or not rest.startswith("/"):
        return folder / rest
    return folder / rest[1:]


def _own_files(declarations: Declarations) -> dict[str, Files]:
    found = {}
    for section, tables in (("tables", declarations.tables), ("public_tables", declarations.public_tables)):
        for name, table in tables.items():
            if table.file is not None:
                path = declarations.folder / table.file
                written = path.relative_to(declarations.folder) if _lies_in(path, declarations.folder) else path
                found[name] = Files(_found(path), f"{section}.{name}.file", str(written))
    return found


def _lies_in(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder) and folder != Path()


def _found(path: Path) -> tuple[str, ...]:
    """Return the files that a path or pattern names, sorted. A path without a pattern may name a missing file."""
    text = str(path.absolute())
    return tuple(sorted(glob(text, recursive=True))) if has_magic(text) and not path.exists() else (text,)


def _files_at(path: Path, declarations: Declarations) -> dict[str, Files]:
    written = declarations.source
    if path.is_dir():
        found: dict[str, list[Path]] = {}
        for child in sorted(path.iterdir()):
            if child.suffix.lower() in SUFFIXES:
                found.setdefault(child.stem, []).append(child)
        for name, files in found.items():
            _refuse_twins(name, files, declarations)
        single = {name: str(files[0].absolute()) for name, files in found.items() if len(files) == 1}
        return {name: Files((file,), "source.url", f"{written} ({name})") for name, file in single.items()}
    if path.suffix.lower() not in SUFFIXES:
        raise DeclarationError("source.url", f"{path.name} is not a known kind of data file. Write {_KNOWN}")
    without = [name for name, table in declarations.tables.items() if table.file is None]
    name = without[0] if len(without) == 1 else path.stem
    return {name: Files(_found(path), "source.url", written)}


def _refuse_twins(name: str, files: list[Path], declarations: Declarations) -> None:
    """Refuse two files of a folder that would both be one table, unless no declaration names that table."""
    declared: dict[str, Table | PublicDeclaration] = {**declarations.tables, **declarations.public_tables}
    wanted = {table.relation or key for key, table in declared.items() if table.file is None}
    if len(files) > 1 and (name in wanted or not declared):
        raise DeclarationError(
            "source.url",
            f"{' and '.join(file.name for file in files)} would both be the table {name}. Move one away, or name "
            f"the one you mean: file = {files[0].name!r} under [tables.{name}]",
        )
