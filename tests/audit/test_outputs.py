"""Outputs of any kind can be told apart, and none of them brings the audit down."""

import math

import numpy as np
import pytest

from thresher.audit.foreign.neighbours import check_neighbours, differ_by_a_count, differ_by_a_record
from thresher.audit.outputs.fingerprints import fingerprint
from thresher.audit.outputs.samples import sampled
from thresher.errors import ArgumentError


class Silent:
    def __repr__(self):
        raise RuntimeError


class TestFingerprints:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (1, 1.0),
            (0.1 + 0.2, 0.3),
            (0.0, -0.0),
            ([1, 2], [2, 1]),
            ({"a": 1}, {"a": 2}),
            ("1", 1),
            (None, 0),
            (np.array([1, 2]), np.array([[1, 2]])),
            (b"a", "a"),
        ],
    )
    def test_different_outputs_differ(self, one, other):
        assert fingerprint(one) != fingerprint(other)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (math.nan, -math.nan),
            ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
            ({3, 1, 2}, {2, 3, 1}),
            (object(), object()),
            (np.int64(3), 3),
            ((1, 2), [1, 2]),
        ],
    )
    def test_equal_outputs_do_not(self, one, other):
        assert fingerprint(one) == fingerprint(other)

    def test_whatever_it_is(self):
        endless = []
        endless.append(endless)
        for output in (endless, Silent(), lambda: 0, type, "\ud800", -(10**5000), float("inf"), (x for x in "ab")):
            assert isinstance(fingerprint(output), str)
        assert fingerprint(10**5000) != fingerprint(10**5000 + 1)


class TestSamples:
    def test_numbers_keep_their_values_and_their_bits(self):
        one, other = sampled(np.array([0.0, 1.5]), [2, 3])
        assert one.floating
        assert other.floating
        assert other.numbers.ravel().tolist() == [2.0, 3.0]

    def test_rows_of_unequal_length_are_filled_up(self):
        one, other = sampled([(1,), (1, 2)], [(1,), (1, 2)])
        assert (one.bits == other.bits).all()
        assert one.numbers.tolist() == [[1.0, 0.0, 2.0], [1.0, 2.0, 3.0]]
        assert one.names == ("how much it holds", "its structure")

    def test_a_row_filled_up_is_no_row_that_ends_in_zero(self):
        one, _ = sampled([(1,), (1, 0)], [(1,), (1, 0)])
        assert len(np.unique(one.bits, axis=0)) == 2

    def test_numbers_here_and_words_there(self):
        one, other = sampled([1, 2], ["raised ValueError", "raised ValueError"])
        assert not set(one.bits.ravel()) & set(other.bits.ravel())

    @pytest.mark.parametrize(
        "outputs",
        [[10**30, 1], [math.nan, math.inf], [None, 1], [[], []], [np.zeros(3), 1], [True, 2], [1e308, -1e308]],
    )
    def test_odd_ones(self, outputs):
        one, other = sampled(outputs, outputs)
        assert one.runs == 2
        assert (one.bits == other.bits).all()
        assert np.isfinite(one.numbers).all()


class TestNeighbours:
    @pytest.mark.parametrize(
        ("here", "there"),
        [([1, 2], [2, 1, 3]), ([], [0]), ([[1], [1]], [[1]]), (np.array([1, 2]), np.array([1, 2, 2]))],
    )
    def test_a_record_more(self, here, there):
        assert differ_by_a_record(here, there)
        assert differ_by_a_record(there, here)
        check_neighbours(here, there, "records")

    @pytest.mark.parametrize(
        ("here", "there"),
        [
            (3, 4),
            ([1, 2], [1, 3]),
            ({"a": 2}, {"a": 1}),
            ({}, {"b": 1}),
            (np.zeros((2, 2), int), np.eye(1, 4, 2, dtype=int).reshape(2, 2)),
        ],
    )
    def test_one_more_in_a_cell(self, here, there):
        assert differ_by_a_count(here, there)
        check_neighbours(there, here, "counts")

    @pytest.mark.parametrize(
        ("here", "there"),
        [
            ([1], [1]),
            ([1, 2], [3, 4]),
            ([1], [1, 2, 3]),
            (1, 3),
            ({"a": 1}, {"b": 1}),
            ("ab", "abc"),
            (None, 1),
            (True, 2),
            ({}, [1]),
            ([1], {}),
            (np.zeros((2, 2), int), np.array([0, 0, 0, 1])),
        ],
    )
    def test_no_neighbours(self, here, there):
        with pytest.raises(ArgumentError, match="here, there"):
            check_neighbours(here, there)
        check_neighbours(here, there, "any")

    def test_the_refusal_shows_them_as_they_were_written(self):
        with pytest.raises(ArgumentError, match=r"\(\[1.5\], \[2, 'a'\]\)"):
            check_neighbours([1.5], [2, "a"])

    def test_a_notion_that_is_none(self):
        with pytest.raises(ArgumentError, match="neighbours"):
            check_neighbours(1, 2, "friends")
