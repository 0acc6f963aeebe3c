"""The shape of binned residuals in two numbers: the slope where predictions are low, and where they are high.

A model that fits has slopes near zero. What is computed here is computed from a release, and costs nothing.
Reads: means by bin. Writes: nothing. Never: data.
Citation: Chen, dissertation 2018, equation 4.13.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

_MIDDLE = 0.5


@dataclass(frozen=True, slots=True)
class Shape:
    """Least-squares slopes of residual against prediction: over bins up to one half, and over those above."""

    lower: float
    upper: float


FLAT = Shape(0.0, 0.0)


def shape_of(predicted: ArrayLike, residual: ArrayLike) -> Shape:
    """The shape of a plot, by its points. A side with no two different predictions has no slope, and counts as flat."""
    across, up = np.asarray(predicted, dtype=np.float64), np.asarray(residual, dtype=np.float64)
    low = across <= _MIDDLE
    return Shape(_slope(across[low], up[low]), _slope(across[~low], up[~low]))


def shape_difference(one: Shape, other: Shape = FLAT) -> float:
    """By how much two shapes differ; from flat by default."""
    return abs(one.lower - other.lower) + abs(one.upper - other.upper)


def _slope(across: np.ndarray, up: np.ndarray) -> float:
    if not across.size:
        return 0.0
    centred = across - across.mean()
    spread = float(centred @ centred)
    return float(centred @ up) / spread if spread > 0 else 0.0
