"""What the engine adds: a repeated question from the store, a cold start of `thresher ask`, a plan.

Times are medians of one run on this machine; the targets are printed beside them, never asserted.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import thresher
from thresher.demo import QUESTION, build

REGION = "COUNT(*)=60, AVG(age)=1"


def median_seconds(act: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        act()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def main() -> None:
    print("The engine on the demo's hospital (110,000 patients, 60 diseases), medians")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hospital = build(folder)
        with thresher.open(hospital.declarations) as engine:
            first = median_seconds(lambda: engine.decide(QUESTION, uncertain_region=REGION), 1)
            again = median_seconds(lambda: engine.decide(QUESTION, uncertain_region=REGION), 200)
            plan = median_seconds(lambda: engine.plan(QUESTION, uncertain_region=REGION), 200)
        print(f"  first answer in a process    {1000 * first:8.1f} ms")
        print(f"  repeated, from the store     {1000 * again:8.2f} ms   (aim: at most 5)")
        print(f"  planned again                {1000 * plan:8.2f} ms")
        command = [sys.executable, "-m", "thresher", "ask", QUESTION, "--uncertain-region", REGION, "--yes", "--json"]

        def cold() -> None:
            key = ["--key", str(time.perf_counter_ns()), "--max-epsilon", "1"]
            subprocess.run([*command, *key], cwd=folder, check=True, capture_output=True)

        text = hospital.declarations.read_text().replace('budget = "0.1"', 'budget = "100"')
        hospital.declarations.write_text(text)
        print(f"  `thresher ask`, cold start   {1000 * median_seconds(cold, 7):8.1f} ms   (aim: at most 1500)")
        bare = median_seconds(lambda: subprocess.run([sys.executable, "-c", "import numpy, duckdb"], check=True), 7)
        print(f"  of which Python, numpy and DuckDB alone {1000 * bare:.1f} ms")


if __name__ == "__main__":
    main()
