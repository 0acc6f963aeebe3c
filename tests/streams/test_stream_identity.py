"""What makes a stream this stream: every field of its declaration is listed here, and does or does not change it."""

from dataclasses import fields, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest

from thresher.accounting.subject import STREAM, Subject
from thresher.amounts import Epsilon
from thresher.config import AccountDeclaration, AlarmDeclaration, Column, Days, Grid, Listed, Polled, StreamDeclaration
from thresher.streams.stream_identity import alarm_identity, changed_settings, stream_identity
from thresher.streams.stream_plan import plan_stream
from thresher.streams.tree import Tree

START = datetime(2026, 1, 1, tzinfo=UTC)
ALARM = AlarmDeclaration("crowd", "high", "a", 500, 4, Fraction(1, 20), Fraction(1, 20))
TABLE = Polled(
    "sightings",
    "place",
    "seen_at",
    None,
    None,
    "phone",
    Column("place", Listed(("a", "b"))),
    Column("seen_at", Grid(0, 9999, 1)),
)
STREAM_OF_ALL = StreamDeclaration(
    "campus",
    START,
    300,
    Epsilon("0.5"),
    Epsilon(1),
    states=("a", "b"),
    mechanism="pegasus",
    theta=100,
    windows=(4,),
    alarms=(ALARM,),
    polled=TABLE,
)
TREE = {"campus": ("a", "b")}
# Another value of each field, and by which settings a restart with it is refused; none if it may change.
CHANGES = {
    "name": ("gym", ["name"]),
    "start": (datetime(2026, 1, 2, tzinfo=UTC), ["start"]),
    "step_seconds": (60, ["step_seconds"]),
    "epsilon": (Epsilon("0.4"), ["epsilon"]),
    "budget": (Epsilon(2), []),
    "states": (("b", "a"), ["states"]),
    "tree": (TREE, ["tree"]),
    "protected_steps": (None, ["protect"]),
    "account": ("people", ["account"]),
    "people": (AccountDeclaration("people", "person", Epsilon(1)), ["account"]),
    "max_states_per_unit": (2, ["max_states_per_unit"]),
    "late_steps": (2, ["late_steps"]),
    "ahead_steps": (2, ["ahead_steps"]),
    "mechanism": ("laplace", ["mechanism"]),
    "grouper_share": (Fraction(1, 4), ["grouper_share"]),
    "theta": (None, ["theta"]),
    "smoother": ("average", []),
    "strictness": (Fraction(2), []),
    "prune": ("history", ["prune"]),
    "cutoff": (3, ["cutoff"]),
    "windows": ((), []),
    "alarms": ((), []),
    "polled": (None, ["account", "state_column", "table", "time_column"]),
    "key_file": (Path("key"), []),
}
TABLE_CHANGES = {
    "table": ("others", ["account", "table"]),
    "state_column": ("room", []),
    "time_column": ("time", []),
    "relation": ("clinic.sightings", ["table"]),
    "file": (Path("/data/sightings.parquet"), ["table"]),
    "unit": (None, ["table"]),
    "states": (Column("place", Listed(("b", "a"))), ["state_column"]),
    "times": (Column("seen_at", Days(START.date(), START.date())), ["time_column"]),
}
ALARM_CHANGES = {
    "name": ("busy", False),
    "kind": ("low", True),
    "series": ("b", True),
    "threshold": (501, True),
    "window": (5, True),
    "miss_rate": (Fraction(1, 10), True),
    "false_alarm_rate": (Fraction(1, 10), True),
    "on_steps": (2, True),
    "off_steps": (2, True),
}


def identity(declared):
    return stream_identity(declared, None if declared.tree is None else Tree.of(declared.tree))


@pytest.mark.parametrize(
    ("kind", "changes"),
    [(StreamDeclaration, CHANGES), (Polled, TABLE_CHANGES), (AlarmDeclaration, ALARM_CHANGES)],
    ids=["stream", "table", "alarm"],
)
def test_no_field_is_forgotten(kind, changes):
    assert {field.name for field in fields(kind)} == set(changes)


@pytest.mark.parametrize("field", CHANGES)
def test_what_decides_what_is_drawn_is_identity_and_nothing_else(field):
    value, changed = CHANGES[field]
    now, then = identity(replace(STREAM_OF_ALL, **{field: value})), identity(STREAM_OF_ALL)
    assert changed_settings(then.facts, now.facts) == changed
    assert (now.of_step(7) != then.of_step(7)) == bool(changed)


@pytest.mark.parametrize("field", TABLE_CHANGES)
def test_the_table_that_is_polled_is_identity(field):
    value, changed = TABLE_CHANGES[field]
    now = identity(replace(STREAM_OF_ALL, polled=replace(TABLE, **{field: value})))
    assert changed_settings(identity(STREAM_OF_ALL).facts, now.facts) == changed


@pytest.mark.parametrize("field", ALARM_CHANGES)
def test_an_alarm_is_all_but_its_name(field):
    value, changed = ALARM_CHANGES[field]
    assert (alarm_identity(replace(ALARM, **{field: value})) != alarm_identity(ALARM)) == changed


def test_the_text_is_as_it_always_was():
    """Another text would end every stream that runs: it changes with a new version only."""
    small = StreamDeclaration("s", START, 60, Epsilon("0.5"), Epsilon(1), states=("a", "b"))
    text = (
        '{"identity":"stream 1","stream":{"account":"stream:s","ahead_steps":1,"cutoff":null,"epsilon":"0.5",'
        '"grouper_share":"1/5","late_steps":1,"max_states_per_unit":1,"mechanism":"laplace","name":"s","protect":1,'
        '"prune":"none","start":"2026-01-01T00:00:00+00:00","state_column":null,"states":["a","b"],"step_seconds":60,'
        '"table":null,"theta":null,"time_column":null,"tree":null},"step":12}'
    )
    assert identity(small).of_step(12).question == identity(small).of_step(12).measurement == text
    assert identity(small).key_of(12) == "stream/043a718774c572bd/12"
    assert alarm_identity(ALARM) == "131bc530379d9d9607d93da28a297bad"


def test_the_account_is_about_steps_of_one_clock():
    assert identity(STREAM_OF_ALL).subject == Subject(STREAM, "phone", START.isoformat(), 300, 1)
    assert identity(replace(STREAM_OF_ALL, polled=None, protected_steps=None)).subject == Subject(
        STREAM, None, START.isoformat(), 300, None
    )


def test_the_order_in_which_a_tree_is_written_is_not_part_of_it():
    children = {"campus": ("n", "s"), "n": ("a", "b"), "s": ("c", "d")}
    found = {
        identity(replace(STREAM_OF_ALL, states=(), tree={name: children[name] for name in order})).question
        for order in (("campus", "n", "s"), ("s", "campus", "n"))
    }
    assert len(found) == 1


def test_a_step_of_many_states_has_a_short_text():
    """A line of the ledger, and what it keeps of a stream, grow with neither."""
    many = replace(STREAM_OF_ALL, polled=None, states=tuple(f"state {n}" for n in range(100_000)))
    text = identity(many).of_step(10**6).question
    assert len(text) < 1000
    assert text != identity(replace(many, states=(*many.states[:-1], "other"))).of_step(10**6).question


def test_a_plan_makes_its_identity_once(monkeypatch):
    plan = plan_stream(replace(STREAM_OF_ALL, polled=None))
    monkeypatch.setattr("thresher.streams.stream_identity.identity_text", None)
    assert plan.identity.of_step(3).question.endswith('"step":3}')
