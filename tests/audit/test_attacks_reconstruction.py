"""The attack as a whole: its noise has the law it is said to have, and what it finds is counted rightly."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from laws import assert_fits, assert_rejected, chi_square_p

from thresher.audit.attacks import (
    Method,
    chosen_threshold,
    increasing_wholes,
    ordered_groups,
    reconstruct,
    rounded_means,
)
from thresher.audit.attacks.attack_tables import Attacked
from thresher.audit.attacks.noisy_answers import least_step, noisy_scores
from thresher.audit.attacks.reconstruct import _ceiling_of_laplace
from thresher.audit.attacks.targets import made_up
from thresher.errors import ArgumentError
from thresher.noise import SeededEntropy, SystemEntropy, discrete_laplace

STEEP, FALLING, FLAT, CROWDED = (one.counts for one in made_up())


def ceiling_cdf(rate):
    """P[ceil(L) <= k] = P[L <= k] for Laplace noise L."""

    def cdf(k):
        k = np.asarray(k, dtype=float)
        return np.where(k < 0, np.exp(rate * np.minimum(k, 0)) / 2, 1 - np.exp(-rate * np.maximum(k, 0)) / 2)

    return cdf


def test_the_thresholds_noise_is_continuous_laplace_noise_rounded_up(entropy, trials):
    """False failure 1e-6; integer Laplace noise, which is another law, is rejected by the same check."""
    draws = trials(12_000, 200_000)
    rounded = np.array([_ceiling_of_laplace(Fraction(1, 2), entropy) for _ in range(draws)])
    assert_fits(chi_square_p(rounded, ceiling_cdf(0.5), -20, 20, 40))
    discrete = np.asarray(discrete_laplace("0.5", draws, entropy=entropy))
    assert_rejected(chi_square_p(discrete, ceiling_cdf(0.5), -20, 20, 40))


@pytest.mark.parametrize(("epsilon", "threshold"), [("0.5", 6), ("0.25", 12), ("0.05", 60), (3, 1), ("0.001", 2996)])
def test_the_threshold_is_the_specified_one(epsilon, threshold):
    assert chosen_threshold(epsilon, "0.05") == threshold


def test_nearly_every_small_count_is_found(entropy):
    """All counts from 0 to 434 occur here, so a noisy threshold from 1 to 429 tells those below 6 apart.

    At epsilon 1 it is outside with probability below exp(-3) / 2 + 1e-9: of 40 attacks 20 fail less than once in 1e9.
    """
    found = [reconstruct(CROWDED, 1, entropy=entropy).success(CROWDED) for _ in range(40)]
    assert sum(one.small > 0.99 for one in found) > 20
    assert found[0].small_cells == int((CROWDED <= 5).sum())


def test_success_counts_cells_that_are_exactly_right():
    seen = reconstruct([0, 0, 3, 9], 100, entropy=SeededEntropy(1))
    assert seen.estimates.tolist() == [0, 0, 3, 9]
    assert seen.success([0, 0, 3, 9]).overall == 1
    other = seen.success([0, 1, 3, 8])
    assert (other.overall, other.small_cells) == (0.5, 3)
    assert other.small == pytest.approx(2 / 3)
    assert seen.success([7, 7, 7, 9]).small is None


def test_decoders_read_the_same_answers():
    seen = reconstruct(FLAT, 1, entropy=SeededEntropy(4))
    rounded = seen.decoded("rounding")
    assert rounded.noisy_totals is seen.noisy_totals
    assert (rounded.estimates == rounded_means(seen.noisy_totals, seen.groups.sizes)[seen.groups.labels]).all()
    assert (seen.estimates == increasing_wholes(seen.noisy_totals, seen.groups.sizes)[seen.groups.labels]).all()
    assert rounded.decoded("increasing").estimates.tolist() == seen.estimates.tolist()


@pytest.mark.parametrize(("printed", "scale"), [(False, 2), (True, 4)])
def test_totals_get_the_noise_they_are_said_to_get(printed, scale, entropy, trials):
    """Epsilon 1, half of it for totals: scale 2 for one record more or less, 4 as printed. False failure 1e-6."""
    method = Method(printed_noise=printed)
    noise = []
    for _ in range(trials(60, 600)):
        seen = reconstruct(CROWDED, 1, method=method, entropy=entropy)
        noise.append(seen.noisy_totals - seen.groups.totals(CROWDED))
    noise = np.concatenate(noise)
    assert_fits(_laplace_p(noise, scale))
    assert_rejected(_laplace_p(noise, 6 - scale))


def _laplace_p(noise, scale):
    def cdf(x):
        log_odds = math.log1p(math.exp(-1 / scale))
        x = np.asarray(x, dtype=float)
        return np.where(
            x < 0, np.exp(np.minimum(x, 0) / scale - log_odds), 1 - np.exp(-(np.maximum(x, 0) + 1) / scale - log_odds)
        )

    return chi_square_p(noise, cdf, -40, 40, 80)


def test_integer_noise_finds_what_continuous_noise_finds(entropy, trials, measured):
    """The dissertation's attack with floats of numpy beside ours: means agree within 5 standard errors and 0.03.

    The 0.03 are for cells that are alone in their group: integer noise of scale 2 is 0 with chance 0.245, rounded
    continuous noise with 0.221. False failure below 1e-6 (5 standard errors, two-sided 6e-7).
    """
    generator, runs = np.random.default_rng(int.from_bytes(entropy.read(8))), trials(150, 2000)
    ours, theirs = [], []
    for _ in range(runs):
        ours.append(reconstruct(FLAT, 1, method=Method(decoder="rounding"), entropy=entropy).success(FLAT).overall)
        groups = ordered_groups(FLAT, math.ceil(6 + generator.laplace(0, 2)))
        means = (groups.totals(FLAT) + generator.laplace(0, 2, groups.sizes.size)) / groups.sizes
        theirs.append((np.rint(means)[groups.labels] == FLAT).mean())
    error = math.hypot(np.std(ours), np.std(theirs)) / runs**0.5
    measured(f"attack, integer noise finds {np.mean(ours):.4f} of the cells, continuous {np.mean(theirs):.4f}")
    assert abs(np.mean(ours) - np.mean(theirs)) < 0.03 + 5 * error


def test_the_stronger_ways_find_more(entropy):
    """Groups are small here and the noise of totals is not: order corrects it.

    An attack goes wrong if the noisy threshold is 0 or less, with probability below 0.025; eight of 15: below 1e-8.
    """
    rounding, increasing, both = [], [], []
    for _ in range(15):
        seen = reconstruct(CROWDED, "0.1", entropy=entropy)
        increasing.append(seen.success(CROWDED).overall)
        rounding.append(seen.decoded("rounding").success(CROWDED).overall)
        both.append(reconstruct(CROWDED, "0.1", method=Method(both_ways=True), entropy=entropy))
    assert np.median(increasing) > np.median(rounding) + 0.2
    # Finer groups: asked both ways, cells without a larger one are told apart by those below them.
    assert np.median([one.groups.sizes.size for one in both]) > 350


def test_noisy_answers_hide_no_small_count(entropy):
    """A sharp threshold, answers of epsilon 0.5: scores of 0 and 1 lie more than 20 standard deviations apart.

    With noise enough that they do not, the same attack fails.
    """
    counts = FALLING[:1024]
    seen = reconstruct(counts, 40, "0.5", Method(both_ways=True, passes=10), entropy)
    assert seen.success(counts).small > 0.97
    assert str(seen.claimed) == "40.5"
    blind = reconstruct(counts, 40, "0.001", Method(both_ways=True, passes=2), entropy)
    assert blind.success(counts).small < 0.5


def test_scores_have_the_mean_and_variance_of_the_law(entropy):
    """All answers enumerated: means within 6 standard errors of 200 equal cells, variances within 10 %."""
    counts = np.repeat([0, 1, 4, 9], 200)
    scores, variances = noisy_scores(counts, Fraction(500), Fraction(1, 2), 8, entropy, both_ways=False)
    p = math.exp(-0.5)

    def top(lacking):
        return p**lacking / (1 + p) if lacking >= 1 else 1 - p ** (1 - lacking) / (1 + p)

    for value in (0, 1, 4, 9):
        here = counts == value
        chances = np.array([top(value - other) for other in counts.tolist()])
        mean, variance = -8 * chances.sum(), 8 * (chances * (1 - chances)).sum()
        assert abs(scores[here].mean() - mean) < 6 * math.sqrt(variance / 200)
        assert abs(variances[here].mean() / variance - 1) < 0.1
        assert abs(scores[here].var() / variance - 1) < 0.6  # 6 standard errors of a variance of 200
    both, wider = noisy_scores(counts, Fraction(500), Fraction(1, 2), 2, entropy, both_ways=True)
    assert (np.diff([both[counts == value].mean() for value in (0, 1, 4, 9)]) > 0).all()
    assert (wider > 0).all()


@pytest.mark.parametrize("p", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)])
def test_a_step_is_at_least_the_share_of_the_variance_that_is_said(p):
    """Exact: one more in the count moves the chance of top by (1-p) of its variance, or more, at every difference."""

    def top(lacking):
        return p**lacking / (1 + p) if lacking >= 1 else 1 - p ** (1 - lacking) / (1 + p)

    for lacking in range(-60, 60):
        chance = top(lacking)
        assert chance - top(lacking + 1) >= (1 - p) * chance * (1 - chance)
    assert least_step(Fraction(1, 2)) == pytest.approx(1 - math.exp(-0.5))


def test_a_seed_repeats_and_stamps():
    one, other = (reconstruct(STEEP, "0.5", entropy=SeededEntropy(9)) for _ in range(2))
    assert (one.estimates == other.estimates).all()
    assert one.stamp == "NOT PRIVATE"
    assert reconstruct(STEEP, "0.5").stamp == ""
    assert str(one.claimed) == "0.5"


BAD = [0, -1, "-0.1", float("nan"), float("-inf"), [1], True, "x", 10**7]


@pytest.mark.parametrize(
    ("epsilon", "field"),
    [(float("inf"), "epsilon"), *((bad, field) for field in ("epsilon", "second_epsilon") for bad in BAD)],
)
def test_a_bad_epsilon_is_refused_before_anything_is_drawn(epsilon, field):
    amounts = {"epsilon": 1, "second_epsilon": 1, field: epsilon}
    with pytest.raises(ArgumentError, match=rf"^{field} = "):
        reconstruct([1, 2], **amounts, entropy=SystemEntropy(never))


def never(count):
    raise AssertionError("entropy was read")


@pytest.mark.parametrize("counts", [[], [-104729], [0.5], [[1]]])
def test_a_bad_histogram_is_refused_before_anything_is_drawn(counts):
    with pytest.raises(ArgumentError, match=r"^counts = ") as refusal:
        reconstruct(counts, 1, entropy=SystemEntropy(never))
    assert "104729" not in str(refusal.value)


def test_constant_data_are_found_as_one_group():
    seen = reconstruct([7] * 100, 1, entropy=SeededEntropy(2))
    assert seen.groups.sizes.tolist() == [100]
    assert seen.success([7] * 100).overall == 1


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"decoder": "guessing"}, "decoder"),
        ({"failure_rate": 0}, "failure_rate"),
        ({"failure_rate": 1}, "failure_rate"),
        ({"failure_rate": "-0.1"}, "failure_rate"),
        ({"passes": 1}, "passes"),
        ({"passes": 1001}, "passes"),
        ({"passes": 2.0}, "passes"),
        ({"both_ways": "yes"}, "both_ways"),
        ({"both_ways": None}, "both_ways"),
        ({"printed_noise": 1}, "printed_noise"),
    ],
)
def test_a_bad_method_is_refused(changed, field):
    with pytest.raises(ArgumentError, match=rf"^{field} = "):
        Method(**changed)


@pytest.mark.parametrize("method", ["increasing", 0, {}, Method])
def test_what_is_no_method_is_refused(method):
    with pytest.raises(ArgumentError, match=r"^method = "):
        reconstruct([1, 2], 1, method=method, entropy=SystemEntropy(never))


@pytest.mark.parametrize("infinite", [float("inf"), np.inf, Decimal("Infinity")])
def test_an_infinite_second_epsilon_is_none(infinite):
    one, other = (reconstruct(STEEP, 1, second, entropy=SeededEntropy(3)) for second in (infinite, None))
    assert (one.estimates == other.estimates).all()
    assert one.claimed == other.claimed
    assert Attacked(1, infinite) == Attacked(1)


def test_too_many_cells_for_noisy_answers_are_refused():
    with pytest.raises(ArgumentError, match="40,000 cells, 2 passes"):
        reconstruct(np.zeros(40_000, dtype=int), 1, 1, entropy=SystemEntropy(never))


def test_another_histogram_than_the_attacked_one_is_refused():
    seen = reconstruct([1, 2], 1)
    with pytest.raises(ArgumentError, match=r"^truth = '3 cells'"):
        seen.success([1, 2, 3])
    with pytest.raises(ArgumentError, match=r"^decoder = "):
        seen.decoded("guessing")
    with pytest.raises(ArgumentError, match=r"^entropy = "):
        reconstruct([1, 2], 1, entropy=5)
