"""Threshold shift: one noisy look at the margin of each group, the threshold moved so that misses are rare.

There are three ways to place the threshold. `priced_shift` moves it down by the half width (TSLM). `priced_zone` keeps
both rates outside a zone at the least epsilon, and decides one value by a coin. `priced_naive` leaves it where it is
(NLM): a baseline.
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

    below      v < -steps          probability at most miss_rate if the formula holds by `sure` (h >= sure)
    above      v >= certain        probability at most false_alarm_rate if it does not hold (h <= -1)
    uncertain  in between; reported as well
    A group with h <= -clear is reported at all with probability at most false_alarm_rate. At v = -steps - 1 a coin of
    probability `boundary` decides whether the group is reported.
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
        """Return by how much the threshold is moved, in privacy units; of a zone, half its width."""
        return Fraction(self.clear, 2 * self.scale) if self.zone else Fraction(max(self.steps, self.sure), self.scale)

    def ladder(self) -> tuple[Level, ...]:
        """Return its one level."""
        return (Level(self.epsilon, math.ceil(self.half_width * self.scale), self.certain),)

    @property
    def how(self) -> str:
        """Return how it decides, in plain words."""
        once = "the distance of each group from the threshold is measured once"
        return f"{once}; both rates are kept outside of a zone around the threshold" if self.zone else once

    def decide(self, truth: TrueMargins, entropy: Entropy | None = None) -> Verdicts:
        """Look once."""
        return look(truth.margins(self.scale), self, entropy)


def cuts(miss_rate: Amount, tolerances: Sequence[Tolerance], finest: int = FINEST) -> tuple[int, int]:
    """Return into how many steps to cut a unit (1 to 16) so that the half widths cost least, and their width in steps.

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
    """Return a look at the least epsilon that keeps the half width of each atom.

    `tolerances`: (slack, sensitivity) of each atom.
    """
    scale, steps = cuts(miss_rate, tolerances)
    rates = exact_fraction(miss_rate, "miss_rate"), exact_fraction(false_alarm_rate, "false_alarm_rate")
    return shift_of(*rates, steps, scale)


@lru_cache(maxsize=256)
def shift_of(miss_rate: Fraction, false_alarm_rate: Fraction, steps: int, scale: int) -> Shift:
    """Return a look at the least epsilon that keeps the miss rate with the threshold moved down by `steps`."""
    epsilon = smallest_epsilon(miss_rate, steps + 1, scale)
    reach = conditional_shift(0, epsilon, false_alarm_rate, scale)
    return Shift(epsilon, scale, steps, certain=reach - 1, clear=steps + reach)


def priced_naive(miss_rate: Amount, false_alarm_rate: Amount, tolerances: Sequence[Tolerance]) -> Shift:
    """Return a look at the epsilon of `priced_shift` with an unmoved threshold: half of the groups at it are missed."""
    shift = priced_shift(miss_rate, false_alarm_rate, tolerances)
    return replace(shift, steps=0, sure=shift.steps, clear=shift.clear - shift.steps)


def priced_zone(miss_rate: Amount, false_alarm_rate: Amount, tolerances: Sequence[Tolerance]) -> Shift:
    """Return a look at the least epsilon that keeps both rates outside a zone of twice the half width."""
    scale, _ = cuts(miss_rate, tolerances)
    width = max(1, min(2 * scale * slack // spread for slack, spread in tolerances))
    return zone_of(miss_rate, false_alarm_rate, width, scale)


def zone_of(miss_rate: Amount, false_alarm_rate: Amount, width: int, scale: int) -> Shift:
    """Return a look at the least epsilon that keeps both rates outside a zone of `width` steps."""
    zone = smallest_zone(miss_rate, false_alarm_rate, width, scale)
    reach = conditional_shift(0, zone.epsilon, false_alarm_rate, scale)
    return Shift(zone.epsilon, scale, zone.steps, certain=reach - 1, clear=width, boundary=zone.boundary, zone=True)


def look(margins: NDArray[np.int64], shift: Shift, entropy: Entropy | None = None) -> Verdicts:
    """Take one noisy look at margins that a unit moves by at most `shift.scale` each.

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
    """Return -1 below the moved threshold, 1 above what noise alone would reach, and 0 in between."""
    plain = np.asarray(noisy)
    reported = (plain >= -steps).view(np.int8)
    return reported + (plain >= np.maximum(certain, -steps)).view(np.int8) - np.int8(1)


def shift_look(aim: Aim) -> Shift:
    """Return the look of an aim with the threshold moved by the half width."""
    return priced_shift(aim.first_rate, aim.second_rate, aim.tolerances)


def zone_look(aim: Aim) -> Shift:
    """Return the look of an aim that keeps both rates outside a zone."""
    return priced_zone(aim.first_rate, aim.second_rate, aim.tolerances)


def check_zone_rates(miss_rate: Fraction, false_alarm_rate: Fraction) -> None:
    """Refuse rates that no zone can keep."""
    for name, rate in (("miss_rate", miss_rate), ("false_alarm_rate", false_alarm_rate)):
        if rate >= _HALF:
            raise ArgumentError(name, rate, "both rates of a zone must be below one half", "Pass 0.05, say")


def _zone_of(asked: Asked) -> Shift:
    check_zone_rates(asked.options.miss_rate, asked.options.false_alarm_rate)
    return zone_look(asked.aim)


MECHANISMS: Mapping[str, Mechanism] = {
    "tslm": Mechanism("tslm", lambda asked: shift_look(asked.aim)),
    "tslm-zone": Mechanism("tslm-zone", _zone_of, keeps_both_rates=True),
}
