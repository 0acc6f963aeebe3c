"""The main idea on made-up data: state the error you can live with, get its price, decide, check the promise.

Reads: a table of wards written below. Writes: nothing.
Never: real data. The truth is shown beside the answer only because nobody lives here.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction, whole_number
from thresher.errors import ArgumentError
from thresher.noise import Bracket, Entropy, SystemEntropy, discrete_laplace, refine, smallest_epsilon, tail

TRIALS = 1_000_000
_LARGEST_HALF_WIDTH = 1_000_000
_REACH = 3


@dataclass(frozen=True, slots=True)
class Ward:
    """A group with a public capacity and a private number of patients."""

    name: str
    capacity: int
    patients: int

    def standing(self, half_width: int) -> str:
        """Which promise covers this ward: "over", "well below", or "in between", where there is none."""
        if self.patients > self.capacity:
            return "over"
        return "in between" if self.patients > self.capacity - 2 * half_width else "well below"


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
    reported_above: int
    noisy: int
    reported: bool
    closer: int


@dataclass(frozen=True, slots=True)
class Band:
    """Noise from `low` to `high` (None: without end): the share of draws there, and the share the law says."""

    low: int | None
    high: int | None
    share: float
    exact: float


@dataclass(frozen=True, slots=True)
class Demonstration:
    """All that `thresher demo` shows. `miss_rate` is as it was typed: a promise is not rounded to be shown."""

    miss_rate: str
    half_width: int
    epsilon: Epsilon
    continuous_epsilon: float
    findings: tuple[Finding, ...]
    second_epsilon: Epsilon
    mean_errors: tuple[float, float]
    missed: int
    exact_miss_rate: Bracket
    bands: tuple[Band, ...]
    stamp: str


def demonstrate(miss_rate: Amount, half_width: int, entropy: Entropy | None = None) -> Demonstration:
    """Price the question "which wards are over capacity?", decide it, and measure the promise at its worst case.

    Over means patients > capacity. A ward is reported when its noisy count is above capacity - half_width, so one that
    is over is missed only if the noise is -(half_width + 1) or less: `smallest_epsilon` makes that as rare as asked.
    By symmetry one that is two half widths below capacity, or more, is reported just as rarely.
    """
    source = SystemEntropy() if entropy is None else entropy
    rate, width = _checked_wish(miss_rate, half_width)
    epsilon = smallest_epsilon(miss_rate, width + 1)
    # The wards and the trials are drawn in one go: a few refinements alone are slow where epsilon is tiny.
    first = discrete_laplace(epsilon, len(WARDS) + TRIALS, entropy=source)
    second = refine(first, epsilon, 2 * epsilon, entropy=source)
    noise, trial = np.split(np.asarray(first), [len(WARDS)])
    closer, sharper = np.split(np.asarray(second), [len(WARDS)])
    rows = zip(WARDS, noise.tolist(), closer.tolist(), strict=True)
    return Demonstration(
        miss_rate=str(miss_rate),
        half_width=width,
        epsilon=epsilon,
        # Real-valued noise does best with its line half_width + 1/2 away from the worst case of either promise.
        continuous_epsilon=math.log(1 / (2 * rate)) / (width + 0.5),
        findings=tuple(_finding(*row, width) for row in rows),
        second_epsilon=2 * epsilon,
        mean_errors=(float(np.abs(trial).mean()), float(np.abs(sharper).mean())),
        missed=int((trial <= -(width + 1)).sum()),
        exact_miss_rate=tail(epsilon, width + 1),
        bands=_bands(trial, epsilon),
        stamp=source.stamp,
    )


def _checked_wish(miss_rate: Amount, half_width: int) -> tuple[Fraction, int]:
    rate, width = exact_fraction(miss_rate, "miss_rate"), whole_number(half_width, "half_width")
    if rate >= Fraction(1, 2):
        raise ArgumentError("miss_rate", miss_rate, "half or more needs no data: report every ward", "Pass 0.05, say")
    if not 1 <= width <= _LARGEST_HALF_WIDTH:
        raise ArgumentError("half_width", half_width, "it must be from one patient to a million", "Pass 10, say")
    return rate, width


def _finding(ward: Ward, noise: int, closer: int, half_width: int) -> Finding:
    line, noisy = ward.capacity - half_width, ward.patients + noise
    return Finding(ward, line, noisy, noisy > line, ward.patients + closer)


def _bands(trial: NDArray[np.int64], epsilon: Epsilon) -> tuple[Band, ...]:
    """Bands of one odd width, the middle one centred on zero, and the two tails beyond them: every draw once."""
    reach = round(1 / float(epsilon) / 4)
    firsts = [k * (2 * reach + 1) - reach for k in range(-_REACH, _REACH + 2)]
    shares = np.bincount(np.searchsorted(firsts, trial, side="right"), minlength=len(firsts) + 1) / trial.size
    exact = np.diff([0.0, *(_below(epsilon, first) for first in firsts), 1.0])
    lows, highs = [None, *firsts], [*(first - 1 for first in firsts), None]
    return tuple(map(Band, lows, highs, shares.tolist(), exact.tolist()))


def _below(epsilon: Epsilon, value: int) -> float:
    """P[noise < value], for bars to look at."""
    return tail(epsilon, 1 - value).high if value <= 0 else 1 - tail(epsilon, value).high
