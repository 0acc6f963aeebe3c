"""Losses of a margin z = label times score: logistic, and the hinge with its corner rounded off.

Both are convex, fall no faster than 1, and have a slope that changes at a bounded rate, the `curvature`.
Reads: arrays. Writes: nothing. Never: noise.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class MarginLoss(Protocol):
    """A loss: `values`, its first and second derivatives at margins, and a bound of the second."""

    @property
    def curvature(self) -> float:
        """The most that the slope can change by for one unit of margin."""

    def values(self, margins: Floats) -> Floats: ...

    def slopes(self, margins: Floats) -> Floats: ...

    def bends(self, margins: Floats) -> Floats: ...


@dataclass(frozen=True, slots=True)
class LogisticLoss:
    """log(1 + exp(-z)): its slope changes by at most 1/4."""

    curvature: float = 0.25

    def values(self, margins: Floats) -> Floats:
        return np.logaddexp(0.0, -margins)

    def slopes(self, margins: Floats) -> Floats:
        return -_logistic(-margins)

    def bends(self, margins: Floats) -> Floats:
        above = _logistic(margins)
        return above * (1 - above)


@dataclass(frozen=True, slots=True)
class HuberHinge:
    """0 above 1 + h, (1 + h - z)² / 4h around 1, 1 - z below 1 - h: its slope changes by at most 1 / 2h."""

    half_width: float = 0.5

    @property
    def curvature(self) -> float:
        return 0.5 / self.half_width

    def values(self, margins: Floats) -> Floats:
        short = 1 + self.half_width - margins
        around = np.clip(short, 0.0, 2 * self.half_width)
        return around * around / (4 * self.half_width) + np.maximum(short - 2 * self.half_width, 0.0)

    def slopes(self, margins: Floats) -> Floats:
        return -np.clip(1 + self.half_width - margins, 0.0, 2 * self.half_width) / (2 * self.half_width)

    def bends(self, margins: Floats) -> Floats:
        return np.where(np.abs(1 - margins) <= self.half_width, self.curvature, 0.0)


def _logistic(scores: Floats) -> Floats:
    """1 / (1 + exp(-s)) without overflow."""
    small = np.exp(-np.abs(scores))
    return np.asarray(np.where(scores >= 0, 1.0, small) / (1 + small))


def chance(scores: Floats) -> Floats:
    """The chance that logistic regression gives to the second class."""
    return _logistic(scores)
