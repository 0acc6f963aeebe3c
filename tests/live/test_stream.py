"""A running stream: what is charged, kept, shown again, refused; and that no true count is ever left anywhere."""

import json
import os
import re
import sqlite3
import struct
import warnings
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from live.campuses import LARGE, PEGASUS, STATES, campus, counts

import thresher
from thresher import charging
from thresher.accounting import step_spending
from thresher.accounting.subject import STREAM, Subject
from thresher.amounts import Epsilon
from thresher.errors import (
    ArgumentError,
    BugError,
    CuratorError,
    DeclarationError,
    KeyReusedError,
    LedgerError,
    SourceUnavailableError,
)
from thresher.ledger import open_book
from thresher.live.open_stream import open_stream, planned
from thresher.live.recorded_noise import RecordedEntropy
from thresher.live.secret_state import seal_of
from thresher.live.step_plan import step_plan
from thresher.noise import SeededEntropy
from thresher.question import Exact
from thresher.streams.step_mechanism import sealed_counts
from thresher.streams.step_release import ENDED, GAP, RELEASED, TORN, StepRecord

KEYED = 'key_file = "stream.key"\nwindows'
TREE = 'tree = { campus = ["north", "south"], north = ["library", "gym"], south = ["hall", "pool"] }'
SERIES = 'states = ["library", "gym", "hall"]'


def opened(declared, seed=3):
    return open_stream(declared, "campus", entropy=RecordedEntropy(seed))


def put_many(stream, steps):
    return [stream.put_counts(step, counts(step)) for step in range(stream.next_step, stream.next_step + steps)]


def spent(declared):
    with closing(open_book(declared.ledger)) as book:
        return str(book.balance("stream:campus").spent)


def test_a_record_is_stored_as_it_is_handed_out_and_shown_again_for_nothing(tmp_path):
    declared = campus(tmp_path)
    with opened(declared) as stream:
        given = put_many(stream, 20)
        assert [record.to_bytes() for record in stream.records()] == [record.to_bytes() for record in given]
        assert [record.step for record in stream.records(5, 7)] == [5, 6, 7]
        assert [record.step for record in stream.records(-3, 1)] == [0, 1]
    with opened(declared) as stream:
        assert stream.next_step == 20
        assert [record.to_bytes() for record in stream.records()] == [record.to_bytes() for record in given]
        assert all(record.kind == RELEASED and record.stamp for record in stream.records())
    assert StepRecord.from_bytes(given[-1].to_bytes(), STATES).document() == given[-1].document()
    assert spent(declared) == "0.5"


@pytest.mark.parametrize(
    "changes",
    [
        (),
        (("windows", PEGASUS), ("windows", KEYED)),
        ((SERIES, TREE),),
        ((SERIES, TREE), ("windows", PEGASUS), ("windows", KEYED)),
    ],
    ids=["laplace", "pegasus", "tree", "grouped tree"],
)
def test_a_restart_goes_on_as_if_nothing_had_happened(tmp_path, changes):
    states = 4 if (SERIES, TREE) in changes else 3

    def some(step):
        return [*counts(step), step % 5][:states]

    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with opened(campus(tmp_path / "one", *changes)) as stream:
        whole = [stream.put_counts(step, some(step)).to_bytes() for step in range(60)]
    parts = []
    for until in (7, 8, 31, 60):
        with opened(campus(tmp_path / "two", *changes)) as stream:
            parts += [stream.put_counts(step, some(step)).to_bytes() for step in range(stream.next_step, until)]
    assert parts == whole


def test_without_a_seal_groups_are_closed_by_a_restart(tmp_path):
    declared = campus(tmp_path, ("windows", PEGASUS))
    with opened(declared) as stream:
        put_many(stream, 3)
    with opened(declared) as stream:
        (record,) = put_many(stream, 1)
    assert record.drawn.marks.tolist() == [1, 1, 1]


