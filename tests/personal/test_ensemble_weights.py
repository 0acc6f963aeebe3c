"""Weights of parts: published numbers, errors simulated directly, and votes."""

import math

import numpy as np
import pytest

from thresher.errors import ArgumentError
from thresher.personal.part_releases import combined, frequency_weights, model_weights, sum_weights, vote
from thresher.personal.partition import in_rounds
from thresher.personal.parts import Parts, Rounds
from thresher.personal.precision_partition import precision
from thresher.personal.roster import Roster

EIGHT = Roster.of(["0.01", "0.02", "0.05", "0.07", "0.09", "0.11", "0.14", "0.15"])


def test_the_eight_people_of_the_paper():
    for cuts, weights, variance, total in [
        ((), (1,), 312.53125, 20000),
        ((4,), (0.012243, 0.987757), 15.3049, 20246.9),
        ((2, 4), (0.002868, 0.071655, 0.925477), 14.3399, 21046.9),
    ]:
        parts = Parts.of(EIGHT, cuts)
        best = frequency_weights(parts)
        assert best.weights == pytest.approx(weights, abs=1e-6)
        assert best.variance == pytest.approx(variance, abs=5e-5)
        assert best.variance == pytest.approx(1 / float(precision(parts)), rel=1e-12)
        assert best.predicted_sd == pytest.approx(math.sqrt(best.variance - 0.25 / 8), rel=1e-12)
        assert sum_weights(parts).variance == pytest.approx(total, abs=0.05)
    assert frequency_weights(Parts.of(EIGHT)).predicted_sd == pytest.approx(17.678, abs=5e-4)


def test_sums_of_parts_are_never_better_than_one_part_for_all():
    generator = np.random.default_rng(1)
    for _ in range(50):
        roster = Roster.of(generator.uniform(0.01, 1, 12))
        cuts = np.sort(generator.choice(np.arange(1, 12), 3, replace=False))
        assert sum_weights(Parts.of(roster, cuts.tolist())).variance > sum_weights(Parts.of(roster)).variance


def test_one_round_is_one_partition():
    rounds = in_rounds(EIGHT, 3, 1)
    one, other = frequency_weights(rounds), frequency_weights(rounds.rounds[0])
    assert one.weights == pytest.approx(other.weights, rel=1e-12)
    assert one.variance == pytest.approx(other.variance, rel=1e-12)


def test_more_rounds_help_and_means_scale_with_their_bound():
    sds = [frequency_weights(in_rounds(EIGHT, 2, rounds)).predicted_sd for rounds in (1, 2, 3)]
    assert sds == sorted(sds, reverse=True)
    assert sds[2] < sds[0]
    scaled = frequency_weights(Parts.of(EIGHT, (4,)), variance=25, bound=10)
    assert scaled.predicted_sd == pytest.approx(10 * frequency_weights(Parts.of(EIGHT, (4,))).predicted_sd, rel=1e-12)


def error_of(made, weights, values, noise):
    rounds = made.rounds if isinstance(made, Rounds) else (made,)
    estimates = []
    for parts in rounds:
        for number, (size, level) in enumerate(zip(parts.sizes, parts.levels, strict=True)):
            inside = values[:, parts.of_person == number]
            estimates.append((inside.sum(axis=1) + noise(1 / float(level), len(values))) / size)
    return combined(weights, estimates) - values.mean(axis=1)


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_the_predicted_error_is_what_is_seen(rounds):
    """False failure below 1e-6: with 40,000 runs the deviation's own error is 0.7 % at most (kurtosis 6 at most)."""
    roster = Roster.of([0.0, 0.0, *np.random.default_rng(4).uniform(0.5, 4, 30)])
    made = in_rounds(roster, 3, rounds) if rounds else Parts.of(roster, (7, 15))
    best = frequency_weights(made)
    generator = np.random.default_rng(12)
    values = generator.random((40_000, roster.people)) < 0.5
    seen = error_of(made, best.weights, values, lambda scale, size: generator.laplace(0, scale, size)).std()
    assert seen == pytest.approx(best.predicted_sd, rel=0.04)
    # Power: other weights, or forgetting that the same people come again, would be seen.
    even = np.full(len(best.weights), 1 / len(best.weights))
    values = generator.random((40_000, roster.people)) < 0.5
    worse = error_of(made, even, values, lambda scale, size: generator.laplace(0, scale, size)).std()
    assert worse > best.predicted_sd * 1.04


def test_models_are_weighed_by_squares():
    assert model_weights(Parts.of(EIGHT, (4,))) == pytest.approx((0.0016 / 0.1312, 0.1296 / 0.1312), rel=1e-12)


def test_arrays_are_combined_and_labels_voted_for():
    assert combined((0.25, 0.75), [[0, 4], [8, 0]]).tolist() == [6, 1]
    assert float(combined((0.5, 0.5), [1, 3])) == 2
    labels = [[0, 1, 1], [1, 1, 0], [1, 0, 0]]
    assert vote(labels, (1, 1, 1)).tolist() == [1, 1, 0]
    assert vote(labels, (5, 1, 1)).tolist() == [0, 1, 1]
    assert vote([[1, -1], [-1, 1]], (1, 1)).tolist() == [-1, -1]
    assert vote([["yes", "no"], ["yes", "yes"]], (1, 2)).tolist() == ["yes", "yes"]


def test_what_does_not_fit_is_refused():
    for run in (combined, lambda weights, answers: vote(answers, weights)):
        with pytest.raises(ArgumentError, match="one answer for each of 2"):
            run((0.5, 0.5), [1, 2, 3])
    with pytest.raises(ArgumentError, match="bound"):
        frequency_weights(Parts.of(EIGHT), bound=0)
