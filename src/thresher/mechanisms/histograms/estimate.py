"""What every histogram mechanism takes and gives: whole counts and an epsilon in, a frozen noisy histogram out.

Reads: arguments. Writes: nothing. Never: a count in an error text; only shapes and types, which are public, are named.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction
from thresher.errors import ArgumentError
from thresher.noise import Entropy
from thresher.noise.arguments import checked_integers

MOST_CELLS = 1 << 22
# Counts are clamped here: adding or removing a record still moves one clamped count by at most 1, and a sum over all
# cells that there may be stays at most 2**60, far from where whole numbers wrap around.
FAR = 1 << 38
_LEAST_EPSILON, _MOST_EPSILON = Fraction(1, 10**6), Fraction(100)


@dataclass(frozen=True, slots=True)
class NoisyHistogram:
    """A released histogram. `counts` has the shape of what was measured; its numbers may be negative or not whole.

    `parts` labels the bucket of each cell, where the mechanism releases a partition; numbers in one bucket are equal
    or were made from common measurements. `epsilon` is what is charged, rounded up. `stamp` marks what is no release.
    """

    counts: NDArray[np.float64]
    epsilon: Epsilon
    mechanism: str
    stamp: str = ""
    parts: NDArray[np.int64] | None = None


class HistogramMechanism(Protocol):
    """Counts, an amount of epsilon and perhaps entropy in; a noisy histogram of the same shape out."""

    def __call__(self, counts: ArrayLike, epsilon: Amount, *, entropy: Entropy | None = None) -> NoisyHistogram: ...


def checked_counts(counts: ArrayLike, dimensions: tuple[int, ...] = (1, 2)) -> NDArray[np.int64]:
    """Whole numbers of 0 or more, in so many dimensions, clamped at 2**38.

    That a count is negative is said, and no more: in a histogram of records none is, whoever the records are of.
    """
    plain = checked_integers(counts, "counts")
    if plain.ndim not in dimensions:
        rule = f"it must have {' or '.join(map(str, dimensions))} dimensions"
        raise ArgumentError("counts", f"{plain.ndim} dimensions", rule, "Pass a list of counts, or a table of them")
    if not 1 <= plain.size <= MOST_CELLS:
        rule = f"it must have 1 to {MOST_CELLS:,} cells"
        raise ArgumentError("counts", f"{plain.size} cells", rule, "Pass one count for each cell of a public grid")
    if plain.min() < 0:
        raise ArgumentError("counts", plain.dtype.name, "no count may be negative", "Pass numbers of records")
    return np.minimum(plain, FAR)


def checked_epsilon(epsilon: Amount) -> Fraction:
    """The exact amount to spend, of a size that can be divided among steps and still be drawn with."""
    amount = exact_fraction(epsilon, "epsilon")
    if not _LEAST_EPSILON <= amount <= _MOST_EPSILON:
        raise ArgumentError("epsilon", epsilon, "it must lie between 0.000001 and 100", "Pass 0.1, say")
    return amount
