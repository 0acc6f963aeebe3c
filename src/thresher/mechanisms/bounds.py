"""Find a private bound: the first of unit, 2 unit, 4 unit, ... that holds about a given fraction of the values.

The search is one sparse vector that stops at its first top. The intervals are nested and one record counts once, so it
costs less than sparse vector in general. The number of records needs no estimate of its own, because the search
compares (values inside) - fraction * (all values) with zero, on a grid fine enough to hold that number exactly.
Reads: values, entropy. Writes: nothing. Never: values off a declared grid, a search without end.
Proof: `bounds.md`.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction, whole_number
from thresher.errors import ArgumentError
from thresher.mechanisms.sparse_accuracy import within
from thresher.mechanisms.sparse_terms import Setting, SparseTerms, check_rates, sparse_terms
from thresher.mechanisms.sparse_vector import TOP, answered_rows
from thresher.noise import Entropy
from thresher.noise.arguments import checked_whole, whole_numbers
from thresher.noise.entropy import chosen

_MOST_DOUBLINGS = 1000
_FINEST = 10**6
_MOST_RECORDS = 10**12
_LARGEST = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class BoundTerms:
    """Hold all public numbers of a search for a bound. Margins and noise are counted in 1 / `parts` of a record."""

    unit: int
    fraction: Fraction
    size: int | None
    doublings: int
    parts: int
    sparse: SparseTerms

    @property
    def epsilon(self) -> Epsilon:
        """Return what the search costs."""
        return self.sparse.epsilon

    def bound(self, step: int) -> int:
        return self.unit << step

    def margins(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return by how much the count within each bound exceeds the fraction of all values, in parts of a record."""
        inside = counts_within(values, [self.bound(i) for i in range(self.doublings + 1)])
        if self.size is not None:
            # A whole count reaches a fractional threshold exactly if it reaches the next whole number.
            return inside - math.ceil(self.fraction * self.size)
        return inside * self.parts - int(self.fraction * self.parts) * values.size


@dataclass(frozen=True, slots=True)
class PrivateBound:
    """Hold `bound`, in steps of the grid: about the wanted fraction of the values lies in [-bound, bound].

    The bound is the unit doubled `doublings` times. If `capped`, no bound that was tried held enough values, and this
    is the largest of them.
    """

    bound: int
    doublings: int
    capped: bool
    terms: BoundTerms
    stamp: str

    @property
    def epsilon(self) -> Epsilon:
        return self.terms.epsilon

    def within(self, miss_rate: Amount) -> Fraction:
        """Return a number w of records. With probability at least 1 - miss_rate both of these are true of n records.

        Unless capped, at least fraction * n - w records lie within the bound. At most fraction * n + w lie within any
        smaller bound that was tried; one more if the size is public, because its threshold is rounded up to a count.
        """
        return Fraction(within(self.terms.sparse, self.terms.doublings + 1, miss_rate), self.terms.parts)


def private_bound(
    values: ArrayLike,
    epsilon: Amount,
    unit: int = 1,
    fraction: Amount = "0.95",
    size: int | None = None,
    doublings: int = 60,
    entropy: Entropy | None = None,
) -> PrivateBound:
    """Return the first bound unit * 2**i that holds, by noisy counts, `fraction` of the values, or the last one tried.

    values      whole steps of a declared grid; `unit` is the first bound, in the same steps
    size        the number of records, if it is public; without it the number is private, at no further cost
    doublings   the most doublings, a public number; without a limit the search might not end
    Privacy: `PrivateBound.epsilon`. It is `epsilon` with a public size, and otherwise a little less: epsilon times
    (1 + max(fraction, 1 - fraction)) / 2.
    Utility: `PrivateBound.within`.
    Runtime: a binary search for each value.
    Citation: Chen, dissertation 2018, Algorithm 10; the accounting is sharper (`bounds.md`).
    """
    terms = bound_terms(epsilon, unit, fraction, size, doublings)
    source = chosen(entropy)
    (found,) = bound_runs(values, terms, 1, source)
    step = min(int(found), terms.doublings)
    return PrivateBound(terms.bound(step), step, bool(found > terms.doublings), terms, source.stamp)


def bound_runs(values: ArrayLike, terms: BoundTerms, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Return how often each of `runs` independent searches doubled the unit; doublings + 1 if no bound held enough.

    Each search costs `terms.epsilon`.
    """
    rows = answered_rows(terms.margins(_steps(values)), terms.sparse, runs, entropy)
    return np.where((rows == TOP).any(axis=1), (rows == TOP).argmax(axis=1), terms.doublings + 1)


def bound_terms(
    epsilon: Amount, unit: int = 1, fraction: Amount = "0.95", size: int | None = None, doublings: int = 60
) -> BoundTerms:
    """Check the public numbers of `private_bound`. Both rates are epsilon / 2, or epsilon if the size is public."""
    start, cap = whole_number(unit, "unit"), checked_whole(doublings, "doublings", 0, _MOST_DOUBLINGS, "Pass 60, say")
    share = exact_fraction(fraction, "fraction")
    if not 1 <= start < 1 << 62:
        raise ArgumentError("unit", unit, "it must be 1 or more steps, and below 2**62", "Pass the first bound to try")
    if not 0 < share < 1 or share.denominator > _FINEST:
        rule = "it must be above 0 and below 1, in whole parts no smaller than a millionth"
        raise ArgumentError("fraction", fraction, rule, 'Pass "0.95", say')
    if size is not None:
        records = checked_whole(size, "size", 0, _MOST_RECORDS, "Pass the public number of records")
        return BoundTerms(start, share, records, cap, 1, sparse_terms(1, epsilon, Setting(kind="nested")))
    return BoundTerms(start, share, None, cap, share.denominator, _private_size(epsilon, share))


def counts_within(values: NDArray[np.int64], bounds: list[int]) -> NDArray[np.int64]:
    """Return how many values lie in [-b, b] for each of the increasing bounds b."""
    magnitudes = np.abs(values).view(np.uint64)  # the magnitude of the least int64 is right as an unsigned number
    edges = np.array([min(bound, _LARGEST) for bound in bounds], dtype=np.uint64)
    first = np.searchsorted(edges, magnitudes, side="left")
    return np.cumsum(np.bincount(first, minlength=len(bounds) + 1)[: len(bounds)]).astype(np.int64)


def _private_size(epsilon: Amount, fraction: Fraction) -> SparseTerms:
    """Return terms of rates epsilon / 2. The threshold moves by max(fraction, 1 - fraction) records, a top by one."""
    budget, parts = exact_fraction(epsilon, "epsilon"), fraction.denominator
    wide = max(fraction, 1 - fraction)
    rate = budget / 2 / parts
    check_rates(epsilon, budget, rate)
    charge = Epsilon.covering(budget / 2 * (wide + 1))
    return SparseTerms(1, charge, Setting(sensitivity=int(wide * parts)), rate, rate, 0)


def _steps(values: ArrayLike) -> NDArray[np.int64]:
    """Return the values as whole steps of the grid. An empty list is not an error: that it is empty is private too."""
    array = whole_numbers(values, "values")
    if array.ndim != 1:
        rule = "it must be one list of whole numbers, steps of a declared grid"
        raise ArgumentError("values", f"{array.ndim} dimensions", rule, "Pass an int64 array")
    # A value beyond 63 bits becomes the largest that fits. This depends on that record alone.
    return np.asarray(np.clip(array, -(1 << 63), (1 << 63) - 1), dtype=np.int64)
