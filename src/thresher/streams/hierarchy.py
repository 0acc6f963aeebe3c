"""Noisy counts of all nodes of a tree at each step, with groups of similar steps: HS-PGS, with provable pruning.

    none       each node is measured at its level's share of epsilon
    estimate   a node whose estimate, with the count just released, is below a cutoff is measured once more, at what
               its descendants would have cost on a path; they are not looked at
    history    the same, but earlier releases decide, so that the node is measured once, at the whole amount

Decisions use released numbers only, so they are free. PRUNE as printed tests true counts and loses up to 3.5 times
what it charges; the audit has it among the broken mechanisms.
Reads: true counts of leaves, entropy. Writes: nothing. Never: a decision by a true count. Proof: `hierarchy.md`.
"""

import struct
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import NANO, Amount, Epsilon
from thresher.errors import ArgumentError, BugError
from thresher.noise import Entropy
from thresher.noise.entropy import chosen
from thresher.streams.group_deviation import MOST_LONGEST
from thresher.streams.grouper import Grouper, grouper_terms
from thresher.streams.hierarchy_terms import Prune, combined_terms, hierarchy_terms, noise_precision, quotient
from thresher.streams.perturber import NoiseAhead
from thresher.streams.step_release import JOINS, NoisyStep
from thresher.streams.tree import Tree


