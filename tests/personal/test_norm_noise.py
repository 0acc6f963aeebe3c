"""Noise by Euclidean length: exact losses around all small pairs of centres, draws against the law, lengths."""

import itertools
import math

import numpy as np
import pytest
from laws import assert_fits, assert_rejected
from scipy import stats

from thresher.errors import ArgumentError
from thresher.personal.learners.norm_noise import MOST_BY_LENGTH, noise_length, norm_noise


def length(vector):
    return math.isqrt(sum(int(z) ** 2 for z in vector))


@pytest.mark.parametrize(("dimension", "reach"), [(1, 40), (2, 15), (3, 4)])
def test_no_two_centres_lose_more_than_their_distance_and_one(dimension, reach):
    """Exponents are whole numbers, so losses in units of 1 / spread are exact."""
    box = list(itertools.product(range(-reach, reach + 1), repeat=dimension))
    worst = 0.0
    for other in itertools.product(range(4), repeat=dimension):
        most = max(abs(length(v) - length(np.subtract(v, other))) for v in box)
        assert most <= math.dist(other, (0,) * dimension) + 1
        worst = max(worst, most - math.dist(other, (0,) * dimension))
    # In one dimension lengths are whole anyway; in more the extra one is needed.
    assert (worst > 0) == (dimension > 1)


def law(spread, dimension, reach):
    weights = {v: math.exp(-length(v) / spread) for v in itertools.product(range(-reach, reach + 1), repeat=dimension)}
    total = sum(weights.values())
    return {v: weight / total for v, weight in weights.items()}


@pytest.mark.parametrize(("spread", "dimension", "reach"), [(3, 1, 80), (2, 2, 35), (1, 3, 17)])
def test_draws_fit_the_law_and_a_wrong_spread_is_rejected(spread, dimension, reach, entropy, trials):
    """Chi-square on lengths and signs; false failure 1e-6. The box leaves out less than 1e-4 of the law."""
    runs = trials(3_000, 40_000)
    draws = [tuple(norm_noise(spread, dimension, entropy=entropy).tolist()) for _ in range(runs)]
    assert_fits(fit(draws, law(spread, dimension, reach)))
    assert_rejected(fit(draws, law(1.4 * spread, dimension, reach)))


def fit(draws, masses):
    def cell(vector):
        return min(length(vector), 12), vector[0] >= 0, sum(abs(z) for z in vector) > 1.3 * length(vector)

    expected, observed = {}, {}
    for vector, mass in masses.items():
        expected[cell(vector)] = expected.get(cell(vector), 0.0) + mass * len(draws)
    for vector in draws:
        observed[cell(vector)] = observed.get(cell(vector), 0) + 1
    kept = [place for place, mass in expected.items() if mass >= 10]
    chi = sum((observed.get(place, 0) - expected[place]) ** 2 / expected[place] for place in kept)
    return float(stats.chi2.sf(chi, len(kept)))


@pytest.mark.parametrize("dimension", [1, 5, 14, MOST_BY_LENGTH + 1])
def test_noise_is_as_long_as_promised(dimension, entropy):
    """Lengths (above 24 numbers: sizes) are of the gamma law, their sum has exact quantiles; false failure 1e-6."""
    draws = np.array([norm_noise(10**6, dimension, entropy=entropy) for _ in range(300)], dtype=float)
    if dimension > MOST_BY_LENGTH:
        total, scale = np.abs(draws).sum(), noise_length(10**6, dimension) / math.sqrt(2 * dimension)
    else:
        total, scale = (
            np.linalg.norm(draws, axis=1).sum(),
            noise_length(10**6, dimension) / math.sqrt(dimension * (dimension + 1)),
        )
    low, high = stats.gamma.ppf([5e-7, 1 - 5e-7], 300 * dimension)
    assert low < total / scale < high
    # Power: noise that is twice or half as long is outside whenever this is inside.
    assert high < 2 * low


def test_seeded_draws_are_marked_and_many_numbers_are_drawn(entropy):
    assert getattr(norm_noise(5, 3, entropy=entropy), "stamp", "") == entropy.stamp
    assert norm_noise(5, 1000, entropy=entropy).shape == (1000,)


@pytest.mark.parametrize(("spread", "dimension"), [(0, 2), (-1, 2), (1.5, 2), (1 << 60, 2), (3, 0), (3, True)])
def test_what_cannot_be_drawn_is_refused(spread, dimension):
    with pytest.raises(ArgumentError):
        norm_noise(spread, dimension)
