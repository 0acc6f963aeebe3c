"""Groups by one sort are the groups that asking about every pair of cells would give."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.audit.attacks import ordered_groups
from thresher.audit.attacks.cell_groups import grouped_by_scores, larger_than
from thresher.errors import ArgumentError

PRINTED = np.array([0, 0, 1, 3, 7, 7, 8])
counts_of_cells = st.lists(st.integers(0, 12), min_size=1, max_size=14)
thresholds = st.fractions(-15, 15, max_denominator=8)


def larger_sets(counts, threshold, *, with_self=True):
    """Every pair asked: the cells found larger than each."""
    cells = range(len(counts))
    return [frozenset(u for u in cells if (with_self or u != v) and counts[u] - counts[v] >= threshold) for v in cells]


def smaller_sets(counts, threshold):
    cells = range(len(counts))
    return [frozenset(u for u in cells if counts[v] - counts[u] >= threshold) for v in cells]


def same_partition(labels, keys):
    return len(set(zip(labels.tolist(), keys, strict=True))) == len(set(labels.tolist())) == len(set(keys))


def test_the_specified_example():
    assert [len(larger) for larger in larger_sets(PRINTED, 2.5)] == [4, 4, 3, 3, 0, 0, 0]
    distinct, first = np.unique(PRINTED, return_index=True)
    assert larger_than(distinct, first, PRINTED.size, 3).tolist() == [4, 3, 3, 0, 0]
    groups = ordered_groups(PRINTED, 2.5)
    assert groups.labels.tolist() == [0, 0, 1, 1, 2, 2, 2]
    assert groups.sizes.tolist() == [2, 2, 3]
    assert groups.totals(PRINTED).tolist() == [0, 4, 22]


@pytest.mark.parametrize("threshold", ["3.2", 7, "0.5", 0, -2, "-0.5"])
def test_one_sort_equals_all_pairs_on_a_larger_histogram(threshold):
    counts = np.array([0] * 40 + [1] * 20 + [2] * 9 + [4, 4, 5, 9, 9, 17, 23, 31, 60]) + np.arange(78) % 3
    groups = ordered_groups(counts, threshold)
    assert same_partition(groups.labels, larger_sets(counts.tolist(), Fraction(str(threshold))))


@given(counts_of_cells, thresholds)
def test_one_sort_equals_all_pairs(counts, threshold):
    groups = ordered_groups(np.array(counts), threshold)
    sets = larger_sets(counts, threshold)
    assert same_partition(groups.labels, sets)
    # Later groups have fewer larger cells, and nothing else: sets are nested.
    by_label = sorted(zip(groups.labels.tolist(), sets, strict=True), key=lambda pair: pair[0])
    assert all(later <= sooner for (_, sooner), (_, later) in pairwise(by_label))
    assert groups.sizes.tolist() == np.bincount(groups.labels).tolist()
    totals = np.bincount(groups.labels, weights=counts)
    assert groups.totals(np.array(counts)).tolist() == totals.tolist()


@given(counts_of_cells, thresholds)
def test_both_ways_is_what_both_questions_about_every_pair_give(counts, threshold):
    groups = ordered_groups(np.array(counts), threshold, both_ways=True)
    pairs = list(zip(larger_sets(counts, threshold), smaller_sets(counts, threshold), strict=True))
    assert same_partition(groups.labels, pairs)


@given(counts_of_cells, thresholds, st.booleans())
def test_counts_of_a_group_are_below_those_of_the_next(counts, threshold, both_ways):
    groups = ordered_groups(np.array(counts), threshold, both_ways=both_ways)
    ends = [(min(cells), max(cells)) for cells in _members(np.array(counts), groups)]
    assert all(high < low for (_, high), (low, _) in pairwise(ends))


def _members(counts, groups):
    return [counts[groups.labels == label].tolist() for label in range(groups.sizes.size)]


def test_without_a_cell_itself_equal_cells_would_part_below_zero():
    """Why a cell is compared with itself: asked about others only, two equal ones are each other's larger cell."""
    counts = [3, 3, 5]
    assert len(set(larger_sets(counts, -1, with_self=False))) > len(set(larger_sets(counts, -1)))
    assert ordered_groups(counts, -1).labels.tolist() == [0, 0, 1]


@pytest.mark.parametrize("cutoff", [1, 4, 12])
def test_low_counts_stand_alone_where_all_counts_occur(cutoff):
    """Theorem 6: with all counts from 0 to k, those up to k less the noisy threshold have groups of their own."""
    k = 30
    counts = np.repeat(np.arange(k + 1), 3)
    members = _members(counts, ordered_groups(counts, cutoff))
    assert members[: k - cutoff + 1] == [[i] * 3 for i in range(k - cutoff + 1)]


@pytest.mark.parametrize("cutoff", [0, 1])
def test_a_threshold_of_nothing_tells_all_counts_apart(cutoff):
    counts = np.array([5, 0, 1000, 5, 17, 0])
    assert ordered_groups(counts, cutoff, both_ways=True).labels.tolist() == [1, 0, 3, 1, 2, 0]


@pytest.mark.parametrize("threshold", [9, "8.01", 10**30, "1e50"])
def test_a_threshold_beyond_all_differences_leaves_one_group(threshold):
    assert ordered_groups(PRINTED, threshold).sizes.tolist() == [7]
    assert ordered_groups(PRINTED, threshold, both_ways=True).sizes.tolist() == [7]


@pytest.mark.parametrize("threshold", [-(10**30), -3, 0, 1, 3])
def test_constant_data_are_one_group(threshold):
    assert ordered_groups([4, 4, 4], threshold, both_ways=True).sizes.tolist() == [3]


def test_scores_part_at_clear_gaps_only():
    scores = np.array([0.0, 1.0, 30.0, 31.0, 36.0, 80.0])
    groups = grouped_by_scores(scores, np.full(6, 4.0), 0.5)
    assert groups.labels.tolist() == [0, 0, 1, 1, 1, 2]
    # The same gaps are nothing where one more in the count would raise a score by 100 or so.
    assert grouped_by_scores(scores, np.full(6, 4.0), 25.0).sizes.tolist() == [6]


@pytest.mark.parametrize(
    "counts",
    [[], [[1, 2]], [1.5, 2.0], [True, False], [-104729, 3], ["1"], [float("nan")], [None], 3, [2**52], np.uint64([1])],
)
def test_what_is_no_histogram_is_refused_without_showing_a_count(counts):
    with pytest.raises(ArgumentError, match=r"^counts = ") as refusal:
        ordered_groups(counts, 1)
    assert "104729" not in str(refusal.value)


@pytest.mark.parametrize("threshold", [float("nan"), float("inf"), "x", None, True])
def test_a_threshold_is_a_number(threshold):
    with pytest.raises(ArgumentError, match=r"^noisy_threshold = "):
        ordered_groups([1, 2], threshold)
