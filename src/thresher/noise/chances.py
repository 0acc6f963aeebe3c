"""Toss many coins of one rational chance at once.

Reads: entropy. Writes: nothing. Never: a chance that is not a whole multiple of 2**-32.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount, exact_fraction
from thresher.errors import ArgumentError
from thresher.noise.arguments import checked_size
from thresher.noise.entropy import Entropy, chosen, read_words

# One 32-bit word decides a coin, so chances are whole multiples of 2**-32.
CHANCES = 1 << 32


def chances(probability: Amount, size: int, entropy: Entropy | None = None) -> NDArray[np.bool_]:
    """Toss `size` independent coins, each True with exactly this probability, which must be a multiple of 2**-32."""
    counted = exact_fraction(probability, "probability") * CHANCES
    if counted.denominator != 1 or not 0 <= counted <= CHANCES:
        rule = "it must be a whole multiple of 2**-32, from 0 to 1"
        raise ArgumentError("probability", probability, rule, f"Pass e.g. {Fraction(1, 4)}")
    words = read_words(checked_size(size), np.uint32, chosen(entropy)).astype(np.uint64)
    return words < np.uint64(int(counted))
