"""The default mechanism: the strongest promise that the number of groups allows, chosen before any data is read.

A certificate about all groups together spends a fixed number of false alarms on its proof, so it needs many groups.
With fewer groups each verdict stands for itself; with a handful of groups there is one look.
Reads: aims. Writes: nothing. Never: data.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from thresher.amounts import Epsilon
from thresher.config import decimal_text
from thresher.decisions.aim import FEWEST_FOR_LEVELS, Aim
from thresher.decisions.certificate import plan_numbers
from thresher.decisions.certified import CertifiedLadder, Sharpness, look_at
from thresher.decisions.look import Look, Mechanism
from thresher.decisions.score_levels import ladder
from thresher.decisions.shift import priced_shift
from thresher.decisions.three_way import ThreeWayLadder, counted_errors, three_way_ladder
from thresher.errors import ArgumentError
from thresher.guarantee import percent
from thresher.noise import smallest_epsilon

# P[above | a group does not qualify], for each group by itself.
SURE_RATE = Fraction(1, 100)
# A certificate is aimed at if the share allows the first number of false alarms, and likely reached from the second on.
_FEWEST_ALARMS, _ENOUGH_ALARMS = 5, 10
_FEWEST_FOR_OTHERS = 20
_LABEL_RATIO, _CERTIFICATE_RATIO = Fraction(13, 10), Fraction(17, 10)
_CERTIFICATE_LEVELS, _THREE_WAY_LEVELS = 12, 6
_FINEST_SHARE = 100
_MAY_MISS = ". With so few, the share that is reached may end slightly above the one aimed at"
_AND_FIX = "Leave it out, and each verdict stands for itself"


def certified_look(aim: Aim) -> Look:
    """Return the look with the strongest promise that the number of groups allows."""
    if aim.groups < FEWEST_FOR_LEVELS:
        return _one_look(aim)
    alarms, looks = aim.second_rate * aim.groups, _looks(aim)
    terms = plan_numbers(aim.groups, len(looks), aim.first_rate, aim.second_rate, aim.delta)
    if alarms >= _FEWEST_ALARMS and terms.spare >= 0:
        warned = "" if alarms >= _ENOUGH_ALARMS else _MAY_MISS
        told = f"{aim.groups:,} groups are enough to certify a share of false alarms in the whole list{warned}"
        return CertifiedLadder(looks, aim.first_rate, SURE_RATE, terms, told=told)
    why = _too_few(aim, terms.log_term / terms.weight)
    return _insisted(aim, why) if aim.insists else _labels(aim, why)


def three_way_look(aim: Aim) -> Look:
    """Return looks at fixed levels, at which clear groups are left alone."""
    return _three_way(aim, _THREE_WAY_LEVELS, "clear groups are measured no further than they need")


def _within(name: str, aim: Aim) -> Epsilon:
    """Return the limit at which measuring ends."""
    if aim.limit is None:
        rule = f"{name} measures more and more finely, so it needs a limit"
        raise ArgumentError("max_epsilon", None, rule, "Pass 1, say, or declare max_epsilon_per_question")
    return aim.limit


def _looks(aim: Aim, finest: int | None = None) -> tuple[Sharpness, ...]:
    """Return the levels of the common grid up to the limit, or up to the finest half width that is asked for."""
    looks: list[Sharpness] = []
    width = aim.finest if aim.finest is not None else finest
    for level in ladder(aim.first_rate, aim.reach, _within("certified", aim).fraction):
        looks.append(look_at(level, aim.first_rate, SURE_RATE))
        if width is not None and looks[-1].steps <= width:
            break
    return tuple(looks)


def _labels(aim: Aim, why: str) -> Look:
    """Return looks that end when few groups are uncertain; if there are many groups, no group stops itself."""
    most = max(1, math.floor(aim.second_rate * aim.groups))
    finest, told = math.ceil(aim.reach / _FINEST_SHARE), f"{why}. Each verdict stands for itself"
    if aim.groups >= _FEWEST_FOR_OTHERS:
        return CertifiedLadder(_looks(aim, finest), aim.first_rate, SURE_RATE, None, most - 1, told=told)
    width = aim.finest if aim.finest is not None else finest
    levels = _geometric(aim, _LABEL_RATIO, smallest_epsilon(aim.first_rate, width + 1))
    return replace(three_way_ladder(aim.first_rate, SURE_RATE, levels, most, None), told=told)


def _insisted(aim: Aim, why: str) -> Look:
    """Return looks with a certificate for few groups, which cost more. Too few groups are refused."""
    if aim.groups < _FEWEST_FOR_OTHERS:
        rule = f"{why}, so there is no certificate"
        raise ArgumentError("confidence", decimal_text(1 - aim.delta), rule, _AND_FIX)
    return _three_way(aim, _CERTIFICATE_LEVELS, f"{why}. A confidence was asked for, and it costs more this way")


def _three_way(aim: Aim, levels: int, told: str) -> ThreeWayLadder:
    """Return looks at fixed levels with a certificate: clear groups are left alone, so they lose less."""
    sure, limit = aim.second_rate / 20, _within("three-way", aim)
    errors = counted_errors(aim.groups, aim.first_rate, sure, aim.delta, aim.second_rate)
    first = smallest_epsilon(aim.first_rate / levels, max(1, math.floor(aim.reach * 3 / 10)) + 1)
    nanos = [min(math.ceil(first.nano * _CERTIFICATE_RATIO**j), limit.nano) for j in range(levels)]
    epsilons = tuple(Epsilon.from_nano(nano) for nano in sorted(set(nanos)))
    return replace(three_way_ladder(aim.first_rate, sure, epsilons, 0, errors), told=told)


def _geometric(aim: Aim, ratio: Fraction, last: Epsilon) -> tuple[Epsilon, ...]:
    """Return levels from the widest half width up to the last level or the limit, whichever is less."""
    top = min(last, _within("certified", aim))
    first = smallest_epsilon(aim.first_rate, max(1, math.floor(aim.reach)) + 1)
    nanos: list[int] = []
    nano = Fraction(top.nano)
    while nano >= first.nano and len(nanos) < 64:
        nanos.append(math.ceil(nano))
        nano /= ratio
    return tuple(Epsilon.from_nano(each) for each in sorted(nanos or [top.nano]))


def _one_look(aim: Aim) -> Look:
    told = f"{aim.groups} groups are too few to state a share of false alarms in the whole list: each is measured once"
    if aim.insists:
        rule = f"{aim.groups} groups allow no certificate"
        raise ArgumentError("confidence", decimal_text(1 - aim.delta), rule, _AND_FIX)
    _within("certified", aim)
    return replace(priced_shift(aim.first_rate, aim.second_rate, aim.tolerances), told=told)


def _too_few(aim: Aim, needed: Fraction) -> str:
    allowed = f"{float(aim.second_rate * aim.groups):.1f}"
    return (
        f"{aim.groups:,} groups are too few to state a share of false alarms in the whole list: "
        f"{percent(aim.second_rate)} of them are {allowed} groups, and the proof alone needs {float(needed):.1f}"
    )


MECHANISMS: Mapping[str, Mechanism] = {
    "certified": Mechanism(
        "certified", lambda asked: certified_look(asked.aim), frozenset({"confidence"}), width_optional=True
    ),
    "three-way": Mechanism(
        "three-way", lambda asked: three_way_look(asked.aim), frozenset({"confidence"}), width_optional=True
    ),
}
