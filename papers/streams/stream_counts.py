"""Measure errors of private counts of each step of a stream, and of the answer 0.

The scaled error is the sum of absolute errors over the sum of counts. The answer 0 has the error 1.
Reads: public or made-up streams, entropy. Writes: nothing. Never: protected data; errors are counted against truth.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from papers.streams.stream_data import Counts, StreamSet
from papers.streams.stream_draws import Trials, counts_epsilon, marks_of
from thresher.noise import Entropy
from thresher.streams import (
    AdaptiveSmoother,
    AverageSmoother,
    JamesSteinSmoother,
    MedianSmoother,
    backward_means,
    perturb,
)

ZERO, LAPLACE, PRINTED, WIDE = "all zero", "laplace", "pegasus 5", "pegasus 60"
DENSE, SPARSE = "adaptive 2", "adaptive 3"
_BACK = (8, 64)
THETAS = (5, 60)


@dataclass(frozen=True, slots=True)
class UnitError:
    """One method on one series at one epsilon: the scaled error, its spread over runs, and with negatives made 0."""

    data: str
    series: str
    epsilon: str
    method: str
    error: float
    spread: float
    clipped: float


def unit_errors(data: StreamSet, trials: Trials) -> list[UnitError]:
    """Measure all methods on all series of a set at each epsilon. A series without any count is left out."""
    places = np.flatnonzero(data.counts.sum(axis=0) > 0)
    truth = trials.tiled(data.counts[:, places])
    totals, found = truth.sum(axis=0), []
    for epsilon in trials.epsilons:
        trials.progress(f"{data.name}, counts, epsilon {epsilon}")
        for method, values in estimates(truth, epsilon, trials.entropy):
            errors, spreads = trials.means(np.abs(values - truth).sum(axis=0) / totals)
            clipped, _ = trials.means(np.abs(np.maximum(values, 0) - truth).sum(axis=0) / totals)
            for place, *numbers in zip(places.tolist(), errors, spreads, clipped, strict=True):
                found.append(UnitError(data.name, data.series[place], epsilon, method, *numbers))
    return found


def estimates(counts: Counts, epsilon: str, entropy: Entropy) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield the estimates of each method by name, one at a time to save memory."""
    series = counts.shape[1]
    yield ZERO, np.zeros(counts.shape)
    plain = perturb(counts, epsilon, entropy=entropy)
    yield LAPLACE, plain.astype(np.float64)
    for back in _BACK:
        yield f"backward {back}", backward_means(plain, back)
    for name, strictness in ((DENSE, 2.0), (SPARSE, 3.0)):
        yield name, AdaptiveSmoother(series, epsilon, strictness).steps(plain)
    noisy = perturb(counts, counts_epsilon(epsilon), entropy=entropy)
    for theta in THETAS:
        marks = marks_of(counts, epsilon, theta, entropy)
        yield f"pegasus {theta}", MedianSmoother(series, len(counts)).steps(noisy, marks)
        yield f"pegasus {theta}, average", AverageSmoother(series).steps(noisy, marks)
        yield f"pegasus {theta}, james-stein", JamesSteinSmoother(series, counts_epsilon(epsilon)).steps(noisy, marks)
        better = marks_of(counts, epsilon, theta, entropy, printed=False)
        yield f"pegasus {theta}, one-sided", MedianSmoother(series, len(counts)).steps(noisy, better)
