"""Labels and scores on a public grid of steps of 2**-20, and columns with holes in them.

Reads: arrays. Writes: nothing. Never: an element or a length in an error text; a refusal that depends on an element.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.diagnostics.scored_rows import scored_rows
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
    """The rows that have a label and a score, each moved to the nearest point of the grid by itself."""
    rows = scored_rows(_filled(labels), _filled(scores))
    return LabelledScores(np.rint(rows.scores * STEPS).astype(np.int64), rows.positive)


def _filled(values: ArrayLike) -> ArrayLike:
    """NaN for what is missing: a column with a hole comes as objects, and to refuse it would tell of the hole."""
    if np.ma.isMaskedArray(values) and values.dtype.kind in "biuf":
        return np.asarray(np.ma.filled(np.ma.asarray(values).astype(np.float64), np.nan))
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError, RecursionError):
        return values
    if array.dtype != object or array.ndim != 1:
        return array
    return np.array([_number(value) for value in array], dtype=np.float64)


def _number(value: Any) -> float:
    try:
        return np.nan if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan
