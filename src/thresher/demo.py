"""The main idea on made-up data: state the error you can live with, get its price, decide, pay that and no more.

Reads: a table of wards written below. Writes: nothing.
Never: real data. The truth is shown beside the answer only because nobody lives here.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from thresher.amounts import Amount, Epsilon, exact_fraction
from thresher.errors import ArgumentError
from thresher.noise import Bracket, Entropy, SystemEntropy, discrete_laplace, refine, smallest_epsilon, tail

TRIALS = 1_000_000
_REACH = 4


@dataclass(frozen=True, slots=True)
class Ward:
    """A group with a public capacity and a private number of patients."""

    name: str
    capacity: int
    patients: int


WARDS = (
    Ward("cardiology", 120, 163),
    Ward("children", 90, 41),
    Ward("dialysis", 40, 38),
    Ward("emergency", 150, 231),
    Ward("eye", 30, 12),
    Ward("maternity", 80, 81),
    Ward("neurology", 110, 62),
    Ward("oncology", 140, 139),
    Ward("orthopaedics", 130, 95),
    Ward("psychiatry", 100, 128),
    Ward("stroke", 60, 74),
    Ward("surgery", 160, 110),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What is released about one ward, and, because this is a demonstration, the truth."""

    ward: Ward
    noisy: int
    over: bool


@dataclass(frozen=True, slots=True)
class Demonstration:
    """All that `thresher demo` shows."""

    miss_rate: Fraction
    half_width: int
    epsilon: Epsilon
    continuous_epsilon: float
    findings: tuple[Finding, ...]
    second_epsilon: Epsilon
    spreads: tuple[float, float]
    measured_miss_rate: float
    promised: Bracket
    shape: tuple[tuple[int, float, float], ...]
    stamp: str


def demonstrate(miss_rate: Amount, half_width: int, entropy: Entropy | None = None) -> Demonstration:
    """Price the question "which wards are over capacity?", decide it, and measure the promise at its worst case.

    Over means patients > capacity. A ward is reported when its noisy count exceeds capacity - half_width, so one that
    is over is missed only if the noise is -(half_width + 1) or less: `smallest_epsilon` makes that as rare as asked.
    By symmetry one that is two half widths below capacity, or more, is reported just as rarely.
    """
    source = SystemEntropy() if entropy is None else entropy
    rate = exact_fraction(miss_rate, "miss_rate")
    if rate >= Fraction(1, 2):
        raise ArgumentError("miss_rate", miss_rate, "half or more needs no data: report every ward", "Pass 0.05, say")
    if half_width < 1:
        raise ArgumentError("half_width", half_width, "it must be one patient or more", "Pass 10, say")
    epsilon = smallest_epsilon(miss_rate, half_width + 1)
    noise = discrete_laplace(epsilon, len(WARDS), entropy=source)
    findings = tuple(
        Finding(ward, ward.patients + int(x), ward.patients + int(x) > ward.capacity - half_width)
        for ward, x in zip(WARDS, noise, strict=True)
    )
    trial = discrete_laplace(epsilon, TRIALS, entropy=source)
    sharper = refine(trial, epsilon, 2 * epsilon, entropy=source)
    return Demonstration(
        miss_rate=rate,
        half_width=half_width,
        epsilon=epsilon,
        continuous_epsilon=math.log(1 / (2 * rate)) / half_width,
        findings=findings,
        second_epsilon=2 * epsilon,
        spreads=(float(np.abs(trial).mean()), float(np.abs(sharper).mean())),
        measured_miss_rate=float((trial <= -(half_width + 1)).mean()),
        promised=tail(epsilon, half_width + 1),
        shape=_shape(np.asarray(trial), epsilon),
        stamp=source.stamp,
    )


def _shape(trial: np.ndarray, epsilon: Epsilon) -> tuple[tuple[int, float, float], ...]:
    """Bands of noise: their first value, the share of draws in them, and the share the law says."""
    width = max(1, math.ceil(1 / float(epsilon) / 2))
    rows = []
    for first in range(-_REACH * width, _REACH * width + 1, width):
        expected = _at_least(epsilon, first) - _at_least(epsilon, first + width)
        rows.append((first, float(((trial >= first) & (trial < first + width)).mean()), expected))
    return tuple(rows)


def _at_least(epsilon: Epsilon, value: int) -> float:
    return tail(epsilon, value).high if value >= 0 else 1 - tail(epsilon, 1 - value).high
