"""An alarm chosen by counts that were released: on old windows it breaks its rate, on those tested it keeps it."""

from datetime import UTC, datetime
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy import stats

from thresher.amounts import Epsilon
from thresher.config import AlarmDeclaration, StreamDeclaration
from thresher.noise import SeededEntropy
from thresher.streams.derived_values import Derivation
from thresher.streams.perturber import perturb
from thresher.streams.step_release import NoisyStep
from thresher.streams.stream_plan import plan_stream

SERIES, WINDOW, TRIALS = 100, 4, 600
RATE = Fraction(1, 10)
ACCIDENT = 1e-6
# So many rings and more have a probability of at most ACCIDENT, if every test rings with probability RATE or less.
MOST = int(stats.binom.isf(ACCIDENT, TRIALS, float(RATE))) + 1
NAMES = tuple(f"series {n}" for n in range(SERIES))
HIGH = 400


@cache
def planned(kind, threshold, series):
    watched = AlarmDeclaration("chosen", kind, series, threshold, WINDOW, RATE, RATE)
    return plan_stream(
        StreamDeclaration(
            "s",
            datetime(2026, 1, 1, tzinfo=UTC),
            60,
            Epsilon("0.1"),
            Epsilon(1),
            states=NAMES,
            smoother="none",
            alarms=(watched,),
        )
    )


def said_by(plan, since, noisy):
    """What the alarm says at each step, if it reads no step before `since`."""
    follower = Derivation(plan, [since])
    return [follower.follow(step, NoisyStep(row)).alarms[0].crossed for step, row in enumerate(noisy)]


@pytest.mark.parametrize("kind", ["high", "jump"])
def test_an_alarm_picked_by_the_counts_keeps_its_rate_where_it_is_tested(kind):
    """The counts stand still at the last value at which false alarms are bounded."""
    zone = planned(kind, HIGH, NAMES[0]).alarms[0].alarm.zone
    threshold, level = (HIGH, (HIGH - zone) // WINDOW) if kind == "high" else (zone + 1, 0)
    chosen_after, first = WINDOW, 2 * WINDOW - (kind == "high")
    rang_at_once = rang_when_tested = 0
    entropy = SeededEntropy(20260117)
    for _ in range(TRIALS):
        noisy = perturb(np.full((first + 1, SERIES), level), "0.1", entropy)
        seen = noisy[1:chosen_after].sum(axis=0) if kind == "high" else -noisy[0]
        plan = planned(kind, threshold, NAMES[int(np.argmax(seen))])
        early, late = said_by(plan, 0, noisy), said_by(plan, chosen_after, noisy)
        rang_at_once += bool(early[chosen_after])
        # Nothing is said before, and then the test is the same test.
        assert late[:first] == [None] * first
        assert late[first] == early[first]
        rang_when_tested += bool(late[first])
    assert rang_when_tested <= MOST, f"chance of failing by accident: {ACCIDENT}"
    # The power: had the alarm read what it was picked by, this test would have found out.
    assert rang_at_once > 2 * MOST
