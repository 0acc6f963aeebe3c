"""Draw noise for a vector of whole numbers that a person moves by a Euclidean distance.

    P[z] proportional to exp(-floor(|z|) / spread)              up to 24 numbers
    P[z] proportional to exp(-(|z1| + |z2| + ...) / spread')    above; spread' is spread times the root of their number

The first law has shorter noise (by up to the root of 2). It is drawn by rejection from the second, in a number of tries
that grows like 1.32 to the power of the dimension.
Reads: entropy. Writes: nothing. Never: a float on the way to a draw. Proof: `norm_noise.md`.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import whole_number
from thresher.errors import ArgumentError
from thresher.noise import Entropy
from thresher.noise.coins import bernoulli_exp
from thresher.noise.entropy import chosen, marked
from thresher.noise.laplace import laplace_draws

MOST_BY_LENGTH = 24
_MOST_SPREAD = 1 << 56
_ROOT_BITS = 40


def norm_noise(spread: int, dimension: int, *, entropy: Entropy | None = None) -> NDArray[np.int64]:
    """Draw one vector of `dimension` whole numbers.

    Privacy: added to whole numbers that a person moves by a Euclidean distance D, it costs (D + 1) / spread.
    Utility: the root of the mean squared length is `noise_length(spread, dimension)`.
    Runtime: about 1.32 ** dimension tries up to 24 numbers, each of `dimension` draws; then one try.
    Citations: Hardt, Talwar 2010 (norm mechanisms); Chaudhuri, Monteleoni, Sarwate 2011 (this norm, for real numbers).
    """
    width, count, source = _checked(spread, dimension), whole_number(dimension, "dimension"), chosen(entropy)
    if not 1 <= count <= 1 << 20:
        raise ArgumentError("dimension", dimension, "it must be 1 to 2**20", "Pass how many numbers are released")
    if count > MOST_BY_LENGTH:
        return marked(laplace_draws(_slope(count) / width, count, source), source)
    return marked(_by_length(width, count, source), source)


def noise_length(spread: int, dimension: int) -> float:
    """Return the root of the mean squared length of `norm_noise`, as for real numbers."""
    if dimension > MOST_BY_LENGTH:
        return math.sqrt(2) * dimension * spread
    return math.sqrt(dimension * (dimension + 1)) * spread


def _by_length(spread: int, count: int, entropy: Entropy) -> NDArray[np.int64]:
    """Draw by rejection: keep a try with probability exp(-(floor(|z|) + 1 - slope (|z1| + ...)) / spread)."""
    slope, tries = _slope(count), 2 + 4**count // 3**count
    while True:
        for tried in laplace_draws(slope / spread, tries * count, entropy).reshape(tries, count).tolist():
            length, steps = math.isqrt(sum(z * z for z in tried)), sum(abs(z) for z in tried)
            if bernoulli_exp((length + 1 - slope * steps) / spread, entropy):
                return np.array(tried, dtype=np.int64)


def _slope(count: int) -> Fraction:
    """Return just below 1 / root of `count`: times a vector's sum of sizes, it is at most the Euclidean length."""
    return Fraction(1 << _ROOT_BITS, math.isqrt((count << 2 * _ROOT_BITS) - 1) + 1)


def _checked(spread: int, dimension: int) -> int:
    width = whole_number(spread, "spread")
    if not 1 <= width <= _MOST_SPREAD // (1 + math.isqrt(max(dimension, 1))):
        raise ArgumentError("spread", spread, "it must be 1 or more, and leave room in 64 bits", "Take a coarser grid")
    return width
