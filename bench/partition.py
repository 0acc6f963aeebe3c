"""Parts of least waste of many budgets that are all different, compiled and plain, and how the time grows.

Reads: the clock. Writes: standard output. Never: a number measured in another run.
"""

import subprocess
import sys
import time

import numpy as np

from thresher.mechanisms.compiled import compiler
from thresher.personal.partition import partition
from thresher.personal.precision_partition import precision_partition
from thresher.personal.roster import Roster

PARTS = 20
PLAIN = "plain"
SIZES = {"compiled": (10_000, 100_000, 1_000_000), PLAIN: (10_000, 100_000)}
GOALS = {("compiled", 1_000_000): 2.0, (PLAIN, 100_000): 1.0}


def seconds(roster: Roster, parts: int) -> float:
    """The best of three."""
    took = []
    for _ in range(3):
        start = time.perf_counter()
        partition(roster, parts)
        took.append(time.perf_counter() - start)
    return min(took)


def partitions(mode: str) -> None:
    generator = np.random.default_rng(7)
    partition(Roster.of(generator.uniform(0.01, 0.1, 100)), 3)  # compiled before the clock starts
    before = 0.0
    for size in SIZES[mode]:
        roster = Roster.of(generator.uniform(0.01, 0.1, size))
        took = seconds(roster, PARTS)
        growth = f", {took / before:.1f}x for 10x" if before else ""
        goal = f" (goal {GOALS[mode, size]:.0f} s)" if (mode, size) in GOALS else ""
        print(f"{mode:<9} {size:>9,} budgets, {roster.nano.size:>7,} levels: {took:7.3f} s{growth}{goal}", flush=True)
        before = took
    for parts in (5, 10, 20, 40):
        print(f"{mode:<9} {SIZES[mode][1]:>9,} budgets into {parts:>2} parts: ", end="")
        print(f"{seconds(Roster.of(generator.uniform(0.01, 0.1, SIZES[mode][1])), parts):7.3f} s", flush=True)


def precisions() -> None:
    roster = Roster.of(np.random.default_rng(7).uniform(0.01, 0.1, 100_000))
    start = time.perf_counter()
    found = precision_partition(roster)
    print(f"greatest precision, 100,000 budgets: {time.perf_counter() - start:.3f} s, {len(found.sizes)} parts chosen")


if __name__ == "__main__":
    if sys.argv[1:] == [PLAIN]:
        sys.modules["numba"] = None  # type: ignore[assignment]
        partitions(PLAIN)
    else:
        print(f"Parts of least waste, {PARTS} of them unless said otherwise")
        if compiler() is None:
            print("No compiler is installed (the `fast` extra); plain runs only.")
        else:
            partitions("compiled")
        subprocess.run([sys.executable, __file__, PLAIN], check=True)
        precisions()
