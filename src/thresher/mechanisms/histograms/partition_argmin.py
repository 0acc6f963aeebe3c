"""Choose a private partition of a histogram by a noisy argmin: each candidate bucket has noise, single cells too.

    price of a bucket = its deviation + a public charge - geometric noise;   the cheapest partition is released

Prices and noise are whole multiples of 1 / M, and ties are broken by an order that does not depend on data.
Reads: counts, entropy. Writes: nothing. Never: a bucket without noise, a price cut at zero. Proof:
`partition_argmin.md`.
"""

import math
from fractions import Fraction
from inspect import unwrap

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, exact_fraction
from thresher.errors import ArgumentError
from thresher.mechanisms.compiled import compiled
from thresher.mechanisms.histograms.deviations import LONGEST, Deviations, checked_longest, deviations
from thresher.mechanisms.histograms.estimate import checked_counts
from thresher.noise import Entropy, geometric
from thresher.noise.entropy import chosen

# The charge of a bucket times epsilon. It outweighs that the largest of many noises is taken off a price.
PENALTY = 16
# Above what `dawa` asks for at its least epsilon and share; times 2**16 it stays far below 2**61.
_MOST_CHARGE = 10**10
_WIDEST = 10**9
_ROOM = 1 << 61


def partition_by_argmin(
    counts: ArrayLike,
    epsilon: Amount,
    charge: Amount | None = None,
    longest: int = LONGEST,
    entropy: Entropy | None = None,
) -> NDArray[np.int64]:
    """Choose the lengths of buckets from left to right, each a power of two up to `longest`. They may be released.

    `charge` is public: what each bucket costs besides its deviation. It is 16 / epsilon if left out.
    Privacy: epsilon.
    Utility: noise of a bucket has scale 2 (2 - 1/L - 1/M) / epsilon; a larger charge makes fewer buckets.
    Runtime: linear in the cells, times 2 `longest`; one draw for each candidate.
    Citations: Li, Hay, Miklau, Wang 2014, whose published code leaves single cells without noise.
    """
    source, length = chosen(entropy), checked_longest(longest)
    cells = checked_counts(counts, (1,))
    amount = _checked_epsilon(epsilon, min(length, cells.size))
    toll = PENALTY / amount if charge is None else _checked_charge(charge)
    seen = deviations(cells, length)
    if seen.unit == 1:
        return np.ones(seen.cells, dtype=np.int64)
    return cheapest(noisy_prices(seen, amount, toll, source))


def shift(length: int, unit: int) -> int:
    """Return by how much the noise of a bucket must move to offset one record: 2 (2 - 1/L - 1/M), in units of 1 / M."""
    return 2 * (2 * unit - unit // length - 1)


def noisy_prices(seen: Deviations, epsilon: Fraction, charge: Fraction, entropy: Entropy) -> NDArray[np.int64]:
    """Return the price of each candidate, less its noise, in units of 1 / M."""
    prices = seen.costs + math.floor(charge * seen.unit)
    for k in range(seen.lengths):
        windows = seen.cells - (1 << k) + 1
        noise = geometric(epsilon, windows, sensitivity=shift(1 << k, seen.unit), entropy=entropy)
        prices[k, :windows] -= noise.view(np.ndarray)
    return prices


def cheapest(prices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the bucket lengths of least total price; in a tie, those whose last bucket is shortest, and so on."""
    cells = prices.shape[1]
    if max(abs(int(prices.min())), int(prices[0].max())) * cells < _ROOM:
        choices = _last_buckets(prices, np.zeros(cells + 1, dtype=np.int64))
    else:
        # Totals might leave 64 bits: the same loop, with Python's integers.
        choices = unwrap(_last_buckets)(prices.astype(object), np.zeros(cells + 1, dtype=object))
    end, lengths, picked = cells, [], choices.tolist()
    while end:
        lengths.append(1 << picked[end])
        end -= lengths[-1]
    return np.array(lengths[::-1], dtype=np.int64)


@compiled
def _last_buckets(prices: NDArray[np.int64], best: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the length of the last bucket in the cheapest partition of the cells before each end."""
    lengths, cells = prices.shape
    choices = np.zeros(cells + 1, dtype=np.int64)
    for end in range(1, cells + 1):
        best[end] = best[end - 1] + prices[0, end - 1]
        k = 1
        while k < lengths and (1 << k) <= end:
            start = end - (1 << k)
            if best[start] + prices[k, start] < best[end]:
                best[end], choices[end] = best[start] + prices[k, start], k
            k += 1
    return choices


def _checked_epsilon(epsilon: Amount, longest: int) -> Fraction:
    amount = exact_fraction(epsilon, "epsilon")
    least = Fraction(4 * longest, _WIDEST)
    if not least <= amount <= 100:
        rule = f"for buckets of up to {longest:,} cells it must lie between {float(least):.1e} and 100"
        raise ArgumentError("epsilon", epsilon, rule, "Pass 0.1, say, or shorter buckets")
    return amount


def _checked_charge(charge: Amount) -> Fraction:
    toll = exact_fraction(charge, "charge")
    if not 0 <= toll <= _MOST_CHARGE:
        raise ArgumentError("charge", charge, f"it must lie between 0 and {_MOST_CHARGE:,}", "Leave it out")
    return toll
