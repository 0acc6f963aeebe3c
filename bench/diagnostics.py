"""Diagnostics of a million rows: seconds, and as a ratio to the same picture without privacy, in one run.

Each diagnostic has a function of its own that gives its lines; `LINES` lists them. Aims are printed, never asserted.
Reads: the clock. Writes: standard output. Never: a number measured in another run.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from thresher.diagnostics.residual_plot import residual_plot

ROWS, SEED, EPSILON = 1_000_000, 20_261_116, "0.5"
ENOUGH_SECONDS = 2.0
MOST_SECONDS, MOST_TIMES = 3.0, 1.5


@dataclass(frozen=True, slots=True)
class Line:
    """A private picture and an ordinary one of the same rows."""

    name: str
    private: Callable[[], object]
    ordinary: Callable[[], object]


def seconds(run: Callable[[], object]) -> float:
    """The best of several runs, after one to warm up."""
    run()
    best, deadline = float("inf"), time.perf_counter() + ENOUGH_SECONDS
    while time.perf_counter() < deadline:
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def residual_lines() -> Iterator[Line]:
    """Against numpy's histogram of as many cells, whose range is that of the data."""
    draws = np.random.default_rng(SEED)
    fitted, residuals = draws.uniform(1, 50, ROWS), draws.normal(size=ROWS)
    bins = residual_plot(fitted, residuals, EPSILON).counts.shape[0]

    def ordinary() -> object:
        return np.histogram2d(residuals, fitted, bins)

    yield Line("residuals, laplace", lambda: residual_plot(fitted, residuals, EPSILON), ordinary)
    yield Line("residuals, rows public", lambda: residual_plot(fitted, residuals, EPSILON, rows=ROWS), ordinary)
    for name in ("hb", "ag", "dawa"):

        def private(name: str = name) -> object:
            return residual_plot(fitted, residuals, EPSILON, histogram=name)

        yield Line(f"residuals, {name}", private, ordinary)


LINES: tuple[Callable[[], Iterator[Line]], ...] = (residual_lines,)


def main() -> None:
    print(f"{ROWS:,} rows, seconds (aims: at most {MOST_SECONDS:g}, and {MOST_TIMES:g} times the ordinary picture)")
    print(f"{'':26}{'private':>10}{'ordinary':>10}{'times':>8}")
    for lines in LINES:
        for line in lines():
            private, ordinary = seconds(line.private), seconds(line.ordinary)
            print(f"{line.name:26}{private:10.3f}{ordinary:10.3f}{private / ordinary:8.2f}", flush=True)


if __name__ == "__main__":
    main()
