"""Draws per second of Thresher, OpenDP and numpy, measured in one run; ratios are what counts.

OpenDP: its Laplace mechanism on a vector of integers. numpy: float Laplace rounded to integers, fast and leaking.
Reads: the clock. Writes: standard output. Never: a number measured in another run.
"""

import importlib
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from thresher.noise import SystemEntropy, chain, discrete_laplace, refine
from thresher.noise.coins import laplace_one
from thresher.noise.draw_tables import DrawTable
from thresher.noise.laplace import COINS_PER_TABLE, Digit, digits_of

SIZES = (1_000, 100_000, 1_000_000)
SCALES = (Fraction(1, 2), Fraction(10), Fraction(10**6))
ENOUGH_SECONDS = 0.5


def seconds(run: Callable[[], object]) -> float:
    """The best of several runs, after one to warm up; a slow run is timed once."""
    start = time.perf_counter()
    run()
    best = time.perf_counter() - start
    deadline = time.perf_counter() + ENOUGH_SECONDS
    while time.perf_counter() < deadline and best < ENOUGH_SECONDS:
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def opendp_sampler() -> Callable[[float, int], Callable[[], object]] | None:
    try:
        prelude: Any = importlib.import_module("opendp.prelude")
    except ImportError as error:
        print(f"OpenDP is missing ({error}); its columns are left empty.\n")
        return None
    prelude.enable_features("contrib")

    def prepare(scale: float, size: int) -> Callable[[], object]:
        domain = prelude.vector_domain(prelude.atom_domain(T=int))
        mechanism = prelude.m.make_laplace(domain, prelude.l1_distance(T=int), scale)
        zeros = [0] * size
        return lambda: mechanism(zeros)

    return prepare


def rounded_floats(generator: np.random.Generator, scale: float, size: int) -> object:
    return np.rint(generator.laplace(0, scale, size)).astype(np.int64)


def draws() -> None:
    opendp, generator = opendp_sampler(), np.random.default_rng()
    print("discrete Laplace noise, million draws a second (ratio of Thresher to the other)")
    print("  runs are warm: Thresher's tables are built and cached before the clock starts")
    print("  OpenDP's time includes its conversion of a list of integers, there and back")
    print("  numpy draws floats and rounds them: such noise leaks, and is here as a limit of speed only")
    print(f"{'scale':>9} {'size':>9} {'Thresher':>10} {'OpenDP':>10} {'ratio':>8} {'numpy':>10} {'ratio':>7}")
    for scale in SCALES:
        for size in SIZES:
            ours = seconds(partial(discrete_laplace, 1 / scale, size))
            plain = seconds(partial(rounded_floats, generator, float(scale), size))
            row = f"{float(scale):>9g} {size:>9,} {size / ours / 1e6:>10.2f}"
            if opendp:
                theirs = seconds(opendp(float(scale), size))
                row += f" {size / theirs / 1e6:>10.3f} {theirs / ours:>7.0f}x"
            else:
                row += f" {'-':>10} {'-':>8}"
            print(f"{row} {size / plain / 1e6:>10.2f} {plain / ours:>6.2f}x", flush=True)


def gradual_release() -> None:
    size = 1_000_000
    noise = discrete_laplace("0.1", size)
    fresh = seconds(lambda: discrete_laplace("0.2", size))
    forward = seconds(lambda: refine(noise, "0.1", "0.2"))
    backward = seconds(lambda: chain(["0.1", "0.2"], size))
    print(f"\ngradual release, {size:,} values from 0.1 to 0.2, as multiples of one fresh draw")
    print(f"  refine {forward / fresh:.1f}x   chain of both levels {backward / fresh:.1f}x")


def build_tables(digits: Sequence[Digit]) -> object:
    return [DrawTable(digit) for digit in digits]


def coins_or_table() -> None:
    """Where the samplers of a few and of many draws meet: how many coin draws one new table costs."""
    print("\nset-up: coin draws in the time of building one scale's tables")
    for scale in SCALES:
        digits = digits_of(1 / scale, signed=True)
        build = seconds(partial(build_tables, digits))
        coin = seconds(partial(laplace_one, 1 / scale, SystemEntropy()))
        print(
            f"  scale {float(scale):g}: {len(digits)} tables, {build / coin:.0f} draws;"
            f" coins serve up to {COINS_PER_TABLE * len(digits)}"
        )


def import_times() -> None:
    """Wall time of a fresh interpreter that imports one module, over one that imports numpy."""

    def start(module: str) -> float:
        return min(
            seconds(lambda: subprocess.run([sys.executable, "-c", f"import {module}"], check=True)) for _ in range(2)
        )

    base = start("numpy")
    print(f"\nimport, seconds beyond numpy's {base:.2f}: thresher.noise {start('thresher.noise') - base:.3f}", end="")
    try:
        importlib.import_module("opendp")
    except ImportError:
        print()
    else:
        print(f", opendp.prelude {start('opendp.prelude') - base:.3f}")


if __name__ == "__main__":
    draws()
    gradual_release()
    coins_or_table()
    import_times()
