"""What may change while a stream runs, and from which step on a new alarm is tested."""

import pytest
from live.campuses import campus, counts
from live.test_stream import opened, put_many

from thresher.streams.step_release import RELEASED

ALARM = """
[streams.campus.alarms.{name}]
kind = "{kind}"
series = "hall"
threshold = 400
window = {window}
"""
BEFORE = 10


def added(kind="high", window=4, name="full"):
    """Text that adds an alarm to the campus."""
    return (
        "[streams.campus.alarms.crowd]",
        f"{ALARM.format(name=name, kind=kind, window=window)}\n[streams.campus.alarms.crowd]",
    )


def state_of(record, name):
    return next(state for state in record.alarms if state.name == name)


@pytest.mark.parametrize(
    ("kind", "window", "first"),
    [("high", 4, 13), ("low", 1, 10), ("high", 1, 10), ("jump", 1, 11), ("change", 5, 15)],
)
def test_a_new_alarm_is_tested_from_the_first_step_whose_window_is_later_than_it(tmp_path, kind, window, first):
    with opened(campus(tmp_path)) as stream:
        put_many(stream, BEFORE)
    declared = campus(tmp_path, added(kind, window))
    with opened(declared) as stream:
        assert stream.tested_from == {"full": first, "crowd": 3}
        records = put_many(stream, 4)
    # Opened again in between: the state knows since when.
    with opened(declared) as stream:
        assert stream.tested_from == {"full": first, "crowd": 3}
        records += put_many(stream, 4)
    tested = [record.step for record in records if state_of(record, "full").crossed is not None]
    assert tested == list(range(first, BEFORE + 8))
    assert all(state_of(record, "crowd").crossed is not None for record in records)


def test_an_alarm_that_is_unchanged_goes_on_as_if_nothing_had_happened(tmp_path):
    (tmp_path / "changed").mkdir()
    (tmp_path / "unchanged").mkdir()
    found = []
    for folder in ("changed", "unchanged"):
        with opened(campus(tmp_path / folder)) as stream:
            put_many(stream, BEFORE)
        changes = (added(), ("windows = [4, 12]", "windows = [5]")) if folder == "changed" else ()
        with opened(campus(tmp_path / folder, *changes)) as stream:
            found.append([(record.drawn.noisy.tolist(), state_of(record, "crowd")) for record in put_many(stream, 6)])
    assert found[0] == found[1]
    assert any(state.ringing for _, state in found[0])


@pytest.mark.parametrize(
    "change",
    [
        ("threshold = 300", "threshold = 299"),
        ("window = 4\non_steps", "window = 3\non_steps"),
        ("on_steps = 2", "on_steps = 3"),
        ("off_steps = 3", "off_steps = 2"),
        ('series = "library"', 'series = "gym"'),
        ("threshold = 300", "threshold = 300\nmiss_rate = 0.01"),
        ("threshold = 300", "threshold = 300\nfalse_alarm_rate = 0.01"),
        ('kind = "high"', 'kind = "jump"'),
    ],
)
def test_a_changed_alarm_is_a_new_one(tmp_path, change):
    with opened(campus(tmp_path)) as stream:
        put_many(stream, BEFORE)
    with opened(campus(tmp_path, change)) as stream:
        assert stream.tested_from["crowd"] >= BEFORE + 2
        (record,) = put_many(stream, 1)
        state = state_of(record, "crowd")
        assert (state.crossed, state.ringing) == (None, False)


def test_an_alarm_with_another_name_is_the_same_alarm(tmp_path):
    with opened(campus(tmp_path)) as stream:
        put_many(stream, BEFORE)
    with opened(campus(tmp_path, ("alarms.crowd", "alarms.busy"))) as stream:
        assert stream.tested_from == {"busy": 3}


def test_an_alarm_that_was_taken_out_is_new_when_it_comes_back(tmp_path):
    """Whoever put it back had seen the steps in between."""
    declared = campus(tmp_path, added())
    with opened(declared) as stream:
        put_many(stream, BEFORE)
    with opened(campus(tmp_path)) as stream:
        (record,) = put_many(stream, 1)
        assert [state.name for state in record.alarms] == ["crowd"]
    with opened(campus(tmp_path, added())) as stream:
        assert stream.tested_from == {"full": BEFORE + 1 + 3, "crowd": 3}


def test_stored_records_stay_as_they_are(tmp_path):
    with opened(campus(tmp_path)) as stream:
        before = [record.to_bytes() for record in put_many(stream, BEFORE)]
    changed = campus(
        tmp_path, ("threshold = 300", "threshold = 301"), ("windows = [4, 12]", "strictness = 2\nwindows = [3]")
    )
    with opened(changed) as stream:
        put_many(stream, 3)
        shown = list(stream.records())
    assert [record.to_bytes() for record in shown[:BEFORE]] == before
    assert [window.length for window in shown[0].windows] == [4, 12]
    assert [window.length for window in shown[-1].windows] == [3]


@pytest.mark.parametrize("change", ['smoother = "none"', "strictness = 2", "windows = [7]"])
def test_what_is_read_from_releases_may_change(tmp_path, change):
    with opened(campus(tmp_path)) as stream:
        before = put_many(stream, BEFORE)
    now = ("windows = [4, 12]", change if "windows" in change else f"{change}\nwindows = [4, 12]")
    with opened(campus(tmp_path, now)) as stream:
        assert stream.next_step == BEFORE
        (record,) = put_many(stream, 1)
    assert record.kind == RELEASED
    if "windows" in change:
        # A new window is full at once: it adds up what was released before.
        sums = [sum(column) for column in zip(*[r.drawn.noisy.tolist() for r in [*before[-6:], record]], strict=True)]
        assert (record.windows[0].covered, list(record.windows[0].sums)) == (7, sums)


def test_a_change_before_the_first_step_waits_for_nothing(tmp_path):
    with opened(campus(tmp_path)) as stream:
        assert stream.tested_from == {"crowd": 3}
    with opened(campus(tmp_path, added())) as stream:
        assert stream.tested_from == {"full": 3, "crowd": 3}
        stream.skip_to(100)
        assert state_of(stream.put_counts(100, counts(100)), "full").crossed is None
