"""Threshold shift: one noisy look at each group's margin, the line moved so that misses are rare. Proof beside.

Three ways to place the line: `priced_shift` moves it down by the half width (TSLM), `priced_zone` puts it, with one
value decided by a coin, where both rates are kept outside a zone at the least epsilon there is, and `priced_naive`
leaves it where it is (NLM), which is here to be compared with.
Reads: margins, entropy. Writes: nothing. Never: a draw before the price is known. Proof: `shift.md`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction
from thresher.decisions.aim import Aim, Asked, Tolerance
from thresher.decisions.look import Look, Mechanism
from thresher.decisions.margin import TrueMargins
from thresher.decisions.verdicts import SEEN_BETWEEN, Level, Verdicts
from thresher.errors import ArgumentError
from thresher.noise import (
    Entropy,
    chances,
    cheapest_offer,
    conditional_shift,
    discrete_laplace,
    smallest_epsilon,
    smallest_zone,
)

FINEST = 16
_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Shift(Look):
    """A priced look. Distances are in steps of the margin, of which `scale` make one privacy unit.

    below      v < -steps          missed with probability at most miss_rate if the formula holds by `sure` (h >= sure)
    above      v >= certain        wrong with probability at most false_alarm_rate if it does not (h <= -1)
    uncertain  in between; reported as well
    A group with h <= -clear is reported at all with probability at most false_alarm_rate. At v = -steps - 1 a coin of
    probability `boundary` decides whether it is reported.
    """

    epsilon: Epsilon
    scale: int
    steps: int
    certain: int
    clear: int
    sure: int = 0
    boundary: Fraction = Fraction(0)
    zone: bool = False
    told: str = ""

    @property
    def half_width(self) -> Fraction:
        """In privacy units: by how much the line is moved; of a zone, half its width."""
        return Fraction(self.clear, 2 * self.scale) if self.zone else Fraction(max(self.steps, self.sure), self.scale)

    def ladder(self) -> tuple[Level, ...]:
        """Its one level."""
        return (Level(self.epsilon, math.ceil(self.half_width * self.scale), self.certain),)

    @property
    def how(self) -> str:
        """In plain words, how it decides."""
        told = "the distance of each group from the threshold is measured once"
        return f"{told}; both rates are kept outside of a zone around the threshold" if self.zone else told

    def decide(self, truth: TrueMargins, entropy: Entropy | None = None) -> Verdicts:
        """One look."""
        return look(truth.margins(self.scale), self, entropy)


def cuts(miss_rate: Amount, tolerances: Sequence[Tolerance], finest: int = FINEST) -> tuple[int, int]:
    """Into how many steps to cut a unit (1 to 16) so that the half widths cost least, and how many steps they are.

    `tolerances`: (slack, sensitivity) of each atom. See `margin.md`.
    """
    if not tolerances:
        raise ArgumentError("tolerances", tolerances, "there must be one atom at least", "Pass (slack, sensitivity)")
    return _cuts(exact_fraction(miss_rate, "miss_rate"), tuple(dict.fromkeys(tolerances)), min(finest, FINEST))


@lru_cache(maxsize=256)
def _cuts(miss_rate: Fraction, tolerances: tuple[tuple[int, int], ...], finest: int) -> tuple[int, int]:
    scales = range(1, finest + 1)
    offers = [(min(scale * slack // spread for slack, spread in tolerances) + 1, scale) for scale in scales]
    margin, scale = cheapest_offer(miss_rate, offers)
    return scale, margin - 1


def priced_shift(miss_rate: Amount, false_alarm_rate: Amount, tolerances: Sequence[Tolerance]) -> Shift:
    """The least epsilon at which each atom's half width is kept. `tolerances`: (slack, sensitivity) of each atom."""
    scale, steps = cuts(miss_rate, tolerances)
    return shift_of(
        exact_fraction(miss_rate, "miss_rate"), exact_fraction(false_alarm_rate, "false_alarm_rate"), steps, scale
    )


