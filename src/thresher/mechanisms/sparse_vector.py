"""Answer many questions "is it above the threshold?" for the price of those few that are: sparse vector.

    vector = SparseVector(most=2, epsilon="1")              # charged once, here
    vector.ask(query, threshold=100)                         # top or bottom, one at a time; stops at the second top
    sparse_vector(queries, thresholds, most=2, epsilon="1")  # the same on arrays

A top is an answer on the rare side ("above" unless the setting says "below"), a bottom is the other answer. One noise,
drawn once, blurs the threshold, and each query gets its own. Bottoms are free; after `most` tops there are no further
answers. Thresholds may differ from query to query and may depend on data: the sensitivity is that of
`query - threshold`. Without the stop, or with less noise on queries, this is not private at all (`thresher.audit`).
Reads: queries, thresholds, entropy. Writes: nothing. Never: an answer after the last top, an element in an error text.
Proof: `sparse_vector.md`.
"""

import operator
import threading
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon
from thresher.errors import ArgumentError, BugError
from thresher.mechanisms.sparse_accuracy import within
from thresher.mechanisms.sparse_terms import GENERAL, Setting, SparseTerms, sparse_terms
from thresher.noise import Entropy
from thresher.noise.arguments import checked_whole, whole_numbers
from thresher.noise.entropy import chosen, this_process
from thresher.noise.laplace import geometric_draws, laplace_draws

TOP, BOTTOM, UNASKED = 1, 0, -1
# Margins are cut off here, far beyond any noise. Cutting moves no two margins further apart.
_FAR = 1 << 61
_MOST_RUNS = 10**7
# Comparisons made at once by `sparse_vector_runs`.
_CHUNK = 1 << 22


@dataclass(frozen=True, slots=True)
class Answer:
    """Hold one answer. `top`: it is on the rare side. `last`: no answer follows."""

    top: bool
    last: bool
    stamp: str


@dataclass(frozen=True, slots=True, eq=False)
class SparseAnswers:
    """Hold the answers to the first queries: up to the last top that is allowed, or to all queries.

    `epsilon` is the cost of all answers together; `queries` is how many were passed, answered or not.
    """

    tops: NDArray[np.bool_]
    queries: int
    terms: SparseTerms
    stopped: bool
    stamp: str

    @property
    def epsilon(self) -> Epsilon:
        return self.terms.epsilon

    def within(self, miss_rate: Amount) -> int:
        """Return a width w: with probability at least 1 - miss_rate, no answer is off by more than w.

        For side "above", each top has query >= threshold - w and each bottom query <= threshold + w. The promise counts
        the queries that were passed. How many were answered depends on the noise and must not choose the promise.
        """
        return within(self.terms, self.queries, miss_rate)


@dataclass(frozen=True, slots=True, eq=False)
class SparseRuns:
    """Hold independent runs on the same queries, a row for each: TOP, BOTTOM and, after the last top, UNASKED.

    `epsilon` is the cost of each run.
    """

    answers: NDArray[np.int8]
    terms: SparseTerms
    stamp: str

    @property
    def epsilon(self) -> Epsilon:
        return self.terms.epsilon


class SparseVector:
    """Answer one query at a time: any number of bottoms, and `most` tops. It is charged once, when it is made.

    Privacy: all answers together cost `epsilon`, as long as each query moves as the `Setting` says. The queries may be
    chosen by anybody, also by the answers so far.
    Utility: `within(queries, miss_rate)`.
    Runtime: constant for each query.
    Citations: Dwork, Naor, Reingold, Rothblum, Vadhan 2009; Lyu, Su, Li 2017 (the split).
    """

    def __init__(self, most: int, epsilon: Amount, setting: Setting = GENERAL, entropy: Entropy | None = None) -> None:
        self.terms = sparse_terms(most, epsilon, setting)
        self._entropy, self._lock = chosen(entropy), threading.Lock()
        self.stamp = self._entropy.stamp
        self._noisy_zero = _drawn(self.terms, 1, self._entropy, for_threshold=True)[0] + self.terms.offset
        self._left = self.terms.most
        self._made_in = this_process()

    @property
    def epsilon(self) -> Epsilon:
        return self.terms.epsilon

    @property
    def left(self) -> int:
        """Return how many tops may still be given."""
        return self._left

    @property
    def stopped(self) -> bool:
        return not self._left

    def ask(self, query: int, threshold: int = 0) -> Answer:
        """Say, with noise, whether the query is on the rare side of the threshold."""
        margin = _margin(query, threshold, self.terms.setting)
        # Checked before the lock is taken, because a fork may have copied the lock while it was held.
        if this_process() != self._made_in:
            raise BugError("a sparse vector answers in the process that made it only: a forked copy is not charged")
        # Two threads must not both receive the last top.
        with self._lock:
            if not self._left:
                rule = "all these tops have been given, and there is no answer after the last"
                raise ArgumentError("most", self.terms.most, rule, "A new sparse vector costs its epsilon again")
            noise = _drawn(self.terms, 1, self._entropy, for_threshold=False)[0]
            top = bool(margin + noise >= self._noisy_zero)
            self._left -= top
            return Answer(top, top and not self._left, self.stamp)

    def within(self, queries: int, miss_rate: Amount) -> int:
        """Return the width of `SparseAnswers.within` for at most `queries` queries, a number fixed beforehand."""
        return within(self.terms, queries, miss_rate)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        # A copy would answer `most` further tops with the same noisy threshold.
        raise BugError("a sparse vector can be neither copied nor pickled: the copy would give uncharged tops")


