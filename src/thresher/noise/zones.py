"""Find the least epsilon that keeps two error rates, one on each side of a zone, by a cut-off and a coin at one value.

Reads: nothing. Writes: nothing. Never: a promise from an unchecked float. Proof: `zones.md`.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from thresher.amounts import NANO, Amount, Epsilon, whole_number
from thresher.errors import ArgumentError, BugError
from thresher.noise.arguments import checked_probability
from thresher.noise.chances import CHANCES
from thresher.noise.enclosure import Enclosure, certified, exp_minus
from thresher.noise.tails import first_enough, tail_formula


@dataclass(frozen=True, slots=True)
class Zone:
    """The rule: report v >= -steps, and v = -steps - 1 with probability `boundary`, a multiple of 2**-32."""

    epsilon: Epsilon
    steps: int
    boundary: Fraction


def smallest_zone(miss_rate: Amount, false_alarm_rate: Amount, width: int, sensitivity: int = 1) -> Zone:
    """Return the least epsilon, in whole nano, at which a cut-off with a coin keeps both rates, with that cut-off.

    A value of 0 or more is missed with probability at most `miss_rate`, and one of -width or less reported with
    probability at most `false_alarm_rate`, both below one half. Between the two nothing is promised. Width 1 leaves no
    integer between; there the price is the least that any private verdict can have, ln max((1-a)/b, (1-b)/a), up to
    the rounding of the coin.
    """
    missed, alarmed = _below_half(miss_rate, "miss_rate"), _below_half(false_alarm_rate, "false_alarm_rate")
    gap, spread = whole_number(width, "width"), whole_number(sensitivity, "sensitivity")
    for field, value in (("width", gap), ("sensitivity", spread)):
        if not 1 <= value < 1 << 62:
            raise ArgumentError(field, value, "it must be 1 or more, and below 2**62", "Pass 1 or a larger integer")
    return _smallest(missed, alarmed, gap, spread)


def missed_formula(p: Any, steps: int, boundary: Any) -> Any:
    """Return P[0 is not reported] = p^(s+1) (1 - boundary (1-p)) / (1+p), for s >= -1."""
    return p ** (steps + 1) * (1 - boundary * (1 - p)) / (1 + p)


def alarmed_formula(p: Any, steps: int, boundary: Any, width: int) -> Any:
    """Return P[-width is reported] = p^(w-s-1) (p + boundary (1-p)) / (1+p), for s < w."""
    return p ** (width - steps - 1) * (p + boundary * (1 - p)) / (1 + p)


@lru_cache(maxsize=256)
def _smallest(missed: Fraction, alarmed: Fraction, width: int, spread: int) -> Zone:
    def enough(nano: int) -> bool:
        return _placed(Epsilon.from_nano(nano), missed, alarmed, width, spread) is not None

    guess = spread / width * math.log(1 / float(missed * alarmed))
    epsilon = first_enough(enough, math.ceil(guess * NANO), missed)
    zone = _placed(epsilon, missed, alarmed, width, spread)
    if zone is None:
        raise BugError("an epsilon that was enough is not")
    return zone


def _placed(epsilon: Epsilon, missed: Fraction, alarmed: Fraction, width: int, spread: int) -> Zone | None:
    """Return the highest cut-off that keeps misses, with its least coin; None if false alarms are too many there."""
    rate = epsilon.fraction / spread
    steps = _least_margin(rate, missed) - 2
    if steps >= width:
        return None
    boundary = _least_boundary(rate, steps, missed)

    def kept(bits: int) -> bool:
        alarms = alarmed_formula(exp_minus(rate, bits), steps, Enclosure.of(boundary, bits), width)
        return bool(alarms.at_most(alarmed))

    return Zone(epsilon, steps, boundary) if certified(kept) else None


def _least_margin(rate: Fraction, missed: Fraction) -> int:
    """Return the least a with P[X <= -a] <= miss rate; without a coin the cut-off would be -(a-1)."""

    def enough(margin: int) -> bool:
        return certified(lambda bits: bool(tail_formula(exp_minus(rate, bits), margin).at_most(missed)))

    margin = max(1, math.ceil(-math.log(float(missed) * (1 + math.exp(-float(rate)))) / float(rate)))
    while not enough(margin):
        margin += 1
    while margin > 1 and enough(margin - 1):
        margin -= 1
    return margin


def _least_boundary(rate: Fraction, steps: int, missed: Fraction) -> Fraction:
    """Return the least chance of the coin that keeps the miss rate, a multiple of 2**-32, checked by enclosures."""

    def enough(chances: int) -> bool:
        def kept(bits: int) -> bool:
            misses = missed_formula(exp_minus(rate, bits), steps, Enclosure.of(Fraction(chances, CHANCES), bits))
            return bool(misses.at_most(missed))

        return certified(kept)

    p = math.exp(-float(rate))
    log_needed = math.log(float(missed) * (1 + p)) + (steps + 1) * float(rate)
    guess = (1 - math.exp(min(log_needed, 0.0))) / (1 - p)
    chances = min(max(math.ceil(guess * CHANCES), 0), CHANCES)
    while not enough(chances):
        chances += 1
    while chances and enough(chances - 1):
        chances -= 1
    return Fraction(chances, CHANCES)


def _below_half(rate: Amount, field: str) -> Fraction:
    value = checked_probability(rate, field)
    if value >= Fraction(1, 2):
        raise ArgumentError(field, rate, "a zone has two rates below one half", "Pass a rate such as 0.05")
    return value
