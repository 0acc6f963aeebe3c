"""Compute losses of a margin z = label times score, and the minimum of a regularised risk, to a stated tolerance.

    risk(w) = sum of shares[j] loss(rows[j] . w)  +  ridge / 2 |w|²  +  tilt . w

The losses are the logistic loss, and the hinge with its corner rounded off. Both are convex, fall no faster than 1, and
have a slope that changes at a bounded rate, the `curvature`. The minimum is found by Newton's steps, or, if those fail,
by as many steps of the accelerated gradient method as are proved to be enough. The promise is about the length of the
gradient at the point returned, and so about its distance from the minimum.
Reads: arrays. Writes: nothing. Never: an answer whose gradient was not measured. Proof: `erm.md`.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from thresher.errors import BugError

Floats = NDArray[np.float64]
_NEWTON_STEPS = 60
_HALVINGS = 30
AT_ONCE = 1024


class MarginLoss(Protocol):
    """A loss: `values`, its first and second derivatives at margins, and a bound of the second."""

    @property
    def curvature(self) -> float:
        """Return the most that the slope can change for one unit of margin."""

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
        return -logistic_chance(-margins)

    def bends(self, margins: Floats) -> Floats:
        above = logistic_chance(margins)
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


def logistic_chance(scores: Floats) -> Floats:
    """Return 1 / (1 + exp(-s)), the chance that logistic regression gives to the second class, without overflow."""
    small = np.exp(-np.abs(scores))
    return np.asarray(np.where(scores >= 0, 1.0, small) / (1 + small))


@dataclass(frozen=True, slots=True, eq=False)
class Risk:
    """A strongly convex function of w. Rows have been multiplied by their labels; shares are public weights."""

    loss: MarginLoss
    rows: Floats
    shares: Floats
    ridge: float
    tilt: Floats

    def value(self, w: Floats) -> float:
        return float(self.shares @ self.loss.values(self.rows @ w) + self.ridge / 2 * (w @ w) + self.tilt @ w)

    def gradient(self, w: Floats) -> Floats:
        pulls, total = self.shares * self.loss.slopes(self.rows @ w), np.zeros(w.size)
        # Sums of sums: rounding errors grow with the longest sum, and enter the noise.
        for start in range(0, pulls.size, AT_ONCE):
            total += self.rows[start : start + AT_ONCE].T @ pulls[start : start + AT_ONCE]
        return total + self.ridge * w + self.tilt

    def hessian(self, w: Floats) -> Floats:
        bends = self.shares * self.loss.bends(self.rows @ w)
        return (self.rows * bends[:, None]).T @ self.rows + self.ridge * np.eye(w.size)


def near_minimum(risk: Risk, tolerance: float) -> Floats:
    """Return a point at which the computed gradient is no longer than `tolerance`.

    Utility: it lies within tolerance / ridge of the minimum. Runtime: about ten Newton steps, O(rows · features²);
    many more gradients where they get stuck, which depends on the rows and is rare except for the hinge. Whoever can
    time a fit learns that.
    """
    w = np.zeros(risk.tilt.size)
    gradient = risk.gradient(w)
    for _ in range(_NEWTON_STEPS):
        if _length(gradient) <= tolerance:
            return w
        there, gradient = _stepped(risk, w, gradient)
        if there is w:
            break
        w = there
    return accelerated(risk, w, tolerance)


def accelerated(risk: Risk, start: Floats, tolerance: float) -> Floats:
    """Minimise by Nesterov's method for strongly convex functions, in as many steps as its theorem asks for."""
    smooth = risk.ridge + risk.loss.curvature * float(risk.shares.sum())
    ratio = math.sqrt(smooth / risk.ridge)
    gap = _length(risk.gradient(start)) ** 2 / risk.ridge
    steps = 2 + math.ceil(ratio * max(math.log(2 * smooth * gap / tolerance**2), 0.0))
    w = ahead = start
    for _ in range(steps):
        slope = risk.gradient(ahead)
        if _length(slope) <= tolerance:
            return ahead
        before, w = w, ahead - slope / smooth
        ahead = w + (ratio - 1) / (ratio + 1) * (w - before)
    if _length(risk.gradient(w)) <= tolerance:
        return w
    raise BugError("a minimum was not reached where a theorem says that it is: floating point is at fault")


def _stepped(risk: Risk, w: Floats, gradient: Floats) -> tuple[Floats, Floats]:
    """Take one Newton step, halved until the risk falls; or, near the minimum, until the gradient does."""
    move = -np.linalg.solve(risk.hessian(w), gradient)
    here, fall, scale = risk.value(w), float(gradient @ move), 1.0
    for _ in range(_HALVINGS):
        there = w + scale * move
        slope = risk.gradient(there)
        if risk.value(there) <= here + 1e-4 * scale * fall or _length(slope) <= _length(gradient) / 2:
            return there, slope
        scale /= 2
    return w, gradient


def _length(vector: Floats) -> float:
    return float(np.linalg.norm(vector))
