"""Adaptive looks: reference values, every path of several ladders, the law behind the choice; and slips in print."""

import math
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from printed_adaptive import literal_shares, printed_adaptive, printed_undecided
from transcript_law import EXACT, exactly, kernel, mass

from thresher.amounts import Epsilon
from thresher.decisions.adaptive_ladder import (
    Rungs,
    adaptive_ladder_of,
    explore,
    most_secret,
    steps_ahead,
    undecided_chance,
)
from thresher.decisions.ladder import Level, level_of
from thresher.decisions.shift import priced_shift
from thresher.noise import conditional_shift, refined_tail, smallest_epsilon

# So many steps to a unit that integer noise meets continuous reference values.
UNIT = 10**6
BETA = Fraction(1, 20)
TENTH = Fraction(1, 10)


def ladders(**options):
    asked = [
        (BETA, TENTH, 1, 1, 4, "0.01"),
        (BETA, BETA, 10, 1, 4, "0.001"),
        (TENTH, Fraction(1, 1000), 10, 1, 3, "0.1"),
        (Fraction(1, 100), TENTH, 40, 16, 5, "0.05"),
        (Fraction(49, 100), Fraction(1, 5), 3, 1, 3, "0.05"),
        (BETA, BETA, 10, 1, 5, "0.3"),
        (BETA, BETA, 3, 1, 2, "0.5"),
    ]
    for *terms, first in asked:
        yield replace(adaptive_ladder_of(*terms, Epsilon(first)), **options)


def walked(ladder):
    """Every state that can be reached, with the share taken so far, and every step that is offered there."""
    waiting, seen = [(Rungs(ladder.coarse[0], ladder.coarse[1:]), 1)], set()
    while waiting:
        state = waiting.pop()
        if state in seen or not state[0].ahead:
            continue
        seen.add(state)
        rungs, spent = state
        for step in steps_ahead(rungs, ladder):
            yield rungs, spent, step
            waiting.append((step.then, spent + step.taken))


EITHER = pytest.mark.parametrize("best_effort", [False, True], ids=["strict", "best effort"])


