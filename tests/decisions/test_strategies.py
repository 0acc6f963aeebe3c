"""Strategies: what a record costs, exactly; cells and ends against rows; and careless strategies that checks see."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import pytest
from decisions.measured_shapes import FILTERS, TABLE, average_and_count, count, people
from hypothesis import given, settings
from hypothesis import strategies as st
from sql.row_by_row import holds, value

from thresher.config import Grid
from thresher.decisions.values.measures import filter_of, numbers_behind
from thresher.decisions.values.strategies import joint_block, loss, parted, touched_together
from thresher.question import ALWAYS, Aggregate, Atom, Missing, OneOf, Present, Within
from thresher.question.signatures import signatures

F = Fraction
NOTHING = {f"c{i}": 0 for i in range(16)} | {"w": "zz", "x": None, "y": None, "(unit)": 0}
# T9 of the reference: two blocks, both touched by a record that satisfies all filters.
RATES = (482_147_000, 793_381_000)


def readings(block, rows):
    return [sum(weight * value(aggregate, rows) for aggregate, weight in one.weights) for one in block.readings]


def paid(blocks, rates, rows, others=()):
    """What a unit with these rows loses, exactly: the weighted change of all readings."""
    total = F(0)
    for block, rate in zip(blocks, rates, strict=True):
        changes = zip(readings(block, [*rows, *others]), readings(block, others), block.readings, strict=True)
        total += sum(F(rate, one.sensitivity) * abs(after - before) for after, before, one in changes)
    return total


def answered(block, rows):
    """The numbers of a block from its readings without noise."""
    seen = readings(block, rows)
    return [F(sum(factor * seen[i] for i, factor in answer.parts), answer.over) for answer in block.answers]


def built(atoms, partition, table=TABLE):
    found = numbers_behind(atoms, [10] * len(atoms), table)
    known = signatures(found.filters, table)
    return [joint_block(members, found.measures, known) for members in partition], known, found


def star(partition):
    return built([count(where) for where in FILTERS["star"](6)], partition)


def record(*columns):
    return {**NOTHING, **dict.fromkeys(columns, 5)}


def test_the_reference_loss_is_reached_by_a_record_that_satisfies_all_filters():
    blocks, known, _ = star([(3, 4), (0, 1, 2, 5)])
    everything = record("c0", "c1", "c2", "c3", "c4")
    assert loss(blocks, RATES, known) == sum(RATES) == 1_275_528_000
    assert paid(blocks, RATES, [everything]) == sum(RATES)


def test_a_record_outside_all_filters_of_a_block_does_not_pay_for_it():
    blocks, _, _ = star([(3, 4), (0, 1, 2, 5)])
    assert paid(blocks, RATES, [record("c0", "c4")]) == RATES[1]
    assert readings(blocks[0], [record("c0", "c4")]) == [0, 0, 0]
    apart, known, _ = built([count(where) for where in FILTERS["disjoint"](3)], [(0,), (1,), (2,)])
    assert paid(apart, (5, 6, 7), [{**NOTHING, "w": "c"}]) == 7 == loss(apart, (5, 6, 7), known)
    assert touched_together(apart, known) == ((0,), (1,), (2,))


@pytest.mark.parametrize("shape", FILTERS)
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (2, 2), (3, 1), (4,)])
def test_no_record_pays_more_and_some_record_pays_all(shape, sizes):
    ends = list(itertools.accumulate(sizes))
    partition = [tuple(range(end - size, end)) for size, end in zip(sizes, ends, strict=True)]
    blocks, known, _ = built([count(where) for where in FILTERS[shape](4)], partition)
    rates = [10 + 7 * i for i in range(len(blocks))]
    rows = [
        {**NOTHING, **dict(zip(("c0", "c1", "c2", "c3"), codes, strict=True)), "w": word}
        for codes in itertools.product((None, 0, 1, 2, 3, 4), (0, 1), (0, 1), (0, 1))
        for word in "abcdz"
    ]
    assert max(paid(blocks, rates, [row]) for row in rows) == loss(blocks, rates, known)


def test_the_exact_law_of_what_is_released_attains_the_loss_and_no_more():
    """Three cells of two filters, p = 1/2 each: the likelihood ratio of all outputs within 6, for each record."""
    found = numbers_behind([count(where) for where in FILTERS["independent"](2)], [1, 1], TABLE)
    known = signatures(found.filters, TABLE)
    cells = joint_block((0, 1), found.measures, known)
    direct = [joint_block((i,), found.measures, known) for i in (0, 1)]

    def law(truth, seen):
        return math.prod(F(1, 3) * F(1, 2) ** abs(x - t) for t, x in zip(truth, seen, strict=True))

    def largest_ratio(blocks):
        base = [number for block in blocks for number in readings(block, [])]
        worst = F(0)
        for columns in ((), ("c0",), ("c1",), ("c0", "c1")):
            moved = [number for block in blocks for number in readings(block, [record(*columns)])]
            for seen in itertools.product(range(-6, 7), repeat=len(base)):
                worst = max(worst, law(moved, seen) / law(base, seen))
        return worst

    # One unit of epsilon is ln 2: cells lose it once, the two counts by themselves twice.
    assert largest_ratio([cells]) == 2 ** loss([cells], [1], known) == 2
    assert largest_ratio(direct) == 2 ** loss(direct, [1, 1], known) == 4


codes = st.one_of(st.none(), st.integers(0, 4))
some_rows = st.lists(
    st.builds(
        lambda c0, c1, w, x, y: {**NOTHING, "c0": c0, "c1": c1, "w": w, "x": x, "y": y},
        codes,
        codes,
        st.sampled_from(["a", "b", "q", None]),
        st.one_of(st.none(), st.integers(-3, 7)),
        st.integers(-3, 7),
    ),
    max_size=8,
)
POOL = [ALWAYS, Within("c0", 2, None), Within("c0", 3, None), Within("c1", None, 2), OneOf("w", ("a",)),
        OneOf("w", ("b", "a")), Missing("c0"), Present("w")]  # fmt: skip
WIDE = people(1, x=Grid(F(-3), F(7), F(1)), y=Grid(F(-3), F(7), F(1), F(0)))


def total(column, where=ALWAYS, present=0):
    """SUM(column) + present * COUNT(column), in one filter."""
    counted = Aggregate("rows", None, where) if column == "y" else Aggregate("present", column, where)
    weights = ((Aggregate("total", column, where), 1), *([(counted, present)] if present else []))
    return Atom(weights, 1, "SUM", "SUM > 0", F(1))


@settings(max_examples=60)
@given(st.lists(st.sampled_from(POOL), min_size=2, max_size=5, unique=True), some_rows, st.sampled_from("#xy"))
def test_cells_are_the_rows_of_each_signature(filters, rows, what):
    """Counts, or sums of a column with and without NULL: by inclusion and exclusion, and one row after the other."""
    atoms = [count(where) if what == "#" else total(what, where) for where in filters]
    [block], known, found = built(atoms, [tuple(range(len(atoms)))], WIDE)
    held = known.filters
    for cell, seen in zip(known.within(block.touched, 64), readings(block, rows), strict=True):
        inside = [
            row for row in rows if sum(1 << i for i, f in enumerate(held) if holds(f, row)) & block.touched == cell
        ]
        assert seen == sum(1 if what == "#" else row[what] for row in inside)
    direct = [sum(weight * value(aggregate, rows) for aggregate, weight in one.weights) for one in found.measures]
    assert answered(block, rows) == direct
    assert all(answer.noise.coefficients == (1,) * len(answer.parts) for answer in block.answers)


@settings(max_examples=60)
@given(
    some_rows,
    st.sampled_from(["x", "y"]),
    st.sampled_from(POOL),
    st.lists(st.integers(-9, 9), min_size=1, max_size=3, unique=True),
)
def test_ends_give_every_number_of_the_column(rows, column, where, presents):
    """Sums, averages with any threshold, COUNT(x) and COUNT(*) from two or three readings; a row moves them by one."""
    present = Aggregate("present", column, where) if column == "x" else Aggregate("rows", None, where)
    atoms = [*(total(column, where, present) for present in presents), count(where)]
    atoms += [Atom(((present, 1),), 1, "COUNT(x)", "COUNT(x) > 0", F(1))] if column == "x" else []
    found = numbers_behind(atoms, [1] * len(atoms), WIDE)
    known = signatures(found.filters, WIDE)
    everything = tuple(range(len(found.measures)))
    if len(everything) < 2:
        return
    block = joint_block(everything, found.measures, known)
    assert block.kind == "ends"
    assert len(block.readings) == (3 if column == "x" else 2)
    direct = [sum(weight * value(aggregate, rows) for aggregate, weight in one.weights) for one in found.measures]
    assert answered(block, rows) == direct
    for row in rows:
        touches = any(holds(f, row) and block.touched >> i & 1 for i, f in enumerate(known.filters))
        assert paid([block], [1], [row], rows) == (1 if touches else 0)


def test_several_rows_of_a_unit_share_what_the_block_costs():
    table, atoms = average_and_count(3, -3, 7, missing=False, max_rows=4)
    found = numbers_behind(atoms, [10, 10], table)
    known = signatures(found.filters, table)
    block = joint_block((0, 1), found.measures, known)
    rows = [{**NOTHING, "x": x} for x in (-3, 7, 7, None)]
    assert paid([block], [60], rows) == 60
    assert paid([block], [60], rows[:1]) == 15
    single = [joint_block((i,), found.measures, known) for i in (0, 1)]
    assert paid(single, [60, 30], [{**NOTHING, "x": -3}] * 4) == loss(single, [60, 30], known) == 90


def test_units_with_several_rows_are_paid_for_whatever_the_signature():
    table = people(2)
    units = [
        Atom(((Aggregate("units", None, where), 1),), 1, "COUNT(DISTINCT)", "> 0", F(1))
        for where in FILTERS["disjoint"](2)
    ]
    blocks, known, found = built([*units, count(OneOf("w", ("a",)))], [(0,), (1,), (2,)], table)
    assert [measure.by_unit for measure in found.measures] == [True, True, False]
    assert joint_block((0, 1), found.measures, known) is None
    both = [{**NOTHING, "w": "a", "(unit)": 1}, {**NOTHING, "w": "b", "(unit)": 1}]
    assert paid(blocks, [5, 6, 8], both) == 5 + 6 + 4
    assert loss(blocks, [5, 6, 8], known) == 5 + 6 + 8
    alone, _, merged = built([*units, count(OneOf("w", ("a",)))], [(0,), (1,)], people(1))
    assert len(merged.measures) == 2, "with one row of a unit its units are its rows"
    assert not any(block.always for block in alone)


def test_numbers_are_told_apart_and_shared():
    above, below = (
        count(ALWAYS, 10),
        replace(count(ALWAYS), weights=((Aggregate("rows", None, ALWAYS), -1),), at_least=-50),
    )
    found = numbers_behind([above, below, total("x", present=-5)], [3, 4, 5], WIDE)
    assert len(found.measures) == 2
    assert [(one.measure, one.sign, one.slack) for one in found.literals] == [(0, 1, 3), (0, -1, 4), (1, 1, 5)]
    assert found.filters == (ALWAYS, Present("x"))
    assert filter_of(Aggregate("total", "x", Within("x", 1, None)), WIDE) == Within("x", 1, None), (
        "it has a value there"
    )
    assert filter_of(Aggregate("total", "y", ALWAYS), WIDE) == ALWAYS


def test_what_does_not_go_together():
    mixed = Atom(((Aggregate("rows", None, POOL[1]), 1), (Aggregate("rows", None, POOL[3]), -1)), 1, "-", "-", F(1))
    both = Atom(((Aggregate("total", "x"), 1), (Aggregate("rows", None), -2)), 1, "-", "-", F(1))
    atoms = [mixed, count(ALWAYS), total("x"), total("y"), total("x", POOL[1], 2), both,
             Atom(((Aggregate("present", "c0"), 1),), 1, "-", "-", F(1))]  # fmt: skip
    found = numbers_behind(atoms, [1] * len(atoms), WIDE)
    known = signatures(found.filters, WIDE)
    together = {
        pair
        for pair in itertools.combinations(range(len(atoms)), 2)
        if joint_block(pair, found.measures, known) is not None
    }
    assert together == {(1, 2), (1, 3), (1, 6)}, "COUNT(*) with SUM(x), with SUM(y), and with COUNT(c0); nothing else"


def test_the_most_cells():
    atoms = [count(where) for where in FILTERS["independent"](7)]
    found = numbers_behind(atoms, [1] * 7, TABLE)
    known = signatures(found.filters, TABLE)
    assert len(joint_block(tuple(range(6)), found.measures, known).readings) == 63
    assert joint_block(tuple(range(7)), found.measures, known) is None
    assert joint_block((0, 1), found.measures, known, most=2) is None


def test_parted_cells_of_nested_filters_are_differences():
    assert parted((0b001, 0b011, 0b111)) == {
        0b111: {0b111: 1},
        0b011: {0b011: 1, 0b111: -1},
        0b001: {0b001: 1, 0b011: -1},
    }
    assert parted((1, 2, 3))[1] == {1: 1, 3: -1}
    assert parted((1, 2, 4, 3, 5, 6, 7))[1] == {1: 1, 3: -1, 5: -1, 7: 1}


class TestCarelessStrategies:
    """Each would charge too little or count wrongly; the same comparisons see it."""

    def test_a_signature_struck_off_wrongly(self):
        """Rows that satisfy both filters are then counted in neither cell, or in both, and pay twice."""
        found = numbers_behind([count(where) for where in FILTERS["independent"](2)], [1, 1], TABLE)
        honest = signatures(found.filters, TABLE)
        pruned = replace(honest, masks=(0b01, 0b10))
        block = joint_block((0, 1), found.measures, pruned)
        row = record("c0", "c1")
        assert loss([block], [1], pruned) == 1
        assert paid([block], [1], [row]) == 2
        assert paid([joint_block((0, 1), found.measures, honest)], [1], [row]) == 1

    def test_overlapping_filters_taken_for_exclusive_ones(self):
        found = numbers_behind([count(where) for where in FILTERS["independent"](2)], [1, 1], TABLE)
        pruned = replace(signatures(found.filters, TABLE), masks=(0b01, 0b10))
        single = [joint_block((i,), found.measures, pruned) for i in (0, 1)]
        assert paid(single, [1, 1], [record("c0", "c1")]) > loss(single, [1, 1], pruned)

    def test_rates_maxed_where_they_must_be_added(self):
        blocks, _, _ = star([(3, 4), (0, 1, 2, 5)])
        assert paid(blocks, RATES, [record("c0", "c2", "c3")]) > max(RATES)

    def test_rates_added_where_the_largest_counts(self):
        """Not unsafe, but dearer than need be: three exclusive filters would cost their sum."""
        blocks, known, _ = built([count(where) for where in FILTERS["disjoint"](3)], [(0,), (1,), (2,)])
        assert loss(blocks, (5, 6, 7), replace(known, masks=None)) == 18 > loss(blocks, (5, 6, 7), known)

    def test_ends_that_forget_rows_without_a_value(self):
        table, atoms = average_and_count(3, -3, 7, missing=False)
        block, _, _ = built(atoms, [(0, 1)], table)
        careless = replace(block[0].answers[1], parts=block[0].answers[1].parts[:2])
        rows = [{**NOTHING, "x": None}, {**NOTHING, "x": 4}]
        assert answered(block[0], rows)[1] == 2
        assert answered(replace(block[0], answers=(careless,)), rows) == [1]
