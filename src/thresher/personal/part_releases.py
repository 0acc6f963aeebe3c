"""Release each part's sum at its own level, and make one estimate from all of them.

Frequencies and means are weighed by precision; totals are summed; models are weighed by (people · level)², or vote.
Weights apply to what was released, and are free.
Reads: parts of a roster, private arrays, entropy. Writes: nothing. Never: parts that depend on who is present.
Proof: `part_releases.md`. Citation: Li, Xiong, Ji, Jiang, "Partitioning-Based Mechanisms Under Personalized
Differential Privacy", 2017, corrected: frequencies are weighed by precision, totals are added up.
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
from thresher.noise import Entropy
from thresher.noise.entropy import chosen, marked
from thresher.noise.laplace import laplace_draws
from thresher.personal.parts import Parts, Rounds
from thresher.personal.personal_release import INDEPENDENT, MOST_EPSILON, PersonalRelease, as_floats
from thresher.personal.precision_partition import ASSUMPTION, HALF_SPLIT
from thresher.personal.roster_values import check_noise, checked_bound, flags_of, fraction_of, of_kind, whole_values
from thresher.personal.weighted import HALF

NO_ASSUMPTION = "no assumption about budgets is needed"


@dataclass(frozen=True, slots=True)
class Weighing:
    """Hold a weight for each part, the parts of the first round first, and the error to expect of the weighted answer.

    `variance` is about the population of which the roster is a sample, `predicted_sd` about the roster itself.
    """

    weights: tuple[float, ...]
    variance: float
    predicted_sd: float
    assumption: str


def frequency_weights(parts: Parts | Rounds, *, variance: Amount = HALF_SPLIT, bound: Amount = 1) -> Weighing:
    """Return the best weights for a frequency, or for a mean of values of size `bound` at most and this `variance`.

    Of all unbiased combinations theirs has the least variance: inverse variances for one round; for several rounds, in
    which the same people come again, the solution with their covariances. Assumption: budgets are independent of the
    values.
    """
    chance, size = float(exact_fraction(variance, "variance")), float(exact_fraction(bound, "bound"))
    if chance < 0 or size <= 0:
        raise ArgumentError(
            "bound", bound, "it must be above 0, and the variance 0 or more", "Pass bound=1 for a frequency"
        )
    noise = np.array(
        [2 * (size / (people * float(level))) ** 2 for people, level in zip(parts.sizes, parts.levels, strict=True)]
    )
    if len(parts.rounds) == 1:
        precisions = 1 / (noise + chance / np.array(parts.sizes))
    else:
        covariance = np.diag(noise) + chance * _shared(parts.rounds)
        scale = np.sqrt(np.diag(covariance))
        # In units of standard deviations: variances of parts differ by many orders.
        precisions = np.linalg.solve(covariance / np.outer(scale, scale), 1 / scale) / scale
    total = float(precisions.sum())
    apart = math.sqrt(max(0.0, 1 / total - chance / parts.roster.people))
    return Weighing(tuple((precisions / total).tolist()), 1 / total, apart, ASSUMPTION)


def sum_weights(parts: Parts, *, bound: Amount = 1) -> Weighing:
    """Return weights that add up the totals of parts: always unbiased, and never better than one part for all."""
    size = exact_fraction(bound, "bound")
    variance = float(sum((2 * (size / level.fraction) ** 2 for level in parts.levels), Fraction(0)))
    return Weighing((1.0,) * len(parts.levels), variance, math.sqrt(variance), NO_ASSUMPTION)


def model_weights(parts: Parts) -> tuple[float, ...]:
    """Return weights for averaging models of parts: (people · level)², best if noise is the only error."""
    squares = [(size * level.fraction) ** 2 for size, level in zip(parts.sizes, parts.levels, strict=True)]
    return tuple(float(square / sum(squares)) for square in squares)


def combined(weights: Sequence[float], answers: ArrayLike) -> NDArray[np.float64]:
    """Return the weighed sum of one answer for each part: numbers, or arrays of one shape."""
    return np.tensordot(np.asarray(weights, dtype=np.float64), _one_each(weights, answers), axes=1)


def vote(labels: ArrayLike, weights: Sequence[float]) -> NDArray[Any]:
    """Return, for each column, the label with most weight behind it, the least one in a tie; each part gives one row.

    With equal weights it is the literature's majority vote, in which a poor part counts as much as a good one.
    """
    given = _one_each(weights, labels)
    kinds = np.unique(given)
    votes = np.stack([np.tensordot(np.asarray(weights, dtype=np.float64), given == kind, axes=1) for kind in kinds])
    return np.asarray(kinds[np.argmax(votes, axis=0)])


def _one_each(weights: Sequence[float], answers: ArrayLike) -> NDArray[Any]:
    given = np.asarray(answers)
    if given.ndim < 1 or given.shape[0] != len(weights):
        rule = f"it must have one answer for each of {len(weights)} parts"
        raise ArgumentError("answers", f"shape {given.shape}", rule, "Pass the answers in the order of the parts")
    return given


def partition_frequency(
    parts: Parts | Rounds, flags: NDArray[Any], *, frequency: Amount = HALF, entropy: Entropy | None = None
) -> PersonalRelease:
    """Estimate the share of the roster whose flag is set: frequencies of parts, weighed by their precision.

    Privacy: each person loses the level of their part, in each round (`part_releases.md`): at most their budget.
    Utility: `predicted_sd`, never below that of the weighted release at its best cap. Assumption: budgets are
    independent of values. `noisy` has a number for each part, the parts of the first round first.
    """
    of_kind(parts, (Parts, Rounds), "parts")
    return _mean(parts, flags_of(flags, parts.roster), 1, fraction_of(frequency), chosen(entropy))


def partition_mean(
    parts: Parts | Rounds,
    values: NDArray[Any],
    bound: int = 1,
    *,
    frequency: Amount = HALF,
    entropy: Entropy | None = None,
) -> PersonalRelease:
    """Estimate the mean value over the roster, in steps, absent people counting as 0. Else as `partition_frequency`."""
    reach = checked_bound(bound, parts.roster)
    return _mean(parts, whole_values(values, parts.roster, reach), reach, fraction_of(frequency), chosen(entropy))


def partition_sum(
    parts: Parts, values: NDArray[Any], bound: int = 1, *, entropy: Entropy | None = None
) -> PersonalRelease:
    """Estimate the sum of the values of all whose budget is above 0: the sums of parts, added up.

    It needs no assumption, and has no advantage: one part for all is never worse.
    """
    reach, source = checked_bound(bound, parts.roster), chosen(entropy)
    noisy = _drawn(parts, whole_values(values, parts.roster, reach), reach, source)
    made, scales = sum_weights(parts, bound=reach), _scales(parts, reach)
    return PersonalRelease(
        "partition",
        noisy,
        as_floats(noisy.sum(keepdims=True)),
        math.hypot(*scales),
        made.predicted_sd,
        parts.spent,
        "",
        source.stamp,
    )


def _mean(
    parts: Parts | Rounds, steps: NDArray[np.int64], bound: int, frequency: Fraction, source: Entropy
) -> PersonalRelease:
    made = frequency_weights(parts, variance=bound**2 * frequency * (1 - frequency), bound=bound)
    noisy, sizes = _drawn(parts, steps, bound, source), np.array(parts.sizes)
    scales = [weight * scale for weight, scale in zip(made.weights, _scales(parts, bound) / sizes, strict=True)]
    return PersonalRelease(
        "partition",
        noisy,
        combined(made.weights, (as_floats(noisy) / sizes)[:, None]),
        math.hypot(*scales),
        made.predicted_sd,
        parts.spent,
        # Nothing is assumed if one part holds everybody.
        "" if parts.sizes == (parts.roster.people,) else INDEPENDENT,
        source.stamp,
    )


def _drawn(parts: Parts | Rounds, steps: NDArray[np.int64], bound: int, source: Entropy) -> NDArray[np.int64]:
    """Return the noisy sum of each part of each round; whoever is in no part is not read."""
    drawn = []
    check_noise(min(level.fraction for level in parts.levels), bound)
    for each in parts.rounds:
        of_person, sums = each.of_person, np.zeros(len(each.sizes), dtype=np.int64)
        taken = of_person >= 0
        np.add.at(sums, of_person[taken], steps[taken])
        noise = [laplace_draws(_rate(level, bound), 1, source) for level in each.levels]
        drawn.append(sums + np.concatenate(noise))
    return marked(np.concatenate(drawn), source)


def _rate(level: Epsilon, bound: int) -> Fraction:
    return min(level.fraction, Fraction(MOST_EPSILON)) / bound


def _scales(parts: Parts | Rounds, bound: int) -> NDArray[np.float64]:
    return np.array([float(1 / _rate(level, bound)) for level in parts.levels])


def _shared(rounds: Sequence[Parts]) -> NDArray[np.float64]:
    """Return, for every two parts, how many people are in both, divided by the sizes of both."""
    numbered, start = [], 0
    for parts in rounds:
        numbered.append((start, parts.of_person))
        start += len(parts.sizes)
    shared = np.zeros((start, start))
    for first, mine in numbered:
        for second, yours in numbered:
            both = (mine >= 0) & (yours >= 0)
            np.add.at(shared, (first + mine[both], second + yours[both]), 1)
    sizes = np.array([size for parts in rounds for size in parts.sizes])
    return shared / np.outer(sizes, sizes)
