"""Measure errors of sums over the last 16 to 2,048 steps.

The tree of windows uses all of epsilon for one window length; the others answer all lengths from one noisy stream.
Reads: public or made-up streams, entropy. Writes: nothing. Never: protected data; errors are counted against truth.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from papers.streams.stream_counts import LAPLACE, SPARSE, ZERO
from papers.streams.stream_data import Counts, StreamSet
from papers.streams.stream_draws import Trials, counts_epsilon, marks_of
from thresher.noise import Entropy
from thresher.streams import AdaptiveSmoother, MedianSmoother, TreeWindows, WindowSumSmoother, perturb

Values = NDArray[np.float64]
LENGTHS = tuple(2**power for power in range(4, 12))
MEDIANS, BY_GROUP, TREE = "pegasus, medians", "pegasus, by group", "tree of windows"
# Fixed beforehand: groups may be wide, unless counts are large.
_WIDE, _NARROW, _LARGE = 60, 20, 20


@dataclass(frozen=True, slots=True)
class WindowError:
    """One method on one series at one epsilon: the mean absolute error of full windows, and its spread over runs."""

    data: str
    series: str
    epsilon: str
    length: int
    method: str
    error: float
    spread: float


def window_errors(data: StreamSet, trials: Trials) -> list[WindowError]:
    """Measure all methods and lengths on all series of a set at each epsilon, but for lengths beyond the stream."""
    lengths = [length for length in LENGTHS if length < len(data.counts)]
    truth, found = trials.tiled(data.counts), []
    for epsilon in trials.epsilons:
        trials.progress(f"{data.name}, windows, epsilon {epsilon}")
        for method, length, sums in windows(truth, epsilon, thetas_of(truth), lengths, trials.entropy):
            numbers = trials.means(np.abs(sums - sums_of(truth, length)).mean(axis=0))
            for series, error, spread in zip(data.series, *numbers, strict=True):
                found.append(WindowError(data.name, series, epsilon, length, method, error, spread))
    return found


def thetas_of(counts: Counts) -> NDArray[np.int64]:
    """Return how wide groups may be, by the mean count of a series, which is public here."""
    return np.where(counts.mean(axis=0) >= _LARGE, _NARROW, _WIDE)


def sums_of(values: Counts | Values, length: int) -> Values:
    """Return the sums of all full windows, the first of them at step `length` - 1."""
    added = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0, dtype=np.float64)])
    return np.asarray(added[length:] - added[:-length])


def windows(
    counts: Counts, epsilon: str, thetas: NDArray[np.int64], lengths: Sequence[int], entropy: Entropy
) -> Iterator[tuple[str, int, Values]]:
    """Yield the sums of full windows by method and length."""
    series = counts.shape[1]
    plain = perturb(counts, epsilon, entropy=entropy)
    adaptive = AdaptiveSmoother(series, epsilon).steps(plain)
    noisy = perturb(counts, counts_epsilon(epsilon), entropy=entropy)
    marks = np.empty(counts.shape, dtype=np.int8)
    for theta in np.unique(thetas).tolist():
        marks[:, thetas == theta] = marks_of(counts[:, thetas == theta], epsilon, theta, entropy)
    medians = MedianSmoother(series, len(counts)).steps(noisy, marks)
    for length in lengths:
        yield ZERO, length, np.zeros((len(counts) - length + 1, series))
        yield LAPLACE, length, sums_of(plain, length)
        yield SPARSE, length, sums_of(adaptive, length)
        yield MEDIANS, length, sums_of(medians, length)
        yield BY_GROUP, length, WindowSumSmoother(series, length).of_values(medians, marks)[length - 1 :]
        tree = TreeWindows(series, length, epsilon, entropy=entropy).steps(counts)
        yield TREE, length, tree[length - 1 :].astype(np.float64)
