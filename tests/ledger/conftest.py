"""Both stores, for real: a SQLite file, and a PostgreSQL server started from its wheel."""

import os
import shutil
import tempfile
import warnings
from itertools import count
from pathlib import Path

import psycopg
import pytest

from thresher.ledger import open_book

_databases = count()


@pytest.fixture(scope="session")
def postgres_server():
    """A PostgreSQL server for this test process; a missing one fails under CI and is skipped loudly elsewhere."""
    folder = Path(tempfile.mkdtemp(prefix="thresher-pg-"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pgserver  # noqa: PLC0415

            server = pgserver.get_server(folder, cleanup_mode="stop")
    except Exception as error:
        shutil.rmtree(folder, ignore_errors=True)
        if os.environ.get("CI"):
            raise
        pytest.skip(f"NO POSTGRESQL: {error}")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server):
    """A database of its own for each test."""
    name = f"ledger_{os.getpid()}_{next(_databases)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgres_server.replace("/postgres?", f"/{name}?")


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
