"""Turn events into counts of steps: each unit counts once in each of at most k states, in whatever order events arrive.

The caller's clock closes steps, never an event: if an event from the future could close a step, one person could make
all other events late, and no noise would cover that. `step_buffer.md` proves what one unit can move.
Reads: events. Writes: nothing. Never: the name of a unit after `offer`; an unsealed count; a step twice.
"""

import hashlib
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import NoReturn, SupportsIndex

import numpy as np

from thresher.amounts import whole_number
from thresher.errors import ArgumentError, BugError
from thresher.question import Exact
from thresher.streams.step_blocks import checked_between
from thresher.streams.step_clock import StepClock, Time, instant

# The most late steps, steps ahead, and states of one unit.
MOST = 10**6
# Why an event was not counted. The counters are true numbers: for the curator only, and never in a record.
LATE, BEFORE, AHEAD, UNREADABLE, UNKNOWN, REPEATED, CAPPED = (
    "late",
    "before the start",
    "too far ahead",
    "unreadable",
    "unknown state",
    "repeated",
    "more states than allowed",
)


class StepBuffer:
    """The open steps, and for each of them which unit was in which states.

    `late_steps`: how many steps after its end a step stays open. `max_states`: in how many states of one step a unit
    counts; a digest over `key` chooses them. `ahead_steps`: how many steps a sender's clock may be ahead of ours.
    Privacy: adding or removing all events of one unit in one step moves at most `max_states` of that step's counts,
    each by 1, and nothing else (`step_buffer.md`). Memory: one digest and at most `max_states` numbers for each open
    step and unit in it; at most `late_steps` + `ahead_steps` + 1 steps are open. Runtime: constant for an event.
    """

    def __init__(
        self,
        states: Sequence[str],
        clock: StepClock,
        late_steps: SupportsIndex = 1,
        max_states: SupportsIndex = 1,
        ahead_steps: SupportsIndex = 1,
        key: str = "",
    ) -> None:
        self._names = state_names(states)
        self._places = {state: place for place, state in enumerate(self._names)}
        self._late = checked_between(late_steps, "late_steps", 0, MOST)
        self._ahead = checked_between(ahead_steps, "ahead_steps", 0, MOST)
        self._most = checked_between(max_states, "max_states", 1, MOST)
        self._clock, self._key, self._next = clock, key, 0
        self._open: dict[int, dict[bytes, tuple[int, ...]]] = {}
        self._counters = dict.fromkeys((LATE, BEFORE, AHEAD, UNREADABLE, UNKNOWN, REPEATED, CAPPED), 0)

    @property
    def next_step(self) -> int:
        """Return the first step that is not closed."""
        return self._next

    @property
    def counters(self) -> Mapping[str, int]:
        """Return how many events were not counted, and why. These are true numbers, for the curator only."""
        return dict(self._counters)

    def due(self, now: Time) -> range:
        """Return the steps to close at this instant of the clock, in order."""
        return range(self._next, max(self._next, self._clock.step_of(now) - self._late))

    def offer(self, unit: object, state: object, time: object) -> None:
        """Take an event. Nothing says whether it counts, which depends on this unit's events and the clock alone."""
        who, when = unit_digest(unit), instant(time)
        if who is None or when is None:
            self._counters[UNREADABLE] += 1
            return
        place = self._places.get(state) if isinstance(state, str) else None
        step = self._clock.step_at(when)
        why_not = self._why_not(step)
        if why_not is not None or place is None:
            self._counters[why_not or UNKNOWN] += 1
        else:
            self._add(self._open.setdefault(step, {}), who, step, place)

    def close(self, step: SupportsIndex) -> Exact:
        """Return the sealed counts of a step, one row for each state. Forget it, and open steps before it."""
        number = whole_number(step, "step")
        if number < self._next:
            raise ArgumentError("step", number, f"it is closed; the next one is {self._next}", "Close steps in order")
        units = self._open.get(number, {})
        self.start_at(number + 1)
        places = np.fromiter((place for states in units.values() for place in states), dtype=np.int64)
        return Exact(np.bincount(places, minlength=len(self._names)).astype(np.int64)[:, None])

    def start_at(self, step: SupportsIndex) -> None:
        """Go on with this step, after a restart or a gap. Events of earlier steps are forgotten."""
        self._next = max(self._next, whole_number(step, "step"))
        self._open = {number: units for number, units in self._open.items() if number >= self._next}

    def __reduce__(self) -> NoReturn:
        raise BugError("open steps hold true events and cannot be copied or written")

    def _why_not(self, step: int) -> str | None:
        if step < self._next:
            return BEFORE if step < 0 else LATE
        return AHEAD if step > self._next + self._late + self._ahead else None

    def _add(self, units: dict[bytes, tuple[int, ...]], who: bytes, step: int, place: int) -> None:
        states = units.get(who, ())
        if place in states:
            self._counters[REPEATED] += 1
        elif len(states) < self._most:
            units[who] = (*states, place)
        else:
            ranked = sorted((*states, place), key=lambda p: state_rank(self._key, who, step, self._names[p]))
            units[who] = tuple(ranked[:-1])
            self._counters[CAPPED] += 1


def unit_digest(unit: object) -> bytes | None:
    """Return the digest of a unit: a text or a whole number of 64 bits, which are never the same unit; else None."""
    if isinstance(unit, str):
        return hashlib.sha256(b"text:" + unit.encode("utf-8", "surrogatepass")).digest()
    if isinstance(unit, bool) or not isinstance(unit, Integral) or not -(2**63) <= int(unit) < 2**63:
        return None
    return hashlib.sha256(b"number:%d" % int(unit)).digest()


def state_rank(key: str, who: bytes, step: int, state: str) -> bytes:
    """Return the rank of a state among those of a unit in one step: a digest, which no value or arrival decides."""
    return hashlib.sha256(f"{len(key)}:{key}:{who.hex()}:{step}:{state}".encode("utf-8", "surrogatepass")).digest()


def state_names(states: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the states, in order, or refuse them. Each is a different text."""
    fix = 'Pass different names, such as ["library", "gym"]'
    if isinstance(states, str) or not states:
        raise ArgumentError("states", states, "it must be a list of one name or more", fix)
    names = tuple(states)
    for name in names:
        if not isinstance(name, str) or not name:
            raise ArgumentError("states", name, "the name of a state is a text that is not empty", fix)
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ArgumentError("states", twice, "two states have this name", fix)
    return names
