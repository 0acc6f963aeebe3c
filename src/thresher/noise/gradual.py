"""Refine noise after a release (gradual release), so that measuring again costs only the difference.

Noise at a small epsilon equals noise at a larger one plus an independent rest. So a released value can be replaced by
a sharper one whose own law is exactly discrete Laplace, and all releases together cost the last level, not the sum.
Reads: entropy. Writes: nothing. Never: draws independent noise for a second release (that would cost the sum).
Proof: `gradual.md`. Citation: Koufogiannis, Han, Pappas, "Gradual Release of Sensitive Data under DP", 2015.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount
from thresher.noise.arguments import checked_integers, checked_levels, checked_size, checked_step
from thresher.noise.coins import bernoulli_exp, laplace_sign, ratio
from thresher.noise.draw_tables import draw_table
from thresher.noise.entropy import Entropy, chosen, marked
from thresher.noise.laplace import few, geometric_draws, laplace_draws

LEFT, RIGHT, STAY = -1, 1, 0
_SLOW_COINS = Fraction(1, 50)


def refine(
    noise: NDArray[np.int64],
    from_epsilon: Amount,
    to_epsilon: Amount,
    sensitivity: int = 1,
    entropy: Entropy | None = None,
) -> NDArray[np.int64]:
    """Draw noise at `to_epsilon` given the noise drawn at `from_epsilon`, for each element; the shape stays the same.

    Privacy: values released with a chain of refinements cost the last level only, also when levels, stopping and the
    choice of what to refine depend on earlier releases. Replace the old noise by the new; never show the noise itself.
    Utility: each level alone is exactly discrete Laplace at that level.
    Runtime: three table draws an element.
    """
    first, second = checked_step(from_epsilon, to_epsilon, sensitivity)
    source = chosen(entropy)
    known = checked_integers(noise, "noise")
    flat = known.ravel()
    sharper = refined(
        flat,
        geometric_draws(second - first, flat.size, source),
        _directions(Jump(first, second), flat.size, source),
        1 + geometric_draws(first + second, flat.size, source),
    )
    return marked(sharper.reshape(known.shape), source, noise)


def chain(
    levels: Sequence[Amount], size: int, sensitivity: int = 1, entropy: Entropy | None = None
) -> NDArray[np.int64]:
    """Draw noise for levels known beforehand: row j is the noise at levels[j], with the law of repeated `refine`.

    The last level is drawn first, and each coarser one by adding a rest. Privacy and utility: as for `refine`.
    """
    rates, count, source = checked_levels(levels, sensitivity), checked_size(size), chosen(entropy)
    checked_size(len(rates) * count)
    rows = np.empty((len(rates), count), dtype=np.int64)
    rows[-1] = laplace_draws(rates[-1], count, source)
    for j in range(len(rates) - 2, -1, -1):
        moved = draw_table(Rest(rates[j], rates[j + 1])).draw(count, source)
        rows[j] = rows[j + 1] + moved * laplace_draws(rates[j], count, source)
    return marked(rows, source)


def refined(
    noise: NDArray[np.int64], near: NDArray[np.int64], direction: NDArray[np.int16], jump: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the refined noise by the forward kernel, made of three draws: `near` zero, a direction and a jump."""
    distance = np.abs(noise)
    sharper = np.where(direction == RIGHT, distance + jump, distance)
    sharper = np.where(near < distance, near, sharper)
    sharper = np.where(direction == LEFT, -jump, sharper)
    return np.where(noise < 0, -sharper, sharper)


@dataclass(frozen=True, slots=True)
class Jump:
    """The law of a direction: LEFT and RIGHT with probability A each, otherwise STAY; A = s(1-r) / (1-sr)."""

    first: Fraction
    second: Fraction

    def outcomes(self) -> Sequence[int]:
        return LEFT, RIGHT, STAY

    def cumulative(self, exponential: Callable[[Fraction], Any]) -> Sequence[Any]:
        leap = jump_probability(exponential(self.second - self.first), exponential(self.first + self.second))
        return [leap, 2 * leap]


@dataclass(frozen=True, slots=True)
class Rest:
    """The law of whether the coarser noise differs from the finer one: outcome 0 (it does not) with probability w."""

    first: Fraction
    second: Fraction

    def outcomes(self) -> Sequence[int]:
        return 0, 1

    def cumulative(self, exponential: Callable[[Fraction], Any]) -> Sequence[Any]:
        coarse, fine = 1 - exponential(self.first), 1 - exponential(self.second)
        share = coarse / fine
        return [share * share * exponential(self.second - self.first)]


def jump_probability(r: Any, s: Any) -> Any:
    """Return the probability A of the kernel, for r = p2/p1 and s = p1 p2."""
    return s * (1 - r) / (1 - s * r)


def _directions(law: Jump, size: int, entropy: Entropy) -> NDArray[np.int16]:
    # The coins need about 1 / rate rounds, so a small rate uses the table for any size.
    if not few(size, 1) or law.first < _SLOW_COINS:
        return draw_table(law).draw(size, entropy)
    return np.array([_direction(law, entropy) for _ in range(size)], dtype=np.int16)


def _direction(law: Jump, entropy: Entropy) -> int:
    """Draw the direction by coins: the sign of discrete Laplace noise, kept with probability (p1-p2) / (1-p2)."""
    sign = laplace_sign(law.second, entropy)
    leaps = sign != 0 and ratio(
        lambda: bernoulli_exp(law.first, entropy), lambda: bernoulli_exp(law.second - law.first, entropy)
    )
    return sign if leaps else STAY
