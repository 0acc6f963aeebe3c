"""The sources for real: DuckDB, files, a PostgreSQL server from its wheel, a local Spark, tables in memory."""

import os
from itertools import count

import pytest
from ledger.conftest import postgres_server  # noqa: F401 - one way to start PostgreSQL
from sources.places import HERE, declared, in_postgres, in_spark

from thresher.errors import SourceUnavailableError
from thresher.sources import open_source

_SPARK = {"spark": in_spark}


@pytest.fixture(scope="session")
def spark():
    """One Spark for this test process; a missing one fails under CI and is skipped loudly elsewhere."""
    source = open_source(declared("spark://local[2]"))
    try:
        source.connect()
    except SourceUnavailableError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"NO SPARK: {error}")
    yield source
    source.close()


@pytest.fixture
def put(request, tmp_path):
    """Puts rows into a place and opens it as a source; closed when the test ends."""
    opened, number = [], count()

    def place_rows(place, rows, table, physical=None):
        if place == "postgres":
            opened.append(in_postgres(rows, table, request.getfixturevalue("postgres_server"), physical))
        else:
            if place in _SPARK:
                request.getfixturevalue("spark")
            folder = tmp_path / str(next(number))
            folder.mkdir()
            opened.append({**HERE, **_SPARK}[place](rows, table, folder, physical))
        return opened[-1]

    yield place_rows
    for source in opened:
        source.close()
