"""Measure the dissertation's Tables 3.2 and 3.3 again: how much of a histogram each attack finds exactly.

Reads: made-up or public counts, entropy. Writes: nothing. Never: protected data. Nothing here is a release.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from thresher.amounts import Amount, exact_fraction
from thresher.audit.attacks.reconstruct import MOST_SMALL, Method, Reconstruction, finite, reconstruct
from thresher.audit.attacks.targets import Histogram
from thresher.noise import Entropy
from thresher.noise.arguments import checked_whole

MOST_RUNS = 10_000
# By dissertation's name and epsilon: Table 3.2 (all cells) and Table 3.3 (cells that count 0 to 5), means of 10 runs.
_PRINTED = {
    "Adult": {"1": (0.994, 0.999), "0.5": (0.991, 0.997), "0.1": (0.981, 0.992)},
    "MedicalCost": {"1": (0.985, 1.0), "0.5": (0.977, 1.0), "0.1": (0.949, 0.960)},
    "Income": {"1": (0.798, 1.0), "0.5": (0.741, 1.0), "0.1": (0.636, 0.979)},
    "HepPh": {"1": (0.904, 1.0), "0.5": (0.795, 1.0), "0.1": (0.477, 0.970)},
}


@dataclass(frozen=True, slots=True)
class Rate:
    """Hold a mean share of cells and its standard error."""

    mean: float
    error: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """Hold the shares that one attack found: of all cells, and of those that count 0 to 5 (None: there are none)."""

    attack: str
    about: str
    overall: Rate
    small: Rate | None


@dataclass(frozen=True, slots=True)
class AttackTable:
    """Hold all attacks on one histogram at one epsilon. `printed`: the dissertation's two numbers, if it has them."""

    data: str
    epsilon: str
    cells: int
    records: int
    small_cells: int
    unbroken: int
    runs: int
    printed: tuple[float, float] | None
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Attacked:
    """Say what is attacked and how often: epsilon, and the epsilon of each answer's noise (None: exact answers)."""

    epsilon: Amount
    second_epsilon: Amount | None = None
    runs: int = 100
    passes: int = 10

    def __post_init__(self) -> None:
        checked_whole(self.runs, "runs", 1, MOST_RUNS, "Pass 100, say")
        object.__setattr__(self, "second_epsilon", finite(self.second_epsilon))


_PRINTED_WAY = Method(decoder="rounding", printed_noise=True)
_ONE_WAY, _BOTH_WAYS = Method(), Method(both_ways=True)


def attack_table(
    data: Histogram, asked: Attacked, entropy: Entropy, progress: Callable[[str], None] = lambda _: None
) -> AttackTable:
    """Make each attack that applies on one histogram. Decoders are compared on the same answers."""
    printed = _PRINTED.get(data.printed or "", {}).get(_plain(asked.epsilon))
    if asked.second_epsilon is None:
        rows = _exact_answers(data, asked, entropy, progress)
    else:
        rows = _noisy_answers(data, asked, entropy, progress)
    small = int((data.counts <= MOST_SMALL).sum())
    facts = (data.counts.size, int(data.counts.sum()), small, data.unbroken)
    return AttackTable(data.name, _plain(asked.epsilon), *facts, asked.runs, printed, tuple(rows))


def _exact_answers(data: Histogram, asked: Attacked, entropy: Entropy, progress: Callable[[str], None]) -> list[Row]:
    rebuilt = _repeated(data, asked, _PRINTED_WAY, entropy, progress)
    rows = [_row("printed noise", "noise of scale 2/epsilon on totals; rounding", data, rebuilt)]
    rebuilt = _repeated(data, asked, _ONE_WAY, entropy, progress)
    rounded = [one.decoded("rounding") for one in rebuilt]
    rows.append(_row("rounding", "noise of scale 1/epsilon on totals; rounding", data, rounded))
    rows.append(_row("increasing", "the same answers; whole numbers that increase", data, rebuilt))
    rebuilt = _repeated(data, asked, _BOTH_WAYS, entropy, progress)
    rows.append(_row("both ways", "answers about (u,v) and (v,u), threshold 0", data, rebuilt))
    return rows


def _noisy_answers(data: Histogram, asked: Attacked, entropy: Entropy, progress: Callable[[str], None]) -> list[Row]:
    rebuilt = _repeated(data, asked, replace(_BOTH_WAYS, passes=asked.passes), entropy, progress)
    about = f"noisy answers, each asked {asked.passes} times"
    return [
        _row("rounding", f"{about}; rounding", data, [one.decoded("rounding") for one in rebuilt]),
        _row("increasing", f"{about}; whole numbers that increase", data, rebuilt),
    ]


def _repeated(
    data: Histogram, asked: Attacked, method: Method, entropy: Entropy, progress: Callable[[str], None]
) -> list[Reconstruction]:
    rebuilt = []
    for run in range(asked.runs):
        progress(f"{data.name}, epsilon {_plain(asked.epsilon)}, run {run + 1}")
        rebuilt.append(reconstruct(data.counts, asked.epsilon, asked.second_epsilon, method, entropy))
    return rebuilt


def _row(attack: str, about: str, data: Histogram, rebuilt: list[Reconstruction]) -> Row:
    successes = [one.success(data.counts) for one in rebuilt]
    small = [one.small for one in successes if one.small is not None]
    return Row(attack, about, _rate([one.overall for one in successes]), _rate(small) if small else None)


def _rate(shares: list[float]) -> Rate:
    error = float(np.std(shares, ddof=1)) / len(shares) ** 0.5 if len(shares) > 1 else None
    return Rate(float(np.mean(shares)), error)


def _plain(epsilon: Amount) -> str:
    """Write epsilon as the dissertation's tables do: 1, 0.5, 0.1."""
    return f"{float(exact_fraction(epsilon, 'epsilon')):g}"
