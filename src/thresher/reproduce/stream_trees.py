"""Errors of private counts at all nodes of a binary tree of streams, level by level, and at the busiest nodes.

The mean over all nodes is mostly one over nearly empty ones, where saying 0 is hard to beat; so levels stand apart.
Reads: public or made-up streams, entropy. Writes: nothing. Never: protected data; errors are counted against truth.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from thresher.amounts import exact_fraction
from thresher.noise import Entropy
from thresher.reproduce.stream_data import Counts, StreamSet
from thresher.reproduce.stream_draws import EPSILONS
from thresher.reproduce.stream_windows import Values
from thresher.reproduce.streams import LAPLACE, THETAS, ZERO
from thresher.streams.hierarchy import Hierarchy
from thresher.streams.tree import Tree

BUSY = 16
_GROUPS = "0.2"


@dataclass(frozen=True, slots=True)
class TreeError:
    """One method at one epsilon: mean absolute errors over steps and nodes, all of them, by level, the busiest."""

    data: str
    epsilon: str
    method: str
    nodes: float
    spread: float
    levels: tuple[float, ...]
    busy: float


def tree_errors(data: StreamSet, trials: Trials) -> list[TreeError]:
    """All methods on the binary tree above the series of a set at each epsilon."""
    tree = binary_tree(data.series)
    truth = tree.sums(data.counts)
    busy, found = np.argsort(-truth.sum(axis=0), kind="stable")[:BUSY], []
    for epsilon in trials.epsilons:
        for method in METHODS:
            trials.progress(f"{data.name}, tree, epsilon {epsilon}, {method}")
            runs = [_errors(data.counts, tree, epsilon, method, trials.entropy) for _ in range(trials.runs)]
            (nodes,), (spread,) = trials.means([run.mean() for run in runs])
            errors = np.mean(runs, axis=0)
            levels = tuple(float(errors[tree.level(level)].mean()) for level in range(1, tree.height + 1))
            found.append(TreeError(data.name, epsilon, method, nodes, spread, levels, float(errors[busy].mean())))
    return found


def binary_tree(leaves: Sequence[str]) -> Tree:
    """Two and two side by side, up to one root; their number must be a power of two."""
    row, children = list(leaves), {}
    if len(row) < 2 or len(row) & (len(row) - 1):
        raise ArgumentError("leaves", len(row), "there must be 2, 4, 8, ... of them", "Leave some out")
    while len(row) > 1:
        pairs = list(zip(row[::2], row[1::2], strict=True))
        row = [f"{len(row) // 2}-{i}" for i in range(len(pairs))]
        children |= dict(zip(row, pairs, strict=True))
    return Tree.of(children)


def released(counts: Counts, tree: Tree, epsilon: str, method: str, entropy: Entropy) -> Values:
    """What a method says of all nodes at all steps. A node that was not looked at counts 0."""
    prune, theta = METHODS[method]
    share = _GROUPS if theta else "0"
    groups = exact_fraction(epsilon, "epsilon") * exact_fraction(share, "share") / tree.height
    line = theta / groups if theta else None
    hierarchy = Hierarchy(tree, epsilon, share, line, prune, entropy=entropy)
    drawn = hierarchy.steps(counts)
    if not theta:
        return np.stack([step.noisy for step in drawn]).astype(np.float64)
    ...
