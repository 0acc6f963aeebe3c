"""Break decisions: they err more often than they promise, or show more than they are charged for.

Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.mutants import by_errors, by_samples
from thresher.audit.subjects import MOST_SAMPLES, Pair, Subject
from thresher.decisions.certified import look_at
from thresher.decisions.few_groups import FewGroupsLadder, climb_alone, levels_alone
from thresher.decisions.ladder import level_of
from thresher.decisions.score_levels import ladder
from thresher.decisions.shift import look, zone_of
from thresher.decisions.verdicts import SEEN_BETWEEN, Level
from thresher.noise import Entropy, chances, conditional_shift, discrete_laplace, refine

_MISS_RATE, _ALARM_RATE, _SURE_RATE = Fraction(1, 20), Fraction(1, 10), Fraction(1, 100)
_THRESHOLD = 7
# Three levels, and a first number so low that the second is not skipped: chosen to err most.
_LEVELS = (Fraction(1, 1000), Fraction(2, 1000), Fraction(6, 1000))
_LOOKS_BAD = -1500
# Groups at the threshold, just below it and far below it, and how many may stay uncertain.
_GROUPS = (0, 0, 0, -1, -1, -1, *range(-460, -40, 30))
_MOST_UNCERTAIN, _WIDEST = 2, 1000
# Two levels, and how near to the threshold a group needs the second one.
_TWO, _NEAR = (Epsilon("0.05"), Epsilon("0.1")), 10


def subjects() -> tuple[Subject, ...]:
    seven, slack = ("the value 7", _THRESHOLD), ("a slack of -1, sensitivity 2", -1)
    many = ("three of twenty groups at the threshold", _GROUPS)
    at = ("a group at the threshold", 0)
    return (
        by_errors(broken_negated_less, _ALARM_RATE, seven),
        by_errors(broken_margin_towards_zero, _ALARM_RATE, slack),
        by_errors(broken_marginal_shifts, _MISS_RATE, ("a group at the threshold", 0), MOST_SAMPLES),
        by_errors(broken_common_stop, _MISS_RATE, many, 5_000),
        by_errors(broken_union, _MISS_RATE, at),
        by_errors(broken_shares, _MISS_RATE, at),
        by_samples(broken_stop_by_truth, Pair("just near the threshold, and just far from it", _NEAR - 1, _NEAR)),
    )


def broken_negated_less(value: int, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Treat `x < 7` as the mirror image of `x >= 7`, so that both hold at 7. An error: 7 is reported."""
    margin = -(value - _THRESHOLD)
    return look(np.full(runs, margin, dtype=np.int64), zone_of(_MISS_RATE, _ALARM_RATE, 1, 1), entropy).reported


def broken_margin_towards_zero(slack: int, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Round -1 / 2 to 0, as if the condition held. An error: it is reported."""
    sensitivity = 2
    margin = int(slack / sensitivity)
    return look(np.full(runs, margin, dtype=np.int64), zone_of(_MISS_RATE, _ALARM_RATE, 1, 1), entropy).reported


def broken_marginal_shifts(margin: int, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Skip a measurement by the noise so far, on which the next noise depends too.

    Each measurement alone keeps to its share of the miss rate, and the shares add up to the whole; the proof of
    Theorem 5 of MIDE ends there. An error: a group at the threshold is dropped.
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


def broken_union(margin: int, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Measure a group twice by itself, with all of the miss rate at each look. An error: it is below."""
    return _climbed(margin, runs, tuple(level_of(None, level, _MISS_RATE, _SURE_RATE, 1) for level in _TWO), entropy)


def broken_shares(margin: int, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Measure a group up to thirteen times by itself, with all of the miss rate at each look. An error: it is below."""
    known = levels_alone(_MISS_RATE, _SURE_RATE, 50, None)
    levels = tuple(level_of(None, level.epsilon, _MISS_RATE, _SURE_RATE, 1) for level in known)
    return _climbed(margin, runs, levels, entropy)


def broken_stop_by_truth(margin: int, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Count the groups that need another look by their true margins: where the climb ends tells what they are."""
    first = discrete_laplace(_TWO[0], runs, entropy=entropy)
    ends = abs(margin) >= _NEAR
    last = first if ends else refine(first, *_TWO, entropy=entropy)
    return np.stack([margin + last, np.full(runs, ends)], axis=1)


def _climbed(margin: int, runs: int, levels: tuple[Level, ...], entropy: Entropy) -> NDArray[np.bool_]:
    ladder = FewGroupsLadder(levels, (0,) * len(levels), 0, _SURE_RATE, _SURE_RATE)
    return climb_alone(np.full(runs, margin, dtype=np.int64), ladder, entropy).verdict < SEEN_BETWEEN


def broken_common_stop(margins: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Let a group's own noise influence when it is decided. An error: the first group is missed."""
    looks = [look_at(level, _MISS_RATE, _SURE_RATE) for level in ladder(_MISS_RATE, _WIDEST, 5)]
    groups, missed, going = np.array(margins), np.zeros(runs, dtype=np.bool_), np.arange(runs)
    noise = discrete_laplace(looks[0].level, runs * groups.size, entropy=entropy)
    for j, at in enumerate(looks):
        if j:
            noise = refine(noise, looks[j - 1].level, at.level, entropy=entropy)
        verdicts = at.judged(np.tile(groups, going.size) + noise, chances(at.boundary, noise.size, entropy))
        verdicts = verdicts.reshape(going.size, groups.size)
        stops = (verdicts == SEEN_BETWEEN).sum(axis=1) <= _MOST_UNCERTAIN
        stops |= at is looks[-1]
        missed[going[stops]] = verdicts[stops, 0] < SEEN_BETWEEN
        noise = noise.reshape(going.size, groups.size)[~stops].ravel()
        going = going[~stops]
        if not going.size:
            break
    return missed
