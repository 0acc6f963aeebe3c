"""Try running streams: events in, steps charged in a real ledger, records out.

One stream with many pairs of states gives many independent runs. One input has a unit more in both states of each pair,
in one step: that is the most that a unit may do, and what the ledger charges for a step.
Reads: made-up events. Writes: a ledger in a temporary folder. Never: a real installation.
"""

import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.audit.subjects import Pair, Sampled, Subject
from thresher.config import Declarations, StreamDeclaration
from thresher.live.open_stream import open_stream
from thresher.live.running_stream import RunningStream
from thresher.noise import Entropy, SeededEntropy
from thresher.streams.step_buffer import StepBuffer

_PAIRS, _STEPS, _SAMPLES = 2_000, 3, 8_000
_START = datetime(2026, 1, 1, tzinfo=UTC)
_SECONDS = 300
# In how many states a unit counts.
_MOST_STATES = 2
# How many units are in each state of a pair at each step, and the step with one more in both (None: no step).
Day = tuple[tuple[int, ...], int | None]


def subjects() -> tuple[Subject, ...]:
    pairs = (Pair("a unit more in two states of the second step", ((1, 0, 1), 1), ((1, 0, 1), None)),)
    told = {"laplace": "events to records, charged by the ledger", "pegasus": "the same, with groups of steps"}
    return tuple(
        Sampled(f"running stream, {name}", about, _charged(name), pairs, partial(released, declared(name)), _SAMPLES)
        for name, about in told.items()
    )


def declared(mechanism: str) -> StreamDeclaration:
    return StreamDeclaration(
        "campus",
        _START,
        _SECONDS,
        Epsilon(1),
        Epsilon(1),
        states=tuple(f"state{n}" for n in range(2 * _PAIRS)),
        max_states_per_unit=_MOST_STATES,
        late_steps=0,
        mechanism=mechanism,
        theta=5,
        smoother="none",
    )


def released(stream: StreamDeclaration, day: Day, runs: int, entropy: Entropy) -> NDArray[np.int64]:
    """Return all that is released about each pair of states in all steps."""
    shown: list[NDArray[np.int64]] = []
    while len(shown) * _PAIRS < runs:
        with tempfile.TemporaryDirectory() as folder, _opened(Path(folder), stream, entropy) as running:
            shown.append(_told(running, day))
    return np.concatenate(shown)[:runs]


def _told(running: RunningStream, day: Day) -> NDArray[np.int64]:
    plan, (counts, more_at) = running.plan, day
    buffer = StepBuffer(plan.states, plan.clock, late_steps=0, max_states=_MOST_STATES)
    columns = []
    for step in range(_STEPS):
        at = plan.clock.began(step)
        for place, state in enumerate(plan.states):
            for other in range(counts[step]):
                buffer.offer(f"unit {place} {other}", state, at)
            if step == more_at:
                buffer.offer(f"one more {place // 2}", state, at)
        drawn = running.put(step, buffer.close(step)).drawn
        if drawn is not None:
            columns += [drawn.noisy] if drawn.marks is None else [drawn.noisy, drawn.marks.astype(np.int64)]
    return np.stack(columns, axis=1).reshape(_PAIRS, -1)


def _opened(folder: Path, stream: StreamDeclaration, entropy: Entropy) -> RunningStream:
    declarations = Declarations("", f"sqlite:///{folder}/ledger.db", {}, streams={stream.name: stream}, folder=folder)
    return open_stream(declarations, stream.name, entropy=entropy)


def _charged(mechanism: str) -> Epsilon:
    """Return what the ledger has charged after all steps. Two states are enough for that."""
    stream = replace(declared(mechanism), states=("state0", "state1"))
    with tempfile.TemporaryDirectory() as folder, _opened(Path(folder), stream, SeededEntropy(0)) as running:
        for step in range(_STEPS):
            running.put_counts(step, np.array([1, 1]))
        return running.balance().spent
