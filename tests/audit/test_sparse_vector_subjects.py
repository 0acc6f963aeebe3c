"""Broken sparse vectors are refuted by few samples, right ones stand on the hardest pairs known."""

import math

import numpy as np
import pytest
from scipy import stats

from thresher.audit.laws.comparison_laws import laplace, log_probability
from thresher.audit.mutants import comparison_mutants as mutants
from thresher.audit.shipped import comparison_subjects as shipped
from thresher.audit.subjects import Enumerated, Promised, Sampled

# For both sides together.
CONFIDENCE = 0.999
# Where few samples come near the charge: they show that the test below has power.
TELLING = {
    "sparse_vector",
    "sparse_vector, monotone queries",
    "sparse_vector, nested queries",
    "private_bound, size private",
    "private_bound, size public",
}
BROKEN = [subject for subject in mutants.subjects() if isinstance(subject, Sampled)]
RIGHT = shipped.subjects()


def lower_bound(here, there):
    """With that confidence the loss is at least this: an event found on half of the samples, tested on the others."""
    half = len(here) // 2
    cuts = np.unique(np.concatenate([here[:half], there[:half]]))
    level = (1 - CONFIDENCE) / 2

    def bound(one, other, cut):
        top, rest = (one >= cut).sum(), (other >= cut).sum()
        least = stats.beta.ppf(level, top, len(one) - top + 1) if top else 0.0
        most = stats.beta.ppf(1 - level, rest + 1, len(other) - rest) if rest < len(other) else 1.0
        return math.log(least / most) if least > 0 else -math.inf

    tried = [(one, other, cut) for one, other in ((here, there), (there, here)) for cut in cuts]
    tried += [(-one, -other, -cut) for one, other, cut in tried]
    one, other, cut = max(tried, key=lambda event: bound(event[0][:half], event[1][:half], event[2]))
    return bound(one[half:], other[half:], cut)


@pytest.mark.parametrize("subject", BROKEN, ids=lambda subject: subject.name)
def test_a_broken_one_is_refuted_on_each_pair(subject, entropy):
    """By how many more tops one half of the queries got than the other. Two thousand samples a side for GPTT."""
    assert subject.samples == (20_000 if "generalised" in subject.name else 2_000)
    for pair in subject.pairs:
        here, there = (subject.run(side, subject.samples, entropy) for side in (pair.here, pair.there))
        assert here.shape == (subject.samples, 2)
        assert lower_bound(here[:, 1] - here[:, 0], there[:, 1] - there[:, 0]) > float(subject.charged.fraction)
        assert np.abs(pair.here - pair.there).max() == 1


def test_names_say_what_they_are():
    functions = [name for name in vars(mutants) if name.startswith("broken_")]
    assert len(functions) == 5
    assert sorted(subject.name for subject in mutants.subjects()) == sorted(functions)


@pytest.mark.parametrize(
    ("mechanism", "query"),
    [
        (mutants.broken_svt_itemset_mining, (4, 4 / 3)),
        (mutants.broken_svt_high_dimensional, (2, 2)),
        (mutants.broken_generalised_svt, (2, 8)),
    ],
)
def test_a_broken_one_is_as_printed(mechanism, query, entropy):
    """The share of one row of answers; the grid moves it by less than half a percent, 5 deviations by chance."""
    runs, row = 100_000, (False, True, True, True)
    rows = mechanism([0, 1, 1, 1], runs, entropy)
    assert rows.shape == (runs, 4)
    assert rows.dtype == bool
    share = (rows == row).all(axis=1).mean()
    truth = math.exp(log_probability(row, [0, 1, 1, 1], *map(laplace, query)))
    assert share == pytest.approx(truth, abs=5 * (truth / runs) ** 0.5 + 0.005)


def test_without_noise_on_queries_one_answer_tells_neighbours_apart(entropy):
    rows = mutants.broken_svt_feature_selection([0] * 3 + [1] * 3, 20_000, entropy)
    told = (rows == [False] * 3 + [True] * 3).all(axis=1)
    assert told.mean() == pytest.approx((1 - math.exp(-1)) / 2, abs=0.02)
    rows = mutants.broken_svt_feature_selection([1] * 3 + [0] * 3, 20_000, entropy)
    assert not (rows == [False] * 3 + [True] * 3).all(axis=1).any()


def test_the_one_that_forgets_never_stops(entropy):
    assert mutants.broken_generalised_svt([1000] * 20, 50, entropy).all()


@pytest.mark.parametrize("subject", [s for s in RIGHT if isinstance(s, Enumerated)], ids=lambda subject: subject.name)
def test_enumerated_losses_stay_within_the_charge_and_reach_it(subject):
    losses = []
    for pair in subject.pairs:
        here, there = subject.law(pair.here), subject.law(pair.there)
        assert here.keys() == there.keys()
        assert sum(here.values()) == pytest.approx(1, abs=subject.missing)
        losses.append(max(abs(math.log(here[row] / there[row])) for row in here))
    charged = float(subject.charged.fraction)
    assert 0.9999 * charged < max(losses) <= charged + 1e-9


@pytest.mark.parametrize("subject", [s for s in RIGHT if isinstance(s, Sampled)], ids=lambda subject: subject.name)
def test_a_right_one_stands(subject, entropy):
    """The most telling single output; a false alarm has probability 2e-7. A third of the charge would be refuted."""
    found = [measured_loss(subject, pair, 40_000, entropy) for pair in subject.pairs]
    assert max(found) < float(subject.charged.fraction)
    if subject.name in TELLING:
        assert max(found) > float(subject.charged.fraction) / 3


def measured_loss(subject, pair, runs, entropy):
    """A lower bound of the loss: the output is chosen on one half of the samples and tested on the other."""
    sides = [np.asarray(subject.run(side, runs, entropy)) for side in (pair.here, pair.there)]
    codes = np.unique(np.concatenate(sides), axis=0, return_inverse=True)[1].reshape(2, 2, runs // 2)
    first = np.array([np.bincount(side[0], minlength=codes.max() + 1) for side in codes])
    often = np.where(first.min(axis=0) > 100, np.abs(np.diff(np.log(first + 1), axis=0)[0]), 0)
    counts = sorted(int((side[1] == often.argmax()).sum()) for side in codes)
    return math.log(_ends(counts[1], runs // 2)[0] / _ends(counts[0], runs // 2)[1])


def _ends(count, size, level=5e-8):
    """Clopper and Pearson's; four of them may be wrong, as the direction is chosen by the same counts."""
    return stats.beta.ppf(level, count, size - count + 1), stats.beta.ppf(1 - level, count + 1, size - count)


@pytest.mark.parametrize("subject", [s for s in RIGHT if isinstance(s, Promised)], ids=lambda subject: subject.name)
def test_accuracy_is_as_promised(subject, entropy):
    """More than the rate by 5 deviations has probability below 1e-6."""
    runs, rate = 20_000, float(subject.rate)
    for _, worst in subject.worst:
        assert subject.run(worst, runs, entropy).sum() < rate * runs + 5 * (rate * (1 - rate) * runs) ** 0.5


def test_all_that_is_built_is_on_trial():
    names = " ".join(subject.name for subject in RIGHT)
    for word in (
        "two tops",
        "two-sided",
        "monotone",
        "nested",
        "depend on data",
        "below",
        "size private",
        "size public",
    ):
        assert word in names
