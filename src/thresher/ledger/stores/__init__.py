"""The stores in which a book is kept: one file for each kind of database, over shared tables and statements.

A store adds only what its database does differently. No rule about budgets may enter this room: see `ledger/rules.py`.
Reads and writes: a database. Never: repeats what may hold a password.
"""

from pathlib import Path
from typing import Any

from thresher.errors import ArgumentError, LedgerError
from thresher.ledger.stores.database import DatabaseStore

_LONGEST_SHOWN = 60


def store_for(url: str) -> tuple[DatabaseStore[Any], Path | None]:
    """Return the store at an address, and the usual path of its anchor; None if it has none by default."""
    if isinstance(url, str) and url.startswith("sqlite:///") and len(url) > len("sqlite:///") and _is_plain(url):
        from thresher.ledger.stores.sqlite import SqliteStore  # noqa: PLC0415 - each driver loads when it is used

        path = Path(url.removeprefix("sqlite:///"))
        return SqliteStore(path), path.with_name(path.name + ".anchor")
    if isinstance(url, str) and url.startswith(("postgresql://", "postgres://")):
        try:
            from thresher.ledger.stores.postgres import PostgresStore  # noqa: PLC0415
        except ImportError:
            raise LedgerError(
                "a ledger in PostgreSQL needs the driver psycopg. Install it with: pip install 'thresher[postgres]'"
            ) from None
        return PostgresStore(url), None
    raise _no_ledger_url(url)


def _no_ledger_url(url: object) -> ArgumentError:
    """Refuse a value that is not the address of a ledger. What may hold a password is not repeated."""
    rule = "it must be sqlite:///FILE or postgresql://USER@HOST/DATABASE"
    if not isinstance(url, str):
        return ArgumentError("ledger", type(url).__name__, rule, 'Pass e.g. "sqlite:///ledger.db"')
    if 0 < len(url) <= _LONGEST_SHOWN and _is_plain(url) and not any(sign in url for sign in ":@="):
        return ArgumentError("ledger", url, rule, f"For this file use sqlite:///{url}")
    scheme, separator, _ = url.partition("://")
    shown = f"{scheme[:20]}://..." if separator else "..." if url else ""
    return ArgumentError("ledger", shown, rule, "For a file named ledger.db use sqlite:///ledger.db")


def _is_plain(url: str) -> bool:
    """Tell whether a text can name a file: it has no NUL and no lone surrogate."""
    return "\x00" not in url and url.encode(errors="replace").decode() == url
