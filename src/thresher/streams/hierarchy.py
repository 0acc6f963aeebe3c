"""Noisy counts of all nodes of a tree, every step, and groups of similar steps at each: HS-PGS, with provable pruning.

    none       every node is measured at its level's share of epsilon
    estimate   a node whose estimate is below a cutoff, by its count just released, is measured once more with all that
               its descendants would have cost on a path; they are not looked at
    history    the same, decided by what was released before, so that the node is measured once, with all of it

Decisions are made of released numbers only and cost nothing. PRUNE as printed tests true counts and loses up to 3.5
times what it charges; it is among the audit's broken mechanisms.
Reads: true counts of leaves, entropy. Writes: nothing. Never: a decision made of a true count. Proof: `hierarchy.md`.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import NANO, Amount, Epsilon
from thresher.errors import ArgumentError
from thresher.noise import Entropy
from thresher.noise.entropy import chosen
from thresher.streams.drawn import Drawn
from thresher.streams.hierarchy_terms import Prune, hierarchy_terms, precision
from thresher.streams.noise_ahead import NoiseAhead
from thresher.streams.tree import Tree


class Hierarchy:
    """Releases counts of all nodes of a tree, step by step.

    Privacy: `epsilon`, at most what was asked for, per step and leaf: towards one unit more or less at one leaf in one
    step. A unit that may be at k leaves of a step loses k times that: divide epsilon by k beforehand.
    Utility: the count of a node that is looked at is unbiased, its noise of scale height / (epsilon (1 - share)) or, if
    its children are pruned, less; `combined` weighs what was measured twice.
    Runtime: linear in steps times nodes.
    Citations: Chen 2018, Section 5.5, its pruning replaced.
    """

    def __init__(
        self,
        tree: Tree,
        epsilon: Amount,
        grouper_share: Amount = "0.2",
        theta: Amount | None = None,
        prune: Prune = "none",
        *,
        cutoff: Amount | None = None,
        entropy: Entropy | None = None,
    ) -> None:
        if not isinstance(tree, Tree):
            raise ArgumentError("tree", type(tree).__name__, "it must be a Tree", "Make one with Tree.of")
        self.tree, self.terms = tree, hierarchy_terms(tree.height, epsilon, grouper_share, prune, cutoff)
        source, nodes = chosen(entropy), len(tree.names)
        self.stamp = source.stamp
        self._noise = NoiseAhead(nodes, Fraction(self.terms.count_nano, NANO), source)
        self._more_noise = tuple(
            NoiseAhead(tree.starts[level] - tree.starts[level - 1], Fraction(self._more_nano(level), NANO), source)
            for level in range(1, tree.height)
        )
        # Of each node's open group, all of it released: the sum of precisions, and of counts times precisions.
        self._precision, self._weighed = np.zeros(nodes), np.zeros(nodes)

    @property
    def epsilon(self) -> Epsilon:
        return self.terms.epsilon

    def steps(self, counts: NDArray[np.int64]) -> list[Drawn]:
        """What is released of each step. Counts of leaves: (steps, leaves), columns in the order of `tree.leaves`."""
        known = self.tree.sums(counts)
        noisy = known + self._noise.take(len(known))
        if self.terms.prune == "none":
            return [Drawn(row) for row in noisy]
        better = known.copy()
        for level, noise in enumerate(self._more_noise, start=1):
            better[:, self.tree.level(level)] += noise.take(len(known))
        return [self._pruned(*rows) for rows in zip(known, noisy, better, strict=True)]

    def combined(self, drawn: Drawn) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Each node's count by all its measurements of one step, and its precision: one over its variance.

        A node that was not looked at has the value 0 and the precision 0.
        """
        nano = np.full(drawn.noisy.shape, self.terms.count_nano) if drawn.nano is None else drawn.nano
        total, weighed = precision(nano), precision(nano) * drawn.noisy
        if drawn.more is not None and drawn.more_nano is not None:
            total, weighed = total + precision(drawn.more_nano), weighed + precision(drawn.more_nano) * drawn.more
        return _quotient(weighed, total, 0.0), total

    def _pruned(self, known: NDArray[np.int64], noisy: NDArray[np.int64], better: NDArray[np.int64]) -> Drawn:
        """One step from the root down. `noisy` and `better` hold the two measurements a node may be shown by."""
        early = self.terms.prune == "history"
        first, nano, second, more_nano = (np.zeros_like(known) for _ in range(4))
        looked_at = np.ones(1, dtype=np.bool_)
        for level in range(1, self.tree.height + 1):
            at = self.tree.level(level)
            ends = self._below_cutoff(level, looked_at) if early else np.zeros_like(looked_at)
            first[at] = np.where(looked_at, np.where(ends, better[at], noisy[at]), 0)
            nano[at] = np.where(looked_at, np.where(ends, self._more_nano(level), self.terms.count_nano), 0)
            self._forget(at, looked_at)
            self._learn(at, first[at], nano[at])
            if not early:
                ends = self._below_cutoff(level, looked_at)
                second[at], more_nano[at] = np.where(ends, better[at], 0), np.where(ends, self._more_nano(level), 0)
                self._learn(at, second[at], more_nano[at])
            if level < self.tree.height:
                below = self.tree.level(level + 1)
                looked_at = (looked_at & ~ends)[np.array(self.tree.parents[below]) - at.start]
        return Drawn(first, None, nano) if early else Drawn(first, None, nano, second, more_nano)

    def _below_cutoff(self, level: int, looked_at: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which nodes have their children pruned. A node of which nothing is known has not; a leaf has none."""
        if level == self.tree.height:
            return np.zeros_like(looked_at)
        at = self.tree.level(level)
        estimate = _quotient(self._weighed[at], self._precision[at], np.inf)
        return looked_at & (estimate < self.terms.cutoff)

    def _forget(self, at: slice, opened: NDArray[np.bool_]) -> None:
        self._precision[at][opened] = self._weighed[at][opened] = 0.0

    def _learn(self, at: slice, counts: NDArray[np.int64], nano: NDArray[np.int64]) -> None:
        self._precision[at] += precision(nano)
        self._weighed[at] += precision(nano) * counts

    def _more_nano(self, level: int) -> int:
        """What is spent on a node whose children are pruned, in the measurement that knows it."""
        return self.terms.saved_nano(level) + (self.terms.count_nano if self.terms.prune == "history" else 0)


def _quotient(above: NDArray[np.float64], below: NDArray[np.float64], missing: float) -> NDArray[np.float64]:
    return np.divide(above, below, out=np.full_like(below, missing), where=below > 0)
