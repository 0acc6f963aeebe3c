"""Try decisions: the loss of their verdicts, and their errors on groups where errors are likeliest.

Where groups do not affect each other, one call decides as many groups as there are runs. Where they do (levels chosen
from earlier noise, stops that depend on other groups), each run is one call, and only one group counts.
Reads: entropy. Writes: nothing. Never: sets a charge.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.subjects import Pair, Promised, Sampled, Subject
from thresher.decisions import arrays
from thresher.decisions.adaptive_ladder import adaptive_ladder_of
from thresher.decisions.aim import Aim
from thresher.decisions.ladder import rungs_of
from thresher.decisions.look import Look
from thresher.decisions.margin import TrueMargins
from thresher.decisions.regimes import certified_look, three_way_look
from thresher.decisions.verdicts import Verdicts
from thresher.noise import Entropy

_MISS_RATE, _ALARM_RATE = Fraction(1, 20), Fraction(1, 10)
_SURE, _DELTA = Fraction(1, 100), Fraction(1, 50)
_WIDTH = 5
_FIRST, _LAST_LOOK = Epsilon("0.3"), 1
_GROUPS = (0, 0, -1, -1, -3, -8, -20, -30)
Decide = Callable[..., Verdicts]
Margins = tuple[int, ...]
# One call decides many groups, each an independent run.
_APART: dict[str, Decide] = {
    "nlm": partial(arrays.naive_laplace, half_width=_WIDTH),
    "tslm": partial(arrays.threshold_shift, half_width=_WIDTH),
    "tslm-zone": partial(arrays.threshold_zone, width=_WIDTH),
    "ppwlm": partial(arrays.progressive, half_width=_WIDTH),
}
_CALLS = 1_500


def subjects() -> tuple[Subject, ...]:
    aim = Aim(_MISS_RATE, _ALARM_RATE, ((_WIDTH, 1),), asked_width=False, groups=len(_GROUPS), widest=Fraction(40))
    limited = replace(aim, usual=_WIDTH).limited("1", None)
    alone = certified_look(limited)
    # With a fifth of the groups as false alarms, this many are enough for a share.
    many = replace(aim, second_rate=2 * _ALARM_RATE, groups=7 * len(_GROUPS)).limited("0.2", None)
    # Groups affect each other, so one run is one call. Each look is priced once, before anything is drawn.
    together: dict[str, tuple[Look, Margins]] = {
        "dppwlm": (rungs_of(limited, adaptive_ladder_of), _GROUPS),
        "certified": (alone, _GROUPS),
        # With this many groups, whether a group stops depends on the other groups only.
        "certified by the others": (certified_look(many), 7 * _GROUPS),
        "three-way": (three_way_look(limited), _GROUPS),
    }
    return (
        *(_loss_apart(name, decide) for name, decide in _APART.items()),
        _loss_as_settled(),
        *(_loss_together(name, *asked) for name, asked in together.items()),
        *(_misses_apart(name, decide) for name, decide in _APART.items() if name != "nlm"),
        _alarms(),
        *(_misses_together(name, *asked) for name, asked in together.items()),
        *_errors_alone(alone),
        _number_by_the_others(together["certified by the others"][0]),
    )


def _loss_apart(name: str, decide: Decide) -> Sampled:
    pairs = Pair("a group at the threshold, and one below it", 0, -1), Pair("five below, and four", -5, -4)
    return Sampled(name, "all that is released about a group", decide([0]).worst, pairs, partial(_shown_apart, decide))


def _shown_apart(decide: Decide, margin: int, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    return _shown(decide(np.full(runs, margin, dtype=np.int64), entropy=entropy))


def _shown(verdicts: Verdicts) -> NDArray[np.int64]:
    latest = verdicts.noisy if verdicts.latest is None else verdicts.latest
    columns = [verdicts.verdict.astype(np.int64), verdicts.stopped, verdicts.steps, verdicts.noisy, latest]
    return np.stack(columns, axis=1)


def _loss_as_settled() -> Sampled:
    """Try a group that stopped at the first measurement: it says so, and is settled at the level of that one."""
    decide = partial(arrays.progressive, half_width=_WIDTH, levels=2, first_epsilon=_FIRST)
    pairs = Pair("well above the threshold", 9, 10), Pair("well below it", -12, -13)
    return Sampled(
        "ppwlm, as settled",
        "groups that stopped at the first of two measurements",
        _FIRST,
        pairs,
        partial(_shown_apart, decide),
        within=lambda shown: np.asarray(shown)[:, 1] < _LAST_LOOK,
    )


def _loss_together(name: str, look: Look, groups: Margins) -> Sampled:
    pairs = (Pair(f"one of {len(groups)} groups moves across the threshold", groups, (-1, *groups[1:])),)
    about = "all that is released about all groups"
    return Sampled(name, about, look.epsilon, pairs, partial(_shown_together, look), _CALLS)


def _shown_together(look: Look, margins: Margins, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    exact = TrueMargins.of(np.array(margins))
    return np.stack([_shown(look.decide(exact, entropy)).ravel() for _ in range(runs)])


def _misses_apart(name: str, decide: Decide) -> Promised:
    worst = (("a group at the threshold", 0),)
    return Promised(f"{name}, misses", "a group that only just qualifies", _MISS_RATE, worst, partial(_missed, decide))


def _missed(decide: Decide, margin: int, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    return ~decide(np.full(runs, margin, dtype=np.int64), entropy=entropy).reported


def _alarms() -> Promised:
    decide = _APART["tslm-zone"]
    worst = (("a group at the far end of the zone", -_WIDTH),)
    about = "a group that falls short by the zone's width"
    return Promised("tslm-zone, false alarms", about, _ALARM_RATE, worst, lambda *run: ~_missed(decide, *run))


def _misses_together(name: str, look: Look, groups: Margins) -> Promised:
    about, worst = f"one of {len(groups)} groups, at the threshold", (("several groups at it", groups),)
    return Promised(f"{name}, misses", about, _MISS_RATE, worst, partial(_missed_together, look), _CALLS)


def _errors_alone(look: Look) -> tuple[Promised, ...]:
    """Try the labels and the number of few groups. A group that climbs alone is an independent run."""
    at, below = (("a group at the threshold", 0),), (("a group just below the threshold", -1),)
    many = (("half of twenty groups just below the threshold", (-1,) * 10 + (400,) * 10),)
    return (
        Promised(
            "certified alone, misses", "a group that only just qualifies", _MISS_RATE, at, partial(_labelled, look, -1)
        ),
        Promised(
            "certified alone, wrongly above", "a group that only just fails", _SURE, below, partial(_labelled, look, 1)
        ),
        Promised(
            "certified alone, number",
            "more wrong reports than said",
            _DELTA,
            many,
            partial(_miscounted, look),
            _CALLS // 3,
        ),
    )


def _number_by_the_others(look: Look) -> Promised:
    """Try the number of many groups, half of which only just fail, so that too few are unreported for a share."""
    half = (-1,) * 28 + (400,) * 28
    many = (("half of 56 groups just below the threshold", half),)
    what = "more wrong reports than said"
    return Promised("certified by the others, number", what, _DELTA, many, partial(_miscounted, look), _CALLS // 3)


def _labelled(look: Look, label: int, margin: int, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    seen = look.decide(TrueMargins.of(np.full(runs, margin, dtype=np.int64)), entropy)
    return np.asarray(seen.verdict == label)


def _miscounted(look: Look, margins: Margins, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    exact, wrong = TrueMargins.of(np.array(margins)), np.array(margins) < 0
    answers = (look.decide(exact, entropy) for _ in range(runs))
    return np.array([(seen.reported & wrong).sum() > _said(seen) for seen in answers])


def _said(seen: Verdicts) -> int:
    return seen.reported.size if seen.count_bound is None else seen.count_bound.wrong_at_most


def _missed_together(look: Look, margins: Margins, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    exact = TrueMargins.of(np.array(margins))
    return np.array([not look.decide(exact, entropy).reported[0] for _ in range(runs)])
