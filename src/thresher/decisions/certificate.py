"""The certificate: with some confidence, at most this share of the groups that do not qualify is reported.

Each noisy margin has a public score. The sum of the scores of all groups bounds the number of false alarms, whatever
the data are (`score_tables.md`, `certified.md`). The cost of the proof and the sum at which to stop are settled before
data are read, exactly or rounded to the safe side: the cost and the hidden misses up, the sum down.
Reads: public numbers, noisy margins. Writes: nothing. Never: a float in a comparison that stops a group.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount, whole_number
from thresher.decisions.score_files import score_table
from thresher.decisions.score_levels import log_above
from thresher.decisions.score_tables import SCORE
from thresher.errors import ArgumentError
from thresher.noise.arguments import MAX_SIZE, checked_probability
from thresher.release import Certificate, CountBound

_DIGITS = 10**6
# Of the probability that the certificate fails, this share goes to false alarms, the rest to hidden misses.
_FALSE_ALARMS_SHARE = Fraction(9, 10)
# Weights to choose from, and what a table of each weight charges groups that are spread evenly. Groups are rarer far
# from the threshold, so the chosen weight is raised a little.
_CHARGES = tuple(
    (Fraction(tenths, 10), Fraction(hundredths, 100))
    for tenths, hundredths in ((5, 380), (8, 402), (11, 422), (15, 448), (20, 478), (30, 534))
)
_HEAVIEST, _RAISED = Fraction(3), Fraction(13, 10)
_MOST_LEVELS = 10_000
_SPARE_BITS = 128


@dataclass(frozen=True, slots=True)
class CertificateTerms:
    """The numbers of a certificate on `groups` groups, for each of its levels.

    log_term   the cost of the proof: ln(levels / 0.9 delta), rounded up to a whole number of 2**-20
    weight     the weight of a false alarm in the scores
    margin     how many false alarms the stop leaves to spare
    hidden     how many misses are not exceeded at any level, except with probability delta / 10 over all levels
    """

    groups: int
    false_alarm_rate: Fraction
    delta: Fraction
    log_term: Fraction
    weight: Fraction
    margin: Fraction
    hidden: int

    @property
    def stop_at(self) -> int:
        """Return the sum of the other groups' scores, in units of 2**-20, at or below which a group is decided."""
        return math.floor(-(self.log_term + self.weight * self.margin) * SCORE)

    @property
    def need(self) -> Fraction:
        """Return how many false alarms the share must allow, so that the proof and the margin are paid for."""
        return self.log_term / self.weight + self.margin

    @property
    def spare(self) -> Fraction:
        """Return how many false alarms are left if all other groups are clearly below.

        Less than 0 if no data can reach the certificate.
        """
        return self.false_alarm_rate * (self.groups - 1) - self.need


def plan_numbers(
    groups: int, levels: int, miss_rate: Amount, false_alarm_rate: Amount, delta: Amount
) -> CertificateTerms:
    """Return the numbers of a certificate; `delta` is the probability with which it may fail."""
    count, looks = whole_number(groups, "groups"), whole_number(levels, "levels")
    for field, value, most in (("groups", count, MAX_SIZE), ("levels", looks, _MOST_LEVELS)):
        if not 1 <= value <= most:
            raise ArgumentError(field, value, f"it must be from 1 to {most}", "Pass how many there are")
    missed, alarmed = (
        checked_probability(miss_rate, "miss_rate"),
        checked_probability(false_alarm_rate, "false_alarm_rate"),
    )
    failing = checked_probability(delta, "delta")
    log_term = log_above(_FALSE_ALARMS_SHARE * failing / looks, SCORE)
    return CertificateTerms(
        groups=count,
        false_alarm_rate=alarmed,
        delta=failing,
        log_term=log_term,
        weight=_weight(log_term, _FALSE_ALARMS_SHARE * alarmed * count),
        margin=min(Fraction(1, 2), alarmed * count / 20),
        hidden=most_successes(count, missed, (1 - _FALSE_ALARMS_SHARE) * failing / looks),
    )


def _weight(log_term: Fraction, allowed: Fraction) -> Fraction:
    """Return the weight that certifies the densest groups: that with the least charge over what the proof leaves."""
    offers = [
        (charge / (allowed - log_term / weight), weight) for weight, charge in _CHARGES if allowed > log_term / weight
    ]
    return _RAISED * (min(offers)[1] if offers else _HEAVIEST)


