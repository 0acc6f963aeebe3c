"""What Parquet files say about themselves: whether all parts of a table are alike, and which times are too coarse.

Reads: footers. Writes: nothing. Never: a row.
"""

from collections.abc import Sequence
from pathlib import Path

import duckdb

from thresher.errors import DeclarationError

_FOOTERS = (
    "SELECT file_name, name, type, type_length, num_children, converted_type, scale, precision, logical_type"
    " FROM parquet_schema($1)"
)


def coarse_times(place: str, paths: Sequence[str], connection: duckdb.DuckDBPyConnection) -> set[str]:
    """The columns of times in milliseconds; files whose columns differ in name or type are refused.

    A time in milliseconds may be too far away for the microseconds that databases count in: then one row decides
    whether the table can be read.
    """
    footers: dict[str, list[tuple[object, ...]]] = {path: [] for path in paths}
    for path, *column in connection.execute(_FOOTERS, [list(paths)]).fetchall():
        footers[path].append(tuple(column))
    # The first entry is the file's own, whose name is the writer's choice.
    parts = {path: columns[1:] for path, columns in footers.items()}
    refuse_unlike(place, parts)
    return {str(name) for name, *_, converted, _, _, logical in parts[paths[0]] if _in_milliseconds(converted, logical)}


def refuse_unlike(place: str, parts: dict[str, list[tuple[object, ...]]]) -> None:
    """A table of several files has the same columns in all of them."""
    first, *others = parts
    unlike = [path for path in others if parts[path] != parts[first]]
    if unlike:
        raise DeclarationError(
            place,
            f"the columns of {Path(first).name} and {Path(unlike[0]).name} differ. Write the same columns, with the "
            "same types and in the same order, into every file of a table",
        )


def _in_milliseconds(converted: object, logical: object) -> bool:
    return converted == "TIMESTAMP_MILLIS" or ("TimestampType" in str(logical) and "MilliSeconds" in str(logical))
