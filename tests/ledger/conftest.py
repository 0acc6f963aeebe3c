"""Both stores, for real: a SQLite file, and a PostgreSQL server started from its wheel."""

import os
import shutil
import signal
import tempfile
import warnings
from pathlib import Path

import psycopg
import pytest
from ledger.crash_folders import quick_folder
from ledger.crash_power import Disk

from thresher.ledger import open_book


@pytest.fixture(scope="session")
def postgres_server():
    """A PostgreSQL server for this test process; a missing one fails under CI and is skipped loudly elsewhere."""
    folder = Path(tempfile.mkdtemp(prefix="thresher-pg-"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pgserver  # noqa: PLC0415

            server = pgserver.get_server(folder, cleanup_mode=None)
    except Exception as error:
        shutil.rmtree(folder, ignore_errors=True)
        if os.environ.get("CI"):
            raise
        pytest.skip(f"NO POSTGRESQL: {error}")
    yield server.get_uri()
    # Immediate shutdown: nothing here is worth a checkpoint.
    os.kill(int((folder / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server):
    """The server with no ledger in it."""
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS thresher_ledger CASCADE")
    return postgres_server


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    return request.getfixturevalue("postgres_url")


@pytest.fixture
def book(url):
    opened = open_book(url)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def disk():
    """A disk that can fail and lose its power."""
    with quick_folder() as folder:
        made = Disk(folder)
        yield made
        made.zygote.close()
