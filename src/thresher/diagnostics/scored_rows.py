"""Read labels and scores record by record: nothing about one row depends on another.

Reads: arrays. Writes: nothing. Never: an element of an array in an error text; a refusal that depends on one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import whole_number
from thresher.errors import ArgumentError
from thresher.mechanisms.public_grid import DEFAULT_STEPS, floats_of

STEPS = DEFAULT_STEPS
LEAST_ROWS, _MOST_ROWS = 2, 10**12
_LABELS, _SCORES = "Pass a bool or 0/1 array", "Pass a float64 array of probabilities"


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """Which rows are positive, and their scores between 0 and 1. Secret."""

    positive: NDArray[np.bool_]
    scores: NDArray[np.float64]

    def __repr__(self) -> str:
        return "<scored rows>"

    @property
    def points(self) -> NDArray[np.int64]:
        """Return the scores in whole steps of 1 / STEPS, each rounded by itself. Secret."""
        return np.rint(self.scores * STEPS).astype(np.int64)

    def counts(self, thresholds: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count positives and negatives between falling thresholds: above the first, ..., not above the last."""
        bins = thresholds.size - np.searchsorted(thresholds[::-1], self.scores)
        both = np.bincount(2 * bins + self.positive, minlength=2 * thresholds.size + 2).astype(np.int64)
        return both[1::2], both[0::2]


def scored_rows(labels: ArrayLike, scores: ArrayLike) -> ScoredRows:
    """Return a row for each label and score that are numbers.

    A label above 0 is positive; a score below 0 or above 1 is moved to 0 or 1; a row with NaN is left out. A refusal of
    any of these would reveal that it is there. Only what is public of an array is refused: type, dimensions, length.
    """
    marks, values = _plain(labels, "labels", "biuf", _LABELS), _plain(scores, "scores", "iuf", _SCORES)
    if marks.shape != values.shape:
        rule = "there must be one label for each score"
        raise ArgumentError("labels", "another length than scores", rule, "Pass arrays of the same length")
    whole = ~(np.isnan(marks) | np.isnan(values))
    return ScoredRows(marks[whole] > 0, np.clip(values[whole], 0.0, 1.0))


def checked_rows(rows: int) -> int:
    """Return a public number of rows, from 2 to 10**12."""
    if not LEAST_ROWS <= (count := whole_number(rows, "rows")) <= _MOST_ROWS:
        rule = f"a diagnostic needs a public number of rows from {LEAST_ROWS} to 1e12"
        raise ArgumentError("rows", rows, rule, "Pass that number, or leave it out if it is private")
    return count


def listed_numbers(values: ArrayLike, field: str) -> NDArray[np.float64]:
    """Return one list of numbers as floats; a refusal names the argument."""
    try:
        return floats_of(values)
    except ArgumentError as refusal:
        raise ArgumentError(field, refusal.value, refusal.rule, refusal.fix) from None


def _plain(values: ArrayLike, field: str, kinds: str, fix: str) -> NDArray[np.float64]:
    """Return one list as floats, NaN where a number is missing: such columns come as objects, or masked."""
    if isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray | memoryview):
        return floats_of(values)
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise ArgumentError(field, type(values).__name__, "it must be one list of numbers", fix) from None
    if array.ndim != 1 or array.dtype.kind not in f"{kinds}O":
        kind = array.dtype.name if array.ndim == 1 else f"{array.ndim} dimensions"
        raise ArgumentError(field, kind, "it must be one list of plain numbers", fix)
    if np.ma.isMaskedArray(values):
        return np.asarray(np.ma.filled(np.ma.asarray(values).astype(np.float64), np.nan))
    return floats_of(array if array.dtype.kind != "b" else array.astype(np.int64))
