"""Measure two counts by label and a centred sum of predictions in each bin, and derive means and a band from them.

A record moves one of the two counts by 1 and the sum by at most half the width of its bin, wherever the bin lies: a sum
of the predictions themselves would move by up to 1. The sum is kept in whole steps, 2**15 to half a bin.
Reads: records on the grid, entropy. Writes: nothing. Never: a float before the noise. Proof: `bin_measures.md`.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount
from thresher.diagnostics.scored_rows import STEPS, ScoredRows
from thresher.noise import Entropy, discrete_laplace
from thresher.noise.entropy import chosen

HALF_BIN = 1 << 15
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BinTotals:
    """By bin: records of label 1, of label 0, and the sum of predictions less the bin's middle.

    The sum is in 1 / HALF_BIN of half the bin's width. Totals are secret until `noisy_totals` has added noise.
    """

    positives: NDArray[np.int64]
    negatives: NDArray[np.int64]
    offsets: NDArray[np.int64]

    def __repr__(self) -> str:
        return "<totals of bins>"


@dataclass(frozen=True, slots=True)
class BinMeans:
    """By bin: its middle, its size (1 at least), the mean prediction and the mean residual."""

    middle: Reals
    counts: Reals
    predicted: Reals
    residual: Reals


def totals_of(records: ScoredRows, cuts: NDArray[np.int64]) -> BinTotals:
    """Return the exact totals of bins between increasing points of the grid, the first 0 and the last STEPS.

    A record on a cut belongs to the bin above it.
    """
    points, bins = records.points, cuts.size - 1
    place = np.searchsorted(cuts[1:-1], points, side="right")
    low, width = cuts[:-1][place], np.diff(cuts)[place]
    # Rounded to the nearest step, in whole numbers: a function of the record and of public cuts alone.
    doubled = (2 * (points - low) - width) * (2 * HALF_BIN)
    steps = (doubled + width) // (2 * width)
    by_label = np.bincount(2 * place + records.positive, minlength=2 * bins).reshape(bins, 2)
    # numpy adds by group in floats, which is exact for fewer than 2**37 records.
    offsets = np.rint(np.bincount(place, weights=steps, minlength=bins)).astype(np.int64)
    return BinTotals(by_label[:, 1].astype(np.int64), by_label[:, 0].astype(np.int64), offsets)


def noisy_totals(
    totals: BinTotals, label_epsilon: Amount, prediction_epsilon: Amount, *, entropy: Entropy | None = None
) -> BinTotals:
    """Return the totals with discrete Laplace noise on each number.

    Privacy: label_epsilon + prediction_epsilon, for the bins given.
    Utility: counts are off by 1 / label_epsilon on average, sums of predictions by width / 2 / prediction_epsilon.
    Runtime: linear in the bins.
    """
    source, bins = chosen(entropy), totals.offsets.size
    labels = np.asarray(discrete_laplace(label_epsilon, 2 * bins, entropy=source)).view(np.ndarray)
    sums = np.asarray(discrete_laplace(prediction_epsilon, bins, HALF_BIN, source)).view(np.ndarray)
    return BinTotals(totals.positives + labels[:bins], totals.negatives + labels[bins:], totals.offsets + sums)


def means_of(totals: BinTotals, cuts: NDArray[np.int64]) -> BinMeans:
    """Return means by bin, each clipped to where it can lie. Of exact totals they are the ordinary means."""
    low, high = cuts[:-1] / STEPS, cuts[1:] / STEPS
    middle, half = (low + high) / 2, (high - low) / 2
    counts = np.maximum(totals.positives + totals.negatives, 1).astype(np.float64)
    predicted = np.clip(middle + totals.offsets / HALF_BIN * half / counts, low, high)
    residual = np.clip(totals.positives / counts - predicted, -high, 1 - low)
    return BinMeans(middle, counts, predicted, residual)


def error_band(
    means: BinMeans, cuts: NDArray[np.int64], label_epsilon: Fraction, prediction_epsilon: Fraction
) -> Reals:
    """Return two standard errors of each mean residual if the model is right: of drawing labels, and of the noise.

    2 sqrt(p (1 - p) / m + (V ((1 - c - r)**2 + (c + r)**2) + W) / m**2), with p and r the bin's means, m its count,
    c its middle, V the variance of the noise of a count and W that of a sum of predictions.
    """
    half = np.diff(cuts) / STEPS / 2
    of_count = _variance(float(label_epsilon))
    of_sum = _variance(float(prediction_epsilon / HALF_BIN)) * (half / HALF_BIN) ** 2
    share = means.middle + means.residual
    labels = means.predicted * (1 - means.predicted) / means.counts
    noise = (of_count * ((1 - share) ** 2 + share**2) + of_sum) / means.counts**2
    return np.asarray(2 * np.sqrt(labels + noise))


def least_size(label_epsilon: Fraction) -> int:
    """Return how many records a bin needs so that noise of a count typically moves its mean residual by a twentieth."""
    return math.ceil(20 * math.sqrt(_variance(float(label_epsilon))))


def _variance(rate: float) -> float:
    """Return the variance of discrete Laplace noise."""
    return float(0.5 / np.sinh(rate / 2) ** 2)