def sparse_vector(
    queries: ArrayLike,
    thresholds: ArrayLike,
    most: int,
    epsilon: Amount,
    setting: Setting = GENERAL,
    entropy: Entropy | None = None,
) -> SparseAnswers:
    """Say which queries are on the rare side of their thresholds, first to last, and stop at the `most`-th such answer.

    Thresholds: one whole number for all queries, or one for each.
    Privacy: `epsilon`. Utility: `SparseAnswers.within`. Runtime: linear. Citations: as `SparseVector`.
    """
    terms = sparse_terms(most, epsilon, setting)
    margins = checked_margins(queries, thresholds, terms)
    source = chosen(entropy)
    (row,) = answered_rows(margins, terms, 1, source)
    tops = row[row != UNASKED] == TOP
    tops.flags.writeable = False
    return SparseAnswers(tops, margins.size, terms, bool(tops.sum() == terms.most), source.stamp)


def sparse_vector_runs(
    queries: ArrayLike,
    thresholds: ArrayLike,
    most: int,
    epsilon: Amount,
    runs: int,
    setting: Setting = GENERAL,
    entropy: Entropy | None = None,
) -> SparseRuns:
    """Run `sparse_vector` `runs` times, independently, for studies of its law. Each run costs epsilon."""
    terms = sparse_terms(most, epsilon, setting)
    count = checked_whole(runs, "runs", 0, _MOST_RUNS, "Call it several times")
    source = chosen(entropy)
    rows = answered_rows(checked_margins(queries, thresholds, terms), terms, count, source)
    rows.flags.writeable = False
    return SparseRuns(rows, terms, source.stamp)


def answered_rows(margins: NDArray[np.int64], terms: SparseTerms, runs: int, entropy: Entropy) -> NDArray[np.int8]:
    """Draw independent rows of answers to the same margins. A margin of 0 or more is on the rare side."""
    rows = np.empty((runs, margins.size), dtype=np.int8)
    step = max(1, _CHUNK // max(margins.size, 1))
    for start in range(0, runs, step):
        part = rows[start : start + step]
        zeros = _drawn(terms, len(part), entropy, for_threshold=True) + terms.offset
        noise = _drawn(terms, part.size, entropy, for_threshold=False).reshape(part.shape)
        tops = margins + noise >= zeros[:, None]
        before = np.cumsum(tops, axis=1, dtype=np.int64) - tops
        part[:] = np.where(before < terms.most, tops, UNASKED)
    return rows


def checked_margins(queries: ArrayLike, thresholds: ArrayLike, terms: SparseTerms) -> NDArray[np.int64]:
    """Return by how much each query exceeds its threshold (side "below": falls short of it), cut off at 2**61."""
    asked, lines = whole_numbers(queries, "queries"), whole_numbers(thresholds, "thresholds")
    if asked.ndim != 1:
        raise ArgumentError("queries", f"{asked.ndim} dimensions", "it must be one list", "Pass an int64 array")
    if not asked.size:
        raise ArgumentError("queries", "an empty list", "there must be one query or more", "Pass an int64 array")
    if lines.ndim > 1 or (lines.ndim == 1 and lines.size != asked.size):
        rule = f"there must be one for each of the {asked.size:,} queries, or one for all"
        raise ArgumentError("thresholds", f"{lines.size} thresholds", rule, "Pass arrays of the same length")
    if terms.most > asked.size:
        rule = f"it must be at most the number of queries, {asked.size:,}: more cost epsilon and cannot occur"
        raise ArgumentError("most", terms.most, rule, "Pass a smaller number, or more queries")
    return _difference(asked, lines) if terms.setting.side == "above" else _difference(lines, asked)


def _difference(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int64]:
    """Return the exact difference, cut off at 2**61 either way. Cutting the numbers first could move margins apart."""
    if np.dtype(object) in (first.dtype, second.dtype):
        exact = first.astype(object) - second.astype(object)
        return np.asarray(np.clip(exact, -_FAR, _FAR), dtype=np.int64)
    plain = first - second
    # A difference that wraps around has the wrong sign; it is then beyond 2**63.
    wrapped = ((first < 0) != (second < 0)) & ((plain < 0) != (first < 0))
    return np.clip(np.where(wrapped, np.where(first < 0, -_FAR, _FAR), plain), -_FAR, _FAR)


def _margin(query: int, threshold: int, setting: Setting) -> int:
    """Return one margin. An error names the type of a query, never its value."""
    for field, value in (("query", query), ("threshold", threshold)):
        if isinstance(value, bool | np.bool_ | np.ndarray) or not hasattr(value, "__index__"):
            raise ArgumentError(field, type(value).__name__, "it must be a whole number", "Pass an int such as 5")
    margin = operator.index(query) - operator.index(threshold)
    return min(max(margin if setting.side == "above" else -margin, -_FAR), _FAR)


def _drawn(terms: SparseTerms, size: int, entropy: Entropy, *, for_threshold: bool) -> NDArray[np.int64]:
    rate = terms.threshold_rate if for_threshold else terms.query_rate
    return geometric_draws(rate, size, entropy) if terms.one_sided else laplace_draws(rate, size, entropy)
