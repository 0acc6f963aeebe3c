"""What a personal count releases: a number for each group, what it promises, and what it takes for granted.

Reads: nothing. Writes: bytes. Never: classes, their sizes or what is left in them, which are the curator's to see.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from thresher.amounts import Epsilon
from thresher.codec import document, encoded, handed_out, not_stored
from thresher.config import Label, decimal_text
from thresher.guarantee import Guarantee

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class PersonalCounts:
    """A noisy weighted number for each group, in the units of `aggregate`, and how far off it may be.

    `share`: no person loses more than this share of their own budget. `predicted_sd` is a forecast, not a promise.
    """

    question: str
    aggregate: str
    keys: tuple[str, ...]
    groups: tuple[tuple[Label, ...], ...]
    estimates: tuple[str, ...]
    predicted_sd: str
    share: Epsilon
    guarantee: Guarantee
    assumption: str
    stamp: str = ""
    notes: tuple[str, ...] = ()
    # Of this handing-out, not of the release: under which key it is stored, and whether it was charged before.
    key: str = not_stored("")
    repeated: bool = not_stored(False)

    @property
    def half_width(self) -> str:
        """How far off each number is at most, with the promised confidence."""
        return decimal_text(self.guarantee.half_width or Fraction(0))

    @property
    def table(self) -> "pa.Table":
        """Keys, estimate and half width, as an Arrow table."""
        import pyarrow as pa  # noqa: PLC0415 - costs more than the rest of a short question

        columns: dict[str, Any] = {name: [g[i] for g in self.groups] for i, name in enumerate(self.keys)}
        columns["estimate"] = [float(number) for number in self.estimates]
        columns["half_width"] = [float(self.half_width)] * len(self.groups)
        return pa.table(columns)

    def document(self) -> dict[str, Any]:
        """Return all that is shown of it, for JSON."""
        promise = {"half_width": self.half_width, "confidence": self.guarantee.facts["confidence"]}
        return {**document(self), **promise, "guarantee": self.guarantee.document()}

    def to_bytes(self) -> bytes:
        return encoded(self)

    def handed_out(self, key: str) -> "PersonalCounts":
        return handed_out(self, key)

    def __str__(self) -> str:
        shown = zip(self.groups, self.estimates, strict=True)
        listed = ", ".join(f"{' / '.join(map(str, group))} {number}" for group, number in shown)
        stamp = f"{self.stamp}. " if self.stamp else ""
        return f"{stamp}{self.aggregate}: {listed}. {self.guarantee} {self.assumption}"