def held_numbers(blob: bytes) -> bool:
    """Whether one of the true counts is in there, as text or as a binary number of any usual kind.

    Hashes are hexadecimal digits: the chance that one of some ten thousand holds one of these nine-digit numbers is
    below 1e-6.
    """
    forms = [form for n in LARGE for form in (str(n).encode(), struct.pack("<q", n), struct.pack("<d", n))]
    return any(form in blob for form in forms)


@pytest.mark.parametrize("keyed", [(), (("windows", KEYED),)], ids=["unsealed", "sealed"])
def test_no_true_count_is_left_in_any_file(tmp_path, keyed):
    # With this seed no noisy count happens to be one of the true ones, which the test makes sure of.
    changes = (("windows", PEGASUS), *keyed, ('"0.5"', '"0.02"'), ("threshold = 300", "threshold = 3000"))
    with opened(campus(tmp_path, *changes), seed=12) as stream:
        records = put_many(stream, 12)
        files = [path.read_bytes() for path in tmp_path.iterdir() if path.is_file()]
        shown = [record.to_bytes() for record in records]
        noisy = {number for record in records for number in record.drawn.noisy.tolist()}
    assert noisy.isdisjoint(LARGE)
    assert not any(map(held_numbers, [*files, *shown]))
    assert held_numbers(b'{"count": 198491317}')
    assert held_numbers(np.array([3, LARGE[1]]).tobytes())


def test_the_secrets_that_are_sealed_do_hold_true_counts(tmp_path):
    """So the search above looks for what is really there."""
    with opened(campus(tmp_path, ("windows", PEGASUS))) as stream:
        put_many(stream, 12)
        assert held_numbers(stream._state._drawer.secrets())


def test_another_key_opens_nothing(tmp_path):
    declared = campus(tmp_path, ("windows", PEGASUS), ("windows", KEYED))
    with opened(declared) as stream:
        put_many(stream, 2)
    key = (tmp_path / "stream.key").read_text()
    assert (tmp_path / "stream.key").stat().st_mode & 0o777 == 0o600
    (tmp_path / "stream.key").write_text(key.translate(str.maketrans("0123456789abcdef", "123456789abcdef0")))
    with pytest.raises(CuratorError, match="key_file"):
        opened(declared)
    for bad in ("short", "zz" * 32, key.strip()[:-2]):
        (tmp_path / "stream.key").write_text(bad)
        with pytest.raises(CuratorError, match="64 hexadecimal digits"):
            opened(declared)
    (tmp_path / "stream.key").write_text(key)
    with opened(declared) as stream:
        assert stream.next_step == 2


def test_a_key_file_may_be_declared_later_and_a_lost_one_is_not_made_again(tmp_path):
    """Nothing was sealed before, so that a new key overwrites none."""
    with opened(campus(tmp_path, ("windows", PEGASUS))) as stream:
        put_many(stream, 2)
    declared = campus(tmp_path, ("windows", PEGASUS), ("windows", KEYED))
    with opened(declared) as stream:
        put_many(stream, 2)
    with opened(declared) as stream:
        (record,) = put_many(stream, 1)
    assert 0 in record.drawn.marks.tolist()
    (tmp_path / "stream.key").unlink()
    with pytest.raises(CuratorError, match="cannot be read"):
        opened(declared)


# Budgets


def test_events_are_protected_for_ever_at_one_price(tmp_path):
    declared = campus(tmp_path)
    with opened(declared) as stream:
        put_many(stream, 30)
        assert stream.plan.lost_within(288) == Epsilon("144")
        assert "144" in str(stream.plan)
    assert spent(declared) == "0.5"


def test_a_protected_window_divides_its_epsilon(tmp_path):
    declared = campus(tmp_path, ('epsilon = "0.5"', 'epsilon = "0.5"\nprotect = 10'))
    with opened(declared) as stream:
        assert stream.plan.step_epsilon == Epsilon("0.05")
        assert stream.plan.measures.perturber == Epsilon("0.05")
        put_many(stream, 30)
    assert spent(declared) == "0.5"


