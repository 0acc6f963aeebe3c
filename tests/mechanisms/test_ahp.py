"""Clusters: by hand on short lists, aligned between neighbours, and the whole law on two cells."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import mechanisms.replayed_noise as replayed
import numpy as np
import pytest
from laws import assert_fits, assert_rejected
from scipy import stats

from thresher.mechanisms.histograms import ahp as module
from thresher.mechanisms.histograms.ahp import ahp, ahp_shares, clusters
from thresher.mechanisms.histograms.buckets import bucket_sums, spread_evenly

ONE = Fraction(1)


def test_the_shares_come_to_epsilon():
    assert ahp_shares(Fraction(2)) == (Fraction(17, 10), Fraction(3, 10))


@pytest.mark.parametrize(
    ("look", "labels"),
    [
        # Noise of a total at epsilon 1 has variance 2: values join if that is no dearer than a total of their own.
        ([0, 0, 0, 0], [0, 0, 0, 0]),
        ([100, 0, 100, 0], [1, 0, 1, 0]),
        ([100, 101, 102, 0], [1, 1, 1, 0]),
        ([100, 101, 103, 0], [1, 1, 2, 0]),
        ([50], [0]),
        # 0.35 log 4 = 0.49: below is taken for 0, and -9 with it.
        ([-9, 0, 900, 0], [0, 0, 1, 0]),
        # 4 from 6: joined costs 2 + 1 = 3, apart 2 + 2 = 4. 4 from 7: joined 4.5 + 1, apart 4.
        ([4, 6], [0, 0]),
        ([4, 7], [0, 1]),
    ],
    ids=str,
)
def test_clusters_by_hand(look, labels):
    assert clusters(np.array(look), ONE, ONE).tolist() == labels


def test_a_cutoff_is_a_cutoff():
    """At epsilon 0.1 and four cells, at most 0.35 log(4) / 0.1 = 4.85 is taken for 0."""
    cutoff = 0.35 * math.log(4) / 0.1
    assert 4 < cutoff < 5
    assert clusters(np.array([0, 4, 5, 300]), Fraction(1, 10), Fraction(100)).tolist() == [0, 0, 1, 2]


def test_exact_measurements_of_equal_cells_give_them_back():
    counts = np.array([[7, 7, 900], [0, 900, 0]])
    labels = clusters(counts, ONE, ONE)
    assert np.array_equal(spread_evenly(bucket_sums(counts, labels).astype(float), labels), counts)


@pytest.mark.parametrize("counts", [[3, 0, 8], [0, 0], [[1, 6], [6, 1]]], ids=str)
def test_neighbours_are_aligned_at_exactly_epsilon(counts, monkeypatch):
    seen = set()
    for here, there in replayed.neighbours(counts):
        for seed in range(12):
            replays = []

            def replay_of(moves, seed=seed, replays=replays):
                replays.append(replayed.Replay(seed, moves, spread=20))
                return replays[-1]

            cost = replayed.aligned_cost(ahp, module, monkeypatch, here, there, 2, replay_of)
            assert cost == 2
            seen.add(replays[0].sizes[-1])
    assert len(seen) > 1  # the clusters were not always the same ones


def test_clusters_of_true_counts_cannot_be_aligned(monkeypatch):
    def leaky(counts, epsilon):
        with monkeypatch.context() as patch:
            patch.setattr(module, "clusters", lambda _look, first, second: clusters(counts, first, second))
            return ahp(counts, epsilon)

    costs = {
        replayed.aligned_cost(
            leaky, module, monkeypatch, *pair, Fraction(20, 3), lambda moves: replayed.Replay(1, moves)
        )
        for pair in replayed.neighbours([4, 6])
    }
    assert None in costs


def law(counts, epsilon, reach=12):
    """The chance of each output on two cells, up to what lies beyond `reach`."""
    first, second = ahp_shares(Fraction(epsilon))
    steps = range(-reach, reach + 1)

    def chance(rate, x):
        p = math.exp(-rate)
        return (1 - p) / (1 + p) * p ** abs(x)

    patterns = Counter()
    for shift in product(steps, repeat=2):
        labels = clusters(np.array(counts) + np.array(shift), first, second)
        patterns[tuple(labels.tolist())] += chance(first, shift[0]) * chance(first, shift[1])
    found = Counter()
    for labels, seen in patterns.items():
        sums = bucket_sums(np.array(counts), np.array(labels)).tolist()
        for shift in product(steps, repeat=len(sums)):
            totals = [one + step for one, step in zip(sums, shift, strict=True)]
            output = tuple(totals[label] for label in labels) if len(sums) == 2 else tuple(totals)
            found[output] += seen * math.prod(chance(second, step) for step in shift)
    return found


def test_the_whole_law_on_two_cells(entropy, trials):
    """Chi-square of what `ahp` gives against the enumerated law; false failure 1e-6, and another law fails."""
    counts, epsilon, draws = [5, 7], 5, trials(4_000, 100_000)
    seen = Counter()
    for _ in range(draws):
        given = ahp(counts, epsilon, entropy=entropy)
        values = given.counts.tolist()
        seen[(round(sum(values)),) if given.parts.max() == 0 else tuple(map(round, values))] += 1
    assert_fits(fit(seen, law(counts, epsilon), draws))
    assert_rejected(fit(seen, law(counts, 3), draws))


def fit(seen, expected, draws):
    likely = [output for output, chance in expected.items() if chance * draws >= 20]
    observed = [seen[output] for output in likely]
    masses = [expected[output] * draws for output in likely]
    observed.append(draws - sum(observed))
    masses.append(draws - sum(masses))
    return float(stats.chisquare(observed, masses).pvalue)