@lru_cache(maxsize=256)
def shift_of(miss_rate: Fraction, false_alarm_rate: Fraction, steps: int, scale: int) -> Shift:
    """The least epsilon at which the line may be `steps` down."""
    epsilon = smallest_epsilon(miss_rate, steps + 1, scale)
    reach = conditional_shift(0, epsilon, false_alarm_rate, scale)
    return Shift(epsilon, scale, steps, certain=reach - 1, clear=steps + reach)


def priced_naive(miss_rate: Amount, false_alarm_rate: Amount, tolerances: Sequence[Tolerance]) -> Shift:
    """The epsilon of `priced_shift`, with the line left where it is: just above it, misses are as likely as not."""
    shift = priced_shift(miss_rate, false_alarm_rate, tolerances)
    return replace(shift, steps=0, sure=shift.steps, clear=shift.clear - shift.steps)


def priced_zone(miss_rate: Amount, false_alarm_rate: Amount, tolerances: Sequence[Tolerance]) -> Shift:
    """The least epsilon at which both rates are kept outside a zone of twice the half width below the line."""
    scale, _ = cuts(miss_rate, tolerances)
    width = max(1, min(2 * scale * slack // spread for slack, spread in tolerances))
    return zone_of(miss_rate, false_alarm_rate, width, scale)


def zone_of(miss_rate: Amount, false_alarm_rate: Amount, width: int, scale: int) -> Shift:
    """The least epsilon at which both rates are kept outside a zone of `width` steps."""
    zone = smallest_zone(miss_rate, false_alarm_rate, width, scale)
    reach = conditional_shift(0, zone.epsilon, false_alarm_rate, scale)
    return Shift(zone.epsilon, scale, zone.steps, certain=reach - 1, clear=width, boundary=zone.boundary, zone=True)


def look(margins: NDArray[np.int64], shift: Shift, entropy: Entropy | None = None) -> Verdicts:
    """One noisy look at margins that a unit moves by at most `shift.scale` each.

    Privacy: `shift.epsilon` for each group a unit is in.
    Utility: as `Shift` says, for each group, over the noise.
    Runtime: linear in the number of groups.
    Citations: threshold shift, Ghayyur et al. (MIDE), Algorithm 1; integers and margins, `shift.md`.
    """
    noisy = margins + discrete_laplace(shift.epsilon, margins.size, shift.scale, entropy)
    verdict = judged(noisy, shift.steps, shift.certain)
    if shift.boundary:
        edge = np.flatnonzero(noisy == -shift.steps - 1)
        verdict[edge[chances(shift.boundary, edge.size, entropy)]] = SEEN_BETWEEN
    at = np.zeros(margins.size, dtype=np.int64)
    steps = np.full(margins.size, shift.ladder()[0].steps, dtype=np.int64)
    return Verdicts(verdict, noisy, at, steps, (shift.epsilon,), shift.scale, shift.epsilon, shift.clear)


def judged(
    noisy: NDArray[np.int64], steps: int | NDArray[np.int64], certain: int | NDArray[np.int64]
) -> NDArray[np.int8]:
    """Below the moved line (-1), above what noise alone would reach (1), or in between (0)."""
    plain = np.asarray(noisy)
    reported = (plain >= -steps).view(np.int8)
    return reported + (plain >= np.maximum(certain, -steps)).view(np.int8) - np.int8(1)


def shift_look(aim: Aim) -> Shift:
    """The look of an aim, the line moved by the half width."""
    return priced_shift(aim.first_rate, aim.second_rate, aim.tolerances)


def zone_look(aim: Aim) -> Shift:
    """The look of an aim that keeps both rates outside a zone."""
    return priced_zone(aim.first_rate, aim.second_rate, aim.tolerances)


def _zone_of(asked: Asked) -> Shift:
    for name in ("miss_rate", "false_alarm_rate"):
        rate = getattr(asked.options, name)
        if rate >= _HALF:
            rule = "a zone has two rates below one half"
            raise ArgumentError(name, rate, rule, "Pass 0.05, say, or another mechanism")
    return zone_look(asked.aim)


MECHANISMS: Mapping[str, Mechanism] = {
    "tslm": Mechanism(
        "tslm",
        lambda asked: shift_look(asked.aim),
    ),
    "tslm-zone": Mechanism(
        "tslm-zone",
        _zone_of,
        keeps_both_rates=True,
    ),
}
