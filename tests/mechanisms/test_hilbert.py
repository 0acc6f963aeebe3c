"""Hilbert's order: known orders, every step to a neighbour, every cell once."""

import numpy as np
import pytest

from thresher.errors import ArgumentError
from thresher.mechanisms.histograms.hilbert import hilbert_order

FOUR = "00 10 11 01 02 03 13 12 22 23 33 32 31 21 20 30"
THREE = "00 10 11 01 02 12 22 21 20"


@pytest.mark.parametrize(("side", "order"), [(4, FOUR), (3, THREE), (1, "00")])
def test_known_orders(side, order):
    assert " ".join(f"{cell // side}{cell % side}" for cell in hilbert_order(side, side).tolist()) == order


@pytest.mark.parametrize("side", [2, 8, 32, 128])
def test_every_step_goes_to_a_neighbour(side):
    row, column = np.divmod(hilbert_order(side, side), side)
    assert (np.abs(np.diff(row)) + np.abs(np.diff(column)) == 1).all()
    assert (row[0], column[0]) == (0, 0)


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (5, 9), (31, 4), (1, 1 << 17)])
def test_any_table_is_passed_once(shape):
    assert (np.sort(hilbert_order(*shape)) == np.arange(shape[0] * shape[1])).all()


@pytest.mark.parametrize(("field", "shape"), [
    ("rows", (-1, 2)), ("rows", (0, 2)), ("rows", (1.5, 2)), ("rows", (None, 2)), ("rows", (10**9, 1)),
    ("columns", (2, 0)), ("columns", (2, "2")), ("columns", (2, True)), ("columns", (10**4, 10**4)),
    ("rows", (10**30, 10**30)),
])  # fmt: skip
def test_what_is_no_shape_is_refused(field, shape):
    with pytest.raises(ArgumentError, match=rf"^{field} = "):
        hilbert_order(*shape)
