"""Monitors over released values: scores that rank steps, and flags. They are best effort, and labelled so.

They read released values, usually smoothed estimates. These show more than noisy counts do but promise nothing, because
their bias depends on the counts. Monitors serve for pictures and ROC curves; for a promise take `alarms`.
Reads: released values. Writes: nothing. Never: a true count; a promise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.errors import ArgumentError
from thresher.streams.alarms import Kind
from thresher.streams.step_blocks import checked_between, checked_series, values_of

BEST_EFFORT = "best effort: made of smoothed values, no error rate is promised"
_MOST_WINDOW = 1 << 16
# A user's function: from the last `window` released values (steps by series) to one score for each series.
Measure = Callable[[NDArray[np.float64]], ArrayLike]


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """Steps by series: `scores` grow with the event, and are NaN where the window is not full."""

    scores: NDArray[np.float64]
    flags: NDArray[np.bool_]
    label: str = BEST_EFFORT


class Monitor:
    """Watch one event in many series, as steps come: `low`, `high`, `jump`, `drop`, `change` as for alarms, or yours.

    `kind` may be a function of the last `window` released values (steps by series) that returns a score for each
    series; scores of `threshold` or more are flagged.
    Privacy: post-processing. Utility: best effort.
    Runtime: grows with the logarithm of the window; `window` values kept for each series.
    """

    def __init__(self, series: int, kind: Kind | Measure, threshold: float, window: int) -> None:
        if not callable(kind) and kind not in get_args(Kind):
            rule = f"it must be one of {', '.join(get_args(Kind))}, or a function"
            raise ArgumentError("kind", kind, rule, 'Pass e.g. "jump"')
        if not isinstance(threshold, int | float) or not np.isfinite(threshold):
            raise ArgumentError("threshold", threshold, "it must be a finite number", "Pass a number of counts")
        self._series, self._window = checked_series(series), checked_between(window, "window", 1, _MOST_WINDOW)
        self._kind, self._threshold = kind, float(threshold)
        self._before = np.full((self._window, self._series), np.nan)

    def steps(self, values: ArrayLike) -> Watched:
        """Return scores and flags of these steps. Leave a step without a value out of the block, or pass NaN."""
        block = values_of(values, "values", self._series)
        known = np.concatenate([self._before, block])
        self._before = known[len(block) :].copy()
        scores = self._scores(known, block)
        if self._kind == "low":
            return Watched(scores, -scores < self._threshold)
        return Watched(scores, scores > self._threshold if self._kind == "high" else scores >= self._threshold)

    def _scores(self, known: NDArray[np.float64], block: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._kind == "low":
            return -sums_of_rows(known[1:], self._window)
        if self._kind == "high":
            return sums_of_rows(known[1:], self._window)
        if callable(self._kind):
            return self._measured(known[1:], self._kind)
        rise = block - known[: len(block)]
        return rise if self._kind == "jump" else -rise if self._kind == "drop" else np.abs(rise)

    def _measured(self, known: NDArray[np.float64], measure: Measure) -> NDArray[np.float64]:
        scores = np.full((len(known) - self._window + 1, self._series), np.nan)
        for step in range(len(scores)):
            rows = known[step : step + self._window]
            if not np.isnan(rows).any():
                scores[step] = measure(rows.copy())
        return scores


def sums_of_rows(rows: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """Return the sums of all stretches of `length` rows, by doubling: the order of adding does not depend on blocks.

    Cumulative sums would be a little faster, but would carry rounding errors, or one NaN, to all later sums.
    """
    windows = len(rows) - length + 1
    total, start, part, size = np.zeros((windows, rows.shape[1])), 0, rows, 1
    while size <= length:
        if length & size:
            total += part[start : start + windows]
            start += size
        part, size = part[:-size] + part[size:], 2 * size
    return total
