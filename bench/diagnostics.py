"""Diagnostics of a million rows: seconds, and as a ratio to the same picture without privacy, in one run.

Each diagnostic has a function of its own that gives its lines; `LINES` lists them. Aims are printed, never asserted.
Reads: the clock. Writes: standard output. Never: a number measured in another run.
"""

import atexit
import itertools
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

import thresher
from thresher.diagnostics.residual_plot import residual_plot

ROWS, SEED, EPSILON = 1_000_000, 20_261_116, "0.5"
ENOUGH_SECONDS = 2.0
MOST_SECONDS, MOST_TIMES = 3.0, 1.5

DECLARED = """
[source]
url = "memory://"
[tables.scored]
budget = "1000"
[tables.scored.columns]
label = { min = 0, max = 1 }
score = { min = 0, max = 1, step = 0.0001 }
actual = { min = -100, max = 200, step = 0.001 }
fitted = { min = -100, max = 200, step = 0.001 }
"""
# The same statistic without privacy: the AUC by ranks, means of equal bins, counts of cells.
ORDINARY = {
    "roc": """
SELECT sum(CASE WHEN label = 1 THEN place ELSE 0 END) FROM
(SELECT label, rank() OVER (ORDER BY score) AS place FROM scored)""",
    "binned": """
SELECT bin, count(*), avg(score), avg(label - score) FROM
(SELECT label, score, ntile(128) OVER (ORDER BY score) AS bin FROM scored) GROUP BY bin""",
    "residuals": """
SELECT floor((fitted - low) / (high - low) * 128), floor((actual - fitted + 5) / 10 * 128), count(*) FROM scored,
(SELECT min(fitted) AS low, max(fitted) AS high FROM scored) GROUP BY 1, 2""",
}


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


def arrow_lines() -> Iterator[Line]:
    """Through the engine, from an Arrow table, ledger and all; against DuckDB's own statement on the same table."""
    draws = np.random.default_rng(SEED)
    score, fitted = draws.beta(2, 2, ROWS), draws.uniform(1, 50, ROWS)
    columns = {"label": (draws.random(ROWS) < score).astype(np.int64), "score": score, "fitted": fitted}
    table = pa.table({**columns, "actual": fitted + draws.normal(size=ROWS)})
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "thresher.toml").write_text(DECLARED)
    engine = thresher.open(folder / "thresher.toml", tables={"scored": table})
    database = duckdb.connect()
    database.register("scored", table)
    keys = (f"{n}" for n in itertools.count())

    def asked(kind: str) -> Callable[[], object]:
        scored = kind != "residuals"
        return lambda: engine.diagnose(
            kind,
            table="scored",
            label="label" if scored else None,
            score="score" if scored else None,
            actual=None if scored else "actual",
            fitted=None if scored else "fitted",
            epsilon="0.001",
            key=next(keys),
        )

    def ordinary(kind: str) -> Callable[[], object]:
        return lambda: database.execute(ORDINARY[kind]).fetchall()

    for kind in ORDINARY:
        yield Line(f"{kind}, engine on Arrow", asked(kind), ordinary(kind))


LINES: tuple[Callable[[], Iterator[Line]], ...] = (residual_lines, arrow_lines)


def main() -> None:
    print(f"{ROWS:,} rows, seconds (aims: at most {MOST_SECONDS:g}, and {MOST_TIMES:g} times the ordinary picture)")
    print(f"{'':26}{'private':>10}{'ordinary':>10}{'times':>8}")
    for lines in LINES:
        for line in lines():
            private, ordinary = seconds(line.private), seconds(line.ordinary)
            print(f"{line.name:26}{private:10.3f}{ordinary:10.3f}{private / ordinary:8.2f}", flush=True)


if __name__ == "__main__":
    main()
