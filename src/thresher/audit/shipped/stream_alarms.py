"""Plain streams on trial: counts with noise, windows of a tree, and the promises of every alarm at its worst case.

Reads: made-up counts. Writes: nothing. Never: protected data.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.subjects import Pair, Promised, Sampled, Subject
from thresher.noise import Entropy
from thresher.streams.alarm_lines import alarm, tree_alarm
from thresher.streams.alarms import CROSSED, QUIET, Alarm, Kind
from thresher.streams.perturber import perturb
from thresher.streams.tree_windows import TreeWindows

_EPSILON = Epsilon(1)
_MISS_RATE, _ALARM_RATE = Fraction(1, 20), Fraction(1, 10)
_LENGTH = 4
_SUMS: tuple[Literal["low", "high"], ...] = ("low", "high")
_DIFFERENCES: tuple[Kind, ...] = ("jump", "drop", "change")
_RUNS = 100_000


@dataclass(frozen=True, slots=True)
class Watched:
    """An alarm and the counts whose last step is the worst that it promises something about."""

    alarm: Alarm
    counts: tuple[int, ...]


def subjects() -> tuple[Subject, ...]:
    quiet = (3, 0, 2, 5, 1, 0, 0, 2)
    pairs = tuple(
        Pair(f"one unit more at step {step} of 8", quiet, tuple(c + (t == step) for t, c in enumerate(quiet)))
        for step in (0, 3, 6)
    )
    return (
        Sampled("perturb", "eight noisy counts", _EPSILON, pairs[1:2], _perturbed, _RUNS),
        Sampled("TreeWindows", "windows of 4 at eight steps", _EPSILON, pairs, _windows, _RUNS),
        *(_promised(name, misses=misses) for name in ("sums", "differences", "tree") for misses in (True, False)),
    )


def _perturbed(counts: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    return perturb(side_by_side(counts, runs), _EPSILON, entropy).T


def _windows(counts: tuple[int, ...], runs: int, entropy: Entropy) -> NDArray[np.int64]:
    return TreeWindows(runs, _LENGTH, _EPSILON, entropy).steps(side_by_side(counts, runs)).T


def _promised(name: str, *, misses: bool) -> Promised:
    """Every series is a run by itself; what the last step says is right or an error."""
    erred, rate = (QUIET, _MISS_RATE) if misses else (CROSSED, _ALARM_RATE)

    def run(watched: Watched, runs: int, entropy: Entropy) -> NDArray[np.bool_]:
        counts = side_by_side(watched.counts, runs)
        if watched.alarm.summed:
            shown = TreeWindows(runs, watched.alarm.window, watched.alarm.epsilon, entropy).steps(counts)
        else:
            shown = perturb(counts, watched.alarm.epsilon, entropy)
        return np.asarray(watched.alarm.crossed(shown)[-1] == erred)

    about = "the event holds by nothing" if misses else "the first value beyond the zone"
    side = "misses" if misses else "false alarms"
    return Promised(f"alarm over {name}, {side}", about, rate, tuple(_worst(name, misses=misses)), run, _RUNS)


def _worst(name: str, *, misses: bool) -> list[tuple[str, Watched]]:
    if name == "tree":
        return [
            (kind, _at_worst(tree_alarm(kind, 90, _LENGTH, 1, _MISS_RATE, _ALARM_RATE), misses=misses))
            for kind in _SUMS
        ]
    kinds: tuple[Kind, ...]
    kinds, windows = (_SUMS, (1, 12)) if name == "sums" else (_DIFFERENCES, (3,))
    return [
        (f"{kind}, window {window}", _at_worst(alarm(kind, 90, window, 1, _MISS_RATE, _ALARM_RATE), misses=misses))
        for kind in kinds
        for window in windows
    ]


def _at_worst(placed: Alarm, *, misses: bool) -> Watched:
    """The true value next to the end of what is promised, and counts that have it at their last step."""
    values = np.arange(-200, 400)
    promised = values[placed.true(values) if misses else placed.safe(values)]
    value = int(promised[np.abs(promised - (-90 if placed.kind == "drop" else 90)).argmin()])
    if placed.differs:
        return Watched(placed, (100,) + (0,) * (placed.window - 1) + (100 + value,))
    each, more = divmod(value, placed.window)
    # A tree has the most noises at an odd place, after a first block.
    before = (50,) * (placed.window + 1) if placed.summed else ()
    return Watched(placed, (*before, *(each,) * (placed.window - 1), each + more))


def side_by_side(counts: tuple[int, ...], runs: int) -> NDArray[np.int64]:
    """The same steps in so many series."""
    return np.repeat(np.array(counts, dtype=np.int64)[:, None], runs, axis=1)
