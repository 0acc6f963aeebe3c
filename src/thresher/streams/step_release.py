"""What a step releases, and its record, which is stored, handed out and shown again. Each step has one record.

    released   drawn once, charged, stored
    torn       charged, and lost in a crash before it was stored: the step never gets a value
    gap        nobody listened: nothing was read and nothing is charged
    ended      the budget cannot pay for this step, and nothing follows

Groups of steps with similar counts are written as one mark for each step and series: the step OPENS a group, JOINS the
open group, or stands ALONE, which closes the group before it. So the last group at any time is the step itself if it
stands alone, and otherwise all steps back to the last step that opened a group.
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
    `nano`: the nano-epsilon of the measurement of each series, 0 if it was not measured (then its noisy count is 0);
    None if all were measured as declared. `more`, `more_nano`: a second measurement of the same counts, if any.
    """

    noisy: NDArray[np.int64]
    marks: NDArray[np.int8] | None = None
    nano: NDArray[np.int64] | None = None
    more: NDArray[np.int64] | None = None
    more_nano: NDArray[np.int64] | None = None

    def document(self) -> dict[str, Any]:
        """Return the step for JSON, without the fields that are None."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {name: values.tolist() for name, values in fields.items() if values is not None}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "NoisyStep":
        """Read what `document` wrote."""
        fields: dict[str, Any] = {
            name: np.array(values, dtype=np.int8 if name == "marks" else np.int64) for name, values in document.items()
        }
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class WindowState:
    """The sums over the last `length` steps, one for each series; `covered` of these steps have a value."""

    length: int
    covered: int
    sums: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class AlarmState:
    """One declared alarm at one step, for the series that it watches.

    `ringing`: what is shown, after hysteresis. `crossed`: the test of this step, which the promise is about; None if
    the step is not tested, because the window is not full or reaches back to before the alarm was declared.
    """

    name: str
    series: str
    ringing: bool
    crossed: bool | None


@dataclass(frozen=True, slots=True)
class StepRecord(Shown):
    """One step of a stream. `at` is when it began; `epsilon` is what one unit may have lost by this step alone.

    `drawn` are the noisy counts, which the promises are about; `values` are smoothed estimates, best effort.
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
        """Return what is stored: all but the names, which belong to the stream."""
        content = {
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
        if self.drawn is not None:
            content["drawn"] = self.drawn.document()
        return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()

    @classmethod
    def from_bytes(cls, body: bytes, names: Sequence[str]) -> "StepRecord":
        """Read what `to_bytes` wrote, for a stream with these names."""
        content = json.loads(body)
        return cls(
            content["stream"],
            content["step"],
            content["at"],
            content["kind"],
            tuple(names),
            Epsilon.from_json(content["epsilon"]),
            NoisyStep.from_document(content["drawn"]) if "drawn" in content else None,
            tuple(content["values"]),
            tuple(WindowState(length, covered, tuple(sums)) for length, covered, sums in content["windows"]),
            tuple(AlarmState(*state) for state in content["alarms"]),
            content["note"],
            content["stamp"],
        )

    def handed_out(self, key: str) -> Self:  # noqa: ARG002 - its step is its key
        return self

    @property
    def noisy(self) -> tuple[int | None, ...]:
        """Return the noisy counts; None for a node of a tree that was pruned, and so not measured."""
        if self.drawn is None:
            return ()
        if self.drawn.nano is None:
            return tuple(self.drawn.noisy.tolist())
        pairs = zip(self.drawn.noisy.tolist(), self.drawn.nano.tolist(), strict=True)
        return tuple(count if nano else None for count, nano in pairs)

    def document(self) -> dict[str, Any]:
        """Return the record for JSON: numbers by the name of their series, without what this kind of record lacks."""
        document: dict[str, Any] = {"stream": self.stream, "step": self.step, "at": self.at, "kind": self.kind}
        if self.steps > 1:
            document["steps"] = self.steps
        if self.drawn is not None:
            document["noisy"] = dict(zip(self.names, self.noisy, strict=True))
            document["values"] = dict(zip(self.names, self.values, strict=True))
            document["windows"] = [
                {"length": w.length, "covered": w.covered, "sums": dict(zip(self.names, w.sums, strict=True))}
                for w in self.windows
            ]
            document["alarms"] = [
                {"name": a.name, "series": a.series, "ringing": a.ringing, "crossed": a.crossed} for a in self.alarms
            ]
        document["epsilon"] = self.epsilon.to_json()
        return document | {name: text for name, text in (("note", self.note), ("stamp", self.stamp)) if text}

    def page(self) -> Page:
        """Return what is shown of it: one line, and the record for programs."""
        from thresher.streams.stream_chart import step_line  # noqa: PLC0415 - it imports this module

        shown = step_line(replace(self, stamp=""), self.names)
        return Page((Lines((line(shown),)),), self.document(), self.stamp)
