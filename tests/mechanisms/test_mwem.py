"""Learning from the worst sums: exact laws of all that is seen, wiring, and data that one sum explains."""

from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from mechanisms.replayed_noise import neighbours

from thresher.errors import ArgumentError
from thresher.mechanisms.histograms import mwem as module
from thresher.mechanisms.histograms.mwem import (
    SeenSum,
    estimate_from_sums,
    misfits,
    mwem,
    mwem_shares,
    reweighted,
    start,
)
from thresher.mechanisms.histograms.workloads import prefixes, rows
from thresher.noise import SeededEntropy

EPSILON = Fraction(2)


def test_the_shares_come_to_epsilon():
    first, share = mwem_shares(Fraction(1, 10), 10)
    assert first + 20 * share == Fraction(1, 10)


def log_chances(cells, rounds, transcript, choice_rate=lambda share: share / 2, scored=misfits):
    """The log of the chance of a noisy total and of pairs (sum, noisy value), up to constants of the noise."""
    first, share = mwem_shares(EPSILON, rounds)
    total, pairs = transcript
    sums = prefixes(cells.shape)
    exact, estimate = sums.whole(cells), start(cells.shape, total)
    log = -mpmath.mpf(first.numerator) / first.denominator * abs(total - int(cells.sum()))
    for index, value in pairs:
        rate = choice_rate(share)
        weights = [
            mpmath.exp(mpmath.mpf(rate.numerator) / rate.denominator * mpmath.mpf(float(one)))
            for one in scored(exact, sums.answers(estimate))
        ]
        log += mpmath.log(weights[index] / mpmath.fsum(weights))
        log -= mpmath.mpf(share.numerator) / share.denominator * abs(value - int(exact[index]))
        estimate = reweighted(estimate, sums, SeenSum(index, value))
    return log


def worst(cells_list, rounds, values, **rule):
    """The largest log ratio over all neighbours and transcripts."""
    found = mpmath.mpf(0)
    for cells in cells_list:
        for here, there in neighbours(cells):
            for total in values:
                for pairs in product(product(range(len(cells)), values), repeat=rounds):
                    ratio = log_chances(here, rounds, (total, pairs), **rule)
                    ratio -= log_chances(there, rounds, (total, pairs), **rule)
                    found = max(found, abs(ratio))
    return found


DATA = [[0, 0, 0], [2, 0, 1], [0, 5, 0]]


def test_no_transcript_of_one_round_tells_more_than_epsilon():
    """Over all neighbours, to forty digits; a choice at twice the rate, or of doubled misfits, is found out."""
    with mpmath.workdps(40):
        values = (-2, 0, 3, 9)
        assert float(EPSILON) * 0.8 < worst(DATA, 1, values) <= float(EPSILON)
        assert worst(DATA, 1, values, choice_rate=lambda share: 2 * share) > float(EPSILON)
        doubled = worst(DATA, 1, values, scored=lambda exact, answers: 4 * misfits(exact, answers))
        assert doubled > float(EPSILON)


def test_no_transcript_of_two_rounds_tells_more_than_epsilon():
    with mpmath.workdps(25):
        assert worst([[1, 3]], 2, (-1, 2, 6)) <= float(EPSILON)


def test_scores_are_whole_and_move_by_at_most_one():
    generator = np.random.default_rng(8)
    for _ in range(200):
        exact = generator.integers(0, 20, 6)
        answers = generator.uniform(-3, 25, 6)
        more = exact + generator.integers(0, 2, 6)
        before, after = misfits(exact, answers), misfits(more, answers)
        assert before.dtype == np.int64
        assert np.abs(before - after).max() <= 1
        assert np.abs(before - np.abs(exact - answers)).max() < 1


def test_what_is_spent_and_what_is_released(monkeypatch):
    """Rates as planned, and nothing in the release but what was seen."""
    spent, noisy, picked = [], [], []

    def drawn(epsilon, size, sensitivity=1, entropy=None):
        spent.append(epsilon)
        noisy.append(module_draw(epsilon, size, entropy=entropy))
        return noisy[-1]

    def picking(costs, rate, entropy):
        picked.append((rate, module_choose(costs, rate, entropy=entropy)))
        return picked[-1][1]

    module_draw, module_choose = module.discrete_laplace, module.choose
    monkeypatch.setattr(module, "discrete_laplace", drawn)
    monkeypatch.setattr(module, "choose", picking)
    counts = np.array([[3, 0, 20], [1, 1, 5]])
    given = mwem(counts, EPSILON, rounds=4, entropy=SeededEntropy(6))
    first, share = mwem_shares(EPSILON, 4)
    assert spent == [first, *[share] * 4]
    assert [rate for rate, _ in picked] == [share / 2] * 4
    sums = prefixes(counts.shape)
    exact = sums.whole(counts)
    seen = [SeenSum(index, int(exact[index] + noise[0])) for (_, index), noise in zip(picked, noisy[1:], strict=True)]
    total = int(counts.sum() + noisy[0][0])
    assert np.array_equal(given.counts, estimate_from_sums(counts.shape, total, sums, seen))


