"""Certified decisions at their worst case, on five kinds of data, and the two ways to break them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from thresher.amounts import Epsilon
from thresher.decisions.aim import Aim
from thresher.decisions.certificate import Sheet, plan_numbers
from thresher.decisions.certified import CertifiedLadder, certify, look_at
from thresher.decisions.few_groups import FewGroupsLadder
from thresher.decisions.margin import TrueMargins
from thresher.decisions.regimes import certified_look
from thresher.decisions.score_levels import ladder
from thresher.decisions.three_way import climb_three_ways, counted_errors, three_way_ladder
from thresher.noise import SeededEntropy

BETA, ALPHA, DELTA, SURE = Fraction(1, 20), Fraction(1, 10), Fraction(1, 50), Fraction(1, 100)
FALSE_FAILURE = 1e-6


def rule_for(groups, widest=1000):
    levels = ladder(BETA, widest, 5)
    looks = tuple(look_at(level, BETA, SURE) for level in levels)
    return CertifiedLadder(looks, BETA, SURE, plan_numbers(groups, len(levels), BETA, ALPHA, DELTA))


def too_often(events, trials, rate):
    return bool(binom.sf(events - 1, trials, rate) < FALSE_FAILURE)


def far_below(count, chance):
    return chance.integers(-501, -51, count)


def misses(rule, at_line, just_below, others, runs, entropy):
    """Groups that qualify by nothing, groups that fall short by one, and others far below: missed, above, tried."""
    chance, missed, above = np.random.default_rng(1), 0, 0
    for _ in range(runs):
        margins = np.concatenate([np.zeros(at_line), np.full(just_below, -1), far_below(others, chance)])
        seen = certify(margins.astype(np.int64), rule, entropy)
        missed += int((~seen.reported[:at_line]).sum())
        above += int(seen.certain[at_line : at_line + just_below].sum())
    return missed, above, runs


class TestMissesAtTheLine:
    def test_with_a_certificate(self, entropy, trials, measured):
        missed, _, runs = misses(rule_for(60), 5, 0, 55, trials(200, 6000), entropy)
        measured(f"certified, 60 groups, 5 at the line: {missed / (5 * runs):.4f} missed in {runs} runs")
        assert not too_often(missed, 5 * runs, float(BETA))
        assert missed > 0.4 * float(BETA) * 5 * runs, "all of the miss rate is used, at whichever level"

    def test_a_common_stop_breaks_the_promise_of_a_certificate(self, monkeypatch):
        """Must fail: a group's own noise stops the run."""
        agree = Sheet.others_agree

        def common(self, level, noisy, lucky):
            agree(self, level, noisy, lucky)
            return np.full(noisy.size, self._levels[-1][0] <= self._terms.stop_at)

        monkeypatch.setattr(Sheet, "others_agree", common)
        missed, _, runs = misses(rule_for(60), 5, 0, 55, 100, SeededEntropy(3))
        assert too_often(missed, 5 * runs, float(BETA))


def test_a_groups_own_noise_does_not_move_its_own_stop():
    """Replay with other groups fixed: whatever group 0's noise is, the level of its verdict stays."""
    rule, k = rule_for(60), 60
    chance = np.random.default_rng(4)
    margins = np.concatenate([[0], far_below(k - 1, chance)]).astype(np.int64)
    levels = []
    for shift in (-400, -40, 0, 40, 400):
        # Moving its margin moves its noisy values by as much, at every level, and nobody else's.
        seen = certify(margins + np.eye(1, k, 0, dtype=np.int64)[0] * shift, rule, SeededEntropy(5))
        levels.append(int(seen.steps[0]))
    assert len(set(levels)) == 1


def data_sets():
    chance = np.random.default_rng(11)
    size = np.floor(1000 * chance.beta(0.35, 2.6, 574)).astype(np.int64)
    hot = chance.random(574) < 0.06
    yield "occupancy", size - int(size.mean() + 2 * size.std()) - 1, 1000
    yield "two kinds", np.where(hot, chance.integers(100, 300, 574), chance.integers(-700, -600, 574)), 1000
    heavy = np.floor(np.exp(chance.normal(5.0, 1.1, 574))).astype(np.int64)
    yield "heavy tail", heavy - int(heavy.mean() + 2 * heavy.std()) - 1, 10_000
    yield "at the line", np.concatenate([np.full(10, 499), np.full(92, -1), np.full(472, -501)]), 1000
    yield (
        "just below",
        np.concatenate([np.full(20, 500), chance.integers(-41, -1, 354), chance.integers(-1001, -901, 200)]),
        1500,
    )


