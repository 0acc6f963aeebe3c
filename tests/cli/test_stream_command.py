"""`thresher stream`: what is asked before it begins, what it prints, and how it ends and goes on."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys

import duckdb
import pyarrow.parquet
import pytest
from cli.running import process
from click.testing import CliRunner

from thresher.cli import commands
from thresher.errors import ArgumentError, DeclarationError

DECLARATIONS = """
[ledger]
url = "sqlite:///ledger.db"

[streams.campus]
states = ["library", "gym"]
start = 2026-03-02T00:00:00Z
step_seconds = 300
epsilon = "0.5"
budget = "0.5"
windows = [3]

[streams.campus.alarms.busy]
kind = "high"
series = "gym"
threshold = 300
"""
UNTIL = "2026-03-02T01:00:00Z"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where a stream is declared; commands are run in it."""
    (tmp_path / "thresher.toml").write_text(DECLARATIONS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stream(*arguments, given=""):
    """A command in this process: exit code and text, or what it raised."""
    done = CliRunner().invoke(commands, ["stream", *arguments], input=given)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def counted(*steps):
    """Lines of steps that were counted elsewhere: few in the library, and ever more in the gym."""
    return "".join(json.dumps({"step": s, "counts": {"library": 9, "gym": 100 * s}}) + "\n" for s in steps)


def seen(*minutes):
    """Lines of events: as many people as minutes have passed."""
    lines = ({"unit": i, "state": "gym", "time": f"2026-03-02T00:{m:02}:30Z"} for m in minutes for i in range(m))
    return "".join(json.dumps(line) + "\n" for line in lines)


def steps_in(done):
    return [json.loads(line)["step"] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("command", ["", "plan", "run", "replay", "show"])
def test_every_command_teaches(command):
    shown = CliRunner().invoke(commands, ["stream", *command.split(), "--help"], prog_name="thresher")
    assert shown.exit_code == 0
    assert "Usage: thresher stream" in shown.output
    assert "\n    thresher stream" in shown.output


def test_the_plan_says_what_a_step_and_a_day_lose(folder):
    page = " ".join(stream("plan", "campus").output.split())
    assert "epsilon 0.5 for a step; present in 288 steps (a day): 144" in page
    assert "busy: Rings when the count is above 300." in page
    assert "stream:campus: 0 of 0.5 spent" in page
    said = json.loads(stream("plan", "campus", "--json").output)
    assert said["lost_in_a_day"] == {"steps": 288, "epsilon": "144"}
    assert said["budget"] == {"account": "stream:campus", "cap": "0.5", "spent": "0"}


def test_a_day_of_long_steps_has_as_many_steps_as_it_touches(folder):
    for seconds, steps, lost in ((86_400, "1 step", "0.5"), (50_000, "2 steps", "1")):
        (folder / "thresher.toml").write_text(DECLARATIONS.replace("= 300\nepsilon", f"= {seconds}\nepsilon"))
        page = " ".join(stream("plan", "campus").output.split())
        assert f"present in {steps} (a day): {lost}" in page


def test_nothing_begins_where_nobody_can_be_asked_and_going_on_needs_no_asking(folder):
    with pytest.raises(ArgumentError, match="no terminal to ask for a yes"):
        stream("run", "campus", "--from", "-", given=counted(0))
    assert "0 of 0.5 spent" in stream("plan", "campus").output
    assert steps_in(stream("run", "campus", "--from", "-", "--yes", "--json", given=counted(0))) == [0]
    assert steps_in(stream("run", "campus", "--from", "-", "--json", given=counted(1))) == [1]


def test_a_feed_of_counts_and_what_was_released_is_shown_for_nothing(folder):
    shown = stream("run", "campus", "--from", "-", "--yes", "--seed", "3", given=counted(*range(8)))
    lines = shown.stdout.splitlines()
    assert lines[0].split()[:4] == ["0", "2026-03-02", "00:00", "gym"]
    assert "busy rings  gym" in lines[7]
    assert lines[7].endswith("NOT PRIVATE")
    assert "next     8, which begins 2026-03-02T00:40:00Z" in shown.stdout
    page = stream("show", "campus")
    assert page.output.startswith("NOT PRIVATE")
    assert re.search(r"busy │·+█+", page.output)
    assert max(map(len, page.output.splitlines())) <= 78
    assert steps_in(stream("show", "campus", "--steps", "2:5", "--json")) == [2, 3, 4]
    assert "0.5 of 0.5 spent" in page.output


def test_a_step_that_was_passed_over_is_a_gap(folder):
    done = stream("run", "campus", "--from", "-", "--yes", "--json", given=counted(0, 4))
    assert [json.loads(line)["kind"] for line in done.stdout.splitlines()] == ["released", "gap", "released"]
    shown = [json.loads(line) for line in stream("show", "campus", "--json").stdout.splitlines()]
    assert [(record["step"], record["kind"]) for record in shown] == [(0, "released"), (1, "gap"), (4, "released")]
    assert shown[1]["steps"] == 3
    assert "3 steps passed over (nobody listened)" in stream("show", "campus").output


def test_events_end_by_ticks_and_a_recording_by_its_until(folder):
    events = seen(*range(0, 60, 5))
    tick = json.dumps({"tick": "2026-03-02T00:20:00Z"})
    early = stream("run", "campus", "--from", "-", "--yes", "--json", given=f"{seen(0, 5)}{tick}\n{seen(20, 25)}")
    assert steps_in(early) == [0, 1, 2]
    (folder / "day.ndjson").write_text(events)
    assert "No step has ended" not in stream("replay", "campus", "day.ndjson").output
    done = stream("replay", "campus", "day.ndjson", "--until", UNTIL, "--json", "--seed", "1")
    assert steps_in(done) == list(range(3, 12))
    # Noise of scale 2: a sum of 25 or more off has a chance below 1e-5, and the seed is fixed.
    last = json.loads(done.stdout.splitlines()[-1])
    assert abs(last["noisy"]["gym"] - 55) < 25
    assert steps_in(stream("replay", "campus", "day.ndjson", "--until", UNTIL, "--json")) == []


def test_a_recording_without_an_end_says_what_is_missing(folder):
    (folder / "day.ndjson").write_text(seen(5, 10))
    page = " ".join(stream("replay", "campus", "day.ndjson", "--yes").output.split())
    assert "No step has ended." in page
    assert "--until" in page
    with pytest.raises(ArgumentError, match="a time with its zone"):
        stream("replay", "campus", "day.ndjson", "--yes", "--until", "2026-03-02T01:00:00")


def test_records_go_to_files_once(folder):
    (folder / "counts.ndjson").write_text(counted(*range(4)))
    stream("replay", "campus", "counts.ndjson", "--yes")
    (folder / "more.ndjson").write_text(counted(*range(6)))
    for _ in range(2):
        stream("replay", "campus", "more.ndjson", "-o", "all.ndjson")
    lines = (folder / "all.ndjson").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == list(range(6))
    for name in ("day.parquet", "day.svg", "day.ndjson"):
        stream("show", "campus", "--steps", "0:6", "-o", name)
    assert pyarrow.parquet.read_table("day.parquet").num_rows == 12
    assert (folder / "day.ndjson").read_text().splitlines() != []
    assert (folder / "day.svg").read_text().startswith("<svg")
    with pytest.raises(ArgumentError, match="already holds the steps before 6"):
        stream("show", "campus", "--steps", "2:4", "-o", "day.ndjson")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["show", "nowhere"], "stream"),
        (["show", "campus", "--steps", "3"], "steps"),
        (["run", "campus", "--from", "counts.ndjson", "--yes", "--series", "roof"], "series"),
        (["replay", "campus", "counts.ndjson", "--yes", "--json", "--series", "roof"], "series"),
        (["show", "campus", "-o", "day.png"], "output"),
        (["run", "campus", "--yes"], "from"),
        (["run", "campus", "--from", "nothing.ndjson", "--yes"], "from"),
        (["run", "campus", "--from", "-", "--until", UNTIL, "--yes"], "until"),
        (["run", "campus", "--from", "-", "--yes", "-o", "day.txt"], "output"),
        (["replay", "campus", "nothing.ndjson", "--yes", "--until", "soon"], "until"),
    ],
)
def test_refusals_name_the_option_and_nothing_begins(folder, arguments, field):
    (folder / "counts.ndjson").write_text(counted(0))
    with pytest.raises(ArgumentError) as refused:
        stream(*arguments)
    assert refused.value.field == field
    assert "0 of 0.5 spent" in stream("plan", "campus").output


