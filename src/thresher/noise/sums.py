"""Bound how far a released number strays if it is a sum of several noisy numbers, such as cells that are added up.

Each noisy number has its own independent discrete Laplace noise X_k at one rate; the released number is
`(c_1 X_1 + ... + c_m X_m) / over` away from the truth. Tails of such sums are exact if all coefficients are equal, and
for two different small ones; for two different large ones a bound is used that is never too small.
Reads: nothing. Writes: nothing. Never: a draw; a promise from an unchecked float. Proofs: `sums.md`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

from thresher.amounts import Amount, exact_fraction, whole_number
from thresher.errors import ArgumentError, BugError
from thresher.noise.arguments import checked_rate
from thresher.noise.enclosure import Enclosure, certified, exp_minus
from thresher.noise.tails import Bracket, bracketed

# The tail is bounded, not summed, if two coefficients leave more residues than this.
_MOST_RESIDUES = 32
# With more terms than this, weights are too small for floats.
_MOST_FLOATS = 500
_DIGITS = 40
# exp(-700) is about the smallest float that is not rounded coarsely.
_FLOAT_DEPTH = 700


@dataclass(frozen=True, slots=True)
class Powers:
    """Functions that give p to any power, and one minus that, in one kind of arithmetic."""

    of: Callable[[Fraction | int], Any]
    gap: Callable[[Fraction | int], Any]


@dataclass(frozen=True, slots=True)
class NoiseSum:
    """The noise of a released number: `coefficients . X / over`, each X at the rate epsilon / `sensitivity`.

    The coefficients are positive; they are all equal, or there are two of them.
    """

    coefficients: tuple[int, ...]
    over: int = 1
    sensitivity: int = 1

    def __post_init__(self) -> None:
        alike = len(set(self.coefficients)) == 1
        if not (alike or len(self.coefficients) == 2) or min(*self.coefficients, self.over, self.sensitivity) < 1:
            raise BugError("the coefficients of a sum of noise must be positive, and all equal or two")

    @property
    def bits(self) -> int:
        """Return how many bits to begin with: the first weight is (1+p)^-m, which m bits cannot hold."""
        return 128 + len(self.coefficients)

    def tail(self, epsilon: Amount, at_least: int) -> Bracket:
        """Return P[noise >= at_least] = P[noise <= -at_least], for at_least >= 1, or an upper bound of it."""
        rate = checked_rate(epsilon, self.sensitivity)
        if whole_number(at_least, "at_least") < 1:
            raise ArgumentError("at_least", at_least, "it must be 1 or more", "Pass 1 or a larger integer")
        return bracketed(lambda bits: self.formula(enclosed_powers(rate, bits), at_least), self.bits)

    def enclosed(self, epsilon: Amount, at_least: int, bits: int) -> Enclosure:
        """Return the same as an enclosure, for sums of several tails that are compared with one rate."""
        rate = exact_fraction(epsilon, "epsilon") / self.sensitivity
        tail: Enclosure = self.formula(enclosed_powers(rate, bits), at_least)
        return tail

    def sketched(self, epsilon: float, at_least: int) -> float:
        """Return the same in floats: for searching, never for a promise."""
        rate = epsilon / self.sensitivity
        if len(self.coefficients) > _MOST_FLOATS:
            with localcontext(prec=_DIGITS):
                return float(self.formula(_decimal_powers(Decimal(rate)), at_least))
        if rate * at_least * self.over > _FLOAT_DEPTH * max(self.coefficients):
            return 0.0
        return float(self.formula(_float_powers(rate), at_least))

    def formula(self, powers: Powers, at_least: int) -> Any:
        """Return the tail in the arithmetic of `powers`."""
        distance, (first, *rest) = at_least * self.over, self.coefficients
        if all(coefficient == first for coefficient in rest):
            return alike_formula(powers, -(-distance // first), len(self.coefficients))
        return unlike_formula(powers, distance, max(self.coefficients), min(self.coefficients))


@lru_cache(maxsize=4096)
def least_distance(noise: NoiseSum, epsilon: Amount, rate: Fraction) -> int:
    """Return the least whole number a >= 1 with P[noise >= a] <= rate."""

    def enough(distance: int) -> bool:
        return certified(lambda bits: bool(noise.enclosed(epsilon, distance, bits).at_most(rate)), noise.bits)

    low, high, plain, bound = 0, 1, float(exact_fraction(epsilon, "epsilon")), float(rate)
    while noise.sketched(plain, high) > bound:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if noise.sketched(plain, middle) <= bound else (middle, high)
    # Floats found the place; enclosures decide it.
    while not enough(high):
        high += 1
    while high > 1 and enough(high - 1):
        high -= 1
    return high


def alike_formula(powers: Powers, at_least: int, terms: int) -> Any:
    """Return P[X_1 + ... + X_m >= a], a >= 1: p^a sum_j w_j sum_{i < m-j} C(a+i-1, i) (1-p)^i, all terms positive."""
    p, q = powers.of(1), powers.gap(1)
    reached = [powers.of(0)]  # the inner sums, each with one term more
    term = reached[0]
    for i in range(1, terms):
        term = term * (at_least + i - 1) * q / i
        reached.append(reached[-1] + term)
    share, rise = 1 / (1 + p), 0
    weight, again = share**terms, share * p * p
    total = weight * reached[terms - 1]
    for j in range(1, terms):
        # From w_{j-1} to w_j; the first step has no rise before it.
        rise = weight * again * (terms - 1 if j > 1 else terms) / j + (rise * q * (j - 2) / j if j > 2 else 0)
        weight = rise if j == 1 else weight * share + rise
        total = weight * reached[terms - 1 - j] + total
    return powers.of(at_least) * total


def unlike_formula(powers: Powers, at_least: int, large: int, small: int) -> Any:
    """Return P[large X_1 + small X_2 >= a], a >= 1, large > small >= 1, or a bound if there are too many residues."""
    common = math.gcd(large, small)
    exact = small // common <= _MOST_RESIDUES
    residues = small // common if exact else 1
    slope = Fraction(large, common if exact else small)
    past = at_least // large

    def up(steps: int) -> Fraction | int:
        """Return what X_2 must reach if X_1 lies `steps` below zero; not rounded if the result is a bound."""
        wanted = at_least + large * steps
        return -(-wanted // small) if exact else Fraction(wanted, small)

    def beyond(steps: int) -> Fraction | int:
        """Return how far X_2 may fall short if X_1 lies `steps` above zero; likewise."""
        wanted = large * steps - at_least
        return wanted // small if exact else Fraction(wanted, small)

    both = powers.gap(residues + slope)
    total = powers.of(past + 1)
    share = powers.gap(1) / (1 + powers.of(1))
    inner, less = 0, 0
    for r in range(1, residues + 1):
        inner = powers.of(r + up(r)) / both + inner
        less = powers.of(past + r + 1 + beyond(past + r)) / both + less
    for r in range(min(residues, past + 1)):
        times = (past - r) // residues + 1
        inner = (
            powers.of(past - r + up(r - past)) * powers.gap((slope - residues) * times) / powers.gap(slope - residues)
            + inner
        )
    return ((total + share * inner) - share * less) / (1 + powers.of(1))


def enclosed_powers(rate: Fraction, bits: int) -> Powers:
    """Return powers of exp(-rate) as enclosures."""
    return Powers(lambda x: exp_minus(rate * x, bits), lambda x: 1 - exp_minus(rate * x, bits))


def _decimal_powers(rate: Decimal) -> Powers:
    """Return powers of exp(-rate) as decimals, which can be far smaller than floats."""

    def of(x: Fraction | int) -> Decimal:
        return (-rate * x.numerator / x.denominator).exp()

    return Powers(of, lambda x: 1 - of(x))


def _float_powers(rate: float) -> Powers:
    return Powers(lambda x: math.exp(-rate * float(x)), lambda x: -math.expm1(-rate * float(x)))
