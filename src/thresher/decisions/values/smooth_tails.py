"""Compute tails of sums of continuous Laplace noise, with which the planner searches before discrete tails decide.

They are smooth and convex, as the solver needs. The discrete tails of `noise/sums.py` are close to them and are what is
promised.
Reads: nothing. Writes: nothing. Never: a promise. Proofs: `smooth_tails.md`.
"""

import math
from collections.abc import Callable
from functools import lru_cache

from thresher.noise import NoiseSum

# Scales that differ by less than this share count as equal: the formula for two would subtract nearly equal numbers.
_SAME = 1e-5
# The relative error of quantiles.
_CLOSE = 1e-9


def tail_slope_curve(noise: NoiseSum, width: float, epsilon: float) -> tuple[float, float, float]:
    """Return P[noise >= width] as if noise were continuous, and its first and second derivative by epsilon."""
    scales = sorted((c * noise.sensitivity / noise.over for c in noise.coefficients), reverse=True)
    large, small = scales[0], scales[-1]
    if large - small <= _SAME * large:
        t = width / large
        value, slope, curve = (_series(values, t * epsilon) for values in _derivatives(len(scales)))
        return value, -t * slope, t * t * curve
    wide, narrow = math.exp(-width * epsilon / large), math.exp(-width * epsilon / small)
    over = 2 * (large - small) * (large + small)
    return (
        (large * large * wide - small * small * narrow) / over,
        -width * (large * wide - small * narrow) / over,
        width * width * (wide - narrow) / over,
    )


@lru_cache(maxsize=4096)
def tail_quantile(noise: NoiseSum, rate: float) -> float:
    """Return the least width * epsilon whose tail is at most `rate`, which is below one half."""
    return least_rate(lambda width: tail_slope_curve(noise, width, 1.0)[0] <= rate, noise.sensitivity / noise.over)


def least_rate(enough: Callable[[float], bool], guess: float) -> float:
    """Return, to nine digits and from above, the least positive number that is enough; all larger numbers are."""
    low, high = guess, guess
    while not enough(high):
        low, high = high, 2 * high
    while low == high or enough(low):
        low, high = low / 2, low
    while high - low > _CLOSE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


@lru_cache(maxsize=128)
def _derivatives(terms: int) -> tuple[tuple[float, ...], ...]:
    """Return the c_j of T_m(t) = exp(-t) sum_j c_j t^j / j!, of minus its derivative, and of its second derivative.

    T_m(t) = P[sum of m Laplace numbers of scale 1 >= t]. All c_j of T_m are positive, so the sum loses no digits.
    """
    chances = [math.comb(terms - 1 + k, k) / 2 ** (terms + k) for k in range(terms)]
    tails = tuple(sum(chances[: terms - j]) for j in range(terms))
    falls = _differences(tails)
    return tails, falls, _differences(falls)


def _differences(values: tuple[float, ...]) -> tuple[float, ...]:
    """Return c_j - c_(j+1): minus the derivative of exp(-t) sum_j c_j t^j / j!, in the same form."""
    return tuple(value - after for value, after in zip(values, (*values[1:], 0.0), strict=True))


def _series(values: tuple[float, ...], t: float) -> float:
    """Return exp(-t) sum_j values_j t^j / j!, with each term scaled so that none overflows."""
    if t == 0.0:
        return values[0]
    term, total = math.exp(-t), 0.0
    for j, value in enumerate(values):
        total += value * term
        term *= t / (j + 1)
    return total
