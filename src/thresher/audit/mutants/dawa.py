"""Broken partitions of a histogram: DAWA's first stage as a published implementation has it.

Single cells have no noise, noise elsewhere has half the scale that the proof needs, and prices are cut at zero. All
buckets that hold the changed cell compete with single cells that stand still, and each comparison shows by itself.
Reads: entropy. Writes: nothing. Never: reachable from a release.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon
from thresher.audit.shipped.dawa import ends_of_cheapest
from thresher.audit.subjects import Pair, Sampled, Subject
from thresher.mechanisms.histograms.dawa import curve, spread_totals
from thresher.mechanisms.histograms.deviations import Deviations, deviations
from thresher.mechanisms.histograms.estimate import NoisyHistogram, checked_counts, checked_epsilon
from thresher.mechanisms.histograms.partition_argmin import cheapest, shift
from thresher.noise import Entropy, discrete_laplace
from thresher.noise.entropy import chosen

_EPSILON = Epsilon(1)
# What the first stage is given of the whole, and what each bucket is charged for the second.
_SHARE = Fraction(1, 4)


# Every bucket of two or more cells competes with single cells here, and a record in the middle moves most of them.
_FLAT, _BUMP = (0, 0, 0, 0, 0, 0), (0, 0, 0, 1, 0, 0)


def subjects() -> tuple[Subject, ...]:
    pairs = (Pair("six empty cells, and a record in one of them", _FLAT, _BUMP),)
    as_published = partial(broken_dawa_silent_singletons, fault=Fault(half_scale=True, clip=True))
    return (
        Sampled(
            "broken_dawa_silent_singletons", "a partition by noisy argmin, single cells without noise", _EPSILON, pairs,
            broken_dawa_silent_singletons,
        ),
        Sampled(
            "broken_dawa_as_published", "the same at half the scale and with prices cut at zero", _EPSILON, pairs,
            as_published, 20_000,
        ),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong besides single cells without noise, and the epsilon that is claimed."""

    half_scale: bool = False
    clip: bool = False
    epsilon: Fraction = _EPSILON.fraction


def broken_dawa_silent_singletons(
    counts: tuple[int, ...], runs: int, entropy: Entropy, fault: Fault | None = None
) -> NDArray[np.bool_]:
    """After which cells a bucket ends, with epsilon 1. What is wrong: single cells have no noise."""
    seen = deviations(np.array(counts, dtype=np.int64))
    charge = _SHARE / (1 - _SHARE) / _EPSILON.fraction
    return ends_of_cheapest(_prices(seen, charge, runs, entropy, fault or Fault()))


def broken_dawa(counts: ArrayLike, epsilon: Amount, *, entropy: Entropy | None = None) -> NoisyHistogram:
    """All three faults in the first stage, and a right second stage: what published accuracies rest on."""
    cells, amount, source = checked_counts(counts), checked_epsilon(epsilon), chosen(entropy)
    order, first = curve(cells), amount * _SHARE
    line = cells.ravel()[order]
    seen = deviations(line)
    charge = 1 / (amount - first)
    prices = _prices(seen, charge, 1, source, Fault(half_scale=True, clip=True, epsilon=first))
    spread, _ = spread_totals(line, cheapest(prices[:, 0]), amount - first, "prefix", source)
    estimate = np.empty(cells.size)
    estimate[order] = spread
    return NoisyHistogram(estimate.reshape(cells.shape), Epsilon.covering(amount), "broken_dawa", source.stamp)


def _prices(seen: Deviations, charge: Fraction, runs: int, entropy: Entropy, fault: Fault) -> NDArray[np.int64]:
    """Prices of buckets by length, run and start, in units of 1 / M."""
    prices = np.repeat(seen.costs[:, None, :], runs, axis=1)
    for k in range(1, seen.lengths):
        windows = seen.cells - (1 << k) + 1
        spread = shift(1 << k, seen.unit) // (2 if fault.half_scale else 1)
        noise = discrete_laplace(fault.epsilon, runs * windows, sensitivity=spread, entropy=entropy).view(np.ndarray)
        prices[k, :, :windows] += noise.reshape(runs, windows)
    if fault.clip:
        np.maximum(prices, 0, out=prices)
    prices += int(charge * seen.unit)
    return prices
