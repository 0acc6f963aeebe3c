"""Where the data is, from the source's URL and the declared files.

Reads: names of files. Writes: nothing. Never: a password in a message.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

from thresher.config import Declarations
from thresher.errors import DeclarationError

SUFFIXES = (".parquet", ".csv", ".tsv", ".arrow", ".feather", ".ipc")
_DATABASES = (".duckdb", ".ddb", ".db")
_SCHEME = re.compile(r"([a-z]+)://(.*)", re.DOTALL)
_KNOWN = (
    "duckdb:///clinic.duckdb, a Parquet, CSV or Arrow file, a folder of them, postgresql://…, spark://… or memory://"
)


@dataclass(frozen=True, slots=True)
class Address:
    """`engine`: duckdb, postgres, spark or memory; `target`: a database file, a server, or nothing."""

    engine: str
    target: str
    shown: str
    files: Mapping[str, tuple[str, ...]]


def address(declarations: Declarations) -> Address:
    """Where each table is; files that are absent are found out when the declarations are checked."""
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
    if scheme in ("", "file", "parquet", "csv"):
        path = _path(rest, declarations.folder, rooted=scheme in ("", "file"))
        return Address("duckdb", "", str(path), {**_files_at(path, declarations), **own})
    raise DeclarationError("source.url", f"{scheme}:// is not known. Write {_KNOWN}")


def _path(rest: str, folder: Path, *, rooted: bool) -> Path:
    """After `duckdb://` a path begins with a slash, and an absolute one with two."""
    if rooted or not rest.startswith("/"):
        return folder / rest
    return folder / rest[1:]


def _own_files(declarations: Declarations) -> dict[str, tuple[str, ...]]:
    private = {name: table.file for name, table in declarations.tables.items()}
    named = private | {name: table.file for name, table in declarations.public_tables.items()}
    return {name: _found(declarations.folder / file) for name, file in named.items() if file is not None}


def _found(path: Path) -> tuple[str, ...]:
    """The files that a path or pattern names, in one order; a single path stays, whether it is there or not."""
    text = str(path.absolute())
    return tuple(sorted(glob(text, recursive=True))) if has_magic(text) and not path.exists() else (text,)


def _files_at(path: Path, declarations: Declarations) -> dict[str, tuple[str, ...]]:
    if path.is_dir():
        found: dict[str, list[str]] = {}
        for child in sorted(path.iterdir()):
            if child.suffix.lower() in SUFFIXES:
                found.setdefault(child.stem, []).append(str(child.absolute()))
        return {name: tuple(paths) for name, paths in found.items() if len({Path(p).suffix for p in paths}) == 1}
    if path.suffix.lower() not in SUFFIXES:
        raise DeclarationError("source.url", f"{path.name} is no data file that Thresher knows. Write {_KNOWN}")
    single = _found(path)
    without = [name for name, table in declarations.tables.items() if table.file is None]
    name = without[0] if len(without) == 1 else path.stem
    return {name: single}
