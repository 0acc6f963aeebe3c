"""Measure totals of buckets through a binary tree whose shares of the budget are chosen greedily for a workload.

Each node keeps a share of the budget that reaches it for its own total and hands on the rest, so the shares on each
path from the root to a bucket add up to the whole. Shares depend on the sizes of buckets only, which are public here.
Estimates are those of weighted least squares over the tree.
Reads: totals of buckets, entropy. Writes: nothing. Never: a float before the noise. Proof: `greedy_hierarchy.md`.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount
from thresher.errors import ArgumentError
from thresher.mechanisms.histograms.estimate import MOST_CELLS
from thresher.noise import Entropy, discrete_laplace
from thresher.noise.arguments import checked_integers, checked_rate

WORKLOADS = ("prefix", "identity")
# Shares are whole numbers out of this, so they add up along a path without rounding.
WHOLE = 1 << 40
_GRID = 100
# Nodes whose shares are chosen at once.
_CHUNK = 1024
# No node is measured at a rate below this, because noise that wide cannot be drawn.
_LEAST_RATE = Fraction(1, 10**9)

Number = TypeVar("Number", np.int64, np.float64)

_LEFT, _RIGHT = slice(0, None, 2), slice(1, None, 2)


@dataclass(frozen=True, slots=True)
class NodeShares:
    """Hold the part of the budget that each node keeps, in units of 1 / WHOLE. Level 0 are the buckets.

    Node i of a level has the children 2i and 2i + 1 in the level below; the second may be missing.
    """

    levels: tuple[NDArray[np.int64], ...]

    @property
    def rows(self) -> int:
        """Return how many totals are measured."""
        return sum(int(np.count_nonzero(level)) for level in self.levels)


def checked_workload(workload: str) -> str:
    if workload not in WORKLOADS:
        raise ArgumentError("workload", workload, f"it must be one of {', '.join(WORKLOADS)}", 'Pass "prefix"')
    return workload


def greedy_shares(sizes: ArrayLike, epsilon: Amount, workload: str = "prefix") -> tuple[NodeShares, float]:
    """Return shares for buckets of these sizes, and the expected squared error of the workload times epsilon^2 / 2.

    Runtime: linear in the buckets.
    """
    buckets, amount = _checked_sizes(sizes), checked_rate(epsilon, 1)
    kept, error = _kept(*_workload_of(buckets, checked_workload(workload)))
    least = int(_LEAST_RATE * WHOLE / amount) + 1
    budget, own = np.array([WHOLE], dtype=np.int64), []
    for level in reversed(kept):
        handed = _few_bits(budget * level // _GRID)
        whole = (level == _GRID) | (handed < least) | (budget - handed < least)
        mine = np.where(whole, 0, budget - handed)
        own.append(mine)
        budget = np.repeat(budget - mine, 2)
        # The level below may lack its last node.
        budget = budget[: kept[len(kept) - len(own) - 1].size if len(own) < len(kept) else buckets.size]
    return NodeShares((budget, *reversed(own))), error


def measured_totals(
    totals: NDArray[np.int64], shares: NodeShares, epsilon: Fraction, entropy: Entropy
) -> NDArray[np.float64]:
    """Return noisy estimates of the totals of buckets.

    Privacy: epsilon, if one record moves one total by 1.
    Utility: unbiased; of all linear unbiased estimates from these measurements, those of least variance.
    Runtime: linear in the buckets, and a table of noise for each distinct share.
    """
    truths = [totals]
    while truths[-1].size > 1:
        truths.append(_summed(truths[-1]))
    sizes = [level.size for level in shares.levels]
    noisy, variances = _noisy(np.concatenate(truths), np.concatenate(shares.levels), epsilon, entropy)
    cuts = np.cumsum(sizes)[:-1]
    return _estimates(np.split(noisy, cuts), np.split(variances, cuts))


def _checked_sizes(sizes: ArrayLike) -> NDArray[np.int64]:
    buckets = checked_integers(sizes, "sizes")
    if buckets.ndim != 1 or not 1 <= buckets.size <= MOST_CELLS:
        rule = f"it must be one list of 1 to {MOST_CELLS:,} buckets"
        raise ArgumentError("sizes", f"{buckets.ndim} dimensions, {buckets.size} buckets", rule, "Pass an int64 array")
    # The largest by itself first: a sum of larger ones might wrap around.
    if buckets.min() < 1 or buckets.max() > MOST_CELLS or buckets.sum() > MOST_CELLS:
        rule = f"buckets have one cell or more, and {MOST_CELLS:,} together at most"
        raise ArgumentError("sizes", f"{buckets.size} buckets", rule, "Leave empty buckets out")
    return buckets


def _workload_of(sizes: NDArray[np.int64], workload: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return W'W of the workload on buckets of equal cells: its diagonal, and the entry before each diagonal one.

    For prefixes the entry of two buckets depends on the later one only; for single cells there is none.
    """
    size = sizes.astype(np.float64)
    if workload == "identity":
        return 1 / size, np.zeros(size.size)
    past = size.sum() - np.cumsum(size)
    return past + (size + 1) * (2 * size + 1) / (6 * size), past + (size + 1) / 2


