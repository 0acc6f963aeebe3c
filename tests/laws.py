"""Goodness of fit with a stated chance of failing by accident, and the law of discrete Laplace noise in floats."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats

from thresher.audit.laws.comparison_laws import Noise, log_probability, transcript_law

# A right sampler fails one of these checks with this probability, at most.
FALSE_FAILURE = 1e-6
# A wrong law must fail by far, or the check has no power.
CERTAIN_REJECTION = 1e-20
DRAWS = 1_000_000
_LEAST_EXPECTED = 20.0


def chi_square_p(draws: np.ndarray, cdf: Callable[[np.ndarray], np.ndarray], low: int, high: int, cells: int) -> float:
    """The chi-square p-value of integer draws against a cdf, over equal cells of [low, high) and two tails."""
    edges = np.unique(np.linspace(low, high, cells + 1).astype(np.int64))
    probability = np.diff(np.concatenate([[0.0], cdf(edges - 1), [1.0]]))
    observed = np.bincount(np.searchsorted(edges, draws, side="right"), minlength=len(edges) + 1)
    observed, expected = _pooled(observed, probability * len(draws))
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(statistic, len(expected) - 1))


def _pooled(observed: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Neighbouring cells joined until each expects enough for the chi-square approximation."""
    starts, held = [0], 0.0
    for i, mass in enumerate(expected[:-1]):
        held += mass
        if held >= _LEAST_EXPECTED:
            starts.append(i + 1)
            held = 0.0
    if expected[starts[-1] :].sum() < _LEAST_EXPECTED and len(starts) > 1:
        starts.pop()
    return np.add.reduceat(observed, starts), np.add.reduceat(expected, starts)


def laplace_cdf(rate: float) -> Callable[[np.ndarray], np.ndarray]:
    def cdf(x: np.ndarray) -> np.ndarray:
        x, log_odds = np.asarray(x, dtype=float), np.log1p(np.exp(-rate))
        below = np.exp(-rate * np.maximum(-x, 0) - log_odds)
        above = np.exp(-rate * (np.maximum(x, 0) + 1) - log_odds)
        return np.where(x < 0, below, 1 - above)

    return cdf


def geometric_cdf(rate: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda k: np.where(np.asarray(k) < 0, 0.0, -np.expm1(-rate * (np.maximum(k, -1) + 1)))


def cauchy_loss(first: tuple[float, float], second: tuple[float, float]) -> float:
    """The largest log ratio of two Cauchy densities, each by place and scale: their hyperbolic distance."""
    (f, s), (g, t) = first, second
    return 2 * math.asinh(math.hypot(f - g, s - t) / (2 * math.sqrt(s) * math.sqrt(t)))


def largest_loss(here: Sequence[float], there: Sequence[float], most: int, *noises: Noise) -> float:
    """The largest log ratio, either way, over all rows of answers of a sparse vector that stops at its last top."""
    rows = transcript_law(here, most, *noises)
    logs = [[log_probability(row, side[: len(row)], *noises) for row in rows] for side in (here, there)]
    return max(0.0 if one == other else abs(one - other) for one, other in zip(*logs, strict=True))


def laplace_p(draws: np.ndarray, scale: float) -> float:
    """The p-value of draws against discrete Laplace noise of that scale."""
    reach = int(np.ceil(10 * scale)) + 2
    return chi_square_p(draws, laplace_cdf(1 / scale), -reach, reach, 200)


def geometric_p(draws: np.ndarray, scale: float) -> float:
    reach = int(np.ceil(10 * scale)) + 2
    return chi_square_p(draws, geometric_cdf(1 / scale), 0, reach, 200)


def assert_fits(p_value: float) -> None:
    assert p_value > FALSE_FAILURE, f"p = {p_value:.3g}; a right law fails here with probability {FALSE_FAILURE}"


def assert_rejected(p_value: float) -> None:
    assert p_value < CERTAIN_REJECTION, f"p = {p_value:.3g}: the check has no power against this wrong law"
