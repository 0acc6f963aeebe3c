"""What a diagnostic releases: numbers that were paid for, what each part cost, and what a reader must know.

Displays draw these and nothing else, the ledger stores them, and JSON carries them. All fields may be shown.
Reads: nothing. Writes: documents for JSON. Never: an exact value.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon

MODEL_CAVEAT = (
    "This protects the rows that were scored. If the model was trained on the same rows without a budget of its own,"
    " its coefficients and scores are not private, and no diagnostic makes them so."
)

_HANDING_OUT = ("key", "repeated")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Diagnostic:
    """What all diagnostics have: the price, its parts by name, caveats, and whether the noise was real.

    `rows` is the number of rows as far as it is known: public, or noisy and paid for. `rows_public` says which.
    """

    epsilon: Epsilon
    split: Mapping[str, Epsilon]
    rows: int
    rows_public: bool
    caveats: tuple[str, ...]
    stamp: str = ""
    # Of this handing-out, not of the release: under which key it is stored, and whether it was charged before.
    key: str = ""
    repeated: bool = False
    kind: ClassVar[str]
    arrays: ClassVar[Mapping[str, type[np.generic]]]

    @property
    def caption(self) -> str:
        """The lines under a picture: price, how it was divided, and caveats."""
        parts = ", ".join(f"{name} {amount}" for name, amount in self.split.items())
        rows = f"{self.rows:,} rows" if self.rows_public else f"about {self.rows:,} rows (noisy)"
        lead = f"epsilon {self.epsilon} ({parts}); {rows}."
        return " ".join([*([f"{self.stamp}."] if self.stamp else []), lead, *self.caveats])

    def document(self) -> dict[str, Any]:
        """All of it, for JSON and for the ledger."""
        shown = [field.name for field in fields(self) if field.name not in _HANDING_OUT]
        return {"kind": self.kind, **{name: _plain(getattr(self, name)) for name in shown}}

    def to_bytes(self) -> bytes:
        return json.dumps(self.document()).encode()

    def handed_out(self, key: str) -> Self:
        return replace(self, key=key)

    @classmethod
    def from_document(cls, said: Mapping[str, Any]) -> Self:
        found = {field.name: said[field.name] for field in fields(cls) if field.name not in _HANDING_OUT}
        found["epsilon"] = Epsilon.from_json(said["epsilon"])
        found["split"] = {name: Epsilon.from_json(amount) for name, amount in said["split"].items()}
        found["caveats"] = tuple(said["caveats"])
        for name, value in found.items():
            if name in cls.arrays:
                found[name] = np.array(value, dtype=cls.arrays[name])
            elif isinstance(value, list):
                found[name] = tuple(value)
        return cls(**found)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ResidualPlot(Diagnostic):
    """Residuals against fitted values: a grid of whole counts of 0 or more, and points drawn from it.

    `counts[i, j]` is the cell of residual band i and fitted band j, both counted from the low end of their ranges.
    `points` has a row (fitted, residual) for each drawn point: made up from the counts, no point is a person.
    """

    kind: ClassVar[str] = "residuals"
    arrays: ClassVar[Mapping[str, type[np.generic]]] = {"counts": np.int64, "points": np.float64}
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
    arrays: ClassVar[Mapping[str, type[np.generic]]] = dict.fromkeys(
        ("thresholds", "false_positive_rate", "true_positive_rate"), np.float64
    )
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
    arrays: ClassVar[Mapping[str, type[np.generic]]] = dict.fromkeys(
        ("edges", "counts", "predicted", "residual", "band"), np.float64
    )
    edges: NDArray[np.float64]
    counts: NDArray[np.float64]
    predicted: NDArray[np.float64]
    residual: NDArray[np.float64]
    band: NDArray[np.float64]


KINDS: Mapping[str, type[Diagnostic]] = {each.kind: each for each in (ResidualPlot, RocCurve, BinnedResiduals)}


def diagnostic_from(said: Mapping[str, Any]) -> Diagnostic:
    """A diagnostic from its document."""
    return KINDS[said["kind"]].from_document(said)


def recalled(body: bytes, key: str) -> Diagnostic:
    """A stored diagnostic, handed out again."""
    return replace(diagnostic_from(json.loads(body)), key=key, repeated=True)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Epsilon):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: _plain(amount) for name, amount in value.items()}
    return list(value) if isinstance(value, tuple) else value
