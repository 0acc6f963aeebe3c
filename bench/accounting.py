"""Speed of the accounting room, in one run: min-entropy beside the paper's recursion, and composition beside its size.

Times are the best of several runs; ratios are of times taken in the same process.
Run: python bench/accounting.py
"""

import runpy
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from thresher.accounting import Region, RegionLosses, account_loss, box_min_entropy, safe_sum
from thresher.amounts import Epsilon

_RECURSION = Path(__file__).parents[1] / "tests" / "accounting" / "paper_recursion.py"
_GROUPS = 10**6
_LEVELS = {
    "16 levels, 1e-5 to 4, geometric": np.geomspace(1e-5, 4, 16),
    "16 levels, 0.25 to 4, even": np.linspace(0.25, 4, 16),
    "16 levels, 0.5 to 0.52, near": np.linspace(0.5, 0.52, 16),
}


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """The best of several runs."""
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best


def million_groups() -> None:
    order = np.random.default_rng(1).permutation(_GROUPS)
    print(f"Min-entropy of {_GROUPS:,} groups")
    for name, levels in _LEVELS.items():
        losses = np.resize(levels, _GROUPS)[order]
        least, taken = box_min_entropy(losses), seconds(lambda x=losses: box_min_entropy(x))  # type: ignore[misc]
        gap = "exact" if least.exact else f"gap {least.high - least.low:.1e} nats"
        print(f"  {name:32} {taken * 1e3:7.1f} ms   {least.normalised_low:.6f}  {gap}")


def beside_the_paper(k: int = 18) -> None:
    recursion = runpy.run_path(str(_RECURSION))["paper_min_entropy"]
    losses = np.random.default_rng(2).uniform(0.1, 3, k).tolist()
    theirs, ours = seconds(lambda: recursion(losses), 1), seconds(lambda: box_min_entropy(losses))
    difference = abs(recursion(losses) - box_min_entropy(losses).low)
    print(f"Algorithm 5 of the paper, k = {k}, all losses distinct: {theirs:.2f} s; ours: {ours * 1e3:.3f} ms")
    print(f"  ratio {theirs / ours:,.0f}, results differ by {difference:.0e} nats")


def account(releases: int = 200, buildings: int = 50, diseases: int = 20) -> None:
    rng, columns = np.random.default_rng(3), ("building", "disease")
    keys = [(f"b{i}", f"d{j}") for i in range(buildings) for j in range(diseases)]
    entries = []
    for _ in range(releases):
        amounts = rng.choice([10**6, 5 * 10**6, 10**8], len(keys)).tolist()
        pairs = tuple((key, Epsilon.from_nano(nano)) for key, nano in zip(keys, amounts, strict=True))
        entries.append(RegionLosses(Region.everything(), columns, pairs))
    for i in range(releases):
        where = Region.where([("age", ">=", i % 60), ("age", "<", i % 60 + 20), ("building", "=", f"b{i % buildings}")])
        entries.append(RegionLosses.of_region(where, Epsilon("0.5")))
    total, safe = account_loss(entries), safe_sum(entries)
    taken = seconds(lambda: account_loss(entries), 3)
    print(f"Account of {len(entries)} releases, {releases * len(keys):,} groups: {taken * 1e3:.0f} ms")
    print(f"  loss {total}, sum of the largest {safe}: {float(total.loss) / float(safe):.2f} of it")


if __name__ == "__main__":
    million_groups()
    beside_the_paper()
    account()
