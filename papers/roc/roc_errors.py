"""Measure errors of private ROC curves at three epsilons: of the area, and of the curve.

Reads: public or made-up rows, entropy. Writes: nothing. Never: protected data; errors are counted against truth.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from papers.roc.curve_distance import symmetric_difference
from papers.roc.roc_sets import RocSet
from thresher.diagnostics.curves import Curve, auc_error, exact_curve, mann_whitney
from thresher.diagnostics.roc_curve import roc_curve
from thresher.diagnostics.scored_rows import ScoredRows
from thresher.diagnostics.smooth_auc import smooth_auc
from thresher.errors import ArgumentError
from thresher.noise import Entropy

EPSILONS = ("0.1", "0.5", "1")
ERRORS = ("area", "curve")
_MOST_RUNS = 100_000

# Rows, an epsilon as text, entropy: an area, or none, and a curve.
Method = Callable[[ScoredRows, str, Entropy], tuple[float | None, Curve]]


def _private_curve(thresholds: str = "medians", depth: int | None = None, histogram: str = "laplace") -> Method:
    def method(rows: ScoredRows, epsilon: str, entropy: Entropy) -> tuple[float | None, Curve]:
        found = roc_curve(
            rows.positive,
            rows.scores,
            epsilon,
            thresholds=thresholds,
            depth=depth,
            rows=rows.scores.size,
            histogram=histogram,
            entropy=entropy,
        )
        return found.auc, Curve(found.false_positive_rate, found.true_positive_rate)

    return method


def _smooth(rows: ScoredRows, epsilon: str, entropy: Entropy) -> tuple[float | None, Curve]:
    found = smooth_auc(rows.positive, rows.scores, epsilon, entropy=entropy)
    return found.auc, found.curve


MEDIANS, EIGHT_BINS, FIXED, SMOOTH, DAWA = "medians", "medians, 8 bins", "fixed", "smooth area", "medians, dawa"
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        MEDIANS: _private_curve(),
        EIGHT_BINS: _private_curve(depth=3),
        FIXED: _private_curve("fixed"),
        "fixed, 1024 bins": _private_curve("fixed", 10),
        DAWA: _private_curve(histogram="dawa"),
        SMOOTH: _smooth,
    }
)
# Our reference simulation, with continuous noise: mean errors at the three epsilons. Of the area on six fresh sets,
# eight runs each; of the curve on one set, 40 runs.
REFERENCE: Mapping[tuple[str, str, str], tuple[float, float, float]] = MappingProxyType(
    {
        ("TWITTER-like", EIGHT_BINS, "area"): (0.067, 0.0132, 0.0060),
        ("TWITTER-like", EIGHT_BINS, "curve"): (0.063, 0.018, 0.013),
        ("TWITTER-like", SMOOTH, "area"): (0.113, 0.024, 0.038),
        ("SMS-like", EIGHT_BINS, "area"): (0.109, 0.029, 0.017),
        ("SMS-like", EIGHT_BINS, "curve"): (0.101, 0.032, 0.023),
        ("SMS-like", SMOOTH, "area"): (0.197, 0.103, 0.041),
    }
)


@dataclass(frozen=True, slots=True)
class RocErrors:
    """One method on one set at one epsilon: mean errors over all runs, and in how many there was no area."""

    data: str
    epsilon: str
    method: str
    area: float
    curve: float
    undefined: int

    def error(self, kind: str) -> float:
        return self.area if kind == "area" else self.curve


@dataclass(frozen=True, slots=True)
class RocTruth:
    """The true numbers of a set, which are public."""

    data: str
    rows: int
    positives: int
    auc: float


def truth_of(data: RocSet) -> RocTruth:
    """Return the size of a set, its positives and its area."""
    positives = int(data.rows.positive.sum())
    return RocTruth(data.name, data.rows.scores.size, positives, float(mann_whitney(data.rows)))


def roc_errors(
    data: RocSet,
    runs: int,
    entropy: Entropy,
    epsilons: Sequence[str] = EPSILONS,
    progress: Callable[[str], None] = lambda _: None,
) -> list[RocErrors]:
    """Measure all methods on one set at each epsilon. An area that is undefined counts as one half."""
    if not 1 <= runs <= _MOST_RUNS:
        raise ArgumentError("runs", runs, f"it must be from 1 to {_MOST_RUNS:,}", "Pass 20, say")
    truth, area = exact_curve(data.rows).curve, float(mann_whitney(data.rows))
    found = []
    for epsilon in epsilons:
        for name, method in METHODS.items():
            progress(f"{data.name}, epsilon {epsilon}, {name}")
            given = [method(data.rows, epsilon, entropy) for _ in range(runs)]
            areas = float(np.mean([auc_error(auc, area) for auc, _ in given]))
            curves = float(np.mean([symmetric_difference(curve, truth) for _, curve in given]))
            found.append(RocErrors(data.name, epsilon, name, areas, curves, sum(auc is None for auc, _ in given)))
    return found


def roc_remarks(found: Sequence[RocErrors]) -> tuple[str, ...]:
    """Return remarks on what the dissertation says of its figures, counted in these numbers."""
    claims = (
        (MEDIANS, SMOOTH, "both ways of choosing thresholds err far less than a smooth area"),
        (FIXED, SMOOTH, "the same for fixed thresholds"),
        (MEDIANS, FIXED, "medians err less than fixed thresholds"),
        (DAWA, MEDIANS, "dawa is the best of the histograms (Table 4.4: Laplace errs 3.03 times as much)"),
    )
    remarks = [f"Printed: {text}. {_counted(found, one, other)}" for one, other, text in claims]
    return (*remarks, *_against_reference(found))


def _counted(found: Sequence[RocErrors], one: str, other: str) -> str:
    errors = {(each.data, each.epsilon, each.method): each for each in found}
    parts = []
    for kind in ERRORS:
        pairs = [
            (each.error(kind), errors[each.data, each.epsilon, other].error(kind))
            for each in found
            if each.method == one
        ]
        ratios = [mine / theirs for mine, theirs in pairs if theirs > 0 and mine > 0]
        mean = float(np.exp(np.mean(np.log(ratios)))) if ratios else float("nan")
        parts.append(
            f"{one} has the smaller error of the {kind} in {sum(a < b for a, b in pairs)} of {len(pairs)} settings,"
            f" {mean:.2f} times that of {other} in the geometric mean"
        )
    return f"Here {'; '.join(parts)}."


def _against_reference(found: Sequence[RocErrors]) -> tuple[str, ...]:
    ratios = [
        each.error(kind) / REFERENCE[each.data, each.method, kind][EPSILONS.index(each.epsilon)]
        for each in found
        for kind in ERRORS
        if (each.data, each.method, kind) in REFERENCE and each.epsilon in EPSILONS and each.method != SMOOTH
    ]
    if not ratios:
        return ()
    near = sum(1 / 2 <= ratio <= 2 for ratio in ratios)
    text = "made on other made-up sets of the same sizes; the smooth area has no mean, so it is not compared"
    return (f"{near} of {len(ratios)} errors lie within a factor of two of our reference simulation, {text}.",)
