"""The record of a step: what is stored, handed out, and shown again. One for every step, whatever happened to it.

    released   drawn once, charged, stored
    torn       charged, and lost in a crash before it was stored: there is no value and there never will be one
    gap        nobody listened: nothing was read and nothing is charged
    ended      the budget cannot pay for this step, and nothing follows

Reads: what was drawn and what follows from it. Writes: bytes of it. Never: a true count; a value of another step.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from thresher.amounts import Epsilon
from thresher.streams.drawn import Drawn

RELEASED, TORN, GAP, ENDED = "released", "torn", "gap", "ended"


@dataclass(frozen=True, slots=True)
class WindowSums:
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
class StepRecord:
    """One step of a stream. `at` is when it began; `epsilon` is what one unit may have lost in this step alone.

    `values` are the smoothed estimates, best effort; `drawn` are the noisy counts that carry the promises.
    """

    stream: str
    step: int
    at: str
    kind: str
    names: tuple[str, ...]
    epsilon: Epsilon
    drawn: Drawn | None = None
    values: tuple[float, ...] = ()
    windows: tuple[WindowSums, ...] = ()
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
            Drawn.from_document(said["drawn"]) if "drawn" in said else None,
            tuple(said["values"]),
            tuple(WindowSums(length, covered, tuple(sums)) for length, covered, sums in said["windows"]),
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
