"""Make noisy histograms that adapt to the data: a private partition into flat buckets, then noisy bucket totals.

A part of the budget pays for the partition, the rest for totals measured through a greedy hierarchy; each total is
spread evenly over its bucket. A table is laid out along Hilbert's curve first.
Reads: counts, entropy. Writes: nothing. Never: a step that the budget does not pay for. Proof: `dawa.md`.
Citation: Li, Hay, Miklau, Wang, "A Data- and Workload-Aware Algorithm for Range Queries", 2014 (DAWA).
"""

from fractions import Fraction
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction
from thresher.errors import ArgumentError
from thresher.mechanisms.histograms.deviations import LONGEST
from thresher.mechanisms.histograms.estimate import NoisyHistogram, checked_counts, checked_epsilon
from thresher.mechanisms.histograms.greedy_hierarchy import checked_workload, greedy_shares, measured_totals
from thresher.mechanisms.histograms.hilbert import hilbert_order
from thresher.mechanisms.histograms.partition_argmin import PENALTY, partition_by_argmin
from thresher.mechanisms.histograms.partition_law import partition_by_law
from thresher.noise import Entropy
from thresher.noise.entropy import chosen

PARTITIONS = ("law", "argmin")
_SHARE = Fraction(1, 4)

Kind = TypeVar("Kind", bound=np.generic)


def dawa(
    counts: ArrayLike,
    epsilon: Amount,
    *,
    partition: Literal["law", "argmin"] = "law",
    workload: Literal["prefix", "identity"] = "prefix",
    share: Amount = _SHARE,
    longest: int = LONGEST,
    entropy: Entropy | None = None,
) -> NoisyHistogram:
    """Divide the cells into buckets that look flat, then measure the totals of the buckets.

    `partition`: "law" draws it by the exponential mechanism over all partitions, "argmin" takes the cheapest under
    noise. `workload`: the totals are measured to suit sums from the first cell on ("prefix") or single cells
    ("identity"). `share` of epsilon pays for the partition, whose buckets have at most `longest` cells.
    Privacy: epsilon, the sum of what both steps cost.
    Utility: where counts are flat in long stretches, noise falls with the square of their length; where they are not,
    the mean of a bucket stands for its cells, and plain Laplace noise may be better.
    Runtime: linear in the cells, times 2 `longest`.
    """
    cells, amount, source = checked_counts(counts), checked_epsilon(epsilon), chosen(entropy)
    first = amount * _checked_share(share)
    _checked_partition(partition)
    checked_workload(workload)
    order = curve(cells)
    line = cells.ravel()[order]
    if partition == "law":
        lengths = partition_by_law(line, first, longest=longest, entropy=source)
    else:
        charge = PENALTY / first + 1 / (amount - first)
        lengths = partition_by_argmin(line, first, charge, longest, source)
    spread, parts = spread_totals(line, lengths, amount - first, workload, source)
    name = "dawa" if partition == "law" else f"dawa-{partition}"
    return NoisyHistogram(
        _laid(spread, order, cells), Epsilon.covering(amount), name, source.stamp, _laid(parts, order, cells)
    )


def dawa_argmin(counts: ArrayLike, epsilon: Amount, *, entropy: Entropy | None = None) -> NoisyHistogram:
    """Run `dawa` with the partition by noisy argmin."""
    return dawa(counts, epsilon, partition="argmin", entropy=entropy)


def curve(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the order of the cells on a line: their own, or for a table that of Hilbert's curve."""
    return np.arange(cells.size) if cells.ndim == 1 else hilbert_order(*cells.shape)


def spread_totals(
    line: NDArray[np.int64], lengths: NDArray[np.int64], epsilon: Fraction, workload: str, entropy: Entropy
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Spread noisy totals over the cells of buckets that are already released, and return the bucket of each cell.

    Privacy: epsilon.
    """
    starts = np.cumsum(lengths) - lengths
    shares, _ = greedy_shares(lengths, epsilon, workload)
    totals = measured_totals(np.add.reduceat(line, starts), shares, epsilon, entropy)
    return np.repeat(totals / lengths, lengths), np.repeat(np.arange(lengths.size), lengths)


def _laid(line: NDArray[Kind], order: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[Kind]:
    """Put values along the line back into the shape of the counts."""
    table = np.empty(cells.size, dtype=line.dtype)
    table[order] = line
    return table.reshape(cells.shape)


def _checked_share(share: Amount) -> Fraction:
    part = exact_fraction(share, "share")
    if not Fraction(1, 100) <= part <= Fraction(99, 100):
        raise ArgumentError("share", share, "it must lie between 0.01 and 0.99", "Pass 0.25")
    return part


def _checked_partition(partition: str) -> None:
    if partition not in PARTITIONS:
        raise ArgumentError("partition", partition, f"it must be one of {', '.join(PARTITIONS)}", 'Pass "law"')
