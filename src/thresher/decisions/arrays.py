"""Each mechanism as one function on plain arrays: margins in, `Verdicts` out, without an engine.

    margins = slack(counts, ">", capacities)
    seen    = progressive(margins, half_width=10, miss_rate="0.05")

Misses are bounded first. To bound false alarms first, pass `-1 - margins` with the two rates exchanged, and negate the
verdicts. The caller keeps count of what is spent. One unit may move each margin by 1.
Reads: arguments, entropy. Writes: nothing. Never: a draw before all arguments are checked and the price is known.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction, whole_number
from thresher.decisions.adaptive_ladder import adaptive_ladder_of
from thresher.decisions.aim import Aim
from thresher.decisions.decision_options import checked_error_rate, checked_looks, ledger_epsilon, named_epsilon
from thresher.decisions.ladder import ladder_of, rungs_of
from thresher.decisions.look import Look
from thresher.decisions.margin import TrueMargins
from thresher.decisions.regimes import certified_look, three_way_look
from thresher.decisions.shift import check_zone_rates, priced_naive, shift_look, zone_of
from thresher.decisions.verdicts import Verdicts, nothing_read
from thresher.errors import ArgumentError, TooDearError
from thresher.noise import Entropy

_FAR = 1 << 40
_HALF = Fraction(1, 2)
_MOST_TIMES = 1 << 10
# Few groups are measured within this part of the range, if no half width is asked for.
_PARTS_OF_RANGE = 20
Priced = Callable[[Aim], Look]


class LookOptions(TypedDict, total=False):
    """Options of each mechanism: the most that it may cost, and where its noise comes from."""

    max_epsilon: Amount | None
    entropy: Entropy | None


class LadderOptions(LookOptions, total=False):
    """Options of mechanisms that climb."""

    levels: int
    first_epsilon: Amount | None


class ReachingOptions(TypedDict, total=False):
    """Options of mechanisms that stop by what they reach: a limit, and the confidence of a certificate."""

    max_epsilon: Amount
    confidence: Amount | None
    entropy: Entropy | None


def naive_laplace(
    margins: ArrayLike,
    half_width: int,
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    **options: Unpack[LookOptions],
) -> Verdicts:
    """Compare noisy margins with an unmoved threshold (NLM): a baseline.

    `miss_rate` is kept only for groups that are `half_width` or more above the threshold.
    """
    _check_names(options, LookOptions)
    aim = _aim(half_width, miss_rate, false_alarm_rate)
    return _answered(margins, aim, lambda to: priced_naive(to.first_rate, to.second_rate, to.tolerances), options)


def threshold_shift(
    margins: ArrayLike,
    half_width: int,
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    **options: Unpack[LookOptions],
) -> Verdicts:
    """Tell which margins are 0 or more, and miss each with probability at most `miss_rate` (TSLM)."""
    _check_names(options, LookOptions)
    return _answered(margins, _aim(half_width, miss_rate, false_alarm_rate), shift_look, options)


def threshold_zone(
    margins: ArrayLike,
    width: int,
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    **options: Unpack[LookOptions],
) -> Verdicts:
    """Keep both rates outside a zone: a margin of 0 or more is rarely missed, -width or less is rarely reported.

    Width 1 decides between neighbouring whole numbers, at the least epsilon that any private verdict can have.
    """
    _check_names(options, LookOptions)
    aim = _aim(width, miss_rate, false_alarm_rate, "width")
    check_zone_rates(aim.first_rate, aim.second_rate)

    def priced(to: Aim) -> Look:
        return zone_of(to.first_rate, to.second_rate, to.tolerances[0][0], 1)

    return _answered(margins, aim, priced, options)


def progressive(
    margins: ArrayLike,
    half_width: int,
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    **options: Unpack[LadderOptions],
) -> Verdicts:
    """Look up to `levels` times, more and more finely, at groups that stay undecided (PPWLM).

    A group loses the level at which it stops.
    """
    _check_names(options, LadderOptions)
    aim = _climbing(_aim(half_width, miss_rate, false_alarm_rate), options)
    return _answered(margins, aim, lambda to: rungs_of(to, ladder_of), options)


def adaptive(
    margins: ArrayLike,
    half_width: int,
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    *,
    best_effort: bool = False,
    **options: Unpack[LadderOptions],
) -> Verdicts:
    """Look as `progressive` does, with each next level chosen by what was seen (DPPWLM).

    With `best_effort` the half width may end wider than asked for.
    """
    _check_names(options, LadderOptions)
    if not isinstance(best_effort, bool | np.bool_):
        raise ArgumentError("best_effort", best_effort, "it is true or false", "Pass True, or leave it out")
    aim = _climbing(_aim(half_width, miss_rate, false_alarm_rate), options)

    def priced(to: Aim) -> Look:
        return replace(rungs_of(to, adaptive_ladder_of), best_effort=bool(best_effort))

    return _answered(margins, aim, priced, options)


def certified_verdicts(
    margins: ArrayLike,
    widest: int,
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    *,
    half_width: int | None = None,
    **options: Unpack[ReachingOptions],
) -> Verdicts:
    """Look more and more finely until few enough false alarms are certified (L). A group's own noise never stops it.

    `widest` is a public guess at the largest margin; `half_width`, if given, is the finest look worth taking. Few
    groups are measured each by itself, within `half_width` or a twentieth of `widest`. If a `confidence` is named and
    cannot be reached, the call is refused.
    """
    finest = None if half_width is None else _distance(half_width, "half_width")
    return _reaching(margins, widest, (miss_rate, false_alarm_rate), finest, certified_look, options)


def three_way_verdicts(
    margins: ArrayLike,
    widest: int,
    miss_rate: Amount = "0.05",
    false_alarm_rate: Amount = "0.10",
    **options: Unpack[ReachingOptions],
) -> Verdicts:
    """Keep the promise of `certified_verdicts` at fixed levels: decided groups are left alone and lose less (F.4)."""
    return _reaching(margins, widest, (miss_rate, false_alarm_rate), None, three_way_look, options)


def slack(values: ArrayLike, comparison: str, thresholds: ArrayLike | Amount) -> NDArray[np.int64]:
    """Return by how much each whole number meets its condition: 0 or more exactly where the comparison holds.

    Thresholds are one number or one for each value, and need not be whole: 7 > 6.5 is 7 >= 7, which holds by 0.
    """
    if comparison not in (">", ">=", "<", "<="):
        raise ArgumentError("comparison", comparison, "it must be one of > >= < <=", "Pass one of them")
    counts, (floors, ceilings) = whole_margins(values, "values"), _lines(thresholds)
    if floors.ndim and floors.shape != counts.shape:
        rule = f"there must be one for each of the {counts.size} values, or one for all"
        raise ArgumentError("thresholds", f"{floors.size} thresholds", rule, "Pass arrays of the same length")
    if comparison in (">", ">="):
        return counts - (floors + 1 if comparison == ">" else ceilings)
    return (ceilings - 1 if comparison == "<" else floors) - counts


def whole_margins(values: ArrayLike, field: str) -> NDArray[np.int64]:
    """Return a list of whole numbers as int64. No message shows the numbers or depends on them."""
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
    # Far beyond any threshold that matters; clamping increases no distance between values.
    plain = np.minimum(array, _FAR) if array.dtype == np.uint64 or wide else array
    return np.clip((np.maximum(plain, -_FAR) if wide else plain).astype(np.int64), -_FAR, _FAR)


def _wider(aim: Aim, priced: Priced, limit: Epsilon) -> str | None:
    """Return in words which multiple of the half width keeps within a limit; None if none is found."""
    ((steps, spread),) = aim.tolerances
    times = 2
    while times <= _MOST_TIMES:
        cost = priced(replace(aim, tolerances=((steps * times, spread),))).epsilon
        if cost <= limit:
            return f"With {times} times the half width it would cost {cost}"
        times *= 2
    return None


def _answered(margins: ArrayLike, aim: Aim, priced: Priced, options: LookOptions | LadderOptions) -> Verdicts:
    """Answer free if the rate needs no data. Otherwise price the look, refuse it if it is too dear, and then draw."""
    held = whole_margins(margins, "margins")
    if aim.first_rate >= _HALF:
        return nothing_read(held.size)
    look, most = priced(aim), options.get("max_epsilon")
    limit = None if most is None else named_epsilon(most, "max_epsilon")
    if limit is not None and look.epsilon > limit:
        raise TooDearError("max_epsilon", look.epsilon, limit, _wider(aim, priced, limit))
    return look.decide(TrueMargins.of(held), options.get("entropy"))


def _reaching(
    margins: ArrayLike,
    widest: int,
    rates: tuple[Amount, Amount],
    finest: int | None,
    priced: Priced,
    options: ReachingOptions,
) -> Verdicts:
    _check_names(options, ReachingOptions)
    first, second = checked_error_rate(rates[0], "miss_rate"), checked_error_rate(rates[1], "false_alarm_rate")
    held, reach = whole_margins(margins, "margins"), _distance(widest, "widest")
    # Without a question there is no threshold to take a part of.
    usual = max(1, reach // _PARTS_OF_RANGE)
    tolerances = ((finest or usual, 1),)
    aim = Aim(first, second, tolerances, finest is not None, held.size, widest=Fraction(reach), usual=usual)
    aim = aim.limited(options.get("max_epsilon", "1"), options.get("confidence"))
    if first >= _HALF or not held.size:
        return nothing_read(held.size)
    return priced(aim).decide(TrueMargins.of(held), options.get("entropy"))


def _aim(half_width: int, miss_rate: Amount, false_alarm_rate: Amount, field: str = "half_width") -> Aim:
    steps = whole_number(half_width, field)
    if not 1 <= steps < _FAR // 2:
        raise ArgumentError(field, half_width, "it must be 1 or more, and below 2**39", "Pass 10, say")
    rates = checked_error_rate(miss_rate, "miss_rate"), checked_error_rate(false_alarm_rate, "false_alarm_rate")
    return Aim(*rates, ((steps, 1),))


def _climbing(aim: Aim, options: LadderOptions) -> Aim:
    first = options.get("first_epsilon")
    level = None if first is None else ledger_epsilon(first, "first_epsilon", "0.001")
    return replace(aim, levels=checked_looks(whole_number(options.get("levels", 4), "levels")), first_epsilon=level)


def _check_names(options: LookOptions | ReachingOptions, known: type) -> None:
    for name in options:
        if name not in known.__annotations__:
            raise TypeError(f"there is no option {name}; options are {', '.join(known.__annotations__)}")


def _distance(value: int, field: str) -> int:
    distance = whole_number(value, field)
    if not 1 <= distance < _FAR // 2:
        raise ArgumentError(field, value, "it must be 1 or more, and below 2**39", "Pass 1000, say")
    return distance


def _lines(thresholds: ArrayLike | Amount) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the whole numbers below and above each threshold. Thresholds are public, so messages may name them."""
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
            raise ArgumentError(name, line, "it must lie between -2**40 and 2**40", "Count in larger units")
    below, above = (np.array([end(line) for line in lines], dtype=np.int64) for end in (math.floor, math.ceil))
    return below.reshape(given.shape), above.reshape(given.shape)
