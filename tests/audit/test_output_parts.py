"""Outputs taken apart: numbers where they are, marks for the rest, and nothing that brings the audit down."""

import asyncio
import datetime
import enum
import pickle
import threading
from collections import Counter, deque
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from thresher.audit.outputs.output_parts import error_apart, taken_apart


class Colour(enum.Enum):
    RED = 3


class Rude:
    def __iter__(self):
        raise RuntimeError("not you")


class Silent:
    def __repr__(self):
        raise RuntimeError


class UnprintableError(Exception):
    def __str__(self):
        raise RuntimeError


def numbers(output):
    return taken_apart(output).values().tolist()


@pytest.mark.parametrize(
    ("output", "found"),
    [
        (3, [3]),
        (True, [1]),
        (2.5, [2.5]),
        (1 + 2j, [1.0, 2.0]),
        (None, []),
        ({"b": 1, "a": 2}, [2, 1]),
        ({"b": {"x": [1, (2,)]}, "a": 3}, [3, 1, 2]),
        ({10: 1, 9: 2}, [9, 2, 10, 1]),
        ({3, 1, 2}, [1, 2, 3]),
        ("from -3 to 1.5e2, as of 2024", [-3.0, 150.0, 2024.0]),
        ("9" * 40, [1e40]),
        (b"ab", [97, 98]),
        (b"", []),
        (np.array([[1, 2], [3, 4]], dtype=np.uint8), [1, 2, 3, 4]),
        (np.array([2**64 - 1], dtype=np.uint64), [2.0**64]),
        (np.longdouble(1.5), [1.5]),
        (np.array([1.5, None, "x7"], dtype=object), [1.5, 7.0]),
        (np.ma.masked_array([1, 2], [False, True]), [1]),
        (np.array(["2024-01-02"], dtype="M8[D]"), [19724]),
        (Decimal("1.5"), [1.5]),
        (2**70 + 5, [2.0**70, 5.0]),
        (range(3), [0, 3, 0, 1, 2]),
        (deque([4]), [4, 4]),
        (Counter("aab"), [2, 1]),
        (datetime.date(2024, 1, 2), [2024, 1, 2]),
        (list(range(100)), list(range(100))),
    ],
)
def test_numbers_in_their_order(output, found):
    assert numbers(output) == found
    assert not taken_apart(output).unseen


def test_what_is_like_it_and_what_is_not():
    alike = [{"a": 1.5, "b": "x 3"}, {"b": "x -4.5", "a": 7.25}]
    assert len({taken_apart(output).structure for output in alike}) == 1
    assert len({taken_apart(output).contents for output in alike}) == 2
    others = [1, 1.0, True, None, "1", "x", [], [1], (1,), [[1]], {"a": 1}, {"b": 1}, np.array([1]), np.array([[1]])]
    assert len({taken_apart(output).structure for output in others}) == len(others)


@pytest.mark.parametrize(
    ("one", "other"), [(0.0, -0.0), ("1.50", "1.5"), (2**70, 2**70 + 2**40), (Decimal(1), Decimal("1.0"))]
)
def test_what_numbers_do_not_show_the_contents_do(one, other):
    assert taken_apart(one).contents != taken_apart(other).contents


def test_nan_is_one_value():
    odd = np.array([0x7FF8000000000001], dtype=np.uint64).view(np.float64)
    assert taken_apart(odd) == taken_apart(np.array([np.nan]))
    assert taken_apart(float(odd[0])) == taken_apart(float("nan"))


def test_numbers_alone_need_no_marks():
    assert all(taken_apart(output).exact for output in (1, 1.5, [1, 2.5], np.zeros(3), {"a": 1}))
    assert not any(taken_apart(output).exact for output in ("1", 2**70, [2**60 + 1, 1.5], np.zeros(600), Decimal(1)))


class TestLongOnes:
    @pytest.mark.parametrize("kind", [np.int64, np.float64])
    def test_are_short_when_they_are_sent(self, kind):
        parts = taken_apart(np.arange(10**6, dtype=kind))
        assert parts.numbers == 10**6
        assert len(pickle.dumps(parts)) < 6_000
        values = parts.values()
        assert values[:512].tolist() == list(range(512))
        assert values[512:640].sum() == sum(range(512, 10**6))
        assert values[640:].tolist() == [10**6 - 1, 512, 10**6 - 512, 0]

    def test_every_number_counts_somewhere(self):
        plain = taken_apart(np.zeros(5_000)).values()
        for place in (0, 511, 512, 600, 4_999):
            row = np.zeros(5_000)
            row[place] = 1.0
            assert (taken_apart(row).values() != plain).any()

    def test_whatever_they_hold(self):
        row = np.tile([np.inf, -np.inf, np.nan, 1e308, -1e308, 5e-324], 200)
        assert taken_apart(row).values()[-1] == np.count_nonzero(~np.isfinite(row[512:]))


class TestWhatCannotBeLookedInto:
    @pytest.mark.parametrize(
        ("output", "told"),
        [
            (lambda: 0, "function"),
            (len, "builtin_function"),
            (asyncio, "module"),
            (object(), "object"),
            (Silent(), "Silent"),
            (threading.Lock(), "lock"),
            ([1, {"deep": print}], "builtin_function"),
            (iter(int, 1), "callable_iterator of more than"),
            (Rude(), "looking at it raised RuntimeError"),
        ],
    )
    def test_is_named(self, output, told):
        assert told in taken_apart(output).unseen

    def test_what_waits(self):
        waiting = asyncio.sleep(0)
        assert taken_apart(waiting).unseen == "coroutine"
        waiting.close()

    def test_what_is_too_deep(self):
        deep = []
        for _ in range(30):
            deep = [deep]
        assert "too much" in taken_apart(deep).unseen

    def test_what_holds_itself_is_looked_into_once(self):
        endless = [1]
        endless.append(endless)
        assert numbers(endless) == [1]
        assert not taken_apart(endless).unseen

    @pytest.mark.parametrize("output", [Colour.RED, Colour, ..., "\ud800", pd.DataFrame({"n": [1.5]}), pd.Series([1])])
    def test_the_rest_can_be(self, output):
        assert not taken_apart(output).unseen


class TestErrors:
    def test_their_type_and_their_text(self):
        parts = error_apart(ValueError("n=3 of 7"))
        assert parts.raised == "ValueError"
        assert parts.values().tolist() == [3, 7]
        assert parts.structure == error_apart(ValueError("n=4 of 7")).structure
        assert parts.structure != error_apart(KeyError("n=3 of 7")).structure
        assert parts.structure != taken_apart("n=3 of 7").structure

    def test_one_that_cannot_be_printed(self):
        assert error_apart(UnprintableError()).raised == "UnprintableError"
