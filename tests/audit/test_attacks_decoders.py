"""Counts from noisy totals: the printed rounding, and the nearest row of whole numbers that increases."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.audit.attacks import increasing_wholes, rounded_means
from thresher.errors import ArgumentError


def test_the_specified_example():
    assert increasing_wholes([2, 9, 8, 50], [10] * 4).tolist() == [0, 1, 2, 5]
    assert rounded_means([2, 9, 8, 50], [10] * 4).tolist() == [0, 1, 1, 5]


def test_rounding_is_to_the_nearest_and_halves_go_up():
    assert rounded_means([5, 15, -5, -6, 7, 0], [10, 10, 10, 10, 2, 3]).tolist() == [1, 2, 0, -1, 4, 0]


def test_a_group_known_well_corrects_its_neighbours():
    """Three groups of one cell after a thousand cells that count 4: they cannot count 4 or less."""
    assert increasing_wholes([4003, 3, 9, 4], [1000, 1, 1, 1]).tolist() == [4, 5, 6, 7]
    assert rounded_means([4003, 3, 9, 4], [1000, 1, 1, 1]).tolist() == [4, 3, 9, 4]


def cost(row, means, sizes):
    return sum(size**2 * (a - mean) ** 2 for a, mean, size in zip(row, means, sizes, strict=True))


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 4), st.fractions(3, 8, max_denominator=4)), min_size=1, max_size=4))
def test_no_increasing_row_of_whole_numbers_is_nearer(groups):
    """All rows within reach are tried, in exact arithmetic."""
    sizes = [size for size, _ in groups]
    totals = [round(size * mean) for size, mean in groups]
    means = [Fraction(total, size) for total, size in zip(totals, sizes, strict=True)]
    found = increasing_wholes(totals, sizes)
    assert (np.diff(found) > 0).all()
    best = min(cost(row, means, sizes) for row in combinations(range(13), len(sizes)))
    assert cost(found.tolist(), means, sizes) == best


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=30, unique=True), st.integers(1, 50))
def test_without_noise_both_are_exact(counts, size):
    counts = sorted(counts)
    totals, sizes = [count * size for count in counts], [size] * len(counts)
    assert increasing_wholes(totals, sizes).tolist() == counts
    assert rounded_means(totals, sizes).tolist() == counts


def test_negative_means_become_zero():
    assert increasing_wholes([-50, -40], [10, 10]).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("totals", "sizes"),
    [(np.array([], dtype=int),) * 2, ([1], [1, 2]), ([1], [0]), ([[1]], [[1]]), ([1], [-1]), ([2**60], [1])],
)
def test_groups_that_cannot_be_are_refused(totals, sizes):
    for decode in (increasing_wholes, rounded_means):
        with pytest.raises(ArgumentError, match=r"^sizes = "):
            decode(totals, sizes)
