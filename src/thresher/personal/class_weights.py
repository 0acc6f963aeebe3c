"""Give each class of budgets a whole weight: what one question reads of a declared table, class by class.

Everybody of a class that allows e gets the weight W = floor(min(share e, t) / g), where g is the loss that one
weight costs and t the cap; the weighted sum of each group is released with integer noise. Proof: `class_weights.md`.
Reads: declared classes, public sizes. Writes: nothing. Never: who is present; a class that allows nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import NANO, Epsilon
from thresher.errors import ArgumentError
from thresher.noise import Entropy, discrete_laplace

# The cap is cut into at most this many parts: flooring loses less than one part of it.
_FINEST = 1 << 20
# The widest noise that is drawn, in weights: the limit of `thresher.noise`.
_WIDEST = 10**9
_SPREAD = 0.25
# Steps of a search by thirds: more than a float has digits.
_THIRDS = 120
# A cap between two levels is taken if it is better by more than a millionth: levels make rounder numbers.
_WORTH = 1 - 1e-6


@dataclass(frozen=True, slots=True)
class ClassWeights:
    """For each class: what its people allow in all (nano), its public size, and its weight in this question.

    `grid` is what one unit of weight costs. A person of weight 1 moves the sum of one group by at most `each`, and all
    sums together by at most `reach`.
    """

    nano: tuple[int, ...]
    sizes: tuple[int, ...]
    weights: tuple[int, ...]
    grid: Fraction
    reach: int
    each: int = 1

    @property
    def people(self) -> int:
        """Return how many people on the roster allow something."""
        return sum(self.sizes)

    @property
    def mean(self) -> Fraction:
        """Return the mean weight of the people on the roster, by which an estimate is divided."""
        return Fraction(sum(w * n for w, n in zip(self.weights, self.sizes, strict=True)), self.people)

    @property
    def shares(self) -> tuple[Epsilon, ...]:
        """Return what each class loses, as a share of its own budget, rounded up: what the ledger keeps."""
        return tuple(
            Epsilon.covering(weight * self.grid * NANO / nano)
            for weight, nano in zip(self.weights, self.nano, strict=True)
        )

    @property
    def noise_sd(self) -> float:
        """Return the standard deviation of the noise, in the units of what is counted."""
        rate = float(self.grid / self.reach)
        return math.sqrt(0.5) / math.sinh(rate / 2) / float(self.mean)

    @property
    def predicted_sd(self) -> float:
        """Return the standard deviation of a count of people chosen by a fair coin: noise and unequal weights together.

        It assumes that budgets are independent of the data.
        """
        mean = float(self.mean)
        off = sum(n * (w / mean - 1) ** 2 for w, n in zip(self.weights, self.sizes, strict=True))
        return math.hypot(self.noise_sd, self.each * math.sqrt(_SPREAD * off))

    def released(self, values: NDArray[np.int64] | NDArray[np.object_], entropy: Entropy) -> list[int]:
        """Return the noisy weighted sum of each group.

        `values` are exact: a row for each group, and a column for each class whose weight is above 0.

        Privacy: adding or removing a person of class c changes the chance of any result by a factor of at most
        e^(weights[c] * grid), which is at most what the class allows. Utility: discrete Laplace noise of scale
        reach / grid. Runtime: linear in the cells.
        """
        noise = discrete_laplace(self.grid, len(values), self.reach, entropy).tolist()
        weights = [weight for weight in self.weights if weight]
        sums = (values.astype(object) @ np.array(weights, dtype=object)).tolist()
        return [exact + drawn for exact, drawn in zip(sums, noise, strict=True)]


def class_weights(
    nano: Sequence[int], allowed: Sequence[Fraction], sizes: Sequence[int], reach: int, each: int = 1
) -> ClassWeights:
    """Return the weights for what the question may lose of each class (`allowed`), at the cap of least predicted error.

    The error falls and then rises with the cap (`weighted.md`), so a search by thirds finds the best one.
    """
    caps = sorted({most for most, size in zip(allowed, sizes, strict=True) if most and size})
    if not caps:
        rule = "nobody on the roster has a budget left that this question may use"
        raise ArgumentError("share", 0, rule, "See what each class has left: thresher personal plan --table NAME")
    floats, people = np.array([float(most) for most in allowed]), np.array(sizes, dtype=np.float64)

    def variance(cap: float) -> float:
        """Return the variance of a frequency: of the noise, and of unequal weights."""
        weights = np.minimum(floats, cap)
        total, everybody = float(weights @ people), float(people.sum())
        off = float(people @ (weights / total - 1 / everybody) ** 2)
        return 2 * (reach / total) ** 2 + _SPREAD * each**2 * off

    low, high = float(caps[0]), float(caps[-1])
    for _ in range(_THIRDS):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if variance(left) <= variance(right) else (left, high)
    between = Fraction(math.floor(low * NANO), NANO)
    cap = min(caps, key=lambda most: variance(float(most)))
    if between and variance(float(between)) < _WORTH * variance(float(cap)):
        cap = between
    parts = min(_FINEST, math.floor(_WIDEST * cap / reach))
    if parts < 1:
        rule = "the noise for it is wider than can be drawn"
        raise ArgumentError("share", f"{float(cap):.3g} of epsilon", rule, "Pass a larger share, or a coarser grid")
    grid = cap / parts
    weights = [math.floor(min(most, cap) / grid) for most in allowed]
    common = math.gcd(*weights)
    return ClassWeights(
        tuple(nano), tuple(sizes), tuple(weight // common for weight in weights), grid * common, reach, each
    )
