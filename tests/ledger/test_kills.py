"""kill -9 at any moment: no answer that left is forgotten or free, and nothing reserved is given back."""

from collections.abc import Callable

import psycopg
import pytest
from ledger.crash_check import Findings, check
from ledger.crash_folders import chances, quick_folder
from ledger.crash_zygote import Zygote, emitted

SEED = 20_261_116
SQLITE_KILLS, SQLITE_KILLS_SOAK = 260, 9_000
DISK_KILLS, DISK_KILLS_SOAK = 40, 1_000
POSTGRES_KILLS, POSTGRES_KILLS_SOAK = 40, 1_000
BROKEN_KILLS = 60
# A crash upon a crash: so many workers die on one book before a new one is begun, which keeps verifying short.
KILLS_PER_BOOK = 5
SHORTEST, LONGEST = 0.001, 0.030


@pytest.fixture(scope="module")
def zygote():
    zygote = Zygote()
    yield zygote
    zygote.close()


@pytest.fixture
def folder():
    with quick_folder() as folder:
        yield folder


def kill_many(
    zygote: Zygote, kills: int, new_book: Callable, await_death: Callable = lambda url: None, longest=LONGEST, **order
) -> Findings:
    """Kill workers at random moments and check what each left, all answers of its book's earlier workers included."""
    chance, found, left = chances(SEED), Findings(), {}
    for kill in range(kills):
        if kill % KILLS_PER_BOOK == 0:
            left, (url, anchor) = {}, new_book(kill)
        said = zygote.run(
            "answer",
            url=url,
            anchor=None if anchor is None else str(anchor),
            trial=f"kill{kill}",
            kill_after=chance.uniform(SHORTEST, longest),
            # One in four dies while it opens the book.
            await_ready=chance.random() < 0.75,
            checkpoint_pages=chance.choice([None, 8]) if url.startswith("sqlite") else None,
            **order,
        )
        left |= emitted(said)
        found.counts["emitted"] += len(emitted(said))
        await_death(url)
        found += check(url, left, anchor)
        if order and found.wrong:
            break
    return found


def sqlite_books(folder):
    return lambda kill: (f"sqlite:///{folder}/ledger{kill}.db", None)


def assert_sound(found: Findings, name: str, measured: Callable) -> None:
    measured(f"{name}, killed: {found}")
    assert not found.wrong
    # The kills did hit: answers left, and some workers died between reserving and settling.
    assert found.counts["emitted"] > 0
    assert found.counts["forfeit"] > 0


def test_kills_on_sqlite(zygote, folder, trials, measured):
    found = kill_many(zygote, trials(SQLITE_KILLS, SQLITE_KILLS_SOAK), sqlite_books(folder))
    assert_sound(found, "SQLite in memory", measured)


def test_kills_on_sqlite_on_a_disk(zygote, tmp_path, trials, measured):
    """Slower, and most kills hit a sync."""
    found = kill_many(zygote, trials(DISK_KILLS, DISK_KILLS_SOAK), sqlite_books(tmp_path), longest=0.1)
    assert_sound(found, "SQLite on disk", measured)


def test_kills_on_postgres(zygote, postgres_server, folder, trials, measured):
    def new_book(kill):
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE kill{kill}")
        return postgres_server.replace("/postgres?", f"/kill{kill}?"), folder / f"kill{kill}.anchor"

    def await_death(url):
        """Until the server has noticed: a commit that was on its way may still arrive."""
        others = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        with psycopg.connect(url, autocommit=True) as connection:
            while connection.execute(f"{others} AND backend_type = 'client backend'").fetchall():
                pass

    # A server answers later than a file, above all where others are busy on the machine.
    found = kill_many(zygote, trials(POSTGRES_KILLS, POSTGRES_KILLS_SOAK), new_book, await_death, longest=0.1)
    assert_sound(found, "PostgreSQL", measured)


def test_a_worker_that_emits_before_it_settles_is_caught(zygote, folder):
    """The power of the tests above, with their own checker."""
    found = kill_many(zygote, BROKEN_KILLS, sqlite_books(folder), emit_first=True)
    print(f"broken worker: {found}")
    assert found.counts["forgotten"] > 0
