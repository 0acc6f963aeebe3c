"""What a step releases, and its record: what is stored, handed out, and shown again. One record for every step.

    released   drawn once, charged, stored
    torn       charged, and lost in a crash before it was stored: there is no value and there never will be one
    gap        nobody listened: nothing was read and nothing is charged
    ended      the budget cannot pay for this step, and nothing follows

A group of steps with similar counts is written by one mark for each step and series: the step OPENS a group, JOINS the
open group, or stands ALONE, which closes the group before it. So the last group at any time is the step itself if it
stands alone, and otherwise all steps back to the last one that opened.
Reads: noisy numbers and what follows from them. Writes: bytes of them. Never: a true count; a value of another step.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.pages import Lines, Page, Shown, line

RELEASED, TORN, GAP, ENDED = "released", "torn", "gap", "ended"
JOINS, OPENS, ALONE = 0, 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class NoisyStep:
    """One step of all series, in declared order.

    `marks`: how each series is grouped; None without a grouper.
    `nano`: at how many nano-epsilon each series was measured, 0 if it was not (then its noisy count is 0); None if all
    were measured as declared. `more`, `more_nano`: a second measurement of the same counts, where one was made.
    """

    noisy: NDArray[np.int64]
    marks: NDArray[np.int8] | None = None
    nano: NDArray[np.int64] | None = None
    more: NDArray[np.int64] | None = None
    more_nano: NDArray[np.int64] | None = None

    def document(self) -> dict[str, Any]:
        """For JSON; what is None is left out."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {name: values.tolist() for name, values in fields.items() if values is not None}

    @classmethod
    def from_document(cls, said: Mapping[str, Any]) -> "NoisyStep":
        def whole(name: str) -> NDArray[np.int64] | None:
            return np.array(said[name], dtype=np.int64) if name in said else None

        marks = np.array(said["marks"], dtype=np.int8) if "marks" in said else None
        noisy = np.array(said["noisy"], dtype=np.int64)
        return cls(noisy, marks, whole("nano"), whole("more"), whole("more_nano"))


@dataclass(frozen=True, slots=True)
class WindowState:
    """The sums of the last `length` steps, one for each series; `covered` of those steps have a value."""

    length: int
    covered: int
    sums: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class AlarmState:
    """One declared alarm at one step, for the series it watches.

    `ringing`: what is shown, after hysteresis. `crossed`: this step's own test, which the promise is about; None where
    it is not tested: its window is not full, or reaches back to before the alarm was declared.
    """

    name: str
    series: str
    ringing: bool
    crossed: bool | None


@dataclass(frozen=True, slots=True)
class StepRecord(Shown):
    """One step of a stream. `at` is when it began; `epsilon` is what one unit may have lost in this step alone.

    `values` are the smoothed estimates, best effort; `drawn` are the noisy counts that carry the promises.
    """

    stream: str
    step: int
    at: str
    kind: str
    names: tuple[str, ...]
    epsilon: Epsilon
    drawn: NoisyStep | None = None
    values: tuple[float, ...] = ()
    windows: tuple[WindowState, ...] = ()
    alarms: tuple[AlarmState, ...] = ()
    note: str = ""
    stamp: str = ""
    # A gap may be several steps long; all others are one.
    steps: int = 1

    def to_bytes(self) -> bytes:
        """What is stored: all but the names, which belong to the stream."""
        return json.dumps(self._content(), sort_keys=True, separators=(",", ":"), allow_nan=False).encode()

    @classmethod
    def from_bytes(cls, body: bytes, names: Sequence[str]) -> "StepRecord":
        return cls.from_content(json.loads(body), names)

    @classmethod
    def from_content(cls, said: Mapping[str, Any], names: Sequence[str]) -> "StepRecord":
        return cls(
            said["stream"],
            said["step"],
            said["at"],
            said["kind"],
            tuple(names),
            Epsilon.from_json(said["epsilon"]),
            NoisyStep.from_document(said["drawn"]) if "drawn" in said else None,
            tuple(said["values"]),
            tuple(WindowState(length, covered, tuple(sums)) for length, covered, sums in said["windows"]),
            tuple(AlarmState(*state) for state in said["alarms"]),
            said["note"],
            said["stamp"],
        )

    def handed_out(self, key: str) -> Self:  # noqa: ARG002 - its step is its key
        return self

    def _content(self) -> dict[str, Any]:
        drawn = {} if self.drawn is None else {"drawn": self.drawn.document()}
        return {
            **drawn,
            "alarms": [[a.name, a.series, a.ringing, a.crossed] for a in self.alarms],
            "at": self.at,
            "epsilon": self.epsilon.to_json(),
            "kind": self.kind,
            "note": self.note,
            "stamp": self.stamp,
            "step": self.step,
            "stream": self.stream,
            "values": list(self.values),
            "windows": [[w.length, w.covered, list(w.sums)] for w in self.windows],
        }

    @property
    def noisy(self) -> tuple[int | None, ...]:
        """The noisy counts; None for a node of a tree that was pruned, and so not looked at."""
        if self.drawn is None:
            return ()
        if self.drawn.nano is None:
            return tuple(self.drawn.noisy.tolist())
        pairs = zip(self.drawn.noisy.tolist(), self.drawn.nano.tolist(), strict=True)
        return tuple(count if nano else None for count, nano in pairs)

    def document(self) -> dict[str, Any]:
        """For a JSON line: numbers by the name of their series; what this kind of record lacks is left out."""
        said: dict[str, Any] = {"stream": self.stream, "step": self.step, "at": self.at, "kind": self.kind}
        if self.steps > 1:
            said["steps"] = self.steps
        if self.drawn is not None:
            said["noisy"] = dict(zip(self.names, self.noisy, strict=True))
            said["values"] = dict(zip(self.names, self.values, strict=True))
            said["windows"] = [
                {"length": w.length, "covered": w.covered, "sums": dict(zip(self.names, w.sums, strict=True))}
                for w in self.windows
            ]
            said["alarms"] = [
                {"name": a.name, "series": a.series, "ringing": a.ringing, "crossed": a.crossed} for a in self.alarms
            ]
        said["epsilon"] = self.epsilon.to_json()
        return {**said, **({"note": self.note} if self.note else {}), **({"stamp": self.stamp} if self.stamp else {})}

    def page(self) -> Page:
        """Return what is shown of it: one line, and the record for programs."""
        from thresher.streams.stream_chart import step_line  # noqa: PLC0415 - it draws records

        shown = step_line(replace(self, stamp=""), self.names)
        return Page((Lines((line(shown),)),), self.document(), self.stamp)