def test_more_states_for_a_unit_divide_it_too(tmp_path):
    declared = campus(tmp_path, ('epsilon = "0.5"', 'epsilon = "0.5"\nmax_states_per_unit = 2'))
    assert planned(declared, "campus").measures.perturber == Epsilon("0.25")


def test_a_protected_unit_ends_the_stream_with_a_last_record_and_nothing_after_it(tmp_path):
    declared = campus(tmp_path, ('budget = "0.5"', 'budget = "1.7"\nprotect = "unit"'))
    with opened(declared) as stream:
        records = put_many(stream, 4)
        assert [record.kind for record in records] == [RELEASED] * 3 + [ENDED]
        last = records[-1].document()
        assert "budget is exhausted" in last["note"]
        assert {"noisy", "values", "windows", "alarms"}.isdisjoint(last)
        assert last["epsilon"] == "0"
        assert stream.ended
        with pytest.raises(CuratorError, match="ended"):
            stream.put_counts(3, counts(3))
        with pytest.raises(CuratorError, match="ended"):
            stream.skip_to(9)
    assert spent(declared) == "1.5"
    with opened(declared) as stream:
        assert [record.kind for record in put_many(stream, 1)] == [ENDED]
    richer = campus(tmp_path, ('budget = "0.5"', 'budget = "2"\nprotect = "unit"'))
    with opened(richer) as stream:
        assert stream.next_step == 3
        assert [record.kind for record in put_many(stream, 2)] == [RELEASED, ENDED]


SECOND = """
[streams.people]
states = ["in", "out"]
start = 2026-01-01T00:00:00Z
step_seconds = 300
epsilon = "0.2"
budget = "0.6"
account = "campus"
"""


def test_streams_about_the_same_people_share_a_budget(tmp_path):
    declared = campus(tmp_path, ('budget = "0.5"', 'budget = "0.6"'), ("[streams.campus]", f"{SECOND}[streams.campus]"))
    with opened(declared) as stream:
        put_many(stream, 5)
    with open_stream(declared, "people", entropy=RecordedEntropy(1)) as people:
        assert people.put_counts(0, [1, 2]).kind == ENDED
    with closing(open_book(declared.ledger)) as book:
        assert str(book.balance("stream:campus").spent) == "0.5"
        assert [held.account for held in book.balances()] == ["stream:campus"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (('budget = "0.6"', 'budget = "0.7"'), "budget"),
        (("step_seconds = 300", "step_seconds = 600"), "step_seconds"),
        (('account = "campus"', 'account = "campus"\nprotect = 5'), "protect"),
    ],
)
def test_streams_that_share_an_account_agree_on_what_it_counts(tmp_path, change, field):
    second = SECOND.replace(*change)
    with pytest.raises(DeclarationError, match=f"{field}.*same account"):
        campus(tmp_path, ('budget = "0.5"', 'budget = "0.6"'), ("[streams.campus]", f"{second}[streams.campus]"))


# Gaps, torn steps, other processes


def test_a_gap_is_recorded_and_uncharged_and_windows_say_how_much_they_cover(tmp_path):
    declared = campus(tmp_path)
    with opened(declared) as stream:
        put_many(stream, 6)
        assert stream.skip_to(6) is None
        gap = stream.skip_to(9)
        assert (gap.kind, gap.step, gap.epsilon) == (GAP, 6, Epsilon(0))
        assert "6 to 8" in gap.note
        after = stream.put_counts(9, counts(9))
        assert [window.covered for window in after.windows] == [1, 7]
        # The promise is about whole windows: of one with a hole nothing is said.
        assert after.alarms[0].crossed is None
        jumped = stream.put_counts(12, counts(12))
        assert [window.covered for window in jumped.windows] == [2, 7]
        kinds = [(record.step, record.kind) for record in stream.records(4)]
    assert kinds == [(4, RELEASED), (5, RELEASED), (6, GAP), (9, RELEASED), (10, GAP), (12, RELEASED)]
    with opened(declared) as stream:
        assert [(record.step, record.kind) for record in stream.records(4)] == kinds
        assert stream.next_step == 13
        assert [record.note[-16:] for record in stream.records(7, 8)] == ["d (steps 7 to 8)"]


