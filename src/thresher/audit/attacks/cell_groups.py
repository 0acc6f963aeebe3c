"""Put the cells of a histogram in the order of their counts, by a threshold tester's answers about differences.

The tester is asked, for every two cells, whether count[u] - count[v] >= its noisy threshold, which is the same for all.
The cells u with the answer yes are larger(v). Their number depends on count[v] only and falls as it grows, so cells
with the same number form a group. One sort and one search give the same result as all pairs of questions.
Reads: counts. Writes: nothing. Never: a draw; a loop over pairs of cells.
Citation: Chen, "Applying Differential Privacy with Sparse Vector Technique" (dissertation), Algorithm 6, Theorem 6.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, exact_fraction
from thresher.errors import ArgumentError
from thresher.noise.arguments import checked_integers

Whole = NDArray[np.int64]
Reals = NDArray[np.float64]
_FURTHEST = 1 << 61
# So that sums stay exact as floats.
_MOST_TOTAL = 1 << 51
# Neighbours in a row of noisy scores that are this many standard deviations apart are in different groups.
_CLEAR_GAP = 3.0
# The least variance of a score. Answers that were always the same may still vary once in a few hundred times.
_LEAST_VARIANCE = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Hold an ordered partition: `labels` says for each cell to which group it belongs; group 0 has the least counts.

    If answers have no noise of their own, all counts in a group are below those of the next group.
    """

    labels: Whole
    order: Whole
    sizes: Whole

    def totals(self, counts: Whole) -> Whole:
        """Add up the counts of each group."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        return np.add.reduceat(counts[self.order], starts)


def ordered_groups(counts: ArrayLike, noisy_threshold: Amount, *, both_ways: bool = False) -> Groups:
    """Group cells by the answers to all differences, for one noisy threshold and no other noise.

    A cell is compared with itself too, which matters only if the noisy threshold is 0 or less. `both_ways`: cells of a
    group must also be larger than the same number of others. These are the same answers, read in the other direction.
    Counts are whole, so the noisy threshold acts like the next whole number above it.
    Runtime: one sort.
    """
    cells, cutoff = checked_cell_counts(counts), _whole_cutoff(exact_fraction(noisy_threshold, "noisy_threshold"))
    order = np.argsort(cells, kind="stable")
    ranked = cells[order]
    first = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    distinct = ranked[first]
    changed = np.diff(larger_than(distinct, first, cells.size, cutoff)) != 0
    if both_ways:
        changed |= np.diff(np.searchsorted(distinct, distinct - cutoff, side="right")) != 0
    starts = first[np.concatenate([[True], changed])]
    return _grouped(order, starts)


def larger_than(distinct: Whole, first: Whole, cells: int, cutoff: int) -> Whole:
    """Count the cells that are larger than each distinct count by at least `cutoff`; `first`: where a count begins."""
    from_here = np.concatenate([first, [cells]])
    return cells - from_here[np.searchsorted(distinct, distinct + cutoff, side="left")]


def grouped_by_scores(scores: Reals, variances: Reals, step: float) -> Groups:
    """Group cells by noisy scores that grow with the count: a new group begins after each clear gap.

    `variances` are the attacker's estimates for the scores. `step` is the least increase of a score for one more in the
    count, on average, as a multiple of its variance. A gap is clear if it is wider than three standard deviations and
    wider than half of such a step. Overlapping scores stay together, so groups may be coarse, and now and then a cell
    is in the wrong group.
    """
    order = np.argsort(scores, kind="stable")
    spread = np.maximum(variances[order][1:], variances[order][:-1]) + _LEAST_VARIANCE
    clear = np.maximum(_CLEAR_GAP * np.sqrt(spread), step * spread / 2)
    return _grouped(order, np.flatnonzero(np.concatenate([[True], np.diff(scores[order]) > clear])))


def checked_cell_counts(counts: ArrayLike) -> Whole:
    """Return the counts as whole numbers of 0 or more, one for each cell."""
    cells = checked_integers(counts, "counts")
    if cells.ndim != 1 or not cells.size:
        rule = "it must be one list with a count for each cell, and have a cell"
        raise ArgumentError("counts", f"{cells.ndim} dimensions, {cells.size} cells", rule, "Pass an int64 array")
    if cells.min() < 0 or cells.max() > _MOST_TOTAL // cells.size:
        rule = "counts must be 0 or more and add up to less than 2**51"
        raise ArgumentError("counts", f"{cells.size} cells", rule, "Pass a histogram")
    return np.asarray(cells)


def _whole_cutoff(noisy_threshold: Fraction) -> int:
    """Return the whole number that whole differences reach exactly if they reach the threshold."""
    return max(-_FURTHEST, min(math.ceil(noisy_threshold), _FURTHEST))


def _grouped(order: Whole, starts: Whole) -> Groups:
    sizes = np.diff(np.concatenate([starts, [order.size]]))
    labels = np.empty(order.size, dtype=np.int64)
    labels[order] = np.repeat(np.arange(sizes.size), sizes)
    return Groups(labels, order, sizes)
