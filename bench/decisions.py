"""Time to decide: one look beside unsafe numpy, climbs, and how the cost grows with the groups; all in one run.

Half width 10, miss rate 0.05, false-alarm rate 0.10. "at the line" is the worst case: every group meets its condition
by nothing to spare, so climbs look at nearly all of them to the end. "typical" margins are normal, of deviation 3,000.
Cold runs are the first in a fresh process: they search for prices and build tables. Aims are printed, never asserted.
Reads: the clock. Writes: standard output. Never: a number measured in another run.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Epsilon
from thresher.decisions.adaptive_ladder import adaptive_ladder_of
from thresher.decisions.aim import Aim
from thresher.decisions.ladder import ladder_of, rungs_of
from thresher.decisions.look import Look
from thresher.decisions.margin import TrueMargins
from thresher.decisions.shift import Shift, shift_look, zone_look
from thresher.decisions.verdicts import Verdicts

MILLION = 1_000_000
SIZES = (1_000, 10_000, 100_000, MILLION)
KINDS = ("at the line", "typical")
HALF_WIDTH = 10
ENOUGH_SECONDS = 0.5
MECHANISMS: dict[str, Callable[[Aim], Look]] = {
    "tslm": shift_look,
    "tslm-zone": zone_look,
    "ppwlm": lambda aim: rungs_of(aim, ladder_of),
    "dppwlm": lambda aim: rungs_of(aim, adaptive_ladder_of),
}


def seconds(run: Callable[[], object]) -> float:
    """The best of several runs, after one to warm up."""
    run()
    best, deadline = float("inf"), time.perf_counter() + ENOUGH_SECONDS
    while time.perf_counter() < deadline:
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def look_of(mechanism: str, first: str | None = None) -> Look:
    first_epsilon = None if first is None else Epsilon(first)
    return MECHANISMS[mechanism](Aim(Fraction(1, 20), Fraction(1, 10), ((HALF_WIDTH, 1),), first_epsilon=first_epsilon))


def decided(margins: NDArray[np.int64], look: Look) -> Verdicts:
    return look.decide(TrueMargins.of(margins))


def margins_of(kind: str, groups: int) -> NDArray[np.int64]:
    if kind == "at the line":
        return np.zeros(groups, dtype=np.int64)
    return np.rint(np.random.default_rng(1).normal(0, 3000, groups)).astype(np.int64)


def unsafe(margins: NDArray[np.int64], shift: Shift, generator: np.random.Generator) -> NDArray[np.int8]:
    """The same look with float noise, which leaks: a limit of speed only."""
    noisy = margins + generator.laplace(0, 1 / float(shift.epsilon), margins.size)
    reported, certain = noisy >= -shift.steps, noisy >= shift.certain
    return reported.view(np.int8) + certain.view(np.int8) - np.int8(1)


def cold(mechanism: str, kind: str, groups: int, first: str) -> float:
    """Seconds of pricing and deciding in a process that has only imported."""
    command = [sys.executable, __file__, mechanism, kind, str(groups), first]
    return min(float(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(3))


def first_decision(mechanism: str, kind: str, groups: str, first: str) -> None:
    margins = margins_of(kind, int(groups))
    start = time.perf_counter()
    decided(margins, look_of(mechanism, first or None))
    print(time.perf_counter() - start)


def one_look() -> None:
    generator = np.random.default_rng()
    print(f"one look at {MILLION:,} groups, ms; numpy adds float Laplace noise and compares (ratio aimed at: 2)")
    print(f"{'':12}{'':12}{'cold':>8}{'warm':>8}{'numpy':>8}{'ratio':>8}")
    for mechanism in ("tslm", "tslm-zone"):
        shift = look_of(mechanism)
        if not isinstance(shift, Shift):
            raise TypeError(mechanism)
        for kind in KINDS:
            margins, started = margins_of(kind, MILLION), cold(mechanism, kind, MILLION, "")
            ours = seconds(partial(decided, margins, shift))
            theirs = seconds(partial(unsafe, margins, shift, generator))
            row = f"{mechanism:12}{kind:12}{1e3 * started:8.1f}{1e3 * ours:8.1f}{1e3 * theirs:8.1f}"
            print(f"{row}{ours / theirs:7.2f}x", flush=True)


def climbs() -> None:
    print("\nclimbs of 4 levels, ms (aim: at most 1,000)")
    print(f"{'':8}{'first epsilon':>14}{'groups':>12}  {'':12}{'cold':>8}{'warm':>8}")
    for mechanism, groups in (("ppwlm", MILLION), ("dppwlm", 10_000)):
        for first in ("", "0.00001"):
            look = look_of(mechanism, first or None)
            for kind in KINDS:
                started = cold(mechanism, kind, groups, first)
                warm = seconds(partial(decided, margins_of(kind, groups), look))
                row = f"{mechanism:8}{first or 'default':>14}{groups:>12,}  {kind:12}"
                print(f"{row}{1e3 * started:8.1f}{1e3 * warm:8.1f}", flush=True)


def growth() -> None:
    """Level numbers mean linear growth; small sizes bear what a decision costs whatever the number of groups."""
    print("\nnanoseconds for each group, warm, by the number of groups")
    print(f"{'':12}{'':12}" + "".join(f"{groups:>12,}" for groups in SIZES))
    for mechanism in MECHANISMS:
        look = look_of(mechanism)
        for kind in KINDS:
            times = [seconds(partial(decided, margins_of(kind, groups), look)) / groups for groups in SIZES]
            print(f"{mechanism:12}{kind:12}" + "".join(f"{1e9 * each:12.1f}" for each in times), flush=True)


if __name__ == "__main__":
    if sys.argv[1:]:
        first_decision(*sys.argv[1:])
    else:
        one_look()
        climbs()
        growth()
