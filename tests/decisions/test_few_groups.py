"""Misses of adaptive looks without any draw: sums over all noise, with the real choice of levels or the worst one.

One group's noise has most say in the level when there are few groups. And however levels are chosen among those on
offer, the miss rate is kept; with shifts that keep it for each level alone it is not. Sums are right to 1e-9.
"""

import sys
from dataclasses import replace
from fractions import Fraction

import exact_misses
import numpy as np
import pytest
from exact_misses import chance_of_a_miss, worst_chance_of_a_miss
from transcript_law import law

from thresher.amounts import Epsilon
from thresher.decisions.adaptive_ladder import adaptive_ladder_of, explore
from thresher.decisions.ladder import level_of
from thresher.noise import tail

ROUNDING = 1e-9
BOTH_ENDS = pytest.mark.parametrize("best_effort", [False, True], ids=["strict", "best effort"])


def ladder_of(miss_rate, steps, looks, first, **options):
    rate = Fraction(miss_rate)
    return replace(adaptive_ladder_of(rate, rate, steps, 1, looks, Epsilon(first)), **options)


def test_one_look_is_its_tail():
    ladder = ladder_of("0.05", 3, 1, "0.1")
    assert chance_of_a_miss(ladder, 1) == chance_of_a_miss(ladder, 2) == pytest.approx(tail(ladder.epsilon, 4).low)


@BOTH_ENDS
def test_the_sums_are_those_of_the_real_climb(best_effort, monkeypatch):
    """Against a walk of every script of noise through the code itself; what is beyond its reach is missing."""
    ladder = ladder_of("0.3", 1, 3, "0.9", best_effort=best_effort)
    walked = law(lambda: explore(np.zeros(1, int), ladder), (16, 6, 5), monkeypatch, lambda seen: int(seen.verdict[0]))
    assert chance_of_a_miss(ladder, 1) == pytest.approx(float(walked[-1]), abs=0.001)


@BOTH_ENDS
@pytest.mark.parametrize(("rate", "steps", "looks", "first"), [("0.1", 2, 3, "0.3"), ("0.05", 2, 4, "0.5")])
def test_one_and_two_groups_at_the_line(rate, steps, looks, first, best_effort, measured):
    ladder = ladder_of(rate, steps, looks, first, best_effort=best_effort)
    alone, paired = (chance_of_a_miss(ladder, groups) for groups in (1, 2))
    assert max(alone, paired) <= float(rate) + ROUNDING
    kind = "best effort" if best_effort else "strict"
    measured(f"exact misses, {rate} promised, {looks} levels, {kind}: {alone:.5f} alone, {paired:.5f} of two")


LADDERS = [("0.05", 8, 3, "0.1"), ("0.05", 12, 4, "0.12"), ("0.1", 5, 4, "0.15")]


@BOTH_ENDS
@pytest.mark.parametrize(("rate", "steps", "looks", "first"), LADDERS)
def test_however_the_levels_are_chosen(rate, steps, looks, first, best_effort):
    ladder = ladder_of(rate, steps, looks, first, best_effort=best_effort)
    worst = worst_chance_of_a_miss(ladder)
    assert worst <= float(rate) + ROUNDING
    assert worst >= 0.3 * float(rate), "the worst choice is not far from what is promised"


@pytest.mark.parametrize(("rate", "steps", "looks", "first"), LADDERS)
def test_shifts_that_keep_each_level_alone_do_not_keep_the_promise(rate, steps, looks, first, monkeypatch, measured):
    """The printed theorem: the shares add up, and the worst choice passes the miss rate all the same."""
    ladder = ladder_of(rate, steps, looks, first, best_effort=True)

    def marginal(_, *share):
        return level_of(None, *share)

    def of_the_level(_seen, _reached, step, _ladder):
        return step.level.steps, step.level.certain

    module = sys.modules["thresher.decisions.adaptive_ladder"]
    monkeypatch.setattr(module, "level_of", marginal)
    monkeypatch.setattr(exact_misses, "_shifts", of_the_level)
    for cached in (module.steps_ahead, exact_misses.hopes):
        cached.cache_clear()
    worst = worst_chance_of_a_miss(ladder)
    for cached in (module.steps_ahead, exact_misses.hopes):
        cached.cache_clear()
    measured(f"exact misses at the worst choice, shifts of each level alone, {looks} levels: {worst / float(rate):.3f}")
    assert worst > 1.05 * float(rate)