class Hierarchy:
    """Release counts of all nodes of a tree, step by step.

    Privacy: adding or removing one unit at one leaf in one step loses `self.epsilon`, which is at most the argument. A
    unit that may be at k leaves of a step loses k times that: divide epsilon by k beforehand.
    Utility: the count of a node that is looked at is unbiased. Its noise has scale height / (epsilon (1 - share)), or
    less if its children are pruned; `combined_terms` weighs two measurements of one node.
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
        longest: int = MOST_LONGEST,
        entropy: Entropy | None = None,
    ) -> None:
        if not isinstance(tree, Tree):
            raise ArgumentError("tree", type(tree).__name__, "it must be a Tree", "Make one with Tree.of")
        self.tree, self.terms = tree, hierarchy_terms(tree.height, epsilon, grouper_share, prune, cutoff)
        source, nodes, widths = chosen(entropy), len(tree.names), np.diff(tree.starts).tolist()
        self.stamp = source.stamp
        self._noise = NoiseAhead(nodes, Fraction(self.terms.count_nano, NANO), source)
        self._more_noise = tuple(
            NoiseAhead(width, Fraction(self._more_nano(level), NANO), source)
            for level, width in enumerate(widths[:-1], start=1)
        )
        self._groupers: tuple[Grouper, ...] = ()
        if self.terms.group_nano:
            groups = grouper_terms(Fraction(self.terms.group_nano, NANO), theta, longest=longest)
            self._groupers = tuple(Grouper(width, groups, source) for width in widths)
        self._above = np.array(tree.parents)
        # For the open group of each node, from released counts: the sum of precisions, and of counts times precisions.
        self._precision, self._weighed = np.zeros(nodes), np.zeros(nodes)

    @property
    def epsilon(self) -> Epsilon:
        return self.terms.epsilon

    def steps(self, counts: NDArray[np.int64]) -> list[NoisyStep]:
        """Release the next steps. Counts of leaves are (steps, leaves), with columns in the order of `tree.leaves`."""
        known = self.tree.sums(counts)
        noisy = known + self._noise.take(len(known))
        if self.terms.prune == "none":
            return self._plain(known, noisy)
        better = known.copy()
        for level, noise in enumerate(self._more_noise, start=1):
            better[:, self.tree.level(level)] += noise.take(len(known))
        return [self._pruned(*rows) for rows in zip(known, noisy, better, strict=True)]

    def combined(self, drawn: NoisyStep) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return each node's count by all its measurements of one step, and its weight: see `combined_terms`."""
        return combined_terms(drawn, self.terms.count_nano)

    def close(self) -> None:
        """End all groups; the next step of each node opens one."""
        for grouper in self._groupers:
            grouper.close()

    def secrets(self) -> bytes:
        """Return what the next step goes on from: the groupers' secrets, and sums of released counts. Seal it."""
        parts = [grouper.secrets() for grouper in self._groupers]
        parts += [self._precision.astype("<f8").tobytes(), self._weighed.astype("<f8").tobytes()]
        return b"".join(struct.pack("<Q", len(part)) + part for part in parts)

    def restore(self, secrets: bytes) -> None:
        """Continue a hierarchy of the same tree and terms, which must not be used again."""
        parts = _parts(secrets)
        if len(parts) != len(self._groupers) + 2 or {len(part) for part in parts[-2:]} != {8 * len(self.tree.names)}:
            raise BugError("the secrets are not those of a hierarchy of this tree and terms")
        for grouper, part in zip(self._groupers, parts[:-2], strict=True):
            grouper.restore(part)
        self._precision, self._weighed = (np.frombuffer(part, dtype="<f8").astype(np.float64) for part in parts[-2:])

    def _plain(self, known: NDArray[np.int64], noisy: NDArray[np.int64]) -> list[NoisyStep]:
        """Measure each node."""
        if not self._groupers:
            return [NoisyStep(row) for row in noisy]
        marks = np.empty(known.shape, dtype=np.int8)
        for level, grouper in enumerate(self._groupers, start=1):
            at = self.tree.level(level)
            marks[:, at] = grouper.steps(known[:, at])
        return [NoisyStep(*rows) for rows in zip(noisy, marks, strict=True)]

    def _pruned(self, known: NDArray[np.int64], noisy: NDArray[np.int64], better: NDArray[np.int64]) -> NoisyStep:
        """Release one step from the root down. `noisy` and `better` are the two measurements that a node may have."""
        early = self.terms.prune == "history"
        first, nano, second, more_nano = (np.zeros_like(known) for _ in range(4))
        marks = np.zeros(known.shape, dtype=np.int8) if self._groupers else None
        looked_at = np.ones(1, dtype=np.bool_)
        for level in range(1, self.tree.height + 1):
            at = self.tree.level(level)
            ends = self._below_cutoff(level, looked_at) if early else np.zeros_like(looked_at)
            first[at] = np.where(looked_at, np.where(ends, better[at], noisy[at]), 0)
            nano[at] = np.where(looked_at, np.where(ends, self._more_nano(level), self.terms.count_nano), 0)
            opened = looked_at
            if marks is not None:
                marks[at] = self._groupers[level - 1].steps(known[None, at], looked_at[None])[0]
                opened = looked_at & (marks[at] != JOINS)
            self._precision[at][opened] = self._weighed[at][opened] = 0.0
            self._learn(at, first[at], nano[at])
            if not early:
                ends = self._below_cutoff(level, looked_at)
                second[at], more_nano[at] = np.where(ends, better[at], 0), np.where(ends, self._more_nano(level), 0)
                self._learn(at, second[at], more_nano[at])
            if level < self.tree.height:
                looked_at = (looked_at & ~ends)[self._above[self.tree.level(level + 1)] - at.start]
        return NoisyStep(first, marks, nano) if early else NoisyStep(first, marks, nano, second, more_nano)

    def _below_cutoff(self, level: int, looked_at: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Say which nodes have their children pruned: none of which nothing was released, and no leaf."""
        if level == self.tree.height:
            return np.zeros_like(looked_at)
        at = self.tree.level(level)
        estimate = quotient(self._weighed[at], self._precision[at], np.inf)
        return looked_at & (estimate < self.terms.cutoff)

    def _learn(self, at: slice, counts: NDArray[np.int64], nano: NDArray[np.int64]) -> None:
        precise = noise_precision(nano)
        self._precision[at] += precise
        self._weighed[at] += precise * counts

    def _more_nano(self, level: int) -> int:
        """Return the nano-epsilon of the measurement of a node whose children are known to be pruned."""
        return self.terms.saved_nano(level) + (self.terms.count_nano if self.terms.prune == "history" else 0)


def _parts(secrets: bytes) -> list[bytes]:
    parts, start = [], 0
    while start + 8 <= len(secrets):
        (length,) = struct.unpack_from("<Q", secrets, start)
        parts.append(secrets[start + 8 : start + 8 + length])
        start += 8 + length
    return parts if start == len(secrets) else []
