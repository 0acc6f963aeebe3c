"""The levels of a certified decision: one grid of epsilons for every question, eight to a doubling.

Every level is a small whole number times a power of two, so noise is refined between any two of them exactly, a float
holds them without rounding, and a table made for one question serves all others.
Reads: public numbers. Writes: nothing. Never: a float in what it returns. Why one grid: `score_tables.md`.
"""

import math
from bisect import bisect_right
from fractions import Fraction

from thresher.amounts import Amount, exact_fraction
from thresher.errors import ArgumentError
from thresher.noise.enclosure import certified, exp_minus

# Ratios of neighbours lie between 1.07 and 1.11.
_STEPS = (32, 35, 38, 41, 45, 49, 54, 59)
_OCTAVE = _STEPS[0]
# Noise is not drawn for scales much above the first; at the last it is zero but for one draw in 10**12.
LOWEST, HIGHEST = Fraction(1, 1 << 29), Fraction(59, 2)
_LEAST_MISS_RATE = Fraction(1, 10**12)
# A range is compared with ln(1 / 2 beta), rounded up to so many parts of one.
_LOG_PARTS = 10_000


def ladder(miss_rate: Amount, widest: Amount, max_epsilon: Amount) -> tuple[Fraction, ...]:
    """Return the levels from the one whose line moves by the whole public range up to the highest within `max_epsilon`.

    `widest` is that range in privacy units. A range that is too large adds a few levels, a range that is too small
    starts at a higher price; neither changes a promise.
    """
    missed = checked_miss_rate(miss_rate)
    span, most = exact_fraction(widest, "widest"), exact_fraction(max_epsilon, "max_epsilon")
    if span <= 0:
        raise ArgumentError("widest", widest, "a range must be above 0", "Pass the largest count to expect")
    if most < LOWEST:
        rule = f"it is below {float(LOWEST):.3g}, the lowest level"
        raise ArgumentError("max_epsilon", max_epsilon, rule, "Pass 1, say")
    last = _place_below(min(most, HIGHEST))
    first = _place_below(max(log_above(2 * missed, _LOG_PARTS) / span, LOWEST))
    return tuple(_level_at(place) for place in range(min(first, last), last + 1))


def checked_miss_rate(miss_rate: Amount) -> Fraction:
    """Return a rate that a line below 0 can keep and that tables can be made for."""
    rate = exact_fraction(miss_rate, "miss_rate")
    if not _LEAST_MISS_RATE <= rate < Fraction(1, 2):
        rule = f"it must be below one half, and {float(_LEAST_MISS_RATE)} or more"
        raise ArgumentError("miss_rate", miss_rate, rule, "Pass 0.05, say")
    return rate


def grid(lowest: Fraction, highest: Fraction) -> tuple[Fraction, ...]:
    """Return all levels between two of them."""
    return tuple(_level_at(place) for place in range(_place_below(lowest), _place_below(highest) + 1))


def is_level(epsilon: Fraction) -> bool:
    """Tell whether it is a level of the grid."""
    return LOWEST <= epsilon <= HIGHEST and _level_at(_place_below(epsilon)) == epsilon


def log_above(share: Fraction, parts: int) -> Fraction:
    """Return the least multiple of 1 / parts that is ln(1 / share) or more, for a share below 1."""

    def enough(number: int) -> bool:
        return certified(lambda bits: exp_minus(Fraction(number, parts), bits).at_most(share))

    number = math.ceil((math.log(share.denominator) - math.log(share.numerator)) * parts)
    while not enough(number):
        number += 1
    while number and enough(number - 1):
        number -= 1
    return Fraction(number, parts)


def _level_at(place: int) -> Fraction:
    """Return the level at a place; the level 1 has place 0."""
    octave, step = divmod(place, len(_STEPS))
    return Fraction(2) ** octave * _STEPS[step] / _OCTAVE


def _place_below(bound: Fraction) -> int:
    """Return the place of the highest level that is at most `bound`."""
    octave = bound.numerator.bit_length() - bound.denominator.bit_length()
    if Fraction(2) ** octave > bound:
        octave -= 1
    within = bound / Fraction(2) ** octave * _OCTAVE
    return octave * len(_STEPS) + bisect_right(_STEPS, within) - 1
