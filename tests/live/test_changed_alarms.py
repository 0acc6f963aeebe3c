"""What may change while a stream runs, and from which step on a new alarm is tested."""

import pytest
from live.campuses import PEGASUS, campus, counts
from live.test_stream import opened, put_many

from thresher.streams.step_release import OPENS, RELEASED

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


def test_a_threshold_that_is_changed_and_changed_back_is_new_both_times(tmp_path):
    """To and fro gives no test of a window that somebody had seen a part of."""
    there = ("threshold = 300", "threshold = 301")
    first = [3]
    for changes in ((), (there,), (), (there,), ()):
        with opened(campus(tmp_path, *changes)) as stream:
            assert stream.tested_from["crowd"] == first[-1]
            tested = [record.step for record in put_many(stream, 6) if state_of(record, "crowd").crossed is not None]
        assert tested == list(range(first[-1], first[-1] - 3 + 6))
        first.append(stream.next_step + 3)


def test_a_window_that_is_changed_and_changed_back_reads_nothing_from_before(tmp_path):
    with opened(campus(tmp_path)) as stream:
        put_many(stream, BEFORE)
    with opened(campus(tmp_path, ("window = 4\non_steps", "window = 2\non_steps"))) as stream:
        assert [state_of(record, "crowd").crossed is None for record in put_many(stream, 3)] == [True, False, False]
    with opened(campus(tmp_path)) as stream:
        states = [state_of(record, "crowd") for record in put_many(stream, 5)]
    assert [state.crossed is None for state in states] == [True] * 3 + [False] * 2
    assert not any(state.ringing for state in states[:4])


def test_an_alarm_taken_out_and_put_back_before_any_step_was_stored_is_the_same(tmp_path):
    """Nobody saw anything in between: to leave it declared would have been the same choice."""
    with opened(campus(tmp_path)) as stream:
        put_many(stream, BEFORE)
    with opened(campus(tmp_path, ("threshold = 300", "threshold = 301"))) as stream:
        assert stream.tested_from == {"crowd": BEFORE + 3}
    with opened(campus(tmp_path)) as stream:
        assert stream.tested_from == {"crowd": 3}


def test_two_alarms_that_exchange_their_names_stay_what_they_are(tmp_path):
    with opened(campus(tmp_path)) as stream:
        put_many(stream, BEFORE)
    with opened(campus(tmp_path, added(name="full"))) as stream:
        put_many(stream, 1)
    swapped = campus(tmp_path, added(name="crowd_"), ("alarms.crowd]", "alarms.full]"), ("crowd_", "crowd"))
    with opened(swapped) as stream:
        assert stream.tested_from == {"crowd": BEFORE + 3, "full": 3}


def test_who_opens_many_alarms_beforehand_cannot_choose_among_them_afterwards(tmp_path):
    """Each process has an alarm ready; one stream is carried on, and then the alarm that suits it is let go on."""
    with opened(campus(tmp_path)) as stream:
        put_many(stream, BEFORE)
    declared = campus(tmp_path, added())
    with opened(declared) as waiting:
        assert waiting.tested_from == {"full": BEFORE + 3, "crowd": 3}
        with opened(campus(tmp_path)) as stream:
            put_many(stream, 5)
        declared = campus(tmp_path, added())
        waiting.put_counts(BEFORE + 5, counts(BEFORE + 5))
        assert waiting.tested_from == {"full": BEFORE + 5 + 3, "crowd": 3}
    with opened(declared) as stream:
        assert stream.tested_from == {"full": BEFORE + 5 + 3, "crowd": 3}
        tested = [state_of(record, "full").crossed is not None for record in put_many(stream, 3)]
    assert tested == [False, False, True]


def test_open_groups_that_are_sealed_go_on_though_alarms_and_windows_change(tmp_path):
    sealed = (("windows", PEGASUS), ("windows", 'key_file = "stream.key"\nwindows'))
    found = []
    for name, changes in (
        ("unchanged", ()),
        ("changed", (added(), ("windows = [4, 12]", "windows = [5]"), ("threshold = 300", "threshold = 299"))),
    ):
        (tmp_path / name).mkdir()
        with opened(campus(tmp_path / name, *sealed)) as stream:
            put_many(stream, BEFORE)
        with opened(campus(tmp_path / name, *changes, *sealed)) as stream:
            records = put_many(stream, 4)
        found.append([(r.drawn.noisy.tolist(), r.drawn.marks.tolist(), r.values) for r in records])
    assert found[0] == found[1]
    # The groups were open: none begins with the change.
    assert OPENS not in found[0][0][1]


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
