"""Small bins joined: published probabilities, the enumerated law and its draws, the loss over all neighbours."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from laws import assert_fits, assert_rejected
from scipy import stats

from thresher.amounts import Epsilon
from thresher.audit.laws.comparison_laws import laplace, log_probability, one_sided
from thresher.audit.mutants.diagnostic_mutants import broken_bin_merging
from thresher.audit.shipped.residual_subjects import closings_law
from thresher.diagnostics.bin_merging import SMALL_BIN_RATE, MergeTerms, closing_runs, ends_of, merge_bins, merge_terms
from thresher.errors import ArgumentError
from thresher.mechanisms.sparse_terms import Setting, sparse_terms
from thresher.noise import NOT_PRIVATE

# So large that noise is never seen.
NO_NOISE = 1000
# Places behind which a merged bin was closed, whether bins are left over, probability: sizes 3, 4, 1 and cutoff 6,
# Laplace noise of scale 1 on sizes and cutoff.
PUBLISHED = {
    ((2,), True): 0.658262,
    ((3,), False): 0.189568,
    ((), True): 0.082082,
    ((1,), True): 0.041775,
    ((1, 3), False): 0.012036,
    ((1, 2), True): 0.008323,
    ((2, 3), False): 0.007854,
    ((1, 2, 3), False): 0.000099,
}


def test_published_probabilities():
    law = closings_law((3, 4, 1), 6, laplace(1), laplace(1))
    assert law.keys() == PUBLISHED.keys()
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)
    for outcome, probability in PUBLISHED.items():
        assert law[outcome] == pytest.approx(probability, abs=1e-6), outcome


@pytest.mark.parametrize(
    ("sizes", "ends"),
    [
        ((3, 4, 1, 9, 2), (2, 5)),
        ((3, 4, 1, 9, 6), (2, 4, 5)),
        ((1, 1, 1), (3,)),
        ((6,), (1,)),
        ((0,), (1,)),
        ((6, 6, 6), (1, 2, 3)),
        ((6, 0, 0), (3,)),
    ],
)
def test_without_noise(sizes, ends):
    merged = merge_bins(np.array(sizes), merging_terms(len(sizes), 6, NO_NOISE))
    assert merged.ends == ends
    assert merged.epsilon == Epsilon(NO_NOISE)


@pytest.mark.parametrize("closed", list(itertools.product([False, True], repeat=4)))
def test_the_ends_cover_all_bins_in_order(closed):
    ends = ends_of(np.array(closed))
    assert ends[-1] == 4
    assert list(ends) == sorted(set(ends))
    assert len(ends) == max(1, sum(closed))


def places(row, sizes):
    found = tuple((np.flatnonzero(row) + 1).tolist())
    return found, not found or found[-1] != len(sizes)


def p_value(runs, sizes, law):
    """Chi-square over all outcomes that are expected 20 times, the others together."""
    seen, counts = np.unique(runs, axis=0, return_counts=True)
    observed = {places(row, sizes): int(count) for row, count in zip(seen, counts, strict=True)}
    assert observed.keys() <= law.keys()
    common = [outcome for outcome, mass in law.items() if mass * len(runs) >= 20]
    expected = np.array([law[outcome] for outcome in common])
    expected = np.append(expected, 1 - expected.sum()) * len(runs)
    got = np.array([observed.get(outcome, 0) for outcome in common])
    got = np.append(got, len(runs) - got.sum())
    kept = expected > 1
    return float(stats.chi2.sf(((got - expected)[kept] ** 2 / expected[kept]).sum(), kept.sum() - 1))


def test_draws_have_the_enumerated_law(entropy, trials):
    """False failure 1e-6; other rates, and Laplace noise, are rejected."""
    sizes, rate = (3, 4, 1, 2), 0.5
    terms = merging_terms(4, 6, Fraction(1, 2))
    runs = closing_runs(np.array(sizes), terms, trials(100_000, 1_000_000), entropy)
    assert_fits(p_value(runs, sizes, closings_law(sizes, 6, one_sided(rate), one_sided(rate))))
    assert_rejected(p_value(runs, sizes, closings_law(sizes, 6, one_sided(rate), one_sided(1.2 * rate))))
    assert_rejected(p_value(runs, sizes, closings_law(sizes, 7, one_sided(rate), one_sided(rate))))


def merging_terms(bins, cutoff, epsilon):
    return MergeTerms(bins, cutoff, sparse_terms(1, epsilon, Setting(kind="nested")))


def neighbours(bins, largest):
    for sizes in itertools.product(range(largest + 1), repeat=bins):
        for place in range(bins):
            yield sizes, tuple(size + (i == place) for i, size in enumerate(sizes))


def worst_loss(rate, law=lambda sizes, cutoff, noise: closings_law(sizes, cutoff, noise, noise)):
    noise, known = one_sided(rate), {}
    for pair in neighbours(3, 3):
        for sizes in pair:
            if sizes not in known:
                known[sizes] = law(sizes, 3, noise)
    losses = []
    for one, other in neighbours(3, 3):
        here, there = known[one], known[other]
        losses += [abs(np.log(here[outcome] / there[outcome])) for outcome in here]
    return max(losses)


def test_no_neighbours_of_small_sizes_lose_more_than_epsilon():
    assert worst_loss(1) == pytest.approx(1, abs=1e-9)
    assert worst_loss(1.02) > 1.019


def test_one_noisy_cutoff_for_all_merged_bins_would_lose_more():
    assert worst_loss(1, broken_bin_merging) > 2.9


@pytest.mark.parametrize(("bins", "least", "epsilon"), [(2, 3, 1), (8, 4, Fraction(1, 2)), (16, 22, Fraction(3, 40))])
def test_a_merged_bin_is_seldom_too_small(bins, least, epsilon):
    """Exactly: the worst sizes are a record too few in the first bin, and nothing else."""
    terms, noise = merge_terms(bins, epsilon, least), one_sided(float(epsilon))
    margins = [float(least - 1 - terms.cutoff)] * bins
    never = np.exp(log_probability([False] * bins, margins, noise, noise))
    assert 1 - never <= SMALL_BIN_RATE
    assert 1 - never > SMALL_BIN_RATE / 3, "the cutoff would be needlessly high"


def test_a_stamp_and_refusals(entropy):
    terms = merge_terms(2, 1, 100)
    if entropy.stamp:
        assert merge_bins([50, 50], terms, entropy=entropy).stamp == NOT_PRIVATE
    assert merge_bins([50, 50], terms).stamp == ""
    for sizes in ([1, 2, 3], [[1, 2]], [104729.5, 1.0], "ab"):
        with pytest.raises(ArgumentError) as refusal:
            merge_bins(sizes, terms)
        assert "104729" not in str(refusal.value)
    for bins in (0, 1 << 15, 2.0):
        with pytest.raises(ArgumentError, match="bins"):
            merge_terms(bins, 1, 100)
    with pytest.raises(ArgumentError, match="epsilon"):
        merge_terms(2, 0, 100)
    for least in (-1, 1 << 61, 2.5):
        with pytest.raises(ArgumentError, match="least"):
            merge_terms(2, 1, least)
