"""Named sums of released series."""

import numpy as np
import pytest

from thresher.errors import ArgumentError
from thresher.streams.aggregates import Aggregates

STATES = ("hall", "library", "gym")
WINGS = {"east": ["gym", "hall"], "all": ["hall", "library", "gym"], "books": ["library"]}


def test_sums_and_how_many_noises_each_carries():
    wings = Aggregates.of(STATES, WINGS)
    assert wings.names == ("east", "all", "books")
    assert wings.sizes == (2, 3, 1)
    found = wings.sums(np.array([[1, 20, -300], [4, 0, 0]]))
    assert found.tolist() == [[-299, -279, 20], [4, 4, 0]]
    assert found.dtype == np.int64
    assert wings.sums(np.array([[0.5, 1.0, 0.25]])).tolist() == [[0.75, 1.75, 1.0]]


REFUSED = [
    ({}, "the series that it adds up"),
    (["east"], "the series that it adds up"),
    ({"east": []}, "one series or more"),
    ({"east": "hall"}, "one series or more"),
    ({"east": ["hall", "barn"]}, "not a series"),
    ({"east": ["hall", "gym", "hall"]}, "twice"),
    ({"hall": ["gym"]}, "that name already"),
    ({"": ["gym"]}, "a name"),
]


@pytest.mark.parametrize(("sums", "rule"), REFUSED)
def test_refusals(sums, rule):
    with pytest.raises(ArgumentError, match=rule) as refusal:
        Aggregates.of(STATES, sums)
    assert refusal.value.field == "sums"


def test_released_numbers_of_another_shape_are_refused():
    for shape in ((3,), (1, 2), (1, 4)):
        with pytest.raises(ArgumentError, match="3 series"):
            Aggregates.of(STATES, WINGS).sums(np.zeros(shape))
