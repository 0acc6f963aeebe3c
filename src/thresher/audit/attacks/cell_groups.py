"""Cells of a histogram put in order of their counts by what a threshold tester says about their differences.

The tester is asked, for every two cells, whether count[u] - count[v] >= its noisy threshold, which is the same for all.
The cells u for which it says yes are larger(v). They depend on count[v] only and shrink as it grows, so cells belong
together exactly if as many are larger than each: one sort and one search tell what all pairs of questions would.
Reads: counts. Writes: nothing. Never: a draw; a pair of cells looked at by itself.
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
# So that sums keep their last digit where means are taken.
_MOST_TOTAL = 1 << 51
# Neighbours in a row of noisy scores that are so many standard deviations apart do not belong together.
_CLEAR_GAP = 3.0
# Answers that never varied may still do so: one in a few hundred would not have been seen.
_LEAST_VARIANCE = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """An ordered partition: `labels` says for each cell to which group it belongs, 0 being that of the least counts.

    If the tester answers without noise of its own, counts in a group are below those of the next, always.
    """

    labels: Whole
    order: Whole
    sizes: Whole

    def totals(self, counts: Whole) -> Whole:
        """The sum of the counts of every group."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        return np.add.reduceat(counts[self.order], starts)


def ordered_groups(counts: ArrayLike, noisy_threshold: Amount, *, both_ways: bool = False) -> Groups:
    """The groups that the answers to all differences give, for one noisy threshold and no other noise.

    A cell is compared with itself too, which matters only if the noisy threshold is 0 or less. `both_ways`: cells
    belong together if, besides, each is larger than as many others. The answers are the same ones, read twice.
    Counts are whole, so only the next whole number from the noisy threshold upwards matters.
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
    """How many cells are larger by `cutoff` or more than each distinct count; `first`: where these begin in order."""
    from_here = np.concatenate([first, [cells]])
    return cells - from_here[np.searchsorted(distinct, distinct + cutoff, side="left")]


def grouped_by_scores(scores: Reals, variances: Reals, step: float) -> Groups:
    """Groups from scores that grow with the count but are noisy: a new one begins after every clear gap.

    `variances` are those of the scores, as far as the attacker can tell, and `step` is the least by which one more in
    the count raises a score on average, as a multiple of its variance. A gap is clear if it is wider than three
    standard deviations and than half of such a step. What overlaps stays together, so groups may be coarse; and now
    and then a cell ends up in the wrong one.
    """
    order = np.argsort(scores, kind="stable")
    spread = np.maximum(variances[order][1:], variances[order][:-1]) + _LEAST_VARIANCE
    clear = np.maximum(_CLEAR_GAP * np.sqrt(spread), step * spread / 2)
    return _grouped(order, np.flatnonzero(np.concatenate([[True], np.diff(scores[order]) > clear])))


def checked_cell_counts(counts: ArrayLike) -> Whole:
    """Counts as whole numbers, 0 or more, one for each cell."""
    cells = checked_integers(counts, "counts")
    if cells.ndim != 1 or not cells.size:
        rule = "it must be one list of the counts of one cell or more"
        raise ArgumentError("counts", f"{cells.ndim} dimensions, {cells.size} cells", rule, "Pass an int64 array")
    if cells.min() < 0 or cells.max() > _MOST_TOTAL // cells.size:
        rule = "counts must be 0 or more and add up to less than 2**51"
        raise ArgumentError("counts", f"{cells.size} cells", rule, "Pass a histogram")
    return np.asarray(cells)


def _whole_cutoff(noisy_threshold: Fraction) -> int:
    """Whole differences reach the threshold exactly if they reach this."""
    return max(-_FURTHEST, min(math.ceil(noisy_threshold), _FURTHEST))


def _grouped(order: Whole, starts: Whole) -> Groups:
    sizes = np.diff(np.concatenate([starts, [order.size]]))
    labels = np.empty(order.size, dtype=np.int64)
    labels[order] = np.repeat(np.arange(sizes.size), sizes)
    return Groups(labels, order, sizes)
