"""Labels and scores as they are measured: each record by itself brought onto a public grid, or left out.

Scores are clamped to [0, 1] and snapped to steps of 2**-20; a label of one half or more counts as 1, less as 0. A
record whose label or score is missing or no number is no record: to refuse it would tell that it is there.
Reads: arrays. Writes: nothing. Never: an element or a length in an error text; a refusal that depends on an element.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.errors import ArgumentError
from thresher.mechanisms.public_grid import DEFAULT_STEPS

STEPS = DEFAULT_STEPS


@dataclass(frozen=True, slots=True)
class LabelledScores:
    """The records: `points` in 1 / STEPS, `positive` where the label is 1. Exact, so for mechanisms only."""

    points: NDArray[np.int64]
    positive: NDArray[np.bool_]

    def __repr__(self) -> str:
        return "<labelled scores>"


def labelled_scores(labels: ArrayLike, scores: ArrayLike) -> LabelledScores:
    """The records that have both, on the grid."""
    said, given = _numbers(labels, "labels"), _numbers(scores, "scores")
    if said.size != given.size:
        rule = "there must be one label for each score"
        raise ArgumentError("labels", "another length than scores", rule, "Pass arrays of the same length")
    whole = ~(np.isnan(said) | np.isnan(given))
    if not whole.all():
        said, given = said[whole], given[whole]
    points = np.rint(np.clip(given, 0, 1) * STEPS).astype(np.int64)
    return LabelledScores(points, said >= 0.5)


def _numbers(values: ArrayLike, field: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise _refused(field, type(values).__name__) from None
    if array.ndim != 1 or array.dtype.kind not in "biufO":
        raise _refused(field, array.dtype.name if array.ndim == 1 else f"{array.ndim} dimensions")
    if np.ma.isMaskedArray(values):
        return np.ma.filled(np.ma.asarray(values).astype(np.float64), np.nan)
    if array.dtype == object:  # an Arrow or pandas column with holes in it comes so
        return np.array([_number(value) for value in array], dtype=np.float64)
    return array.astype(np.float64)


def _number(value: Any) -> float:
    try:
        return np.nan if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _refused(field: str, kind: str) -> ArgumentError:
    return ArgumentError(field, kind, "it must be one list of plain numbers", "Pass a float64 or int64 array")
