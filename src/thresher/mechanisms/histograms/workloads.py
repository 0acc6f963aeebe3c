"""Define public sets of sums over cells: boxes that begin at the first cell, or rows of zeros and ones.

Reads: arguments. Writes: nothing. Never: anything but the grid's shape or the caller's rows, both public.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.errors import ArgumentError
from thresher.noise.arguments import checked_integers

# The most boxes; on a larger grid their corners lie on evenly spaced lines.
MOST_BOXES = 4096


class Workload(Protocol):
    """Answer sums over sets of cells, numbered from 0."""

    def whole(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the exact value of each sum."""

    def answers(self, estimate: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value of each sum on an estimate, which is public."""

    def members(self, index: int) -> NDArray[np.bool_]:
        """Return the cells that one sum adds up."""


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Add up boxes from the first cell to each of these ends along each axis; in one dimension, prefixes."""

    shape: tuple[int, ...]
    ends: tuple[NDArray[np.int64], ...]

    def whole(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        for axis in range(cells.ndim):
            cells = np.cumsum(cells, axis=axis)
        return cells[np.ix_(*(end - 1 for end in self.ends))].ravel()

    def answers(self, estimate: NDArray[np.float64]) -> NDArray[np.float64]:
        for axis in range(estimate.ndim):
            estimate = np.cumsum(estimate, axis=axis)
        return estimate[np.ix_(*(end - 1 for end in self.ends))].ravel()

    def members(self, index: int) -> NDArray[np.bool_]:
        corner = np.unravel_index(index, tuple(end.size for end in self.ends))
        inside = np.zeros(self.shape, dtype=np.bool_)
        inside[tuple(slice(end[at]) for end, at in zip(self.ends, corner, strict=True))] = True
        return inside


@dataclass(frozen=True, slots=True)
class RowSums:
    """Hold one row of zeros and ones for each sum."""

    rows: NDArray[np.int64]

    def whole(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._flat() @ cells.ravel()

    def answers(self, estimate: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._flat().astype(np.float64) @ estimate.ravel()

    def members(self, index: int) -> NDArray[np.bool_]:
        inside: NDArray[np.bool_] = self.rows[index] == 1
        return inside

    def _flat(self) -> NDArray[np.int64]:
        return self.rows.reshape(self.rows.shape[0], -1)


def prefixes(shape: tuple[int, ...]) -> Prefixes:
    """Return all prefixes if there are at most 4,096, otherwise those that end on evenly spaced lines."""
    lines = round(MOST_BOXES ** (1 / len(shape)))
    ends = tuple(np.unique(-(-np.arange(1, lines + 1) * size // lines)).astype(np.int64) for size in shape)
    return Prefixes(shape, ends)


def rows(workload: ArrayLike, shape: tuple[int, ...]) -> RowSums:
    """Check the caller's rows. They are public, but a row that counted a cell twice would cost twice."""
    plain = checked_integers(workload, "workload")
    if plain.shape[1:] != shape or plain.ndim != len(shape) + 1 or not plain.size:
        rule = f"it must be one row or more, each of the shape {shape} of counts"
        raise ArgumentError("workload", f"shape {plain.shape}", rule, "Pass an array of zeros and ones")
    if not np.isin(plain, (0, 1)).all():
        raise ArgumentError("workload", f"shape {plain.shape}", "it must hold zeros and ones", "Pass sums over cells")
    return RowSums(plain)
