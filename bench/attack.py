"""The reconstruction attack on a million cells, as multiples of sorting the same array in the same run.

Reads: the clock. Writes: standard output. Never: a number measured in another run.
Run: python bench/attack.py
"""

import time
from collections.abc import Callable

import numpy as np

from thresher.audit.attacks import Method, ordered_groups, reconstruct

_CELLS = 10**6
_FALLS = {"steep, few distinct counts": 3.0, "long tail": 1.3}


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """The best of several runs."""
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best


def million_cells() -> None:
    print(f"Reconstruction of {_CELLS:,} cells, epsilon 1: seconds, and as a multiple of numpy sorting them")
    for name, exponent in _FALLS.items():
        counts = np.minimum(np.random.default_rng(1).zipf(exponent, _CELLS) - 1, 10**9)
        sorting = seconds(lambda x=counts: np.sort(x))  # type: ignore[misc]
        works: dict[str, Callable[[], object]] = {
            "groups only": lambda x=counts: ordered_groups(x, 6),  # type: ignore[misc]
            "one way": lambda x=counts: reconstruct(x, 1),  # type: ignore[misc]
            "both ways": lambda x=counts: reconstruct(x, 1, method=Method(both_ways=True)),  # type: ignore[misc]
        }
        print(f"  {name}: {np.unique(counts).size:,} distinct counts, sorting {sorting * 1e3:.0f} ms")
        for work, run in works.items():
            taken = seconds(run)
            print(f"    {work:<12} {taken:6.3f} s {taken / sorting:6.1f}x", flush=True)


def noisy_answers(cells: int = 2048, passes: int = 10) -> None:
    counts = np.random.default_rng(1).zipf(2.0, cells) - 1
    taken = seconds(lambda: reconstruct(counts, 1, "0.5", Method(both_ways=True, passes=passes)), 2)
    speed = cells**2 * passes / taken / 1e6
    print(f"  noisy answers, {cells:,} cells, {passes} passes: {taken:.2f} s, {speed:.0f} million a second")


if __name__ == "__main__":
    million_cells()
    noisy_answers()
