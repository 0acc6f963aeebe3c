"""Draw integer noise of the discrete Laplace and the one-sided geometric law, exactly for every rational epsilon.

Both laws are made of independent digits (`laplace.md`): a geometric number written in base 256 has independent
digits, and a discrete Laplace number is a geometric one, or its bitwise complement with probability p / (1+p). Each
digit comes from a certified table. A few draws are made by coin flips instead, which need no table.
Reads: entropy. Writes: nothing. Never: a float, a generator other than the entropy passed in.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount
from thresher.noise.arguments import checked_rate, checked_size
from thresher.noise.coins import geometric_one, laplace_one
from thresher.noise.draw_tables import draw_table
from thresher.noise.entropy import Entropy, chosen, marked

_RADIX_BITS = 8
_RADIX = 1 << _RADIX_BITS
# The leading digit has a scale of at most 16, so a table of 16 scales (256 outcomes) leaves out exp(-16) of its law.
_LEADING_SCALE = 16
# Up to this many draws for each table are made by coins. One table costs as much as more draws, but it is used again.
COINS_PER_TABLE = 32
# Draws made at once: the arrays in use stay in the processor's cache.
_CHUNK = 1 << 15


def discrete_laplace(
    epsilon: Amount, size: int, sensitivity: int = 1, entropy: Entropy | None = None
) -> NDArray[np.int64]:
    """Draw `size` independent numbers of P[x] = (1-p)/(1+p) p^|x|, p = exp(-epsilon / sensitivity).

    Privacy: added to an integer that one privacy unit moves by at most `sensitivity`, each draw costs epsilon.
    Utility: P[x >= a] = p^a / (1+p) for a >= 0; variance 2p / (1-p)^2, near 2 (sensitivity / epsilon)^2.
    Runtime: linear in size; about two random bytes a draw for scales up to 16, two more for every factor of 256.
    Citations: Ghosh, Roughgarden, Sundararajan 2009 (the mechanism); Canonne, Kamath, Steinke 2020 (coins).
    """
    rate, count, source = checked_rate(epsilon, sensitivity), checked_size(size), chosen(entropy)
    return marked(laplace_draws(rate, count, source), source)


def geometric(epsilon: Amount, size: int, sensitivity: int = 1, entropy: Entropy | None = None) -> NDArray[np.int64]:
    """Draw `size` independent numbers of P[k] = (1-p) p^k, k >= 0, p = exp(-epsilon / sensitivity).

    Privacy: none by itself, because the noise is one-sided. The comparisons of the sparse vector technique are private
    with it.
    Utility: P[k >= a] = p^a; mean p / (1-p), half the variance of the two-sided law.
    Runtime: as for `discrete_laplace`.
    """
    rate, count, source = checked_rate(epsilon, sensitivity), checked_size(size), chosen(entropy)
    return marked(geometric_draws(rate, count, source), source)


def laplace_draws(rate: Fraction, size: int, entropy: Entropy) -> NDArray[np.int64]:
    """Draw discrete Laplace noise at a rate that was checked."""
    digits = digits_of(rate, signed=True)
    if few(size, len(digits)):
        return np.array([laplace_one(rate, entropy) for _ in range(size)], dtype=np.int64)
    return _from_digits(digits, size, entropy)


def geometric_draws(rate: Fraction, size: int, entropy: Entropy) -> NDArray[np.int64]:
    """Draw geometric noise at a rate that was checked."""
    digits = digits_of(rate, signed=False)
    if few(size, len(digits)):
        return np.array([geometric_one(rate, entropy) for _ in range(size)], dtype=np.int64)
    return _from_digits(digits, size, entropy)


def few(size: int, tables: int) -> bool:
    """Tell whether `size` draws are too few to be worth building `tables` tables."""
    return size <= COINS_PER_TABLE * tables


@dataclass(frozen=True, slots=True)
class Digit:
    """The law of one digit: P[d] proportional to exp(-rate d) for d < count.

    `leading`: there is one more outcome, `count`, which means count or more.
    `signed`: with probability p / (1+p) the complement ~d = -1-d comes out instead of d.
    """

    rate: Fraction
    count: int
    leading: bool
    signed: bool

    def outcomes(self) -> Sequence[int]:
        above = range(self.count + self.leading)
        return [*above, *(~d for d in above)] if self.signed else above

    def cumulative(self, exponential: Callable[[Fraction], Any]) -> Sequence[Any]:
        p = exponential(self.rate)
        powers = [p]
        for _ in range(1, self.count):
            powers.append(powers[-1] * p)
        # A digit that does not lead is known to be below `count`.
        share = 1 if self.leading else 1 / (1 - powers.pop())
        below = [1 - power for power in powers]
        if not self.signed:
            return [share * c for c in below]
        above = 1 / (1 + p)
        positive = share * above
        negative = positive * p
        return [positive * c for c in below] + [above] + [above + negative * c for c in below]


@lru_cache(maxsize=256)
def digits_of(rate: Fraction, *, signed: bool) -> tuple[Digit, ...]:
    """Return the laws of the digits of a draw, lowest first; the lowest digit has the sign."""
    digits: list[Digit] = []
    while rate * _LEADING_SCALE < 1:
        digits.append(Digit(rate, _RADIX, leading=False, signed=signed and not digits))
        rate *= _RADIX
    count = math.ceil(_LEADING_SCALE / rate)
    return (*digits, Digit(rate, count, leading=True, signed=signed and not digits))


def _from_digits(digits: tuple[Digit, ...], size: int, entropy: Entropy) -> NDArray[np.int64]:
    draws = np.empty(size, dtype=np.int64)
    for start in range(0, size, _CHUNK):
        _fill(draws[start : start + _CHUNK], digits, entropy)
    return draws


def _fill(part: NDArray[np.int64], digits: tuple[Digit, ...], entropy: Entropy) -> None:
    """Fill one chunk with draws. If x is a complement, higher digits are added to the number that it complements."""
    lead = draw_table(digits[0]).draw(part.size, entropy)
    part[:] = lead
    sign = part >> 63
    for place, digit in enumerate(digits[1:], start=1):
        lead = draw_table(digit).draw(part.size, entropy)
        part += (lead.astype(np.int64) << (_RADIX_BITS * place)) ^ sign
        part -= sign
    beyond = np.flatnonzero((lead == digits[-1].count) | (lead == ~digits[-1].count))
    _extend(part, beyond, digits, entropy)


def _extend(part: NDArray[np.int64], beyond: NDArray[np.intp], digits: tuple[Digit, ...], entropy: Entropy) -> None:
    """Complete leading digits of `count` or more: the law has no memory, so each is `count` plus a fresh digit."""
    leading = Digit(digits[-1].rate, digits[-1].count, leading=True, signed=False)
    while beyond.size:
        more = draw_table(leading).draw(beyond.size, entropy)
        rest = more.astype(np.int64) << (_RADIX_BITS * (len(digits) - 1))
        part[beyond] = np.where(part[beyond] < 0, part[beyond] - rest, part[beyond] + rest)
        beyond = beyond[more == leading.count]
