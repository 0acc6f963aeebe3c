"""Sparse vector: many questions "is it above?" for the price of the few that are. Proof beside.

    vector = SparseVector(most=2, epsilon="1")              # charged once, here
    vector.ask(query, threshold=100)                         # top or bottom, one at a time; stops at the second top
    sparse_vector(queries, thresholds, most=2, epsilon="1")  # the same on arrays

One noise, drawn once, blurs the threshold; one blurs every query; bottoms are free, and after `most` tops nothing is
answered any more. Thresholds may differ from query to query and may depend on data: the sensitivity is that of
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

from thresher.amounts import Amount, Epsilon, whole_number
from thresher.errors import ArgumentError, BugError
from thresher.mechanisms.sparse_accuracy import within
from thresher.mechanisms.sparse_terms import GENERAL, Setting, SparseTerms, sparse_terms
from thresher.noise import Entropy
from thresher.noise.arguments import whole_numbers
from thresher.noise.entropy import chosen, this_process
from thresher.noise.laplace import geometric_draws, laplace_draws

TOP, BOTTOM, UNASKED = 1, 0, -1
# Margins are cut off here, far beyond any noise; cutting moves no two of them apart.
_FAR = 1 << 61
_MOST_RUNS = 10**7
# Comparisons made at once by `sparse_vector_runs`.
_CHUNK = 1 << 22


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `top`: the rare side. `last`: it was the last one that is given."""

    top: bool
    last: bool
    stamp: str


@dataclass(frozen=True, slots=True, eq=False)
class SparseAnswers:
    """The answers to the first queries: up to the last top that is allowed, or to all of them.

    `epsilon` is what they cost altogether; `queries` is how many were passed, answered or not.
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
        """How far off any of these answers may be, unless a chance of `miss_rate` came true.

        Every top has query >= threshold - this, every bottom query <= threshold + this (for "above"). It counts the
        queries that were passed: how many were answered depends on the noise, and so cannot choose the promise.
        """
        return within(self.terms, self.queries, miss_rate)


@dataclass(frozen=True, slots=True, eq=False)
class SparseRuns:
    """Independent runs on the same queries: a row each of TOP, BOTTOM and, after the last top, UNASKED.

    `epsilon` is what each run costs.
    """

    answers: NDArray[np.int8]
    terms: SparseTerms
    stamp: str

    @property
    def epsilon(self) -> Epsilon:
        return self.terms.epsilon


class SparseVector:
    """Ask one query at a time. Charged once, when it is made; any number of bottoms and `most` tops are answered.

    Privacy: all answers together cost `epsilon`, whoever chooses the queries, also if by the answers so far, as long
    as each moves as its `Setting` says.
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
        """Tops that may still be given."""
        return self._left

    @property
    def stopped(self) -> bool:
        return not self._left

    def ask(self, query: int, threshold: int = 0) -> Answer:
        """Whether the query is on the rare side of the threshold, noisily."""
        margin = _margin(query, threshold, self.terms.setting)
        # Looked at before the lock, which a fork may have copied while it was held.
        if this_process() != self._made_in:
            raise BugError("a sparse vector answers in the process that made it: a fork of it would answer for nothing")
        # In threads too: two askers must not both be given the last top.
        with self._lock:
            if not self._left:
                rule = "so many tops were given, and nothing is answered after the last"
                raise ArgumentError("most", self.terms.most, rule, "Make another one, which is charged anew")
            noise = _drawn(self.terms, 1, self._entropy, for_threshold=False)[0]
            top = bool(margin + noise >= self._noisy_zero)
            self._left -= top
            return Answer(top, top and not self._left, self.stamp)

    def within(self, queries: int, miss_rate: Amount) -> int:
        """As `SparseAnswers.within`, if at most so many queries, a number fixed beforehand, are asked."""
        return within(self.terms, queries, miss_rate)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        # A copy would have the same noisy threshold and tops of its own.
        raise BugError("a sparse vector is neither copied nor written: its copy would answer again for nothing")


def sparse_vector(
    queries: ArrayLike,
    thresholds: ArrayLike,
    most: int,
    epsilon: Amount,
    setting: Setting = GENERAL,
    entropy: Entropy | None = None,
) -> SparseAnswers:
    """Which queries are on the rare side of their thresholds, first to last, until `most` of them were.

    Thresholds: one whole number for all, or one for each query.
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
    """`sparse_vector` so many times over, independently: for studies of its law. Each run costs epsilon."""
    terms = sparse_terms(most, epsilon, setting)
    count = whole_number(runs, "runs")
    if not 0 <= count <= _MOST_RUNS:
        raise ArgumentError("runs", runs, f"it must lie between 0 and {_MOST_RUNS}", "Run several times")
    source = chosen(entropy)
    rows = answered_rows(checked_margins(queries, thresholds, terms), terms, count, source)
    rows.flags.writeable = False
    return SparseRuns(rows, terms, source.stamp)


def answered_rows(margins: NDArray[np.int64], terms: SparseTerms, runs: int, entropy: Entropy) -> NDArray[np.int8]:
    """Independent rows of answers to the same margins (0 or more: rare)."""
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
    """By how much each query passes its threshold ("below": stays under it), cut off where it cannot matter."""
    asked, lines = whole_numbers(queries, "queries"), whole_numbers(thresholds, "thresholds")
    if asked.ndim != 1:
        raise ArgumentError("queries", f"{asked.ndim} dimensions", "it must be one list", "Pass an int64 array")
    if not asked.size:
        raise ArgumentError("queries", "an empty list", "there must be one query or more", "Pass an int64 array")
    if lines.ndim > 1 or (lines.ndim == 1 and lines.size != asked.size):
        rule = f"there must be one for each of the {asked.size} queries, or one for all"
        raise ArgumentError("thresholds", f"{lines.size} thresholds", rule, "Pass arrays of the same length")
    if terms.most > asked.size:
        rule = f"it must be at most the number of queries, {asked.size}: more tops would be paid for than can come"
        raise ArgumentError("most", terms.most, rule, "Pass a smaller number, or more queries")
    return _difference(asked, lines) if terms.setting.side == "above" else _difference(lines, asked)


def _difference(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int64]:
    """The exact difference, cut off at 2**61 either way. To cut each number first could move differences apart."""
    if np.dtype(object) in (first.dtype, second.dtype):
        exact = first.astype(object) - second.astype(object)
        return np.asarray(np.clip(exact, -_FAR, _FAR), dtype=np.int64)
    plain = first - second
    # A sum that wraps around has the wrong sign; then the difference is beyond 2**63.
    wrapped = ((first < 0) != (second < 0)) & ((plain < 0) != (first < 0))
    return np.clip(np.where(wrapped, np.where(first < 0, -_FAR, _FAR), plain), -_FAR, _FAR)


def _margin(query: int, threshold: int, setting: Setting) -> int:
    """One difference. Not even what the query is may be said if it is no whole number."""
    for field, value in (("query", query), ("threshold", threshold)):
        if isinstance(value, bool | np.bool_ | np.ndarray) or not hasattr(value, "__index__"):
            raise ArgumentError(field, type(value).__name__, "it must be a whole number", "Pass an int such as 5")
    margin = operator.index(query) - operator.index(threshold)
    return min(max(margin if setting.side == "above" else -margin, -_FAR), _FAR)


def _drawn(terms: SparseTerms, size: int, entropy: Entropy, *, for_threshold: bool) -> NDArray[np.int64]:
    rate = terms.threshold_rate if for_threshold else terms.query_rate
    return geometric_draws(rate, size, entropy) if terms.one_sided else laplace_draws(rate, size, entropy)
