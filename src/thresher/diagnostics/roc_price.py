"""Estimate by simulation which epsilon keeps the error of a private AUC below a stated one.

The mechanism is run on made-up rows, whose ROC curves are binormal.
Reads: nothing. Writes: nothing. Never: private rows; a promise: this is an estimate.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction, whole_number
from thresher.diagnostics.curves import auc_error, curve_of_counts, mann_whitney
from thresher.diagnostics.roc_curve import DEFAULT_SHARE, fitting_depth
from thresher.diagnostics.scored_rows import ScoredRows
from thresher.errors import ArgumentError
from thresher.mechanisms.public_grid import grid_of
from thresher.mechanisms.quantiles import recursive_medians
from thresher.noise import SeededEntropy, discrete_laplace
from thresher.noise.arguments import checked_probability

# Areas of the curves tried; the first is nearly always the hardest.
SHAPES = (0.9, 0.95, 0.8, 0.6)
# Rows times epsilon decides, so a larger table is tried as this many rows, each of which stands for several: counts are
# larger by that factor, and so is epsilon for thresholds.
_MOST_SIMULATED, _MOST_COUNTED, _MOST_ROWS = 500, 10**5, 1 << 40
_THRESHOLD_SETS, _COUNTS_EACH, _SEED = 6, 50, 8
# Values of rows times epsilon that are tried: the first, and the factor from each to the next.
_FIRST, _RUNG, _MOST_EPSILON = 4.0, 1.04, 100.0
_LEAST_ERROR, _MOST_ERROR = Fraction(1, 10**4), Fraction(1, 2)
_LEAST_CONFIDENCE, _MOST_CONFIDENCE = Fraction(1, 2), Fraction(99, 100)


@dataclass(frozen=True, slots=True)
class AucPrice:
    """An estimate of what an AUC of a stated error costs; `hardest` is the area of the curve that decided it."""

    epsilon: Epsilon
    error: float
    confidence: float
    rows: int
    positives_share: float
    hardest: float
    runs: int

    def __str__(self) -> str:
        return (
            f"epsilon {self.epsilon} is an estimate from {self.runs} runs on each of {len(SHAPES)} made-up curves with"
            f" AUC {min(SHAPES)} to {max(SHAPES)}, {self.rows:,} rows and {self.positives_share:.0%} positives: on each"
            f" curve the AUC was off by at most {self.error:g} in {self.confidence:.0%} of the runs. AUC {self.hardest}"
            " was the hardest. Nothing is promised for other curves."
        )


def epsilon_for_auc(error: Amount, rows: int, positives_share: Amount = "0.5", confidence: Amount = "0.95") -> AucPrice:
    """Estimate the least epsilon at which `roc_curve` keeps its AUC error below `error` with that confidence.

    `rows` and `positives_share` are public guesses: no rows are read, and nothing is spent. It is an **estimate**: from
    made-up scores whose ROC curves are binormal, from a fixed seed (so that it is always the same), for the defaults of
    `roc_curve` with `rows` declared. Real scores may be harder: many equal ones, or nearly all of the area in one step.
    Errors are against the AUC of the rows themselves, not of a population that they were sampled from.
    Runtime: some seconds.
    """
    limit, sure = exact_fraction(error, "error"), checked_probability(confidence, "confidence")
    share, size = checked_probability(positives_share, "positives_share"), whole_number(rows, "rows")
    if not _LEAST_ERROR <= limit < _MOST_ERROR:
        raise ArgumentError("error", error, "it must be 0.0001 or more, and below 0.5", 'Pass "0.02", for example')
    if not _LEAST_CONFIDENCE <= sure <= _MOST_CONFIDENCE:
        raise ArgumentError("confidence", confidence, "it must lie between 0.5 and 0.99", 'Leave it out for "0.95"')
    if not 2 <= size <= _MOST_ROWS:
        raise ArgumentError("rows", rows, "it must be from 2 to 2**40", "Pass a public guess of how many there are")
    simulated = min(size, _MOST_SIMULATED)
    if not 1 <= round(share * simulated) < simulated:
        rule = "there must be at least one positive and one negative row"
        raise ArgumentError("positives_share", positives_share, rule, "Pass a share nearer to one half")
    shapes = [(area, *_made_up(area, simulated, round(share * simulated))) for area in SHAPES]
    weight, hardest = _least_weight(shapes, min(size, _MOST_COUNTED), float(limit), float(sure))
    runs = _THRESHOLD_SETS * _COUNTS_EACH
    return AucPrice(_three_digits(weight / size), float(limit), float(sure), size, float(share), hardest, runs)


def _three_digits(amount: float) -> Epsilon:
    """Round up to three digits, or to what the ledger keeps."""
    unit = Fraction(10) ** max(math.floor(math.log10(amount)) - 2, -9)
    return Epsilon.covering(math.ceil(amount / unit) * unit)


_Shape = tuple[float, ScoredRows, float]


def _least_weight(shapes: list[_Shape], rows: int, limit: float, confidence: float) -> tuple[float, float]:
    """Return the least rows times epsilon at which all shapes keep within the limit, and the shape that decided."""
    most = _MOST_EPSILON * shapes[0][1].scores.size
    fails, keeps = -1, math.floor(math.log(most / _FIRST) / math.log(_RUNG))
    if _first_beyond(shapes, rows, _FIRST * _RUNG**keeps, limit, confidence) is not None:
        rule = (
            f"it was not kept even at rows times epsilon = {most:,.0f}: there are too few thresholds, or too few rows"
        )
        raise ArgumentError("error", limit, rule, "Ask for a larger error, or pass thresholds to roc_curve")
    decided = shapes[0][0]
    while keeps - fails > 1:
        middle = (fails + keeps) // 2
        beyond = _first_beyond(shapes, rows, _FIRST * _RUNG**middle, limit, confidence)
        if beyond is None:
            keeps = middle
        else:
            fails, decided = middle, beyond
    return _FIRST * _RUNG**keeps, decided


def _first_beyond(shapes: list[_Shape], rows: int, weight: float, limit: float, confidence: float) -> float | None:
    """Return the area of the first shape whose errors are beyond the limit too often."""
    for area, made_up, truth in shapes:
        errors = np.sort(list(_errors(made_up, truth, rows, Fraction(weight).limit_denominator(10**6))))
        if errors[min(math.ceil(confidence * (errors.size + 1)), errors.size) - 1] > limit:
            return area
    return None


def _errors(made_up: ScoredRows, truth: float, rows: int, weight: Fraction) -> Iterator[float]:
    """Yield errors of the default mechanism, always from the same seed; several counts for each set of thresholds."""
    entropy, simulated = SeededEntropy(_SEED), made_up.scores.size
    depth, part, rest = fitting_depth(1, weight), weight * DEFAULT_SHARE, weight * (1 - DEFAULT_SHARE)
    for _ in range(_THRESHOLD_SETS):
        cuts = recursive_medians(made_up.scores, depth, grid_of(0, 1), part / simulated, entropy=entropy).values[::-1]
        exact = np.stack(made_up.counts(np.array(cuts))) * (rows / simulated)
        noise = discrete_laplace(rest / rows, _COUNTS_EACH * exact.size, entropy=entropy)
        for positives, negatives in exact + np.asarray(noise).reshape(_COUNTS_EACH, *exact.shape):
            yield auc_error(curve_of_counts(positives, negatives).area, truth)


def _made_up(area: float, rows: int, positives: int) -> tuple[ScoredRows, float]:
    """Return evenly spaced scores of a binormal curve, and their own area."""
    from scipy.special import ndtr, ndtri  # noqa: PLC0415

    lift = math.sqrt(2) * float(ndtri(area))
    spots = [_even(positives), _even(rows - positives)]
    scores = np.concatenate([ndtr(ndtri(spots[0]) + lift / 2), ndtr(ndtri(spots[1]) - lift / 2)])
    made_up = ScoredRows(np.arange(rows) < positives, scores)
    return made_up, float(mann_whitney(made_up))


def _even(count: int) -> NDArray[np.float64]:
    return (np.arange(count) + 0.5) / count
