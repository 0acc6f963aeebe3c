"""The made-up day: what it shows, and that it goes on where it was however it is killed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli.running import thresher

from thresher.demo.campus import STEPS, campus_day
from thresher.demo.replaying import replay
from thresher.errors import ArgumentError
from thresher.live.recorded_noise import RecordedEntropy
from thresher.views.stream_picture import stream_picture

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "campus_day.svg"
# From when the true sums of half an hour are over the line until they are not.
OUTAGE, CROWD = (121, 134), (171, 199)


class Quiet:
    """Shows nothing."""

    def __init__(self, before):
        self.before = before

    def __enter__(self):
        return lambda record: None

    def __exit__(self, *_):
        return None


@pytest.fixture(scope="module")
def day(tmp_path_factory):
    """The day under one seed, released without a break."""
    campus = campus_day(tmp_path_factory.mktemp("day") / "campus")
    return campus, replay(campus, RecordedEntropy(7), Quiet)


def test_the_day_has_a_crowd_and_an_outage_and_only_they_ring(day):
    campus, shown = day
    assert len(shown.records) == STEPS
    assert campus.counts.min() >= 0
    for alarm, series, (first, last) in (("outage", "dorms", OUTAGE), ("crowded", "hall", CROWD)):
        place = campus.buildings.index(series)
        rings = [r.step for r in shown.records for state in r.alarms if state.name == alarm and state.ringing]
        # A zone around the line of half an hour, in which either may be.
        assert set(range(first + 1, last - 1)) <= set(rings) <= set(range(first - 3, last + 4))
        assert all(len(r.drawn.noisy) > place for r in shown.records)
    assert str(shown.balance.spent) == str(shown.plan.lost_within(STEPS)) == "0.999999936"


def test_the_alarms_are_right_about_the_truth(day):
    """The noise of this seed is fixed, so this cannot fail by chance; its promise is tested with the alarms."""
    campus, shown = day
    for watch in shown.plan.alarms:
        counts = campus.counts[:, watch.place]
        for record in shown.records[watch.alarm.window :]:
            total = int(counts[record.step - watch.alarm.window + 1 : record.step + 1].sum())
            crossed = next(s.crossed for s in record.alarms if s.name == watch.declared.name)
            if watch.alarm.true([total])[0]:
                assert crossed
            if watch.alarm.safe([total])[0]:
                assert not crossed


def test_the_picture_in_the_docs_is_this_day(day):
    campus, shown = day
    truth = {name: campus.counts[:, i] for i, name in enumerate(campus.buildings)}
    assert stream_picture(shown.records, ["dorms", "hall"], truth) == PICTURE.read_text()


def test_killed_and_started_again_it_goes_on_where_it_was(day, tmp_path):
    folder = tmp_path / "campus"
    command = [sys.executable, "-m", "thresher", "demo", "stream", "--seed", "7", "--keep", str(folder), "--json"]
    with subprocess.Popen([*command, "--pace", "0.02"], stdout=subprocess.PIPE, text=True) as running:
        seen = [json.loads(running.stdout.readline()) for _ in range(20)]
        os.kill(running.pid, signal.SIGKILL)
        seen += [json.loads(line) for line in running.stdout]
    again = thresher("demo", "stream", "--seed", "7", "--keep", str(folder), "--json")
    assert again.returncode == 0, again.stderr
    *records, summary = map(json.loads, again.stdout.splitlines())
    assert records[: len(seen)] == seen
    assert [record["step"] for record in records] == list(range(STEPS))
    assert len(seen) <= summary["went_on_at"] <= len(seen) + 1
    torn = [record["step"] for record in records if record["kind"] == "torn"]
    assert torn in ([], [len(seen)])
    # What follows is what would have followed: the noise of each step, though one was torn.
    whole = [record.document()["noisy"] for record in day[1].records]
    assert all(record["noisy"] == whole[record["step"]] for record in records if record["step"] not in torn)
    assert summary["spent"] == "0.999999936"
    once_more = thresher("demo", "stream", "--keep", str(folder))
    assert "the whole day was released before" in " ".join(once_more.stdout.split())
    assert max(map(len, once_more.stdout.splitlines())) <= 78


def test_a_folder_with_something_else_is_left_alone(tmp_path):
    (tmp_path / "thresher.toml").write_text("mine = 1\n")
    with pytest.raises(ArgumentError, match="does not hold a campus"):
        campus_day(tmp_path)
    assert (tmp_path / "thresher.toml").read_text() == "mine = 1\n"


def test_options_before_the_name_are_not_passed_over():
    refused = thresher("demo", "--seed", "7", "stream")
    assert refused.returncode == 2
    assert "after its name" in refused.stderr