class StrangeError(Exception):
    """Nothing of ours; its text quotes a count."""


def test_a_step_that_breaks_is_torn_charged_and_never_drawn_again(tmp_path, monkeypatch):
    declared = campus(tmp_path)
    with opened(declared) as stream:
        put_many(stream, 3)

        def breaks(_):
            raise StrangeError("198491317")

        monkeypatch.setattr(stream._state._drawer, "draw", breaks)
        with pytest.raises(BugError) as caught:
            stream.put_counts(3, counts(3))
        assert "198491317" not in str(caught.value) + str(caught.value.__context__)
        with pytest.raises(CuratorError, match="Open it again"):
            stream.put_counts(4, counts(4))
    with opened(declared) as stream:
        assert stream.next_step == 4
        torn = list(stream.records())[3]
        assert (torn.kind, torn.epsilon, torn.drawn) == (TORN, Epsilon("0.5"), None)
        with pytest.raises(ArgumentError, match="over"):
            stream.put_counts(3, counts(3))
        assert stream.put_counts(4, counts(4)).windows[0].covered == 3


def test_a_step_torn_behind_a_gap_is_found(tmp_path, monkeypatch):
    declared = campus(tmp_path)
    with opened(declared) as stream:
        put_many(stream, 2)
        stream.skip_to(5)
        monkeypatch.setattr(stream._state._drawer, "draw", lambda _: 1 / 0)
        with pytest.raises(BugError):
            stream.put_counts(5, counts(5))
    with opened(declared) as stream:
        assert [stream.put_counts(step, counts(step)).kind for step in range(2, 7)] == [
            RELEASED,
            RELEASED,
            RELEASED,
            TORN,
            RELEASED,
        ]


def test_two_processes_cannot_both_carry_a_stream_on(tmp_path):
    declared = campus(tmp_path)
    with opened(declared) as first, opened(declared) as second:
        put_many(first, 1)
        with pytest.raises(LedgerError, match="another process"):
            second.put_counts(0, counts(0))
        with pytest.raises(CuratorError, match="Open it again"):
            second.put_counts(1, counts(1))
        put_many(first, 1)
    with opened(declared) as third:
        assert third.next_step == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are made by Unix")
def test_a_fork_is_refused_before_anything_is_charged(tmp_path):
    """It would draw with the noise that its parent goes on with."""
    declared = campus(tmp_path)
    with opened(declared) as stream:
        put_many(stream, 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            try:
                stream.put_counts(1, counts(1))
            except CuratorError:
                os._exit(7)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert stream.put_counts(1, counts(1)).kind == RELEASED


# What is refused


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (('epsilon = "0.5"', 'epsilon = "0.4"'), "epsilon"),
        (('"hall"]', '"pool"]'), "states"),
        ((SERIES, 'tree = { campus = ["library", "gym", "hall"] }'), "states, tree"),
        (("windows", PEGASUS), "mechanism, theta"),
        (("windows", "late_steps = 2\nwindows"), "late_steps"),
        (("[streams.campus]", '[streams.campus]\naccount = "others"'), "account"),
    ],
)
def test_a_restart_that_would_draw_otherwise_is_refused_by_the_names_of_the_settings(tmp_path, change, field):
    with opened(campus(tmp_path)) as stream:
        put_many(stream, 2)
    with pytest.raises(ArgumentError, match=rf"other settings \({field}\).*decide what is drawn"):
        opened(campus(tmp_path, change))
    with opened(campus(tmp_path, ('budget = "0.5"', 'budget = "5"'))) as stream:
        assert stream.next_step == 2


