"""Feeds that fail and processes that are stopped: polled tables, the wall clock, and signals."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager

import duckdb
import pytest
from cli.running import thresher

import thresher as product
from thresher.cli import feeding
from thresher.errors import ArgumentError, DeclarationError, SourceUnavailableError
from thresher.ledger import open_book

START = 1_772_409_600
SENSORS = """
[source]
url = "duckdb:///sensors.duckdb"
[ledger]
url = "sqlite:///ledger.db"
[tables.sightings]
unit = "phone"
budget = "1"
[tables.sightings.columns]
place = { values = ["library", "gym"] }
seen_at = { min = 1700000000, max = 2000000000 }
"""
CAMPUS = """
[streams.campus]
states = ["library", "gym"]
start = 2026-03-02T00:00:00Z
step_seconds = 300
epsilon = "0.5"
budget = "0.5"
"""
POLLED = 'table = "sightings"\nstate_column = "place"\ntime_column = "seen_at"\n'
LEDGER = '[ledger]\nurl = "sqlite:///ledger.db"\n'
RUN = ("stream", "run", "campus", "--yes", "--json")


@pytest.fixture
def polled(tmp_path):
    """Three steps of a table that a stream polls."""
    with duckdb.connect(str(tmp_path / "sensors.duckdb")) as connection:
        connection.execute("CREATE TABLE sightings (phone INTEGER, place VARCHAR, seen_at BIGINT)")
        rows = [(phone, "gym", START + 300 * step) for step in range(3) for phone in range(40)]
        connection.executemany("INSERT INTO sightings VALUES (?, ?, ?)", rows)
    (tmp_path / "thresher.toml").write_text(SENSORS + CAMPUS + POLLED)
    return tmp_path


def charges(folder):
    with closing(open_book(f"sqlite:///{folder / 'ledger.db'}")) as book:
        return [entry.kind for entry in book.entries() if entry.kind not in ("book", "account")]


def until(folder, minutes):
    return thresher(*RUN, "--until", f"2026-03-02T00:{minutes:02}:00Z", cwd=folder)


# Polled tables


def test_the_account_of_a_polled_stream_has_the_unit_of_its_table(polled):
    assert until(polled, 10).returncode == 0
    with closing(open_book(f"sqlite:///{polled / 'ledger.db'}")) as book:
        assert book.subjects()["stream:sightings"].unit == "phone"
    for old, new in (('unit = "phone"', 'unit = "seen_at"'), ('unit = "phone"\n', "")):
        (polled / "thresher.toml").write_text((SENSORS + CAMPUS + POLLED).replace(old, new))
        with pytest.raises(DeclarationError, match="another unit"), product.open(polled / "thresher.toml") as engine:
            engine.stream("campus")
        refused = until(polled, 15)
        assert refused.returncode == 2
        assert "another unit" in refused.stderr
    assert charges(polled) == ["reserve", "settle"] * 2


def test_an_unreachable_source_leaves_a_step_uncharged(polled, monkeypatch):
    monkeypatch.setattr(feeding, "_MOST_AWAY_SECONDS", 0.0)
    assert until(polled, 5).returncode == 0
    (polled / "sensors.duckdb").rename(polled / "away")
    away = until(polled, 15)
    assert away.returncode == SourceUnavailableError.exit_code
    assert away.stdout == ""
    kinds = charges(polled)
    assert kinds.count("reserve") == kinds.count("settle") + kinds.count("cancel")
    assert kinds.count("settle") == 1
    (polled / "away").rename(polled / "sensors.duckdb")
    back = until(polled, 15)
    assert [json.loads(line)["kind"] for line in back.stdout.splitlines()] == ["released"] * 2


WRITER = """
import duckdb, sys
with duckdb.connect(sys.argv[1]) as connection:
    connection.execute("INSERT INTO sightings VALUES (77, 'gym', 1772410200)")
    print("writing", flush=True)
    sys.stdin.read()
