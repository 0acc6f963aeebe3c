"""Pooling adjacent violators: the published case, brute force, and what it refuses."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from thresher.errors import ArgumentError
from thresher.mechanisms.isotonic import isotonic


def by_all_partitions(values, weights):
    """The best of all ways to part the line into blocks whose means do not fall."""
    best, least = None, np.inf
    for cuts in itertools.product([0, 1], repeat=len(values) - 1):
        edges = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), len(values)]
        blocks = [slice(a, b) for a, b in itertools.pairwise(edges)]
        means = [np.average(values[block], weights=weights[block]) for block in blocks]
        if all(a <= b for a, b in itertools.pairwise(means)):
            line = np.concatenate([np.full(b.stop - b.start, mean) for b, mean in zip(blocks, means, strict=True)])
            loss = (weights * (values - line) ** 2).sum()
            if loss < least - 1e-12:
                best, least = line, loss
    return best


def test_the_published_case():
    assert isotonic([3, 1, 2]).tolist() == [2, 2, 2]
    assert isotonic([3, 1, 2], [1, 3, 1]).tolist() == [1.5, 1.5, 2]
    assert isotonic([]).tolist() == []
    assert isotonic([1, 1, 5]).tolist() == [1, 1, 5]


@given(st.lists(st.tuples(st.integers(-20, 20), st.integers(1, 5)), min_size=1, max_size=8))
def test_it_is_the_best_of_all_partitions(pairs):
    values, weights = np.array(pairs, dtype=float).T
    assert isotonic(values, weights) == pytest.approx(by_all_partitions(values, weights), abs=1e-9)


def test_long_lines_agree_with_another_implementation():
    generator = np.random.default_rng(3)
    values, weights = generator.normal(size=5000).cumsum(), generator.uniform(0.1, 3, size=5000)
    assert isotonic(values, weights) == pytest.approx(isotonic_regression(values, weights=weights).x, abs=1e-9)


@pytest.mark.parametrize(
    "bad", [([1, np.nan], None), ([1, np.inf], None), ([1, 2], [1]), ([1, 2], [1, 0]), ([1, 2], [1, np.nan])]
)
def test_bad_numbers_are_refused(bad):
    with pytest.raises(ArgumentError, match=r"^(weights|values) = "):
        isotonic(*bad)
