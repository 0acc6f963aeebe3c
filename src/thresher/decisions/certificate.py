"""What can be said about all groups together: with some confidence, at most this share of the wrong ones is listed.

Each noisy margin has a public score; the scores of all groups, added up, bound the number of false alarms for every
database at once (`score_tables.md`, `certified.md`).
Reads: noisy margins. Writes: nothing. Never: a float in a comparison that stops a group.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.decisions.certificate_numbers import CertificateTerms
from thresher.decisions.score_library import table_of
from thresher.decisions.score_tables import SCORE
from thresher.decisions.verdicts import Certificate

_DIGITS = 10**6


class Sheet:
    """The sums of scores and the reports of every level so far."""

    def __init__(self, terms: CertificateTerms, miss_rate: Fraction) -> None:
        self._terms, self._miss_rate = terms, miss_rate
        self._levels: list[tuple[int, NDArray[np.bool_]]] = []

    def others_agree(self, level: Fraction, noisy: NDArray[np.int64], lucky: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """For each group: whether the others, without it, look good enough at this level."""
        terms = self._terms
        table = table_of(level, self._miss_rate, terms.false_alarm_rate, terms.weight)
        scores = table.scores(noisy, lucky)
        total = int(scores.sum())
        self._levels.append((total, table.reported(noisy, lucky)))
        return np.asarray(total - scores <= terms.stop_at)

    def certificate(self, listed: NDArray[np.bool_]) -> Certificate:
        """The best bound of all levels: each holds, all at once, but for delta."""
        best = min((self._bound(total, reported, listed) for total, reported in self._levels), default=Fraction(1))
        share = Fraction(math.ceil(best * _DIGITS), _DIGITS)
        return Certificate(min(share, Fraction(1)), 1 - self._terms.delta, self._terms.false_alarm_rate)

    def _bound(self, total: int, reported: NDArray[np.bool_], listed: NDArray[np.bool_]) -> Fraction:
        terms = self._terms
        surplus = (Fraction(total, SCORE) + terms.log_term) / terms.weight + int((listed & ~reported).sum())
        if surplus <= 0:
            return terms.false_alarm_rate + surplus / terms.groups
        wrong = int((~reported).sum()) - terms.hidden
        return terms.false_alarm_rate + surplus / wrong if wrong > 0 else Fraction(1)
