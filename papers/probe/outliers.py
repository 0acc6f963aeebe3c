"""Make groups with several conditions each: counts, thresholds, and public ranges.

For one seed they are the groups that our reference values were measured on, so they are made by the same calls to
numpy's generator. A condition is `count > threshold`. They are data, not noise: no release can reach this file.
Reads: nothing. Writes: nothing. Never: noise.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.question.trees import Tree, holds

GROUPS = 574


Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Counts by condition and group, a threshold and a public range for each condition."""

    counts: Numbers
    thresholds: Numbers
    ranges: Numbers

    def first(self, atoms: int) -> "Counted":
        """Return the first conditions only."""
        return Counted(self.counts[:atoms], self.thresholds[:atoms], self.ranges[:atoms])

    @property
    def slacks(self) -> NDArray[np.int64]:
        """0 or more where the count is above its threshold."""
        return (self.counts - self.thresholds[:, None] - 1).astype(np.int64)

    def arguments(self, tree: Tree) -> tuple[NDArray[np.int64], Tree, list[int], list[int]]:
        """Return slacks, tree, sensitivities and ranges."""
        return self.slacks, tree, [1] * len(self.counts), [int(reach) for reach in self.ranges]

    def truth(self, tree: Tree) -> NDArray[np.bool_]:
        """Tell which groups satisfy the formula."""
        return holds(tree, dict(enumerate(self.slacks >= 0)))


def _beyond(counts: Numbers, deviations: float) -> Numbers:
    """Return thresholds `deviations` standard deviations above the mean, as is usual for outliers."""
    return np.asarray(np.floor(counts.mean(1) + deviations * counts.std(1)))


def occ_like(seed: int = 21, groups: int = GROUPS) -> Counted:
    """Make occupancy: most groups nearly empty, few large; conditions are parts of the count, each with its range."""
    rng, cap = np.random.default_rng(seed), 1000
    size = np.floor(cap * rng.beta(0.35, 2.6, groups)).astype(int)
    parts = np.array([1.0, 0.7, 0.5, 0.3, 0.2, 0.1])
    counts = np.zeros((6, groups))
    for i, part in enumerate(parts):
        kept = np.full(groups, part) if part == 1 else rng.beta(40 * part, 40 * (1 - part), groups)
        counts[i] = rng.binomial(size, kept)
    return Counted(counts, _beyond(counts, 2.0), cap * parts)


def bimodal(seed: int = 33, groups: int = GROUPS) -> Counted:
    """Make 94 % quiet groups and 6 % busy ones; hardly any group is near the thresholds in between."""
    rng, cap = np.random.default_rng(seed), 1000
    hot = rng.random(groups) < 0.06
    share = np.where(hot, rng.uniform(0.8, 1.0, groups), rng.beta(1, 30, groups))
    ranges = cap * np.array([1.0, 0.5, 2.0, 0.25, 1.5, 0.75])
    counts = np.array([np.floor(reach * np.clip(share * rng.uniform(0.95, 1.05, groups), 0, 1)) for reach in ranges])
    return Counted(counts, _beyond(counts, 3.0), ranges)


def uci_like(seed: int = 11, groups: int = GROUPS) -> Counted:
    """Make groups with heavy tails: ranges far above the thresholds."""
    rng = np.random.default_rng(seed)
    size = np.floor(np.exp(rng.normal(5.0, 1.1, groups))).astype(int)
    counts = np.zeros((6, groups))
    for i, part in enumerate([1.0, 0.6, 0.45, 0.35, 0.25, 0.15]):
        kept = part * np.ones(groups) if i == 0 else rng.beta(8 * part, 8 * (1 - part), groups)
        counts[i] = rng.binomial(size, np.clip(kept, 0, 1)) if i > 0 else size
    return Counted(counts, _beyond(counts, 2.0), np.ceil(counts.max(1) / 50) * 50)


def at_threshold(groups: int = GROUPS, at: int = 92, above: int = 10) -> Counted:
    """Make `at` groups exactly at the threshold, which they do not exceed; `above` far above, all others at zero."""
    counts = np.concatenate([np.full(above, 1000.0), np.full(at, 500.0), np.zeros(groups - at - above)])
    return Counted(counts[None, :], np.array([500.0]), np.array([1000.0]))


def adversarial(seed: int = 5, groups: int = GROUPS, above: int = 20) -> Counted:
    """Make groups of which almost all are just below the threshold."""
    rng = np.random.default_rng(seed)
    near, tiny = rng.integers(960, 1000, groups - above - 200), rng.integers(0, 100, 200)
    counts = np.concatenate([np.full(above, 1500.0), near, tiny])
    return Counted(counts[None, :], np.array([1000.0]), np.array([1500.0]))
