"""Every mechanism as one call on plain arrays: margins in, `Verdicts` out, no engine.

    margins = slack(counts, ">", capacities)
    seen    = progressive(margins, half_width=10, miss_rate="0.05")

Whoever calls these keeps count of what is spent. One unit may move each margin by 1.
Reads: arguments, entropy. Writes: nothing. Never: a draw before all arguments are checked and the price is known.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction, whole_number
from thresher.decisions.rules import (
    Rule,
    Terms,
    affordable,
    checked_first,
    checked_levels,
    checked_rate,
    decided,
    named_epsilon,
    priced,
)
from thresher.decisions.threshold_shift import Tolerances, zone_of
from thresher.decisions.verdicts import MISSES, Bound, Verdicts, checked_bound, unread
from thresher.errors import ArgumentError, TooDearError
from thresher.noise import Entropy

Price = Callable[[Terms, Tolerances], Rule]
_FAR = 1 << 40


def naive_laplace(
    margins: ArrayLike,
    half_width: int,
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    *,
    bound: Bound = MISSES,
    max_epsilon: Amount | None = None,
    entropy: Entropy | None = None,
) -> Verdicts:
    """Noise, and the line as it is (NLM): `miss_rate` is kept only `half_width` or more above it. A baseline."""
    asked = _asked(margins, half_width, miss_rate, false_alarm_rate, bound)
    return asked.answered(partial(priced, "nlm"), max_epsilon, entropy)


def threshold_shift(
    margins: ArrayLike,
    half_width: int,
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    *,
    bound: Bound = MISSES,
    max_epsilon: Amount | None = None,
    entropy: Entropy | None = None,
) -> Verdicts:
    """Which of these whole numbers are 0 or more: missed with probability at most `miss_rate` each (TSLM)."""
    asked = _asked(margins, half_width, miss_rate, false_alarm_rate, bound)
    return asked.answered(partial(priced, "tslm"), max_epsilon, entropy)


def threshold_zone(
    margins: ArrayLike,
    width: int,
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    *,
    bound: Bound = MISSES,
    max_epsilon: Amount | None = None,
    entropy: Entropy | None = None,
) -> Verdicts:
    """Both rates kept outside a zone: 0 or more is rarely missed, -width or less rarely reported.

    Width 1 decides between neighbouring whole numbers, at the least epsilon that any private verdict can have.
    """
    asked = _asked(margins, width, miss_rate, false_alarm_rate, bound, "width")
    return asked.answered(_zone, max_epsilon, entropy)


def progressive(
    margins: ArrayLike,
    half_width: int,
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    *,
    levels: int = 4,
    first_epsilon: Amount | None = None,
    bound: Bound = MISSES,
    max_epsilon: Amount | None = None,
    entropy: Entropy | None = None,
) -> Verdicts:
    """Up to `levels` looks, each sharper, at groups that stay undecided (PPWLM). A group loses where it stops."""
    asked = _asked(margins, half_width, miss_rate, false_alarm_rate, bound).climbing(levels, first_epsilon)
    return asked.answered(partial(priced, "ppwlm"), max_epsilon, entropy)


def adaptive(
    margins: ArrayLike,
    half_width: int,
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    *,
    levels: int = 4,
    first_epsilon: Amount | None = None,
    best_effort: bool = False,
    bound: Bound = MISSES,
    max_epsilon: Amount | None = None,
    entropy: Entropy | None = None,
) -> Verdicts:
    """As `progressive`, each next level chosen by what was seen (DPPWLM). `best_effort` may end with a wider region."""
    asked = _asked(margins, half_width, miss_rate, false_alarm_rate, bound).climbing(levels, first_epsilon, best_effort)
    return asked.answered(partial(priced, "dppwlm"), max_epsilon, entropy)


def slack(values: ArrayLike, comparison: str, thresholds: ArrayLike | Amount) -> NDArray[np.int64]:
    """By how much each whole number meets its condition: 0 or more exactly where `value comparison threshold` holds.

    Thresholds are one number or one for each value, and need not be whole: 7 > 6.5 is 7 >= 7, which holds by 0.
    """
    if comparison not in (">", ">=", "<", "<="):
        raise ArgumentError("comparison", comparison, "it is one of > >= < <=", "Pass one of them")
    counts, (floors, ceilings) = whole_margins(values, "values"), _lines(thresholds)
    if floors.ndim and floors.shape != counts.shape:
        rule = f"there must be one for each of the {counts.size} values, or one for all"
        raise ArgumentError("thresholds", f"{floors.size} thresholds", rule, "Pass arrays of the same length")
    if comparison in (">", ">="):
        return counts - (floors + 1 if comparison == ">" else ceilings)
    return (ceilings - 1 if comparison == "<" else floors) - counts


@dataclass(frozen=True, slots=True)
class _Asked:
    """Checked arguments."""

    margins: NDArray[np.int64]
    steps: int
    terms: Terms

    def climbing(self, levels: int, first_epsilon: Amount | None, best_effort: object = False) -> "_Asked":  # noqa: FBT002
        first = None if first_epsilon is None else checked_first(first_epsilon)
        terms = replace(self.terms, levels=checked_levels(levels), first_epsilon=first, best_effort=_truth(best_effort))
        return replace(self, terms=terms)

    def answered(self, price: Price, max_epsilon: Amount | None, entropy: Entropy | None) -> Verdicts:
        """Free if the rate needs no data; otherwise priced, refused if too dear, and only then drawn."""
        if self.terms.free and price is not _zone:
            return unread(self.margins.size, self.terms.bound)
        rule = price(self.terms, [(self.steps, 1)])
        limit = None if max_epsilon is None else named_epsilon(max_epsilon, "max_epsilon")
        if limit is not None and rule.epsilon > limit:

            def cost_of(terms: Terms, times: Fraction) -> Epsilon:
                return price(terms, [(int(self.steps * times), 1)]).epsilon

            raise TooDearError("max_epsilon", rule.epsilon, limit, affordable(cost_of, self.terms, limit))
        return decided(self.margins, rule, entropy)


def _zone(terms: Terms, tolerances: Tolerances) -> Rule:
    ((width, _),) = tolerances
    return replace(zone_of(*terms.two_rates, width, 1), bound=terms.bound)


def _truth(value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError("best_effort", value, "it is true or false", "Pass True, or leave it out")
    return bool(value)


def _asked(
    margins: ArrayLike,
    half_width: int,
    miss_rate: Amount,
    false_alarm_rate: Amount,
    bound: Bound,
    field: str = "half_width",
) -> _Asked:
    steps = whole_number(half_width, field)
    if not 1 <= steps < _FAR // 2:
        raise ArgumentError(field, half_width, "it must be 1 or more, and below 2**39", "Pass 10, say")
    side = checked_bound(bound)
    rates = (
        checked_rate(miss_rate, "miss_rate", side),
        checked_rate(false_alarm_rate, "false_alarm_rate", side),
    )
    return _Asked(whole_margins(margins, "margins"), steps, Terms(*rates, side))


def whole_margins(values: ArrayLike, field: str) -> NDArray[np.int64]:
    """A list of whole numbers. What they are never appears in a message, nor does a message depend on it."""
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError):
        array = np.empty(0, dtype=object)
    # Python's integers that need more than 63 bits are whole numbers like others.
    wide = array.dtype == object and all(type(value) is int for value in array.flat)
    listed = array.ndim == 1 and (array.dtype.kind in "iu" or (wide and array.size > 0))
    if not listed or np.ma.isMaskedArray(values):
        kind = array.dtype.name if array.ndim == 1 else f"{array.ndim} dimensions"
        raise ArgumentError(field, kind, "it must be one list of whole numbers", "Pass an int64 array")
    # Far beyond any threshold that could matter; clamping moves no two values apart.
    plain = np.minimum(array, _FAR) if array.dtype == np.uint64 or wide else array
    return np.clip((np.maximum(plain, -_FAR) if wide else plain).astype(np.int64), -_FAR, _FAR)


def _lines(thresholds: ArrayLike | Amount) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The whole numbers next below and next above each threshold. Thresholds are public, so messages may name them."""
    try:
        given = np.asarray(thresholds)
    except (ValueError, TypeError, OverflowError):
        given = np.empty((0, 0))
    if given.ndim > 1 or np.ma.isMaskedArray(thresholds):
        rule = "it must be one number, or one list of numbers"
        raise ArgumentError("thresholds", type(thresholds).__name__, rule, "Pass as many as there are values, or one")
    names = [f"thresholds[{i}]" for i in range(given.size)] if given.ndim else ["thresholds"]
    lines = [exact_fraction(line, name) for name, line in zip(names, given.ravel().tolist(), strict=True)]
    for name, line in zip(names, lines, strict=True):
        # Values are clamped there, so a line as far away could not tell them apart.
        if abs(line) >= _FAR:
            raise ArgumentError(name, line, "it must lie within 2**40 of zero", "Count in larger units")
    below, above = (np.array([end(line) for line in lines], dtype=np.int64) for end in (math.floor, math.ceil))
    return below.reshape(given.shape), above.reshape(given.shape)
