"""A growing table as a feed: when a step is over, the source counts its units by state.

The time of a row is a declared column: days or hours, or a grid of whole seconds since 1970 or of step numbers.
Each unit counts in at most k states of a step, chosen among the rows of that step alone (`table_feed.md`).
Reads: the table, once for a step. Writes: nothing. Never: a row that came after its step was read; noise.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal as OneWord
from typing import SupportsIndex

from thresher.amounts import whole_number
from thresher.config import Code, Column, Contribution, Days, Grid, Hours, Listed, Numbered, Table, Truth
from thresher.errors import ArgumentError
from thresher.live.feeds import Receiver
from thresher.question import Aggregate, Exact, Need, Within
from thresher.sources import Source
from thresher.streams.step_blocks import checked_between
from thresher.streams.step_buffer import MOST
from thresher.streams.step_clock import StepClock, Time
from thresher.streams.step_release import ENDED, StepRecord

_MICRO = 10**6
_HOUR, _DAY = 3600, 24 * 3600


@dataclass(frozen=True, slots=True)
class StepTable:
    """The columns of a table that hold the state and the time of a row. `times`: what the numbers of a grid mean."""

    table: Table
    state: str
    time: str
    times: OneWord["seconds", "steps"] = "seconds"

    def __post_init__(self) -> None:
        for field, name in (("state", self.state), ("time", self.time)):
            if name not in self.table.columns:
                raise ArgumentError(
                    field,
                    name,
                    f"{self.table.name} declares no such column",
                    "Name a declared column",
                )
        if not isinstance(self.states.kind, Listed | Numbered | Truth):
            raise ArgumentError(
                "state", self.state, "the column must declare its values", "Declare it with values = [...]"
            )
        if self.times not in ("seconds", "steps"):
            raise ArgumentError("times", self.times, "it must be seconds or steps", 'Write "seconds"')

    @property
    def states(self) -> Column:
        """Return the column of states."""
        return self.table.columns[self.state]

    @property
    def codes(self) -> tuple[Code, ...]:
        """Return the codes of the states in declared order."""
        kind = self.states.kind
        return tuple(kind.codes()) if isinstance(kind, Listed | Numbered | Truth) else ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the states in declared order, which are the series of the stream."""
        return tuple(str(self.states.kind.label(code)) for code in self.codes)


class TableFeed:
    """Counts of a table's steps. `opened` opens the source again for each step, so that new rows are seen.

    Privacy: all rows of one unit in one step move at most `max_states` counts of that step by 1 each
    (`table_feed.md`); if the table has no units, each row is a unit and `max_states` is 1. `late_steps`: how many steps
    after its end a step is read; later rows are never counted. Runtime: one scan of the step's rows for a step.
    """

    def __init__(
        self,
        opened: Callable[[], Source],
        rows: StepTable,
        clock: StepClock,
        max_states: SupportsIndex = 1,
        late_steps: SupportsIndex = 1,
    ) -> None:
        self._opened, self._rows, self._clock = opened, rows, clock
        self._late = checked_between(late_steps, "late_steps", 0, MOST)
        most = checked_between(max_states, "max_states", 1, MOST)
        limits = rows.table.contribution
        bounded = None if limits is None else Contribution(limits.unit, most, 1)
        self._table = replace(rows.table, contribution=bounded)
        self._first_code, self._codes_in_step, self._ends = _placed(rows, clock)

    def need(self, step: SupportsIndex) -> Need:
        """Return what must be read for a step, or refuse a step outside of the declared times. This reads nothing."""
        number = whole_number(step, "step")
        low = self._first_code + number * self._codes_in_step
        high = low + self._codes_in_step - 1
        lowest, highest = self._ends
        if number < 0 or low < lowest or high > highest:
            raise ArgumentError(
                "step",
                number,
                f"the declared values of {self._rows.time} do not include the times of this step",
                "Declare a later last day, or a larger max",
            )
        groups = tuple((code,) for code in self._rows.codes)
        among = Within(self._rows.time, low, high)
        return Need(self._table, (self._rows.states,), groups, among, (Aggregate("units"),), among)

    @property
    def relations(self) -> tuple[str, ...]:
        """Return what the rows are based on now. Raise `SourceUnavailableError` if the source cannot be reached."""
        source = self._opened()
        try:
            return source.bases(self._rows.table)
        finally:
            source.close()

    def counts(self, need: Need) -> Exact:
        """Count the units in each state, sealed. Raise `SourceError` if the source cannot be read."""
        source = self._opened()
        try:
            return source.fetch(need)
        finally:
            source.close()

    def due(self, first: int, now: Time) -> range:
        """Return the steps from `first` on that are over and no longer wait for late rows."""
        return range(first, max(first, self._clock.step_of(now) - self._late))


def poll(feed: TableFeed, now: Time, into: Receiver) -> Iterator[StepRecord]:
    """Read and put the steps that are due, one by one. Call it again when the next step is over."""
    for step in feed.due(into.next_step, now):
        # `need` refuses a step before the charge; `counts` reads it after the charge.
        record = into.put(step, partial(feed.counts, feed.need(step)), feed.relations)
        yield record
        if record.kind == ENDED:
            return


def _placed(rows: StepTable, clock: StepClock) -> tuple[int, int, tuple[int, int]]:
    """Return the code at which step 0 begins, how many codes a step has, and the codes of the first and last moment."""
    kind = rows.table.columns[rows.time].kind
    if isinstance(kind, Days | Hours):
        seconds = _DAY if isinstance(kind, Days) else _HOUR
        codes = kind.codes()
        return *_in_units(clock, seconds, "days" if seconds == _DAY else "hours"), (int(codes[0]), int(codes[-1]))
    if not isinstance(kind, Grid) or kind.step != 1 or kind.missing is not None:
        raise ArgumentError(
            "time",
            rows.time,
            "the column of times must hold days, hours, or whole numbers without `missing`",
            'Declare it as first = ..., last = ..., by = "hour", or as min = ..., max = ... with step 1',
        )
    # Values outside are limited to the ends, so the ends hold more than their own moments.
    inside = (kind.lowest + 1, kind.highest - 1)
    if rows.times == "steps":
        return 0, 1, inside
    return *_in_units(clock, 1, "seconds"), inside


def _in_units(clock: StepClock, seconds: int, name: str) -> tuple[int, int]:
    """Return the start and the step of a clock in these units, or refuse a clock that splits one."""
    if clock.start % (seconds * _MICRO) or clock.step_seconds % seconds:
        raise ArgumentError(
            "clock",
            clock,
            f"the table has times in {name}, and a step begins between two of them",
            f"Let the clock start at a whole number of {name}, with steps of whole {name}",
        )
    return clock.start // (seconds * _MICRO), clock.step_seconds // seconds
