"""Rosters: budgets never rise, files are refused by line, values find their people, small classes go down."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from thresher.amounts import Epsilon, exact_fraction
from thresher.errors import ArgumentError
from thresher.personal.roster import Roster

NANO = 10**9


def budgets_of(roster):
    return [Fraction(nano, NANO) for nano in roster.nano[roster.classes].tolist()]


def test_floats_mean_their_shortest_decimal_and_are_floored_exactly():
    generator = np.random.default_rng(5)
    near = generator.integers(1, 10**9, 300) / NANO
    floats = np.concatenate([near, np.nextafter(near, 0), np.nextafter(near, 1), generator.random(300) * 900_000, [0]])
    for grid in ("0.000000001", "0.001", "0.000003"):
        step = exact_fraction(grid, "grid")
        exact = [exact_fraction(float(x), "x") // step * step for x in floats]
        assert budgets_of(Roster.of(floats, grid)) == exact
        assert budgets_of(Roster.of(floats.tolist(), grid)) == exact
    # The floor of the product would be wrong: there is something to get right.
    assert any(math.floor(x * NANO) != exact_fraction(float(x), "x") * NANO // 1 for x in floats)


@pytest.mark.parametrize("bad", [-0.01, math.nan, math.inf, 1e9])
@pytest.mark.parametrize("form", [list, np.array])
def test_what_is_no_budget_is_refused(bad, form):
    with pytest.raises(ArgumentError) as refusal:
        Roster.of(form([0.1, 0.2, bad]))
    assert refusal.value.field == "budgets"


def test_names_are_one_for_each_and_all_different():
    for names in (["a"], ["a", "a"]):
        with pytest.raises(ArgumentError, match="one name for each"):
            Roster.of(["0.1", "0.2"], names=names)


def test_lines_are_read_with_heading_default_duplicates_and_quotes(tmp_path):
    text = '\ufeffPerson,Budget\nana,0.05\n"li, bo",0.5\n\ncyd,\nana,0.02\ncyd,0.7\nzoe,0\n'
    (tmp_path / "roster.csv").write_text(text, encoding="utf-8")
    read = Roster.from_lines(tmp_path / "roster.csv", default="0.1", grid="0.01")
    assert read.names == ("ana", "li, bo", "cyd", "zoe")
    assert budgets_of(read) == [Fraction(2, 100), Fraction(1, 2), Fraction(1, 10), 0]
    again = Roster.from_lines(text.lstrip("\ufeff").splitlines(), default="0.1")
    assert again.names == read.names
    assert budgets_of(again) == budgets_of(read)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("bo,-0.1", "between 0 and a million"),
        ("bo,nan", "finite number"),
        ("bo,1e9", "between 0 and a million"),
        ("bo,", "no default"),
        ("bo", "no default"),
        (",0.1", "one person"),
        ("bo,0.1,0.2", "one person"),
        ("bo,0.1 or so", "finite number"),
    ],
)
def test_bad_lines_are_refused_by_number(line, rule):
    with pytest.raises(ArgumentError, match=f"line 3: .*{rule}") as refusal:
        Roster.from_lines(["ana,0.1", "", line, "cyd,0.3"])
    assert "line 4" not in str(refusal.value)


def test_many_bad_lines_are_counted_and_a_few_are_shown():
    with pytest.raises(ArgumentError, match=r"line 5: .*and 3 more") as refusal:
        Roster.from_lines([f"p{i},-1" for i in range(8)])
    assert "line 6" not in str(refusal.value)


def test_an_empty_file_and_a_bad_default_are_refused():
    with pytest.raises(ArgumentError, match="at least one person"):
        Roster.from_lines(["person,budget"])
    with pytest.raises(ArgumentError, match="default"):
        Roster.from_lines(["ana,0.1"], default="-1")


def test_values_find_their_people_and_strangers_leave_no_trace():
    roster = Roster.of(["0.1", "0.2", "0.3"], names=["ana", "7", "cyd"])
    table = ["cyd", "stranger", 7, None, ["x"], 10**5000, "cyd", 7.0]
    values = np.array([3, 50, 2, 9, 9, 9, 99, 9])
    assert roster.in_order(table, values).tolist() == [0, 2, 3]
    flags = roster.in_order(table, values > 2)
    assert (flags.dtype, flags.tolist()) == (np.bool_, [False, False, True])
    assert roster.in_order([], np.array([], dtype=np.int32)).tolist() == [0, 0, 0]
    without = [place for place, person in enumerate(table) if person != "stranger"]
    assert roster.in_order([table[i] for i in without], values[without]).tolist() == [0, 2, 3]


@pytest.mark.parametrize(
    ("people", "values"),
    [
        (["ana"], np.array([1, 2])),
        (["ana"], np.array([0.5])),
        (["ana"], np.array([[1]])),
        (["ana"], np.array([1], dtype=np.uint64)),
        (["ana"], np.array(["1"])),
        (["ana"], np.ma.array([1], mask=[True])),
    ],
)
def test_only_shapes_and_types_are_refused_and_no_cell_is_shown(people, values):
    with pytest.raises(ArgumentError) as refusal:
        Roster.of(["0.1"], names=["ana"]).in_order(people, values)
    assert "ana" not in str(refusal.value)


@pytest.mark.parametrize("largest", [1, 2**63, 2**70])
def test_whether_a_list_is_refused_does_not_depend_on_its_numbers(largest):
    """A list has the type that its numbers need; one large number of a stranger would be told by a refusal."""
    with pytest.raises(ArgumentError, match=r"^values = 'list' is refused: it must be a plain numpy array"):
        Roster.of(["0.1"], names=["ana"]).in_order(["ana", "a stranger"], [1, largest])


def test_a_roster_without_names_orders_nobody():
    with pytest.raises(ArgumentError, match="no names"):
        Roster.of(["0.1"]).in_order(["ana"], [1])


def mergings(nano, sizes, people):
    """How many levels above 0 each merging of neighbouring classes keeps, if none is too small; a bottom may take 0."""
    places = range(len(nano))
    for count in range(len(nano) + 1):
        for kept in itertools.combinations(places, count):
            ends = (*kept[1:], len(nano))
            if all(sum(sizes[a:b]) >= people for a, b in zip(kept, ends, strict=False)):
                yield sum(nano[place] > 0 for place in kept)


def test_small_classes_only_go_down_and_as_few_levels_as_possible_are_lost():
    generator = np.random.default_rng(11)
    for _ in range(200):
        roster = Roster.of([Fraction(int(x), 100) for x in generator.integers(0, 9, 12)])
        for people in (1, 2, 3, 5, 13):
            merged = roster.least_class(people)
            before, after = budgets_of(roster), budgets_of(merged)
            assert all(new <= old for new, old in zip(after, before, strict=True))
            assert {new for new in after if new} <= set(before)
            sizes = [after.count(level) for level in set(after) if level]
            assert all(size >= people for size in sizes)
            assert sum(new == 0 < old for new, old in zip(after, before, strict=True)) < people
            assert len(sizes) == max(mergings(roster.nano.tolist(), roster.sizes.tolist(), people))


def test_one_person_with_a_level_of_their_own_takes_the_level_below():
    merged = Roster.of(["0.1", "0.1", "0.1", "0.9"], names=list("abcd")).least_class(2)
    assert merged.levels == (Epsilon("0.1"),)
    assert merged.names == tuple("abcd")
    # The least one has no level below: it takes 0 rather than pull the others down.
    assert Roster.of(["0.01", "0.1", "0.1"]).least_class(2).levels == (Epsilon("0"), Epsilon("0.1"))
    with pytest.raises(ArgumentError, match="one person"):
        merged.least_class(0)
