"""Steps in UTC: every instant lies in one step, and what is no instant lies in none."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import ArgumentError
from thresher.streams.step_clock import StepClock, instant

START = "2026-03-01T00:00:00Z"
CLOCK = StepClock(START, 300)
NEVER = [
    "2026-03-01T00:05:00",  # no zone
    "2026-03-01",
    "2026-06-30T23:59:60Z",  # a leap second
    "2026-02-30T00:00:00Z",
    "2026-03-01T24:00:00Z",
    "2026-03-01T00:00:00+24:30",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+05:00",  # before the year 1
    "10000-01-01T00:00:00Z",
    "٢٠٢٦-03-01T00:00:00Z",
    "1772323200",
    "",
    True,
    None,
    float("nan"),
    float("inf"),
    -(10**400),
    1_772_323_200_000,  # milliseconds
    b"2026-03-01T00:00:00Z",
    datetime(2026, 3, 1),
    datetime(1, 1, 1, tzinfo=ZoneInfo("Asia/Tokyo")),
    np.datetime64("2026-03-01"),
    pandas.NaT,
    Decimal(1),
]


@pytest.mark.parametrize("time", NEVER, ids=repr)
def test_what_is_no_instant_lies_in_no_step(time):
    assert instant(time) is None
    with pytest.raises(ArgumentError) as refusal:
        CLOCK.step_of(time)
    assert str(refusal.value).startswith("time = <class")  # whatever was passed is not repeated


@pytest.mark.parametrize(
    "time",
    [
        "2026-03-01T00:10:00Z",
        "2026-03-01t00:10:00z",
        "2026-03-01 00:10+00:00",
        "2026-03-01T01:10:00+01:00",
        "2026-02-28T16:10:00.000-0800",
        "2026-03-01T00:14:59.999999999Z",
        1_772_323_800,
        1_772_323_800.0,
        np.float64(1_772_324_099.999),
        np.int64(1_772_323_800),
        datetime(2026, 3, 1, 0, 10, tzinfo=UTC),
        datetime(2026, 3, 1, 1, 10, tzinfo=ZoneInfo("Europe/Berlin")),
        pandas.Timestamp("2026-03-01T00:10:00Z"),
    ],
    ids=repr,
)
def test_one_instant_has_one_step_however_it_is_written(time):
    assert CLOCK.step_of(time) == 2


@given(st.integers(0, 10**6), st.integers(1, 10**5), st.integers(-(10**9), 10**10))
def test_a_step_holds_its_beginning_and_ends_before_the_next(step, seconds, start):
    clock = StepClock(start, seconds)
    began, ends = clock.began_at(step), clock.began_at(step + 1)
    assert clock.step_of(began) == clock.step_of(clock.began(step)) == step
    assert clock.step_of(ends - timedelta(microseconds=1)) == step
    assert (ends - began).total_seconds() == seconds
    assert clock.step_of(began - timedelta(microseconds=1)) == step - 1


def test_the_hour_that_berlin_has_twice_is_two_hours():
    berlin, hours = ZoneInfo("Europe/Berlin"), StepClock("2026-10-25T00:00:00Z", 3600)
    first, second = (datetime(2026, 10, 25, 2, 30, tzinfo=berlin, fold=fold) for fold in (0, 1))
    assert (hours.step_of(first), hours.step_of(second)) == (0, 1)
    assert hours.step_of("2026-10-25T02:30:00+02:00") == 0
    assert hours.step_of("2026-10-25T02:30:00+01:00") == 1


def test_a_float_means_what_is_written():
    """0.3 as a binary fraction is a little less; read so, it would fall into the step before."""
    assert StepClock(0.3, 1).step_of(0.3) == StepClock("1970-01-01T00:00:00.3Z", 1).step_of(0.3) == 0


def test_the_beginning_is_shown_in_utc():
    assert CLOCK.began(0) == "2026-03-01T00:00:00Z"
    assert CLOCK.began(289) == "2026-03-02T00:05:00Z"
    assert StepClock("2026-03-01T00:00:00.5+02:00", 1).began(1) == "2026-02-28T22:00:01.500000Z"
    assert StepClock(START, 300) == CLOCK == StepClock("2026-03-01T01:00:00+01:00", 300)


@pytest.mark.parametrize(
    ("start", "seconds", "field"),
    [("2026-03-01", 300, "start"), (START, 0, "step_seconds"), (START, 10**9, "step_seconds"), (START, 0.5, "step")],
)
def test_a_clock_needs_an_instant_and_whole_seconds(start, seconds, field):
    with pytest.raises(ArgumentError, match=f"^{field}"):
        StepClock(start, seconds)


@pytest.mark.parametrize("step", [-1, 10**12, 1.5])
def test_steps_count_from_zero_to_the_last_year(step):
    with pytest.raises(ArgumentError, match=r"^step"):
        CLOCK.began(step)
