"""Running streams on trial: events taken in, steps charged in a real ledger, records handed out.

One stream of many pairs of states is many independent looks. On one side a unit more was in both states of each pair,
in one step: what a unit may do at most, and what the ledger charges for a step.
Reads: made-up events. Writes: a ledger in a folder that is thrown away. Never: an installation of anybody's.
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
# How many units are in each state of a pair at each step; and at which step there is one more in both.
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
        max_states_per_unit=2,
        late_steps=0,
        mechanism=mechanism,
        theta=5,
        smoother="none",
    )


def released(stream: StreamDeclaration, day: Day, runs: int, entropy: Entropy, most: int = 2) -> NDArray[np.int64]:
    """All that is drawn for a pair of states in all steps; `most` states of a unit are counted."""
    shown: list[NDArray[np.int64]] = []
    while len(shown) * _PAIRS < runs:
        with tempfile.TemporaryDirectory() as folder, _opened(Path(folder), stream, entropy) as running:
            shown.append(_told(running, day, most))
    return np.concatenate(shown)[:runs]


def _told(running: RunningStream, day: Day, most: int) -> NDArray[np.int64]:
    plan, (counts, more_at) = running.plan, day
    buffer = StepBuffer(plan.states, plan.clock, late_steps=0, max_states=most)
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
    """What the ledger says is lost after all steps, by its own account. Few states do: the charge knows no count."""
    stream = replace(declared(mechanism), states=("state0", "state1"))
    with tempfile.TemporaryDirectory() as folder, _opened(Path(folder), stream, SeededEntropy(0)) as running:
        for step in range(_STEPS):
            running.put_counts(step, np.array([1, 1]))
        return running.balance().spent
