"""Describe binned residuals by two numbers: the slope where predictions are low, and where they are high.

A model that fits has slopes near zero. The shape is computed from a release, so it costs no epsilon.
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
    """Return the shape of a plot from its points. A side without two different predictions counts as flat."""
    across, up = np.asarray(predicted, dtype=np.float64), np.asarray(residual, dtype=np.float64)
    low = across <= _MIDDLE
    return Shape(_slope(across[low], up[low]), _slope(across[~low], up[~low]))


def shape_difference(one: Shape, other: Shape = FLAT) -> float:
    """Return by how much two shapes differ; the other is flat by default."""
    return abs(one.lower - other.lower) + abs(one.upper - other.upper)


def _slope(across: np.ndarray, up: np.ndarray) -> float:
    if not across.size:
        return 0.0
    centred = across - across.mean()
    spread = float(centred @ centred)
    return float(centred @ up) / spread if spread > 0 else 0.0
