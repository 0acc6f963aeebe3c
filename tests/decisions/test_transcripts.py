"""Losses of climbs, exactly: every outcome of two looks at neighbouring margins, in forty digits.

An outcome claims a loss for each group: the level at which it stopped. The log ratio of its probabilities must not
exceed the claim, and must reach it, or the claim would be too high. Mutants fail the same check.
"""

import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from transcript_law import ROUNDING, claims_hold, everything, exactly, largest_losses, law, only_the_bit

from thresher.amounts import Epsilon
from thresher.decisions.adaptive_ladder import Rungs, adaptive_ladder_of, explore, most_secret
from thresher.decisions.ladder import Climb, Ladder, Level, climb

# Below at v < -4 and v < -2, above at v >= 4 and v >= 2.
TWO_LOOKS = Ladder((Level(Epsilon("0.3"), 4, 4), Level(Epsilon("1"), 2, 2)), scale=1, clear=5)
FINER = Ladder((Level(Epsilon("0.6"), 2, 2), Level(Epsilon("1.5"), 1, 1)), scale=1, clear=3)
HALVES = replace(TWO_LOOKS, scale=2)
# Two groups, and the second of five levels depends on what was seen of both: see the test of the choice below.
CHOOSING = replace(
    adaptive_ladder_of(Fraction(3, 10), Fraction(3, 10), 0, 1, 2, Epsilon("0.6")), fine=5, best_effort=True
)


def climbed(ladder, margins):
    return lambda: climb(np.array(margins, dtype=np.int64), ladder)


def explored(ladder, margins):
    return lambda: explore(np.array(margins, dtype=np.int64), ladder)


@pytest.fixture
def law_of(monkeypatch):
    return lambda mechanism, *reaches, shown=everything: law(mechanism, reaches, monkeypatch, shown)


@pytest.mark.parametrize("ladder", [TWO_LOOKS, HALVES], ids=["two looks", "half steps"])
@pytest.mark.parametrize("margin", [-7, -3, 0, 5])
def test_a_group_loses_the_level_where_it_stops_and_no_more(ladder, margin, law_of):
    here = law_of(climbed(ladder, [margin]), 14, 10)
    there = law_of(climbed(ladder, [margin + ladder.scale]), 14, 10)
    losses = largest_losses(here, there, 0)
    assert set(losses) == {level.epsilon for level in ladder.levels}
    for claimed, loss in losses.items():
        assert abs(loss - exactly(claimed)) < ROUNDING


def test_the_walk_misses_nothing(law_of):
    """All probabilities add up to one, but for noise beyond the reach."""
    total = sum(law_of(climbed(TWO_LOOKS, [0]), 60, 30).values())
    assert 1 - 1e-7 < total < 1


def test_with_only_the_bit_shown_the_first_level_is_not_what_is_lost(law_of):
    """Stopped at 0.3, but whoever sees only who is reported learns up to 0.854, because it might have been 1.0."""
    laws = {margin: law_of(climbed(TWO_LOOKS, [margin]), 50, 30, shown=only_the_bit) for margin in (-4, -3, -2, -1)}
    losses = {margin: float(abs_log(laws[margin], laws[margin + 1], (True,))) for margin in (-4, -3, -2)}
    assert max(losses.values()) == losses[-3] == pytest.approx(0.8535, abs=5e-5)
    assert losses[-3] > 0.3
    assert losses[-3] <= 1


def abs_log(here, there, outcome):
    ratio = here[outcome] / there[outcome]
    return abs(ratio.context.log(ratio))


def second_level(seen):
    class Way:
        losses = ((CHOOSING.coarse[0], 0),)

    Way.seen = np.array(seen)
    return most_secret(Way, Rungs(CHOOSING.coarse[0], CHOOSING.coarse[1:]), CHOOSING).level.epsilon


def test_the_second_level_is_chosen_by_what_was_seen_of_both_groups():
    assert second_level([0, 0]) != second_level([0, 1])
    assert second_level([0, 0]) != second_level([1, 0])


def test_a_chosen_level_costs_each_group_where_it_stopped(law_of):
    """Group 0 moves by a unit; what is shown of both groups claims its own level, whichever was chosen."""
    here, there = (law_of(explored(CHOOSING, [margin, 0]), 3, 1) for margin in (0, 1))
    losses = largest_losses(here, there, 0)
    assert len(losses) >= 3, "the first level, and two that were chosen"
    for claimed, loss in losses.items():
        assert abs(loss - exactly(claimed)) < ROUNDING
    other = largest_losses(here, there, 1)
    assert any(loss > exactly(claimed) + ROUNDING for claimed, loss in other.items()), "not the other group's level"


class LooksAgain(Climb):
    """Looks at decided groups as well, and goes on charging them for the first look."""

    def look(self, epsilon, steps, certain):
        verdict, stopped = self._verdict.copy(), self._stopped.copy()
        self.undecided = np.arange(verdict.size)
        if self.levels:
            self._noise = self._noisy - self._margins
        super().look(epsilon, steps, certain)
        decided = verdict != 0
        self._verdict[decided], self._stopped[decided] = verdict[decided], stopped[decided]
        self.undecided = np.flatnonzero(self._verdict == 0)


class TestMutants:
    """Each loses more than it claims, and the same check says so."""

    def test_fresh_noise_at_the_second_look_loses_the_sum(self, monkeypatch):
        here, there = (law(climbed(TWO_LOOKS, [margin]), (14, 10), monkeypatch, fresh=True) for margin in (5, 6))
        assert not claims_hold(here, there, 0)
        assert abs(largest_losses(here, there, 0)[Epsilon("1")] - exactly(Epsilon("1.3"))) < ROUNDING

    def test_a_decided_group_that_is_looked_at_again(self, law_of, monkeypatch):
        here, there = (law_of(climbed(FINER, [margin, 0]), 5, 2) for margin in (2, 3))
        assert claims_hold(here, there, 0)
        monkeypatch.setattr(sys.modules["thresher.decisions.ladder"], "Climb", LooksAgain)
        here, there = (law_of(climbed(FINER, [margin, 0]), 5, 2) for margin in (2, 3))
        assert not claims_hold(here, there, 0)
        # 1.5, up to what noise beyond the reach adds to the hidden first look.
        assert largest_losses(here, there, 0)[Epsilon("0.6")] == pytest.approx(1.5, abs=0.03)
