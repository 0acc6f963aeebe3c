"""Define what a diagnostic releases: numbers that were paid for, what each part cost, and what a reader must know.

Displays draw these and nothing else, the ledger stores them, and JSON carries them. All fields may be shown.
Reads: nothing. Writes: documents for JSON. Never: an exact value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.codec import document, encoded, handed_out, not_stored
from thresher.pages import Block, Fact, Page, Shown
from thresher.pages.page import plain_lines

MODEL_CAVEAT = (
    "This protects the rows that were scored, not the model: if it was trained on the same rows without a budget, its"
    " coefficients and scores are not private, and no diagnostic makes them so."
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Diagnostic(Shown):
    """What all diagnostics have: the price, its parts by name, caveats, and a stamp if the noise came from a seed.

    `rows` is the number of rows: a public one, or a noisy one that was paid for. `rows_public` says which.
    """

    epsilon: Epsilon
    split: Mapping[str, Epsilon]
    rows: int
    rows_public: bool
    caveats: tuple[str, ...]
    stamp: str = ""
    # Of this handing-out, not of the release: under which key it is stored, whether it was charged before, and when.
    key: str = not_stored("")
    repeated: bool = not_stored(False)
    paid_on: str = not_stored("")
    kind: ClassVar[str]

    @property
    def caption(self) -> str:
        """Return the lines under a picture: price, how it was divided, and caveats."""
        parts = ", ".join(f"{name} {amount}" for name, amount in self.split.items())
        rows = f"{self.rows:,} rows (a public number)" if self.rows_public else f"About {self.rows:,} rows (noisy)"
        lead = f"Cost: epsilon {self.epsilon} ({parts}). {rows}."
        return " ".join([*([f"{self.stamp}."] if self.stamp else []), lead, *self.caveats])

    def page(self) -> Page:
        """Return what is shown of it: the picture in characters, its caption and the charge."""
        from thresher.diagnostics.sparklines import sparkline  # noqa: PLC0415 - not every release is shown
        from thresher.pages.answer import paid_charge, stored_fact  # noqa: PLC0415 - as above

        blocks: tuple[Block, ...] = (
            plain_lines([*sparkline(self).splitlines(), ""]),
            Fact("caption", self.caption),
            *stored_fact(self),
            Fact("charge", paid_charge(self.epsilon, self)),
        )
        more = {"caption": self.caption, "key": self.key, "repeated": self.repeated, "paid_on": self.paid_on}
        return Page(blocks, {**document(self), **more}, self.stamp)

    def to_bytes(self) -> bytes:
        return encoded(self)

    def handed_out(self, key: str) -> Self:
        return handed_out(self, key)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ResidualPlot(Diagnostic):
    """Hold residuals against fitted values: a grid of whole counts of 0 or more, and points drawn from it.

    `counts[i, j]` is the cell of residual band i and fitted band j, both counted from the low end of their ranges.
    `points` has a row (fitted, residual) for each drawn point. They are made from the counts alone: none is a person.
    """

    kind: ClassVar[str] = "residuals"
    fitted_range: tuple[float, float]
    residual_range: tuple[float, float]
    counts: NDArray[np.int64]
    points: NDArray[np.float64]
    histogram: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RocCurve(Diagnostic):
    """The ROC curve, from (0, 0) to (1, 1), never falling; `auc` is None where the noisy totals leave it undefined.

    `thresholds` are in falling order, one for each inner point of the curve.
    """

    kind: ClassVar[str] = "roc"
    thresholds: NDArray[np.float64]
    false_positive_rate: NDArray[np.float64]
    true_positive_rate: NDArray[np.float64]
    auc: float | None
    positives: float
    negatives: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BinnedResiduals(Diagnostic):
    """Mean residual against mean prediction, bin by bin, with a band of two standard errors from the noisy counts.

    Bin k lies between edges[k] and edges[k+1]; `counts` are noisy and at least 1.
    """

    kind: ClassVar[str] = "binned"
    edges: NDArray[np.float64]
    counts: NDArray[np.float64]
    predicted: NDArray[np.float64]
    residual: NDArray[np.float64]
    band: NDArray[np.float64]
