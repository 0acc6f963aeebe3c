"""What a personal count releases: a number for each group, what it promises, and what it takes for granted.

Reads: nothing. Writes: bytes. Never: classes, their sizes or what is left in them, which are the curator's to see.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thresher.amounts import Epsilon
from thresher.codec import encoded, handed_out, not_stored
from thresher.config import Label
from thresher.personal.personal_release import INDEPENDENT

if TYPE_CHECKING:
    import pyarrow as pa


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
    key: str = not_stored("")
    repeated: bool = not_stored(False)

    @property
    def table(self) -> "pa.Table":
        """Keys, estimate and half width, as an Arrow table."""
        import pyarrow as pa  # noqa: PLC0415 - costs more than the rest of a short question

        columns: dict[str, Any] = {name: [g[i] for g in self.groups] for i, name in enumerate(self.keys)}
        columns["estimate"] = [float(number) for number in self.estimates]
        columns["half_width"] = [float(self.half_width)] * len(self.groups)
        return pa.table(columns)

    def to_bytes(self) -> bytes:
        return encoded(self)

    def handed_out(self, key: str) -> "PersonalCounts":
        return handed_out(self, key)

    def __str__(self) -> str:
        shown = zip(self.groups, self.estimates, strict=True)
        listed = ", ".join(f"{' / '.join(map(str, group))} {number}" for group, number in shown)
        stamp = f"{self.stamp}. " if self.stamp else ""
        return f"{stamp}{self.aggregate}: {listed}. {self.sentence} {self.assumption}"
