"""Whole numbers as people pass them: an empty list is one of them, and what is too large is said to be that."""

import numpy as np
import pytest

from thresher.errors import ArgumentError
from thresher.noise.arguments import checked_integers


@pytest.mark.parametrize("empty", [[], (), np.empty(0, dtype=np.int8)])
def test_an_empty_list_has_no_floats(empty):
    found = checked_integers(empty, "counts")
    assert (found.dtype, found.size) == (np.int64, 0)


@pytest.mark.parametrize(
    "values", [[2**63, 1], [2**63], [-1, 2**64], (10**400,), 10**400, [2**62], range(2**63, 2**63 + 2)]
)
def test_whole_numbers_beyond_64_bits_are_too_large_and_not_floats(values):
    with pytest.raises(ArgumentError, match=r"^counts = .* within 2\*\*62 of zero") as refusal:
        checked_integers(values, "counts")
    assert "float64" not in str(refusal.value)


@pytest.mark.parametrize(
    "values",
    [[0.5], [2**63, 1.0], [True], ["1"], [None], [10**400, 0.5], np.empty(0), np.array([1], dtype=np.uint64), None, {}],
)
def test_what_is_not_whole_is_refused(values):
    with pytest.raises(ArgumentError, match=r"^counts = .* integers\. Pass an int64 array\.$"):
        checked_integers(values, "counts")
