"""Clopper-Pearson bounds against sums of binomial laws: exact for every count, and one count off fails."""

import numpy as np
import pytest
from scipy.stats import binom

from thresher.audit.testers.confidence import (
    least_log_ratio,
    least_probability,
    most_probability,
)
from thresher.errors import ArgumentError
from thresher.noise.arguments import checked_confidence

RUNS = 40
COUNTS = np.arange(RUNS + 1)
DOUBT = 0.01


def chance_to_be_wrong(bounds, probability, *, below):
    """The exact probability that a bound lies on the wrong side."""
    wrong = bounds > probability if below else bounds < probability
    return binom.pmf(COUNTS, RUNS, probability)[wrong].sum()


@pytest.mark.parametrize("probability", [0.0, 0.003, 0.05, 0.31, 0.5, 0.77, 0.999, 1.0])
def test_a_bound_is_wrong_as_rarely_as_it_says(probability):
    assert chance_to_be_wrong(least_probability(COUNTS, RUNS, DOUBT), probability, below=True) <= DOUBT
    assert chance_to_be_wrong(most_probability(COUNTS, RUNS, DOUBT), probability, below=False) <= DOUBT


def test_bounds_from_one_count_more_are_wrong_too_often():
    eager = least_probability(np.minimum(COUNTS + 1, RUNS), RUNS, DOUBT)
    assert max(chance_to_be_wrong(eager, p, below=True) for p in np.linspace(0.01, 0.99, 99)) > 2 * DOUBT


def test_known_values():
    """No hit in n: the upper bound is 1 - doubt**(1/n); all hits: the lower one is doubt**(1/n)."""
    assert most_probability(0, RUNS, DOUBT) == pytest.approx(1 - DOUBT ** (1 / RUNS))
    assert least_probability(RUNS, RUNS, DOUBT) == pytest.approx(DOUBT ** (1 / RUNS))
    assert least_probability(0, RUNS, DOUBT) == 0.0
    assert most_probability(RUNS, RUNS, DOUBT) == 1.0


@pytest.mark.parametrize(("here", "there"), [(0.5, 0.25), (0.2, 0.02), (0.9, 0.9)])
def test_a_log_ratio_is_too_large_as_rarely_as_it_says(here, there):
    bounds = least_log_ratio(COUNTS[:, None], COUNTS[None, :], RUNS, DOUBT)
    weights = np.outer(binom.pmf(COUNTS, RUNS, here), binom.pmf(COUNTS, RUNS, there))
    assert weights[bounds > np.log(here / there)].sum() <= DOUBT


@pytest.mark.parametrize("confidence", ["0.2", 1, "nan", "1.5", True])
def test_a_confidence_that_is_none(confidence):
    with pytest.raises(ArgumentError, match="confidence"):
        checked_confidence(confidence)
