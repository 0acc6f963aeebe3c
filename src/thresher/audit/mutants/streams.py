"""Broken groupers of streams: a restart that draws anew for nothing, a group that never ends, too little noise.

Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

from collections.abc import Hashable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from thresher.audit.shipped.streams import Counts, marks, marks_law
from thresher.audit.subjects import Enumerated, Pair, Sampled, Subject
from thresher.noise import Entropy
from thresher.noise.laplace import geometric_draws
from thresher.streams.group_deviation import Group
from thresher.streams.grouper import GrouperTerms, grouper_terms
from thresher.streams.step_release import JOINS

_TERMS = grouper_terms(1, 5)
_RESTARTS = 64
_TURNS = (0, 4) * 32


def subjects() -> tuple[Subject, ...]:
    return (
        Sampled(
            "broken_grouper_restarts",
            "a restart keeps the counts of the open group, and runs it again with noise drawn anew",
            _TERMS.epsilon,
            (Pair("four counts, the last of them one more", (0, 0, 0, 3), (0, 0, 0, 4)),),
            broken_grouper_restarts,
            samples=5_000,
        ),
        Sampled(
            "broken_grouper_never_closes",
            "a step that is above stands alone, and the group goes on with the cutoff it has",
            _TERMS.epsilon,
            (Pair("the first count one more, the others low and high by turns", (2, *_TURNS), (3, *_TURNS)),),
            broken_grouper_never_closes,
            samples=3_000,
        ),
        Enumerated(
            "broken_grouper_sensitivity",
            "noise as if one unit moved a deviation by one",
            _TERMS.epsilon,
            (Pair("the fourth of five counts", (4, 0, 10, 31, 12), (4, 0, 10, 32, 12)),),
            broken_grouper_sensitivity,
            missing=1e-12,
        ),
    )


def broken_grouper_restarts(counts: Counts, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """What is wrong: each restart is a sparse vector of its own on the same counts; one is charged.

    The output is how often the last step joined its group.
    """
    again = marks(_TERMS, counts, runs * _RESTARTS, entropy)
    return np.asarray((again[:, -1] == JOINS).reshape(runs, _RESTARTS).sum(axis=1))


def broken_grouper_never_closes(counts: Counts, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """What is wrong: one answer "above" is paid for, and any number of them is given.

    The output is how many of the low steps and how many of the high ones stood alone.
    """
    sparse = _TERMS.sparse
    line = _TERMS.theta + sparse.offset
    cutoffs = (geometric_draws(sparse.threshold_rate, runs, entropy) + line).tolist()
    noise = geometric_draws(sparse.query_rate, runs * len(_TURNS), entropy).reshape(runs, -1).tolist()
    rows = [_alone(counts, cutoff, blur) for cutoff, blur in zip(cutoffs, noise, strict=True)]
    return np.asarray(np.array(rows).reshape(runs, -1, 2).sum(axis=1))


def _alone(counts: Counts, cutoff: int, noise: list[int]) -> list[bool]:
    group, above = Group.of(cutoff, {counts[0]: 1}), []
    for count, blur in zip(counts[1:], noise, strict=True):
        before = dict(group.copies)
        above.append(group.add(count) + blur >= cutoff)
        if above[-1]:
            group = Group.of(cutoff, before)  # the slip: it should end here
    return above


def broken_grouper_sensitivity(counts: Counts) -> Mapping[Hashable, float]:
    """What is wrong: both noises are half as wide as a deviation needs."""
    return marks_law(counts, _narrow(grouper_terms(1, 33)))


def _narrow(terms: GrouperTerms) -> GrouperTerms:
    sparse = terms.sparse
    rates = 2 * sparse.threshold_rate, 2 * sparse.query_rate
    return replace(terms, sparse=replace(sparse, threshold_rate=rates[0], query_rate=rates[1]))
