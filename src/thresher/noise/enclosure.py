"""Real numbers as certified brackets, for thresholds and tails that must be right to the last bit.

An `Enclosure` is a pair of fixed-point integers between which a number is known to lie; every operation rounds its
ends outward. The formulas of this package are written once over `+ - * / **` and so run on fractions (exact tests),
on floats (sketches) and on enclosures (all that ships).
Reads: nothing. Writes: nothing. Never: a float. Why the ends hold: `enclosure.md`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from thresher.errors import BugError

_MAX_BITS = 1 << 20

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A number between low / 2**bits and high / 2**bits, where 0 <= low <= high."""

    low: int
    high: int
    bits: int

    @classmethod
    def of(cls, number: Fraction | int, bits: int) -> "Enclosure":
        scaled = Fraction(number) * (1 << bits)
        return cls(math.floor(scaled), math.ceil(scaled), bits)

    def __add__(self, other: "Enclosure | int") -> "Enclosure":
        other = self._lift(other)
        return Enclosure(self.low + other.low, self.high + other.high, self.bits)

    def __sub__(self, other: "Enclosure | int") -> "Enclosure":
        other = self._lift(other)
        # Every difference in this package is known to be positive, so an end below zero may be cut there.
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
        return self._lift(other) - self

    def __rtruediv__(self, other: int) -> "Enclosure":
        return self._lift(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def floor(self, bits: int) -> int:
        """The first `bits` binary places, if the bracket settles them."""
        low, high = self.low >> (self.bits - bits), self.high >> (self.bits - bits)
        if low != high:
            raise ImpreciseError
        return low

    def at_most(self, bound: Fraction) -> bool:
        """Whether the number is at most `bound`, if the bracket settles it."""
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


def exp_minus(rate: Fraction, bits: int) -> Enclosure:
    """An enclosure of exp(-rate), rate >= 0: halve the rate until it is small, sum the series, square back."""
    halvings = max(0, math.ceil(rate).bit_length() + 3)
    work = bits + halvings + 16
    power = 1 / exp_of_small(Enclosure.of(rate / (1 << halvings), work))
    for _ in range(halvings):
        power = power * power
    shift = work - bits
    return Enclosure(power.low >> shift, -(-power.high >> shift), bits)


def exp_of_small(x: Enclosure) -> Enclosure:
    """An enclosure of exp(x) for 0 <= x < 1/4: its terms are positive, so partial sums bound it from below."""
    term = total = x._lift(1)
    k = 1
    while term.high > 1:
        term = term * x
        term = Enclosure(term.low // k, -(-term.high // k), x.bits)
        total, k = total + term, k + 1
    # All later terms together are less than the last one, which is at most one unit.
    return Enclosure(total.low, total.high + 1, x.bits)


def certified(ask: Callable[[int], T], bits: int = 128) -> T:
    """The answer of `ask(bits)` at the first precision that settles it, starting from `bits`, doubling."""
    while bits <= _MAX_BITS:
        try:
            return ask(bits)
        except ImpreciseError:
            bits *= 2
    raise BugError(f"no answer at {_MAX_BITS} bits: a number that should be irrational sits on a boundary")
