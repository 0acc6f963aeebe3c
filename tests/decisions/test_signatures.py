"""Signatures: no row has one that is not listed, in a small world looked at whole and in DuckDB; and what is proved."""

import itertools
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sql.row_by_row import holds

import thresher
from thresher.amounts import Epsilon
from thresher.config import Column, Grid, Listed, Table, read
from thresher.question import (
    ALWAYS,
    NEVER,
    Aggregate,
    AllOf,
    AnyOf,
    Missing,
    Need,
    NoneOf,
    OneOf,
    Present,
    Within,
    code_sets,
)
from thresher.question import signatures as module
from thresher.question.signatures import exclusive, signatures

F = Fraction
COLUMNS = (
    Column("x", Grid(F(0), F(4), F(1))),
    Column("y", Grid(F(0), F(4), F(1), missing=F(2))),
    Column("w", Listed(("a", "b"))),
)
TABLE = Table("t", {column.name: column for column in COLUMNS}, Epsilon("1"))
# All that rows can hold, as far as conditions tell it apart: unlisted words, and NULL but in y.
WORLD = {"x": [None, *range(5)], "y": range(5), "w": [None, "a", "b", "q", "zz"]}
ROWS = [dict(zip(WORLD, codes, strict=True)) for codes in itertools.product(*WORLD.values())]
# Grids end at 4 here, and the proof does not lean on that: it may see rows beyond.
BEYOND = [{"x": x, "y": y, "w": w} for x in (None, -9, *range(5), 9) for y in (-9, *range(5), 9) for w in WORLD["w"]]

numbers = st.one_of(st.none(), st.integers(0, 4))
leaves = st.one_of(
    st.builds(Within, st.sampled_from("xy"), numbers, numbers),
    st.builds(OneOf, st.sampled_from("xy"), st.lists(st.integers(0, 4), min_size=1, max_size=3).map(tuple)),
    st.builds(NoneOf, st.sampled_from("xy"), st.lists(st.integers(0, 4), min_size=1, max_size=3).map(tuple)),
    st.builds(OneOf, st.just("w"), st.lists(st.sampled_from(["a", "b", "q"]), min_size=1).map(tuple)),
    st.builds(NoneOf, st.just("w"), st.lists(st.sampled_from(["a", "b", "q"]), min_size=1).map(tuple)),
    st.builds(Missing, st.sampled_from("xw")),
    st.builds(Present, st.sampled_from("xw")),
)
conditions = st.recursive(
    leaves,
    lambda parts: (
        st.builds(AllOf, st.lists(parts, max_size=3).map(tuple))
        | st.builds(AnyOf, st.lists(parts, max_size=3).map(tuple))
    ),
    max_leaves=4,
)


def seen(filters, where=ALWAYS, rows=ROWS):
    """The signatures of rows, but for the empty one."""
    masks = {
        sum(1 << i for i, condition in enumerate(filters) if holds(condition, row)) for row in rows if holds(where, row)
    }
    return masks - {0}


def missed(filters, where=ALWAYS):
    """Signatures of rows that are not listed."""
    return seen(filters, where) - set(signatures(filters, TABLE, where).masks)


@settings(max_examples=80)
@given(st.lists(conditions, min_size=1, max_size=5), conditions)
def test_every_row_has_a_listed_signature(filters, where):
    assert not missed(filters, where)
    for size in (1, 2):
        for few in itertools.combinations(range(len(filters)), size):
            members = sum(1 << place for place in few)
            projected = {mask & members for mask in seen(filters, where)} - {0}
            assert projected <= set(signatures(filters, TABLE, where).within(members, 64))


@settings(max_examples=60)
@given(st.lists(leaves, min_size=2, max_size=4))
def test_with_one_condition_in_each_filter_nothing_else_is_listed(filters):
    """Single conditions leave exact sets, so what is listed beyond the rows is only a filter that nothing satisfies."""
    listed, real = set(signatures(filters, TABLE).masks), seen(filters)
    alone = {1 << place for place in range(len(filters)) if not any(mask >> place & 1 for mask in real)}
    assert listed <= real | alone | seen(filters, rows=BEYOND)


@settings(max_examples=60)
@given(st.lists(conditions, min_size=2, max_size=4))
def test_exclusive_is_never_claimed_wrongly(filters):
    if exclusive(filters, TABLE):
        assert all(mask.bit_count() == 1 for mask in seen(filters))


def above(low):
    return Within("x", low, None)


@pytest.mark.parametrize(
    ("filters", "masks"),
    [
        ([ALWAYS], (0b1,)),
        ([ALWAYS, above(2)], (0b01, 0b11)),
        ([above(1), above(2), above(3)], (0b001, 0b011, 0b111)),
        ([OneOf("w", ("a",)), OneOf("w", ("b",))], (0b01, 0b10)),
        ([Within("x", None, 1), Within("x", 2, None)], (0b01, 0b10)),
        ([above(2), OneOf("w", ("a",))], (0b01, 0b10, 0b11)),
        ([AllOf((above(2), OneOf("w", ("a",)))), above(2)], (0b10, 0b11)),
        ([ALWAYS, Present("x"), above(2)], (0b001, 0b011, 0b111)),
        ([ALWAYS, Within("y", None, 1), Within("y", 2, None)], (0b011, 0b101)),  # y is never NULL
        ([ALWAYS, Within("x", None, 1), Within("x", 2, None)], (0b001, 0b011, 0b101)),
        ([NEVER, above(2)], (0b01, 0b10)),
    ],
)
def test_what_is_proved(filters, masks):
    assert signatures(filters, TABLE).masks == masks


