"""Break streams: groups and windows that forget what a step costs, alarms that miss more often than they promise.

Reads: entropy. Writes: a ledger in a folder that is thrown away. Never: reachable from a release.
"""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.audit.mutants import ONE, by_errors, by_law, by_samples
from thresher.audit.shipped.live_subjects import Day, declared, released
from thresher.audit.shipped.stream_subjects import Counts, marks, marks_law, side_by_side
from thresher.audit.subjects import MOST_SAMPLES, Pair, Subject
from thresher.noise import Entropy, discrete_laplace
from thresher.noise.laplace import geometric_draws
from thresher.streams.alarms import alarm
from thresher.streams.group_deviation import OpenGroup
from thresher.streams.grouper import GrouperTerms, grouper_terms
from thresher.streams.perturber import perturb
from thresher.streams.smoothers import AdaptiveSmoother
from thresher.streams.step_release import JOINS
from thresher.streams.tree_windows import stretches

_TERMS = grouper_terms(1, 5)
_RESTARTS = 64
_TURNS = (0, 4) * 32
_MISS_RATE, _ALARM_RATE = Fraction(1, 20), Fraction(1, 10)
_LENGTH = 4
# Busy for long, then so quiet that the sum of the last twelve is just below 60.
_EMPTIED = (8,) * 64 + (5,) * 11 + (4,)


def subjects() -> tuple[Subject, ...]:
    turns = Pair("the first count one more, the others low and high by turns", (2, *_TURNS), (3, *_TURNS))
    fourth = Pair("the fourth of five counts", (4, 0, 10, 31, 12), (4, 0, 10, 32, 12))
    unit = Pair("one unit more in one step", (3, 0, 2, 5, 1, 0, 0, 2), (3, 0, 2, 6, 1, 0, 0, 2))
    twice = Pair("a unit more in two states of the second step", ((1, 0, 1), 1), ((1, 0, 1), None))
    last = Pair("four counts, the last of them one more", (0, 0, 0, 3), (0, 0, 0, 4))
    return (
        by_samples(broken_grouper_restarts, last, charged=_TERMS.epsilon, samples=5_000),
        by_samples(broken_grouper_never_closes, turns, charged=_TERMS.epsilon, samples=3_000),
        by_law(broken_grouper_sensitivity, fourth, charged=_TERMS.epsilon, missing=1e-12),
        by_errors(broken_smoothed_alarm, _MISS_RATE, ("a busy place that has emptied", _EMPTIED)),
        by_errors(broken_alarm_one_off, _MISS_RATE, ("a count just below the threshold", (59,))),
        by_samples(broken_tree_one_level, unit, samples=MOST_SAMPLES),
        by_samples(broken_tree_same_noise, unit, samples=MOST_SAMPLES),
        by_samples(broken_stream_of_many_states, twice, samples=6_000),
    )


def broken_grouper_restarts(counts: Counts, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Charge one sparse vector, although each restart is a further one on the same counts.

    The output is how often the last step joined its group.
    """
    again = marks(_TERMS, counts, runs * _RESTARTS, entropy)
    return np.asarray((again[:, -1] == JOINS).reshape(runs, _RESTARTS).sum(axis=1))


def broken_grouper_never_closes(counts: Counts, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Give any number of answers "above", although one is charged.

    The output is how many of the low steps and how many of the high ones stood alone.
    """
    sparse = _TERMS.sparse
    fixed = _TERMS.theta + sparse.offset
    cutoffs = (geometric_draws(sparse.threshold_rate, runs, entropy) + fixed).tolist()
    noise = geometric_draws(sparse.query_rate, runs * len(_TURNS), entropy).reshape(runs, -1).tolist()
    rows = [_alone(counts, cutoff, blur) for cutoff, blur in zip(cutoffs, noise, strict=True)]
    return np.asarray(np.array(rows).reshape(runs, -1, 2).sum(axis=1))


def _alone(counts: Counts, cutoff: int, noise: list[int]) -> list[bool]:
    group, above = OpenGroup.of(cutoff, {counts[0]: 1}), []
    for count, blur in zip(counts[1:], noise, strict=True):
        before = dict(group.copies)
        above.append(group.add(count) + blur >= cutoff)
        if above[-1]:
            group = OpenGroup.of(cutoff, before)  # the fault: the group should end here
    return above


def broken_grouper_sensitivity(counts: Counts) -> Mapping[Hashable, float]:
    """Draw both noises half as wide as a deviation needs."""
    return marks_law(counts, _narrow(grouper_terms(1, 33)))


def _narrow(terms: GrouperTerms) -> GrouperTerms:
    sparse = terms.sparse
    rates = 2 * sparse.threshold_rate, 2 * sparse.query_rate
    return replace(terms, sparse=replace(sparse, threshold_rate=rates[0], query_rate=rates[1]))


def broken_smoothed_alarm(counts: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Compare smoothed counts, which err to one side because they remember. An error: it does not ring."""
    low = alarm("low", 60, 12, ONE, _MISS_RATE, _ALARM_RATE)
    noisy = perturb(side_by_side(counts, runs), ONE, entropy)
    smooth = AdaptiveSmoother(runs, ONE).steps(noisy)
    return ~low.judged(smooth[-low.window :].sum(axis=0))


def broken_alarm_one_off(counts: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Use one less than the least u with P[N >= u] <= rate. An error: it does not ring."""
    low = alarm("low", 60, 1, ONE, _MISS_RATE, _ALARM_RATE)
    short = replace(low, shift=low.shift - 1)
    return ~short.judged(perturb(side_by_side(counts, runs), ONE, entropy)[-1])


def broken_tree_one_level(counts: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Charge one node, although a step is in three."""
    first, second = (stretches(_nodes(runs, 1, entropy)) for _ in range(2))
    return _shown(counts, runs, np.concatenate([first[0], first[1] + second[0]]))


def broken_tree_same_noise(counts: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Use the noise of a window again, so that the difference of two windows is exact."""
    begins, ends = stretches(_nodes(runs, _LENGTH.bit_length(), entropy))
    return _shown(counts, runs, np.concatenate([begins, ends + begins]))


def _nodes(runs: int, levels: int, entropy: Entropy) -> NDArray[np.int64]:
    nodes = 2 * _LENGTH - 1
    return np.asarray(discrete_laplace(ONE, nodes * runs, levels, entropy)).reshape(nodes, runs)


def _shown(counts: tuple[int, ...], runs: int, noise: NDArray[np.int64]) -> NDArray[np.int64]:
    windows = [sum(counts[max(0, t + 1 - _LENGTH) : t + 1]) for t in range(len(counts))]
    return np.asarray((side_by_side(tuple(windows), runs) + noise).T)


def broken_stream_of_many_states(day: Day, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Draw noise that hides a unit in one state, although it counts in two."""
    return released(replace(declared("laplace"), max_states_per_unit=1), day, runs, entropy)
