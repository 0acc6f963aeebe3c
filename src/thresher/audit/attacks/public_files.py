"""A folder of public data sets: whether it is there, what it lacks, and columns of its files.

Reads: parquet and CSV files of public data. Writes: nothing. Never: a file that is not there as an error; a folder
that was named and is not there is one.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from thresher.errors import SourceError


def must_be_there(folder: Path | None) -> None:
    """A folder that was named and is not there is refused at once; naming none is allowed."""
    if folder is not None and not os.path.isdir(folder):
        fix = "name another one with --data or THRESHER_DATA, or none to see made-up data only"
        raise SourceError(f"the folder of data {_shown(folder)} is not there: {fix}")


def lack(folder: Path | None, source: str, names: Iterable[str]) -> str:
    """What is missing; nothing, if all files are there."""
    if folder is None:
        return "no folder of data was named"
    name = next((name for name in names if not os.path.isfile(folder / source / name)), "")
    return name and f"the folder of data has no {source}/{name}"


def columns(folder: Path, name: str, kinds: Mapping[str, str]) -> Any:
    """These columns of a file, as a pyarrow table of these types. It is public, so errors may name it."""
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
        fix = "see docs/reproduce.md, or take the file away"
        raise SourceError(f"{folder.name}/{name} cannot be read; it needs the columns {needed}: {fix}") from None


def _shown(folder: Path) -> str:
    """Its name as it was passed, without what could steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in str(folder))
