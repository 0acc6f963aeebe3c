"""Files and tables in memory, as Arrow.

Reads: file headers; Arrow tables stay where they are. Writes: nothing. Never: an Arrow error's text.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from thresher.errors import DeclarationError

ARROW = (".arrow", ".feather", ".ipc")
_FOOTERS = (
    "SELECT file_name, name, type, type_length, num_children, converted_type, scale, precision, logical_type"
    " FROM parquet_schema($1)"
)


def arrow_table(paths: Sequence[str]) -> object:
    """Arrow files, mapped into memory."""
    from pyarrow import dataset  # noqa: PLC0415 - slow to import, and most sources never need it

    found = dataset.dataset(list(paths), format="ipc")
    return in_microseconds(found.to_table()) if _coarse(found.schema) else found


def arrow_columns(paths: Sequence[str]) -> dict[str, list[tuple[object, ...]]]:
    """The columns of each file with their types."""
    from pyarrow import dataset  # noqa: PLC0415 - slow to import, and most sources never need it

    schemas = {path: dataset.dataset(path, format="ipc").schema for path in paths}
    return {path: [(field.name, str(field.type)) for field in schema] for path, schema in schemas.items()}


def in_microseconds(table: Any) -> Any:
    """Times in coarser steps may be too far away for microseconds; here they wrap around, and no row makes it fail."""
    import pyarrow  # noqa: PLC0415 - slow to import, and most sources never need it

    fields = [
        field.with_type(pyarrow.timestamp("us", tz=field.type.tz)) if field.name in _coarse(table.schema) else field
        for field in table.schema
    ]
    return table.cast(pyarrow.schema(fields), safe=False) if _coarse(table.schema) else table


def _coarse(schema: Any) -> set[str]:
    return {field.name for field in schema if str(field.type).startswith(("timestamp[s", "timestamp[ms"))}


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


def in_memory(tables: Mapping[str, object]) -> dict[str, object]:
    """Arrow, pandas and polars tables as Arrow tables."""
    return {name: _as_arrow(name, table) for name, table in tables.items()}


def _as_arrow(name: str, table: Any) -> Any:
    import pyarrow  # noqa: PLC0415 - slow to import, and most sources never need it

    kind = type(table).__module__.split(".")[0]
    converted: Any = None
    try:
        if isinstance(table, pyarrow.Table):
            converted = table
        elif isinstance(table, pyarrow.RecordBatch):
            converted = pyarrow.Table.from_batches([table])
        elif kind == "pandas":
            converted = pyarrow.Table.from_pandas(table, preserve_index=False)
        elif kind == "polars":
            converted = (table.collect() if hasattr(table, "collect") else table).to_arrow()
        converted = None if converted is None else in_microseconds(converted)
    except Exception:  # noqa: BLE001 - the error may quote values
        converted = None
    if converted is None:
        raise DeclarationError(
            f"tables.{name}",
            "it is no Arrow, pandas or polars table, or has a column of mixed Python objects. Pass a table whose "
            "columns have one type each",
        )
    return converted
