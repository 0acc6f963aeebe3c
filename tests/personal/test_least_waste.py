"""Parts of least waste: the paper's eight people, all cuts of small rosters, budgets that floats cannot tell apart."""

import importlib
import itertools
from fractions import Fraction

import numpy as np
import pytest

from thresher.amounts import Epsilon
from thresher.errors import ArgumentError
from thresher.personal.partition import most_parts, partition
from thresher.personal.parts import Parts
from thresher.personal.roster import Roster

# The module; the function of the same name stands before it in its room.
room = importlib.import_module("thresher.personal.partition")

EIGHT = Roster.of(["0.01", "0.02", "0.05", "0.07", "0.09", "0.11", "0.14", "0.15"])
LAYERS = [room._layer, room._plain_layer]


def all_parts(roster, count, least_size=1):
    first = int(roster.nano[0] == 0)
    for cuts in itertools.combinations(range(first + 1, roster.nano.size), count - 1):
        parts = Parts.of(roster, cuts)
        if min(parts.sizes) >= least_size:
            yield parts


def cuts_by(layer, roster, count, margin=None):
    table = room._table(roster.nano, roster.sizes, 1)
    margin = room._margin(table, count) if margin is None else margin
    return tuple(room._cuts(table, margin, room.first_ends(table[1], count, 1), layer))


@pytest.mark.parametrize(
    ("count", "cuts", "waste", "mean"),
    [
        (1, (), "0.0582", "0.007275"),
        (2, (4,), "0.0118", "0.00295"),
        (3, (3, 6), "0.0038", "0.001283333"),
        (4, (2, 4, 6), "0.001", "0.0005"),
        (8, (1, 2, 3, 4, 5, 6, 7), "0", "0"),
    ],
)
def test_the_eight_people_of_the_paper(count, cuts, waste, mean):
    parts = partition(EIGHT, count)
    assert parts.cuts == cuts
    assert sum(parts.waste) == Fraction(waste)
    assert abs(parts.mean_waste - Fraction(mean)) < Fraction(1, 10**9)


def test_parts_say_who_is_where():
    roster = Roster.of(["0.3", "0", "0.1", "0.3", "0.2", "0"])
    parts = Parts.of(roster, (2,))
    assert parts.levels == (Epsilon("0.1"), Epsilon("0.2"))
    assert parts.sizes == (1, 3)
    assert parts.spans == ((1, 2), (2, 4))
    assert parts.of_class.tolist() == [-1, 0, 1, 1]
    assert parts.of_person.tolist() == [1, -1, 0, 1, 1, -1]
    assert parts.waste == (0, Fraction(2, 100))
    assert Parts.of(roster).levels == (Epsilon("0.1"),)


def test_no_cuts_waste_less_on_any_small_roster():
    generator = np.random.default_rng(3)
    for _ in range(60):
        roster = Roster.of([Fraction(int(x), 1000) for x in generator.integers(0, 25, generator.integers(1, 11)) + 1])
        roster = roster if generator.random() < 0.5 else Roster.of([*budgets(roster), 0, 0])
        for least_size, count in itertools.product((1, 2, 3), range(1, 12)):
            possible = [sum(parts.waste) for parts in all_parts(roster, count, least_size)]
            if not possible:
                assert count > most_parts(roster, least_size)
                with pytest.raises(ArgumentError, match="parts"):
                    partition(roster, count, least_size=least_size)
                continue
            found = partition(roster, count, least_size=least_size)
            assert len(found.sizes) == count
            assert min(found.sizes) >= least_size
            assert sum(found.waste) == min(possible)


def budgets(roster):
    return [Fraction(nano, 10**9) for nano in roster.nano[roster.classes].tolist()]


