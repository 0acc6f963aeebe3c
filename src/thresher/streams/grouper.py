"""The grouper of PeGaSus: it marks privately, and for ever, which steps of a stream have similar counts.

    grouper = Grouper(series=128, terms=grouper_terms("0.02"))
    marks = grouper.steps(counts)       # int8 (steps, series): OPENS, JOINS or ALONE

Each group is one sparse vector of one top: the group grows while its deviation stays below a noisy cutoff, and the
first step above it stands alone. Each step belongs to one sparse vector only, so all marks together, for ever, cost one
step of one series what one sparse vector costs.
Reads: true counts, entropy. Writes: nothing. Never: a second cutoff for a group that is open; an uncharged second draw;
a refusal that depends on a count. Proof: `grouper.md`.
"""

import threading
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction
from thresher.errors import ArgumentError, BugError
from thresher.mechanisms.compiled import compiler
from thresher.mechanisms.sparse_terms import Setting, SparseTerms, sparse_terms
from thresher.noise import Entropy
from thresher.noise.entropy import chosen, this_process
from thresher.noise.laplace import geometric_draws, laplace_draws
from thresher.streams.group_deviation import (
    FAR,
    MOST_LONGEST,
    NOT_LOOKED_AT,
    ArrayGroups,
    LoopGroups,
    OpenGroups,
    read_groups,
    written_groups,
)
from thresher.streams.perturber import NoiseAhead
from thresher.streams.step_blocks import block_of, checked_between, checked_series

# One unit moves a count by 1, and the deviation of a group by less than 2.
SENSITIVITY = 2
_DEFAULT_THETA = 60
_MOST_THETA = 10**12
# Places worked on at once, so that noise and counts stay in the processor's cache.
_CHUNK = 1 << 18
# Places after which a compiled loop has earned the seconds that it takes to compile.
_COMPILED_FROM = 1 << 18


@dataclass(frozen=True, slots=True)
class GrouperTerms:
    """All public numbers of a grouper: `theta` in counts, the longest group, and the terms of its sparse vectors."""

    theta: int
    longest: int
    sparse: SparseTerms

    @property
    def epsilon(self) -> Epsilon:
        """Return what one unit in one step of one series loses by all marks together, at most."""
        return self.sparse.epsilon


def grouper_terms(
    epsilon: Amount,
    theta: Amount | None = None,
    longest: int = MOST_LONGEST,
) -> GrouperTerms:
    """Return the public numbers of a grouper.

    theta     the deviation, in counts, at which a group ends; 60 / epsilon if left out, which suits sparse streams;
              10 to 20 / epsilon where counts are far above 1 / epsilon. Rounded to a whole number.
    longest   a group of this many steps ends, whatever its counts
    """
    sparse = sparse_terms(1, epsilon, Setting(sensitivity=SENSITIVITY))
    return GrouperTerms(_whole_theta(epsilon, theta), checked_between(longest, "longest", 1, MOST_LONGEST), sparse)


def _whole_theta(epsilon: Amount, theta: Amount | None) -> int:
    exact = _DEFAULT_THETA / exact_fraction(epsilon, "epsilon") if theta is None else exact_fraction(theta, "theta")
    if not 0 <= exact <= _MOST_THETA:
        raise ArgumentError("theta", theta, f"it must lie between 0 and {_MOST_THETA}", "Leave it out for 60 / epsilon")
    return round(exact)


