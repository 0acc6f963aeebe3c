"""Thresher: private decision support. `thresher.open("thresher.toml")` is where to begin."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thresher.config import Declarations
    from thresher.engine import Engine

__version__ = "0.1.0"


def open(  # noqa: A001 - the contract's name
    declarations: "Declarations | Path | str",
    *,
    tables: Mapping[str, object] | None = None,
    analyst: str = "",
) -> "Engine":
    """An engine for a `thresher.toml`. `tables`: Arrow, pandas or polars tables in memory, by declared name."""
    from thresher.engine import open_engine  # noqa: PLC0415 - `import thresher` stays light

    return open_engine(declarations, tables=tables, analyst=analyst)
