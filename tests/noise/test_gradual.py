"""Gradual release: the kernel in exact fractions, the samplers by chi-square, the loss of a chain by enumeration."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from laws import DRAWS, assert_fits, assert_rejected, chi_square_p, laplace_p

from thresher.errors import ArgumentError
from thresher.noise import (
    NOT_PRIVATE,
    SeededEntropy,
    chain,
    discrete_laplace,
    geometric,
    gradual,
    history_shift,
    refine,
)
from thresher.noise.gradual import LEFT, RIGHT, STAY, Jump, Rest, refined

# The spec's exact case: rates whose exponentials are 1/2 and 1/3.
P1, P2 = Fraction(1, 2), Fraction(1, 3)
E1, E2 = Fraction(1), Fraction(2)  # names for those rates; never evaluated
POWERS = {E1: P1, E2: P2, E2 - E1: P2 / P1, E1 + E2: P1 * P2}
R, S = P2 / P1, P1 * P2
REACH = 60


def exact_kernel(x, step=refined):
    """The law of `step` from x by its three ingredients, in fractions; jumps beyond REACH are left out."""
    left, both = Jump(E1, E2).cumulative(rate_power)
    direction = {LEFT: left, RIGHT: both - left, STAY: 1 - both}
    nears = {t: (1 - R) * R**t for t in range(abs(x))} | {abs(x): R ** abs(x)}  # all T >= |x| act alike
    law = {}
    for t, near_mass in nears.items():
        for way, way_mass in direction.items():
            for jump in range(1, REACH):
                y = int(step(*(np.array([v]) for v in (x, t, way, jump)))[0])
                law[y] = law.get(y, 0) + near_mass * way_mass * (1 - S) * S ** (jump - 1)
    return law


def rate_power(rate):
    # E2 - E1 equals E1 as a number here, so the laws ask by difference and sum: both are unambiguous.
    return {E2 - E1: R, E1 + E2: S}[rate]


def dlap(p, x):
    return (1 - p) / (1 + p) * p ** abs(x)


def bayes_kernel(x, y):
    """The kernel by Bayes' rule from noise = finer noise + rest."""
    same = (1 - P1) ** 2 * P2 / ((1 - P2) ** 2 * P1)
    rest = (same if x == y else 0) + (1 - same) * dlap(P1, x - y)
    return dlap(P2, y) * rest / dlap(P1, x)


def test_constants_of_the_exact_case():
    same = (1 - P1) ** 2 * P2 / ((1 - P2) ** 2 * P1)
    assert same == Fraction(3, 8)
    assert gradual.jump_probability(R, S) == Fraction(1, 16)
    # The Rest law asks for E1, E2 and their difference; the first two are enough to tell, with levels 1 and 3.
    levels = {Fraction(1): P1, Fraction(3): P2, Fraction(2): R}
    assert Rest(Fraction(1), Fraction(3)).cumulative(levels.__getitem__) == [Fraction(3, 8)]


def test_values_of_the_exact_case():
    law = exact_kernel(2)
    expected = {-1: (5, 96), 0: (5, 16), 1: (5, 24), 2: (7, 18), 3: (5, 216)}
    for y, (numerator, denominator) in expected.items():
        assert abs(law[y] - Fraction(numerator, denominator)) <= S ** (REACH - 1)


@pytest.mark.parametrize("x", [0, 1, 2, 4, -1, -3, 7])
def test_the_step_is_the_bayes_kernel(x):
    law = exact_kernel(x)
    for y in range(-12, 13):
        assert abs(law.get(y, 0) - bayes_kernel(x, y)) <= S ** (REACH - 1)
    assert 0 <= 1 - sum(law.values()) <= 2 * S ** (REACH - 1)


@pytest.mark.parametrize("x", [0, 1, 3, 6])
def test_rows_of_the_kernel_are_symmetric(x):
    forward, mirrored = exact_kernel(x), exact_kernel(-x)
    assert all(mirrored[-y] == mass for y, mass in forward.items() if abs(y) < 20)


