"""Place the line of an alarm: as far on the ringing side of the threshold as the exact tail of the noise needs.

Reads: rates, thresholds. Writes: nothing. Never: data; a promise from an unchecked float. Proof: `alarms.md`.
"""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Literal, get_args

from thresher.amounts import Amount, exact_fraction
from thresher.errors import ArgumentError
from thresher.noise import NoiseSum, least_distance
from thresher.noise.arguments import checked_probability, checked_rate
from thresher.noise.enclosure import certified
from thresher.streams.alarms import Alarm, Kind
from thresher.streams.step_blocks import MOST_COUNT, checked_between
from thresher.streams.tree_windows import checked_length, levels_of
from thresher.streams.window_sums import MOST_STEPS

# It takes about two seconds to place an alarm over this many noises.
MOST_NOISES = 4096


def alarm(
    kind: Kind,
    threshold: Amount,
    window: int,
    epsilon: Amount,
    miss_rate: Amount,
    false_alarm_rate: Amount,
    members: int = 1,
) -> Alarm:
    """Make an alarm over counts with noise at `epsilon` each (`perturb`), or over sums of `members` such series.

    Privacy: post-processing; free beyond the noisy counts.
    Utility: at each step at which the event is true, the alarm is silent with probability at most `miss_rate`. At each
    step at which the true number lies beyond the zone, it rings with probability at most `false_alarm_rate`. The shift
    and the zone are the least that keep both rates. Over n steps expect at most n times the rate; errors of nearby
    steps share their noise.
    Runtime: grows with the square of window times members: 0.1 s for a thousand noises, once. At most 4,096.
    """
    if kind not in get_args(Kind):
        raise ArgumentError("kind", kind, f"it must be one of {', '.join(get_args(Kind))}", 'Pass e.g. "low"')
    steps, series = checked_between(window, "window", 1, MOST_STEPS), checked_between(members, "members", 1, MOST_COUNT)
    terms = series * (steps if kind in ("low", "high") else 2)
    if terms > MOST_NOISES:
        rule = f"it adds up {terms} noises, and exact tails are computed for at most {MOST_NOISES}"
        raise ArgumentError("window", window, rule, "Take a shorter window, fewer members, or tree_alarm")
    checked_rate(epsilon, 1)
    return _placed(kind, threshold, steps, epsilon, miss_rate, false_alarm_rate, NoiseSum((1,) * terms))


def tree_alarm(
    kind: Literal["low", "high"],
    threshold: Amount,
    length: int,
    epsilon: Amount,
    miss_rate: Amount,
    false_alarm_rate: Amount,
    members: int = 1,
) -> Alarm:
    """Make an alarm over the sums of `TreeWindows(series, length, epsilon)`, or over sums of `members` such series.

    Privacy: post-processing of those windows, which have their own price. Utility: as `alarm`; the noise is that of
    log2(length) + 1 nodes, the most that a window has. Runtime: milliseconds, once.
    """
    if kind not in ("low", "high"):
        raise ArgumentError("kind", kind, "windows of a tree are sums, which are low or high", 'Pass "low" or "high"')
    steps = checked_length(length)
    levels, series = levels_of(steps), checked_between(members, "members", 1, MOST_COUNT)
    if series * levels > MOST_NOISES:
        rule = f"it adds up {series * levels} noises, and exact tails are computed for at most {MOST_NOISES}"
        raise ArgumentError("members", members, rule, "Take fewer members")
    checked_rate(epsilon, levels)
    noise = NoiseSum((1,) * (series * levels), sensitivity=levels)
    placed = _placed(kind, threshold, steps, epsilon, miss_rate, false_alarm_rate, noise)
    return replace(placed, summed=True)


def _placed(
    kind: Kind,
    threshold: Amount,
    window: int,
    epsilon: Amount,
    miss_rate: Amount,
    false_alarm_rate: Amount,
    noise: NoiseSum,
) -> Alarm:
    """Find the shift by the tail at the miss rate, and the zone by the tail at the false-alarm rate."""
    missed = checked_probability(miss_rate, "miss_rate")
    alarmed = checked_probability(false_alarm_rate, "false_alarm_rate")
    amount, line = exact_fraction(epsilon, "epsilon"), _whole_threshold(kind, threshold)
    shift = least_distance(noise, amount, missed) - 1
    zone = shift + least_distance(noise, amount, alarmed) - 1
    if kind == "change":
        zone = _change_zone(noise, amount, alarmed, line, shift)
    if line < zone + (kind == "change") and kind in ("high", "change"):
        least = zone if kind == "high" else shift + least_distance(noise, amount, alarmed / 2)
        rule = "even at zero, noise alone would ring more often than the false-alarm rate"
        raise ArgumentError("threshold", threshold, rule, f"Pass {least} or more, a larger epsilon, or larger rates")
    return Alarm(kind, line, window, amount, missed, alarmed, noise, shift, zone)


def _whole_threshold(kind: Kind, threshold: Amount) -> int:
    """Return the whole threshold that means the same: below 2.5 is below 3, above 2.5 is above 2."""
    number = exact_fraction(threshold, "threshold")
    line = math.floor(number) if kind == "high" else math.ceil(number)
    least = 0 if kind == "high" else 1
    if not least <= line <= MOST_COUNT:
        rule = f'for "{kind}" it must be {least} or more, and at most 2**40'
        raise ArgumentError("threshold", threshold, rule, "Pass a number of counts")
    return line


def _change_zone(noise: NoiseSum, epsilon: Fraction, alarmed: Fraction, line: int, shift: int) -> int:
    """Return the zone of `change`, where noise may cross the line at either end, so that both tails count.

    It is `line` if the false-alarm rate cannot be kept even where nothing changes.
    """
    far = line - shift

    def quiet(change: int) -> bool:
        def kept(bits: int) -> bool:
            near, opposite = (noise.enclosed(epsilon, far - way * change, bits) for way in (1, -1))
            return (near + opposite).at_most(alarmed)

        return certified(kept, noise.bits)

    change = far - least_distance(noise, epsilon, alarmed / 2)
    if change < 0:
        return line
    # Half the rate at the near end is enough, because the other end is further. Larger changes are tried one by one.
    while change + 1 < far and quiet(change + 1):
        change += 1
    return line - 1 - change
