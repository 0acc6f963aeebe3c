"""Steps of equal length, counted in UTC from a declared instant: when each begins, and in which one a time lies.

A time is an ISO text with its zone, seconds since 1970, or an aware datetime. UTC has each instant once: the offset
tells apart an hour that a local clock shows twice, and a time without an offset is refused. A leap second, 23:59:60, is
not an instant of this clock; the seconds around it are.
Reads: times. Writes: nothing. Never: the machine's own clock or zone; a time in an error message.
"""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from numbers import Integral
from typing import SupportsIndex

from thresher.amounts import whole_number
from thresher.errors import ArgumentError

Time = str | int | float | datetime

_ISO = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ](?:[01]\d|2[0-3]):\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:?\d\d)", re.ASCII
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND, _SECOND = timedelta(microseconds=1), 10**6
_FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LONGEST_STEP = 366 * 24 * 3600
_YEARS = "it must be one instant of the years 1 to 9999"
_HOW = 'Pass ISO text with its zone, such as "2026-01-31T08:00:00Z", seconds since 1970, or an aware datetime'


def instant(time: object) -> int | None:
    """Return microseconds since 1970, rounded down; None for anything but an instant of the years 1 to 9999."""
    if isinstance(time, datetime):
        return _of_datetime(time)
    if isinstance(time, str):
        return _of_text(time)
    if isinstance(time, bool) or not isinstance(time, Integral | float):
        return None
    if isinstance(time, float):
        # A float means its shortest repr, as everywhere: 0.1 is a tenth.
        microseconds = math.floor(Decimal(float.__repr__(time)) * _SECOND) if math.isfinite(time) else None
    else:
        microseconds = int(time) * _SECOND
    return _in_range(microseconds)


@dataclass(frozen=True, slots=True, init=False)
class StepClock:
    """Step s lasts from `start` + s * `step_seconds` up to, not including, the beginning of the next.

    `start` is in microseconds since 1970. Runtime: constant.
    """

    start: int
    step_seconds: int

    def __init__(self, start: Time, step_seconds: SupportsIndex) -> None:
        seconds = whole_number(step_seconds, "step_seconds")
        if not 1 <= seconds <= _LONGEST_STEP:
            raise ArgumentError(
                "step_seconds", seconds, f"a step lasts 1 to {_LONGEST_STEP:,} whole seconds", "Pass 300 for 5 minutes"
            )
        begins = instant(start)
        if begins is None:
            raise ArgumentError("start", start, _YEARS, _HOW)
        object.__setattr__(self, "start", begins)
        object.__setattr__(self, "step_seconds", seconds)

    @classmethod
    def at(cls, microseconds: int, step_seconds: SupportsIndex) -> "StepClock":
        """Make the clock that starts this many microseconds after 1970."""
        return cls(_EPOCH + timedelta(microseconds=microseconds), step_seconds)

    def step_of(self, time: Time) -> int:
        """Return the step in which `time` lies; below 0 before the start."""
        microseconds = instant(time)
        if microseconds is None:
            # The value may belong to somebody, so the message does not repeat it.
            raise ArgumentError("time", type(time), _YEARS, _HOW)
        return self.step_at(microseconds)

    def step_at(self, microseconds: int) -> int:
        """Return the step of an instant."""
        return (microseconds - self.start) // (self.step_seconds * _SECOND)

    def began_at(self, step: SupportsIndex) -> datetime:
        """Return when a step begins, which is when the step before it ends."""
        number = whole_number(step, "step")
        began = _in_range(self.start + number * self.step_seconds * _SECOND)
        if number < 0 or began is None:
            raise ArgumentError("step", number, "steps count from 0 and end with the year 9999", "Pass one of these")
        return _EPOCH + timedelta(microseconds=began)

    def began(self, step: SupportsIndex) -> str:
        """Return when a step begins, as ISO text in UTC."""
        return self.began_at(step).isoformat().replace("+00:00", "Z")


def _of_text(time: str) -> int | None:
    if not _ISO.fullmatch(time):
        return None
    try:
        return _of_datetime(datetime.fromisoformat(time.upper()))
    except ValueError:  # there is no such day, minute or offset
        return None


def _of_datetime(time: datetime) -> int | None:
    try:
        return None if time.utcoffset() is None else _in_range((time - _EPOCH) // _MICROSECOND)
    except (ArithmeticError, TypeError, ValueError):  # a datetime that is not a time, such as NaT
        return None


def _in_range(microseconds: int | None) -> int | None:
    return microseconds if microseconds is not None and _FIRST <= microseconds <= _LAST else None
