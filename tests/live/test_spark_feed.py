"""Spark Structured Streaming over growing files: the same steps as the buffer of events, and each is put once."""

import json
import random

import pytest
from live.test_feeds import Kept
from sources.conftest import spark as spark_source  # noqa: F401 - one Spark for this test process

from thresher.errors import ArgumentError
from thresher.live.spark_feed import SparkFeed, spark_steps
from thresher.streams.step_buffer import StepBuffer, unit_digest
from thresher.streams.step_clock import StepClock

STATES = ("gym", "it's", "libräry")
CLOCK = StepClock("2026-03-01T00:00:00Z", 60)
START = 1_772_323_200
SCHEMA = "unit string, state string, time timestamp"


@pytest.fixture(scope="module")
def session(spark_source):  # noqa: F811
    spark_source.connect()
    made = spark_source._spark.newSession()
    made.conf.set("spark.sql.shuffle.partitions", "2")
    made.conf.set("spark.sql.session.timeZone", "America/New_York")  # of no consequence: times are instants
    return made


def visits(seed, many=700):
    """(unit, state, seconds) over ten steps, some of them before the start, unknown, or nobody's."""
    dice = random.Random(seed)
    units, states = [None, *(f"person {n}" for n in range(12))], [*STATES, "roof", None]
    return [(dice.choice(units), dice.choice(states), START + dice.randrange(-90, 600)) for _ in range(many)]


def write(folder, name, events):
    folder.mkdir(exist_ok=True)
    lines = (json.dumps({"unit": unit, "state": state, "time": stamp(at)}) for unit, state, at in events)
    (folder / f".{name}").write_text("\n".join(lines))
    (folder / f".{name}").rename(folder / name)


def stamp(seconds):
    return StepClock(seconds, 1).began(0)


def by_the_buffer(events, most, last=10):
    buffer = StepBuffer(STATES, CLOCK, late_steps=last, max_states=most, key="campus")
    for event in events:
        buffer.offer(*event)
    return {step: buffer.close(step).unseal()[:, 0].tolist() for step in range(last)}


def steps_in(folder, most=2):
    return spark_steps(str(folder), STATES, CLOCK, most, "campus")


def replay(session, inbox, work, into, written, until=None):
    """All files that are there, then the steps until an instant."""
    feed = SparkFeed(steps_in(work), into, written.append, late_steps=0, ahead_steps=20, now=lambda: START)
    query = feed.start(session.readStream.schema(SCHEMA).json(str(inbox)), available_now=True)
    query.awaitTermination()
    if until is not None:
        feed.deliver(session, until)
    return feed


def test_a_replayed_folder_gives_what_the_buffer_gives_and_goes_on_after_a_restart(session, tmp_path):
    inbox, work, into, written = tmp_path / "inbox", tmp_path / "work", Kept(), []
    events = visits(1)
    write(inbox, "a.json", events[:400])
    replay(session, inbox, work, into, written)
    assert written == []  # no step is over
    write(inbox, "b.json", events[400:])
    replay(session, inbox, work, into, written, START + 180)
    expected = by_the_buffer(events, 2)
    assert into.seen == {step: expected[step] for step in range(3)}
    assert expected != by_the_buffer(events, 3)  # some are in more states than two
    late = [("somebody", "gym", START + 5), ("somebody", "gym", START + 555)]
    write(inbox, "c.json", late)
    replay(session, inbox, work, into, written, START + 600)
    assert into.seen == by_the_buffer([*events, late[1]], 2)
    assert [record.step for record in written] == list(range(10))
    assert [path.name for path in (work / "rows").iterdir() if path.name.startswith("step=")] == []


class Failing(Kept):
    """A receiver that fails once, after so many steps."""

    def put(self, step, counts, relations=()):
        if step == self.fails_at:
            self.fails_at = None
            raise RuntimeError("killed")
        return super().put(step, counts)


def test_a_batch_that_fails_is_run_again_and_nothing_is_put_twice(session, tmp_path):
    """The clock stands at the end, so that the one micro-batch delivers; it fails in the middle of that."""
    events, into, written = visits(2), Failing(), []
    into.fails_at = 4
    write(tmp_path / "inbox", "a.json", events)
    frame = session.readStream.schema(SCHEMA).json(str(tmp_path / "inbox"))
    feed = SparkFeed(steps_in(tmp_path / "work"), into, written.append, late_steps=0, now=lambda: START + 600)
    with pytest.raises(Exception, match="killed"):
        feed.start(frame, available_now=True).awaitTermination()
    assert list(into.seen) == [0, 1, 2, 3]
    feed.start(frame, available_now=True).awaitTermination()
    assert into.seen == by_the_buffer(events, 2)
    assert [record.step for record in written] == list(range(10))


def test_quiet_steps_are_delivered_by_the_clock_and_what_is_far_ahead_is_put_aside(session, tmp_path):
    moment, into = [START], Kept(last=6)
    feed = SparkFeed(steps_in(tmp_path / "work"), into, [].append, late_steps=1, now=lambda: moment[0])
    rows = [("ann", "gym", START), ("bob", "gym", START + 60), ("carl", "gym", START + 120)]
    frame = session.createDataFrame(
        [(unit, state, stamp(at)) for unit, state, at in rows], "unit string, state string, t string"
    )
    feed.batch(frame.selectExpr("unit", "state", "CAST(t AS TIMESTAMP) AS time"), 0)
    assert into.seen == {}
    moment[0] = START + 240
    feed.deliver(session)
    assert into.seen == {0: [1, 0, 0], 1: [1, 0, 0], 2: [0, 0, 0]}
    feed.deliver(session, START + 6000)
    assert max(into.seen) == 6
    assert feed.ended


@pytest.mark.parametrize(
    ("field", "schema"),
    [
        ("time", "unit string, state string, time string"),
        ("time", "unit string, state string, time timestamp_ntz"),
        ("unit", "unit double, state string, time timestamp"),
        ("state", "unit bigint, state int, time timestamp"),
        ("unit", "state string, time timestamp"),
    ],
)
def test_frames_of_other_types_are_refused(field, schema, session, tmp_path):
    frame = session.createDataFrame([], schema)
    with pytest.raises(ArgumentError, match=f"^{field} = "):
        steps_in(tmp_path).stepped(frame)


def test_numbers_are_other_units_than_texts(session, tmp_path):
    """The same digests as the buffer's, before 1970 and after, for both kinds of units."""
    rows = [(n, "gym", START - 61 + n) for n in range(4)]
    frame = session.createDataFrame([(n, s, stamp(at)) for n, s, at in rows], "unit bigint, state string, t string")
    chosen = spark_steps(str(tmp_path), STATES, StepClock("2030-01-01T00:00:00Z", 60))
    found = chosen.stepped(frame.selectExpr("unit", "state", "CAST(t AS TIMESTAMP) AS time")).collect()
    later = StepClock("2030-01-01T00:00:00Z", 60)
    assert {(row.who, row.step) for row in found} == {(unit_digest(n).hex(), later.step_of(at)) for n, _, at in rows}