"""


def test_a_table_is_polled_beside_a_writer_of_duckdb(polled):
    """A writer locks the file. The steps wait until it is done, and cost nothing meanwhile."""
    command = [sys.executable, "-c", WRITER, str(polled / "sensors.duckdb")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "writing\n"
        run = [sys.executable, "-m", "thresher", *RUN, "--until", "2026-03-02T00:15:00Z"]
        with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=polled) as running:
            deadline = time.monotonic() + 60
            while not (polled / "ledger.db.anchor").exists():
                assert time.monotonic() < deadline
                time.sleep(0.05)
            time.sleep(0.3)
            assert running.poll() is None
            writer.stdin.close()
            released, told = running.communicate(timeout=60)
    assert running.returncode == 0, told
    assert [json.loads(line)["step"] for line in released.splitlines()] == [0, 1, 2]
    kinds = charges(polled)
    assert kinds.count("settle") == 3
    assert kinds.count("reserve") == 3 + kinds.count("cancel")


def test_the_key_of_a_step_is_refused_to_a_question(polled):
    assert until(polled, 5).returncode == 0
    with closing(open_book(f"sqlite:///{polled / 'ledger.db'}")) as book:
        (key,) = [entry.facts["key"] for entry in book.entries() if entry.kind == "reserve"]
    before = charges(polled)
    sql = "SELECT place FROM sightings GROUP BY place HAVING COUNT(*) > 30"
    for taken in (key, f"{key}0", "stream/"):
        refused = thresher("ask", sql, "--yes", "--uncertain-region", "40", "--key", taken, cwd=polled)
        assert refused.returncode == 2
        assert "keys that begin with stream/ name the steps of streams" in refused.stderr
        with product.open(polled / "thresher.toml") as engine, pytest.raises(ArgumentError, match="steps of streams"):
            engine.decide(sql, uncertain_region=40, key=taken)
    assert charges(polled) == before


# The wall clock, and signals


@contextmanager
def running(folder, *arguments, ignored=()):
    """A stream that listens, in a process of its own."""

    def before():
        # Whoever runs these tests may ignore hang-ups, and a child would too.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        for name in ignored:
            signal.signal(name, signal.SIG_IGN)

    command = [sys.executable, "-m", "thresher", *RUN, "--from", "-", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
        cwd=folder,
        preexec_fn=before,  # noqa: PLW1509 - this test has no threads
    ) as process:
        yield process
        process.kill()


def send(process, *lines):
    process.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
    process.stdin.flush()


def walled(folder):
    """A stream whose steps of a second began a while ago."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 100))
    text = CAMPUS.replace("2026-03-02T00:00:00Z", now).replace("step_seconds = 300", "step_seconds = 1")
    (folder / "thresher.toml").write_text(LEDGER + text)


def test_the_wall_clock_ignores_ticks_and_ends_by_ctrl_c(tmp_path):
    """A feed cannot end a step by what it says; stopped, the command says how to go on."""
    walled(tmp_path)
    with running(tmp_path, "--clock", "wall", "--counters") as process:
        assert json.loads(process.stdout.readline())["kind"] == "gap"
        # A step ends though nobody sends anything.
        first = json.loads(process.stdout.readline())
        send(process, {"tick": "2031-01-01T00:00:00Z"}, {"step": 5_000, "counts": {"library": 1, "gym": 2}})
        second = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        released, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    steps = [first["step"], second["step"], *(json.loads(line)["step"] for line in released.splitlines())]
    assert steps == list(range(steps[0], steps[0] + len(steps)))
    assert 100 <= steps[-1] < 200
    assert first["kind"] == second["kind"] == "released"
    assert "unreadable lines 2" in told
    assert "Nothing was charged" not in told
    assert f"All steps before {steps[-1] + 1} are stored." in told
    assert charges(tmp_path) == ["reserve", "settle"] * len(steps)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_other_requests_to_stop_are_answered_as_ctrl_c_is(tmp_path, name):
    """A SIGHUP that the parent ignored, as nohup does, stays ignored."""
    (tmp_path / "thresher.toml").write_text(LEDGER + CAMPUS)
    ignored = ["SIGHUP"] if name == "SIGTERM" else []
    with running(tmp_path, ignored=[getattr(signal, each) for each in ignored]) as process:
        send(process, {"step": 0, "counts": {"library": 1, "gym": 2}})
        assert json.loads(process.stdout.readline())["step"] == 0
        for each in ignored:
            os.kill(process.pid, getattr(signal, each))
        send(process, *({"step": step, "counts": {"library": 1, "gym": 2}} for step in range(1, 1 + len(ignored))))
        for step in range(1, 1 + len(ignored)):
            assert json.loads(process.stdout.readline())["step"] == step
        os.kill(process.pid, getattr(signal, name))
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert f"All steps before {1 + len(ignored)} are stored." in told
