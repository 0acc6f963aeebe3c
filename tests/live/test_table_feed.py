"""A growing table, counted step by step in every kind of source, as the buffer of events counts it."""

import random
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import pytest
from ledger.conftest import postgres_server  # noqa: F401 - one way to start PostgreSQL
from live.test_feeds import Kept
from sources.conftest import put, spark  # noqa: F401 - every kind of source
from sources.places import arrow, declared

from thresher.amounts import Epsilon
from thresher.config import Column, Contribution, Days, Grid, Hours, Listed, Numbered, Table, Text
from thresher.errors import ArgumentError
from thresher.live.table_feed import StepTable, TableFeed, poll
from thresher.question import Aggregate, Need, Within
from thresher.sources import open_source
from thresher.streams.step_clock import StepClock

STATES = ("gym", "it's", "libräry")
START = datetime(2026, 3, 1, tzinfo=UTC)
SECONDS = int(START.timestamp())
PHYSICAL = {"who": "big", "room": "text", "at": "zoned", "second": "big", "step": "int"}
HOURS = StepClock(START, 2 * 3600)


def table(kind="hour", units=True):
    last = date(2026, 3, 4)
    at = Hours(date(2026, 2, 28), last) if kind == "hour" else Days(date(2026, 2, 28), last)
    columns = [
        Column("room", Listed(STATES)),
        Column("at", at),
        Column("second", Grid(Fraction(SECONDS - 10**6), Fraction(SECONDS + 10**6), Fraction(1))),
        Column("step", Grid(Fraction(-5), Fraction(30), Fraction(1))),
    ]
    limits = Contribution("who", 7, 9) if units else None
    return Table("visits", {column.name: column for column in columns}, Epsilon("1"), contribution=limits)


def visits(seed, many=150):
    dice, made = random.Random(seed), []
    for _ in range(many):
        later = timedelta(seconds=dice.randrange(-4 * 3600, 30 * 3600))
        room = dice.choice([*STATES, "roof", None])
        who = dice.choice([None, *range(8)])
        time = None if dice.random() < 0.05 else START + later
        second = None if time is None else int(time.timestamp())
        step = None if time is None else (second - SECONDS) // 7200
        made.append({"who": who, "room": room, "at": time, "second": second, "step": step})
    return made


def rooms_of(rows, step):
    """Who was where in a step, as it is declared."""
    return {(r["who"], r["room"]) for r in rows if r["step"] == step and r["room"] in STATES and r["who"] is not None}


def counts(feed, step):
    return feed.counts(feed.need(step)).unseal()[:, 0].tolist()


PLACES = ("duckdb", "parquet", "csv", "arrow", "postgres", "spark")


@pytest.mark.parametrize("place", PLACES)
def test_units_are_counted_by_state_and_step_in_every_source(place, put):  # noqa: F811
    """With as many states as there are; then with one, each unit in one of its states."""
    rows = visits(3)
    opened = StaysOpen(put(place, rows, table(), PHYSICAL))
    everywhere = TableFeed(opened, StepTable(table(), "room", "at"), HOURS, max_states=3)
    once = TableFeed(opened, StepTable(table(), "room", "at"), HOURS)
    for step in (1,) if place == "spark" else (0, 1, 7):
        expected = Counter(room for _, room in rooms_of(rows, step))
        assert counts(everywhere, step) == [expected[state] for state in STATES]
        seen = counts(once, step)
        assert sum(seen) == len({who for who, _ in rooms_of(rows, step)})
        assert all(one <= many for one, many in zip(seen, counts(everywhere, step), strict=True))


class StaysOpen:
    """A source that is opened once: for tables that do not grow."""

    def __init__(self, source):
        self.fetch = source.fetch

    def __call__(self):
        return self

    def close(self):
        pass


def stays_open(rows, declaration=None):
    return StaysOpen(in_memory(rows, declaration)())


def in_memory(rows, declaration=None):
    made = declaration or table()
    return lambda: open_source(declared("memory://", made), {"visits": arrow(rows, PHYSICAL)})


def test_hours_seconds_and_steps_say_the_same():
    opened = stays_open(visits(4))
    by = {
        times: TableFeed(opened, StepTable(table(), "room", column, times), HOURS)
        for column, times in (("second", "seconds"), ("step", "steps"))
    }
    by["hours"] = TableFeed(opened, StepTable(table(), "room", "at"), HOURS)
    seen = [[sum(counts(feed, step)) for step in range(12)] for feed in by.values()]
    assert seen[0] == seen[1] == seen[2]
    assert sum(seen[0]) > 20


def test_days_are_steps_too():
    rows = visits(5)
    feed = TableFeed(in_memory(rows, table("day")), StepTable(table("day"), "room", "at"), StepClock(START, 86400), 3)
    first_day = {(r["who"], r["room"]) for r in rows if r["step"] is not None and 0 <= r["step"] < 12}
    assert sum(counts(feed, 0)) == len({(w, r) for w, r in first_day if w is not None and r in STATES})


def test_one_unit_in_one_step_moves_at_most_k_counts_by_one():
    for seed in range(4):
        rows = visits(seed, 60)
        dice = random.Random(seed)
        who, step, most = dice.randrange(8), dice.randrange(12), dice.choice([1, 2])
        fewer = [r for r in rows if (r["who"], r["step"]) != (who, step)]
        moved = Counter()
        feeds = [TableFeed(stays_open(some), StepTable(table(), "room", "at"), HOURS, most) for some in (rows, fewer)]
        for each in range(13):
            pairs = zip(counts(feeds[0], each), counts(feeds[1], each), strict=True)
            moved[each] = [abs(a - b) for a, b in pairs]
        assert all(max(differences) <= 1 for differences in moved.values())
        assert all(sum(differences) == 0 for each, differences in moved.items() if each != step)
        assert sum(moved[step]) <= most


