"""Improve an estimate where its sums err most (MWEM): choose a sum privately, measure it, reweight the cells.

Reads: counts, entropy. Writes: nothing. Never: the true total; it uses a noisy one. Proof: `mwem.md`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon
from thresher.mechanisms.histograms.estimate import NoisyHistogram, checked_counts, checked_epsilon
from thresher.mechanisms.histograms.workloads import Workload, prefixes, rows
from thresher.noise import Entropy, choose, discrete_laplace
from thresher.noise.arguments import checked_whole
from thresher.noise.entropy import chosen

TOTAL_SHARE = Fraction(1, 20)
_MOST_ROUNDS = 1000


@dataclass(frozen=True, slots=True)
class SeenSum:
    """Hold one round: which sum was chosen, and its noisy value."""

    index: int
    value: int


def mwem(
    counts: ArrayLike,
    epsilon: Amount,
    *,
    workload: ArrayLike | None = None,
    rounds: int = 10,
    entropy: Entropy | None = None,
) -> NoisyHistogram:
    """Return the mean of estimates, each corrected where the one before erred most among the sums of `workload`.

    `workload` has one row of zeros and ones for each sum, of the shape of counts. Without it, the sums are all prefixes
    (boxes that begin at the first cell), at most 4,096 of them, evenly spaced.
    Privacy: epsilon: 1/20 for the total; in each round the choice and the measurement cost the same.
    Utility: no promise for a cell, because ten rounds measure ten sums. Counts are never negative. It is good where few
    sums describe the data.
    Runtime: rounds times (cells + a sort of the workload).
    Citations: Hardt, Ligett, McSherry, "A Simple and Practical Algorithm for Private Data Release", 2012.
    """
    cells, amount, source = checked_counts(counts), checked_epsilon(epsilon), chosen(entropy)
    sums = prefixes(cells.shape) if workload is None else rows(workload, cells.shape)
    count = checked_whole(rounds, "rounds", 1, _MOST_ROUNDS, "Pass 10, say")
    first, share = mwem_shares(amount, count)
    exact = sums.whole(cells)
    total = int(cells.sum()) + int(discrete_laplace(first, 1, entropy=source)[0])
    estimate, seen = start(cells.shape, total), list[SeenSum]()
    for _ in range(count):
        index = choose(-misfits(exact, sums.answers(estimate)), share / 2, entropy=source)
        seen.append(SeenSum(index, int(exact[index]) + int(discrete_laplace(share, 1, entropy=source)[0])))
        estimate = reweighted(estimate, sums, seen[-1])
    mean = estimate_from_sums(cells.shape, total, sums, seen)
    return NoisyHistogram(mean, Epsilon.covering(amount), "mwem", source.stamp)


def mwem_shares(amount: Fraction, rounds: int) -> tuple[Fraction, Fraction]:
    """Return the shares of the total, and of each choice and each measurement."""
    return amount * TOTAL_SHARE, amount * (1 - TOTAL_SHARE) / (2 * rounds)


def misfits(exact: NDArray[np.int64], answers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how far each sum is from the answer, rounded down: whole numbers that a record moves by at most 1."""
    return np.abs(exact - np.floor(answers).astype(np.int64))


def start(shape: tuple[int, ...], total: int) -> NDArray[np.float64]:
    """Spread the noisy total evenly. A total below 1 becomes 1, so that weights are positive."""
    return np.full(shape, max(total, 1) / np.prod(shape))


def reweighted(estimate: NDArray[np.float64], workload: Workload, seen: SeenSum) -> NDArray[np.float64]:
    """Multiply the cells of the sum by exp((seen - estimated) / 2 total), then scale all cells to the same total.

    The noisy value is first limited to the range from 0 to the total.
    """
    inside, total = workload.members(seen.index), estimate.sum()
    error = min(max(float(seen.value), 0.0), float(total)) - estimate[inside].sum()
    weights = estimate * np.exp(np.where(inside, error / (2 * total), 0.0))
    scaled: NDArray[np.float64] = weights * (total / weights.sum())
    return scaled


def estimate_from_sums(
    shape: tuple[int, ...], total: int, workload: Workload, seen: Sequence[SeenSum]
) -> NDArray[np.float64]:
    """Return the released histogram, a function of the measurements alone."""
    estimate, mean = start(shape, total), np.zeros(shape)
    for one in seen:
        estimate = reweighted(estimate, workload, one)
        mean += estimate / len(seen)
    return mean