def _kept(diagonal: NDArray[np.float64], before: NDArray[np.float64]) -> tuple[list[NDArray[np.int64]], float]:
    """Return how many hundredths each node above the buckets hands on, and the trace that results."""
    trace, square, mass, cross = diagonal.copy(), diagonal.copy(), np.ones(diagonal.size), before.copy()
    kept = []
    while trace.size > 1:
        trace, square, mass, cross = (_even(part) for part in (trace, square, mass, cross))
        square = _summed(square) + 2 * mass[_LEFT] * cross[_RIGHT]
        alone = mass[_RIGHT] == 0
        trace, mass, cross = _summed(trace), _summed(mass), _summed(cross)
        share, trace = _best(trace, square, mass, alone)
        on = share / _GRID
        thinned = on**2 + mass * (1 - on) ** 2
        mass, cross, square = mass / thinned, cross / thinned, square / thinned**2
        kept.append(share)
    return kept, float(trace[0])


def _best(
    trace: NDArray[np.float64], square: NDArray[np.float64], mass: NDArray[np.float64], alone: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the share to hand on that makes the trace least: all of it in a tie, or where a child is alone."""
    share, least = np.full(trace.size, _GRID, dtype=np.int64), trace.copy()
    hundredths = np.arange(_GRID - 1, 0, -1)
    on = hundredths[:, None] / _GRID
    own = (1 - on) ** 2
    for begin in range(0, trace.size, _CHUNK):
        nodes = slice(begin, begin + _CHUNK)
        errors = (trace[nodes] - own / (on**2 + mass[nodes] * own) * square[nodes]) / on**2
        place = np.argmin(errors, axis=0)
        error = errors[place, np.arange(place.size)]
        better = (error < trace[nodes]) & ~alone[nodes]
        share[nodes] = np.where(better, hundredths[place], _GRID)
        least[nodes] = np.where(better, error, trace[nodes])
    return share, least


def _few_bits(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Round to six leading bits, because few distinct shares need few tables of noise."""
    lost = np.maximum(np.frexp(numbers.astype(np.float64))[1].astype(np.int64) - 6, 0)
    return numbers + (1 << lost >> 1) >> lost << lost


def _noisy(
    truth: NDArray[np.int64], own: NDArray[np.int64], epsilon: Fraction, entropy: Entropy
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return measurements and their variances: zero and infinity where nothing is measured."""
    noisy, variances = np.zeros(truth.size), np.full(truth.size, np.inf)
    order = np.argsort(own, kind="stable")
    shares, starts = np.unique(own[order], return_index=True)
    for share, nodes in zip(shares.tolist(), np.split(order, starts[1:]), strict=True):
        if not share:
            continue
        rate = epsilon * share / WHOLE
        noise = discrete_laplace(rate, nodes.size, entropy=entropy).view(np.ndarray)
        noisy[nodes] = truth[nodes] + noise
        variances[nodes] = 0.5 / np.sinh(float(rate) / 2) ** 2  # 2p / (1-p)^2
    return noisy, variances


def _estimates(noisy: list[NDArray[np.float64]], variances: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Compute weighted least squares on the tree in two passes.

    Upwards, each node weighs its own measurement against the sum of its children. Downwards, the difference between the
    parent and that sum is divided among the children by their variances.
    """
    estimates, spreads, sums = [noisy[0]], [variances[0]], []
    for own, spread in zip(noisy[1:], variances[1:], strict=True):
        below, doubt = _summed(estimates[-1]), _summed(spreads[-1])
        sums.append((below, doubt))
        joined = 1 / (1 / doubt + 1 / spread)
        estimates.append(below + joined / spread * (own - below))
        spreads.append(joined)
    final = estimates[-1]
    for level in range(len(noisy) - 2, -1, -1):
        below, doubt = sums[level]
        missing = np.repeat((final - below) / doubt, 2)[: estimates[level].size]
        final = estimates[level] + missing * spreads[level]
    return final


def _even(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.append(values, 0.0) if values.size % 2 else values


def _summed(values: NDArray[Number]) -> NDArray[Number]:
    """Add up pairs; the last value stays alone if their number is odd."""
    return np.add.reduceat(values, np.arange(0, values.size, 2))
