"""Events of people become counts of steps: each unit once in each of at most k states, whatever the order of arrival.

Steps are closed by whoever holds the clock, never by events: if a late time could close a step, one person could make
everybody else's events late, and no noise would cover that. `step_buffer.md` proves what one unit can move.
Reads: events. Writes: nothing. Never: the name of a unit after `offer`; a true count in the open; a step twice.
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

# Of late steps, of steps ahead, and of states of one unit.
MOST = 10**6
# Why an event was not counted. The numbers are true ones: they are for the curator, and never go into a record.
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
    """Open steps, and for each of them who was seen where.

    `late_steps`: a step stays open for so many steps after its end. `max_states`: in how many states of one step a unit
    counts; which ones, a digest over `key` decides. `ahead_steps`: so far may a sender's clock be ahead of ours.
    Privacy: adding or removing all events of one unit in one step moves at most `max_states` of that step's counts,
    each by 1, and nothing else (`step_buffer.md`). Memory: for each open step and unit seen in it one digest and at
    most `max_states` numbers; at most `late_steps` + `ahead_steps` + 1 steps are open. Runtime: constant for an event.
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
        """The first step that is not closed."""
        return self._next

    @property
    def counters(self) -> Mapping[str, int]:
        """How many events were not counted, and why. True numbers, for the curator only."""
        return dict(self._counters)

    def due(self, now: Time) -> range:
        """The steps that are to be closed at this instant of the clock, in order."""
        return range(self._next, max(self._next, self._clock.step_of(now) - self._late))

    def offer(self, unit: object, state: object, time: object) -> None:
        """Take an event. Whether it counts is not told, and depends on this unit's events and on the clock alone."""
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
            self._seen(self._open.setdefault(step, {}), who, step, place)

    def close(self, step: SupportsIndex) -> Exact:
        """The counts of a step, one row for each state. It is forgotten, and so are open steps before it."""
        number = whole_number(step, "step")
        if number < self._next:
            raise ArgumentError("step", number, f"it is closed, and {self._next} is the next", "Close steps in order")
        seen = self._open.get(number, {})
        self.start_at(number + 1)
        places = np.fromiter((place for kept in seen.values() for place in kept), dtype=np.int64)
        return Exact(np.bincount(places, minlength=len(self._names)).astype(np.int64)[:, None])

    def start_at(self, step: SupportsIndex) -> None:
        """Go on with this step, after a restart or a gap: what was seen of the ones before is forgotten."""
        self._next = max(self._next, whole_number(step, "step"))
        self._open = {number: seen for number, seen in self._open.items() if number >= self._next}

    def __reduce__(self) -> NoReturn:
        raise BugError("open steps are never written anywhere")

    def _why_not(self, step: int) -> str | None:
        if step < self._next:
            return BEFORE if step < 0 else LATE
        return AHEAD if step > self._next + self._late + self._ahead else None

    def _seen(self, units: dict[bytes, tuple[int, ...]], who: bytes, step: int, place: int) -> None:
        kept = units.get(who, ())
        if place in kept:
            self._counters[REPEATED] += 1
        elif len(kept) < self._most:
            units[who] = (*kept, place)
        else:
            ranked = sorted((*kept, place), key=lambda p: state_rank(self._key, who, step, self._names[p]))
            units[who] = tuple(ranked[:-1])
            self._counters[CAPPED] += 1


def unit_digest(unit: object) -> bytes | None:
    """What stands for a unit: a text or a whole number of 64 bits, never the same unit; anything else is none."""
    if isinstance(unit, str):
        return hashlib.sha256(b"text:" + unit.encode("utf-8", "surrogatepass")).digest()
    if isinstance(unit, bool) or not isinstance(unit, Integral) or not -(2**63) <= int(unit) < 2**63:
        return None
    return hashlib.sha256(b"number:%d" % int(unit)).digest()


def state_rank(key: str, who: bytes, step: int, state: str) -> bytes:
    """The order in which a unit's states of one step are preferred: by a digest, so by no value and no arrival."""
    return hashlib.sha256(f"{len(key)}:{key}:{who.hex()}:{step}:{state}".encode("utf-8", "surrogatepass")).digest()


def state_names(states: Sequence[str]) -> tuple[str, ...]:
    """The names of the states, in order, if each is a text of its own."""
    fix = 'Pass different names, such as ["library", "gym"]'
    if isinstance(states, str) or not states:
        raise ArgumentError("states", states, "it must be a list of one name or more", fix)
    names = tuple(states)
    for name in names:
        if not isinstance(name, str) or not name:
            raise ArgumentError("states", name, "a state is named by text", fix)
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ArgumentError("states", twice, "two states have this name", fix)
    return names
