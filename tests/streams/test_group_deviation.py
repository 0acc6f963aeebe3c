"""The deviation of a group: exact, of sensitivity 2, the same in Python and compiled, whatever order counts come in."""

import inspect
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.streams import group_deviation
from thresher.streams.group_deviation import FAR, ArrayGroups, LoopGroups, OpenGroup
from thresher.streams.step_release import ALONE, JOINS, OPENS

counts_lists = st.lists(st.one_of(st.integers(0, 6), st.integers(0, FAR)), min_size=1, max_size=30)


def exact(counts):
    mean = Fraction(sum(counts), len(counts))
    return sum(abs(count - mean) for count in counts)


@given(counts_lists)
def test_the_whole_part_of_the_deviation_at_every_step(counts):
    group = OpenGroup(0)
    for step, count in enumerate(counts, start=1):
        assert group.add(count) == exact(counts[:step]) // 1
    again = OpenGroup.of(0, dict(group.copies))
    assert (again.size, again.total, again.mean, again.above, again.upper) == (
        group.size,
        group.total,
        group.mean,
        group.above,
        group.upper,
    )


def test_values_of_the_specification():
    assert [exact(counts) for counts in ((5, 5), (5, 5, 6), (5, 5, 6, 9))] == [0, Fraction(4, 3), Fraction(11, 2)]
    group = OpenGroup(0)
    assert [group.add(count) for count in (5, 5, 6, 9)] == [0, 0, 1, 5]


@given(counts_lists, st.integers(0, 29))
def test_one_unit_moves_it_by_less_than_two_and_its_whole_part_by_at_most_two(counts, place):
    more = list(counts)
    more[place % len(counts)] += 1
    moved = abs(exact(more) - exact(counts))
    assert moved <= Fraction(2 * (len(counts) - 1), len(counts)) < 2
    assert abs(exact(more) // 1 - exact(counts) // 1) <= 2


def test_the_bounds_on_how_far_it_moves_are_reached():
    assert exact([0] * 9 + [2]) - exact([0] * 9 + [1]) == Fraction(18, 10)
    assert exact([0, 0, 0, 2]) // 1 - exact([0, 0, 0, 1]) // 1 == 2


def blocks(groups, arrays, sizes):
    marks, start = [], 0
    for size in sizes:
        marks.append(groups.advanced(*(array[start : start + size] for array in arrays)))
        start += size
    return np.concatenate(marks)


def shown(groups):
    return [group and (group.cutoff, dict(sorted(group.copies.items()))) for group in groups.groups()]


def made_up(generator, steps, series):
    counts = generator.poisson(generator.choice([0.1, 3, 50], series), (steps, series))
    return counts, generator.geometric(0.01, (steps, series)), generator.geometric(0.02, (steps, series)) - 30


def straightforward(counts, cutoffs, noise, longest):
    """The rules word for word, with fractions, for one series."""
    marks, held, cutoff = [], [], 0
    for count, fresh, blur in zip(counts.tolist(), cutoffs.tolist(), noise.tolist(), strict=True):
        if not held or len(held) == longest:
            held, cutoff = [count], fresh
            marks.append(OPENS)
        elif exact([*held, count]) + blur < cutoff:
            held.append(count)
            marks.append(JOINS)
        else:
            held = []
            marks.append(ALONE)
    return marks


@pytest.mark.parametrize("longest", [1, 2, 5, 100_000])
def test_all_ways_give_the_same_marks_and_groups(longest):
    """Lockstep, one series at a time, in blocks of any sizes, plain and compiled."""
    arrays = made_up(np.random.default_rng(longest), 200, 6)
    whole = LoopGroups([None] * 6, longest)
    marks = whole.advanced(*arrays)
    assert longest == 1 or {OPENS, JOINS, ALONE} == set(np.unique(marks).tolist())
    for series in range(6):
        assert marks[:, series].tolist() == straightforward(*(array[:, series] for array in arrays), longest)
        single = LoopGroups([None], longest)
        assert (single.advanced(*(array[:, [series]] for array in arrays))[:, 0] == marks[:, series]).all()
        assert shown(single) == shown(whole)[series : series + 1]
    for make in (LoopGroups, ArrayGroups):
        split = make([None] * 6, longest)
        assert (blocks(split, arrays, [1, 1, 7, 90, 1, 100]) == marks).all()
        assert shown(split) == shown(whole)


def test_the_compiled_loop_and_its_python_agree():
    arrays = made_up(np.random.default_rng(7), 60, 4)
    compiled = ArrayGroups([None] * 4, 40)
    marks = compiled.advanced(*arrays)
    plain, rows, held = np.empty_like(marks), np.zeros((2, 4, 61), dtype=np.int64), np.zeros((4, 4), dtype=np.int64)
    inspect.unwrap(group_deviation._advance)(*arrays, plain, 40, held, rows)
    assert (plain == marks).all()
    assert (held == compiled._held).all()


def test_the_largest_group_there_can_be_does_not_wrap_around():
    """Half of 100,000 counts at 0, half at the most that is taken: a deviation of 100,000 * 2**27."""
    steps = 100_000
    counts = np.zeros((steps, 1), dtype=np.int64)
    counts[steps // 2 :] = FAR
    cutoffs = np.full((steps, 1), steps * (FAR // 2) + 1)
    for make in (LoopGroups, ArrayGroups):
        assert make([None], steps).advanced(counts, cutoffs, np.zeros_like(counts))[-1, 0] == JOINS
        assert make([None], steps).advanced(counts, cutoffs - 1, np.zeros_like(counts))[-1, 0] == ALONE


def test_room_follows_the_distinct_counts_and_not_the_length():
    arrays = (np.tile(np.arange(5), 4000)[:, None], np.full((20_000, 1), 10**9), np.zeros((20_000, 1), dtype=np.int64))
    loop, array = LoopGroups([None], 100_000), ArrayGroups([None], 100_000)
    blocks(array, arrays, [10] * 2000)
    loop.advanced(*arrays)
    (group,) = loop.groups()
    assert group.size == 20_000
    assert len(group.copies) == 5
    assert array._rows.shape[2] < 40