class Grouper:
    """Group the steps of `series` streams in lockstep, for ever. What it keeps is bounded by `longest`.

    Privacy: all marks together, for ever, cost `terms.epsilon` for one step of one series: adding or removing all
    events of one unit in that step. A unit in k series of a step loses k times that: divide epsilon by k beforehand.
    Utility: without noise, a group is the longest stretch whose deviation stays below theta.
    Runtime: linear in the number of distinct counts of the group, for each step and series.
    Citations: Chen, Machanavajjhala, Hay, Miklau 2017 (PeGaSus, Algorithm 2).
    """

    def __init__(self, series: int, terms: GrouperTerms, entropy: Entropy | None = None) -> None:
        if not isinstance(terms, GrouperTerms):
            raise ArgumentError("terms", type(terms).__name__, "it must be GrouperTerms", "Pass grouper_terms(epsilon)")
        self.series, self.terms = checked_series(series), terms
        source, self._lock, self._made_in = chosen(entropy), threading.Lock(), this_process()
        self.stamp = source.stamp
        draws = geometric_draws if terms.sparse.one_sided else laplace_draws
        self._cutoffs = NoiseAhead(self.series, terms.sparse.threshold_rate, source, draws)
        self._blurs = NoiseAhead(self.series, terms.sparse.query_rate, source, draws)
        self._open: OpenGroups = LoopGroups([None] * self.series, terms.longest)
        self._places = 0

    def steps(self, counts: NDArray[np.int64], present: NDArray[np.bool_] | None = None) -> NDArray[np.int8]:
        """Return the marks of the next steps, in order; counts are steps by series.

        Counts below 0 count as 0, and those above 2**28 as 2**28: a refusal would reveal that there are any.
        Where `present`, which is public, is False, a step is not looked at and is free. It is marked JOINS, and its
        group goes on as if the step did not exist.
        """
        return self.of_block(block_of(counts, "counts", self.series), present)

    def of_block(self, block: NDArray[np.int64], present: NDArray[np.bool_] | None = None) -> NDArray[np.int8]:
        """Do the same for a block that was checked."""
        # Checked before the lock, which a fork may have copied while it was locked.
        if this_process() != self._made_in:
            raise BugError("a grouper works in the process that made it: a fork would answer twice for one charge")
        exact = np.ascontiguousarray(np.clip(block, 0, FAR))
        if present is not None:
            exact[~_looked_at(present, exact.shape)] = NOT_LOOKED_AT
        marks = np.empty(exact.shape, dtype=np.int8)
        rows = max(1, _CHUNK // self.series)
        with self._lock:
            self._compile_if_it_pays(exact.size)
            try:
                for start in range(0, len(exact), rows):
                    part = exact[start : start + rows]
                    cutoffs, noise = self._drawn(len(part))
                    marks[start : start + rows] = self._open.advanced(part, cutoffs, noise)
            except BaseException:
                # Some of these steps are in their groups and some are not, so no group can go on.
                self._close()
                raise
        return marks

    def close(self) -> None:
        """End all groups: the next step opens one in each series, with a new cutoff."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        self._open = LoopGroups([None] * self.series, self.terms.longest)

    def secrets(self) -> bytes:
        """Return the open groups: noisy cutoffs and true counts. Seal them, or keep none and `close` instead."""
        with self._lock:
            return written_groups(self._open.groups())

    def restore(self, secrets: bytes) -> None:
        """Continue the groups of a grouper with the same series and terms, which must not be used again."""
        groups = read_groups(secrets, self.series, self.terms.longest)
        with self._lock:
            self._open = LoopGroups(groups, self.terms.longest)

    def _drawn(self, steps: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Draw a cutoff and a blur for each place, used or not: what is drawn depends on no count."""
        cutoffs, blurs = (np.empty((steps, self.series), dtype=np.int64) for _ in range(2))
        # By turns, and at most as many as are drawn ahead, so that the order is the same for blocks of any size.
        for start in range(0, steps, self._cutoffs.ahead):
            some = slice(start, min(start + self._cutoffs.ahead, steps))
            cutoffs[some] = self._cutoffs.take(some.stop - start)
            blurs[some] = self._blurs.take(some.stop - start)
        cutoffs += self.terms.theta + self.terms.sparse.offset
        return cutoffs, blurs

    def _compile_if_it_pays(self, places: int) -> None:
        self._places += places
        if self._places >= _COMPILED_FROM and isinstance(self._open, LoopGroups) and compiler() is not None:
            self._open = ArrayGroups(self._open.groups(), self.terms.longest)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        # A copy would have the same noisy cutoffs.
        raise BugError("a grouper cannot be copied or written: its copy would answer twice for one charge")


def group(
    counts: ArrayLike,
    epsilon: Amount,
    theta: Amount | None = None,
    entropy: Entropy | None = None,
) -> NDArray[np.int8]:
    """Return the marks of a whole stream; counts are steps by series, or the steps of one series.

    Privacy: `epsilon` for each step and series, as `Grouper`; divide it by the number of series a unit may be in.
    Utility, Runtime, Citations: as `Grouper`.
    """
    terms = grouper_terms(epsilon, theta)
    exact = block_of(counts, "counts")
    marks = Grouper(exact.shape[1], terms, entropy).steps(exact)
    return marks[:, 0] if np.ndim(counts) == 1 else marks


def _looked_at(present: NDArray[np.bool_], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    array = np.asarray(present)
    if array.dtype != np.bool_ or array.shape != shape:
        rule = "it must hold one boolean for each count"
        raise ArgumentError("present", f"{array.dtype.name}, shape {array.shape}", rule, "Leave it out if all are")
    return array
