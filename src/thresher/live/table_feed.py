"""A growing table as a feed: when a step is over, its rows are counted where they are, units by state.

The time of a row is a declared column: days or hours, or a grid of whole seconds since 1970 or of step numbers.
Of each unit at most k states of a step are looked at, chosen among the rows of that step alone (`table_feed.md`).
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
    """Which column of a table says the state of a row, and which one its time. `times`: what a grid's numbers are."""

    table: Table
    state: str
    time: str
    times: OneWord["seconds", "steps"] = "seconds"

    def __post_init__(self) -> None:
        for field, name in (("state", self.state), ("time", self.time)):
            if name not in self.table.columns:
                raise ArgumentError(
                    field, name, f"{self.table.name} declares no such column", "Name a column of thresher.toml"
                )
        if not isinstance(self.states.kind, Listed | Numbered | Truth):
            raise ArgumentError(
                "state", self.state, "states have a public list of values", "Declare the column with values = [...]"
            )
        if self.times not in ("seconds", "steps"):
            raise ArgumentError("times", self.times, "numbers are seconds or steps", 'Write "seconds"')

    @property
    def states(self) -> Column:
        return self.table.columns[self.state]

    @property
    def codes(self) -> tuple[Code, ...]:
        kind = self.states.kind
        return tuple(kind.codes()) if isinstance(kind, Listed | Numbered | Truth) else ()

    @property
    def names(self) -> tuple[str, ...]:
        """The states in declared order, as the series of the stream are called."""
        return tuple(str(self.states.kind.label(code)) for code in self.codes)


class TableFeed:
    """Steps of a table. `opened` opens the source anew for each step, so that what has grown since is seen.

    Privacy: all rows of one unit in one step move at most `max_states` counts of that step by 1 each
    (`table_feed.md`); if the table has no units, a row is one and `max_states` is 1. `late_steps`: so many steps after
    its end a step is read; what comes later is never counted. Runtime: one scan of the step's rows for a step.
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
        """What is to be read for a step, if the time column is declared to reach so far; nothing is read for it."""
        number = whole_number(step, "step")
        low = self._first_code + number * self._codes_in_step
        high = low + self._codes_in_step - 1
        lowest, highest = self._ends
        if number < 0 or low < lowest or high > highest:
            raise ArgumentError(
                "step",
                number,
                "the declaration of the time column does not reach so far",
                "Declare a later last day or a larger max",
            )
        groups = tuple((code,) for code in self._rows.codes)
        among = Within(self._rows.time, low, high)
        return Need(self._table, (self._rows.states,), groups, among, (Aggregate("units"),), among)

    def counts(self, need: Need) -> Exact:
        """How many units were in each state, sealed; `SourceError` if the source cannot be read."""
        source = self._opened()
        try:
            return source.fetch(need)
        finally:
            source.close()

    def due(self, first: int, now: Time) -> range:
        """The steps from `first` on that are over, and late enough to be read."""
        return range(first, max(first, self._clock.step_of(now) - self._late))


def poll(feed: TableFeed, now: Time, into: Receiver) -> Iterator[StepRecord]:
    """Read and put what is due and not there yet, step by step; call it again when the next step is over."""
    for step in feed.due(into.next_step, now):
        # A step that cannot be asked for is refused before it is charged, and read after.
        record = into.put(step, partial(feed.counts, feed.need(step)))
        yield record
        if record.kind == ENDED:
            return


def _placed(rows: StepTable, clock: StepClock) -> tuple[int, int, tuple[int, int]]:
    """The code at which step 0 begins, how many codes a step has, and the first and last code that are no clamps."""
    kind = rows.table.columns[rows.time].kind
    if isinstance(kind, Days | Hours):
        seconds = _DAY if isinstance(kind, Days) else _HOUR
        codes = kind.codes()
        return *_in_units(clock, seconds, "days" if seconds == _DAY else "hours"), (int(codes[0]), int(codes[-1]))
    if not isinstance(kind, Grid) or kind.step != 1 or kind.missing is not None:
        raise ArgumentError(
            "time",
            rows.time,
            "a time is a day, an hour, or a whole number without `missing`",
            'Declare it as first = ..., last = ..., by = "hour", or as min = ..., max = ... with step 1',
        )
    # What lies outside is clamped to the ends, so that these hold more than their own moment.
    inside = (kind.lowest + 1, kind.highest - 1)
    if rows.times == "steps":
        return 0, 1, inside
    return *_in_units(clock, 1, "seconds"), inside


def _in_units(clock: StepClock, seconds: int, name: str) -> tuple[int, int]:
    if clock.start % (seconds * _MICRO) or clock.step_seconds % seconds:
        raise ArgumentError(
            "clock",
            clock,
            f"the table keeps times in {name}, and steps begin between two of them",
            f"Start the clock on a whole one, with steps of whole {name}",
        )
    return clock.start // (seconds * _MICRO), clock.step_seconds // seconds
