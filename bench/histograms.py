"""DAWA's partition of long lists, compiled and plain, against unsafe numpy noise of the same size, measured in one run.

numpy: float Laplace noise on every cell, rounded; fast and leaking, and here as a unit of time only.
Reads: the clock. Writes: standard output. Never: a number measured in another run.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thresher.mechanisms.compiled import compiler
from thresher.mechanisms.histograms.dawa import dawa
from thresher.mechanisms.histograms.partition_argmin import partition_by_argmin
from thresher.mechanisms.histograms.partition_law import partition_by_law

SIZES = (4_096, 1_000_000)
EPSILON = "0.1"
ENOUGH_SECONDS = 1.0
PLAIN = "plain"
STAGES: list[tuple[str, Callable[..., object]]] = [
    ("law", partition_by_law),
    ("argmin", partition_by_argmin),
    ("law, both stages", dawa),
]


def seconds(run: Callable[[], object]) -> float:
    """The best of several runs, the first of which warms up; a slow run is timed once."""
    deadline = time.perf_counter() + ENOUGH_SECONDS
    best = float("inf")
    while best == float("inf") or time.perf_counter() < deadline:
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def unsafe(generator: np.random.Generator, counts: NDArray[np.int64]) -> object:
    return np.rint(counts + generator.laplace(0, 10, counts.size)).astype(np.int64)


def partitions(mode: str) -> None:
    generator = np.random.default_rng(1)
    for size in SIZES:
        counts = generator.geometric(0.01, size)
        for _, run in STAGES:
            run(counts[: SIZES[0]], EPSILON)  # compiled and tables built before the clock starts
        unit = seconds(partial(unsafe, generator, counts))
        print(f"{mode}, {size:,} cells (numpy noise {unit * 1e3:.3f} ms)")
        for name, run in STAGES[: 2 if mode == PLAIN else 3]:  # plain loops over a million cells take a minute
            took = seconds(partial(run, counts, EPSILON))
            print(f"  {name:<18} {took * 1e3:>10.1f} ms {took / unit:>8.0f}x", flush=True)


def without_a_compiler() -> None:
    """The same in a process that cannot import one."""
    sys.modules["numba"] = None  # type: ignore[assignment]
    partitions(PLAIN)


if __name__ == "__main__":
    if sys.argv[1:] == [PLAIN]:
        without_a_compiler()
    else:
        print("DAWA: the partition by each law, and both stages; time, and multiples of numpy's noise")
        if compiler() is None:
            print("No compiler is installed (the `fast` extra); plain runs only.")
        else:
            partitions("compiled")
        subprocess.run([sys.executable, __file__, PLAIN], check=True)
