"""Hierarchies of streams on trial: every rule of pruning, with and without groups.

A run is a few steps of a small tree. Runs follow each other in one object, set back to its beginning before each; where
steps depend on nothing before them, a run is one step of a block. The pairs have a count next to the cutoff, so that
the noise decides who is looked at, and the unit on a leaf whose siblings are empty.
Reads: made-up data. Writes: nothing. Never: protected data.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.subjects import Pair, Sampled, Subject
from thresher.noise import Entropy
from thresher.streams.hierarchy import Hierarchy
from thresher.streams.hierarchy_terms import Prune
from thresher.streams.step_release import NoisyStep
from thresher.streams.tree import Tree

_TREE = Tree.of({"all": ["left", "right"], "left": ["hall", "library"], "right": ["gym"]})
_EPSILON = Epsilon(3)
_CUTOFF = 2
# A run of several steps needs a call for itself.
_CALLS = 1_500
_ROWS = 6_000

Steps = tuple[tuple[int, ...], ...]


def subjects() -> tuple[Subject, ...]:
    single = (
        _pair("one more at a leaf next to the cutoff", ((1, 0, 1),)),
        _pair("one more in an empty tree", ((0, 0, 0),)),
    )
    still = (_pair("one more in the second of three steps", ((1, 0, 0),) * 3, 1),)
    turns = (_pair("one more in a step between quieter ones", ((1, 0, 0), (3, 0, 1), (1, 0, 0)), 1),)
    return (
        Sampled("hierarchy, none", "all nodes of a step", _EPSILON, single, _steps("none"), _ROWS),
        Sampled("hierarchy, estimate", "nodes looked at in a step", _EPSILON, single, _steps("estimate"), _ROWS),
        Sampled("hierarchy, estimate, groups", "three steps", _EPSILON, still, _runs("estimate", "0.4"), _CALLS),
        Sampled("hierarchy, history", "three steps", _EPSILON, turns, _runs("history", "0"), _CALLS),
        Sampled("hierarchy, history, groups", "three steps", _EPSILON, turns, _runs("history", "0.4"), _CALLS),
    )


def _pair(about: str, steps: Steps, moved: int = 0) -> Pair:
    more = (steps[moved][0] + 1, *steps[moved][1:])
    return Pair(about, steps, (*steps[:moved], more, *steps[moved + 1 :]))


def _steps(prune: Prune) -> Callable[[Steps, int, Entropy], NDArray[np.int64]]:
    """Runs of one step that depend on nothing before."""

    def run(steps: Steps, runs: int, entropy: Entropy) -> NDArray[np.int64]:
        tree = Hierarchy(_TREE, _EPSILON, 0, prune=prune, cutoff=_CUTOFF, entropy=entropy)
        return np.array([_row([drawn]) for drawn in tree.steps(np.tile(steps, (runs, 1)))])

    return run


def _runs(prune: Prune, share: str) -> Callable[[Steps, int, Entropy], NDArray[np.int64]]:
    """Runs that begin anew, each by a call."""

    def run(steps: Steps, runs: int, entropy: Entropy) -> NDArray[np.int64]:
        theta = None if share == "0" else 2
        tree = Hierarchy(_TREE, _EPSILON, share, theta, prune, cutoff=_CUTOFF, entropy=entropy)
        fresh, counts, found = tree.secrets(), np.array(steps), []
        for _ in range(runs):
            tree.restore(fresh)
            found.append(_row(tree.steps(counts)))
        return np.array(found)

    return run


def _row(drawn: list[NoisyStep]) -> NDArray[np.int64]:
    """All numbers of a run in a row: counts, who was looked at and how, marks."""
    parts = [
        part.astype(np.int64)
        for step in drawn
        for part in (step.noisy, step.nano, step.more, step.more_nano, step.marks)
        if part is not None
    ]
    return np.concatenate(parts)
