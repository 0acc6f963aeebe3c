"""Rounds: nobody spends more than they have, exactly; what is left is the waste; the paper's eight people."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from thresher.amounts import Epsilon
from thresher.errors import ArgumentError
from thresher.personal.partition import in_rounds
from thresher.personal.parts import Parts, after
from thresher.personal.roster import Roster

EIGHT = Roster.of(["0.01", "0.02", "0.05", "0.07", "0.09", "0.11", "0.14", "0.15"])


def budgets(roster):
    return roster.nano[roster.classes]


def test_the_eight_people_of_the_paper():
    first = Parts.of(EIGHT, (4,))
    left = after(first)
    assert sum(first.waste) == Fraction("0.0118") == sum(Fraction(int(x), 10**9) ** 2 for x in budgets(left))
    # Cut before .02 and .06. In print (0, 0, .01) are a part at level 0, which leaves .0014; here those who have
    # nothing left are in no part, so that .01 is spent as well.
    second = Parts.of(left, (2, 5))
    assert second.levels == (Epsilon("0.01"), Epsilon("0.02"), Epsilon("0.06"))
    assert sum(second.waste) == Fraction("0.0014") - Fraction("0.01") ** 2
    assert (budgets(after(second)) >= 0).all()


def test_nobody_spends_more_than_they_have():
    generator = np.random.default_rng(2)
    for _ in range(40):
        roster = Roster.of([Fraction(int(x), 1000) for x in generator.integers(0, 40, 15) + (generator.random() < 0.5)])
        for count, rounds, least_size in ((1, 3, 1), (2, 4, 1), (3, 2, 2), (2, 50, 1)):
            if roster.nano.size <= count + 1:
                continue
            found = in_rounds(roster, count, rounds, least_size=least_size)
            spent = np.zeros(roster.people, dtype=np.int64)
            for parts in found.rounds:
                levels = np.array([*(level.nano for level in parts.levels), 0])
                assert np.array_equal(budgets(parts.roster), budgets(roster) - spent), (
                    "a round starts from what is left"
                )
                assert min(parts.sizes) >= least_size
                spent += levels[parts.of_person]  # those in no part are at -1, and spend nothing
            assert (spent <= budgets(roster)).all()
            assert np.array_equal(spent, np.array([level.nano for level in found.spent])[roster.classes])
            assert np.array_equal(budgets(found.leftover), budgets(roster) - spent)
            squares = sum(Fraction(int(x), 10**9) ** 2 for x in budgets(found.leftover))
            assert least_size > 1 or squares == sum(found.rounds[-1].waste)
            assert len(found.rounds) <= rounds
            assert all(len(parts.sizes) <= count for parts in found.rounds)


def test_rounds_leave_less_than_parts_of_equal_width():
    roster = Roster.of(np.random.default_rng(7).uniform(0.01, 0.1, 5000))
    squares = [sum(parts.waste) for parts in in_rounds(roster, 5, 4).rounds]
    for done, left in enumerate(squares, 1):
        assert left <= 5000 * (Fraction(1, 10) / 5**done) ** 2
    assert all(later < earlier / 10 for earlier, later in pairwise(squares))


def test_rounds_end_when_all_is_spent():
    found = in_rounds(EIGHT, 2, 100)
    assert len(found.rounds) == 3
    assert found.leftover.levels == (Epsilon(0),)
    assert found.spent == EIGHT.levels
    assert len(in_rounds(Roster.of(["0.5"] * 4), 1, 9).rounds) == 1


def test_names_stay():
    roster = Roster.of(["0.1", "0.3", "0.2"], names=list("abc"))
    assert in_rounds(roster, 1, 1).leftover.names == ("a", "b", "c")


def test_what_cannot_be_is_refused():
    for count, rounds in ((2, 0), (0, 2), (9, 2)):
        with pytest.raises(ArgumentError, match=r"rounds|parts"):
            in_rounds(EIGHT, count, rounds)
