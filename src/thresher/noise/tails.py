"""Bound how far noise strays: exact tails, the least epsilon for a miss rate, and shifts that keep a miss rate.

Nothing here draws. Probabilities are certified brackets; epsilons and shifts are rounded to the safe side and then
checked again with outward rounding, so a promise of 5 % is never 5.0000001 %.
Reads: nothing. Writes: nothing. Never: a promise from an unchecked float. Proofs: `tails.md`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import MAX_NANO, NANO, Amount, Epsilon, exact_fraction, whole_number
from thresher.errors import ArgumentError
from thresher.noise.arguments import checked_integers, checked_probability, checked_rate, checked_step
from thresher.noise.enclosure import Enclosure, ImpreciseError, certified, exp_minus
from thresher.noise.gradual import jump_probability

_HALF = Fraction(1, 2)
# Each step doubles the digits of a guess.
_NEWTON_STEPS = 5
# Far above the relative error of such a guess, and above the rounding to nano.
_GUESSED = 1e-8
_SLACK = Fraction(1, 10**14)
# The only float below 2**-1074 is zero.
_FLOAT_BITS = 1074


class Bracket(NamedTuple):
    """A probability known to lie between two floats."""

    low: float
    high: float


def tail(epsilon: Amount, at_least: int, sensitivity: int = 1) -> Bracket:
    """Return P[X >= at_least] = P[X <= -at_least] of discrete Laplace noise X, for at_least >= 0."""
    rate, distance = checked_rate(epsilon, sensitivity), _checked_distance(at_least, "at_least", 0)
    return bracketed(lambda bits: tail_formula(exp_minus(rate, bits), distance))


def refined_tail(seen: int, at_least: int, from_epsilon: Amount, to_epsilon: Amount, sensitivity: int = 1) -> Bracket:
    """Return P[refined noise <= -at_least, given that the noise was `seen`], for at_least >= 1."""
    first, second = checked_step(from_epsilon, to_epsilon, sensitivity)
    distance, value = _checked_distance(at_least, "at_least", 1), checked_integers(seen, "seen")
    if value.size != 1:
        raise ArgumentError("seen", f"{value.size} values", "it must be one integer", "Pass one number at a time")
    behind = max(-int(value.item()), 0)
    return bracketed(
        lambda bits: refined_tail_formula(
            exp_minus(second - first, bits), exp_minus(first + second, bits), behind, distance
        )
    )


def smallest_epsilon(miss_rate: Amount, margin: int, sensitivity: int = 1) -> Epsilon:
    """Return the least epsilon, in whole nano, at which noise is -margin or less with probability at most `miss_rate`.

    If a group is reported when its noisy value is at least t - s, a group whose true value is t or more is missed only
    if the noise is -(s+1) or less. So pass margin = s + 1. A miss rate of 1/2 or more needs no data: epsilon is 0.
    """
    rate = checked_probability(miss_rate, "miss_rate")
    distance, spread = _checked_distance(margin, "margin", 1), _checked_distance(sensitivity, "sensitivity", 1)
    if rate >= _HALF:
        return Epsilon(0)

    def enough(nano: int) -> bool:
        decay = Fraction(nano, NANO * spread)
        return certified(lambda bits: bool(tail_formula(exp_minus(decay, bits), distance).at_most(rate)))

    return first_enough(enough, math.ceil(spread * _decay_guessed(rate, distance) * NANO), miss_rate)


def cheapest_offer(miss_rate: Amount, offers: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the (margin, sensitivity) of the least `smallest_epsilon`; of equals, the least sensitivity, then margin.

    Only offers whose epsilon in floats is close to the least are compared exactly.
    """
    rate = checked_probability(miss_rate, "miss_rate")
    guesses = [0.0 if rate >= _HALF else spread * _decay_guessed(rate, margin) for margin, spread in offers]
    most = min(guesses) * (1 + _GUESSED) + _GUESSED
    near = [offer for offer, guess in zip(offers, guesses, strict=True) if guess <= most]
    if len(near) == 1:
        return near[0]
    return min(near, key=lambda offer: (smallest_epsilon(rate, *offer), offer[::-1]))


def _decay_guessed(rate: Fraction, distance: int) -> float:
    """Solve p^a = rate (1+p) for -ln p in floats, by Newton's method from above, because p^a <= rate is enough."""
    decay = needed = _log_odds(rate) / distance
    for _ in range(_NEWTON_STEPS):
        p = math.exp(-decay)
        decay -= (decay + math.log1p(p) / distance - needed) / (1 - p / (1 + p) / distance)
    return decay


