"""Try hierarchies of streams: each rule of pruning, with and without groups.

A run is a few steps of a small tree. One object makes all runs and is reset before each; where steps do not depend on
earlier ones, a run is one step of a block. The pairs have a count next to the cutoff, so that the noise decides which
nodes are measured, and the added unit is on a leaf whose siblings are empty.
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
# Each run of several steps needs its own call.
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
        Sampled("hierarchy, estimate", "nodes measured in a step", _EPSILON, single, _steps("estimate"), _ROWS),
        Sampled("hierarchy, estimate, groups", "three steps", _EPSILON, still, _runs("estimate", "0.4"), _CALLS),
        Sampled("hierarchy, history", "three steps", _EPSILON, turns, _runs("history", "0"), _CALLS),
        Sampled("hierarchy, history, groups", "three steps", _EPSILON, turns, _runs("history", "0.4"), _CALLS),
    )


def _pair(about: str, steps: Steps, moved: int = 0) -> Pair:
    more = (steps[moved][0] + 1, *steps[moved][1:])
    return Pair(about, steps, (*steps[:moved], more, *steps[moved + 1 :]))


def _steps(prune: Prune) -> Callable[[Steps, int, Entropy], NDArray[np.int64]]:
    """Make runs of one step that does not depend on earlier ones."""

    def run(steps: Steps, runs: int, entropy: Entropy) -> NDArray[np.int64]:
        tree = Hierarchy(_TREE, _EPSILON, 0, prune=prune, cutoff=_CUTOFF, entropy=entropy)
        return np.array([_row([drawn]) for drawn in tree.steps(np.tile(steps, (runs, 1)))])

    return run


def _runs(prune: Prune, share: str) -> Callable[[Steps, int, Entropy], NDArray[np.int64]]:
    """Make runs of several steps, each from the same beginning."""

    def run(steps: Steps, runs: int, entropy: Entropy) -> NDArray[np.int64]:
        theta = None if share == "0" else 2
        tree = Hierarchy(_TREE, _EPSILON, share, theta, prune, cutoff=_CUTOFF, entropy=entropy)
        fresh, counts, rows = tree.secrets(), np.array(steps), []
        for _ in range(runs):
            tree.restore(fresh)
            rows.append(_row(tree.steps(counts)))
        return np.array(rows)

    return run


def _row(drawn: list[NoisyStep]) -> NDArray[np.int64]:
    """Return all numbers of a run in one row: counts, which nodes were measured and how finely, marks."""
    parts = [
        part.astype(np.int64)
        for step in drawn
        for part in (step.noisy, step.nano, step.more, step.more_nano, step.marks)
        if part is not None
    ]
    return np.concatenate(parts)
