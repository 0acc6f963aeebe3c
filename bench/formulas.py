"""Formulas: what planning costs, and deciding with a certificate, cold and warm, and how it grows; all in one run.

Planning is of 12 conditions: the SQL read, prime implicants, the price of the decision. Deciding is beyond the scan:
margins are there. Miss rate 0.05, false-alarm rate 0.10, confidence 0.98, epsilon at most 5.
"occupancy" are made-up groups with three conditions that must all hold; "at the line" is the worst case: every group
meets its condition by nothing to spare, so the levels are climbed to the end. Cold runs are the first in a fresh
process. Aims are printed, never asserted.
Reads: the clock. Writes: standard output. Never: a number measured in another run.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from papers.probe.formulas import SHAPES, aim_of, margin
from papers.probe.outliers import occ_like
from thresher.config import read
from thresher.decisions import plan_decision
from thresher.decisions.decision_options import options_of
from thresher.decisions.margin import TrueMargins
from thresher.decisions.regimes import certified_look
from thresher.question.implicants import primes
from thresher.question.trees import numbered
from thresher.sql.read_question import ask

SIZES = (1_000, 10_000, 100_000)
KINDS = ("occupancy", "at the line")
ENOUGH_SECONDS = 0.5
RATE, OTHER_RATE = "0.05", "0.03"
DECLARED = """
[source]
url = "memory://"
[tables.t]
count_range = 1000
budget = "1000"
[tables.t.columns]
g = { min = 0, max = 999 }
x = { min = 0, max = 99 }
"""
CONDITIONS = [f"COUNT(*) FILTER (WHERE x > {8 * i}) > {100 - 5 * i}" for i in range(12)]


def joined(word: str, parts: list[str]) -> str:
    return "(" + f" {word} ".join(parts) + ")"


def halves(inner: str, outer: str, size: int) -> str:
    return joined(outer, [joined(inner, CONDITIONS[i : i + size]) for i in range(0, 12, size)])


# In the last one conditions occur several times: two of the first five, and all others.
PAIRS = [joined("AND", [one, other]) for i, one in enumerate(CONDITIONS[:5]) for other in CONDITIONS[i + 1 : 5]]
FORMULAS = {
    "all": joined("AND", CONDITIONS),
    "any": joined("OR", CONDITIONS),
    "any of 6 pairs": halves("AND", "OR", 2),
    "one of each 6 pairs": halves("OR", "AND", 2),
    "one of each 4 threes": halves("OR", "AND", 3),
    "two of 5, and 7": joined("AND", [joined("OR", PAIRS), *CONDITIONS[5:]]),
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


def cold(*arguments: str) -> list[float]:
    """Seconds that a process measured which has only imported: the best of three."""
    command = [sys.executable, __file__, *arguments]
    told = [subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() for _ in range(3)]
    return [min(map(float, each)) for each in zip(*told, strict=True)]


def first_plan(name: str) -> None:
    """Seconds to read the question, for prime implicants, and to plan."""
    declared, options = read(DECLARED, Path()), options_of({"uncertain_region": 10})
    times = [time.perf_counter()]
    question = ask(f"SELECT g FROM t GROUP BY g HAVING {FORMULAS[name]}", declared, {})
    times.append(time.perf_counter())
    if isinstance(question.formula, bool):
        raise TypeError(name)
    primes(numbered(question.formula)[0])
    times.append(time.perf_counter())
    plan_decision(question, options)
    times.append(time.perf_counter())
    print(*np.diff(times))


def margins_of(kind: str, groups: int) -> NDArray[np.int64]:
    if kind == "at the line":
        return np.zeros(groups, dtype=np.int64)
    return margin(SHAPES["AND3"], occ_like(301, groups).slacks)


def decision(margins: NDArray[np.int64], rate: str = RATE) -> object:
    return certified_look(aim_of(margins.size, Fraction(1000), Fraction(rate))).decide(TrueMargins.of(margins))


def first_decision(kind: str, groups: str, rate: str) -> None:
    margins = margins_of(kind, int(groups))
    start = time.perf_counter()
    decision(margins, rate)
    print(time.perf_counter() - start)


def planning() -> None:
    print("planning a formula of 12 conditions, ms, cold (aim: at most 200 for implicants and plan)")
    print(f"{'':22}{'SQL':>9}{'implicants':>12}{'plan':>9}{'together':>10}")
    for name in FORMULAS:
        sql, implicants, plan = (1e3 * each for each in cold(name))
        planned = f"{implicants:12.1f}{plan:9.1f}{implicants + plan:10.1f}"
        print(f"{name:22}{sql:9.1f}{planned}", flush=True)


def certified() -> None:
    print("\ncertified, ms beyond the scan (aims: at most 200 for 1,000 groups, 5,000 for 100,000)")
    print(f"{'':14}{'groups':>9}{'cold':>10}{'warm':>10}")
    for groups in (1_000, 100_000):
        for kind in KINDS:
            (started,) = cold(kind, str(groups), RATE)
            warm = seconds(partial(decision, margins_of(kind, groups)))
            print(f"{kind:14}{groups:>9,}{1e3 * started:10.1f}{1e3 * warm:10.1f}", flush=True)
    (started,) = cold("occupancy", "1000", OTHER_RATE)
    print(
        f"{'occupancy':14}{1000:>9,}{1e3 * started:10.1f}{'':10}  miss rate {OTHER_RATE}: tables that are not shipped"
    )


def growth() -> None:
    """Level numbers mean linear growth; more groups need fewer levels, and small sizes bear what is always paid."""
    print("\nmicroseconds for each group, warm, by the number of groups")
    print(f"{'':14}" + "".join(f"{groups:>10,}" for groups in SIZES))
    for kind in KINDS:
        times = [seconds(partial(decision, margins_of(kind, groups))) / groups for groups in SIZES]
        print(f"{kind:14}" + "".join(f"{1e6 * each:10.2f}" for each in times), flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case [name]:
            first_plan(name)
        case [kind, groups, rate]:
            first_decision(kind, groups, rate)
        case _:
            planning()
            certified()
            growth()
