"""Ways to set a ledger back to an older copy: what restores, failovers and cloned machines do to it."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg

_TABLES = ("head", "entries", "accounts", "reservations", "releases", "states")


class Copy:
    """A copy of a ledger as it is now; `restore` puts it back, in one of several ways."""

    def __init__(self, url: str, way: str, folder: Path) -> None:
        self.url, self.way = url, way
        self._path, self._kept = Path(url.removeprefix("sqlite:///")), folder / "backup.db"
        self._rows: dict[str, list[tuple[object, ...]]] = {}
        if url.startswith("sqlite"):
            with closing(sqlite3.connect(self._path)) as live, closing(sqlite3.connect(self._kept)) as kept:
                live.backup(kept)
        else:
            with psycopg.connect(url) as server:
                for table in _TABLES:
                    self._rows[table] = server.execute(f"SELECT * FROM thresher_ledger.{table}".encode()).fetchall()

    def restore(self) -> None:
        if self.way == "backup api":
            with closing(sqlite3.connect(self._kept)) as kept, closing(sqlite3.connect(self._path)) as live:
                kept.backup(live)
        elif self.way == "files":
            for leftover in ("-wal", "-shm"):
                Path(f"{self._path}{leftover}").unlink(missing_ok=True)
            draft = self._path.with_name("restored")
            shutil.copy(self._kept, draft)
            draft.replace(self._path)
        else:
            # As a replica that lagged behind, or a dump that was restored.
            with psycopg.connect(self.url) as server:
                server.execute("SET search_path = thresher_ledger")
                for table, rows in self._rows.items():
                    server.execute(f"TRUNCATE {table}".encode())
                    for row in rows:
                        places = ", ".join(["%s"] * len(row))
                        server.execute(f"INSERT INTO {table} VALUES ({places})".encode(), row)
