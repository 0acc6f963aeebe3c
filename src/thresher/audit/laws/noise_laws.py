"""Compute laws of noise as floats: discrete Laplace noise, and Cauchy noise by its cells.

Reads: nothing. Writes: nothing. Never: a draw.
"""

import math
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def laplace_chance(rate: float, *noise: int) -> float:
    """Return the probability of all these independent draws together."""
    p = math.exp(-rate)
    return float(((1 - p) / (1 + p)) ** len(noise) * p ** sum(map(abs, noise)))


def laplace_law(centre: int, rate: float, reach: int) -> dict[Hashable, float]:
    """Return the law of a noisy number, from -reach to reach."""
    return {y: laplace_chance(rate, y - centre) for y in range(-reach, reach + 1)}


def cauchy_cells(edges: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the mass below the first of these edges, between each two of them, and above the last."""
    # The difference of two arctangents, without the loss of digits.
    inside = np.arctan2(np.diff(edges), 1 + edges[1:] * edges[:-1])
    return np.array([math.atan2(1, -edges[0]), *inside, math.atan2(1, edges[-1])]) / math.pi


def cauchy_law(centre: float, scale: float, steps: int) -> dict[Hashable, float]:
    """Return the law of the nearest point of 0, 1, ..., steps; what lies beyond an end belongs to that end."""
    return dict(enumerate(cauchy_cells((np.arange(steps) + 0.5 - centre) / scale).tolist()))
