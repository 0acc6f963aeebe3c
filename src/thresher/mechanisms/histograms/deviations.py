"""Compute how far from flat each stretch of 2^k cells of a histogram is, in exact whole numbers.

    deviation of a stretch b = sum over its cells of |count - mean of b|

The unit is 1 / M, where M is the longest length. In this unit a deviation is whole, because L times it is whole for a
stretch of L cells and L divides M.
Reads: counts. Writes: nothing. Never: a float, a draw. Deviations are as secret as the counts. Proof: `deviations.md`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import whole_number
from thresher.errors import ArgumentError
from thresher.mechanisms.compiled import compiled, compiler
from thresher.mechanisms.histograms.estimate import FAR

LONGEST = 1024
_MOST_LONGEST = 1 << 16
# How many windows are computed at once, so that their numbers stay in the processor's cache.
_LOOP_CHUNK, _ARRAY_CHUNK = 1024, 8192
# M^2 times a count stays below 2**61, so that no sum here leaves 64 bits.
_ROOM = 1 << 61


@dataclass(frozen=True, slots=True)
class Deviations:
    """Hold in `costs[k, start]` M times the deviation of the 2**k cells from `start` on; zero where they do not fit."""

    costs: NDArray[np.int64]

    @property
    def cells(self) -> int:
        return int(self.costs.shape[1])

    @property
    def lengths(self) -> int:
        """Return how many lengths there are: 1, 2, 4, ..., M."""
        return int(self.costs.shape[0])

    @property
    def unit(self) -> int:
        """Return M, the longest length: costs are in units of 1 / M."""
        return 1 << (self.lengths - 1)


def checked_longest(longest: int) -> int:
    length = whole_number(longest, "longest")
    if not 1 <= length <= _MOST_LONGEST or length & (length - 1):
        rule = f"it must be a power of two from 1 to {_MOST_LONGEST:,}"
        raise ArgumentError("longest", longest, rule, f"Pass {LONGEST}")
    return length


def deviations(cells: NDArray[np.int64], longest: int = LONGEST) -> Deviations:
    """Return the deviation of each stretch of 1, 2, 4, ... cells, up to `longest` or the number of cells.

    Privacy: one record moves a stretch of length L that holds it by at most 2 - 2/L, and no other.
    Runtime: about 2 `longest` operations a cell, many at a time.
    """
    lengths = min(longest, cells.size).bit_length()
    unit = 1 << (lengths - 1)
    plain = np.minimum(np.ascontiguousarray(cells, dtype=np.int64), min(FAR, _ROOM // unit**2 - 1))
    upto = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(plain)])
    costs = np.zeros((lengths, plain.size), dtype=np.int64)
    add = _add_larger_by_arrays if compiler() is None else _add_larger
    for k in range(1, lengths):
        length = 1 << k
        sums = upto[length:] - upto[:-length]
        # |a - b| = 2 max(a, b) - a - b, and the counts of a stretch, L times each, add up to L times its sum.
        excess = costs[k, : sums.size]
        add(excess, plain * length, sums, length)
        excess -= length * sums
        excess *= 2 * (unit // length)
    return Deviations(costs)


@compiled
def _add_larger(total: NDArray[np.int64], scaled: NDArray[np.int64], sums: NDArray[np.int64], length: int) -> None:
    """Add up, for each window, the larger of each of its scaled counts and its sum."""
    for begin in range(0, total.size, _LOOP_CHUNK):
        end = min(begin + _LOOP_CHUNK, total.size)
        held, level = np.zeros(end - begin, dtype=np.int64), sums[begin:end].copy()
        for j in range(length):
            part = scaled[begin + j : end + j]
            for i in range(end - begin):
                held[i] += max(part[i], level[i])
        total[begin:end] += held


def _add_larger_by_arrays(
    total: NDArray[np.int64], scaled: NDArray[np.int64], sums: NDArray[np.int64], length: int
) -> None:
    """Add up the same by operations on whole arrays: without a compiler, hundreds of times faster than the loop."""
    for begin in range(0, total.size, _ARRAY_CHUNK):
        end = min(begin + _ARRAY_CHUNK, total.size)
        held, level = total[begin:end], sums[begin:end]
        larger = np.empty(end - begin, dtype=np.int64)
        for j in range(length):
            np.maximum(scaled[begin + j : end + j], level, out=larger)
            held += larger
