"""What PRUNE in print loses, exactly, and that its repairs do not."""

import math

import numpy as np
import pytest

from thresher.audit.comparison_laws import laplace, log_probability
from thresher.audit.mutants.hierarchies import broken_prune
from thresher.audit.prune_laws import by_level, path_law, path_loss, printed, steepest


def test_chances_to_be_kept():
    keeps = printed(0.1, 5)
    assert [keeps(0), keeps(1)] == pytest.approx([0.438075, 0.450302], abs=1e-6)
    assert math.log(keeps(1) / keeps(0)) == pytest.approx(0.027527, abs=1e-6)
    assert [printed(1, 3)(count) for count in (0, 3, 10)] == pytest.approx([0.195239, 0.5, 0.958479], abs=1e-6)
    assert [by_level(1, 8, 3)(count) for count in (0, 3, 10)] == pytest.approx([0.325720, 0.5, 0.816060], abs=1e-6)
    expected = [0.230713, 0.266142, 0.307013, 0.354159, 0.408545, 0.471284]
    assert [steepest(1, 8, 0.2)(count) for count in range(1, 7)] == pytest.approx(expected, abs=1e-6)
    assert [steepest(1, 8, 0.2)(c) for c in (10, 11, 15)] == pytest.approx([0.834547, 0.939133, 0.998885], abs=1e-6)


def test_the_steepest_curve_is_much_steeper():
    """At epsilon 0.02 and eight levels, both keeping an empty node with probability 0.2."""
    curve, flat = steepest(0.02, 8, 0.2), by_level(0.02, 8, 350 * math.log(2.5))
    assert flat(0) == pytest.approx(0.2)
    for chance, best, plain in ((0.9, 528, 884), (0.99, 643, 1690)):
        assert curve(best - 1) < chance <= curve(best)
        assert flat(plain - 1) < chance + 1e-4
        assert flat(plain) == pytest.approx(chance, abs=1e-4)


@pytest.mark.parametrize(("gap", "times"), [(0, 1.728), (5, 1.927), (20, 2.32), (100, 3.00), (1000, 3.43)])
def test_the_print_loses_more_than_it_charges(gap, times):
    keeps = printed(0.1, gap)
    assert path_loss(keeps, [0] * 7) / 0.1 == pytest.approx(times, abs=0.005)
    assert path_loss(keeps, [0] * 7) == pytest.approx(7 * math.log(keeps(1) / keeps(0)))


def test_a_node_loses_up_to_half_of_epsilon():
    """By how many scales its count lies below the cutoff; two nodes are few enough, eight levels lose 3.5 times."""
    for scales, part in ((0, 0.25), (1, 0.333), (4, 0.417), (16, 0.472)):
        fine = 1e-6  # one unit is a small part of a scale
        assert path_loss(printed(fine, scales * 2 / fine), [0]) / fine == pytest.approx(part, abs=5e-4)
    assert 3.45 < path_loss(printed(1e-6, 80 * 2e6), [0] * 7) / 1e-6 < 3.5


@pytest.mark.parametrize("height", [2, 4, 8])
def test_the_repairs_lose_epsilon_at_most(height):
    for path in ([0] * (height - 1), [5] * (height - 1), list(range(8, 9 - height, -1))):
        for keeps in (by_level(1, height, 4), steepest(1, height, 0.2)):
            assert path_loss(keeps, path) <= 1 + 1e-9
    assert path_loss(by_level(1, height, 100), [0] * (height - 1)) == pytest.approx(1)


def test_one_threshold_for_a_step_is_no_repair():
    """Seven nodes on the path, far below the threshold: half of epsilon by themselves, 3.5 times with ten others."""
    noise, far = laplace(2 / 0.1), -400

    def loss(others):
        answers = [True] * 7 + [False] * others
        one, other = (log_probability(answers, [far + more] * 7 + [far] * others, noise, noise) for more in (0, 1))
        return abs(one - other) / 0.1

    assert loss(0) == pytest.approx(0.5, abs=0.02)
    assert loss(10) > 3.3


def test_the_broken_one_on_trial_has_the_printed_law(entropy):
    """How many are kept, at epsilon 1 and the threshold 5; the grid moves it by less than a percent."""
    runs = 50_000
    for path in ((5,) * 7, (0, 5, 10, 5, 0, 5, 5)):
        kept = np.bincount(broken_prune(path, runs, entropy).sum(axis=1), minlength=8)
        for count, chance in path_law(printed(1, 5), path).items():
            assert kept[count] / runs == pytest.approx(chance, abs=0.01 * chance + 6 * math.sqrt(chance / runs))
