"""What PRUNE in print loses, exactly."""

import math

import numpy as np
import pytest

from thresher.audit.laws.comparison_laws import laplace, log_probability
from thresher.audit.mutants.pruning_mutants import broken_prune, broken_prune_law


def path_loss(epsilon, cutoff, path):
    """What one unit more on the whole path may lose."""
    here, there = (broken_prune_law([count + more for count in path], epsilon, cutoff) for more in (0, 1))
    return max(abs(math.log(here[kept] / there[kept])) for kept in here)


def test_chances_to_be_kept():
    assert [broken_prune_law([c], 0.1, 5)[1] for c in (0, 1)] == pytest.approx([0.438075, 0.450302], abs=1e-6)
    found = [broken_prune_law([count], 1, 3)[1] for count in (0, 3, 10)]
    assert found == pytest.approx([0.195239, 0.5, 0.958479], abs=1e-6)


@pytest.mark.parametrize(("gap", "times"), [(0, 1.728), (5, 1.927), (20, 2.32), (100, 3.00), (1000, 3.43)])
def test_the_print_loses_more_than_it_charges(gap, times):
    kept = [broken_prune_law([count], 0.1, gap)[1] for count in (0, 1)]
    assert path_loss(0.1, gap, [0] * 7) / 0.1 == pytest.approx(times, abs=0.005)
    assert path_loss(0.1, gap, [0] * 7) == pytest.approx(7 * math.log(kept[1] / kept[0]))


def test_a_node_loses_up_to_half_of_epsilon():
    """By how many scales its count lies below the cutoff; two nodes are few enough, eight levels lose 3.5 times."""
    for scales, part in ((0, 0.25), (1, 0.333), (4, 0.417), (16, 0.472)):
        fine = 1e-6  # one unit is a small part of a scale
        assert path_loss(fine, scales * 2 / fine, [0]) / fine == pytest.approx(part, abs=5e-4)
    assert 3.45 < path_loss(1e-6, 80 * 2e6, [0] * 7) / 1e-6 < 3.5


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
        for count, chance in broken_prune_law(path).items():
            assert kept[count] / runs == pytest.approx(chance, abs=0.01 * chance + 6 * math.sqrt(chance / runs))
