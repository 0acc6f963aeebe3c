"""One answer from the answers of parts: whatever is done here is done to releases, and costs nothing.

Frequencies and means are weighed by precision; totals are summed; models are weighed by (people · level)², or vote.
Reads: a partition or rounds, released answers. Writes: nothing. Never: data. Why these weights: `ensemble.md`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.amounts import Amount, Epsilon, exact_fraction
from thresher.errors import ArgumentError
from thresher.personal.parts import Parts
from thresher.personal.precision_partition import ASSUMPTION, HALF_SPLIT
from thresher.personal.rounds import Rounds

NO_ASSUMPTION = "nothing is assumed about budgets"


@dataclass(frozen=True, slots=True)
class Weighing:
    """A weight for each part, the parts of the first round first; and how far the weighed answer is from the truth.

    `variance`: against a population of which the roster is a sample; `predicted_sd`: against the roster itself.
    """

    weights: tuple[float, ...]
    variance: float
    predicted_sd: float
    assumption: str


def frequency_weights(parts: Parts | Rounds, *, variance: Amount = HALF_SPLIT, bound: Amount = 1) -> Weighing:
    """The best weights for a frequency, or for a mean of values of size `bound` at most whose variance is `variance`.

    Of unbiased combinations it has the least variance: inverse variances for one round; for several rounds, in which
    the same people come again, the solution with their covariances. Assumption: budgets are independent of the values.
    """
    chance, size = float(exact_fraction(variance, "variance")), float(exact_fraction(bound, "bound"))
    if chance < 0 or size <= 0:
        raise ArgumentError("bound", bound, "bounds are above 0, variances not below", "Pass 1 for a frequency")
    noise = np.array([2 * (size / (people * float(level))) ** 2 for people, level in _all(parts)])
    if isinstance(parts, Parts):
        precisions = 1 / (noise + chance / np.array(parts.sizes))
    else:
        covariance = np.diag(noise) + chance * _shared(parts)
        scale = np.sqrt(np.diag(covariance))
        # In units of standard deviations: variances of parts differ by many orders.
        precisions = np.linalg.solve(covariance / np.outer(scale, scale), 1 / scale) / scale
    total = float(precisions.sum())
    apart = math.sqrt(max(0.0, 1 / total - chance / parts.roster.people))
    return Weighing(tuple((precisions / total).tolist()), 1 / total, apart, ASSUMPTION)


def sum_weights(parts: Parts, *, bound: Amount = 1) -> Weighing:
    """Totals of parts are added up: unbiased whatever budgets depend on, and never better than one part for all."""
    size = exact_fraction(bound, "bound")
    variance = float(sum((2 * (size / level.fraction) ** 2 for level in parts.levels), Fraction(0)))
    return Weighing((1.0,) * len(parts.levels), variance, math.sqrt(variance), NO_ASSUMPTION)


def model_weights(parts: Parts) -> tuple[float, ...]:
    """Weights for averaging the parameters of one model for each part: (people · level)², best where noise is all."""
    squares = [(size * level.fraction) ** 2 for size, level in _all(parts)]
    return tuple(float(square / sum(squares)) for square in squares)


def combined(weights: Sequence[float], answers: ArrayLike) -> NDArray[np.float64]:
    """The weighed sum of one answer for each part: numbers, or arrays of one shape."""
    return np.tensordot(np.asarray(weights, dtype=np.float64), _one_each(weights, answers), axes=1)


def vote(labels: ArrayLike, weights: Sequence[float]) -> NDArray[Any]:
    """For each column the label with most weight behind it, the least of them in a tie; one row of labels a part.

    With equal weights it is the literature's majority vote, which a poor part sways as much as a good one.
    """
    given = _one_each(weights, labels)
    kinds = np.unique(given)
    votes = np.stack([np.tensordot(np.asarray(weights, dtype=np.float64), given == kind, axes=1) for kind in kinds])
    return np.asarray(kinds[np.argmax(votes, axis=0)])


def _one_each(weights: Sequence[float], answers: ArrayLike) -> NDArray[Any]:
    given = np.asarray(answers)
    if given.ndim < 1 or given.shape[0] != len(weights):
        rule = f"there is one answer for each of {len(weights)} parts"
        raise ArgumentError("answers", f"shape {given.shape}", rule, "Pass the answers in the order of the parts")
    return given


def _all(parts: Parts | Rounds) -> list[tuple[int, Epsilon]]:
    rounds = (parts,) if isinstance(parts, Parts) else parts.rounds
    return [pair for made in rounds for pair in zip(made.sizes, made.levels, strict=True)]


def _shared(rounds: Rounds) -> NDArray[np.float64]:
    """For every two parts, the people in both, by the sizes of both."""
    numbered, start = [], 0
    for parts in rounds.rounds:
        numbered.append((start, parts.of_person))
        start += len(parts.sizes)
    shared = np.zeros((start, start))
    for first, mine in numbered:
        for second, yours in numbered:
            both = (mine >= 0) & (yours >= 0)
            np.add.at(shared, (first + mine[both], second + yours[both]), 1)
    sizes = np.array([size for parts in rounds.rounds for size in parts.sizes])
    return shared / np.outer(sizes, sizes)