def test_other_settings_are_refused_even_if_no_step_was_ever_stored(tmp_path, monkeypatch):
    with opened(campus(tmp_path)) as stream:
        monkeypatch.setattr(stream._state._drawer, "draw", lambda _: 1 / 0)
        with pytest.raises(BugError):
            stream.put_counts(0, counts(0))
    with pytest.raises(KeyReusedError, match="other settings"):
        opened(campus(tmp_path, ('"hall"]', '"pool"]')))
    with opened(campus(tmp_path)) as stream:
        assert stream.next_step == 1


@pytest.mark.parametrize(
    "given",
    [[1, 2], [1, 2, 3, 4], [[1, 2, 3]], [1.0, 2.0, 3.0], [1, 2.5, 3], ["1", "2", "3"], [1, 2, -3], [True, True, False]],
)
def test_what_no_count_can_be_is_refused_before_anything_is_charged(tmp_path, given):
    declared = campus(tmp_path)
    with opened(declared) as stream:
        with pytest.raises(ArgumentError, match="counts"):
            stream.put_counts(0, given)
        assert stream.next_step == 0
        put_many(stream, 1)
        with pytest.raises(ArgumentError, match="over"):
            stream.put_counts(0, counts(0))
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as raw:
        assert raw.execute("SELECT count(*) FROM reservations").fetchone() == (1,)


def test_sealed_counts_say_nothing():
    exact = sealed_counts([1, 2, 3], 3)
    assert isinstance(exact, Exact)
    assert repr(exact) == "<sealed>"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (("threshold = 300", "threshold = 1"), "alarms.crowd.threshold"),
        (('series = "library"', 'series = "libary"'), "alarms.crowd.series"),
        (("window = 4\non", "window = 5000\non"), "alarms.crowd.window"),
        (("windows", 'prune = "estimate"\nwindows'), "prune"),
        (("windows", 'smoother = "median"\nwindows'), "smoother"),
        ((SERIES, 'tree = { a = ["b"], b = ["a"] }'), "tree"),
        ((SERIES, 'tree = { campus = ["library", "north"], north = ["gym"] }'), "tree"),
        ((SERIES, 'tree = { campus = ["library", "n"], n = ["library"] }'), "tree"),
        (('epsilon = "0.5"\nbudget = "0.5"', 'epsilon = "0.000000001"\nbudget = "0.5"\nprotect = 5'), "epsilon"),
    ],
)
def test_what_cannot_be_planned_is_refused_with_its_place_and_line(tmp_path, change, place):
    declared = campus(tmp_path, change)
    with pytest.raises(DeclarationError, match=rf"streams.campus.{place}, line \d+"):
        planned(declared, "campus")
    assert not (tmp_path / "ledger.db").exists()


def test_an_unknown_stream_is_refused_by_the_names_of_the_known(tmp_path):
    with pytest.raises(ArgumentError, match="campus"):
        open_stream(campus(tmp_path), "campis")


def test_a_seed_stamps_every_record_and_repeats_every_step(tmp_path):
    (tmp_path / "a").mkdir()
    with open_stream(campus(tmp_path / "a"), "campus", entropy=SeededEntropy(1)) as stream:
        assert json.loads(stream.put_counts(0, counts(0)).to_bytes())["stamp"] == "NOT PRIVATE"
    with open_stream(campus(tmp_path), "campus") as stream:
        assert stream.put_counts(0, counts(0)).stamp == ""


# Found by trying to cheat it


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (("start = 2026-01-01", "start = 2025-12-31"), "start"),
        (("step_seconds = 300", "step_seconds = 60"), "step_seconds"),
        (('epsilon = "0.5"', 'epsilon = "0.5"\nprotect = 2'), "protect"),
    ],
)
def test_another_stream_cannot_count_the_steps_of_an_account_otherwise(tmp_path, change, what):
    """The same moments under other numbers would look like other steps, and cost nothing more."""
    with opened(campus(tmp_path)) as stream:
        put_many(stream, 3)
    renamed = (
        ("[streams.campus]", '[streams.renamed]\naccount = "campus"'),
        ("streams.campus.alarms", "streams.renamed.alarms"),
    )
    with pytest.raises(DeclarationError, match=f"began with another {what}"):
        open_stream(campus(tmp_path, *renamed, change), "renamed")
    with pytest.raises(DeclarationError, match=f"began with another {what}"):
        opened(campus(tmp_path, change))