class TestReferenceValues:
    def test_the_default_last_level(self):
        """beta = .05, half width 1, four levels from 1e-5: 3.754691, which is 1.78 % above fixed levels."""
        ladder = adaptive_ladder_of(BETA, BETA, UNIT - 1, UNIT, 4, Epsilon("0.00001"))
        assert float(ladder.epsilon) == pytest.approx(3.754691, abs=5e-6)
        fixed = smallest_epsilon(BETA / 4, UNIT, UNIT)
        assert float(ladder.epsilon) / float(fixed) == pytest.approx(1.0178, abs=5e-5)

    @pytest.mark.parametrize(
        ("reached", "following", "reference"), [(0.3, 0.8, 0.447491), (0.5, 0.5, 0.502804), (0.3, 0.5, 0.4046)]
    )
    def test_equation_twelve(self, reached, following, reference):
        assert printed_undecided(1.2, reached, following, 2.5) == pytest.approx(reference, abs=4e-5)

    def test_the_law_of_a_refined_value_is_another(self):
        scale = 10**4
        level = Level(Epsilon("0.5"), 5 * scale // 2, 5 * scale // 2)
        (stays,) = undecided_chance(np.array([12 * scale // 10]), level, Epsilon("0.3"), scale)
        assert stays == pytest.approx(0.6779, abs=1e-4)
        assert stays - printed_undecided(1.2, 0.3, 0.5, 2.5) > 0.27


@pytest.mark.parametrize("seen", [-9, -3, 0, 2, 7])
def test_the_chance_to_stay_undecided_is_that_of_gradual_release(seen):
    """Against the kernel, summed over every margin that could have been seen so, all as likely beforehand."""
    before, after = Epsilon("0.4"), Epsilon("1.1")
    level = Level(after, 4, 3)
    summed = sum(
        mass(before, 1, seen - margin) * kernel(before, after, 1, seen - margin, value - margin)
        for margin in range(seen - 60, seen + 61)
        for value in range(-level.steps, level.certain)
    )
    (guess,) = undecided_chance(np.array([seen]), level, before, 1)
    assert guess == pytest.approx(float(summed), abs=1e-9)
    assert exactly(before) * EXACT.mpf(5) == 2


@EITHER
class TestEveryPath:
    def test_shares_never_add_up_to_more_than_the_miss_rate(self, best_effort):
        for ladder in ladders(best_effort=best_effort):
            ends = [spent + step.taken for _, spent, step in walked(ladder) if not step.then.ahead]
            assert set(ends) == {len(ladder.coarse)}, "nor to less"

    def test_levels_rise_and_none_is_above_the_reserved_one(self, best_effort):
        for ladder in ladders(best_effort=best_effort):
            for rungs, _, step in walked(ladder):
                assert rungs.reached < step.level.epsilon <= step.end <= ladder.epsilon

    def test_a_step_lies_in_the_last_interval_it_takes(self, best_effort):
        for ladder in ladders(best_effort=best_effort):
            for rungs, _, step in walked(ladder):
                path = (rungs.reached, *rungs.ahead)
                assert step.then == Rungs(step.level.epsilon, rungs.ahead[step.taken :])
                assert step.then.ahead == ladder.coarse[len(ladder.coarse) - len(step.then.ahead) :]
                if best_effort or step.then.ahead:
                    assert path[step.taken - 1] <= step.level.epsilon <= path[step.taken]

    def test_every_look_keeps_its_shares_whatever_was_seen(self, best_effort):
        for ladder in ladders(best_effort=best_effort):
            assert shares_kept(ladder)

    def test_shifts_of_each_level_alone_do_not(self, best_effort, monkeypatch):
        """The printed calibration, by the same check."""
        module = sys.modules["thresher.decisions.adaptive_ladder"]
        monkeypatch.setattr(module, "level_of", lambda _, *share: level_of(None, *share))
        steps_ahead.cache_clear()
        broken = [not shares_kept(ladder) for ladder in ladders(best_effort=best_effort)]
        steps_ahead.cache_clear()
        assert all(broken)


def shares_kept(ladder):
    """Whether the worst history misses, and alarms, with no more than its share at every look that is offered."""
    for rungs, _, step in walked(ladder):
        for reach, share in zip((step.level.steps, step.level.certain), ladder.shares(step.taken), strict=True):
            worst = refined_tail(-reach - 1, reach + 1, rungs.reached, step.level.epsilon, ladder.scale)
            if worst.low > share:
                return False
    return True


def last_looks(ladder):
    return [(rungs, step) for rungs, _, step in walked(ladder) if not step.then.ahead]


def test_strict_keeps_the_half_width_on_every_path():
    for ladder in ladders(best_effort=False):
        assert max(step.level.steps for _, step in last_looks(ladder)) <= ladder.steps


def test_strict_ends_no_dearer_than_the_half_width_needs():
    """With all the misses that are left, a nano less would not keep it."""
    for ladder in ladders(best_effort=False):
        for rungs, step in last_looks(ladder):
            less = Epsilon.from_nano(step.level.epsilon.nano - 1)
            assert conditional_shift(rungs.reached, less, ladder.shares(step.taken)[0], ladder.scale) > ladder.steps + 1


def test_best_effort_does_not():
    for ladder in ladders(best_effort=True):
        assert max(step.level.steps for _, step in last_looks(ladder)) > ladder.steps


def test_the_reserved_level_is_needed_and_no_more():
    """Some path of the strict ladder ends within a hundredth of it; one coarse level before it is not enough."""
    for ladder in ladders(best_effort=False):
        ends = max(step.level.epsilon for _, step in last_looks(ladder))
        assert ladder.epsilon.fraction * Fraction(9, 10) < ends.fraction <= ladder.epsilon.fraction
        share = ladder.shares(1)[0]
        less = Epsilon.from_nano(ladder.epsilon.nano - 1)
        assert conditional_shift(ladder.coarse[-2], less, share, ladder.scale) > ladder.steps + 1


@pytest.mark.parametrize("alarms", ["0.1", "0.05", "0.049999", "0.04", "0.001", "0.0000000001"])
@pytest.mark.parametrize("misses", ["0.05", "0.25", "0.499"])
def test_the_clear_distance_covers_every_last_look(misses, alarms):
    ladder = adaptive_ladder_of(Fraction(misses), Fraction(alarms), 6, 1, 3, Epsilon("0.02"))
    for rungs, step in last_looks(ladder):
        alarmed = ladder.shares(step.taken)[1]
        needed = conditional_shift(rungs.reached, step.level.epsilon, alarmed, ladder.scale)
        assert ladder.steps + needed <= ladder.clear


def test_rates_just_below_one_half_have_a_clear_distance():
    """The bound is then far, but it is a number."""
    rate = Fraction(1, 2) - Fraction(1, 10**17)
    for looks in (1, 3):
        assert adaptive_ladder_of(rate, TENTH, 10, 1, looks, Epsilon("0.001")).clear > 20


@pytest.mark.parametrize(("looks", "first"), [(1, "0.001"), (4, "5"), (4, smallest_epsilon(BETA / 4, 11))])
def test_one_look_is_a_threshold_shift(looks, first):
    ladder, shift = adaptive_ladder_of(BETA, TENTH, 10, 1, looks, Epsilon(first)), priced_shift(BETA, TENTH, [(10, 1)])
    assert (ladder.coarse, ladder.clear) == ((shift.epsilon,), shift.clear)


@pytest.mark.parametrize("looks", [2, 32])
def test_first_levels_at_the_edges(looks):
    """A nano-epsilon, and a nano less than what would make it one look."""
    for first in (Epsilon("0.000000001"), smallest_epsilon(BETA / looks, 11) - Epsilon("0.000000001")):
        ladder = adaptive_ladder_of(BETA, TENTH, 10, 1, looks, first)
        assert ladder.coarse[0] == first
        assert list(ladder.coarse) == sorted(set(ladder.coarse))
        offers = steps_ahead(Rungs(ladder.coarse[0], ladder.coarse[1:]), ladder)
        assert offers[-1].level.epsilon <= ladder.epsilon


class Way:
    """What the choice looks at."""

    def __init__(self, losses, seen):
        self.losses, self.seen = losses, np.array(seen)


def test_of_equals_the_cheapest_is_taken():
    """One group has no min-entropy to keep, so all steps are equal."""
    for ladder in (*ladders(), *ladders(best_effort=True)):
        rungs = Rungs(ladder.coarse[0], ladder.coarse[1:])
        step = most_secret(Way([(ladder.coarse[0], 0)], [0]), rungs, ladder)
        assert step == steps_ahead(rungs, ladder)[0]
        assert step.level.epsilon == min(offer.level.epsilon for offer in steps_ahead(rungs, ladder))


def test_far_groups_are_settled_early_and_near_ones_late(entropy):
    ladder = adaptive_ladder_of(BETA, BETA, 10, 1, 4, Epsilon("0.001"))
    margins = np.array([10**7, -(10**7), 0] * 5)
    seen = explore(margins, ladder, entropy)
    assert seen.stopped.tolist()[0::3] == seen.stopped.tolist()[1::3] == [0] * 5
    assert min(seen.stopped.tolist()[2::3]) > 0
    assert seen.verdict.tolist()[0::3] == [1] * 5
    assert seen.verdict.tolist()[1::3] == [-1] * 5


@pytest.mark.parametrize("groups", [1, 2, 50])
def test_runs_keep_what_the_paths_promise(groups, entropy, trials):
    """Strict ends within the half width where a group stays uncertain, best effort says what it reached."""
    ladder = adaptive_ladder_of(BETA, TENTH, 5, 1, 4, Epsilon("0.01"))
    for _ in range(trials(10, 200)):
        margins = np.arange(groups) - groups // 2
        strict = explore(margins, ladder, entropy)
        loose = explore(margins, replace(ladder, best_effort=True), entropy)
        for seen in (strict, loose):
            assert list(seen.levels) == sorted(seen.levels)
            assert seen.loss <= seen.levels[-1] <= seen.worst == ladder.epsilon
            assert seen.epsilons == tuple(seen.levels[at] for at in seen.stopped.tolist())
        if (strict.verdict == 0).any():
            assert strict.half_width <= ladder.half_width
        if (loose.verdict == 0).any():
            assert loose.half_width == max(loose.steps[loose.verdict == 0])


class TestPrint:
    """Slips of the printed algorithm, shown on small cases."""

    def test_the_loop_runs_once_too_often(self):
        assert sum(literal_shares(4, (3,))) == sum(literal_shares(4, (1, 2))) == 1.25
        assert sum(literal_shares(2, (1,))) == 1.5

    def test_it_ends_with_a_wider_region_than_was_asked_for(self):
        margins = np.array([-40.0, -3, 0, 2, 500] * 20)
        ended = printed_adaptive(margins, 0.05, 1, 1e-5, 4, np.random.default_rng(1))
        assert ended.half_width > 2
        assert ended.losses.max() < math.log(4 / 0.1)
        assert sum(ended.shares) <= 1
