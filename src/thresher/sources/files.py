"""Files and tables in memory, as Arrow.

Reads: file headers; Arrow tables stay where they are. Writes: nothing. Never: an Arrow error's text.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from thresher.errors import DeclarationError

ARROW = (".arrow", ".feather", ".ipc")


def arrow_table(paths: Sequence[str]) -> object:
    """Arrow files, mapped into memory."""
    from pyarrow import dataset  # noqa: PLC0415 - slow to import, and most sources never need it

    return dataset.dataset(list(paths), format="ipc")


def in_memory(tables: Mapping[str, object]) -> dict[str, object]:
    """Arrow, pandas and polars tables as Arrow tables."""
    return {name: _as_arrow(name, table) for name, table in tables.items()}


def _as_arrow(name: str, table: Any) -> object:
    import pyarrow  # noqa: PLC0415 - slow to import, and most sources never need it

    kind = type(table).__module__.split(".")[0]
    converted: object = None
    try:
        if isinstance(table, pyarrow.Table):
            converted = table
        elif isinstance(table, pyarrow.RecordBatch):
            converted = pyarrow.Table.from_batches([table])
        elif kind == "pandas":
            converted = pyarrow.Table.from_pandas(table, preserve_index=False)
        elif kind == "polars":
            converted = (table.collect() if hasattr(table, "collect") else table).to_arrow()
    except Exception:  # noqa: BLE001 - the error may quote values
        converted = None
    if converted is None:
        raise DeclarationError(
            f"tables.{name}",
            "it is no Arrow, pandas or polars table, or has a column of mixed Python objects. Pass a table whose "
            "columns have one type each",
        )
    return converted