def test_the_length_of_what_is_sealed_follows_from_the_marks(tmp_path):
    lengths = {}
    for name, numbers in {"alike": (5, 5, 5), "different": (5, 6, 7)}.items():
        (tmp_path / name).mkdir()
        declared = campus(tmp_path / name, ("windows", PEGASUS), ("windows", KEYED), ("theta = 200", "theta = 9000"))
        with opened(declared) as stream:
            lengths[name] = []
            for step, number in enumerate(numbers):
                marks = stream.put_counts(step, [number, number, number]).drawn.marks.tolist()
                lengths[name].append((marks, len(stream._book.state("stream:campus"))))
    assert lengths["alike"] == lengths["different"]


def test_a_seal_is_bound_to_its_step(tmp_path):
    seal = seal_of(tmp_path / "key")
    sealed = seal.closed(b"secret", "step 3")
    assert seal.opened(sealed, "step 3") == b"secret"
    with pytest.raises(CuratorError, match="key_file"):
        seal.opened(sealed, "step 4")


def test_groups_begun_with_a_seed_do_not_go_on_without_one(tmp_path):
    declared = campus(tmp_path, ("windows", PEGASUS), ("windows", KEYED))
    with opened(declared) as stream:
        put_many(stream, 3)
    with open_stream(declared, "campus") as stream:
        (record,) = put_many(stream, 1)
        assert (record.stamp, record.drawn.marks.tolist()) == ("", [1, 1, 1])
        put_many(stream, 2)
    with open_stream(declared, "campus") as stream:
        (record,) = put_many(stream, 1)
        assert record.drawn.marks.tolist() != [1, 1, 1]


@pytest.mark.parametrize("grouped", [(), (("windows", PEGASUS),)], ids=["laplace", "pegasus"])
def test_windows_after_a_long_gap_hold_nothing_of_before_it(tmp_path, grouped):
    declared = campus(tmp_path, ("windows = [4, 12]", "windows = [20000]"), *grouped)
    with opened(declared) as stream:
        for step in range(3):
            stream.put_counts(step, [100_000, 0, 0])
        after = stream.put_counts(50_000, [10, 0, 0])
    assert after.windows[0].covered == 1
    assert abs(after.windows[0].sums[0] - 10) < 100


@pytest.mark.parametrize("grouped", [False, True])
def test_a_restart_sees_as_far_back_as_the_longest_window(tmp_path, monkeypatch, grouped):
    """And as the group that its first step may lie in, which is longer than the window is here."""
    for room in ("stream_plan", "step_mechanism", "derived_values"):
        monkeypatch.setattr(f"thresher.streams.{room}.LONGEST_GROUP", 8)
    grouping = [("windows", PEGASUS.replace("200", "2000")), ("windows", KEYED)] if grouped else []
    whole = []
    for folder, restarts in (("one", ()), ("two", (30, 55))):
        (tmp_path / folder).mkdir()
        declared = campus(tmp_path / folder, ("windows = [4, 12]", "windows = [21]"), *grouping)
        records = []
        for end in (*restarts, 60):
            with opened(declared) as stream:
                records += [stream.put_counts(step, counts(step)).windows for step in range(stream.next_step, end)]
        whole.append(records)
    assert whole[0] == whole[1]


def test_huge_counts_are_cut_off_and_steps_beyond_all_times_cost_nothing(tmp_path):
    declared = campus(tmp_path)
    with opened(declared) as stream:
        record = stream.put_counts(0, np.array([2**63, 2**63 - 1, 0], dtype=np.uint64))
        assert min(record.drawn.noisy[:2].tolist()) > 2**39
        for bad in (10**18, "7", 1.5, True):
            with pytest.raises(ArgumentError, match="step"):
                stream.put_counts(bad, counts(1))
        assert stream.next_step == 1
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as raw:
        assert raw.execute("SELECT count(*) FROM reservations").fetchone() == (1,)


