"""What the engine adds in a process that goes on: a repeated question from the store, and a plan.

Times are medians of one run on this machine; the targets are printed beside them, never asserted.
"""

import statistics
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


if __name__ == "__main__":
    main()