@lru_cache(maxsize=256)
def most_successes(trials: int, chance: Fraction, share: Fraction) -> int:
    """Return the least q with P[more than q successes in `trials` independent trials] <= share.

    Never less than that; one more only if the probability equals the share to some thirty digits.
    """
    bits = _SPARE_BITS + share.denominator.bit_length()
    top = min(math.floor((trials + 1) * chance), trials)
    above = _terms(trials, chance, top, bits)
    below = _terms(trials, 1 - chance, trials - top, bits)
    # The term that both begin with is counted once. Rounding down makes the total too small: the safe side.
    allowed = share * (sum(above) + sum(below) - (1 << bits))
    rounded_up = [term + i for i, term in enumerate(above)]
    last = top + len(above) - 1
    tail, q = (trials - last) * (1 + len(above)), last
    while q > top and tail + rounded_up[q - top] <= allowed:
        tail, q = tail + rounded_up[q - top], q - 1
    return q


def _terms(trials: int, chance: Fraction, top: int, bits: int) -> list[int]:
    """Return P[i successes] / P[top successes] for i = top, top + 1, ... until it is 0, in units of 2**-bits.

    Rounded down by at most one unit for each step from the top, which must be the likeliest number, so that terms fall.
    """
    win, lose = chance.numerator, chance.denominator - chance.numerator
    terms = [1 << bits]
    for i in range(top, trials):
        term = terms[-1] * (trials - i) * win // ((i + 1) * lose)
        if not term:
            break
        terms.append(term)
    return terms


class Sheet:
    """The sums of scores and the reported groups of each level so far."""

    def __init__(self, terms: CertificateTerms, miss_rate: Fraction) -> None:
        self._terms, self._miss_rate = terms, miss_rate
        self._levels: list[tuple[int, NDArray[np.bool_]]] = []

    def others_agree(self, level: Fraction, noisy: NDArray[np.int64], lucky: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Tell for each group whether the scores of the other groups are good enough at this level."""
        terms = self._terms
        table = score_table(level, self._miss_rate, terms.false_alarm_rate, terms.weight)
        scores = table.scores(noisy, lucky)
        total = int(scores.sum())
        self._levels.append((total, table.reported(noisy, lucky)))
        return np.asarray(total - scores <= terms.stop_at)

    def certificate(self, listed: NDArray[np.bool_]) -> Certificate:
        """Return the best share of all levels: all of them hold at once, except with probability delta."""
        best = min(self._share(level, listed) for level in self._levels)
        share = Fraction(math.ceil(best * _DIGITS), _DIGITS)
        return Certificate(min(share, Fraction(1)), 1 - self._terms.delta, self._terms.false_alarm_rate)

    def count_bound(self, listed: NDArray[np.bool_]) -> CountBound:
        """Return the best number of wrong reports of all levels. It is part of what the share rests on."""
        rate, among = self._terms.false_alarm_rate, int(listed.sum())
        # A group that does not qualify is unlisted or wrongly listed, so the number itself adds to what is allowed.
        passing = (self._surplus(level, listed) for level in self._levels)
        allowed = min(surplus + later for surplus, later in passing) + rate * (listed.size - among)
        wrong = max(0, math.floor(allowed / (1 - rate)))
        return CountBound(min(wrong, among), among, 1 - self._terms.delta)

    def may_still_reach(self) -> bool:
        """Tell whether the groups that the last level does not report allow what the proof costs."""
        _, reported = self._levels[-1]
        terms = self._terms
        return terms.false_alarm_rate * int((~reported).sum()) >= terms.log_term / terms.weight

    def _surplus(self, level: tuple[int, NDArray[np.bool_]], listed: NDArray[np.bool_]) -> tuple[Fraction, int]:
        """Return by how much false alarms may pass the share at a level, and how many listed groups it left out."""
        total, reported = level
        terms = self._terms
        return (Fraction(total, SCORE) + terms.log_term) / terms.weight, int((listed & ~reported).sum())

    def _share(self, level: tuple[int, NDArray[np.bool_]], listed: NDArray[np.bool_]) -> Fraction:
        terms, (surplus, later) = self._terms, self._surplus(level, listed)
        rate, passing = terms.false_alarm_rate, surplus + later
        if passing <= 0:
            return rate + passing / terms.groups
        _, reported = level
        wrong = int((~reported).sum()) - terms.hidden
        shares = [Fraction(1)]
        if wrong > 0:
            shares.append(rate + passing / wrong)
        if wrong > later and wrong + surplus > 0:
            shares.append(rate + passing * (1 - rate) / (wrong + surplus))
        return min(shares)
