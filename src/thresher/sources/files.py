"""Files and tables in memory: their columns, which must be alike in all files of a table, and Arrow tables of them.

Reads: headers and footers of files; Arrow tables stay where they are. Writes: nothing. Never: the text of an Arrow
error, which may quote rows.
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
    """Return Arrow files as one table, mapped into memory."""
    from pyarrow import dataset  # noqa: PLC0415 - slow to import, and most sources never need it

    files = dataset.dataset(list(paths), format="ipc")
    return in_microseconds(files.to_table()) if _coarse(files.schema) else files


def arrow_columns(paths: Sequence[str]) -> dict[str, list[tuple[object, ...]]]:
    """Return the columns of each file with their types."""
    from pyarrow import dataset  # noqa: PLC0415 - slow to import, and most sources never need it

    schemas = {path: dataset.dataset(path, format="ipc").schema for path in paths}
    return {path: [(field.name, str(field.type)) for field in schema] for path, schema in schemas.items()}


def in_microseconds(table: Any) -> Any:
    """Return the table with times in microseconds. Times too far away wrap around, so that no row makes it fail."""
    import pyarrow  # noqa: PLC0415 - slow to import, and most sources never need it

    fields = [
        field.with_type(pyarrow.timestamp("us", tz=field.type.tz)) if field.name in _coarse(table.schema) else field
        for field in table.schema
    ]
    return table.cast(pyarrow.schema(fields), safe=False) if _coarse(table.schema) else table


def _coarse(schema: Any) -> set[str]:
    return {field.name for field in schema if str(field.type).startswith(("timestamp[s", "timestamp[ms"))}


def coarse_times(place: str, paths: Sequence[str], connection: duckdb.DuckDBPyConnection) -> set[str]:
    """Return the columns with times in milliseconds; refuse files whose columns differ in name or type.

    A time in milliseconds may be too far away for the microseconds that databases use. One such row would decide
    whether the table can be read.
    """
    footers: dict[str, list[tuple[object, ...]]] = {path: [] for path in paths}
    for path, *column in connection.execute(_FOOTERS, [list(paths)]).fetchall():
        footers[path].append(tuple(column))
    # The first entry stands for the file; the writer chose its name.
    parts = {path: columns[1:] for path, columns in footers.items()}
    refuse_unlike(place, parts)
    return {str(name) for name, *_, converted, _, _, logical in parts[paths[0]] if _in_milliseconds(converted, logical)}


def refuse_unlike(place: str, parts: dict[str, list[tuple[object, ...]]]) -> None:
    """Refuse a table of several files whose columns are not the same in all of them."""
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
    """Return Arrow, pandas and polars tables as Arrow tables."""
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
            "it is not an Arrow, pandas or polars table, or a column mixes Python objects. Pass a table whose columns "
            "have one type each",
        )
    return converted
