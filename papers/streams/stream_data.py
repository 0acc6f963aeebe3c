"""Make streams of the dissertation's sizes: three loads of one access point, and 128 access points.

Steps have five minutes; counts are Poisson around a daily and weekly rate that varies at random. They must be the same
as in our reference simulation, so they are made by the same calls to numpy's generator. They are data, not noise: a
test checks that no release can reach this file.
Reads: nothing. Writes: nothing. Never: noise.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
DAY, WEEK = 288, 2016
# The logarithm of the rate's variation: the share that stays from one step to the next, and its random change.
_STAYS, _MOVES = 0.98, 0.1
_POWER = -1.1
STEPS, MANY_STEPS = 57_901, 20_000


class Load(NamedTuple):
    """A stream of the dissertation's Table 5.1: its total there, and the seed of ours."""

    total: int
    seed: int


LOADS: Mapping[str, Load] = MappingProxyType(
    {"Low": Load(2_846, 21), "Med": Load(101_843, 22), "High": Load(2_141_963, 23)}
)
MANY, MANY_TOTAL, MANY_SEED = 128, 646_254, 6


@dataclass(frozen=True, slots=True, eq=False)
class StreamSet:
    """Counts of one or more series, step by series, and what they are called; `about` says where they are from."""

    name: str
    counts: Counts
    series: tuple[str, ...]
    about: str = ""


def first(data: StreamSet, steps: int) -> StreamSet:
    """Return the first steps of a set."""
    return replace(data, counts=data.counts[:steps])


def busiest(data: StreamSet) -> StreamSet:
    """Return a set's series with the largest total."""
    place = int(data.counts.sum(axis=0).argmax())
    return replace(data, counts=data.counts[:, place : place + 1], series=data.series[place : place + 1])


def loads(steps: int = STEPS) -> StreamSet:
    """Return the three loads side by side, or their first steps."""
    counts = np.stack([wifi(STEPS, total, seed) for total, seed in LOADS.values()], axis=1)
    return StreamSet("access points", counts[:steps], tuple(LOADS), "made up: connections in 5 minutes")


def campus(steps: int = MANY_STEPS) -> StreamSet:
    """Return 128 access points, busy and quiet ones in random order, or their first steps."""
    names = tuple(f"ap{i:03}" for i in range(MANY))
    return StreamSet(
        "campus", multi(MANY_STEPS, MANY, MANY_TOTAL, MANY_SEED).T[:steps], names, "made up: 128 access points"
    )


def wifi(steps: int, total: float, seed: int) -> Counts:
    """Return the counts of one access point, whose expected counts add up to `total`."""
    generator = np.random.default_rng(seed)
    moves = generator.normal(0, _MOVES, steps)
    wander = np.array(list(accumulate(moves[1:].tolist(), lambda last, move: _STAYS * last + move, initial=0.0)))
    rate = _week(steps) * np.exp(wander)
    return np.asarray(generator.poisson(rate * (total / rate.sum())), dtype=np.int64)


def multi(steps: int, streams: int, total: float, seed: int) -> Counts:
    """Return many access points (stream by step); their shares of the total fall as a power of a random rank."""
    shares = np.arange(1, streams + 1) ** _POWER
    shares = (shares / shares.sum())[np.random.default_rng(seed).permutation(streams)]
    return np.stack([wifi(steps, total * shares[i], 1000 + seed * 1000 + i) for i in range(streams)])


def _week(steps: int) -> NDArray[np.float64]:
    """Return the rate: busy from 8 to 22 with a peak at 15, almost 0 at night, three tenths of it at weekends."""
    step = np.arange(steps)
    hour, weekday = (step % DAY) / 12.0, (step // DAY) % 7
    open_now = (hour >= 8) & (hour <= 22)
    busy = np.where(open_now, np.clip(np.sin(np.pi * (hour - 8) / 14), 0, None) ** 1.5, 0.0) + 0.01
    return np.asarray(busy * np.where(weekday >= 5, 0.3, 1.0))