def test_coarse_noise_is_fine_noise_plus_rest():
    same = (1 - P1) ** 2 * P2 / ((1 - P2) ** 2 * P1)
    for x in range(-8, 9):
        mixed = same * dlap(P2, x) + (1 - same) * sum(dlap(P2, y) * dlap(P1, x - y) for y in range(-40, 41))
        assert abs(mixed - dlap(P1, x)) < P2**35


def test_a_chain_of_two_costs_its_last_level_and_no_more():
    """All transcripts of two releases for neighbouring truths: the largest log ratio is the second level, exactly."""
    worst = 0
    for first in range(-6, 7):
        for second in range(-6, 7):
            here = dlap(P1, first) * bayes_kernel(first, second)
            there = dlap(P1, first - 1) * bayes_kernel(first - 1, second - 1)
            worst = max(worst, here / there, there / here)
    assert worst == 1 / P2


def test_independent_second_noise_would_cost_the_sum():
    worst = max(
        dlap(P1, a) * dlap(P2, b) / (dlap(P1, a - 1) * dlap(P2, b - 1)) for a in range(-6, 7) for b in range(-6, 7)
    )
    assert worst == 1 / (P1 * P2)


def _overshooting(noise, near, direction, jump):
    return refined(noise, near, direction, jump - 1)


def _never_right(noise, near, direction, jump):
    return refined(noise, near, np.where(direction == RIGHT, STAY, direction), jump)


def _too_near(noise, near, direction, jump):
    return refined(noise, near + 1, direction, jump)


def _forgets_the_sign(noise, near, direction, jump):
    return refined(np.abs(noise), near, direction, jump)


@pytest.mark.parametrize("mutant", [_overshooting, _never_right, _too_near, _forgets_the_sign])
def test_wrong_kernels_are_caught(mutant):
    wrong = 0
    for x in (0, 2, -3):
        law = exact_kernel(x, mutant)
        wrong += any(abs(law.get(y, 0) - bayes_kernel(x, y)) > S ** (REACH - 1) for y in range(-12, 13))
    assert wrong


LEVELS = ["0.05", "0.1", "0.11", "0.5"]


def test_every_level_of_a_refined_chain_has_its_own_law(entropy):
    noise = discrete_laplace(LEVELS[0], DRAWS, entropy=entropy)
    assert_fits(laplace_p(noise, 20))
    for before, after in pairwise(LEVELS):
        noise = refine(noise, before, after, entropy=entropy)
        assert_fits(laplace_p(noise, 1 / float(after)))
        assert_rejected(laplace_p(noise, 1.05 / float(after)))


def test_every_level_of_a_backward_chain_has_its_own_law(entropy):
    rows = chain(LEVELS, DRAWS, entropy=entropy)
    assert rows.shape == (len(LEVELS), DRAWS)
    for level, row in zip(LEVELS, rows, strict=True):
        assert_fits(laplace_p(row, 1 / float(level)))
        assert_rejected(laplace_p(row, 1.05 / float(level)))


def _rest_p(rest, first, second):
    """The p-value of coarse minus fine noise against its law: zero with probability w, else coarse noise."""
    p1, p2 = math.exp(-first), math.exp(-second)
    same = (1 - p1) ** 2 * p2 / ((1 - p2) ** 2 * p1)

    def cdf(x):
        x = np.asarray(x)
        tail = p1 ** np.abs(x + (x >= 0)) / (1 + p1)
        return same * (x >= 0) + (1 - same) * np.where(x < 0, tail, 1 - tail)

    return chi_square_p(rest, cdf, -200, 200, 200)


