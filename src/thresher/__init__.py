"""Thresher: private decision support. Begin with `thresher.open("thresher.toml")`, which returns an engine.

`thresher.open_stream("thresher.toml", "campus")` opens a declared stream. To read the code, begin with `engine.py`,
then `charging.py` and `plan.py`. `import thresher` alone loads no room: each is loaded when it is used.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thresher.config import Declarations
    from thresher.engine import Engine
    from thresher.live.running_stream import RunningStream
    from thresher.noise import Entropy

__version__ = "0.1.0"


def open(  # noqa: A001 - the contract's name
    declarations: "Declarations | Path | str",
    *,
    tables: Mapping[str, object] | None = None,
    analyst: str = "",
    versions: Mapping[str, str] | None = None,
) -> "Engine":
    """Open an engine for a `thresher.toml`.

    tables      Arrow, pandas or polars tables in memory, by declared name
    analyst     who asks
    versions    which edition of its rows a table holds today, by declared name: in place of the declared `version`
    """
    from thresher.engine import open_engine  # noqa: PLC0415 - `import thresher` stays light

    return open_engine(declarations, tables=tables, analyst=analyst, versions=versions)


def open_stream(
    declarations: "Declarations | Path | str", name: str, *, entropy: "Entropy | None" = None
) -> "RunningStream":
    """Open a stream of a `thresher.toml`, ready for its next step."""
    from thresher.live.open_stream import open_stream as opened  # noqa: PLC0415 - as above

    return opened(declarations, name, entropy=entropy)
