"""Tails of sums of continuous Laplace noise: what the planner searches with, before integers decide.

They are smooth and convex, so that a solver finds its way; the discrete tails of `noise/sums.py` lie close by and are
what is promised.
Reads: nothing. Writes: nothing. Never: a promise. Proofs: `smooth_tails.md`.
"""

import math
from collections.abc import Callable
from functools import lru_cache

from thresher.noise import NoiseSum

# Scales as close as this count as one: the formula for two would subtract nearly equal numbers.
_SAME = 1e-5
# Quantiles are found to this share of themselves.
_CLOSE = 1e-9


@lru_cache(maxsize=128)
def coefficients(terms: int) -> tuple[float, ...]:
    """The c_j of T_m(t) = exp(-t) sum_j c_j t^j / j!: all positive, so that nothing cancels."""
    return tuple(sum(math.comb(terms - 1 + k, k) / 2 ** (terms + k) for k in range(terms - j)) for j in range(terms))


def summed(terms: int, t: float) -> float:
    """T_m(t) = P[sum of m Laplace numbers of scale 1 >= t], t >= 0."""
    return _series(coefficients(terms), t)


def summed_slope(terms: int, t: float) -> float:
    """The derivative of T_m, which is minus the density."""
    return -_series(_falls(terms), t)


def tail_slope_curve(noise: NoiseSum, width: float, epsilon: float) -> tuple[float, float, float]:
    """P[noise >= width] as if it were continuous, and its first and second derivative by epsilon."""
    scales = sorted((c * noise.sensitivity / noise.over for c in noise.coefficients), reverse=True)
    large, small = scales[0], scales[-1]
    if large - small <= _SAME * large:
        terms, t = len(scales), width / large
        curve = _series(_differences(_falls(terms)), t * epsilon)
        return summed(terms, t * epsilon), t * summed_slope(terms, t * epsilon), t * t * curve
    wide, narrow = math.exp(-width * epsilon / large), math.exp(-width * epsilon / small)
    over = 2 * (large - small) * (large + small)
    return (
        (large * large * wide - small * small * narrow) / over,
        -width * (large * wide - small * narrow) / over,
        width * width * (wide - narrow) / over,
    )


@lru_cache(maxsize=4096)
def tail_quantile(noise: NoiseSum, rate: float) -> float:
    """The least width * epsilon whose tail is at most `rate`, which is below one half."""
    return least_rate(lambda width: tail_slope_curve(noise, width, 1.0)[0] <= rate, noise.sensitivity / noise.over)


def least_rate(enough: Callable[[float], bool], guess: float) -> float:
    """The least positive number that is enough, from above and to nine digits; enough from some number on."""
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
def _falls(terms: int) -> tuple[float, ...]:
    """The c_j of the density."""
    return _differences(coefficients(terms))


def _differences(values: tuple[float, ...]) -> tuple[float, ...]:
    """c_j - c_(j+1): minus the derivative of exp(-t) sum_j c_j t^j / j!, in the same form."""
    return tuple(value - after for value, after in zip(values, (*values[1:], 0.0), strict=True))


def _series(values: tuple[float, ...], t: float) -> float:
    """exp(-t) sum_j values_j t^j / j!, each term scaled on its own so that none overflows."""
    if t == 0.0:
        return values[0]
    term, total = math.exp(-t), 0.0
    for j, value in enumerate(values):
        total += value * term
        term *= t / (j + 1)
    return total
