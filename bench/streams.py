"""Streams side by side: steps a second, compiled and plain, beside numpy's own noise, measured in one run.

numpy: float Laplace noise on every count and a running sum; fast and leaking, and here as a unit of time only.
laplace: exact noise and the adaptive smoother. pegasus: exact noise, groups, and the medians of groups.
Then what one step costs in ever longer groups, and how much a series keeps.
Reads: the clock. Writes: standard output. Never: a number measured in another run.
"""

import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thresher.mechanisms.compiled import compiler
from thresher.streams import AdaptiveSmoother
from thresher.streams.grouper import Grouper, grouper_terms
from thresher.streams.median_smoother import MedianSmoother
from thresher.streams.perturber import perturb
from thresher.streams.step_release import JOINS, OPENS

SHAPES = ((300_000, 1), (400, 1_000), (60, 10_000))
LENGTHS = (100, 1_000, 10_000, 100_000)
EPSILON, COUNTED, GROUPED = "0.1", "0.08", "0.02"
ENOUGH_SECONDS = 1.0
PLAIN = "plain"

Counts = NDArray[np.int64]
Release = Callable[[Counts], object]


def seconds(run: Callable[[], object]) -> float:
    """The best of several runs; a slow run is timed once."""
    deadline = time.perf_counter() + ENOUGH_SECONDS
    best = float("inf")
    while best == float("inf") or time.perf_counter() < deadline:
        best = min(best, once(run))
    return best


def unsafe(generator: np.random.Generator, counts: Counts) -> object:
    return np.cumsum(counts + generator.laplace(0, 10, counts.shape), axis=0)


def laplace(series: int) -> Release:
    smoother = AdaptiveSmoother(series, EPSILON)
    return lambda counts: smoother.steps(perturb(counts, EPSILON))


def pegasus(series: int) -> Release:
    grouper, smoother = Grouper(series, grouper_terms(GROUPED)), MedianSmoother(series)

    def release(counts: Counts) -> object:
        return smoother.steps(perturb(counts, COUNTED), grouper.steps(counts))

    return release


def warmed(make: Callable[[int], Release], counts: Counts) -> Release:
    """As it is in the middle of a stream: compiled, and its tables built."""
    release = make(counts.shape[1])
    release(counts)
    return release


def speeds(mode: str) -> None:
    generator = np.random.default_rng(1)
    for steps, series in SHAPES:
        counts = generator.poisson(0.2, (steps, series))
        unit = seconds(partial(unsafe, generator, counts))
        print(f"{mode}, {series:,} streams of {steps:,} steps (numpy {counts.size / unit:,.0f} a second)")
        for name, make in (("laplace, adaptive", laplace), ("pegasus, median", pegasus)):
            took = seconds(partial(warmed(make, counts), counts))
            print(f"  {name:<18} {counts.size / took:>12,.0f} a second {took / unit:>6.1f}x", flush=True)


def lengths(mode: str) -> None:
    """What the next steps cost when groups are already so long."""
    generator, series = np.random.default_rng(2), 100
    warm_up, more = (generator.poisson(0.2, (steps, series)) for steps in (4_000, 200))
    grouper, smoother = Grouper(series, grouper_terms(GROUPED, 10**9)), MedianSmoother(series)
    print(f"{mode}, {series} streams: a step of one of them by the length of their groups, nanoseconds")
    for length in LENGTHS:
        grouping = smoothing = float("inf")
        for _ in range(3):
            for counts in (warm_up, generator.poisson(0.2, (length - len(more), series)) if length > 200 else more[:1]):
                grouper.close()
                grouper.steps(counts)
                smoother.steps(perturb(counts, COUNTED), opened(counts))
            noisy, joins = perturb(more, COUNTED), np.full(more.shape, JOINS, dtype=np.int8)
            grouping = min(grouping, once(partial(grouper.steps, more)))
            smoothing = min(smoothing, once(partial(smoother.steps, noisy, joins)))
        each = (took / more.size * 1e9 for took in (grouping, smoothing))
        print("  {:>7,}  group {:>6.0f}  median {:>6.0f}".format(length, *each), flush=True)


def opened(counts: Counts) -> NDArray[np.int8]:
    """One group from the first step to the last."""
    marks = np.full(counts.shape, JOINS, dtype=np.int8)
    marks[0] = OPENS
    return marks


def once(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def memory(mode: str) -> None:
    series = 1_000
    counts = np.random.default_rng(3).poisson(0.2, (2_000, series))
    print(f"{mode}: bytes a stream keeps after {len(counts):,} steps")
    for name, make in (("laplace, adaptive", laplace), ("pegasus, median", pegasus)):
        warmed(make, counts)  # tables that all streams share, and compiled code, are not counted
        tracemalloc.start()
        release = warmed(make, counts)
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        print(f"  {name:<18} {held / series:>10,.0f}")
        del release


def everything(mode: str) -> None:
    speeds(mode)
    lengths(mode)
    memory(mode)


if __name__ == "__main__":
    if sys.argv[1:] == [PLAIN]:
        sys.modules["numba"] = None  # type: ignore[assignment]
        everything(PLAIN)
    else:
        print("Streams: steps a second over all of them, and multiples of numpy's time")
        if compiler() is None:
            print("No compiler is installed (the `fast` extra); plain runs only.")
        else:
            everything("compiled")
        subprocess.run([sys.executable, __file__, PLAIN], check=True)
