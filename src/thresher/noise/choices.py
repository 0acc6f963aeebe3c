"""One of many by weight: the exponential mechanism's draw, exact for whole weights, whole costs and a rational rate.

    P[i] = weights[i] exp(-rate costs[i]) / (the sum of these)

Equal costs are drawn together: a level by a uniform number written bit by bit and compared with certified brackets,
then one of the level by whole-number arithmetic. Levels too dear for the bits drawn so far are bracketed as one.
Reads: entropy. Writes: nothing. Never: a float, an element of a cost array in an error text. Proof: `choices.md`.
Citation: McSherry, Talwar, "Mechanism Design via Differential Privacy", 2007.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, exact_fraction
from thresher.errors import ArgumentError
from thresher.noise.arguments import checked_integers
from thresher.noise.coins import uniform_below
from thresher.noise.enclosure import exp_minus
from thresher.noise.entropy import Entropy, chosen

_FIRST_BITS = 64
# A level that costs this many bits more than the cheapest is left to the bracket of the rest.
_SPARE_BITS = 32
_MOST_RATE, _LEAST_RATE = Fraction(10**6), Fraction(1, 10**12)


def choose(costs: ArrayLike, rate: Amount, weights: ArrayLike | None = None, entropy: Entropy | None = None) -> int:
    """An index, drawn with probability proportional to weights[i] exp(-rate costs[i]).

    Privacy: none by itself. If one unit moves every cost by at most d, and weights are public, a choice costs
    2 rate d; rate d if all costs move the same way (`choices.md`).
    Utility: a choice is dearer than the cheapest by more than (log n + log(1 / b)) / rate with probability below b.
    Runtime: a sort of the costs, then about 50 / rate steps.
    """
    source, speed = chosen(entropy), _checked_rate(rate)
    prices = _listed(costs, "costs")
    amounts = np.ones(prices.size, dtype=np.int64) if weights is None else _weights(weights, prices.size)
    kept = np.flatnonzero(amounts)
    order = kept[np.argsort(prices[kept], kind="stable")]
    levels, starts = np.unique(prices[order], return_index=True)
    sums = np.add.reduceat(amounts[order], starts)
    level = _level((levels - levels[0]).tolist(), sums.tolist(), speed, source)
    members = order[starts[level] : starts[level + 1] if level + 1 < starts.size else None]
    return int(members[pick(amounts[members], source)])


def pick(weights: NDArray[np.int64] | Sequence[int], entropy: Entropy) -> int:
    """An index, drawn with probability exactly proportional to whole weights; not all of them may be zero."""
    if isinstance(weights, np.ndarray):
        ends = np.cumsum(weights)
        return int(np.searchsorted(ends, uniform_below(int(ends[-1]), entropy), side="right"))
    upto = list(accumulate(weights))
    draw = uniform_below(upto[-1], entropy)
    return next(i for i, end in enumerate(upto) if draw < end)


def _level(gaps: list[int], sums: list[int], rate: Fraction, entropy: Entropy) -> int:
    """Which level: P[j] proportional to sums[j] exp(-rate gaps[j]), gaps increasing from 0."""
    bits, draw = 0, 0
    total = sum(sums)
    while True:
        more = max(bits, _FIRST_BITS)
        bits, draw = bits + more, draw << more | int.from_bytes(entropy.read(more // 8), "little")
        found = _settled(gaps, sums, rate, (draw, bits), total)
        if found is not None:
            return found


def _settled(gaps: list[int], sums: list[int], rate: Fraction, drawn: tuple[int, int], total: int) -> int | None:
    """The level in which a uniform number that begins with these bits falls, if they settle it."""
    draw, bits = drawn
    precision = bits + total.bit_length() + _SPARE_BITS
    low, high = 0, 0
    ends, rest = [], total
    for weight, (least, most) in zip(sums, _powers(gaps, rate, precision), strict=True):
        low, high, rest = low + weight * least, high + weight * most, rest - weight
        ends.append((low, high))
        if most <= 1 << _SPARE_BITS:  # all later levels together stay below rest * most
            high += rest * most
            break
    # The draw lies in [draw, draw + 1) / 2**bits of the total, and the total in [low, high].
    begin, end = draw * low, (draw + 1) * high
    before = 0
    for j, (least, most) in enumerate(ends):
        if end <= least << bits:
            return j if begin >= before << bits else None
        before = most
    return None


def _powers(gaps: list[int], rate: Fraction, precision: int) -> Iterator[tuple[int, int]]:
    """Brackets of exp(-rate gap) in units of 2**-precision, one gap after the other."""
    known: dict[int, tuple[int, int]] = {}
    least = most = 1 << precision
    previous = 0
    for gap in gaps:
        step = gap - previous
        if step not in known:
            factor = exp_minus(rate * step, precision)
            known[step] = factor.low, factor.high
        down, up = known[step]
        least, most, previous = least * down >> precision, -(-most * up >> precision), gap
        yield least, most


def _checked_rate(rate: Amount) -> Fraction:
    speed = exact_fraction(rate, "rate")
    if not _LEAST_RATE <= speed <= _MOST_RATE:
        raise ArgumentError("rate", rate, "it must lie between 1e-12 and 1e6", "Check the units of costs")
    return speed


def _listed(values: ArrayLike, field: str) -> NDArray[np.int64]:
    plain = checked_integers(values, field)
    if plain.ndim != 1 or not plain.size:
        rule = "it must be one list of one whole number or more"
        raise ArgumentError(field, f"{plain.ndim} dimensions, {plain.size} numbers", rule, "Pass an int64 array")
    return plain


def _weights(weights: ArrayLike, size: int) -> NDArray[np.int64]:
    amounts = _listed(weights, "weights")
    if amounts.size != size:
        rule = f"there must be one for each of the {size} costs"
        raise ArgumentError("weights", f"{amounts.size} weights", rule, "Pass arrays of the same length")
    if amounts.min() < 0 or not amounts.any() or float(amounts.max()) * size >= 2.0**62:
        rule = "they must be 0 or more, not all 0, and add up to less than 2**62"
        raise ArgumentError("weights", f"{size} weights", rule, "Count in larger units")
    return amounts
