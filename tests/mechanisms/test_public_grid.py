"""Records on a public grid: where one goes, or that it goes nowhere, depends on that record alone."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from thresher.errors import ArgumentError
from thresher.mechanisms.public_grid import floats_of, grid_of
from thresher.mechanisms.quantiles import inner_range, median, quantiles, recursive_medians
from thresher.mechanisms.smooth_median import smooth_median, smooth_sensitivity

# What may stand in a list of records, and the number that it is.
RECORDS = [
    (3, 3.0), (0.25, 0.25), (True, 1.0), (np.int8(7), 7.0), (np.float32(0.5), 0.5), (np.bool_(True), 1.0),
    (2**63, 2.0**63), (10**400, math.inf), (-(10**400), -math.inf), (Fraction(10) ** 400, math.inf),
    (Fraction(1, 2), 0.5), (Decimal("0.125"), 0.125), (Decimal("-1e999"), -math.inf), (math.inf, math.inf),
    (math.nan, math.nan), (Decimal("NaN"), math.nan), (Decimal("sNaN"), math.nan), (None, math.nan),
    ("0.5", math.nan), (b"1", math.nan), (1j, math.nan), ([0.5], math.nan), ([1, 2], math.nan), ({}, math.nan),
    (np.array([1.0]), math.nan), (object(), math.nan), (np.datetime64("2020-01-01"), math.nan),
]  # fmt: skip


def same(one, other):
    return np.array_equal(one, other, equal_nan=True)


@pytest.mark.parametrize(("record", "number"), RECORDS, ids=lambda value: type(value).__name__)
def test_a_record_is_the_same_number_whatever_stands_beside_it(record, number):
    assert same(floats_of([record]), [number])
    for beside, known in RECORDS:
        assert same(floats_of([record, beside]), [number, known])
        assert same(floats_of((beside, record)), [known, number])
        objects = np.empty(2, dtype=object)
        objects[0], objects[1] = record, beside
        assert same(floats_of(objects), [number, known])


@pytest.mark.parametrize("mechanism", [
    lambda values: median(values, grid_of(0, 1), 1), lambda values: quantiles(values, ["0.5"], grid_of(0, 1), 1),
    lambda values: recursive_medians(values, 2, grid_of(0, 1), 1), lambda values: inner_range(values, 1, 1),
    lambda values: smooth_median(values, grid_of(0, 1), 1), lambda values: smooth_sensitivity(values, 0, 1, 1),
])  # fmt: skip
def test_no_record_makes_a_mechanism_refuse(mechanism):
    for extra, _ in RECORDS:
        for values in itertools.permutations([0.5, 1, extra]):
            mechanism(values)


def test_what_is_no_number_is_left_out_and_what_is_too_large_goes_to_an_end():
    grid = grid_of(0, 10, 10)
    assert grid.snapped([3, None, "4", 10**400, -(10**400), [5]]).tolist() == [0, 3, 10]
    assert grid.snapped(range(4)).tolist() == [0, 1, 2, 3]
    assert grid.snapped([]).tolist() == []


@pytest.mark.parametrize("array", [
    np.array(["a"]), np.array([True]), np.array([[1.0]]), np.array([[None]]), np.array(None), 1.0, "12", b"12", {1.0},
    np.ma.masked_array([1.0], mask=[True]), np.array(["2020-01-01"], dtype="M8[D]"),
])  # fmt: skip
def test_arrays_are_refused_by_type_and_shape(array):
    with pytest.raises(ArgumentError, match=r"^values = "):
        floats_of(array)
    if isinstance(array, np.ndarray) and array.ndim == 1:
        with pytest.raises(ArgumentError, match=r"^values = "):
            floats_of(array[:0])
