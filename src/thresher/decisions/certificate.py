"""What can be said about all groups together: with some confidence, at most this share of the wrong ones is listed.

Each noisy margin has a public score; the scores of all groups, added up, bound the number of false alarms for every
database at once (`score_tables.md`, `certified.md`). What its proof costs and where to stop is settled before data are
looked at, exactly or rounded to the safe side: the cost and the hidden misses up, the line to stop at down.
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
from thresher.release import Certificate

_DIGITS = 10**6
# Of the chance that the certificate fails, this share goes to false alarms, the rest to hidden misses.
_FALSE_ALARMS_SHARE = Fraction(9, 10)
# Weights to choose from, and what a table of each charges groups spread evenly; then the weight is raised a little,
# because groups are fewer away from the line than there.
_CHARGES = tuple(
    (Fraction(tenths, 10), Fraction(hundredths, 100))
    for tenths, hundredths in ((5, 380), (8, 402), (11, 422), (15, 448), (20, 478), (30, 534))
)
_HEAVIEST, _RAISED = Fraction(3), Fraction(13, 10)
_MOST_LEVELS = 10_000
_SPARE_BITS = 128


@dataclass(frozen=True, slots=True)
class CertificateTerms:
    """What a certificate on `groups` groups may rest on at each of its levels.

    log_term   what the proof costs: ln(levels / 0.9 delta), rounded up to a whole number of 2**-20
    weight     the weight of a false alarm in the scores
    margin     false alarms by which the stop is kept short of the line
    hidden     so many misses are not exceeded at any level, except with probability delta / 10 over all levels
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
        """A group is decided when the scores of the others, in units of 2**-20, add up to this or less."""
        return math.floor(-(self.log_term + self.weight * self.margin) * SCORE)

    @property
    def spare(self) -> Fraction:
        """False alarms left if all other groups are clearly below; less than 0 if no data can reach the certificate."""
        return self.false_alarm_rate * (self.groups - 1) - self.log_term / self.weight - self.margin


def plan_numbers(
    groups: int, levels: int, miss_rate: Amount, false_alarm_rate: Amount, delta: Amount
) -> CertificateTerms:
    """The certificate's numbers for so many groups and levels; `delta` is the chance that it may fail."""
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
    """The weight that certifies the densest groups: charge over what is left of the allowance."""
    offers = [
        (charge / (allowed - log_term / weight), weight) for weight, charge in _CHARGES if allowed > log_term / weight
    ]
    return _RAISED * (min(offers)[1] if offers else _HEAVIEST)


@lru_cache(maxsize=256)
def most_successes(trials: int, chance: Fraction, share: Fraction) -> int:
    """The least q with P[more than q successes in so many independent trials] <= share.

    Never less than that; one more only if the probability meets the share to some thirty digits.
    """
    bits = _SPARE_BITS + share.denominator.bit_length()
    top = min(math.floor((trials + 1) * chance), trials)
    above = _terms(trials, chance, top, bits)
    below = _terms(trials, 1 - chance, trials - top, bits)
    # The term both begin with is counted once; rounding down keeps the total too small, and so the tail too large.
    allowed = share * (sum(above) + sum(below) - (1 << bits))
    rounded_up = [term + i for i, term in enumerate(above)]
    last = top + len(above) - 1
    tail, q = (trials - last) * (1 + len(above)), last
    while q > top and tail + rounded_up[q - top] <= allowed:
        tail, q = tail + rounded_up[q - top], q - 1
    return q


def _terms(trials: int, chance: Fraction, top: int, bits: int) -> list[int]:
    """P[i successes] / P[top successes] for i = top, top + 1, ... until nothing is left of it, in units of 2**-bits.

    Rounded down, by at most one unit for every step from the top, which must be the likeliest number: terms fall.
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
    """The sums of scores and the reports of every level so far."""

    def __init__(self, terms: CertificateTerms, miss_rate: Fraction) -> None:
        self._terms, self._miss_rate = terms, miss_rate
        self._levels: list[tuple[int, NDArray[np.bool_]]] = []

    def others_agree(self, level: Fraction, noisy: NDArray[np.int64], lucky: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """For each group: whether the others, without it, look good enough at this level."""
        terms = self._terms
        table = score_table(level, self._miss_rate, terms.false_alarm_rate, terms.weight)
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
