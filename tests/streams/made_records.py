"""Records as a stream would make them."""

import numpy as np

from thresher.amounts import Epsilon
from thresher.streams.step_release import RELEASED, AlarmState, NoisyStep, StepRecord, WindowState

NAMES = ("gym", "library", "hall", "lab", "pool")


def record(step, counts, *, kind=RELEASED, rings=False, names=NAMES, stamp=""):
    """A record as a stream would make it, with one alarm, on the library."""
    at, epsilon = f"2026-03-02T{step // 12:02}:{step % 12 * 5:02}:00Z", Epsilon("0.1")
    if kind != RELEASED:
        return StepRecord("campus", step, at, kind, names, epsilon, note="said so")
    values = tuple(map(float, counts))
    windows = (WindowState(12, min(step + 1, 12), tuple(12 * value for value in values)),)
    alarms = (AlarmState("crowded", names[1], rings, None if step < 3 else rings),)
    drawn = NoisyStep(np.array(counts, dtype=np.int64))
    return StepRecord("campus", step, at, kind, names, epsilon, drawn, values, windows, alarms, stamp=stamp)


def day(steps=288, rings=range(100, 120), kinds=None):
    return [
        record(s, [s, 1000 if s in rings else 10, 0, -5, 7], kind=(kinds or {}).get(s, RELEASED), rings=s in rings)
        for s in range(steps)
    ]