def test_any_grouping_at_all_wastes_as_much_as_sorted_parts_or_more():
    for levels in ([1, 2, 4, 5, 9], [1, 1, 3, 8, 8], [2, 3, 3, 7, 8]):
        roster = Roster.of(levels)
        for count in range(1, roster.nano.size + 1):
            least = min(
                sum(min((level - min(group)) ** 2 for group in groups if min(group) <= level) for level in levels)
                for groups in itertools.combinations([[level] for level in set(levels)], count)
                if min(min(groups)) == min(levels)
            )
            assert sum(partition(roster, count).waste) == least


@pytest.mark.parametrize("layer", LAYERS, ids=["compiled", "plain"])
def test_cuts_are_exactly_best_where_floats_cannot_tell(layer):
    generator = np.random.default_rng(8)
    misled = 0
    for _ in range(40):
        # Crowds at multiples of one large number, and beside each one person: many cuts waste nearly the same.
        crowds = np.arange(4) * int(generator.integers(2**44, 2**45)) + 1
        nano, classes = np.unique(
            [*np.repeat(crowds, 1000), *crowds + generator.integers(0, 4, 4)], return_inverse=True
        )
        roster = Roster(nano, classes)
        for count in (2, 3):
            least = min(sum(parts.waste) for parts in all_parts(roster, count))
            assert sum(Parts.of(roster, cuts_by(layer, roster, count)).waste) == least
            misled += sum(Parts.of(roster, cuts_by(layer, roster, count, margin=0.0)).waste) != least
    assert misled, "floats alone are right here: the test has no power"


def test_compiled_and_plain_cut_at_the_same_places():
    generator = np.random.default_rng(4)
    for most in (10**9, 500):
        roster = Roster.of([Fraction(int(x), 10**9) for x in generator.integers(1, most, 3000)])
        for count in (1, 2, 7, 20):
            assert (
                cuts_by(LAYERS[0], roster, count) == cuts_by(LAYERS[1], roster, count) == partition(roster, count).cuts
            )


def test_the_order_of_people_does_not_matter():
    generator = np.random.default_rng(6)
    levels = generator.integers(1, 100, 500)
    one, other = (partition(Roster.of(order), 6) for order in (levels.tolist(), generator.permutation(levels).tolist()))
    assert (one.cuts, one.sizes, one.levels) == (other.cuts, other.sizes, other.levels)


def test_the_published_measure_falls_as_parts_are_added():
    """Budgets uniform in [0.01, 0.1]: about 0.0027 / k, as the formula says; it chooses no number of parts."""
    roster = Roster.of(np.linspace(0.01, 0.1, 20_000), "0.000001")
    for count in (1, 2, 3, 4, 5, 20):
        assert float(partition(roster, count).mean_waste) == pytest.approx(0.0027 / count, rel=0.01)


def test_equal_budgets_are_one_part():
    parts = partition(Roster.of(["0.5"] * 7), 1)
    assert (parts.sizes, parts.levels, parts.waste) == ((7,), (Epsilon("0.5"),), (0,))


@pytest.mark.parametrize(
    ("roster", "count", "least_size", "rule"),
    [
        (EIGHT, 9, 1, "at most 8 parts"),
        (EIGHT, 4, 3, "at most 2 parts have 3"),
        (EIGHT, 1, 9, "at most 0 parts"),
        (EIGHT, 0, 1, "one part at least"),
        (EIGHT, 2, 0, "one person at least"),
        (Roster.of([0, 0]), 1, 1, "nobody"),
        (Roster.of([*range(1, 300), Fraction(1, 10**9), 10**6]), 2, 1, "too far apart"),
        (Roster.of(["0.1", "0.2"]), 1.5, 1, "integer"),
    ],
)
def test_what_cannot_be_parted_is_refused(roster, count, least_size, rule):
    with pytest.raises(ArgumentError, match=rule):
        partition(roster, count, least_size=least_size)


@pytest.mark.parametrize("cuts", [(0,), (8,), (3, 3), (5, 4), (-1,)])
def test_cuts_are_classes_in_order(cuts):
    with pytest.raises(ArgumentError, match="ascending"):
        Parts.of(EIGHT, cuts)
