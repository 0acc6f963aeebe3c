"""Releases of parts: all flags and cuts of small rosters, published variances, draws against laws, the trap."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from laws import assert_fits, assert_rejected, laplace_p

from thresher.amounts import Epsilon
from thresher.audit.mutants.personal_mutants import broken_partition_of_present
from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy, discrete_laplace
from thresher.personal.part_releases import partition_frequency, partition_mean, partition_sum
from thresher.personal.partition import in_rounds
from thresher.personal.parts import Parts
from thresher.personal.personal_release import INDEPENDENT
from thresher.personal.roster import Roster

FIGURE = ["0.01", "0.02", "0.05", "0.07", "0.09", "0.11", "0.14", "0.15"]


def all_cuts(roster):
    first = int(roster.nano[0] == 0)
    places = range(first + 1, roster.nano.size)
    return [cuts for size in range(len(places) + 1) for cuts in itertools.combinations(places, size)]


@pytest.mark.parametrize("budgets", [["0.5", 1, 2, 2], [1, 1], [0, "0.2", "0.3", "1.5"]], ids=str)
def test_nobody_loses_more_than_their_budget(budgets):
    """Sums of parts that move by k at level l lose k l, and add up: all flags of everybody, as fractions."""
    roster = Roster.of(budgets)
    for cuts in all_cuts(roster):
        parts = Parts.of(roster, cuts)
        spent = partition_sum(parts, np.zeros(roster.people, dtype=int)).spent
        for flags in itertools.product((0, 1), repeat=roster.people):
            sums = sums_of(parts, flags)
            for person in range(roster.people):
                others = sums_of(parts, (*flags[:person], 1 - flags[person], *flags[person + 1 :]))
                loss = sum(abs(a - b) * level.fraction for a, b, level in zip(sums, others, parts.levels, strict=True))
                place = roster.classes[person]
                assert loss == spent[place].fraction <= roster.levels[place].fraction


def sums_of(parts, flags):
    """What is left when the noise is taken away from a release: drawn twice from the same bits."""
    silent = partition_sum(parts, np.zeros(len(flags), dtype=int), entropy=SeededEntropy(1)).noisy
    return (partition_sum(parts, np.array(flags), entropy=SeededEntropy(1)).noisy - silent).tolist()


def test_rounds_spend_what_they_say_and_no_more():
    roster = Roster.of(FIGURE)
    found = partition_frequency(in_rounds(roster, 2, 3), np.ones(8, dtype=bool))
    assert all(spent <= level for spent, level in zip(found.spent, roster.levels, strict=True))
    assert found.spent == in_rounds(roster, 2, 3).spent
    assert found.noisy.size == sum(len(parts.sizes) for parts in in_rounds(roster, 2, 3).rounds)


def test_each_part_has_its_own_noise(entropy, trials):
    """False failure 2e-6; the other part's noise is refused."""
    parts, runs = Parts.of(Roster.of(["0.3", "0.3", 1, 1]), (1,)), trials(6_000, 60_000)
    flags = np.array([1, 1, 0, 1])
    drawn = np.array([partition_frequency(parts, flags, entropy=entropy).noisy for _ in range(runs)]) - [2, 1]
    assert_fits(laplace_p(drawn[:, 0], 1 / 0.3))
    assert_fits(laplace_p(drawn[:, 1], 1.0))
    assert_rejected(laplace_p(drawn[:, 0], 1.0))
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 6 / np.sqrt(runs)


def test_published_variances():
    roster, flags = Roster.of(FIGURE), np.ones(8, dtype=bool)
    for cuts, variance in (((), 312.53), ((4,), 15.3049), ((2, 4), 14.3399)):
        found = partition_frequency(Parts.of(roster, cuts), flags)
        assert found.predicted_sd**2 + 1 / 32 == pytest.approx(variance, rel=1e-5)
    for cuts, variance in (((), 20000), ((4,), 20246.9), ((2, 4), 21046.9)):
        assert partition_sum(Parts.of(roster, cuts), flags).predicted_sd ** 2 == pytest.approx(variance, abs=0.1)


