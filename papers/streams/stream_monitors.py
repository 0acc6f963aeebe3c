"""Measure how well private streams rank events (jumps and drops, and quiet hours), as areas below ROC curves.

An event is true if the count differs by `threshold` or more from that of `window` steps ago, or if the sum of the last
`window` counts is below the threshold. The score is the same function of the private stream. A guess has the area 0.5.
Reads: public or made-up streams, entropy. Writes: nothing. Never: protected data; areas are counted against truth.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from papers.streams.stream_counts import DENSE, LAPLACE, SPARSE, ZERO
from papers.streams.stream_data import Counts, StreamSet
from papers.streams.stream_draws import Trials, counts_epsilon, marks_of
from papers.streams.stream_windows import BY_GROUP, TREE, Values, sums_of, thetas_of
from thresher.diagnostics.curves import mann_whitney
from thresher.diagnostics.scored_rows import ScoredRows
from thresher.noise import Entropy
from thresher.streams import AdaptiveSmoother, MedianSmoother, TreeWindows, WindowSumSmoother, perturb

JUMP, LOW = "jump or drop", "low signal"
MEDIAN = "pegasus, median"
# Shares of steps that are events where no threshold is given: rare jumps, and a quiet third.
_RARE, _QUIET = 0.05, 1 / 3


@dataclass(frozen=True, slots=True)
class Event:
    """What is watched for. Without a threshold, the one that makes a fixed share of the true steps events."""

    kind: str
    window: int
    threshold: int | None = None


EVENTS = (Event(JUMP, 48, 100), Event(JUMP, 12, 50), Event(LOW, 64, 1000), Event(LOW, 256, 4000))
# On public streams, with thresholds by the shares.
SHARES = (Event(JUMP, 48), Event(LOW, 64))


@dataclass(frozen=True, slots=True)
class EventScore:
    """One method: the area, its spread over runs, and which share of steps truly are events."""

    data: str
    series: str
    epsilon: str
    event: str
    window: int
    threshold: int
    share: float
    method: str
    area: float
    spread: float


def event_scores(data: StreamSet, events: Sequence[Event], trials: Trials) -> list[EventScore]:
    """Measure all events on the busiest series of a set at each epsilon, but for those that never or always happen."""
    place = int(data.counts.sum(axis=0).argmax())
    true, found = data.counts[:, place : place + 1], []
    for event in [each for each in events if each.window < len(true)]:
        signal = signal_of(true, event.kind, event.window)[:, 0]
        threshold = _threshold(signal, event)
        happens = is_event(signal, event.kind, threshold)
        if not 0 < happens.mean() < 1:
            continue
        for epsilon in trials.epsilons:
            trials.progress(f"{data.name}, {event.kind} in {event.window} steps, epsilon {epsilon}")
            about = data.name, data.series[place], epsilon, event.kind, event.window, threshold, float(happens.mean())
            for method, signals in scores(trials.tiled(true), epsilon, event, trials.entropy):
                ranks = signals if event.kind == JUMP else -signals
                areas = [float(mann_whitney(ScoredRows(happens, column))) for column in ranks.T]
                (area,), (spread,) = trials.means(areas)
                found.append(EventScore(*about, method, area, spread))
    return found


def is_event(signal: Values, kind: str, threshold: int) -> NDArray[np.bool_]:
    return np.asarray(signal >= threshold if kind == JUMP else signal < threshold)


def signal_of(values: Counts | Values, kind: str, window: int) -> Values:
    """Return the numbers that are compared with the threshold, from the first step with a full window on."""
    if kind == LOW:
        return sums_of(values, window)
    return np.abs(np.subtract(values[window:], values[:-window], dtype=np.float64))


def scores(counts: Counts, epsilon: str, event: Event, entropy: Entropy) -> Iterator[tuple[str, Values]]:
    """Yield the signal by each method."""
    series, window = counts.shape[1], event.window
    plain = perturb(counts, epsilon, entropy=entropy)
    yield ZERO, signal_of(np.zeros(counts.shape), event.kind, window)
    yield LAPLACE, signal_of(plain, event.kind, window)
    for name, strictness in ((DENSE, 2.0), (SPARSE, 3.0)):
        yield name, signal_of(AdaptiveSmoother(series, epsilon, strictness).steps(plain), event.kind, window)
    noisy = perturb(counts, counts_epsilon(epsilon), entropy=entropy)
    marks = marks_of(counts, epsilon, int(thetas_of(counts)[0]), entropy)
    if event.kind == JUMP:
        yield MEDIAN, signal_of(MedianSmoother(series, len(counts)).steps(noisy, marks), event.kind, window)
        return
    yield BY_GROUP, WindowSumSmoother(series, window, len(counts)).steps(noisy, marks)[window - 1 :]
    tree = TreeWindows(series, window, epsilon, entropy=entropy).steps(counts)
    yield TREE, tree[window - 1 :].astype(np.float64)


def _threshold(signal: Values, event: Event) -> int:
    if event.threshold is not None:
        return event.threshold
    share = 1 - _RARE if event.kind == JUMP else _QUIET
    return max(int(np.ceil(np.quantile(signal, share))), 1)
