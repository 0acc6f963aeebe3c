"""Draw a private partition of a histogram by the exponential mechanism: flat stretches become one bucket.

    P[partition] proportional to the product over its buckets of exp(-rate deviation - penalty)

The code sums the weights of all partitions from left to right, in floats with a wide exponent. From right to left it
then draws where each bucket begins, with odds that are exactly those of the floats. A bound on what rounding may add to
the loss is known beforehand and subtracted from the budget.
Reads: counts, entropy. Writes: nothing. Never: a weight that vanishes because it is small. Proof: `partition_law.md`.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, exact_fraction
from thresher.errors import ArgumentError
from thresher.mechanisms.compiled import compiled
from thresher.mechanisms.histograms.deviations import LONGEST, Deviations, checked_longest, deviations
from thresher.mechanisms.histograms.estimate import checked_counts
from thresher.mechanisms.histograms.wide_powers import DIGIT_BITS, WidePowers, wide_powers
from thresher.noise import Entropy
from thresher.noise.entropy import chosen, read_words

PENALTY = 3
_MOST_PENALTY = 50
_MOST_LISTED = 16
# What rounding may add to the loss, for each cell and one more.
_ROUNDING = Fraction(1, 1 << 46)
_UNSETTLED = -1
# A term that is this many powers of two below the largest is left out of sums of floats, but not of the odds.
_SCALES = np.ldexp(1.0, -np.arange(900))

Term = tuple[float, int]


def partition_by_law(
    counts: ArrayLike,
    epsilon: Amount,
    penalty: Amount = PENALTY,
    longest: int = LONGEST,
    entropy: Entropy | None = None,
) -> NDArray[np.int64]:
    """Draw the lengths of buckets from left to right, each a power of two up to `longest`. They may be released.

    Privacy: epsilon.
    Utility: the score of a partition adds deviation / (2 D / epsilon) + penalty over its buckets, D < 2. It exceeds the
    least score by more than log(partitions / b) with probability below b. A larger penalty makes fewer buckets.
    Runtime: linear in the cells, times 2 `longest`.
    Citations: McSherry, Talwar 2007 (the mechanism); Li, Hay, Miklau, Wang 2014 (partitions of this kind).
    """
    source = chosen(entropy)
    seen = deviations(checked_counts(counts, (1,)), checked_longest(longest))
    powers = powers_of(seen, epsilon, penalty)
    if powers is None:
        return np.ones(seen.cells, dtype=np.int64)
    words = read_words(seen.cells + 1, np.uint64, source)
    sums, exponents, choices = _forward(seen.costs, powers.mantissas, powers.exponents, _SCALES, words)
    end, lengths, picked = seen.cells, [], choices.tolist()
    while end:
        choice = picked[end]
        if choice == _UNSETTLED:
            choice = index_of_draw(terms_at(end, seen, powers, (sums, exponents)), int(words[end]), source)
        lengths.append(1 << choice)
        end -= 1 << choice
    return np.array(lengths[::-1], dtype=np.int64)


def partition_chances(
    counts: ArrayLike, epsilon: Amount, penalty: Amount = PENALTY, longest: int = LONGEST
) -> dict[tuple[int, ...], Fraction]:
    """Return the exact law of `partition_by_law` on at most 16 cells: the probability of each partition. It is secret.

    The draw follows this law exactly, with all rounding. Runtime: as many steps as there are partitions.
    """
    cells = checked_counts(counts, (1,))
    if cells.size > _MOST_LISTED:
        rule = f"all partitions are listed for {_MOST_LISTED} cells at most"
        raise ArgumentError("counts", f"{cells.size} cells", rule, "Pass fewer, or draw with partition_by_law")
    seen = deviations(cells, checked_longest(longest))
    powers = powers_of(seen, epsilon, penalty)
    if powers is None:
        return {(1,) * seen.cells: Fraction(1)}
    words = np.zeros(seen.cells + 1, dtype=np.uint64)
    upto = _forward(seen.costs, powers.mantissas, powers.exponents, _SCALES, words)[:2]
    chances: list[dict[tuple[int, ...], Fraction]] = [{(): Fraction(1)}]
    for end in range(1, seen.cells + 1):
        weights = [Fraction(m) * Fraction(2) ** e for m, e in terms_at(end, seen, powers, upto)]
        chances.append(
            {
                (*before, 1 << k): chance * weight / sum(weights)
                for k, weight in enumerate(weights)
                for before, chance in chances[end - (1 << k)].items()
            }
        )
    return chances[-1]


def powers_of(seen: Deviations, epsilon: Amount, penalty: Amount) -> WidePowers | None:
    """Return the weights of costs, at a rate that leaves room for rounding; None if there is only one partition."""
    amount = exact_fraction(epsilon, "epsilon") - _ROUNDING * (seen.cells + 1)
    toll = exact_fraction(penalty, "penalty")
    if not 0 <= toll <= _MOST_PENALTY:
        raise ArgumentError("penalty", penalty, f"it must lie between 0 and {_MOST_PENALTY}", f"Pass {PENALTY}")
    if not 0 < amount <= 100:
        rule = f"on {seen.cells} cells it must lie between {float(_ROUNDING * (seen.cells + 1)):.1e} and 100"
        raise ArgumentError("epsilon", epsilon, rule, "Pass 0.1, say")
    # One record moves a cost by at most 2 (M - 1) units, and e^(rate cost) by half the budget.
    return None if seen.unit == 1 else wide_powers(amount / (4 * (seen.unit - 1)), toll)


def terms_at(
    end: int, seen: Deviations, powers: WidePowers, upto: tuple[NDArray[np.float64], NDArray[np.int64]]
) -> list[Term]:
    """Return the weight of each last bucket that ends here, with all that may come before it: mantissa 2**exponent."""
    terms = []
    for k in range(min(seen.lengths, end.bit_length())):
        start = end - (1 << k)
        mantissa, exponent = powers.weight(int(seen.costs[k, start]))
        terms.append((mantissa * float(upto[0][start]), exponent + int(upto[1][start])))
    return terms


def index_of_draw(terms: list[Term], word: int, entropy: Entropy) -> int:
    """Draw an index with odds exactly those of the terms, by a uniform number whose first 64 bits are `word`."""
    bits, draw = 64, word
    while (found := _index(terms, draw, bits)) is None:
        draw, bits = draw << bits | int.from_bytes(entropy.read(bits // 8), "little"), 2 * bits
    return found


def _index(terms: list[Term], draw: int, bits: int) -> int | None:
    """Return the term that contains all uniform numbers that begin with these bits, or None if they lie in several."""
    top, precision = max(exponent for _, exponent in terms), 2 * bits + 64
    ends, low, high = [], 0, 0
    for mantissa, exponent in terms:
        least, most = _bracket(mantissa, exponent - top + precision)
        low, high = low + least, high + most
        ends.append((low, high))
    begin, stop, before = draw * low, (draw + 1) * high, 0
    for k, (least, most) in enumerate(ends):
        if stop <= least << bits:
            return k if begin >= before << bits else None
        before = most
    return None


def _bracket(mantissa: float, shift: int) -> tuple[int, int]:
    """Return the whole numbers next below and next above mantissa 2**shift."""
    if shift < -64:
        return 0, 1
    number = Fraction(mantissa) * (Fraction(2) ** shift)
    return math.floor(number), math.ceil(number)


@compiled
def _forward(
    costs: NDArray[np.int64],
    mantissas: NDArray[np.float64],
    exponents: NDArray[np.int64],
    scales: NDArray[np.float64],
    words: NDArray[np.uint64],
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the sums over partitions of the cells before each end, and the last bucket that `words` choose there."""
    lengths, cells = costs.shape
    digits, mask = mantissas.shape[0], (1 << DIGIT_BITS) - 1
    sums, powers = np.empty(cells + 1, dtype=np.float64), np.zeros(cells + 1, dtype=np.int64)
    choices = np.full(cells + 1, _UNSETTLED, dtype=np.int64)
    terms, steps = np.empty(lengths, dtype=np.float64), np.empty(lengths, dtype=np.int64)
    sums[0] = 1.0
    for end in range(1, cells + 1):
        count = 0
        while count < lengths and (1 << count) <= end:
            start = end - (1 << count)
            cost, weight, power = costs[count, start], 1.0, powers[start]
            for place in range(digits):
                digit = (cost >> (place * DIGIT_BITS)) & mask
                weight *= mantissas[place, digit]
                power += exponents[place, digit]
            terms[count], steps[count] = weight * sums[start], power
            count += 1
        top, total = steps[:count].max(), 0.0
        for k in range(count):
            gap = top - steps[k]
            terms[k] = terms[k] * scales[gap] if gap < scales.size else 0.0
            total += terms[k]
        # A choice is made here only where no rounding of these few operations could change it.
        aim, slack, before = total * (float(words[end]) * 2.0**-64), total * 2.0**-44, 0.0
        for k in range(count):
            after = before + terms[k]
            if before + slack <= aim and aim + slack <= after:
                choices[end] = k
            before = after
        sums[end], shift = math.frexp(total)
        powers[end] = top + shift
    return sums, powers, choices
