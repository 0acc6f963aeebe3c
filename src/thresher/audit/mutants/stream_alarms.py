"""Broken streams: alarms that miss more often than they promise, trees of windows that forget what a step costs.

Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.subjects import Pair, Promised, Sampled, Subject
from thresher.noise import Entropy, discrete_laplace
from thresher.streams.alarm_lines import alarm
from thresher.streams.perturber import perturb
from thresher.streams.smoothers import AdaptiveSmoother
from thresher.streams.tree_windows import stretches

_EPSILON = Epsilon(1)
_MISS_RATE, _ALARM_RATE = Fraction(1, 20), Fraction(1, 10)
_LENGTH = 4
_RUNS = 20_000
# Busy for long, then so quiet that the sum of the last twelve is just below 60.
_EMPTIED = (8,) * 64 + (5,) * 11 + (4,)


def subjects() -> tuple[Subject, ...]:
    quiet = (3, 0, 2, 5, 1, 0, 0, 2)
    more = (3, 0, 2, 6, 1, 0, 0, 2)
    return (
        Promised(
            "broken_smoothed_alarm",
            "the line of an alarm, held against smoothed counts; misses",
            _MISS_RATE,
            (("a busy place that has emptied", _EMPTIED),),
            broken_smoothed_alarm,
            _RUNS,
        ),
        Promised(
            "broken_alarm_one_off",
            "an alarm whose line allows for noise of u, not u + 1; misses",
            _MISS_RATE,
            (("a count just below the threshold", (59,)),),
            broken_alarm_one_off,
            _RUNS,
        ),
        Sampled(
            "broken_tree_one_level",
            "windows of a tree, each node with the noise of a single release",
            _EPSILON,
            (Pair("one unit more in one step", quiet, more),),
            broken_tree_one_level,
        ),
        Sampled(
            "broken_tree_same_noise",
            "windows of a tree whose noise is drawn once and used for every block",
            _EPSILON,
            (Pair("one unit more in one step", quiet, more),),
            broken_tree_same_noise,
        ),
    )


def broken_smoothed_alarm(counts: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """What is wrong: smoothed counts stray by less, but to one side: they remember. Erred: it does not ring."""
    low = alarm("low", 60, 12, _EPSILON, _MISS_RATE, _ALARM_RATE)
    noisy = perturb(_side_by_side(counts, runs), _EPSILON, entropy)
    smooth = AdaptiveSmoother(runs, _EPSILON).steps(noisy)
    return ~low.judged(smooth[-low.window :].sum(axis=0))


def broken_alarm_one_off(counts: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """What is wrong: the least u with P[N >= u] <= rate, less one. Erred: it does not ring."""
    low = alarm("low", 60, 1, _EPSILON, _MISS_RATE, _ALARM_RATE)
    short = replace(low, shift=low.shift - 1)
    return ~short.judged(perturb(_side_by_side(counts, runs), _EPSILON, entropy)[-1])


def broken_tree_one_level(counts: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """What is wrong: a step is in three nodes, and pays for one."""
    first, second = (stretches(_nodes(runs, 1, entropy)) for _ in range(2))
    return _shown(counts, runs, np.concatenate([first[0], first[1] + second[0]]))


def broken_tree_same_noise(counts: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """What is wrong: where the noise of a window comes again, the difference of the two is exact."""
    begins, ends = stretches(_nodes(runs, _LENGTH.bit_length(), entropy))
    return _shown(counts, runs, np.concatenate([begins, ends + begins]))


def _nodes(runs: int, levels: int, entropy: Entropy) -> NDArray[np.int64]:
    nodes = 2 * _LENGTH - 1
    return np.asarray(discrete_laplace(_EPSILON, nodes * runs, levels, entropy)).reshape(nodes, runs)


def _shown(counts: tuple[int, ...], runs: int, noise: NDArray[np.int64]) -> NDArray[np.int64]:
    windows = [sum(counts[max(0, t + 1 - _LENGTH) : t + 1]) for t in range(len(counts))]
    return np.asarray((_side_by_side(tuple(windows), runs) + noise).T)


def _side_by_side(counts: tuple[int, ...], runs: int) -> NDArray[np.int64]:
    return np.repeat(np.array(counts, dtype=np.int64)[:, None], runs, axis=1)