@pytest.mark.parametrize(("name", "margins", "widest"), list(data_sets()), ids=[name for name, *_ in data_sets()])
def test_certificates_hold(name, margins, widest, entropy, trials, measured):
    """A true certificate fails with probability at most delta in each run."""
    rule, runs = rule_for(margins.size, widest), trials(25, 1000)
    violated, reached, losses, shares = 0, 0, [], []
    for _ in range(runs):
        seen = certify(margins.astype(np.int64), rule, entropy)
        share = seen.reported[margins < 0].mean()
        violated += share > seen.certificate.share
        reached += seen.certificate.reached
        losses.append(float(seen.loss))
        shares.append(share)
        assert seen.loss <= rule.epsilon
    measured(
        f"certified, {name}: epsilon {np.mean(losses):.4f}, false alarms {np.mean(shares):.3f}, "
        f"reached in {reached} of {runs}, violated in {violated}"
    )
    assert not too_often(violated, runs, float(DELTA))


def test_a_certificate_that_counts_a_miss_less_is_caught():
    """Power: scores taken as half of what they are certify what is not so."""
    margins = np.concatenate([np.full(10, 499), np.full(60, -1), np.full(504, -501)]).astype(np.int64)
    rule = rule_for(margins.size)
    cheap = replace(rule, certificate=replace(rule.certificate, log_term=-20 * rule.certificate.log_term))
    violated = 0
    for seed in range(20):
        seen = certify(margins, cheap, SeededEntropy(seed))
        violated += seen.reported[margins < 0].mean() > seen.certificate.share
    assert too_often(violated, 20, float(DELTA))


def test_every_group_loses_the_last_level_and_no_verdict_is_changed_by_extra_levels():
    margins = np.concatenate([np.zeros(5), far_below(55, np.random.default_rng(6))]).astype(np.int64)
    rule = rule_for(60)
    seen = certify(margins, rule, SeededEntropy(7))
    assert set(seen.epsilons) == {seen.loss}
    assert seen.loss <= Epsilon("5")
    assert (seen.steps >= seen.steps.min()).all()


class TestRegimes:
    def aim(self, groups, insists=False):
        return Aim(BETA, ALPHA, ((10, 1),), False, groups, Epsilon("5"), Fraction(1000), delta=DELTA, insists=insists)

    @pytest.mark.parametrize("groups", [1, 4, 5, 19, 20, 49, 50, 99, 100, 574])
    def test_the_promise_is_chosen_by_the_number_of_groups(self, groups):
        look, few = certified_look(self.aim(groups)), groups < 100
        assert isinstance(look, FewGroupsLadder) == few
        seen = look.decide(TrueMargins.of(np.full(groups, 900)), SeededEntropy(1))
        assert (seen.certificate is None) == few
        assert (seen.count_bound is not None) >= few

    def test_a_certificate_is_refused_before_data_where_it_cannot_be(self):
        for groups in (3, 19, 24):
            with pytest.raises(Exception, match="certificate"):
                certified_look(self.aim(groups, insists=True))
        for groups in (30, 99):
            assert isinstance(certified_look(self.aim(groups, insists=True)), CertifiedLadder)


def test_three_ways_keep_their_labels_and_their_certificate(entropy, trials):
    levels = tuple(Epsilon.from_nano(int(1e9 * 0.02 * 1.7**j)) for j in range(6))
    count = trials(100_000, 1_000_000)
    rule = three_way_ladder(BETA, SURE, levels, None)
    at = climb_three_ways(np.zeros(count, dtype=np.int64), rule, entropy)
    under = climb_three_ways(np.full(count, -1, dtype=np.int64), rule, entropy)
    assert not too_often(int((at.verdict < 0).sum()), count, float(BETA))
    assert not too_often(int((under.verdict > 0).sum()), count, float(SURE))
    margins = np.concatenate([np.full(60, 400), far_below(514, np.random.default_rng(1))]).astype(np.int64)
    certain = three_way_ladder(BETA, ALPHA / 20, levels, counted_errors(574, BETA, ALPHA / 20, DELTA, ALPHA))
    violated = 0
    for seed in range(50):
        seen = climb_three_ways(margins, certain, SeededEntropy(seed))
        violated += seen.reported[margins < 0].mean() > seen.certificate.share
    assert not too_often(violated, 50, float(DELTA))