def smallest_refinement(from_epsilon: Amount, miss_rate: Amount, margin: int, sensitivity: int = 1) -> Epsilon:
    """Return the least epsilon to refine to, so that noise is -margin or less with probability at most `miss_rate`.

    This holds whatever was seen at `from_epsilon`: the `conditional_shift` from it to the result is at most `margin`.
    If nothing was seen yet (from_epsilon = 0), the result is that of `smallest_epsilon`.
    """
    if exact_fraction(from_epsilon, "from_epsilon") == 0:
        return smallest_epsilon(miss_rate, margin, sensitivity)
    first, rate = checked_rate(from_epsilon, sensitivity, "from_epsilon"), checked_probability(miss_rate, "miss_rate")
    distance, seen = _checked_distance(margin, "margin", 1), first * sensitivity * NANO
    if seen.denominator != 1:
        rule = "a level is a whole number of nano-epsilon"
        raise ArgumentError("from_epsilon", from_epsilon, rule, "Round it to nine decimals")

    def enough(nano: int) -> bool:
        second = (seen + nano) / (NANO * sensitivity)

        def met(bits: int) -> bool:
            r, s = exp_minus(second - first, bits), exp_minus(first + second, bits)
            return bool(refined_tail_formula(r, s, distance, distance).at_most(rate))

        return certified(met)

    # (1-A) r^a <= r^a, so a step that decays by the rate alone is a start from above.
    step = first_enough(enough, math.ceil(sensitivity / distance * _log_odds(rate) * NANO), miss_rate)
    return Epsilon.from_nano(int(seen) + step.nano)


def conditional_shift(from_epsilon: Amount, to_epsilon: Amount, miss_rate: Amount, sensitivity: int = 1) -> int:
    """Return the least margin a with P[refined noise <= -a | any history] <= miss_rate.

    Levels may then be chosen from noisy values: the misses of each step stay within its own share. With
    from_epsilon = 0 (nothing seen yet) it is the margin of a single measurement.
    """
    first, second = _checked_first_step(from_epsilon, to_epsilon, sensitivity)
    share = checked_probability(miss_rate, "miss_rate")
    return _most_shift(first, second, share)


def history_shift(
    seen: NDArray[np.int64], from_epsilon: Amount, to_epsilon: Amount, miss_rate: Amount, sensitivity: int = 1
) -> NDArray[np.int64]:
    """Return the same margin for what was really seen: each group's noisy value at `from_epsilon` minus the threshold.

    It is never above `conditional_shift`, and far below it for groups that were seen above the threshold.
    """
    first, second = checked_step(from_epsilon, to_epsilon, sensitivity)
    share, values = checked_probability(miss_rate, "miss_rate"), checked_integers(seen, "seen")
    most = _most_shift(first, second, share)
    # If it was seen `most` or more below, the distance does not matter. Otherwise the noise must leap past zero.
    behind, place = np.unique(np.clip(-values, 0, most), return_inverse=True)
    decay = _decay_of_leaps(first, second, share)
    beyond = decay.least_steps(first + second, behind.tolist(), second - first)
    return np.minimum(most, behind + 1 + np.array(beyond, dtype=np.int64))[place].reshape(values.shape)


def tail_formula(p: Any, at_least: int) -> Any:
    """Return P[X >= a] = p^a / (1+p)."""
    return p**at_least / (1 + p)


def refined_tail_formula(r: Any, s: Any, behind: int, at_least: int) -> Any:
    """Return P[X2 <= -a | X1] with r = p2/p1, s = p1 p2; `behind` is how far X1 lies below zero (0 if it does not)."""
    leap = jump_probability(r, s)
    if behind >= at_least:
        return (1 - leap) * r**at_least
    return leap * r**behind * s ** (at_least - 1 - behind)


@lru_cache(maxsize=4096)
def _most_shift(first: Fraction, second: Fraction, share: Fraction) -> int:
    """Return the least a >= 1 with (1-A) r^a <= share."""
    return max(1, *_decay_needed(lambda bits: 1 - _leap(first, second, bits), share).least_steps(second - first))


@lru_cache(maxsize=4096)
def _decay_of_leaps(first: Fraction, second: Fraction, share: Fraction) -> "_Decay":
    return _decay_needed(lambda bits: _leap(first, second, bits), share)


