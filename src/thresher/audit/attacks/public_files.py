"""Read a folder of public data sets: check it, say what it lacks, and load columns of its files.

Reads: parquet and CSV files of public data. Writes: nothing. Never: refuses a missing file; only a named folder that
does not exist is refused.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from thresher.errors import SourceError


def must_be_there(folder: Path | None) -> None:
    """Refuse a named folder that does not exist. No folder (None) is allowed."""
    if folder is not None and not os.path.isdir(folder):
        fix = "name another one with --data or THRESHER_DATA, or none to use made-up data only"
        raise SourceError(f"the folder of data {_shown(folder)} is not there: {fix}")


def lack(folder: Path | None, source: str, names: Iterable[str]) -> str:
    """Say what is missing; empty if all files are there."""
    if folder is None:
        return "no folder of data was named"
    name = next((name for name in names if not os.path.isfile(folder / source / name)), "")
    return name and f"the folder of data has no {source}/{name}"


def columns(folder: Path, name: str, kinds: Mapping[str, str]) -> Any:
    """Load columns of a file as a pyarrow table of these types. The file is public, so errors may name it."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import csv, parquet  # noqa: PLC0415

    types = {column: pa.type_for_alias(kind) for column, kind in kinds.items()}
    try:
        if name.endswith(".csv"):
            options = csv.ConvertOptions(column_types=types, include_columns=list(types), strings_can_be_null=True)
            table = csv.read_csv(folder / name, convert_options=options)
        else:
            table = parquet.read_table(folder / name, columns=list(types))
        return pa.table({column: table[column].cast(kind) for column, kind in types.items()})
    except (pa.ArrowException, OSError, KeyError):
        needed = ", ".join(f"{column} ({kind})" for column, kind in types.items())
        fix = "See docs/reproduce.md, or remove the file"
        raise SourceError(f"{folder.name}/{name} cannot be read. It needs the columns {needed}. {fix}") from None


def _shown(folder: Path) -> str:
    """Return the name as it was passed, without characters that control a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in str(folder))
