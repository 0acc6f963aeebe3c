"""The default mechanism: the strongest promise that the number of groups allows, chosen before any data is read.

A certificate about all groups together spends a fixed number of false alarms on its proof, so it needs many groups.
With fewer groups each verdict stands for itself, and each group is measured by itself.
Reads: aims. Writes: nothing. Never: data.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from thresher.amounts import Epsilon
from thresher.config import decimal_text
from thresher.decisions.aim import Aim, Asked
from thresher.decisions.certificate import most_successes, plan_numbers
from thresher.decisions.certified import CertifiedLadder, Sharpness, look_at, patience_of
from thresher.decisions.few_groups import FewGroupsLadder, levels_alone, uncertain_enough
from thresher.decisions.look import Look, Mechanism
from thresher.decisions.score_levels import ladder
from thresher.decisions.three_way import ThreeWayLadder, counted_errors, three_way_ladder
from thresher.errors import ArgumentError
from thresher.guarantee import percent
from thresher.noise import smallest_epsilon

# P[above | a group does not qualify], for each group by itself.
SURE_RATE = Fraction(1, 100)
# A share is aimed at if it allows this many false alarms.
_ENOUGH_ALARMS = 10
_CERTIFICATE_RATIO, _THREE_WAY_LEVELS = Fraction(17, 10), 6
_LEFT_ALONE = "clear groups are measured no further than they need"
_AND_FIX = "Leave it out, and each verdict stands for itself"


def certified_look(aim: Aim) -> Look:
    """Return the look with the strongest promise that the number of groups allows."""
    if _is_alone(aim):
        return _alone(aim)
    looks, sharp, at_limit = _looks(aim)
    terms = plan_numbers(aim.groups, len(looks), aim.first_rate, aim.second_rate, aim.delta)
    if terms.spare < 0:
        rule = f"{_too_few(aim, terms.log_term / terms.weight)}, so there is no certificate"
        raise ArgumentError("confidence", decimal_text(1 - aim.delta), rule, _AND_FIX)
    told = f"{aim.groups:,} groups are enough to certify a share of false alarms in the whole list"
    patience = None if aim.insists else patience_of(aim.second_rate * aim.groups, sharp)
    return CertifiedLadder(looks, aim.first_rate, SURE_RATE, terms, patience, told=told, follows_limit=at_limit)


def _certified_of(asked: Asked) -> Look:
    """Return the look of a question. Few groups keep a half width that was asked for, whatever the limit."""
    aim = asked.aim
    return certified_look(replace(aim, limit=None) if _is_alone(aim) and aim.asked_width else aim)


def _is_alone(aim: Aim) -> bool:
    """Tell whether there are so few groups that each is measured by itself."""
    return aim.second_rate * aim.groups < _ENOUGH_ALARMS and not aim.insists


def three_way_look(aim: Aim) -> ThreeWayLadder:
    """Return looks at fixed levels with a certificate: clear groups are left alone, so they lose less."""
    levels = _THREE_WAY_LEVELS
    sure, limit = aim.second_rate / 20, _within("three-way", aim)
    errors = counted_errors(aim.groups, aim.first_rate, sure, aim.delta, aim.second_rate)
    first = smallest_epsilon(aim.first_rate / levels, max(1, math.floor(aim.reach * 3 / 10)) + 1)
    nanos = [min(math.ceil(first.nano * _CERTIFICATE_RATIO**j), limit.nano) for j in range(levels)]
    epsilons = tuple(Epsilon.from_nano(nano) for nano in sorted(set(nanos)))
    return replace(three_way_ladder(aim.first_rate, sure, epsilons, errors), told=_LEFT_ALONE)


def _within(name: str, aim: Aim) -> Epsilon:
    """Return the limit at which measuring ends."""
    if aim.limit is None:
        rule = f"{name} measures more and more finely, so it needs a limit"
        raise ArgumentError("max_epsilon", None, rule, "Pass 1, say, or declare max_epsilon_per_question")
    return aim.limit


def _looks(aim: Aim) -> tuple[tuple[Sharpness, ...], Fraction, bool]:
    """Return the levels of the common grid, the first as fine as the half width, and whether the limit ends them.

    They end at the limit, at a half width that is asked for, or, if none is, at a multiple of that level that grows
    with the number of groups. Who names a confidence insists on the share, up to the limit.
    """
    looks: list[Sharpness] = []
    sharp: Fraction | None = None
    at_limit = False
    for level in ladder(aim.first_rate, aim.reach, _within("certified", aim).fraction):
        if sharp is not None and not aim.insists and looks and level > sharp * (aim.second_rate * aim.groups / 10) ** 3:
            break
        looks.append(look_at(level, aim.first_rate, SURE_RATE))
        sharp = level if sharp is None and looks[-1].steps <= aim.width else sharp
        if aim.finest is not None and looks[-1].steps <= aim.finest:
            break
    else:
        at_limit = True
    return tuple(looks), looks[-1].level if sharp is None else sharp, at_limit


def _alone(aim: Aim) -> FewGroupsLadder:
    """Return looks at which each group stops by itself."""
    levels = levels_alone(aim.first_rate, SURE_RATE, aim.width, aim.limit)
    told = f"{_too_few_to_share(aim.groups)}. Each group is measured by itself"
    enough = uncertain_enough(aim.second_rate * aim.groups, levels)
    wrong_above = most_successes(aim.groups, SURE_RATE, aim.delta)
    wider = levels[-1].steps > aim.width
    return FewGroupsLadder(levels, enough, wrong_above, aim.delta, SURE_RATE, told=told, follows_limit=wider)


def _too_few(aim: Aim, needed: Fraction) -> str:
    allowed = f"{float(aim.second_rate * aim.groups):.1f}"
    return (
        f"{_too_few_to_share(aim.groups)}: {percent(aim.second_rate)} of them are {allowed} groups, and the proof "
        f"alone needs {float(needed):.1f}"
    )


def _too_few_to_share(groups: int) -> str:
    number = "1 group is" if groups == 1 else f"{groups:,} groups are"
    return f"{number} too few to state a share of the whole list"


MECHANISMS: Mapping[str, Mechanism] = {
    "certified": Mechanism("certified", _certified_of, frozenset({"confidence"}), width_optional=True),
    "three-way": Mechanism(
        "three-way", lambda asked: three_way_look(asked.aim), frozenset({"confidence"}), width_optional=True
    ),
}