def _leap(first: Fraction, second: Fraction, bits: int) -> Enclosure:
    leap: Enclosure = jump_probability(exp_minus(second - first, bits), exp_minus(first + second, bits))
    return leap


@dataclass(frozen=True, slots=True)
class _Decay:
    """Bounds of the least z >= 0 with factor * exp(-z) <= share; between `low` and `high`, `enough` decides."""

    low: Fraction
    high: Fraction
    enough: Callable[[Fraction], bool]

    def least_steps(self, step: Fraction, taken: Sequence[int] = (0,), each: Fraction = Fraction(0)) -> list[int]:
        """Return, for each number t in `taken`, the least n >= 0 for which t * each + n * step is enough."""
        unit = math.lcm(step.denominator, each.denominator)
        whole_step, whole_each = int(step * unit), int(each * unit)
        high, low = math.ceil(self.high * unit), math.floor(self.low * unit)
        counts = []
        for t in taken:
            steps = max(0, -((t * whole_each - high) // whole_step))
            while steps and (before := t * whole_each + (steps - 1) * whole_step) > low:
                if not self.enough(Fraction(before, unit)):
                    break
                steps -= 1
            counts.append(steps)
        return counts


def _decay_needed(factor: Callable[[int], Enclosure], share: Fraction) -> _Decay:
    """Guess the least decay in floats, then prove the guess from both sides with outward rounding."""

    def enough(decay: Fraction) -> bool:
        return certified(lambda bits: (factor(bits) * exp_minus(decay, bits)).at_most(share))

    size = certified(lambda bits: _positive(factor(bits)))
    log_factor = math.log(size.high) - size.bits * math.log(2)
    guess = Fraction(max(0.0, log_factor - math.log(share.numerator) + math.log(share.denominator)))
    low = high = guess
    step = _SLACK * (1 + guess)
    while not enough(high):
        low, high, step = high, high + step, 2 * step
    while low > 0 and enough(low):
        low, step = max(Fraction(0), low - step), 2 * step
    return _Decay(low if low > 0 else Fraction(-1), high, enough)


def _positive(number: Enclosure) -> Enclosure:
    if number.low == 0:
        raise ImpreciseError
    return number


def first_enough(enough: Callable[[int], bool], guess: int, miss_rate: Amount) -> Epsilon:
    """Return the least epsilon, in whole nano, that is enough: search from a guess outwards, then by bisection."""
    high, step = min(max(guess, 1), MAX_NANO), 1
    low = high - 1
    while not enough(high):
        if high == MAX_NANO:
            rule = "even an epsilon of a million cannot meet it at this margin and sensitivity"
            raise ArgumentError("miss_rate", miss_rate, rule, "Raise it or the margin")
        low, high, step = high, min(high + step, MAX_NANO), 2 * step
    while low and enough(low):
        low, high, step = max(low - step, 0), low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return Epsilon.from_nano(high)


def _log_odds(rate: Fraction) -> float:
    return math.log(rate.denominator) - math.log(rate.numerator)


def bracketed(formula: Callable[[int], Enclosure], bits: int = 128) -> Bracket:
    """Return the formula's value to about 15 digits, as floats rounded outward; begin with `bits` bits."""

    def ask(bits: int) -> Bracket:
        value = formula(bits)
        if value.high.bit_length() < bits - _FLOAT_BITS:
            return Bracket(0.0, math.ulp(0.0))
        if (value.high - value.low) << 50 > value.low:
            raise ImpreciseError
        low, high = (float(Fraction(end, 1 << bits)) for end in (value.low, value.high))
        return Bracket(max(0.0, math.nextafter(low, 0)), min(1.0, math.nextafter(high, 1)))

    return certified(ask, bits)


def _checked_distance(value: int, field: str, least: int) -> int:
    distance = whole_number(value, field)
    if distance < least:
        raise ArgumentError(field, value, f"it must be {least} or more", f"Pass {least} or a larger integer")
    if distance >= 1 << 62:
        raise ArgumentError(field, value, "it must be below 2**62", "Count in larger units")
    return distance


def _checked_first_step(from_epsilon: Amount, to_epsilon: Amount, sensitivity: int) -> tuple[Fraction, Fraction]:
    """Do what `checked_step` does, and accept 0 as the first epsilon (nothing was seen yet)."""
    if exact_fraction(from_epsilon, "from_epsilon") == 0:
        return Fraction(0), checked_rate(to_epsilon, sensitivity, "to_epsilon")
    return checked_step(from_epsilon, to_epsilon, sensitivity)
