"""Labels and scores on a public grid of steps of 2**-20.

Reads: arrays. Writes: nothing. Never: an element or a length in an error text; a refusal that depends on an element.
"""

from dataclasses import dataclass

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
    rows = scored_rows(labels, scores)
    return LabelledScores(np.rint(rows.scores * STEPS).astype(np.int64), rows.positive)