@pytest.mark.parametrize("shape", [(1,), (5,), (4096,), (5000,), (1, 1), (3, 5), (64, 64), (70, 256)], ids=str)
def test_prefixes_are_boxes_from_the_first_cell(shape):
    sums = prefixes(shape)
    cells = np.random.default_rng(2).integers(0, 9, shape)
    exact, number = sums.whole(cells), sums.whole(cells).size
    assert number <= 4096
    assert number == np.prod(shape) or np.prod(shape) > 4096
    assert exact[-1] == cells.sum()
    assert np.allclose(sums.answers(cells.astype(float)), exact)
    for index in {0, number // 2, number - 1}:
        inside = sums.members(index)
        assert inside.flat[0]
        assert cells[inside].sum() == exact[index]
        assert inside.sum() == np.prod(
            [
                np.flatnonzero(inside.any(axis=tuple(set(range(len(shape))) - {axis})))[-1] + 1
                for axis in range(len(shape))
            ]
        )


def test_one_sum_explains_two_halves(entropy):
    """At epsilon 50, half the cells empty: the estimate comes nearer with rounds, and is even inside each half."""
    counts = np.array([100] * 8 + [0] * 8)
    errors = [np.abs(mwem(counts, 50, rounds=rounds, entropy=entropy).counts - counts).sum() for rounds in (1, 20)]
    assert errors[1] < errors[0] < 800
    given = mwem(counts, 50, workload=[[1] * 8 + [0] * 8], rounds=60, entropy=entropy).counts
    assert np.ptp(given[:8]) < 1e-9
    assert given[:8].sum() > 650


def test_flat_data_stay_flat_without_noise():
    sums = prefixes((6,))
    exact = sums.whole(np.full(6, 4))
    given = estimate_from_sums((6,), 24, sums, [SeenSum(index, int(exact[index])) for index in range(6)])
    assert np.allclose(given, 4)


def test_estimates_are_never_negative_and_keep_the_noisy_total():
    for seed in range(20):
        given = mwem([0, 0, 7, 0], "0.05", entropy=SeededEntropy(seed)).counts
        assert given.min() >= 0
        assert abs(given.sum() - round(given.sum())) < 1e-6
        assert given.sum() >= 1 - 1e-6


@pytest.mark.parametrize(
    "workload",
    [[[1, 2, 0]], [[1, -1, 0]], [[1, 0]], [1, 0, 0], np.zeros((0, 3), dtype=np.int64), [[0.5, 1, 0]], [[[1, 0, 0]]]],
    ids=str,
)
def test_rows_that_are_no_sums_over_cells_are_refused(workload):
    with pytest.raises(ArgumentError, match="workload"):
        mwem([1, 2, 3], 1, workload=workload)


def test_rows_are_sums_over_cells():
    cells = np.array([[1, 2], [3, 4]])
    sums = rows([[[1, 0], [0, 1]], [[0, 0], [1, 1]]], (2, 2))
    assert sums.whole(cells).tolist() == [5, 7]
    assert sums.answers(cells / 2).tolist() == [2.5, 3.5]
    assert sums.members(1).tolist() == [[False, False], [True, True]]


@pytest.mark.parametrize("rounds", [0, -1, 1.5, "3", 1001])
def test_rounds_that_cannot_be_are_refused(rounds):
    with pytest.raises(ArgumentError, match="rounds"):
        mwem([1, 2, 3], 1, rounds=rounds)


def test_small_integers_of_numpy_do_not_make_the_shares_larger():
    """2 * np.uint8(200) wraps around to 144: every round would spend more than its share."""
    given = [mwem([5, 0, 3], 1, rounds=rounds, entropy=SeededEntropy(6)) for rounds in (200, np.uint8(200))]
    assert given[0].counts.tolist() == given[1].counts.tolist()
