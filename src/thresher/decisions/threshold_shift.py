"""Threshold shift: one noisy look at each group's margin, the line moved so that misses are rare. Proof beside.

Reads: margins, entropy. Writes: nothing. Never: a draw before the price is known. Proof: `threshold_shift.md`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction
from thresher.errors import ArgumentError
from thresher.noise import Entropy, conditional_shift, discrete_laplace, smallest_epsilon

_FINEST = 16


@dataclass(frozen=True, slots=True)
class Shift:
    """A priced look. Distances are in steps of the margin, of which `scale` make one privacy unit.

    below      v < -steps          missed with probability at most miss_rate if the formula holds (h >= 0)
    above      v >= certain        wrong with probability at most false_alarm_rate if it does not (h <= -1)
    uncertain  in between; reported as well
    A group with h <= -clear is reported at all with probability at most false_alarm_rate.
    """

    epsilon: Epsilon
    scale: int
    steps: int
    certain: int
    clear: int

    @property
    def half_width(self) -> Fraction:
        """In privacy units."""
        return Fraction(self.steps, self.scale)

    @property
    def clear_distance(self) -> Fraction:
        return Fraction(self.clear, self.scale)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What a look shows: noisy margins, and which groups are reported and which of them for certain."""

    noisy: NDArray[np.int64]
    reported: NDArray[np.bool_]
    certain: NDArray[np.bool_]
    shift: Shift


def priced_shift(miss_rate: Amount, false_alarm_rate: Amount, tolerances: Sequence[tuple[int, int]]) -> Shift:
    """The least epsilon at which each atom's half width is kept. `tolerances`: (slack, sensitivity) of each atom.

    One unit is cut into `scale` steps (1 to 16), whichever is cheapest: see `margin.md`.
    """
    if not tolerances:
        raise ArgumentError("tolerances", tolerances, "there must be one atom at least", "Pass (slack, sensitivity)")
    rates = exact_fraction(miss_rate, "miss_rate"), exact_fraction(false_alarm_rate, "false_alarm_rate")
    return _priced(*rates, tuple(dict.fromkeys(tolerances)))


@lru_cache(maxsize=256)
def _priced(miss_rate: Fraction, false_alarm_rate: Fraction, tolerances: tuple[tuple[int, int], ...]) -> Shift:
    cuts = ((scale, min(scale * slack // spread for slack, spread in tolerances)) for scale in range(1, _FINEST + 1))
    epsilon, scale, steps = min((smallest_epsilon(miss_rate, steps + 1, scale), scale, steps) for scale, steps in cuts)
    reach = conditional_shift(0, epsilon, false_alarm_rate, scale)
    return Shift(epsilon, scale, steps, certain=reach - 1, clear=steps + reach)


def look(margins: NDArray[np.int64], shift: Shift, entropy: Entropy | None = None) -> Verdicts:
    """One noisy look at margins that a unit moves by at most `shift.scale` each.

    Privacy: `shift.epsilon` for each group a unit is in.
    Utility: as `Shift` says, for each group, over the noise.
    Runtime: linear in the number of groups.
    Citations: threshold shift, Ghayyur et al. (MIDE), Algorithm 1; integers and margins, `threshold_shift.md`.
    """
    noisy = margins + discrete_laplace(shift.epsilon, margins.size, shift.scale, entropy)
    return Verdicts(noisy, noisy >= -shift.steps, noisy >= shift.certain, shift)


def threshold_shift(
    margins: NDArray[np.int64],
    half_width: int,
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    entropy: Entropy | None = None,
) -> Verdicts:
    """Which of these whole numbers are 0 or more: missed with probability at most `miss_rate` each.

    For plain counts pass `count - threshold - 1` for `>` and `count - threshold` for `>=`; one unit may move each by 1.
    """
    values = np.asarray(margins)
    if values.ndim != 1 or not np.issubdtype(values.dtype, np.signedinteger):
        raise ArgumentError("margins", values.dtype, "it must be a list of whole numbers", "Pass an int64 array")
    if isinstance(half_width, bool) or half_width < 0:
        raise ArgumentError("half_width", half_width, "it must be 0 or more", "Pass 10, say")
    return look(values.astype(np.int64), priced_shift(miss_rate, false_alarm_rate, [(half_width, 1)]), entropy)
