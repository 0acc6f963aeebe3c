"""Compute powers exp(-rate c - penalty) of a whole number c as floats with a separate exponent: none becomes zero.

With c in base 256, the power is a product of one number from each of eight small tables. The tables are computed with
256-bit whole numbers and rounded once.
Reads: nothing. Writes: nothing. Never: a library's exponential. Proof: `wide_powers.md`.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from thresher.noise.enclosure import exp_minus

DIGIT_BITS = 8
_DIGITS = 8
_BITS = 256
# Some table entries belong to costs that cannot occur. Their exponents may not fit in 64 bits, so they are cut here.
_BEYOND = -(1 << 58)

Wide = tuple[int, int]


@dataclass(frozen=True, slots=True)
class WidePowers:
    """Hold tables: exp(-rate c - penalty) = product of mantissas[j, d_j] 2**exponents[j, d_j], c = sum of d_j 256**j.

    Mantissas lie between 1 and 2, and c is below 2**63.
    """

    mantissas: NDArray[np.float64]
    exponents: NDArray[np.int64]

    def weight(self, cost: int) -> tuple[float, int]:
        """Return the power as mantissa and exponent, by the same operations in the same order as the compiled loop."""
        weight, power = 1.0, 0
        for place in range(_DIGITS):
            digit = cost >> place * DIGIT_BITS & (1 << DIGIT_BITS) - 1
            weight *= float(self.mantissas[place, digit])
            power += int(self.exponents[place, digit])
        return weight, power


@lru_cache(maxsize=64)
def wide_powers(rate: Fraction, penalty: Fraction) -> WidePowers:
    """Return the tables for a rate above 0 and a penalty of 0 or more, both at most 100."""
    mantissas = np.empty((_DIGITS, 1 << DIGIT_BITS), dtype=np.float64)
    exponents = np.empty_like(mantissas, dtype=np.int64)
    step, first = _exponential(rate), _exponential(penalty)
    for place in range(_DIGITS):
        power = first
        for digit in range(1 << DIGIT_BITS):
            mantissas[place, digit], exponents[place, digit] = _rounded(power)
            power = _times(power, step)
        # The last power is 256 steps, which is one step of the next place. The penalty is in the first place only.
        step = power if place else _times_256(step)
        first = (1, 0)
    mantissas.flags.writeable = exponents.flags.writeable = False
    return WidePowers(mantissas, exponents)


def _exponential(rate: Fraction) -> Wide:
    """Return exp(-rate) to more than 256 bits: it is above 2**-145 for rates up to 100, so 512 places are enough."""
    return _cut(exp_minus(rate, 2 * _BITS).low, -2 * _BITS)


def _times_256(power: Wide) -> Wide:
    for _ in range(DIGIT_BITS):
        power = _times(power, power)
    return power


def _times(first: Wide, second: Wide) -> Wide:
    return _cut(first[0] * second[0], first[1] + second[1])


def _cut(number: int, exponent: int) -> Wide:
    """Return number times 2**exponent with at most 256 leading bits."""
    excess = max(number.bit_length() - _BITS, 0)
    return number >> excess, exponent + excess


def _rounded(power: Wide) -> tuple[float, int]:
    """Return the nearest float between 1 and 2, and the exponent that belongs to it."""
    number, exponent = power
    places = number.bit_length() - 1
    return number / (1 << places), max(exponent + places, _BEYOND)
