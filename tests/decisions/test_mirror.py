"""Bounding false alarms instead of misses: the mirror image of each mechanism, and what negating answers would do."""

import math
from fractions import Fraction

import numpy as np
import pytest

from thresher.decisions import adaptive, look, naive_laplace, progressive, slack, threshold_shift, threshold_zone
from thresher.decisions.shift import shift_of
from thresher.decisions.verdicts import mirrored
from thresher.noise import SeededEntropy

MECHANISMS = [naive_laplace, threshold_shift, threshold_zone, progressive, adaptive]
GRID = 10**4


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda function: function.__name__)
def test_the_mirror_of_the_mirror_is_the_look(mechanism):
    """Same seed: what is seen of h with false alarms bounded is what is seen of -1-h with misses bounded, negated."""
    margins = np.random.default_rng(5).integers(-60, 60, 500)
    here = mechanism(margins, 5, "0.2", "0.03", bound="false_alarms", entropy=SeededEntropy(3))
    there = mechanism(-1 - margins, 5, "0.03", "0.2", entropy=SeededEntropy(3))
    assert (here.verdict == -there.verdict).all()
    assert (np.asarray(here.noisy) == -1 - np.asarray(there.noisy)).all()
    assert (here.stopped == there.stopped).all()
    assert (here.levels, here.worst, here.clear, here.half_width) == (
        there.levels,
        there.worst,
        there.clear,
        there.half_width,
    )
    assert (here.bound, there.bound) == ("false_alarms", "misses")
    assert here.box_min_entropy == there.box_min_entropy


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda function: function.__name__)
def test_uncertain_groups_are_reported_only_where_misses_are_bounded(mechanism, entropy):
    margins = np.random.default_rng(5).integers(-6, 6, 500)
    for bound, at_least in (("misses", 0), ("false_alarms", 1)):
        seen = mechanism(margins, 5, bound=bound, entropy=entropy)
        assert (seen.reported == (seen.verdict >= at_least)).all()
        assert (seen.certain == (seen.verdict == 1)).all()
        assert (seen.verdict == 0).any()


def test_a_margin_and_its_mirror_are_never_both_met():
    margins = np.arange(-5, 6)
    assert ((margins >= 0) != (mirrored(margins) >= 0)).all()
    assert (mirrored(mirrored(margins)) == margins).all()


class TestLessThan:
    """A count below a line by half a unit, half width 10, miss rate .05, as good as continuous."""

    def seen(self, comparison, entropy, count=100_000):
        # The count is c - 0.5 with c = 0, in steps of a ten-thousandth.
        counts = np.full(count, -GRID // 2)
        shift = shift_of(Fraction(1, 20), Fraction(1, 20), 10 * GRID, GRID)
        return look(slack(counts, comparison, 0), shift, entropy)

    def test_the_line_moves_up(self, entropy):
        missed = (~self.seen("<", entropy).reported).mean()
        assert missed == pytest.approx(0.0446, abs=4.9 * math.sqrt(0.0446 / 100_000))
        assert missed <= 0.05

    def test_negating_the_answer_of_greater_than_misses_nearly_all(self, entropy):
        reported = ~self.seen(">", entropy).reported
        assert (~reported).mean() == pytest.approx(0.944, abs=0.004)
