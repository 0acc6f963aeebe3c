"""A ledger of before `stream 1`: its streams go on, and nothing of them is drawn again.

`old_streams/` was made by the version before: steps 0 to 2 and 4 of `campus` released, 3 torn, 5 passed over, 6 and 7
released, with groups sealed; of `people` one step, which was torn, so that there is no state.
"""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from live.campuses import counts

from thresher.accounting import step_spending
from thresher.amounts import Epsilon
from thresher.config import load
from thresher.errors import ArgumentError, DeclarationError, KeyReusedError
from thresher.ledger import Charge, open_book
from thresher.live.open_stream import open_stream
from thresher.live.recorded_noise import RecordedEntropy
from thresher.live.step_plan import STREAM_STEP
from thresher.streams.step_release import GAP, OPENS, RELEASED, TORN

OLD = Path(__file__).parent / "old_streams"
KINDS = [RELEASED, RELEASED, RELEASED, TORN, RELEASED, GAP, RELEASED, RELEASED]


def old_book(folder, *changes):
    """The declarations of the old streams, with some of their text changed, and their ledger."""
    for name in ("stream.key", "ledger.db.anchor"):
        shutil.copy(OLD / name, folder / name)
    with closing(sqlite3.connect(folder / "ledger.db")) as raw:
        raw.executescript((OLD / "ledger.sql").read_text())
    text = (OLD / "thresher.toml").read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    (folder / "thresher.toml").write_text(text)
    return load(folder / "thresher.toml")


def opened(declared, name="campus"):
    return open_stream(declared, name, entropy=RecordedEntropy(3))


def charges(declared):
    with closing(open_book(declared.ledger)) as book:
        entries = [entry for entry in book.entries() if entry.account == "stream:campus"]
        return [entry.facts["key"] for entry in entries if entry.kind == "reserve"], book.balance("stream:campus").spent


def test_it_goes_on_with_the_next_step_and_shows_what_is_stored(tmp_path):
    declared = old_book(tmp_path)
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as raw:
        stored = [body for (body,) in raw.execute("SELECT body FROM releases ORDER BY 1").fetchall()]
    with opened(declared) as stream:
        assert stream.next_step == 8
        records = list(stream.records())
        assert [record.kind for record in records] == KINDS
        assert sorted(record.to_bytes() for record in records if record.kind == RELEASED) == sorted(stored)
        assert stream.put_counts(8, counts(8)).kind == RELEASED
    # Now its state has the present form, and it goes on from there.
    with opened(declared) as stream:
        assert stream.next_step == 9
        assert [record.kind for record in stream.records()] == [*KINDS, RELEASED]
    keys, spent = charges(declared)
    assert len(keys) == len(set(keys)) == 8
    assert str(spent) == "0.5"


def test_its_open_groups_are_closed(tmp_path):
    declared = old_book(tmp_path)
    with opened(declared) as stream:
        assert stream.put_counts(8, counts(7)).drawn.marks.tolist() == [OPENS] * 3
        assert stream.put_counts(9, counts(7)).windows[0].covered == 4
    with opened(declared) as stream:
        assert OPENS not in stream.put_counts(10, counts(7)).drawn.marks.tolist()


def test_its_alarms_count_as_declared_today(tmp_path):
    """What was declared before cannot be compared: the promise begins anew."""
    with opened(old_book(tmp_path)) as stream:
        assert stream.tested_from == {"crowd": 11}
        states = [stream.put_counts(step, [100, 0, 0]).alarms[0].crossed for step in range(8, 13)]
    assert [state is None for state in states] == [True] * 3 + [False] * 2


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (('"hall"]', '"pool"]'), "states"),
        (('"hall"]', '"hall", "pool"]'), "states"),
        (("theta = 200", "theta = 201"), "theta"),
        (('epsilon = "0.5"', 'epsilon = "0.4"'), "epsilon"),
        (("windows = [4]", 'windows = [4]\naccount = "others"'), "account"),
        (("windows = [4]", "windows = [4]\nlate_steps = 2"), "late_steps"),
        (("windows = [4]", "windows = [4]\nahead_steps = 2"), "ahead_steps"),
        (('mechanism = "pegasus"\ntheta = 200\nkey_file = "stream.key"', ""), "mechanism, theta"),
    ],
)
def test_what_its_records_mean_cannot_change(tmp_path, change, field):
    with pytest.raises(ArgumentError, match=rf"other settings \({field}\)"):
        opened(old_book(tmp_path, change))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (
            ('states = ["library", "gym", "hall"]\nstart = 2026', 'states = ["library", "gym", "hall"]\nstart = 2025'),
            "start",
        ),
        (('budget = "0.5"', 'budget = "0.5"\nprotect = 2'), "protect"),
    ],
)
def test_its_account_keeps_what_it_is_about(tmp_path, change, what):
    with pytest.raises(DeclarationError, match=f"began with another {what}"):
        opened(old_book(tmp_path, change))


def test_a_step_that_was_torn_is_never_drawn(tmp_path):
    """Of this stream nothing is known but the keys that were charged."""
    declared = old_book(tmp_path)
    with opened(declared, "people") as stream:
        assert stream.next_step == 1
        assert [record.kind for record in stream.records()] == [TORN]
        assert stream.put_counts(1, [1, 2]).kind == RELEASED


def test_a_stream_of_which_only_a_charge_is_known_cannot_change_its_account(tmp_path):
    """A new account would have a new budget, and the torn step would be drawn a second time."""
    declared = old_book(tmp_path, ('epsilon = "0.2"', 'epsilon = "0.2"\naccount = "others"'))
    with opened(declared, "people") as stream:
        with pytest.raises(KeyReusedError, match="charged to another account than stream:others"):
            stream.put_counts(0, [1, 2])
        assert stream.balance().spent == Epsilon(0)


def test_a_step_that_was_torn_behind_a_gap_is_found_when_it_is_put(tmp_path):
    """Its charge stands under a question of the old form: that is no reason to draw it."""
    declared = old_book(tmp_path)
    with closing(open_book(declared.ledger)) as book:
        old = next(entry.facts["question"] for entry in book.entries() if entry.kind == "reserve")
        with opened(declared) as stream:
            plan, question = stream.plan, old.replace('"step": 0', '"step": 10')
            key, subject = plan.identity.key_of(10), plan.identity.subject
            book.forfeit(
                book.reserve(
                    Charge(plan.account, step_spending(10, plan.step_epsilon, 1), key, question, STREAM_STEP, subject)
                )
            )
            kinds = [stream.put_counts(step, counts(step)).kind for step in range(8, 12)]
    assert kinds == [RELEASED, RELEASED, TORN, RELEASED]
