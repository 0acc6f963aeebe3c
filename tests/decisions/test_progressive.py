"""Progressive looks at fixed levels: reference values, prices, and that a decided group keeps its level."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.amounts import Epsilon
from thresher.decisions.ladder import climb, geometric_levels, ladder_of
from thresher.decisions.shift import priced_shift
from thresher.noise import smallest_epsilon, tail

BETA, TENTH = Fraction(1, 20), Fraction(1, 10)
# As fine a grid as noise at 1e-5 allows.
GRID = 10**4


def test_the_levels_of_the_paper():
    """beta = .05, half width 1, four levels from 1e-5: a factor of 71.71855 between them."""
    fine = 10**6
    levels = geometric_levels(Epsilon("0.00001"), smallest_epsilon(BETA / 4, fine, fine), 4)
    assert [float(level) for level in levels] == pytest.approx([1e-5, 7.171855e-4, 0.0514355, 3.6888795], rel=2e-6)
    ladder = ladder_of(BETA, BETA, GRID - 1, GRID, 4, Epsilon("0.00001"))
    assert [float(level.epsilon) for level in ladder.levels] == pytest.approx(
        [1e-5, 7.171855e-4, 0.0514355, 3.6888795], rel=1e-4
    )


@pytest.mark.parametrize(
    ("looks", "share", "reference"), [(4, "0.0000027108", 0.0490), (4, "0.3", 0.0396), (8, "0.5", 0.0213)]
)
def test_misses_at_the_line_are_those_of_the_reference(looks, share, reference, entropy, trials):
    """Within 4.9 standard errors (1e-6) and the reference's own rounding and error."""
    last = smallest_epsilon(BETA / looks, GRID, GRID)
    first = Epsilon.from_nano(max(GRID, int(last.nano * Fraction(share))))
    count = trials(200_000, 2_000_000)
    seen = climb(np.zeros(count, np.int64), ladder_of(BETA, BETA, GRID - 1, GRID, looks, first), entropy)
    missed = (~seen.reported).mean()
    assert missed == pytest.approx(reference, abs=4.9 * math.sqrt(0.05 / count) + 0.0006)
    assert missed < 0.05


@pytest.mark.parametrize("looks", [2, 4, 8, 32])
@pytest.mark.parametrize(("steps", "scale", "first"), [(1, 1, "0.001"), (10, 1, "0.02"), (19, 10, "0.0001")])
def test_every_look_has_the_least_shift_that_keeps_its_share(looks, steps, scale, first):
    ladder = ladder_of(BETA, TENTH, steps, scale, looks, Epsilon(first))
    assert len(ladder.levels) == looks
    for level in ladder.levels:
        for reach, share in ((level.steps + 1, BETA / looks), (level.certain + 1, TENTH / looks)):
            assert tail(level.epsilon, reach, scale).low <= share
            assert reach == 1 or tail(level.epsilon, reach - 1, scale).high > share
    last = ladder.levels[-1]
    assert last.epsilon == smallest_epsilon(BETA / looks, steps + 1, scale)
    assert last.steps == steps
    assert ladder.clear == last.steps + last.certain + 1


@pytest.mark.parametrize(("looks", "first"), [(1, "0.001"), (4, "3"), (4, smallest_epsilon(BETA / 4, 11))])
def test_one_look_is_a_threshold_shift(looks, first):
    """Also where the first level is not below the last: it costs less than what was allowed for the first."""
    ladder, shift = ladder_of(BETA, TENTH, 10, 1, looks, Epsilon(first)), priced_shift(BETA, TENTH, [(10, 1)])
    (level,) = ladder.levels
    assert (level.epsilon, level.steps, level.certain) == (shift.epsilon, shift.steps, shift.certain)
    assert ladder.clear == shift.clear


@given(st.integers(1, 10**10), st.integers(1, 10**10), st.integers(2, 32))
def test_levels_rise_from_the_first_to_the_last(first, more, looks):
    levels = geometric_levels(Epsilon.from_nano(first), Epsilon.from_nano(first + more), looks)
    assert levels[0].nano == first
    assert levels[-1].nano == first + more
    assert all(low < high for low, high in pairwise(levels))
    assert 2 <= len(levels) <= looks


def test_levels_that_coincide_are_fewer_and_share_more():
    ladder = ladder_of(BETA, TENTH, 10**8, 1, 8, Epsilon("0.000000038"))
    assert 2 <= len(ladder.levels) < 8
    share = BETA / len(ladder.levels)
    assert all(tail(level.epsilon, level.steps + 1).low <= share for level in ladder.levels)
    assert ladder.levels[-1].steps <= 10**8


def test_decided_groups_keep_their_level(entropy):
    """A group's last noisy margin is the one that decided it, at the level it is charged for."""
    ladder = ladder_of(BETA, TENTH, 5, 1, 4, Epsilon("0.02"))
    seen = climb(np.random.default_rng(1).integers(-400, 400, 5000), ladder, entropy)
    assert set(seen.stopped.tolist()) == {0, 1, 2, 3}
    for place, level in enumerate(ladder.levels):
        here = seen.stopped == place
        noisy, verdict = np.asarray(seen.noisy)[here], seen.verdict[here]
        assert (seen.steps[here] == level.steps).all()
        assert (noisy[verdict < 0] < -level.steps).all()
        assert (noisy[verdict > 0] >= level.certain).all()
        between = (noisy >= -level.steps) & (noisy < level.certain)
        assert (between == (verdict == 0)).all()
        assert place == len(ladder.levels) - 1 or not between.any()
    assert seen.epsilons == tuple(ladder.levels[place].epsilon for place in seen.stopped.tolist())
    assert seen.loss == seen.worst == ladder.epsilon


def test_looking_stops_when_all_are_decided(entropy):
    ladder = ladder_of(BETA, TENTH, 5, 1, 4, Epsilon("0.02"))
    seen = climb(np.array([-(10**6), 10**6]), ladder, entropy)
    assert seen.levels == (Epsilon("0.02"),)
    assert seen.verdict.tolist() == [-1, 1]
    assert seen.loss == Epsilon("0.02") < seen.worst


def test_margins_are_left_as_they_were(entropy):
    margins = np.arange(-50, 50)
    climb(margins, ladder_of(BETA, TENTH, 5, 1, 4, Epsilon("0.02")), entropy)
    assert margins.tolist() == list(range(-50, 50))


def test_what_a_seed_made_is_marked(entropy):
    seen = climb(np.zeros(3, np.int64), ladder_of(BETA, TENTH, 5, 1, 4, Epsilon("0.02")), entropy)
    assert getattr(seen.noisy, "stamp", "") == entropy.stamp
