"""Where a book is kept: one file for each kind of database, over shared statements."""

from pathlib import Path

from thresher.errors import ArgumentError, LedgerError
from thresher.ledger.stores.statements import Store


def store_for(url: str) -> tuple[Store, Path | None]:
    """The store that a URL names, and where its anchor lies if nothing else is said."""
    if isinstance(url, str) and url.startswith("sqlite:///") and len(url) > len("sqlite:///"):
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
    raise ArgumentError(
        "ledger", url, "a ledger is sqlite:///FILE or postgresql://...", 'Pass e.g. "sqlite:///ledger.db"'
    )