@pytest.mark.parametrize("way", ["forward", "backward"])
def test_the_rest_has_its_law_and_is_independent_of_the_finer_noise(way, entropy):
    if way == "forward":
        coarse = discrete_laplace("0.1", DRAWS, entropy=entropy)
        fine = refine(coarse, "0.1", "0.3", entropy=entropy)
    else:
        coarse, fine = chain(["0.1", "0.3"], DRAWS, entropy=entropy)
    for part in (fine < -2, np.abs(fine) <= 2, fine > 2):
        assert_fits(_rest_p((coarse - fine)[part], 0.1, 0.3))
    fresh = discrete_laplace("0.3", DRAWS, entropy=entropy)
    assert_rejected(_rest_p(coarse - fresh, 0.1, 0.3))


@pytest.mark.parametrize("x", [0, 1, 4, -3, 40])
@pytest.mark.parametrize("batch", [20, 10_000])
def test_refined_noise_given_a_value_follows_the_kernel(x, batch, entropy):
    """Small batches go by coins, large ones by tables: both follow the formula of the kernel."""
    first, second, count = 0.2, 0.5, 40_000
    noise = np.full(batch, x)
    draws = np.concatenate([refine(noise, "0.2", "0.5", entropy=entropy) for _ in range(count // batch)])
    r, s = math.exp(first - second), math.exp(-first - second)
    scale = (1 - r) * (1 - s) / (1 - math.exp(-2 * second))
    ys, far = np.arange(-200, 201), abs(x)
    toward = ys if x >= 0 else -ys
    mass = np.select(
        [toward < 0, toward < far, toward == far],
        [scale * s ** np.abs(toward), scale * r ** np.clip(toward, 0, far), r**far * (1 - 2 * s + r * s) / (1 - r * s)],
        scale * r**far * s ** np.clip(toward - far, 0, None),
    )
    assert mass.sum() == pytest.approx(1, abs=1e-12)
    cdf = dict(zip(ys.tolist(), np.cumsum(mass), strict=True))
    p_value = chi_square_p(draws, lambda y: np.array([cdf[int(v)] for v in y]), -150, 150, 300)
    assert_fits(p_value)
    unmoved = chi_square_p(np.full(count, x), lambda y: np.array([cdf[int(v)] for v in y]), -150, 150, 300)
    assert_rejected(unmoved)


def test_fine_steps_reproduce_continuous_gradual_release(entropy):
    """With 10,000 steps to a unit the integer chain meets the continuous reference values."""
    unit = 10_000
    coarse, fine = chain(["0.3", "0.5"], DRAWS, sensitivity=unit, entropy=entropy)
    error = 4.9 / math.sqrt(DRAWS)  # 1e-6
    assert abs((coarse == fine).mean() - 0.36) < error * 0.48 + 1e-4
    assert abs(np.corrcoef(coarse - fine, fine)[0, 1]) < error
    spread = np.asarray(fine, dtype=float).var() / unit**2
    assert spread == pytest.approx(2 / 0.5**2, rel=error * math.sqrt(5))
    noise = np.full(DRAWS, -3 * unit)
    tail = (refine(noise, "0.5", "1.2", sensitivity=unit, entropy=entropy) <= -2 * unit).mean()
    assert abs(tail - 0.17467) < error * 0.38 + 1e-4


def test_shape_is_kept():
    noise = discrete_laplace("0.5", 12).reshape(3, 4)
    assert refine(noise, "0.5", 1).shape == (3, 4)
    assert refine(np.zeros((0,), dtype=np.int64), "0.5", 1).shape == (0,)


@pytest.mark.parametrize(("before", "after"), [("0.5", "0.5"), ("0.5", "0.4"), (1, Fraction(1, 2))])
def test_a_release_is_only_ever_sharpened(before, after):
    with pytest.raises(ArgumentError, match=r"^to_epsilon = .*larger epsilon"):
        refine(np.zeros(3, dtype=np.int64), before, after)


@pytest.mark.parametrize("bad", [0, -1, True, float("nan"), "x"])
def test_bad_levels_are_named(bad):
    noise = np.zeros(3, dtype=np.int64)
    with pytest.raises(ArgumentError, match=r"^from_epsilon = "):
        refine(noise, bad, 1)
    with pytest.raises(ArgumentError, match=r"^to_epsilon = "):
        refine(noise, "0.5", bad)
    with pytest.raises(ArgumentError, match=r"^levels\[1\] = "):
        chain(["0.1", bad], 3)


@pytest.mark.parametrize("levels", [[], "0.1", None, 0.5, ["0.2", "0.1"], ["0.1", "0.1"]])
def test_levels_are_a_growing_list(levels):
    with pytest.raises(ArgumentError, match=r"^levels"):
        chain(levels, 3)


def test_a_step_too_narrow_to_draw_is_refused():
    with pytest.raises(ArgumentError, match="1e-12"):
        refine(np.zeros(3, dtype=np.int64), 1, 1 + Fraction(1, 10**13))


@pytest.mark.parametrize("noise", [np.array([7919.5]), np.array([7919], dtype=object), ["7919"], np.array([True])])
def test_an_error_never_shows_the_noise(noise):
    with pytest.raises(ArgumentError, match=r"^noise = ") as refusal:
        refine(noise, "0.5", 1)
    assert "7919" not in str(refusal.value)


def test_one_sided_noise_for_narrow_steps_has_room():
    assert geometric("0.000000001", 100_000).max() < 2**40


def test_sizes_may_be_integers_of_numpy(entropy):
    """A narrow integer must not wrap: it once made one coin decide for all draws."""
    for size in (np.uint16(32_769), np.uint8(65), np.int8(32), np.int64(1000)):
        coarse, fine = chain(["0.5", "0.55"], size, entropy=entropy)
        assert len(coarse) == len(fine) == int(size)
        if size > 30_000:
            assert abs((coarse == fine).mean() - 0.866) < 0.02
        assert len(discrete_laplace("0.5", size, entropy=entropy)) == int(size)


def test_noise_refined_from_a_seed_stays_marked():
    assert refine(discrete_laplace(1, 50, entropy=SeededEntropy(1)), 1, 2).stamp == NOT_PRIVATE


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", ">i4", "int64"])
def test_every_integer_type_is_refined_as_its_value(dtype, entropy):
    low = -128 if np.dtype(dtype).kind == "i" else 0
    noise = np.array([low, 0, 100] * 5000, dtype=dtype)
    sharper = refine(noise, "0.001", "10", entropy=entropy)
    assert sharper.dtype == np.int64
    assert np.abs(sharper).max() < 60  # at epsilon 10 the noise is nearly always zero


@pytest.mark.parametrize("extreme", [-(2**63), 2**63 - 1, 2**62])
def test_noise_that_cannot_be_noise_is_refused(extreme):
    for call in (lambda: refine(np.array([extreme]), 1, 2), lambda: history_shift(np.array([extreme]), 1, 2, "0.1")):
        with pytest.raises(ArgumentError, match="2\\*\\*62") as refusal:
            call()
        assert str(extreme) not in str(refusal.value)


@pytest.mark.parametrize("noise", [np.array([1], dtype=np.uint64), [[1], [1, 2]], np.ma.masked_array([1, 2], [0, 1])])
def test_arrays_that_are_not_plain_integers_are_refused(noise):
    with pytest.raises(ArgumentError, match=r"^noise = "):
        refine(noise, 1, 2)


@pytest.mark.parametrize("levels", [b"\x01\x02", ["0.1"] * 2])
def test_levels_that_are_bytes_or_repeat_are_refused(levels):
    with pytest.raises(ArgumentError, match=r"^levels"):
        chain(levels, 3)


def test_a_chain_too_large_for_memory_is_refused():
    with pytest.raises(ArgumentError, match=r"^size = "):
        chain([Fraction(i, 1000) for i in range(1, 2000)], 1 << 28)
