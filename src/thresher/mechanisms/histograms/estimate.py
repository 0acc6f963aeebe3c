"""Define what each histogram mechanism takes and returns: whole counts and an epsilon in, a noisy histogram out.

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
# Counts are limited to this. A record still moves one limited count by at most 1, and a sum over the most cells stays
# at most 2**60, far below where whole numbers wrap around.
FAR = 1 << 38
_LEAST_EPSILON, _MOST_EPSILON = Fraction(1, 10**6), Fraction(100)


@dataclass(frozen=True, slots=True)
class NoisyHistogram:
    """Hold a released histogram. `counts` has the shape of the input; its numbers may be negative or not whole.

    `parts` labels the bucket of each cell, where the mechanism releases a partition: the numbers of a bucket are equal
    or come from common measurements. `epsilon` is the charge, rounded up. `stamp` is set if the noise was seeded, for
    tests, and so protects nobody.
    """

    counts: NDArray[np.float64]
    epsilon: Epsilon
    mechanism: str
    stamp: str = ""
    parts: NDArray[np.int64] | None = None


class HistogramMechanism(Protocol):
    """Take counts, an epsilon and perhaps entropy; return a noisy histogram of the same shape."""

    def __call__(self, counts: ArrayLike, epsilon: Amount, *, entropy: Entropy | None = None) -> NoisyHistogram: ...


def checked_counts(counts: ArrayLike, dimensions: tuple[int, ...] = (1, 2)) -> NDArray[np.int64]:
    """Return counts of 0 or more, limited to 2**38, or refuse their type, shape or sign.

    The refusal of a negative count reveals nothing about people: no histogram of records has one.
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
    """Return the exact amount to spend, if it is large enough to be divided among steps and still be drawn with."""
    amount = exact_fraction(epsilon, "epsilon")
    if not _LEAST_EPSILON <= amount <= _MOST_EPSILON:
        raise ArgumentError("epsilon", epsilon, "it must lie between 0.000001 and 100", "Pass 0.1, say")
    return amount
