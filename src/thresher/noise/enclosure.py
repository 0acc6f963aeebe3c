"""Compute with certified brackets of real numbers, for thresholds and tails that must be right to the last bit.

An `Enclosure` is a pair of fixed-point integers between which a number is known to lie; every operation rounds its
ends outward. The formulas of this package are written once over `+ - * / **`, so they run on fractions (exact tests),
on floats (to find a place quickly) and on enclosures (for everything that is promised).
Reads: nothing. Writes: nothing. Never: a float. Why the ends hold: `enclosure.md`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from thresher.errors import BugError

_MAX_BITS = 1 << 20

T = TypeVar("T")


# Not frozen, because that takes twice as long and a table of noise makes thousands. No code changes an enclosure.
@dataclass(slots=True)
class Enclosure:
    """A number between low / 2**bits and high / 2**bits, where 0 <= low <= high."""

    low: int
    high: int
    bits: int

    @classmethod
    def of(cls, number: Fraction | int, bits: int) -> "Enclosure":
        scaled = number.numerator << bits
        return cls(scaled // number.denominator, -(-scaled // number.denominator), bits)

    def __add__(self, other: "Enclosure | int") -> "Enclosure":
        if isinstance(other, int):
            other <<= self.bits
            return Enclosure(self.low + other, self.high + other, self.bits)
        return Enclosure(self.low + other.low, self.high + other.high, self.bits)

    def __sub__(self, other: "Enclosure | int") -> "Enclosure":
        other = self._lift(other)
        # Every difference in this package is known to be positive, so a negative end may be raised to zero.
        return Enclosure(max(self.low - other.high, 0), max(self.high - other.low, 0), self.bits)

    def __mul__(self, other: "Enclosure | int") -> "Enclosure":
        if isinstance(other, int):
            return Enclosure(self.low * other, self.high * other, self.bits)
        return Enclosure(self.low * other.low >> self.bits, -(-self.high * other.high >> self.bits), self.bits)

    def __truediv__(self, other: "Enclosure | int") -> "Enclosure":
        if isinstance(other, int):
            return Enclosure(self.low // other, -(-self.high // other), self.bits)
        if other.low == 0:
            raise ImpreciseError
        return Enclosure((self.low << self.bits) // other.high, -((-self.high << self.bits) // other.low), self.bits)

    def __pow__(self, exponent: int) -> "Enclosure":
        power, square = self._lift(1), self
        while exponent:
            if exponent & 1:
                power = power * square
            square, exponent = square * square, exponent >> 1
        return power

    def __rsub__(self, other: int) -> "Enclosure":
        whole = other << self.bits
        return Enclosure(max(whole - self.high, 0), max(whole - self.low, 0), self.bits)

    def __rtruediv__(self, other: int) -> "Enclosure":
        return self._lift(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def floor(self, bits: int) -> int:
        """Return the number's first binary places, or raise `ImpreciseError` if the bracket does not settle them."""
        low, high = self.low >> (self.bits - bits), self.high >> (self.bits - bits)
        if low != high:
            raise ImpreciseError
        return low

    def at_most(self, bound: Fraction) -> bool:
        """Tell whether the number is at most `bound`, or raise `ImpreciseError` if the bracket does not settle it."""
        scaled = bound * (1 << self.bits)
        if self.high <= scaled:
            return True
        if self.low > scaled:
            return False
        raise ImpreciseError

    def _lift(self, other: "Enclosure | int") -> "Enclosure":
        return other if isinstance(other, Enclosure) else Enclosure(other << self.bits, other << self.bits, self.bits)


class ImpreciseError(Exception):
    """The bracket is too wide to answer; `certified` asks again with more bits."""


@lru_cache(maxsize=1024)
def exp_minus(rate: Fraction, bits: int) -> Enclosure:
    """Return an enclosure of exp(-rate), rate >= 0: halve the rate until it is small, sum the series, square back."""
    halvings = math.ceil(rate).bit_length() + 8
    work = bits + halvings + 16
    scaled, parts = rate.numerator << work - halvings, rate.denominator
    power = 1 / exp_of_small(Enclosure(scaled // parts, -(-scaled // parts), work))
    low, high = power.low, power.high
    for _ in range(halvings):
        low, high = low * low >> work, -(-high * high >> work)
    shift = work - bits
    return Enclosure(low >> shift, -(-high >> shift), bits)


def exp_of_small(x: Enclosure) -> Enclosure:
    """Return an enclosure of exp(x) for 0 <= x < 1/4. The terms are positive, so partial sums bound it from below."""
    least = most = low = high = 1 << x.bits
    k = 1
    while most > 1:
        least, most = (least * x.low >> x.bits) // k, -((-most * x.high >> x.bits) // k)
        low, high, k = low + least, high + most, k + 1
    # All later terms together are less than the last one, which is at most one unit.
    return Enclosure(low, high + 1, x.bits)


def certified(ask: Callable[[int], T], bits: int = 128) -> T:
    """Return what `ask(bits)` answers at the first precision that settles it; the precision doubles from `bits` on."""
    while bits <= _MAX_BITS:
        try:
            return ask(bits)
        except ImpreciseError:
            bits *= 2
    raise BugError(f"no answer at {_MAX_BITS} bits: a number that should be irrational sits on a boundary")
