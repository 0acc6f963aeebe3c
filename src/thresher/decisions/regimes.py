"""Which promise can be made about so many groups: chosen by public numbers, before any data is read.

A certificate about all groups together pays a fixed number of false alarms for its proof, so it needs many groups. With
fewer, every verdict stands for itself; with a handful there is one look.
Reads: error rates, the number of groups, public ranges. Writes: nothing. Never: data.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from thresher.amounts import Epsilon
from thresher.config import decimal_text
from thresher.decisions.certificate_numbers import plan_numbers
from thresher.decisions.certified import CertifiedLadder, Look, look_at
from thresher.decisions.score_levels import ladder
from thresher.decisions.three_way import ThreeWayLadder, counted_errors, three_way_ladder
from thresher.decisions.threshold_shift import Shift, Tolerances, priced_shift
from thresher.errors import ArgumentError
from thresher.noise import smallest_epsilon

# P[above | a group does not qualify], unless that is asked for.
SURE_RATE = Fraction(1, 100)
# A certificate aims at so many false alarms at least, and is likely reached from twice as many on.
_FEWEST_ALARMS, _ENOUGH_ALARMS = 5, 10
_FEWEST_FOR_OTHERS, FEWEST_FOR_LEVELS = 20, 5
_LABEL_RATIO, _CERTIFICATE_RATIO = Fraction(13, 10), Fraction(17, 10)
_CERTIFICATE_LEVELS = 12
_FINEST_SHARE = 100


@dataclass(frozen=True, slots=True)
class Aim:
    """What is to be reached: rates (the one bounded first, then the other), how far, and at what cost at most.

    widest    the public range of the margins, in units: it sets the first, cheapest level
    finest    no look need be sharper than this half width; None leaves it to the mechanism
    insists   the asker named a confidence, so wants a certificate or a refusal
    """

    first_rate: Fraction
    second_rate: Fraction
    groups: int
    limit: Epsilon
    widest: Fraction
    finest: int | None
    delta: Fraction
    insists: bool


@dataclass(frozen=True, slots=True)
class Chosen:
    """A rule, and in plain words which promise it makes and why."""

    rule: CertifiedLadder | ThreeWayLadder | Shift
    regime: str
    told: str


def chosen(aim: Aim, tolerances: Tolerances) -> Chosen:
    """The strongest promise that so many groups allow."""
    alarms = aim.second_rate * aim.groups
    if aim.groups < FEWEST_FOR_LEVELS:
        return _one_look(aim, tolerances)
    looks = _looks(aim)
    terms = plan_numbers(aim.groups, len(looks), aim.first_rate, aim.second_rate, aim.delta)
    if alarms >= _FEWEST_ALARMS and terms.spare >= 0:
        rule = CertifiedLadder(looks, aim.first_rate, SURE_RATE, terms)
        warned = "" if alarms >= _ENOUGH_ALARMS else _MAY_MISS
        return Chosen(rule, "certificate", f"{aim.groups:,} groups are enough for a certificate{warned}")
    why = _too_few(aim, terms.log_term / terms.weight)
    if aim.insists:
        return _insisted(aim, why)
    return _labels(aim, why)


_MAY_MISS = "; with this few, the share that is reached may end slightly above the one aimed at"


def _looks(aim: Aim, finest: int | None = None) -> tuple[Look, ...]:
    """Levels of the universal grid up to the limit, or up to the finest half width that is asked for."""
    looks: list[Look] = []
    width = aim.finest if aim.finest is not None else finest
    for level in ladder(aim.first_rate, aim.widest, aim.limit.fraction):
        looks.append(look_at(level, aim.first_rate, SURE_RATE))
        if width is not None and looks[-1].steps <= width:
            break
    return tuple(looks)


def _labels(aim: Aim, why: str) -> Chosen:
    """Few enough uncertain labels, each group stopped by the others if there are enough of them."""
    most = max(1, math.floor(aim.second_rate * aim.groups))
    finest = math.ceil(aim.widest / _FINEST_SHARE)
    told = f"{why}. Each verdict stands for itself"
    if aim.groups >= _FEWEST_FOR_OTHERS:
        rule = CertifiedLadder(_looks(aim, finest), aim.first_rate, SURE_RATE, None, most - 1)
        return Chosen(rule, "labels", told)
    width = aim.finest if aim.finest is not None else finest
    levels = _geometric(aim, _LABEL_RATIO, smallest_epsilon(aim.first_rate, width + 1))
    return Chosen(three_way_ladder(aim.first_rate, SURE_RATE, levels, most, None), "labels", told)


def _insisted(aim: Aim, why: str) -> Chosen:
    if aim.groups < _FEWEST_FOR_OTHERS:
        fix = "Leave it out, and each verdict stands for itself"
        raise ArgumentError("confidence", decimal_text(1 - aim.delta), f"{why}, so there is no certificate", fix)
    return three_way(aim, _CERTIFICATE_LEVELS, f"{why}; a certificate was asked for, and costs more this way")


def three_way(aim: Aim, levels: int, told: str) -> Chosen:
    """Fixed levels with a certificate: clear groups are left alone, so they lose less."""
    sure = aim.second_rate / 20
    errors = counted_errors(aim.groups, aim.first_rate, sure, aim.delta, aim.second_rate)
    first = smallest_epsilon(aim.first_rate / levels, max(1, math.floor(aim.widest * 3 / 10)) + 1)
    nanos = [min(math.ceil(first.nano * _CERTIFICATE_RATIO**j), aim.limit.nano) for j in range(levels)]
    epsilons = tuple(Epsilon.from_nano(nano) for nano in sorted(set(nanos)))
    return Chosen(three_way_ladder(aim.first_rate, sure, epsilons, 0, errors), "three-way", told)


def _geometric(aim: Aim, ratio: Fraction, last: Epsilon) -> tuple[Epsilon, ...]:
    """Levels from the widest half width up to the last one or the limit, whichever is less."""
    top = min(last, aim.limit)
    first = smallest_epsilon(aim.first_rate, max(1, math.floor(aim.widest)) + 1)
    nanos: list[int] = []
    nano = Fraction(top.nano)
    while nano >= first.nano and len(nanos) < 64:
        nanos.append(math.ceil(nano))
        nano /= ratio
    return tuple(Epsilon.from_nano(each) for each in sorted(nanos or [top.nano]))


def _one_look(aim: Aim, tolerances: Tolerances) -> Chosen:
    told = f"{aim.groups} groups are too few to learn from one another: one look at the half width asked for"
    if aim.insists:
        fix = "Leave it out, and each verdict stands for itself"
        raise ArgumentError("confidence", decimal_text(1 - aim.delta), f"{aim.groups} groups allow no certificate", fix)
    return Chosen(priced_shift(aim.first_rate, aim.second_rate, tolerances), "one look", told)


def _too_few(aim: Aim, needed: Fraction) -> str:
    allowed = f"{float(aim.second_rate * aim.groups):.1f}"
    return (
        f"too few groups for a promise about all of them: a rate of {decimal_text(aim.second_rate)} allows {allowed} "
        f"errors among {aim.groups:,} groups, and the proof alone needs {float(needed):.1f}"
    )