def test_a_later_row_changes_no_earlier_step():
    """Bounded over the whole table it would: a power check of the rule."""
    made = table()
    rows = [{"who": n, "room": "gym", "at": START, "second": SECONDS, "step": 0} for n in range(30)]
    later = [
        {**r, "room": "it's", "at": START + timedelta(hours=9), "second": SECONDS + 9 * 3600, "step": 4} for r in rows
    ]
    for grown in (rows, rows + later):
        assert counts(TableFeed(in_memory(grown), StepTable(made, "room", "at"), HOURS), 0) == [30, 0, 0]
    feed = TableFeed(in_memory(rows + later), StepTable(made, "room", "at"), HOURS)
    assert counts(feed, 4) == [0, 30, 0]
    over_a_life = Table("visits", made.columns, made.budget, contribution=Contribution("who", 1, 1))
    groups = tuple((state,) for state in STATES)
    first = SECONDS // 3600
    need = Need(over_a_life, (made.columns["room"],), groups, Within("at", first, first + 1), (Aggregate("units"),))
    source = in_memory(rows + later)()
    assert 0 < source.fetch(need).unseal()[0, 0] < 30
    source.close()


def test_what_has_grown_is_seen_and_nothing_is_put_twice():
    rows, grown, kept = visits(8, 400), [], Kept()
    feed = TableFeed(in_memory(grown), StepTable(table(), "room", "at"), HOURS, 3, late_steps=1)
    for hour in range(27):
        now = START + timedelta(hours=hour)
        grown[:] = [r for r in rows if r["at"] is not None and r["at"] <= now]
        list(poll(feed, now, kept))
        assert list(kept.seen) == list(range(max(0, hour // 2 - 1)))
    for step, seen in kept.seen.items():
        expected = Counter(room for _, room in rooms_of(rows, step))
        assert seen == [expected[state] for state in STATES]
    assert list(poll(feed, START, kept)) == []


def test_nothing_is_read_after_the_end():
    feed = TableFeed(in_memory(visits(1)), StepTable(table(), "room", "at"), HOURS)
    assert [record.kind for record in poll(feed, START + timedelta(hours=20), Kept(last=2))][-1] == "ended"


def test_a_step_out_of_reach_is_refused_before_it_is_put():
    feed, kept = TableFeed(in_memory([]), StepTable(table(), "room", "at"), HOURS), Kept(first=47)
    with pytest.raises(ArgumentError, match="do not include"):
        list(poll(feed, START + timedelta(days=9), kept))
    assert list(kept.seen) == [47]  # the last two hours that are declared


def test_rows_without_units_are_units():
    rows = [{**row, "who": 1} for row in visits(9)]
    feed = TableFeed(in_memory(rows, table(units=False)), StepTable(table(units=False), "room", "at"), HOURS)
    expected = Counter(row["room"] for row in rows if row["step"] == 2)
    assert counts(feed, 2) == [expected[state] for state in STATES]


def test_clamped_values_are_in_no_step():
    """A grid clamps what lies outside to its ends: steps that touch an end are refused, whatever the rows."""
    narrow = Table(
        "visits",
        {"room": Column("room", Listed(STATES)), "step": Column("step", Grid(Fraction(-1), Fraction(6), Fraction(1)))},
        Epsilon("1"),
    )
    rows = [{"who": 1, "room": "gym", "at": None, "second": None, "step": step} for step in (-9, 0, 5, 6, 900)]
    feed = TableFeed(in_memory(rows, narrow), StepTable(narrow, "room", "step", "steps"), HOURS)
    assert [counts(feed, step)[0] for step in range(6)] == [1, 0, 0, 0, 0, 1]
    for step in (6, 7, -1):
        with pytest.raises(ArgumentError, match="do not include"):
            feed.need(step)


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("state", lambda: StepTable(table(), "nowhere", "at")),
        ("time", lambda: StepTable(table(), "room", "nowhen")),
        ("state", lambda: StepTable(table(), "at", "at")),
        ("times", lambda: StepTable(table(), "room", "second", "minutes")),
        ("time", lambda: TableFeed(in_memory([]), StepTable(table(), "room", "room"), HOURS)),
        ("clock", lambda: TableFeed(in_memory([]), StepTable(table(), "room", "at"), StepClock(START, 300))),
        ("clock", lambda: TableFeed(in_memory([]), StepTable(table("day"), "room", "at"), HOURS)),
        ("clock", lambda: TableFeed(in_memory([]), StepTable(table(), "room", "second"), StepClock(0.5, 300))),
        ("max_states", lambda: TableFeed(in_memory([]), StepTable(table(), "room", "at"), HOURS, 0)),
        ("late_steps", lambda: TableFeed(in_memory([]), StepTable(table(), "room", "at"), HOURS, 1, -1)),
    ],
)
def test_declarations_that_make_no_steps_are_refused(field, make):
    with pytest.raises(ArgumentError, match=f"^{field} = "):
        make()


def test_states_may_be_numbers():
    numbered = Table(
        "visits",
        {
            "second": Column("second", Numbered((7, 3))),
            "step": Column("step", Grid(Fraction(-5), Fraction(30), Fraction(1))),
            "room": Column("room", Text()),
        },
        Epsilon("1"),
    )
    rows = [{"who": n, "room": "x", "at": None, "second": n, "step": 4} for n in (3, 3, 7, 8)]
    chosen = StepTable(numbered, "second", "step", "steps")
    assert chosen.names == ("7", "3")
    assert counts(TableFeed(in_memory(rows, numbered), chosen, HOURS), 4) == [1, 2]
