"""Parts of greatest precision: the paper's eight people, all cuts of small rosters, and how many parts are worth it."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from thresher.errors import ArgumentError
from thresher.personal.partition import most_parts, partition
from thresher.personal.parts import Parts
from thresher.personal.precision_partition import precision, precision_partition
from thresher.personal.roster import Roster

EIGHT = Roster.of(["0.01", "0.02", "0.05", "0.07", "0.09", "0.11", "0.14", "0.15"])
ROUNDING = 1 - Fraction(1, 10**12)


def test_the_eight_people_of_the_paper():
    for count, cuts, noise_alone, variance in [
        (1, (), "0.0032", 312.53125),
        (2, (4,), "0.0656", 15.3049),
        (3, (2, 4), "0.07", 14.3399),
    ]:
        assert precision_partition(EIGHT, count, variance=0).cuts == cuts
        assert precision_partition(EIGHT, count).cuts == cuts
        assert precision(Parts.of(EIGHT, cuts), 0) == Fraction(noise_alone)
        assert 1 / float(precision(Parts.of(EIGHT, cuts))) == pytest.approx(variance, abs=5e-5)
    # A fourth part would add 0.07 %.
    assert precision_partition(EIGHT).cuts == (2, 4)


def test_no_cuts_are_more_precise_on_any_small_roster():
    generator = np.random.default_rng(3)
    for _ in range(40):
        roster = Roster.of([Fraction(int(x), 1000) for x in generator.integers(0, 25, 10)])
        first = int(roster.nano[0] == 0)
        variance = generator.choice(["0", "0.09", "0.25"])
        for least_size in (1, 2, 3):
            best = {}
            for count in range(1, most_parts(roster, least_size) + 1):
                made = [
                    parts
                    for cuts in itertools.combinations(range(first + 1, roster.nano.size), count - 1)
                    if min((parts := Parts.of(roster, cuts)).sizes) >= least_size
                ]
                best[count] = max(precision(parts, variance) for parts in made)
                found = precision_partition(roster, count, least_size=least_size, variance=variance)
                assert len(found.sizes) == count
                assert min(found.sizes) >= least_size
                assert precision(found, variance) >= best[count] * ROUNDING
            chosen = precision_partition(roster, least_size=least_size, variance=variance)
            enough = max(best.values()) * Fraction(999, 1000)
            assert precision(chosen, variance) >= enough * ROUNDING
            assert all(best[fewer] < enough / ROUNDING for fewer in range(1, len(chosen.sizes)))


def test_fewer_places_lose_little_and_hold_as_many_parts_as_there_can_be():
    roster = Roster.of(np.random.default_rng(9).uniform(0.01, 0.1, 1500))
    exact, thinned = precision_partition(roster, 4, most_places=1500), precision_partition(roster, 4, most_places=100)
    assert precision(exact) * Fraction(99, 100) < precision(thinned) <= precision(exact) / ROUNDING
    assert len(precision_partition(roster, 300, most_places=10).sizes) == 300
    assert min(precision_partition(roster, 3, least_size=500, most_places=2).sizes) == 500


def test_precision_beats_least_waste_at_what_it_is_for():
    roster = Roster.of(np.random.default_rng(9).uniform(0.01, 0.1, 5000))
    for count in (2, 5, 10):
        assert precision(precision_partition(roster, count)) > precision(partition(roster, count))


def test_the_printed_utility_chooses_the_worst_parts_or_one_part():
    """It is a variance: made largest, it puts the least budget alone; its sum made least chooses one part."""

    def printed(*cuts):
        parts = Parts.of(EIGHT, cuts)
        return sum(2 / (size * level.fraction) ** 2 for size, level in zip(parts.sizes, parts.levels, strict=True))

    assert max(range(1, 8), key=printed) == 1
    assert precision(Parts.of(EIGHT, (1,)), 0) < precision(Parts.of(EIGHT, (4,)), 0)
    assert printed() < min(map(printed, range(1, 8)))


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"parts": 9}, "at most 8 parts"),
        ({"parts": 0}, "one part"),
        ({"least_size": 9}, "at most 0 parts"),
        ({"least_size": 0}, "one person"),
        ({"variance": "-0.1"}, "0 or more"),
        ({"parts": "2"}, "integer"),
    ],
)
def test_what_cannot_be_is_refused(arguments, rule):
    with pytest.raises(ArgumentError, match=rule):
        precision_partition(EIGHT, **arguments)


def test_nobody_to_read_is_refused():
    with pytest.raises(ArgumentError, match="nobody"):
        precision_partition(Roster.of([0]))
