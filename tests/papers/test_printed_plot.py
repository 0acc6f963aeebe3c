"""The residual plot in print: published numbers, its bound, and counts that grow."""

from fractions import Fraction

import numpy as np
import pytest

from papers.residuals.printed_plot import clipped_counts, printed_points, printed_terms, symmetric_range
from thresher.amounts import Epsilon
from thresher.diagnostics.residual_plot import whole_counts

# Published: rows, epsilon, then that of ranges and of the histogram, bands, points.
PUBLISHED = [
    (5000, "0.2", "0.06", "0.14", 7, 4512),
    (5000, "1", "0.094", "0.906", 20, 4512),
    (500, "0.2", "0.06", "0.14", 2, 451),
]


@pytest.mark.parametrize(("rows", "epsilon", "ranges", "histogram", "bins", "points"), PUBLISHED)
def test_the_recipe(rows, epsilon, ranges, histogram, bins, points, entropy):
    terms = printed_terms(rows, epsilon)
    assert (terms.ranges, terms.histogram) == (Epsilon(ranges), Epsilon(histogram))
    assert (terms.bins, terms.points) == (bins, points)
    draws = np.random.default_rng(8)
    assert printed_points(draws.uniform(1, 50, rows), draws.normal(size=rows), epsilon, entropy).shape == (points, 2)


def test_ranges_have_no_least_share():
    assert printed_terms(10**6, 1).ranges == Epsilon("0.00047")


def test_the_bound(entropy):
    """z = (.5, 3, 5, 9), first bound 1, three quarters: 8. At epsilon 50 noise is as good as off."""
    assert symmetric_range(np.array([0.5, 3, 5, 9]), Epsilon(50), entropy, Fraction(3, 4)) == (-8, 8)


def test_counts_are_clipped_and_rounded():
    assert clipped_counts(np.array([[10.0, -2.0, 1.6]])).tolist() == [[10, 0, 2]]


def test_the_printed_counts_grow_and_ours_do_not():
    """Empty cells: the print adds half a noise scale for each, 10 * 1600 / 2 of 1000; false failure below 1e-6."""
    exact = np.zeros((40, 40))
    exact[0, :10] = 100
    noisy = exact + np.random.default_rng(3).laplace(0, 10, exact.shape)
    assert clipped_counts(noisy).sum() > 6000
    assert whole_counts(noisy).sum() == max(0, round(noisy.sum())) < 1000 + 40 * 14.2 * 5
