"""Where a book is kept: one file for each kind of database, over shared statements."""

from pathlib import Path
from typing import Any

from thresher.errors import ArgumentError, LedgerError
from thresher.ledger.stores.database import DatabaseStore


def store_for(url: str) -> tuple[DatabaseStore[Any], Path | None]:
    """The store that a URL names, and where its anchor lies if nothing else is said."""
    if isinstance(url, str) and url.startswith("sqlite:///") and len(url) > len("sqlite:///") and _is_plain(url):
        from thresher.ledger.stores.sqlite import SqliteStore  # noqa: PLC0415 - each driver loads when it is used

        path = Path(url.removeprefix("sqlite:///"))
        return SqliteStore(path), path.with_name(path.name + ".anchor")
    if isinstance(url, str) and url.startswith(("postgresql://", "postgres://")):
        try:
            from thresher.ledger.stores.postgres import PostgresStore  # noqa: PLC0415
        except ImportError:
            raise LedgerError(
                "a ledger in PostgreSQL needs the driver psycopg: install it with pip install 'thresher[postgres]'"
            ) from None
        return PostgresStore(url), None
    # What was passed is not repeated: it may hold a password.
    shown = url.partition("://")[0][:20] + "://..." if isinstance(url, str) and "://" in url else type(url).__name__
    raise ArgumentError(
        "ledger", shown, "a ledger is sqlite:///FILE or postgresql://...", 'Pass e.g. "sqlite:///ledger.db"'
    )


def _is_plain(url: str) -> bool:
    """Text that can name a file: no NUL, no lone surrogate."""
    return "\x00" not in url and url.encode(errors="replace").decode() == url
