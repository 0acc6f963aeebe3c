"""Release one stream many times: runs are side by side as series, so that a mechanism measures all at once.

PeGaSus uses four fifths of epsilon for noisy counts and one fifth for groups, as in the dissertation.
Reads: public or made-up counts, entropy. Writes: nothing. Never: protected data.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from papers.streams.printed_grouper import printed_terms
from papers.streams.stream_data import Counts
from thresher.amounts import exact_fraction
from thresher.errors import ArgumentError
from thresher.noise import Entropy
from thresher.streams.grouper import Grouper, grouper_terms

EPSILONS = ("0.1", "0.01")
_TO_COUNTS = Fraction(4, 5)
_MOST_RUNS = 1_000


@dataclass(frozen=True, slots=True)
class Trials:
    """The number of runs, the source of noise, the epsilons, and a function that gets progress."""

    runs: int
    entropy: Entropy
    epsilons: tuple[str, ...] = EPSILONS
    progress: Callable[[str], None] = lambda _: None

    def __post_init__(self) -> None:
        if not 1 <= self.runs <= _MOST_RUNS:
            raise ArgumentError("runs", self.runs, f"it must be from 1 to {_MOST_RUNS:,}", "Pass 5, say")

    def tiled(self, counts: Counts) -> Counts:
        """Return each series once for each run, with the runs of a series side by side."""
        return np.repeat(counts, self.runs, axis=1)

    def means(self, values: ArrayLike) -> tuple[list[float], list[float]]:
        """Return means and standard deviations over the runs of each series, from one number for each tiled series."""
        grouped = np.reshape(np.asarray(values, dtype=np.float64), (-1, self.runs))
        spread = grouped.std(axis=1, ddof=1) if self.runs > 1 else np.zeros(len(grouped))
        return grouped.mean(axis=1).tolist(), spread.tolist()


def counts_epsilon(epsilon: str) -> Fraction:
    """Return the epsilon that PeGaSus uses for noisy counts."""
    return exact_fraction(epsilon, "epsilon") * _TO_COUNTS


def marks_of(counts: Counts, epsilon: str, theta: int, entropy: Entropy, *, printed: bool = True) -> NDArray[np.int8]:
    """Return groups whose deviation stays below `theta` / epsilon of the groups.

    Printed: Laplace noise, half of epsilon for the threshold; otherwise one-sided noise and the better split.
    """
    for_groups = exact_fraction(epsilon, "epsilon") * (1 - _TO_COUNTS)
    line = theta / for_groups
    terms = printed_terms if printed else grouper_terms
    return Grouper(counts.shape[1], terms(for_groups, line), entropy).steps(counts)