def test_a_stream_keeps_its_settings(folder):
    stream("run", "campus", "--from", "-", "--yes", given=counted(0))
    (folder / "thresher.toml").write_text(DECLARATIONS.replace("windows = [3]", "late_steps = 7\nwindows = [3]"))
    with pytest.raises(ArgumentError, match=r"began with other settings \(late_steps\)"):
        stream("run", "campus", "--from", "-", given=counted(1))
    (folder / "thresher.toml").write_text(DECLARATIONS.replace("windows", "windws"))
    with pytest.raises(DeclarationError, match="unknown field `windws`"):
        stream("plan", "campus")


def test_a_budget_that_ends_is_exit_code_three_and_a_last_record(folder):
    changed = DECLARATIONS.replace('budget = "0.5"', 'budget = "1.5"\nprotect = "unit"')
    (folder / "thresher.toml").write_text(changed)
    (folder / "counts.ndjson").write_text(counted(*range(9)))
    done = process("stream", "replay", "campus", "counts.ndjson", "--yes", "--json", cwd=folder)
    assert done.returncode == 3, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["kind"] for record in records] == ["released"] * 3 + ["ended"]
    assert "values" not in records[-1]
    again = stream("replay", "campus", "counts.ndjson")
    assert again.exit_code == 3
    assert "ended" in again.output
    assert "never more than the budget" in " ".join(again.output.split())


