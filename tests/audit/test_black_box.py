"""The black-box tester: no false alarm on tight mechanisms, and power against mechanisms broken by little.

A tight mechanism is refuted with probability at most 0.001 an audit; both counts would have to stray at once, which
puts the true figure near 1e-6. So a hundred audits fail together with probability below 1e-4, and the seeds are fixed.
"""

from fractions import Fraction

import numpy as np
import pytest

from thresher.amounts import Epsilon
from thresher.audit.foreign.visitor import looped
from thresher.audit.subjects import Pair, Sampled
from thresher.audit.testers.black_box import tried_by_sampling
from thresher.noise import SeededEntropy, discrete_laplace, geometric

ONE = Epsilon(1)


def count(rate, data, runs, entropy):
    return data + discrete_laplace(rate, runs, entropy=entropy)


def trial(run, pair, samples=20_000, charged=ONE, seed=1, within=None):
    subject = Sampled("it", "", charged, (Pair("", *pair),), run, samples, within)
    return tried_by_sampling(subject, SeededEntropy(seed))


def noisy(data, runs, entropy):
    return count(1, data, runs, entropy)


def randomised_response(data, runs, entropy):
    """Both answers and both losses are as large as can be: the hardest right mechanism for a false alarm."""
    lies = geometric(1, runs, entropy=entropy) % 2 == 1  # with probability 1 / (1 + e)
    return np.where(lies, 1 - data, data)


def both_looks(data, runs, entropy):
    return np.stack([noisy(data, runs, entropy), np.zeros(runs, dtype=np.int64)], axis=1)


@pytest.mark.parametrize("run", [noisy, randomised_response, both_looks])
def test_tight_mechanisms_stand(run, trials):
    """A false alarm in any of the audits fails; see above for how likely that is."""
    found = [trial(run, (0, 1), 3_000, seed=seed) for seed in range(trials(34, 334))]
    assert not any(each.refuted for each in found)
    assert np.mean([each.measured for each in found]) > 0.5, "nor is it blind"


class TestPower:
    """Losses a tenth above the claim, and less, are found at the numbers of samples that the audit uses."""

    def test_a_tenth_more_than_claimed(self):
        found = trial(lambda *run: count("1.1", *run), (0, 1), 200_000)
        assert found.refuted
        assert 1.0 < found.measured < 1.1

    def test_in_one_of_many_columns(self):
        def run(data, runs, entropy):
            rows = discrete_laplace(1, runs * 20, entropy=entropy).reshape(runs, 20)
            rows[:, 13] = data + discrete_laplace("1.5", runs, entropy=entropy)
            return rows

        assert trial(run, (0, 1)).refuted
        assert not trial(run, (0, 1), charged=Epsilon("1.5")).refuted

    def test_spread_over_columns_that_share_their_noise(self):
        """Each column alone is private; a difference of columns cancels what they share."""

        def run(data, runs, entropy):
            shared = discrete_laplace("0.2", runs, entropy=entropy)
            first = shared + data + discrete_laplace(3, runs, entropy=entropy)
            return np.stack([first, shared + discrete_laplace(3, runs, entropy=entropy)], axis=1)

        found = trial(run, (0, 1))
        assert found.refuted
        assert "together" in found.event or "halves" in found.event or "half less" in found.event

    def test_in_words(self):
        def run(data, runs, entropy):
            return [{"ward": "eye", "noisy": [int(x)]} for x in count("1.5", data, runs, entropy)]

        assert trial(run, (0, 1)).refuted
        assert not trial(run, (0, 1), charged=Epsilon("1.5")).refuted

    @pytest.mark.parametrize("place", [40, 511, 600])
    def test_in_one_of_very_many_columns(self, place):
        def run(data, runs, entropy):
            rows = np.random.default_rng(int.from_bytes(entropy.read(8))).normal(size=(runs, 640))
            rows[:, place] /= 20
            rows[:, place] += data
            return rows

        assert trial(run, (0, 1), 600).refuted

    def test_in_the_last_bits_of_floats(self):
        def run(data, runs, entropy):
            words = np.frombuffer(entropy.read(8 * runs), dtype=np.uint64) >> np.uint64(11)
            return data + np.log((words + 1) / 2.0**53) * np.where(words & np.uint64(1), 1, -1)

        found = trial(run, (0.0, 1.0), 2_000)
        assert found.refuted
        assert "lowest bit" in found.event

    def test_in_either_direction(self):
        def run(data, runs, entropy):
            return np.where(geometric(1, runs, entropy=entropy) > 3, data, 0)

        assert trial(run, (0, 1)).measured > 1
        assert trial(run, (1, 0)).measured > 1

    def test_among_several_pairs(self):
        subject = Sampled(
            "it", "", ONE, (Pair("alike", 0, 0), Pair("apart", 0, 2), Pair("alike again", 5, 5)), noisy, 20_000
        )
        found = tried_by_sampling(subject, SeededEntropy(4))
        assert found.refuted
        assert found.where == "apart"


class TestOutputsThatSayWhatTheyCost:
    """Outputs marked 0 cost 1 and outputs marked 1 cost 2: each kind is tried against its own price."""

    def run(self, data, runs, entropy):
        mark = geometric(1, runs, entropy=entropy) % 2
        drawn = np.where(mark == 0, count(1, data, runs, entropy), count(2, data, runs, entropy))
        return np.stack([mark, drawn], axis=1)

    def test_events_keep_to_them(self):
        assert not trial(self.run, (0, 1), within=lambda shown: shown[:, 0] == 0).refuted
        assert trial(self.run, (0, 1), within=lambda shown: shown[:, 0] == 1).refuted
        assert trial(self.run, (0, 1)).refuted


def test_too_few_draws_tell_nothing():
    found = trial(noisy, (0, 5), 50)
    assert not found.refuted
    assert found.measured == 0.0


def test_a_constant_mechanism_stands_and_a_copying_one_does_not():
    assert not trial(lambda _, runs, __: np.zeros(runs, dtype=np.int64), (0, 1)).refuted
    assert trial(lambda data, runs, _: np.full(runs, data), (0, 1)).measured > 5


def test_a_plain_function_is_called_once_for_each_run():
    calls = iter(range(10**6))
    assert looped(lambda data: (data, next(calls)))("x", 3, SeededEntropy(0)) == [("x", 0), ("x", 1), ("x", 2)]


def test_a_plain_function_gets_a_copy_each_time():
    assert looped(list.pop)([1, 2, 3], 3, SeededEntropy(0)) == [3, 3, 3]


def test_more_confidence_claims_less():
    subject = Sampled("it", "", ONE, (Pair("", 0, 1),), noisy, 5_000)
    sure = tried_by_sampling(subject, SeededEntropy(2), Fraction(999_999, 1_000_000))
    assert sure.measured < tried_by_sampling(subject, SeededEntropy(2), Fraction(9, 10)).measured
