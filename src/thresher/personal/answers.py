"""What a personal count releases: a number for each group, what it promises, and what it takes for granted.

Reads: nothing. Writes: bytes. Never: classes, their sizes or what is left in them, which are the curator's to see.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from thresher.amounts import Epsilon
from thresher.config import Label
from thresher.personal.personal_release import INDEPENDENT

if TYPE_CHECKING:
    import pyarrow as pa

_OF_THE_RELEASE = ("key", "repeated")


@dataclass(frozen=True, slots=True)
class PersonalCounts:
    """A noisy weighted number for each group, in the units of `aggregate`; `half_width` with probability `confidence`.

    `share`: no person loses more than this share of their own budget. `predicted_sd` is a forecast, not a promise.
    """

    question: str
    aggregate: str
    keys: tuple[str, ...]
    groups: tuple[tuple[Label, ...], ...]
    estimates: tuple[str, ...]
    half_width: str
    confidence: str
    predicted_sd: str
    share: Epsilon
    sentence: str
    assumption: str = INDEPENDENT
    stamp: str = ""
    notes: tuple[str, ...] = ()
    # Of this handing-out, not of the release: under which key it is stored, and whether it was charged before.
    key: str = field(default="", compare=False)
    repeated: bool = field(default=False, compare=False)

    @property
    def table(self) -> "pa.Table":
        """Keys, estimate and half width, as an Arrow table."""
        import pyarrow as pa  # noqa: PLC0415 - costs more than the rest of a short question

        columns: dict[str, Any] = {name: [g[i] for g in self.groups] for i, name in enumerate(self.keys)}
        columns["estimate"] = [float(number) for number in self.estimates]
        columns["half_width"] = [float(self.half_width)] * len(self.groups)
        return pa.table(columns)

    def document(self) -> dict[str, Any]:
        """All of it, for JSON."""
        said = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in _OF_THE_RELEASE}
        return {**said, "share": self.share.to_json(), "groups": [list(group) for group in self.groups]}

    def to_bytes(self) -> bytes:
        return json.dumps(self.document(), sort_keys=True).encode()

    @classmethod
    def from_bytes(cls, body: bytes, key: str) -> "PersonalCounts":
        """A stored answer, handed out again."""
        said: Mapping[str, Any] = json.loads(body)
        listed = {name: tuple(said[name]) for name in ("keys", "estimates", "notes")}
        groups, share = tuple(map(tuple, said["groups"])), Epsilon.from_json(said["share"])
        return cls(**{**said, **listed, "groups": groups, "share": share}, key=key, repeated=True)

    def handed_out(self, key: str) -> "PersonalCounts":
        return replace(self, key=key)

    def __str__(self) -> str:
        shown = zip(self.groups, self.estimates, strict=True)
        listed = ", ".join(f"{' / '.join(map(str, group))} {number}" for group, number in shown)
        stamp = f"{self.stamp}. " if self.stamp else ""
        return f"{stamp}{self.aggregate}: {listed}. {self.sentence} {self.assumption}"