def test_names_that_are_no_names_are_shown_as_text(tmp_path):
    declared = campus(
        tmp_path,
        ("[streams.campus]", '[streams."a\\n\\n\\u001bb"]'),
        ("streams.campus.alarms", 'streams."a\\n\\n\\u001bb".alarms'),
    )
    (name,) = declared.streams
    assert "\x1b" in name
    assert "\x1b" not in str(planned(declared, name))
    assert str(planned(declared, name)).count("\n") == 5


def test_the_buffer_of_a_stream_has_its_limits(tmp_path):
    with opened(campus(tmp_path)) as stream:
        buffer = stream.buffer()
        for state in STATES:
            buffer.offer("ann", state, "2026-01-01T00:00:10Z")
        assert buffer.close(0).unseal().sum() == 1


# Charged by the one charge


def test_streams_reserve_and_settle_nothing_themselves():
    rooms = [Path(thresher.__file__).parent / room for room in ("live", "streams")]
    texts = {path.name: path.read_text() for room in rooms for path in room.rglob("*.py")}
    assert not [name for name, text in texts.items() if re.search(r"\.(reserve|settle|forfeit|cancel)\(", text)]
    assert "charging.complete(" in texts["running_stream.py"]


def test_the_key_of_a_step_is_for_its_stream_alone(tmp_path):
    """Whoever could name it in a question would stop the stream at that step."""
    with opened(campus(tmp_path)) as stream:
        plan = step_plan(stream._state, 3)
        assert charging.key_of(plan) == stream.plan.identity.key_of(3)
        with pytest.raises(ArgumentError, match="key"):
            charging.key_of(plan, "another")
        asked = replace(plan, key_is_fixed=False)
        for key in (None, plan.written_key):
            with pytest.raises(ArgumentError, match="key"):
                charging.key_of(asked, key)


def test_a_step_is_a_plan_that_shows_its_price_and_its_promise(tmp_path):
    with opened(campus(tmp_path, ('epsilon = "0.5"', 'epsilon = "0.5"\nprotect = 10'))) as stream:
        plan = step_plan(stream._state, 12)
        assert (plan.family, plan.called, plan.epsilon) == ("stream step", "step 12 of campus", Epsilon("0.05"))
        assert plan.subject == Subject(STREAM, None, "2026-01-01T00:00:00+00:00", 300, 10)
        assert str(plan.guarantee).startswith("Rings when the sum of the last 4 counts is above 300.")
        assert plan.cost == step_spending(12, Epsilon("0.05"), 10)
        assert str(plan).splitlines()[:2] == [
            "step       12 of campus, which begins 2026-01-01T01:00:00Z",
            "price      epsilon 0.05 for one unit in this step alone",
        ]
        assert plan.document()["epsilon"] == "0.05"
        with pytest.raises(BugError):
            plan.run(None, SeededEntropy(1))
        record = stream.put_counts(0, counts(0))
        assert plan.recall(record.to_bytes(), "").document() == record.document()


def test_a_source_that_was_not_reached_costs_nothing_and_the_step_may_be_tried_again(tmp_path):
    def away():
        raise SourceUnavailableError("the source is not there")

    declared = campus(tmp_path)
    with opened(declared) as stream:
        with pytest.raises(SourceUnavailableError):
            stream.put(0, away)
        assert str(stream.balance().spent) == "0"
        assert stream.put_counts(0, counts(0)).kind == RELEASED
        with pytest.raises(BugError) as caught:
            stream.put(1, lambda: 1 / 0)
        assert "step 1 of campus could not be answered (ZeroDivisionError)" in str(caught.value)
        assert "Charged 0.5" in caught.value.__notes__[0]
