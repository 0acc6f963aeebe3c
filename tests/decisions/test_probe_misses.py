"""Misses of the methods that measure every condition by itself, at their worst: exactly one prime implicant is true.

Its conditions are exactly at the line, all others far from holding; 20,000 groups each, with as many groups far below
as it takes to be answered. A true promise fails an assertion with probability at most 1e-6; with the default seed it
is not refuted at 99.9 % either.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from formula_shapes import SHAPES
from promises import refuted, too_often

from thresher.decisions.probe import probe_phases
from thresher.decisions.probe.probe import naive, prices_of, probe, probe_ent, probe_naive
from thresher.decisions.probe.probe_conditions import checked_conditions
from thresher.decisions.probe.probe_entropy import EntropyClimb
from thresher.decisions.probe.probe_phases import Phases, first_looks
from thresher.question.implicants import primes
from thresher.question.trees import occurrences, some

FAR = 10**6
REACH, BETA, ALARMS = 1000, 0.05, "0.9"
WORST = 20_000
FAMILY = {"naive": naive, "probe-naive": probe_naive, "probe": probe, "probe-ent": probe_ent}
every_shape = pytest.mark.parametrize("shape", ["AND1", "AND3", "OR3", "Q0|(Q1&Q2)", "(Q0|Q1)&(Q0|Q2)", "maj3"])


def spoilers(tree, count, again):
    """Groups at the worst case first; then, for a second phase, some that only look as if; then many far below.

    About half of the first and of the second are seen in between. With so many below, the half of the first alone is
    allowed, and both together are not; but half as wide a region, in a second phase, tells the second apart.
    """
    written, implicant = occurrences(tree), primes(tree).implicants[-1]
    most = len(written) * max(written[atom] for atom in implicant)
    middle, below = (count, int((2 / 3 * most - 0.2) * count)) if again else (0, 8 * most * count)
    slacks = np.full((len(written), count + len(implicant) * middle + below), -FAR)
    slacks[list(implicant), :count] = 0
    for place, atom in enumerate(implicant):
        one = slice(count + place * middle, count + (place + 1) * middle)
        slacks[list(implicant), one] = FAR
        slacks[atom, one] = -REACH * 3 // 10
    return slacks


def asked_of(method, tree, count, entropy, again=False):
    slacks = spoilers(tree, count, again)
    spreads, ranges = [1] * len(slacks), [REACH] * len(slacks)
    return FAMILY[method]((slacks, tree, spreads, ranges), (BETA, ALARMS), max_epsilon=100, entropy=entropy)


def missed_by(answer, count):
    assert not answer.denied, answer.denial
    return int((~answer.reported[:count]).sum())


def kept(missed, count, soak):
    assert not too_often(missed, count, BETA), f"{missed} of {count}"
    assert soak or not refuted(missed, count, BETA), f"{missed} of {count}"


class TestTheWorstCase:
    @every_shape
    @pytest.mark.parametrize("method", FAMILY)
    def test_answered_at_once(self, method, shape, entropy, trials, soak, measured):
        count = trials(WORST, 10 * WORST)
        answer = asked_of(method, SHAPES[shape], count, entropy)
        missed = missed_by(answer, count)
        kept(missed, count, soak)
        assert answer.phases == 1
        expected = 1 - math.prod(1 - float(look.share) for look in answer.looks if look.atom in worst_of(shape))
        # Five standard errors, 6e-7, below what the shares of the true conditions allow and the least epsilon uses up.
        assert abs(missed / count - expected) < 5 * math.sqrt(expected / count) + 0.03 * expected
        measured(f"worst case, {method}, {shape}: {missed / count / BETA:.2f} of the promised misses")

    @every_shape
    @pytest.mark.parametrize("method", ["probe-naive", "probe", "probe-ent"])
    def test_looked_at_again(self, method, shape, entropy, trials, soak, measured):
        count = trials(WORST, 10 * WORST)
        answer = asked_of(method, SHAPES[shape], count, entropy, again=True)
        assert {look.atom for look in answer.looks if look.phase == 2} >= set(worst_of(shape))
        missed = missed_by(answer, count)
        kept(missed, count, soak)
        measured(f"worst case, {method} looking again, {shape}: {missed / count / BETA:.2f} of the promised misses")


def worst_of(shape):
    return primes(SHAPES[shape]).implicants[-1]


class TestCarelessBuilds:
    """Power: each mistake is refuted at the same counts."""

    def test_all_of_the_rate_for_every_condition_of_an_and(self, entropy, monkeypatch):
        whole = (Fraction(1, 20),) * 3
        monkeypatch.setattr("thresher.decisions.probe.probe._shares", lambda *_: whole)
        assert too_often(missed_by(asked_of("naive", SHAPES["AND3"], WORST, entropy), WORST), WORST, BETA)

    def test_all_of_the_rate_in_both_phases_where_both_must_report(self, entropy):
        """Half of it is right: a group is missed by the one or by the other."""
        slacks = np.zeros((1, WORST), dtype=np.int64)
        asked = checked_conditions(slacks, 0, [1], [REACH], (BETA, ALARMS), "0.3", 100)
        reported = np.ones(WORST, dtype=bool)
        for _ in range(2):
            reported &= Phases(asked, entropy).run(first_looks(asked, (Fraction(1, 20),)))
        assert too_often(int((~reported).sum()), WORST, BETA)

    def test_shares_that_are_handed_on_without_a_running_total(self, entropy, monkeypatch):
        """As printed, every condition may have all that the one before left of everything."""
        monkeypatch.setattr(EntropyClimb, "share_of", lambda climb, _: Fraction(1, 5))
        assert too_often(missed_by(asked_of("probe-ent", SHAPES["AND3"], WORST, entropy), WORST), WORST, BETA)

    def test_noise_a_quarter_too_wide(self, entropy, monkeypatch):
        real = probe_phases.smallest_epsilon
        monkeypatch.setattr(
            probe_phases, "smallest_epsilon", lambda share, far, spread: real(share, far * 5 // 4, spread)
        )
        assert too_often(missed_by(asked_of("naive", SHAPES["AND1"], WORST, entropy), WORST), WORST, BETA)

    def test_an_upper_bound_as_the_negation_of_a_lower_one(self, entropy):
        """`g < c` answered by what `g >= c` did not report: the line is moved the wrong way, and 94 % are missed."""
        just_below = np.zeros((1, WORST), dtype=np.int64)
        right = naive((just_below, 0, [1], [100]), region="0.1", entropy=entropy).reported
        negated = ~naive((-1 - just_below, 0, [1], [100]), region="0.1", entropy=entropy).reported
        assert not too_often(int((~right).sum()), WORST, BETA)
        # Five standard errors: 6e-7.
        assert abs((~negated).mean() - 0.944) < 0.009 + 5 * math.sqrt(0.06 / WORST)


def test_an_or_of_many_wastes_most_of_the_rate():
    """The best that adding up leaves can do with even shares: a sixth of what is promised."""
    looks = prices_of("naive", some(*range(6)), [1] * 6, [REACH] * 6)
    assert max(look.share for look in looks) == Fraction(1, 120)