def test_the_predicted_deviation_is_what_is_seen(entropy, trials):
    """Root mean square of 2,000 errors: deviation below 3 %, allowed 20 %."""
    rng = np.random.default_rng(5)
    roster, runs = Roster.of(["0.1"] * 30 + ["0.5"] * 20 + [1] * 10), trials(2_000, 20_000)
    for parts in (Parts.of(roster, (1, 2)), in_rounds(roster, 2, 2)):
        errors = []
        for flags in rng.random((runs, 60)) < 0.5:
            found = partition_mean(parts, 5 * flags, 5, entropy=entropy)
            errors.append(found.estimate - 5 * flags.mean())
        assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(found.predicted_sd, rel=0.2)


def test_equal_budgets_are_ordinary_privacy(make_entropy):
    parts, flags = Parts.of(Roster.of(["0.7"] * 4)), np.array([1, 0, 1, 1])
    ordinary = 3 + discrete_laplace("0.7", 1, entropy=make_entropy())
    assert partition_sum(parts, flags, entropy=make_entropy()).noisy.tolist() == ordinary.tolist()
    assert partition_frequency(parts, flags, entropy=make_entropy()).estimate == ordinary[0] / 4


def test_those_who_allow_nothing_are_not_read(make_entropy):
    parts = Parts.of(Roster.of([0, 1, 2]), (2,))
    for release in (partition_frequency, partition_mean, partition_sum):
        found = [release(parts, np.array([x, 1, 1]), entropy=make_entropy()) for x in (0, 1)]
        assert found[0].noisy.tolist() == found[1].noisy.tolist()
        assert found[0].spent[0] == Epsilon(0)


def test_totals_need_no_assumption_and_frequencies_say_theirs(entropy):
    parts, flags = Parts.of(Roster.of([900, 950]), (1,)), np.array([1, 1])
    assert partition_sum(parts, flags, entropy=entropy).estimate == 2
    assert partition_sum(parts, flags).assumption == ""
    assert partition_frequency(parts, flags).assumption == INDEPENDENT
    assert partition_frequency(Parts.of(parts.roster), flags).assumption == ""
    assert partition_frequency(Parts.of(Roster.of([0, 1])), flags).assumption == INDEPENDENT
    assert partition_frequency(parts, flags, entropy=entropy).estimate == pytest.approx(1)
    assert partition_frequency(parts, flags, entropy=entropy).stamp == entropy.stamp


def test_parts_of_those_present_break_the_promise():
    """One person of budget 0.75 comes, the cut moves, and two others change parts: by the enumerated law."""
    here, there = (broken_partition_of_present(present) for present in ((1, 1, 1, 1, 0), (1, 1, 1, 1, 1)))
    assert max(abs(np.log(here[y] / there[y])) for y in here if max(map(abs, y)) < 5) > 3
    assert max(abs(np.log(here[y] / there[y])) for y in here) > 20, "and it grows without bound: levels changed"


def test_bad_input_is_refused():
    parts = Parts.of(Roster.of([1, 2]), (1,))
    for release in (partition_frequency, partition_mean, partition_sum):
        for values in ([1, 0], np.array([1.0, 0.0]), np.array([1]), None):
            with pytest.raises(ArgumentError, match=r"^(values|flags) = "):
                release(parts, values)
    for bound in (0, 2**50, 1.5):
        with pytest.raises(ArgumentError, match=r"^bound = "):
            partition_sum(parts, np.array([1, 1]), bound)
    with pytest.raises(ArgumentError, match=r"^bound = .*64 bits"):
        partition_sum(Parts.of(Roster.of(["0.000000001", 1]), (1,)), np.array([1, 1]), 2**40)
    with pytest.raises(ArgumentError, match=r"^frequency = "):
        partition_mean(parts, np.array([1, 1]), frequency=Fraction(3, 2))
