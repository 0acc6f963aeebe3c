"""Releases of parts: each part's sum at its own level, and one estimate from all of them.

Reads: parts of a roster, private arrays, entropy. Writes: nothing. Never: parts of those who happen to be present.
Proof: `part_releases.md`. Citation: Li, Xiong, Ji, Jiang, "Partitioning-Based Mechanisms Under Personalized
Differential Privacy", 2017, corrected: frequencies are weighed by precision, totals are added up.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.amounts import Amount, Epsilon
from thresher.noise import Entropy
from thresher.noise.entropy import chosen, marked
from thresher.noise.laplace import laplace_draws
from thresher.personal.ensemble import combined, frequency_weights, sum_weights
from thresher.personal.parts import Parts
from thresher.personal.personal_release import INDEPENDENT, MOST_EPSILON, PersonalRelease, plain
from thresher.personal.roster_values import flags_of, of_kind, whole_values
from thresher.personal.rounds import Rounds
from thresher.personal.weighted import HALF, check_noise, checked_bound, fraction_of


def partition_frequency(
    parts: Parts | Rounds, flags: NDArray[Any], *, frequency: Amount = HALF, entropy: Entropy | None = None
) -> PersonalRelease:
    """The share of the roster whose flag is set: frequencies of parts, weighed by their precision.

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
    """The mean value over the roster, in steps, those who are absent being 0. Everything else as above."""
    reach = checked_bound(bound, parts.roster)
    return _mean(parts, whole_values(values, parts.roster, reach), reach, fraction_of(frequency), chosen(entropy))


def partition_sum(
    parts: Parts, values: NDArray[Any], bound: int = 1, *, entropy: Entropy | None = None
) -> PersonalRelease:
    """The sum of the values of all whose budget is above 0: the sums of parts, added up.

    No assumption is needed, and no gain is to be had: one part for all is never worse.
    """
    reach, source = checked_bound(bound, parts.roster), chosen(entropy)
    noisy = _drawn(parts, whole_values(values, parts.roster, reach), reach, source)
    made, scales = sum_weights(parts, bound=reach), _scales(parts, reach)
    return PersonalRelease(
        "partition",
        noisy,
        plain(noisy.sum(keepdims=True)),
        math.hypot(*scales),
        made.predicted_sd,
        _spent(parts),
        "",
        source.stamp,
    )


def _mean(
    parts: Parts | Rounds, steps: NDArray[np.int64], bound: int, frequency: Fraction, source: Entropy
) -> PersonalRelease:
    made = frequency_weights(parts, variance=bound**2 * frequency * (1 - frequency), bound=bound)
    noisy, sizes = _drawn(parts, steps, bound, source), np.array([size for each in _each(parts) for size in each.sizes])
    scales = [weight * scale for weight, scale in zip(made.weights, _scales(parts, bound) / sizes, strict=True)]
    return PersonalRelease(
        "partition",
        noisy,
        combined(made.weights, (plain(noisy) / sizes)[:, None]),
        math.hypot(*scales),
        made.predicted_sd,
        _spent(parts),
        _assumed(parts),
        source.stamp,
    )


def _drawn(parts: Parts | Rounds, steps: NDArray[np.int64], bound: int, source: Entropy) -> NDArray[np.int64]:
    """The noisy sum of every part of every round; whoever is in no part is not read."""
    drawn = []
    check_noise(min(level.fraction for each in _each(parts) for level in each.levels), bound)
    for each in _each(parts):
        of_person, sums = each.of_person, np.zeros(len(each.sizes), dtype=np.int64)
        taken = of_person >= 0
        np.add.at(sums, of_person[taken], steps[taken])
        noise = [laplace_draws(_rate(level, bound), 1, source) for level in each.levels]
        drawn.append(sums + np.concatenate(noise))
    return marked(np.concatenate(drawn), source)


def _rate(level: Epsilon, bound: int) -> Fraction:
    return min(level.fraction, Fraction(MOST_EPSILON)) / bound


def _scales(parts: Parts | Rounds, bound: int) -> NDArray[np.float64]:
    return np.array([float(1 / _rate(level, bound)) for each in _each(parts) for level in each.levels])


def _spent(parts: Parts | Rounds) -> tuple[Epsilon, ...]:
    if isinstance(parts, Rounds):
        return parts.spent
    return tuple(Epsilon(0) if place < 0 else parts.levels[place] for place in parts.of_class.tolist())


def _assumed(parts: Parts | Rounds) -> str:
    """Nothing, if one part holds everybody."""
    whole = isinstance(parts, Parts) and parts.sizes == (parts.roster.people,)
    return "" if whole else INDEPENDENT


def _each(parts: Parts | Rounds) -> tuple[Parts, ...]:
    return parts.rounds if isinstance(parts, Rounds) else (parts,)
