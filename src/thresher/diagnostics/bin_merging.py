"""Join neighbouring bins until each is large enough, by one sparse vector after another.

From the left, bins are added up until the noisy size reaches a noisy cutoff; there a merged bin ends, and a fresh
sparse vector begins behind it. What is left at the end joins the last merged bin; if none was closed, there is one bin.
Reads: sizes, entropy. Writes: nothing. Never: a sparse vector that goes on after its top. Proof: `bin_merging.md`.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon, whole_number
from thresher.errors import ArgumentError
from thresher.mechanisms.sparse_accuracy import within
from thresher.mechanisms.sparse_terms import Setting, SparseTerms, sparse_terms
from thresher.mechanisms.sparse_vector import TOP, answered_rows
from thresher.noise import Entropy
from thresher.noise.arguments import checked_integers
from thresher.noise.entropy import chosen

SMALL_BIN_RATE = Fraction(1, 10)
_MOST_BINS = 1 << 14
_LARGEST = 1 << 60


@dataclass(frozen=True, slots=True)
class MergeTerms:
    """The public numbers of a merging: the number of bins, the size from which a bin is large enough, and the noise."""

    bins: int
    cutoff: int
    sparse: SparseTerms

    @property
    def epsilon(self) -> Epsilon:
        return self.sparse.epsilon


@dataclass(frozen=True, slots=True)
class MergedBins:
    """`ends[k]` is the number of bins in merged bin k and those before it. All of it may be shown."""

    ends: tuple[int, ...]
    terms: MergeTerms
    stamp: str

    @property
    def epsilon(self) -> Epsilon:
        return self.terms.epsilon


def merge_terms(bins: int, epsilon: Amount, least: int) -> MergeTerms:
    """Return the terms for merged bins of `least` records or more, a number that must be public.

    Utility: whatever the sizes, a merged bin that was closed has fewer records with probability at most one in ten.
    """
    count, enough = whole_number(bins, "bins"), whole_number(least, "least")
    if not 1 <= count <= _MOST_BINS:
        raise ArgumentError("bins", bins, f"there must be 1 to {_MOST_BINS}", "Pass fewer bins")
    if not 0 <= enough <= _LARGEST:
        raise ArgumentError("least", least, "it must be 0 or more, and at most 2**60", "Pass 50, for example")
    sparse = sparse_terms(1, epsilon, Setting(kind="nested"))
    return MergeTerms(count, enough + _room(sparse, count), sparse)


@lru_cache(maxsize=64)
def _room(sparse: SparseTerms, bins: int) -> int:
    return within(sparse, bins, SMALL_BIN_RATE)


def merge_bins(sizes: ArrayLike, terms: MergeTerms, *, entropy: Entropy | None = None) -> MergedBins:
    """Join bins, from the sizes of all of them in order.

    Privacy: `terms.epsilon`, because a record counts in one size.
    Utility: see `merge_terms`.
    Runtime: at most the square of the number of bins.
    Citation: Chen, dissertation 2018, Algorithm 14, at half its noise, and defined also where no bin is closed.
    """
    source = chosen(entropy)
    (closed,) = closing_runs(_checked_sizes(sizes, terms), terms, 1, source)
    return MergedBins(ends_of(closed), terms, source.stamp)


def closing_runs(sizes: NDArray[np.int64], terms: MergeTerms, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Return, for independent runs, behind which bins a merged bin was closed. Each run costs `terms.epsilon`."""
    closed = np.zeros((runs, sizes.size), dtype=bool)
    # Which runs begin a merged bin at each place; all begin one at the first.
    waiting = np.zeros((runs, sizes.size + 1), dtype=bool)
    waiting[:, 0] = True
    for start in range(sizes.size):
        begun = np.flatnonzero(waiting[:, start])
        if begun.size:
            margins = np.cumsum(sizes[start:]) - terms.cutoff
            tops = answered_rows(margins, terms.sparse, begun.size, entropy) == TOP
            ended = tops.any(axis=1)
            last = start + tops[ended].argmax(axis=1)
            closed[begun[ended], last] = True
            waiting[begun[ended], last + 1] = True
    return closed


def ends_of(closed: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return where merged bins end, once the bins left over have joined the last of them."""
    inner = (np.flatnonzero(closed) + 1).tolist()
    return (*inner[:-1], closed.size)


def _checked_sizes(sizes: ArrayLike, terms: MergeTerms) -> NDArray[np.int64]:
    plain = checked_integers(sizes, "sizes")
    if plain.shape != (terms.bins,):
        rule = f"there must be {terms.bins} sizes, one for each bin"
        raise ArgumentError("sizes", f"shape {plain.shape}", rule, "Pass one list")
    # No data are so large. It keeps sums inside 64 bits, and moves no two sizes further apart.
    return np.clip(plain, 0, _LARGEST // terms.bins)
