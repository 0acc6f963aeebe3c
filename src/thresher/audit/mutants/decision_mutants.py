"""Broken decisions: private, and they err more often than they promise.

Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.audit.mutants import by_errors
from thresher.audit.subjects import MOST_SAMPLES, Promised
from thresher.decisions.certified import look_at
from thresher.decisions.score_levels import ladder
from thresher.decisions.shift import look, zone_of
from thresher.decisions.verdicts import SEEN_BETWEEN
from thresher.noise import Entropy, chances, conditional_shift, discrete_laplace, refine

_MISS_RATE, _ALARM_RATE, _SURE_RATE = Fraction(1, 20), Fraction(1, 10), Fraction(1, 100)
_THRESHOLD = 7
# Three looks, and a first sight so bad that the second look is not skipped: chosen to err most.
_LEVELS = (Fraction(1, 1000), Fraction(2, 1000), Fraction(6, 1000))
_LOOKS_BAD = -1500
# Groups at the line, just below it and far below it, and how many may stay uncertain.
_GROUPS = (0, 0, 0, -1, -1, -1, *range(-460, -40, 30))
_MOST_UNCERTAIN, _WIDEST = 2, 1000


def subjects() -> tuple[Promised, ...]:
    seven, slack = ("the value 7", _THRESHOLD), ("a slack of -1, sensitivity 2", -1)
    seldom = "gradual release, lines as if each look were the only one; misses"
    many = ("three of twenty groups at the line", _GROUPS)
    return (
        by_errors(broken_negated_less, "x < 7 taken for the mirror image of x >= 7; false alarms", _ALARM_RATE, seven),
        by_errors(
            broken_margin_towards_zero, "slack over sensitivity rounded towards zero; false alarms", _ALARM_RATE, slack
        ),
        by_errors(broken_marginal_shifts, seldom, _MISS_RATE, ("a group at the line", 0), MOST_SAMPLES),
        by_errors(broken_common_stop, "one stopping level for all groups; misses", _MISS_RATE, many, 5_000),
    )


def broken_negated_less(value: int, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """What is wrong: `x < 7` is not the mirror image of `x >= 7`, and at 7 itself both hold. Erred: 7 is reported."""
    margin = -(value - _THRESHOLD)
    return look(np.full(runs, margin, dtype=np.int64), zone_of(_MISS_RATE, _ALARM_RATE, 1, 1), entropy).reported


def broken_margin_towards_zero(slack: int, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """What is wrong: -1 / 2 becomes 0, which says that the condition holds. Erred: it is reported."""
    sensitivity = 2
    margin = int(slack / sensitivity)
    return look(np.full(runs, margin, dtype=np.int64), zone_of(_MISS_RATE, _ALARM_RATE, 1, 1), entropy).reported


def broken_marginal_shifts(margin: int, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """What is wrong: whether a look is skipped depends on the noise so far, and the next noise does too.

    Each look keeps to its share of the miss rate when taken alone, and the shares add up to the whole; Theorem 5 of
    MIDE stops there. Erred: a group at the line is dropped.
    """
    share = _MISS_RATE / len(_LEVELS)
    lines = [-conditional_shift(0, level, share) for level in _LEVELS]
    skipping = -conditional_shift(0, _LEVELS[2], 2 * share)
    first = discrete_laplace(_LEVELS[0], runs, entropy=entropy)
    second = refine(first, _LEVELS[0], _LEVELS[1], entropy=entropy)
    bad = margin + first < _LOOKS_BAD
    # Without a second look, the third is refined from the first and has the shares of both.
    last = np.where(
        bad,
        refine(second, _LEVELS[1], _LEVELS[2], entropy=entropy),
        refine(first, _LEVELS[0], _LEVELS[2], entropy=entropy),
    )
    step_by_step = (margin + second <= lines[1]) | (margin + last <= lines[2])
    return np.asarray((margin + first <= lines[0]) | np.where(bad, step_by_step, margin + last <= skipping))


def broken_common_stop(margins: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """What is wrong: a group's own noise has a say in when it is decided. Erred: the first group is missed."""
    looks = [look_at(level, _MISS_RATE, _SURE_RATE) for level in ladder(_MISS_RATE, _WIDEST, 5)]
    held, missed, going = np.array(margins), np.zeros(runs, dtype=np.bool_), np.arange(runs)
    noise = discrete_laplace(looks[0].level, runs * held.size, entropy=entropy)
    for j, at in enumerate(looks):
        if j:
            noise = refine(noise, looks[j - 1].level, at.level, entropy=entropy)
        seen = at.judged(np.tile(held, going.size) + noise, chances(at.boundary, noise.size, entropy))
        seen = seen.reshape(going.size, held.size)
        stops = (seen == SEEN_BETWEEN).sum(axis=1) <= _MOST_UNCERTAIN
        stops |= at is looks[-1]
        missed[going[stops]] = seen[stops, 0] < SEEN_BETWEEN
        noise = noise.reshape(going.size, held.size)[~stops].ravel()
        going = going[~stops]
        if not going.size:
            break
    return missed
