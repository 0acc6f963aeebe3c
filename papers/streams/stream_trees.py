"""Measure errors of private counts at all nodes of a binary tree of streams, by level, and at the busiest nodes.

Most nodes are nearly empty, and the answer 0 is hard to beat there; so errors are also given for each level.
Reads: public or made-up streams, entropy. Writes: nothing. Never: protected data; errors are counted against truth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from papers.streams.stream_counts import LAPLACE, PRINTED, WIDE, ZERO
from papers.streams.stream_data import Counts, StreamSet
from papers.streams.stream_draws import Trials
from papers.streams.stream_windows import Values
from thresher.amounts import exact_fraction
from thresher.errors import ArgumentError
from thresher.noise import Entropy
from thresher.streams.hierarchy import Hierarchy
from thresher.streams.hierarchy_terms import Prune
from thresher.streams.median_smoother import MedianSmoother
from thresher.streams.tree import Tree

# The nodes with the largest totals, whatever their level.
BUSY = 16
TREE_STEPS = 6_000
_GROUPS = Fraction(1, 5)
# How children are pruned, and how wide groups may be; 0 for none.
_WAYS: Mapping[str, tuple[Prune, int]] = MappingProxyType(
    {
        LAPLACE: ("none", 0),
        PRINTED: ("none", 5),
        WIDE: ("none", 60),
        "estimate 5": ("estimate", 5),
        "estimate 60": ("estimate", 60),
        "history 5": ("history", 5),
        "history 60": ("history", 60),
    }
)
METHODS = (ZERO, *_WAYS)


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


def tree_errors(data: StreamSet, trials: Trials, methods: Sequence[str] = METHODS) -> list[TreeError]:
    """Measure these methods on the binary tree above the series of a set, at each epsilon."""
    tree = binary_tree(data.series)
    truth = tree.sums(data.counts)
    busy, found = np.argsort(-truth.sum(axis=0), kind="stable")[:BUSY], []
    for epsilon in trials.epsilons:
        for method in methods:
            trials.progress(f"{data.name}, tree, epsilon {epsilon}, {method}")
            runs = [
                np.abs(released(data.counts, tree, epsilon, method, trials.entropy) - truth).mean(axis=0)
                for _ in range(trials.runs)
            ]
            (nodes,), (spread,) = trials.means([run.mean() for run in runs])
            errors = np.mean(runs, axis=0)
            levels = tuple(float(errors[tree.level(level)].mean()) for level in range(1, tree.height + 1))
            found.append(TreeError(data.name, epsilon, method, nodes, spread, levels, float(errors[busy].mean())))
    return found


def binary_tree(leaves: Sequence[str]) -> Tree:
    """Return the tree that joins neighbours in pairs up to one root; the number of leaves must be a power of two."""
    row: list[str] = list(leaves)
    children: dict[str, tuple[str, str]] = {}
    if len(row) < 2 or len(row) & (len(row) - 1):
        raise ArgumentError("leaves", len(row), "their number must be 2, 4, 8, ...", "Leave some out")
    while len(row) > 1:
        pairs = list(zip(row[::2], row[1::2], strict=True))
        row = [f"{len(row) // 2}-{i}" for i in range(len(pairs))]
        children |= dict(zip(row, pairs, strict=True))
    return Tree.of(children)


def released(counts: Counts, tree: Tree, epsilon: str, method: str, entropy: Entropy) -> Values:
    """Return the answers of a method for all nodes at all steps. A node that was not measured counts 0."""
    if method == ZERO:
        return np.zeros((len(counts), len(tree.names)))
    prune, theta = _WAYS[method]
    share = _GROUPS if theta else Fraction(0)
    line = theta * tree.height / (exact_fraction(epsilon, "epsilon") * share) if theta else None
    hierarchy = Hierarchy(tree, epsilon, share, line, prune, entropy=entropy)
    steps = hierarchy.steps(counts)
    values, weights = (np.stack(each) for each in zip(*map(hierarchy.combined, steps), strict=True))
    if not theta:
        return values
    marks = np.stack([step.marks for step in steps if step.marks is not None])
    smoothed = MedianSmoother(len(tree.names), len(counts)).steps(values, marks, weights)
    return np.where(weights > 0, smoothed, 0.0)
