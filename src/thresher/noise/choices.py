"""Draw one index of many by weight: the exponential mechanism, exact for whole weights and costs and a rational rate.

    P[i] = weights[i] exp(-rate costs[i]) / (the sum of these)

Indices of equal cost form a level. A level is drawn first, by a uniform number that is written bit by bit and compared
with certified brackets; then an index of the level, by whole-number arithmetic. Levels that are too improbable for the
bits drawn so far are bracketed together.
Reads: entropy. Writes: nothing. Never: a float, an element of a cost array in an error text. Proof: `choices.md`.
Citation: McSherry, Talwar, "Mechanism Design via Differential Privacy", 2007.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, exact_fraction
from thresher.errors import ArgumentError, EntropyError
from thresher.noise.arguments import checked_integers, checked_size
from thresher.noise.coins import uniform_below
from thresher.noise.enclosure import exp_minus
from thresher.noise.entropy import Entropy, chosen, marked, read_words

_FIRST_BITS = 64
_LAST_WORD = (1 << _FIRST_BITS) - 1
# A level whose weight is below 2**32 units of the precision, and all later levels, share one bracket.
_SPARE_BITS = 32
_MOST_RATE, _LEAST_RATE = Fraction(10**6), Fraction(1, 10**24)
# A fair generator is out of range this often in a row with probability below 2**-256.
_MOST_REJECTIONS = 256


def choose(costs: ArrayLike, rate: Amount, weights: ArrayLike | None = None, entropy: Entropy | None = None) -> int:
    """Draw an index with probability proportional to weights[i] exp(-rate costs[i]).

    Privacy: none by itself. If one unit moves every cost by at most d, and weights are public, a choice costs
    2 rate d; rate d if all costs move the same way (`choices.md`).
    Utility: with equal weights, the chosen cost exceeds the least one by more than (log n + log(1 / b)) / rate with
    probability below b.
    Runtime: a sort of the costs, then about 50 / rate steps.
    """
    source, speed = chosen(entropy), _checked_rate(rate)
    levels = _levels_of(costs, weights)
    level = levels.drawn(speed, source)
    inside = uniform_below(levels.sums[level], source)
    return int(levels.members(np.array([level]), np.array([inside]))[0])


def choose_many(
    costs: ArrayLike, rate: Amount, weights: ArrayLike | None = None, size: int = 1, entropy: Entropy | None = None
) -> NDArray[np.int64]:
    """Draw `size` independent indices, each with the law of `choose`.

    Runtime: one choice, then less than a microsecond an index: 64 bits settle nearly every draw; the others read more.
    """
    source, speed, count = chosen(entropy), _checked_rate(rate), checked_size(size)
    levels = _levels_of(costs, weights)
    level = _many_levels(levels, speed, count, source)
    inside = _many_below(np.array(levels.sums)[level], source)
    return marked(levels.members(level, inside), source)


def pick(weights: NDArray[np.int64] | Sequence[int], entropy: Entropy | None = None) -> int:
    """Draw an index with probability exactly proportional to whole weights, which in a list may be of any size."""
    source = chosen(entropy)
    if isinstance(weights, np.ndarray):
        ends = np.cumsum(_weights(weights, weights.size))
        return int(np.searchsorted(ends, uniform_below(int(ends[-1]), source), side="right"))
    if not all(isinstance(w, int | np.integer) and not isinstance(w, bool) and w >= 0 for w in weights):
        raise ArgumentError("weights", f"{len(weights)} weights", "they must be whole numbers of 0 or more", _LIST)
    upto = list(accumulate(int(weight) for weight in weights))
    if not upto or not upto[-1]:
        raise ArgumentError("weights", f"{len(upto)} weights", "at least one of them must be above 0", _LIST)
    draw = uniform_below(upto[-1], source)
    return next(i for i, end in enumerate(upto) if draw < end)


def uniform(bounds: ArrayLike, entropy: Entropy | None = None) -> NDArray[np.int64]:
    """Draw, for each bound of 1 or more, a whole number uniformly from 0, 1, ..., bound - 1."""
    source, limits = chosen(entropy), checked_integers(bounds, "bounds")
    if limits.ndim != 1 or (limits.size and limits.min() < 1):
        rule = "it must be one list of whole numbers of 1 or more"
        raise ArgumentError("bounds", f"{limits.ndim} dimensions, {limits.size} numbers", rule, "Pass an int64 array")
    return marked(_many_below(limits, source), source)


_LIST = "Pass a list such as [2, 1, 1]"
Bits = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Levels:
    """Hold indices of equal cost side by side, the cheapest first.

    `gaps` are the costs of levels less the least cost; `ends` are running sums of weights over all of `order`; `before`
    is where each level begins among them.
    """

    order: NDArray[np.intp]
    ends: NDArray[np.int64]
    gaps: list[int]
    sums: list[int]
    before: NDArray[np.int64]

    def members(self, level: NDArray[np.int64], inside: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the index that lies `inside` units of weight into each level."""
        return self.order[np.searchsorted(self.ends, self.before[level] + inside, side="right")].astype(np.int64)

    def drawn(self, rate: Fraction, entropy: Entropy, begun: Bits = (0, 0)) -> int:
        """Draw level j with P[j] proportional to sums[j] exp(-rate gaps[j]); `begun`: earlier bits and their number."""
        draw, bits = begun
        while True:
            more = max(bits, _FIRST_BITS)
            bits, draw = bits + more, draw << more | int.from_bytes(entropy.read(more // 8), "little")
            level = _settled(self, rate, (draw, bits))
            if level is not None:
                return level


def _levels_of(costs: ArrayLike, weights: ArrayLike | None) -> _Levels:
    prices = _listed(costs, "costs")
    amounts = np.ones(prices.size, dtype=np.int64) if weights is None else _weights(weights, prices.size)
    kept = np.flatnonzero(amounts)
    order = kept[np.argsort(prices[kept], kind="stable")]
    levels, starts = np.unique(prices[order], return_index=True)
    ends = np.cumsum(amounts[order])
    before = np.concatenate([[0], ends[starts[1:] - 1]])
    sums = np.diff(before, append=ends[-1])
    return _Levels(order, ends, (levels - levels[0]).tolist(), sums.tolist(), before)


@dataclass(frozen=True, slots=True)
class _Brackets:
    """Hold running sums of level weights, each between two whole numbers, and the sum of all weights.

    `complete`: `ends` has every level. Otherwise the later levels are in `total` only.
    """

    ends: list[tuple[int, int]]
    total: tuple[int, int]
    complete: bool


def _brackets(levels: _Levels, rate: Fraction, bits: int) -> _Brackets:
    """Return brackets that are fine enough to settle nearly every draw of this many bits."""
    rest = sum(levels.sums)
    precision = bits + rest.bit_length() + _SPARE_BITS
    low, high = 0, 0
    ends = []
    for weight, (least, most) in zip(levels.sums, _powers(levels.gaps, rate, precision), strict=False):
        low, high, rest = low + weight * least, high + weight * most, rest - weight
        ends.append((low, high))
        if most <= 1 << _SPARE_BITS:  # all later levels together stay below rest * most
            high += rest * most
            break
    return _Brackets(ends, (low, high), not rest)


def _settled(levels: _Levels, rate: Fraction, drawn: Bits) -> int | None:
    """Return the level in which a uniform number that begins with these bits falls; None if they do not settle it."""
    draw, bits = drawn
    sums = _brackets(levels, rate, bits)
    # The draw lies in [draw, draw + 1) / 2**bits of the total, and the total in its bracket.
    begin, end = draw * sums.total[0], (draw + 1) * sums.total[1]
    before = 0
    for j, (least, most) in enumerate(sums.ends):
        if end <= least << bits:
            return j if begin >= before << bits else None
        before = most
    return None


def _many_levels(levels: _Levels, rate: Fraction, size: int, entropy: Entropy) -> NDArray[np.int64]:
    """Draw many levels at once: a word settles one if every running sum is certainly below or certainly above it."""
    sums = _brackets(levels, rate, _FIRST_BITS)
    inner = sums.ends[:-1] if sums.complete else sums.ends
    low, high = sums.total
    below = np.array([(least << _FIRST_BITS) // high for least, _ in inner], dtype=np.uint64)
    above = np.array([min(-(-(most << _FIRST_BITS) // low), _LAST_WORD) for _, most in inner], dtype=np.uint64)
    words = read_words(size, np.uint64, entropy)
    level = np.searchsorted(above, words, side="right")
    # Ends at or past the last word were cut there, so the table never settles that word.
    open_ones = (level != np.searchsorted(below, words, side="right")) | (words == np.uint64(_LAST_WORD))
    if not sums.complete:
        open_ones |= level == len(inner)
    for i in np.flatnonzero(open_ones):
        level[i] = levels.drawn(rate, entropy, (int(words[i]), _FIRST_BITS))
    return level.astype(np.int64)


def _many_below(bounds: NDArray[np.int64], entropy: Entropy) -> NDArray[np.int64]:
    """Draw uniformly below each bound, by words that are cut to the bound's bits and drawn again if too large."""
    limits = bounds.astype(np.uint64)
    # A float's exponent is the number's bit length, or one more where it rounds up: then one bit too many is drawn.
    spare = (_FIRST_BITS - np.frexp(np.maximum(bounds - 1, 1))[1]).astype(np.uint64)
    draws = np.zeros(bounds.size, dtype=np.uint64)
    left = np.flatnonzero(limits > 1)
    for _ in range(_MOST_REJECTIONS):
        words = read_words(left.size, np.uint64, entropy) >> spare[left]
        draws[left] = words
        left = left[words >= limits[left]]
        if not left.size:
            return draws.astype(np.int64)
    raise EntropyError(f"{_MOST_REJECTIONS} draws in a row were out of range: the generator is stuck")


def _powers(gaps: list[int], rate: Fraction, precision: int) -> Iterator[tuple[int, int]]:
    """Yield a bracket of exp(-rate gap) for each gap, in units of 2**-precision."""
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
        raise ArgumentError("rate", rate, "it must lie between 1e-24 and 1e6", "Check the units of costs")
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
    if amounts.min() < 0 or not amounts.any() or float(amounts.astype(np.float64).sum()) >= 2.0**62:
        rule = "they must be 0 or more, not all 0, and add up to less than 2**62"
        raise ArgumentError("weights", f"{size} weights", rule, "Count in larger units")
    return amounts
