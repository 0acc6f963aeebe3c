"""The whole way: lines of JSON, steps, a running stream, a file of records; stopped and begun again at any line."""

import json
import random
from datetime import timedelta

import pytest
from live.campuses import STATES, campus

from thresher.live.feeds import JsonLines, pour
from thresher.live.open_stream import open_stream
from thresher.live.sinks import JsonLinesFile
from thresher.noise import SeededEntropy
from thresher.streams.step_buffer import StepBuffer
from thresher.streams.step_clock import StepClock

CLOCK = StepClock("2026-01-01T00:00:00Z", 300)


def day():
    """Events within one step of order, and a tick at the end of every step."""
    dice, lines = random.Random(9), []
    for step in range(14):
        for _ in range(dice.randrange(12)):
            at = CLOCK.began_at(max(0, step - dice.randrange(2))) + timedelta(seconds=dice.randrange(300))
            unit = f"person-{dice.randrange(40)}"
            lines.append(json.dumps({"unit": unit, "state": dice.choice(STATES), "time": at.isoformat()}))
        lines.append(json.dumps({"tick": CLOCK.began(step + 1)}))
    return lines


def run(declared, path, lines):
    with open_stream(declared, "campus", entropy=SeededEntropy(1)) as stream, JsonLinesFile(path, "campus") as sink:
        for stored in stream.records(sink.next_step):
            sink.write(stored)
        for record in pour(JsonLines(lines, STATES), StepBuffer(STATES, CLOCK), stream):
            sink.write(record)


@pytest.mark.parametrize("stops", [(), (30,), (1, 20, 21, 60)])
def test_every_step_is_in_the_file_once_however_often_it_was_stopped(stops, tmp_path):
    declared, path, lines = campus(tmp_path), tmp_path / "campus.jsonl", day()
    for stop in (*stops, len(lines)):
        run(declared, path, lines[:stop])  # the feed begins anew each time
    written = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(record["step"], record["kind"]) for record in written] == [(step, "released") for step in range(13)]
    assert "person-" not in path.read_text()
    with open_stream(declared, "campus") as stream:
        assert [record.document() for record in stream.records()] == written


def test_what_the_ledger_has_and_the_file_lost_is_written_again(tmp_path):
    declared, path, lines = campus(tmp_path), tmp_path / "campus.jsonl", day()
    run(declared, path, lines)
    whole = path.read_bytes()
    for cut in (0, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        run(declared, path, lines)
        assert path.read_bytes() == whole