def test_a_growing_table_is_read_step_by_step(folder):
    start = 1_772_409_600
    with duckdb.connect(str(folder / "sensors.duckdb")) as connection:
        connection.execute("CREATE TABLE sightings (phone INTEGER, place VARCHAR, seen_at BIGINT)")
        rows = [(p, "gym", start + 300 * s + p % 300) for s in range(3) for p in range(40 * (s + 1))]
        connection.executemany("INSERT INTO sightings VALUES (?, ?, ?)", rows)
    table = """
[source]
url = "duckdb:///sensors.duckdb"
[tables.sightings]
unit = "phone"
budget = 1
columns.place = { values = ["library", "gym"] }
columns.seen_at = { min = 1700000000, max = 2000000000 }
"""
    polled = 'windows = [3]\ntable = "sightings"\nstate_column = "place"\ntime_column = "seen_at"'
    (folder / "thresher.toml").write_text(table + DECLARATIONS.replace("windows = [3]", polled))
    done = stream("run", "campus", "--until", "2026-03-02T00:15:00Z", "--yes", "--json", "--seed", "1")
    noisy = [json.loads(line)["noisy"]["gym"] for line in done.stdout.splitlines()]
    # The seed is fixed; noise of scale 2.
    assert len(noisy) == 3
    assert all(abs(found - 40 * (s + 1)) < 25 for s, found in enumerate(noisy))


def test_each_step_is_flushed_and_a_kill_loses_nothing_that_was_shown(folder):
    command = [sys.executable, "-m", "thresher", "stream", "run", "campus", "--from", "-", "--yes", "--json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder) as running:
        running.stdin.write(counted(0, 1))
        running.stdin.flush()
        before = [json.loads(running.stdout.readline()) for _ in range(2)]
        # While it runs, others may look.
        assert steps_in(stream("show", "campus", "--json")) == [0, 1]
        os.kill(running.pid, signal.SIGKILL)
    shown = [json.loads(line) for line in stream("show", "campus", "--json").stdout.splitlines()]
    assert shown == before
    assert steps_in(stream("run", "campus", "--from", "-", "--json", given=counted(0, 1, 2))) == [2]


@pytest.mark.parametrize("answer", ["y", "n"])
def test_on_a_terminal_it_asks_before_it_begins_and_draws_as_it_goes(folder, answer):
    (folder / "counts.ndjson").write_text(counted(*range(40)))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "thresher", "stream", "replay", "campus", "counts.ndjson"]
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "40", "PYTHONUTF8": "1"}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=env) as running:
        os.close(theirs)
        os.write(ours, f"{answer}\n".encode())
        shown = b""
        with contextlib.suppress(OSError):  # a terminal whose other end is closed
            while part := os.read(ours, 1 << 16):
                shown += part
    os.close(ours)
    text = shown.decode()
    assert "Begin it?" in text
    assert "Rings when the count is above 300" in " ".join(text.split())
    assert running.returncode == (0 if answer == "y" else 2)
    assert ("⣀" in text) == ("next     40" in text) == (answer == "y")
    assert f"{'0.5' if answer == 'y' else '0'} of 0.5 spent" in stream("plan", "campus").output


def test_pages_are_drawn_in_ascii_where_that_is_all_there_is(folder):
    stream("run", "campus", "--from", "-", "--yes", given=counted(*range(5)))
    shown = process("stream", "show", "campus", env={"PYTHONIOENCODING": "ascii"}, cwd=folder)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.isascii()


def test_an_alarm_that_was_changed_says_from_when_on_it_is_tested(folder):
    stream("run", "campus", "--from", "-", "--yes", given=counted(0, 1))
    (folder / "thresher.toml").write_text(DECLARATIONS.replace("threshold = 300", "threshold = 301\nwindow = 2"))
    assert "busy is silent" in " ".join(stream("show", "campus").output.split())
    stream("run", "campus", "--from", "-", given=counted(2))
    shown = " ".join(stream("show", "campus", "--steps", "2:3").output.split())
    assert "busy is not tested yet" in shown
    assert "declared while the stream ran, and is tested from step 3 on" in shown