def test_where_strikes_off_what_it_leaves_out():
    assert signatures([above(1), above(3)], TABLE, Within("x", 3, None)).masks == (0b11,)


def test_exclusive_filters():
    few, many = Within("x", None, 1), Within("x", 2, None)
    assert exclusive([few, many], TABLE)
    assert exclusive([OneOf("w", ("a",)), OneOf("w", ("b",)), Missing("w")], TABLE)
    assert exclusive([above(1), Within("x", None, 3)], TABLE, Within("x", 4, None))
    assert not exclusive([few, above(1)], TABLE)
    assert not exclusive([few, OneOf("w", ("a",))], TABLE)
    assert not exclusive([few, Missing("x"), ALWAYS], TABLE)


def test_too_many_signatures_are_not_listed():
    columns = {f"c{i}": Column(f"c{i}", Grid(F(0), F(4), F(1))) for i in range(13)}
    table = replace(TABLE, columns=columns)
    found = signatures([Within(name, 1, None) for name in columns], table)
    assert found.masks is None
    assert found.within(0b111, 7) == tuple(range(1, 8))
    assert found.within(0b111, 6) is None
    assert found.within(0b1 << 12 | 0b1, 64) == (1, 1 << 12, 1 << 12 | 1)


DECLARED = """
[source]
url = "memory://"
[tables.t]
budget = "1"
[tables.t.columns]
i = { min = 0, max = 99 }
x = { min = 0, max = 4 }
d = { min = 0, max = 4, step = 0.5 }
y = { min = 0, max = 4, missing = 2 }
n = { values = [1, 2] }
w = { values = ["a", "b"] }
"""
doubles = st.sampled_from([None, float("nan"), float("inf"), -7.0, 0.24, 0.25, 1.0, 3.9, 1e300])
stored = st.tuples(
    st.sampled_from([None, -3, 0, 1, 2, 4, 9]),
    doubles,
    st.sampled_from([None, -3, 0, 2, 9]),
    st.sampled_from([None, 1, 2, 7]),
    st.sampled_from([None, "a", "b", "q", "zz"]),
)


@settings(max_examples=20)
@given(rows=st.lists(stored, min_size=1, max_size=12), filters=st.lists(conditions, min_size=1, max_size=4))
def test_duckdb_sees_no_other_signature(tmp_path_factory, rows, filters):
    """Every row is a group of its own, so that its counts are its signature as the database sees it."""
    declared = read(DECLARED, tmp_path_factory.mktemp("s"))
    table = declared.tables["t"]
    kinds = (pa.int64(), pa.float64(), pa.int64(), pa.int64(), pa.string())
    columns = {name: pa.array([row[i] for row in rows], kinds[i]) for i, name in enumerate("xdynw")}
    held = pa.table({"i": pa.array(range(len(rows))), **columns})
    filters = [*filters, Within("d", 1, 2), Within("n", 2, None), OneOf("n", (1,))]
    with thresher.open(declared, tables={"t": held}) as engine:
        groups = tuple((i,) for i in range(len(rows)))
        wanted = tuple(Aggregate("rows", None, condition) for condition in filters)
        exact = engine._source.fetch(Need(table, (table.columns["i"],), groups, ALWAYS, wanted)).unseal()
    masks = {sum(1 << n for n, count in enumerate(counts) if count) for counts in exact.tolist()} - {0}
    assert masks <= set(signatures(filters, table).masks)


class TestMistakes:
    """Proofs that take too much for granted are caught by the same comparison with rows."""

    def test_to_forget_that_null_is_in_no_interval(self, monkeypatch):
        honest = code_sets.Numbers.opposite
        monkeypatch.setattr(code_sets.Numbers, "opposite", lambda held: replace(honest(held), null=False))
        assert missed([ALWAYS, Within("x", None, 1), Within("x", 2, None)])

    def test_to_believe_that_rows_keep_to_the_list(self, monkeypatch):
        listed = code_sets.Words(frozenset("ab"), besides=False, null=True)
        monkeypatch.setattr(module, "whole", lambda table: [{"w": listed}])
        assert missed([ALWAYS, OneOf("w", ("a",)), OneOf("w", ("b",)), Present("w")])

    def test_to_drop_boxes_beyond_the_most(self, monkeypatch):
        monkeypatch.setattr(code_sets, "_MOST_BOXES", 1)
        filters = [AnyOf((OneOf("w", ("a",)), above(2))), OneOf("w", ("b",))]
        assert not missed(filters)
        monkeypatch.setattr(code_sets, "_around", lambda listed: listed[0])
        assert missed(filters)
