"""Certified decisions as one call on plain arrays: margins in, `Verdicts` with a certificate out, no engine.

Reads: arguments, entropy. Writes: nothing. Never: a draw before all arguments are checked and the price is known.
"""

from dataclasses import replace
from fractions import Fraction

from numpy.typing import ArrayLike

from thresher.amounts import Amount, whole_number
from thresher.decisions.arrays import whole_margins
from thresher.decisions.rules import Terms, checked_rate, decided, priced
from thresher.decisions.verdicts import MISSES, Bound, Verdicts, checked_bound, unread
from thresher.errors import ArgumentError
from thresher.noise import Entropy

_FAR = 1 << 39


def certified_verdicts(
    margins: ArrayLike,
    widest: int,
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    *,
    max_epsilon: Amount = "1",
    confidence: Amount | None = None,
    half_width: int | None = None,
    bound: Bound = MISSES,
    entropy: Entropy | None = None,
) -> Verdicts:
    """Look closer until few enough false alarms are certified (L), each group stopped by the others only.

    `widest` is a public guess at the largest margin; `half_width`, if given, the sharpest look worth taking. With few
    groups each verdict stands for itself, unless a `confidence` is named: then it is refused where it cannot be had.
    """
    asked = _asked(margins, widest, miss_rate, false_alarm_rate, checked_bound(bound))
    asked = replace(asked, finest=None if half_width is None else _distance(half_width, "half_width"))
    return _answered("certified", margins, asked.limited(max_epsilon, confidence), entropy)


def three_way_verdicts(
    margins: ArrayLike,
    widest: int,
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    *,
    max_epsilon: Amount = "1",
    confidence: Amount | None = None,
    bound: Bound = MISSES,
    entropy: Entropy | None = None,
) -> Verdicts:
    """The same promise at fixed levels: decided groups are left alone and lose less (F.4 on the margin)."""
    asked = _asked(margins, widest, miss_rate, false_alarm_rate, checked_bound(bound))
    return _answered("three-way", margins, asked.limited(max_epsilon, confidence), entropy)


def _asked(margins: ArrayLike, widest: int, miss_rate: Amount, false_alarm_rate: Amount, bound: Bound) -> Terms:
    rates = checked_rate(miss_rate, "miss_rate", bound), checked_rate(false_alarm_rate, "false_alarm_rate", bound)
    groups = whole_margins(margins, "margins").size
    return Terms(*rates, bound, widest=Fraction(_distance(widest, "widest")), groups=groups)


def _answered(mechanism: str, margins: ArrayLike, terms: Terms, entropy: Entropy | None) -> Verdicts:
    held = whole_margins(margins, "margins")
    if terms.free or not held.size:
        return unread(held.size, terms.bound)
    # One look at a handful of groups has a half width: as asked for, or three tenths of the range.
    width = terms.finest or max(1, int((terms.widest or 1) * 3 / 10))
    return decided(held, priced(mechanism, terms, [(width, 1)]), entropy)


def _distance(value: int, field: str) -> int:
    distance = whole_number(value, field)
    if not 1 <= distance < _FAR:
        raise ArgumentError(field, value, "it must be 1 or more, and below 2**39", "Pass 1000, say")
    return distance
