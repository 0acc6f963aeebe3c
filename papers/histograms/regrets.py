"""Measure the regret of histogram mechanisms: how much worse each is than the best, over data sets and epsilons.

Two errors: the mean absolute error of a cell, and that of a prefix, which is the sum over a box that begins at the
first cell. The best is the best of the private mechanisms; a mechanism that is not private is marked as leaking.
Reads: public or made-up histograms, entropy. Writes: nothing. Never: protected data; errors are counted against truth.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from papers.histograms.histogram_sets import HistogramSet
from thresher.errors import ArgumentError
from thresher.mechanisms.histograms import MECHANISMS, TWO_DIMENSIONS_ONLY, noisy_histogram
from thresher.noise import Entropy

# Counts, an epsilon as text, entropy: estimated counts.
Method = Callable[[NDArray[np.int64], str, Entropy], NDArray[np.float64]]
EPSILONS = ("0.01", "0.1", "1")
ERRORS = ("cells", "prefixes")
# Table 4.2 of the dissertation: residual plots of its own, similarity instead of these errors, three epsilons or more.
PRINTED = {"dawa": 1.00395, "ahp": 1.0756, "laplace": 1.108, "hb": 1.212, "ag": 1.215, "uniform": 5.238, "mwem": 5.258}
_MOST_RUNS = 10_000


@dataclass(frozen=True, slots=True)
class Measured:
    """One method on one data set at one epsilon: mean absolute errors over all runs."""

    data: str
    dimensions: int
    epsilon: str
    method: str
    leaks: bool
    cells: float
    prefixes: float

    def error(self, kind: str) -> float:
        return self.cells if kind == "cells" else self.prefixes


def measured(
    data: HistogramSet,
    runs: int,
    entropy: Entropy,
    leaking: Mapping[str, Method] | None = None,
    epsilons: Sequence[str] = EPSILONS,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Measured]:
    """Measure all mechanisms that accept such data, and the `leaking` ones, at each epsilon."""
    if not 1 <= runs <= _MOST_RUNS:
        raise ArgumentError("runs", runs, f"it must be from 1 to {_MOST_RUNS:,}", "Pass 3, say")
    found = []
    dimensions = data.counts.ndim
    methods = {name: (method, False) for name, method in _private(dimensions).items()}
    methods |= {name: (method, True) for name, method in (leaking or {}).items()}
    truth = data.counts, _prefixes(data.counts.astype(np.float64))
    for epsilon in epsilons:
        for name, (method, leaks) in methods.items():
            progress(f"{data.name}, epsilon {epsilon}, {name}")
            errors = np.mean([_errors(method(data.counts, epsilon, entropy), *truth) for _ in range(runs)], axis=0)
            found.append(Measured(data.name, dimensions, epsilon, name, leaks, float(errors[0]), float(errors[1])))
    return found


def regrets(found: Iterable[Measured], kind: str) -> dict[str, float]:
    """Return each method's error over the least error of a private method, averaged over data sets and epsilons.

    If the least error is 0, methods with the error 0 count 1; for others the setting is left out, because their regret
    is infinite.
    """
    settings: dict[tuple[str, str], list[Measured]] = {}
    for one in found:
        settings.setdefault((one.data, one.epsilon), []).append(one)
    ratios: dict[str, list[float]] = {}
    for together in settings.values():
        least = min(one.error(kind) for one in together if not one.leaks)
        for one in together:
            if least > 0 or one.error(kind) == 0:
                ratios.setdefault(one.method, []).append(one.error(kind) / least if least > 0 else 1.0)
    return {method: float(np.mean(values)) for method, values in ratios.items()}


def histogram_remarks(found: Sequence[Measured], leak: str, sisters: Sequence[str]) -> tuple[str, ...]:
    """Return remarks: which methods are best, and what `leak` gains over its private `sisters`."""
    remarks = [_best(found, dimensions) for dimensions in (1, 2) if any(one.dimensions == dimensions for one in found)]
    gains = [gain for sister in sisters for gain in _gains(found, leak, sister)]
    if gains:
        remarks.append(f"{leak} is not private, so its errors may be smaller for that reason alone. {' '.join(gains)}")
    return tuple(remarks)


def _best(found: Sequence[Measured], dimensions: int) -> str:
    mine = [one for one in found if one.dimensions == dimensions and not one.leaks]
    parts = []
    for kind in ERRORS:
        ranked = sorted((regret, method) for method, regret in regrets(mine, kind).items())
        (first, best), (last, worst) = ranked[0], ranked[-1]
        text = f"for {kind} {best} has the least average regret, {_said(first)}, and {worst} the largest, {_said(last)}"
        parts.append(text)
    return f"In {'one dimension' if dimensions == 1 else 'two dimensions'}, {'; '.join(parts)}."


def _gains(found: Sequence[Measured], leak: str, sister: str) -> list[str]:
    """Say what a leak gains: the ratio of its errors to those of a private version, over settings."""
    errors = {(one.data, one.epsilon, one.method): one for one in found}
    pairs = [(one, errors.get((one.data, one.epsilon, sister))) for one in found if one.method == leak]
    parts = []
    for kind in ERRORS:
        ratios = [ours.error(kind) / other.error(kind) for ours, other in pairs if other and other.error(kind) > 0]
        if ratios:
            mean = float(np.exp(np.mean(np.log(np.maximum(ratios, 1e-12)))))
            less = sum(ratio < 1 for ratio in ratios)
            parts.append(f"{mean:.3g} times as large for {kind} (smaller in {less} of {len(ratios)} settings)")
    return [f"Against {sister}, its error is {' and '.join(parts)}, in the geometric mean."] if parts else []


def _said(regret: float) -> str:
    return f"{regret:.3g}" if regret < 999.5 else f"{regret:,.0f}"


def _private(dimensions: int) -> dict[str, Method]:
    names = [name for name in MECHANISMS if dimensions > 1 or name not in TWO_DIMENSIONS_ONLY]

    def method(name: str) -> Method:
        return lambda counts, epsilon, entropy: noisy_histogram(counts, epsilon, name, entropy).counts

    return {name: method(name) for name in names}


def _errors(estimate: NDArray[np.float64], counts: NDArray[np.int64], sums: NDArray[np.float64]) -> tuple[float, float]:
    return float(np.abs(estimate - counts).mean()), float(np.abs(_prefixes(estimate) - sums).mean())


def _prefixes(values: NDArray[np.float64]) -> NDArray[np.float64]:
    for axis in range(values.ndim):
        values = np.cumsum(values, axis=axis)
    return values
