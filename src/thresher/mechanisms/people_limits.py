"""Recommend a limit that few people exceed: at most so many groups, or rows in a group, of one person.

People are counted in bins of a public list of edges, each person in one bin, and each count gets noise once. The
recommendation follows from the noisy counts alone.
Reads: counts of people, entropy. Writes: nothing. Never: rows; a promise about the share of rows, which no private
answer can make. Proof: `people_limits.md`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction, whole_number
from thresher.errors import ArgumentError
from thresher.noise import Entropy, NoiseSum, SystemEntropy, discrete_laplace, least_distance

_USUAL_SHARE = Fraction(1, 20)
# The promise fails with at most this probability.
_RISK = Fraction(1, 20)
# Below this number of people times epsilon, noise decides which edge is recommended.
_LEAST_SIGNAL = 200


@dataclass(frozen=True, slots=True)
class PeopleLimit:
    """A recommended limit, the noisy counts that it follows from, and what they cost. All of it may be shown.

    `limit` is None if so little epsilon cannot tell: then nothing is recommended, and nothing is promised. With
    probability at least `confidence`, at most `share` of the people exceed the limit.
    """

    limit: int | None
    edges: tuple[int, ...]
    noisy: tuple[int, ...]
    share: Fraction
    epsilon: Epsilon
    stamp: str

    @property
    def confidence(self) -> Fraction:
        """Return the probability of the promise, over the noise."""
        return 1 - _RISK


def limit_edges(most: int) -> tuple[int, ...]:
    """Return 1, 2, 3, 4, 6, 8, 12, ... below `most`, then `most`: each limit that can be recommended."""
    largest = whole_number(most, "most")
    if largest < 1:
        raise ArgumentError("most", most, "it must be 1 or more", "Pass the number of groups that one person can be in")
    edges, power = [1], 2
    while power < largest:
        edges += [power, power + power // 2] if power > 1 else [power]
        power *= 2
    return (*(edge for edge in dict.fromkeys(edges) if edge < largest), largest)


def people_in_bins(sizes: Sequence[int], edges: Sequence[int]) -> NDArray[np.int64]:
    """Return how many people fall in each bin. Bin b holds the sizes above edge b - 1, up to edge b.

    A size of 0 is in no bin; one above the last edge counts in the last bin.
    """
    given = np.asarray(sizes, dtype=np.int64)
    places = np.minimum(np.searchsorted(np.asarray(edges), given[given > 0], side="left"), len(edges) - 1)
    return np.bincount(places, minlength=len(edges)).astype(np.int64)


def people_limit(
    people: Sequence[int] | NDArray[np.int64],
    edges: Sequence[int],
    epsilon: Amount,
    *,
    share: Amount = _USUAL_SHARE,
    entropy: Entropy | None = None,
) -> PeopleLimit:
    """Recommend the least edge that, as the noisy counts prove, at most `share` of the people exceed.

    people    how many people are in each bin of `edges`: the exact counts

    Privacy: one person added or removed changes one count by one, so all noisy counts together cost `epsilon`.
    Utility: with probability at least 95 %, at most `share` of the people exceed the limit. Nothing is promised about
    the share of rows.
    """
    bins = tuple(whole_number(edge, "edges") for edge in edges)
    if not bins or bins[0] < 1 or any(low >= high for low, high in pairwise(bins)):
        raise ArgumentError("edges", edges, "it must be rising whole numbers from 1", "Pass limit_edges(most)")
    counts = np.asarray(people, dtype=np.int64)
    if counts.shape != (len(bins),):
        raise ArgumentError("people", len(counts), "there must be one count for each edge", "Pass people_in_bins(...)")
    allowed, price = exact_fraction(share, "share"), Epsilon.covering(epsilon)
    if not 0 < allowed < 1:
        raise ArgumentError("share", share, "it must be between 0 and 1", "Pass 0.05, for example")
    if not price:
        raise ArgumentError("epsilon", epsilon, "it must be above zero", "Pass 0.01, for example")
    source = entropy or SystemEntropy()
    noise = discrete_laplace(price.fraction, len(bins), entropy=source)
    noisy = tuple(int(count) + int(drawn) for count, drawn in zip(counts, noise, strict=True))
    return PeopleLimit(recommended_limit(noisy, bins, price, allowed), bins, noisy, allowed, price, source.stamp)


def recommended_limit(noisy: Sequence[int], edges: Sequence[int], epsilon: Epsilon, share: Fraction) -> int | None:
    """Return the least edge whose upper bound on the people above it is at most `share` of a lower bound on all people.

    The last edge if no other will do; None if the lower bound says that noise would decide. A function of the noisy
    counts alone.
    """
    least_people = sum(noisy) - noise_reach(len(edges), epsilon, _RISK / 2)
    if least_people * epsilon.fraction < _LEAST_SIGNAL:
        return None
    for place, edge in enumerate(edges[:-1]):
        above = len(edges) - 1 - place
        most_above = sum(noisy[place + 1 :]) + noise_reach(above, epsilon, _RISK / (2 * (len(edges) - 1)))
        if most_above <= share * least_people:
            return edge
    return edges[-1]


def fewest_people(epsilon: Epsilon) -> int:
    """Return how many people there must be at least: with fewer, nothing is recommended, except by chance."""
    return math.ceil(_LEAST_SIGNAL / epsilon.fraction)


def noise_reach(terms: int, epsilon: Epsilon, rate: Fraction) -> int:
    """Return the least r such that the sum of `terms` noises is above r with probability at most `rate`."""
    return least_distance(NoiseSum((1,) * terms), epsilon.fraction, rate) - 1
