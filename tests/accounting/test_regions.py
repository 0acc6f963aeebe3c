"""Regions: one form for one set of rows, safe overlap, exact JSON."""

import json
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.accounting import Interval, Region, Values, between, overlaps
from thresher.errors import ArgumentError

numbers = st.fractions(min_value=-5, max_value=5, max_denominator=4)
days = st.dates(date(2023, 12, 1), date(2024, 3, 1)).map(date.isoformat)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@st.composite
def intervals(draw, ends):
    low, high = sorted(draw(st.lists(ends, min_size=2, max_size=2, unique=True)))
    low, high = draw(st.sampled_from([(low, high), (None, high), (low, None)]))
    return Interval(low, high, low is not None and draw(st.booleans()), high is not None and draw(st.booleans()))


def sets(constants):
    return st.lists(constants, min_size=1, max_size=4).map(lambda members: Values(tuple(members)))


restrictions = st.one_of(sets(numbers), sets(days), sets(texts), intervals(numbers), intervals(days))
columns = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=3)
regions = st.dictionaries(columns, restrictions, max_size=4).map(lambda said: Region(tuple(said.items())))


@settings(deadline=None)
@given(regions)
def test_json_round_trip(region):
    text = json.dumps(region.to_json())
    assert Region.from_json(json.loads(text)) == region
    assert json.dumps(Region.from_json(json.loads(text)).to_json()) == text
    assert hash(Region.from_json(json.loads(text))) == hash(region)


@settings(deadline=None)
@given(regions, regions)
def test_a_region_overlaps_itself_everything_and_its_parts(first, second):
    assert overlaps(first, first)
    assert overlaps(first, Region.everything())
    assert overlaps(first, second) == overlaps(second, first)
    both = first.within(second)
    assert both is None or overlaps(both, first)
    assert overlaps(first, second.only(set(second.columns) - set(first.columns)))


def test_different_columns_always_overlap():
    assert overlaps(Region.where([("age", "<", 18)]), Region.where([("building", "=", "A")]))


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (("<", 18), (">=", 18), False),
        (("<=", 18), (">=", 18), True),
        (("<", 18), (">", 17), True),
        (("=", 18), ("in", [17, 19]), False),
        (("=", Decimal("18.0")), ("in", [17, Fraction(36, 2)]), True),
        (("=", "A"), ("=", "a"), False),
        (("<", "2024-01-01"), (">=", "2024-01-01"), False),
        (("=", "2024-01-15"), (">=", "2024-02-01"), False),
        # Not proved: a database may read text as a number, or a time as part of a day.
        (("=", "1"), ("=", 2), True),
        (("=", "2023-12-31 23:59"), (">=", "2024-02-01"), True),
        (("<", 5), (">", "2024-01-01"), True),
        (("=", "2023-12-31 23:59"), ("=", "2023-12-31"), False),
    ],
)
def test_overlap_unless_disjointness_is_proved(first, second, together):
    one, other = (Region.where([("x", *condition)]) for condition in (first, second))
    assert overlaps(one, other) is together
    assert overlaps(other, one) is together


def test_equal_sets_of_rows_are_equal_regions():
    one = Region.where([("age", ">=", 18), ("b", "in", ["B", "A", "B"]), ("age", "<=", 18)])
    other = Region((("b", Values(("A", "B"))), ("age", between(18, 18, high_included=True))))
    assert one == other
    assert hash(one) == hash(other)
    assert json.dumps(one.to_json()) == json.dumps(other.to_json())


def test_text_is_readable():
    region = Region.where([("age", ">=", 18), ("age", "<", Decimal("65.5")), ("building", "in", ["A", "B"])])
    assert str(region) == "age >= 18 and < 131/2 and building in ('A', 'B')"
    assert str(Region.everything()) == "everything"
    assert str(Region.at(("d", "n"), ("flu", Fraction(2)))) == "d = 'flu' and n = 2"


def test_numpy_integers_are_numbers():
    assert Region.where([("x", "=", np.int64(3))]) == Region.where([("x", "=", 3)])


@pytest.mark.parametrize(
    ("conditions", "field"),
    [
        ([("x", "!=", 1)], "operator"),
        ([("x", "like", "a%")], "operator"),
        ([("x", "in", [])], "values"),
        ([("x", "in", "abc")], "values"),
        ([("x", "in", [1, "a"])], "values"),
        ([("x", "=", 0.5)], "value"),
        ([("x", "=", True)], "value"),
        ([("x", "=", None)], "value"),
        ([("x", "=", Decimal("NaN"))], "value"),
        ([("x", "=", "\ud800")], "value"),
        ([("x", "<", "M")], "high"),
        ([("x", ">", "2024-02-30")], "low"),
        ([("x", "<", 1), ("x", ">", 2)], "conditions"),
        ([("x", "<", 1), ("x", ">=", 1)], "conditions"),
        ([("", "=", 1)], "column"),
        ([(3, "=", 1)], "column"),
    ],
)
def test_bad_conditions_are_refused(conditions, field):
    with pytest.raises(ArgumentError) as refusal:
        Region.where(conditions)
    assert refusal.value.field == field
    assert refusal.value.rule
    assert refusal.value.fix


@pytest.mark.parametrize(
    "build",
    [
        lambda: Interval(None, None, False, False),
        lambda: Interval(None, 1, True, False),
        lambda: Interval(1, 1, True, True),
        lambda: Interval(2, 1, True, True),
        lambda: Interval(1, "2024-01-01", True, True),
        lambda: Region((("x", Values((1,))), ("x", Values((2,))))),
    ],
)
def test_bad_restrictions_are_refused(build):
    with pytest.raises(ArgumentError):
        build()


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {"x": {}},
        {"x": {"values": []}},
        {"x": {"values": [1]}},
        {"x": {"values": "a"}},
        {"x": {"values": [{"number": "2/4"}]}},
        {"x": {"values": [{"number": "1e5"}]}},
        {"x": {"values": [{"number": 1}]}},
        {"x": {"values": ["a"], "more": 1}},
        {"x": {"low": None, "high": {"number": "1"}, "low_included": 0, "high_included": False}},
        {"": {"values": ["a"]}},
    ],
)
def test_bad_documents_are_refused(document):
    with pytest.raises(ArgumentError):
        Region.from_json(document)
