"""Estimate shares within personal budgets by each method, for many runs and questions at once.

Plans, chances, parts and noise are those of the release functions, which answer one question once; a test compares
both.
Reads: public or made-up people, entropy. Writes: nothing. Never: protected data.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import nan, sqrt

import numpy as np
from numpy.typing import NDArray

from papers.personal.personal_data import Answers
from thresher.amounts import NANO
from thresher.errors import ArgumentError
from thresher.noise import Entropy, choose_many
from thresher.noise.entropy import read_words
from thresher.noise.laplace import laplace_draws
from thresher.personal.baselines import minimum_plan, threshold_plan
from thresher.personal.count_choice import RATE, ExponentialPlan, exponential_plan
from thresher.personal.part_releases import combined, frequency_weights
from thresher.personal.partition import in_rounds, partition
from thresher.personal.parts import Parts
from thresher.personal.precision_partition import precision_partition
from thresher.personal.roster import Roster
from thresher.personal.sampling import SamplingPlan, sampling_plan
from thresher.personal.weighted import WeightedPlan, weighted_plan

ZERO = "all zero"
WEIGHTED, WEIGHTED_MEAN = "weighted, best cap", "weighted, cap at the mean"
WEIGHTED_RARE = "weighted, for rare answers"
WEIGHTINGS = (WEIGHTED, WEIGHTED_RARE, WEIGHTED_MEAN)
SAMPLING_BEST, SAMPLING, UNSCALED = "sampling, best threshold", "sampling at the mean", "sampling, not rescaled"
PRECISION, PRECISION_SUMMED, NOISE_ALONE = "parts by precision", "by precision, summed", "8 parts by noise alone"
AWARE, AWARE_SUMMED, AWARE_TEN = "5 parts by waste", "5 by waste, summed", "10 parts by waste"
ROUNDS = "4 rounds of 5 parts"
THRESHOLD, EXPONENTIAL, MINIMUM = "threshold at the mean", "exponential", "minimum"

Shares = NDArray[np.float64]
_MOST_RUNS = 1_000
# What an asker may expect without looking: one in a hundred, in place of half of all.
_RARE = Fraction(1, 100)
# Coins at once in memory. Floats of 32 bits count exactly up to 2**24 of them.
_COINS = 1 << 22


@dataclass(frozen=True, slots=True)
class Trials:
    """The number of runs, the source of noise, and a function that gets progress."""

    runs: int
    entropy: Entropy
    progress: Callable[[str], None] = lambda _: None

    def __post_init__(self) -> None:
        if not 1 <= self.runs <= _MOST_RUNS:
            raise ArgumentError("runs", self.runs, f"it must be from 1 to {_MOST_RUNS:,}", "Pass 5, say")


@dataclass(frozen=True, slots=True, eq=False)
class Estimated:
    """One method's shares (runs by questions), the deviation it predicts, and how many parts it makes.

    What is predicted is for questions that half of the people say yes to; for rare answers, one in a hundred.
    """

    method: str
    shares: Shares
    predicted_sd: float = nan
    parts: int = 0


def estimates(roster: Roster, answers: Answers, trials: Trials) -> Iterator[Estimated]:
    """Yield the estimates of each method."""
    mean = mean_budget(roster)
    yield Estimated(ZERO, np.zeros((trials.runs, answers.shape[1])))
    counts = by_class(roster, answers)
    plans = {
        WEIGHTED: weighted_plan(roster),
        WEIGHTED_RARE: weighted_plan(roster, frequency=_RARE),
        WEIGHTED_MEAN: weighted_plan(roster, mean),
        THRESHOLD: threshold_plan(roster, mean),
        MINIMUM: minimum_plan(roster),
    }
    for method, plan in plans.items():
        yield Estimated(method, of_plan(plan, counts, trials), plan.predicted_sd)
    for method, sampling in ((SAMPLING_BEST, sampling_plan(roster)), (SAMPLING, sampling_plan(roster, mean))):
        shares = of_sample(sampling, answers, trials)
        yield Estimated(method, shares, sampling.predicted_sd)
    # The sample at the mean once more, as if all of them had been asked.
    yield Estimated(UNSCALED, shares * float(sampling.expected / roster.people))
    yield from _of_partitions(roster, answers, trials)
    choice = exponential_plan(roster)
    yield Estimated(EXPONENTIAL, of_choice(choice, counts, trials), choice.predicted_sd)


def _of_partitions(roster: Roster, answers: Answers, trials: Trials) -> Iterator[Estimated]:
    most, people = roster.nano.size, roster.people
    made = {
        PRECISION: precision_partition(roster),
        NOISE_ALONE: precision_partition(roster, min(8, most), variance=0),
        AWARE: partition(roster, min(5, most)),
        AWARE_TEN: partition(roster, min(10, most)),
    }
    for method, parts in made.items():
        shares, weighing = of_parts(parts, answers, trials), frequency_weights(parts)
        yield Estimated(method, combined(weighing.weights, shares), weighing.predicted_sd, len(parts.sizes))
        if method in (PRECISION, AWARE):
            name = PRECISION_SUMMED if method == PRECISION else AWARE_SUMMED
            noise = sqrt(sum(2 / float(level) ** 2 for level in parts.levels)) / people
            sizes = [size / people for size in parts.sizes]
            yield Estimated(name, combined(sizes, shares), noise, len(parts.sizes))
    rounds = in_rounds(roster, min(5, most), 4)
    shares = np.concatenate([of_parts(parts, answers, trials) for parts in rounds.rounds])
    weighing = frequency_weights(rounds)
    yield Estimated(ROUNDS, combined(weighing.weights, shares), weighing.predicted_sd, len(shares))


def mean_budget(roster: Roster) -> Fraction:
    """Return the mean budget, which is the threshold in the literature."""
    return Fraction(int(roster.nano @ roster.sizes), roster.people * NANO)


def by_class(roster: Roster, answers: Answers) -> NDArray[np.int64]:
    """Return how many people of each class say yes to each question."""
    order = np.argsort(roster.classes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(roster.sizes)[:-1]])
    return np.add.reduceat(answers[order], starts, axis=0, dtype=np.int64)


def of_plan(plan: WeightedPlan, counts: NDArray[np.int64], trials: Trials) -> Shares:
    """Do what `weighted_frequency` does, on counts by class."""
    exact = plan.weights @ counts
    return _noisy(exact, plan.rate, trials) / plan.total_weight


def of_sample(plan: SamplingPlan, answers: Answers, trials: Trials) -> Shares:
    """Do what `sampled_frequency` does: one sample for each run answers all questions, each with noise."""
    asked, chances = answers.astype(np.float32), plan.chances[plan.roster.classes].astype(np.uint64)
    exact = np.empty((trials.runs, answers.shape[1]), dtype=np.int64)
    together = max(1, _COINS // len(answers))
    for first in range(0, trials.runs, together):
        here = min(together, trials.runs - first)
        words = read_words(here * len(answers), np.uint32, trials.entropy).reshape(here, -1)
        exact[first : first + here] = (words < chances).astype(np.float32) @ asked
    return _noisy(exact, plan.rate, trials) / float(plan.expected)


def of_parts(parts: Parts, answers: Answers, trials: Trials) -> Shares:
    """Return shares in each part (parts by runs by questions), each with noise at the level of the part."""
    counts = by_class(parts.roster, answers)
    exact = [counts[start:stop].sum(axis=0) for start, stop in parts.spans]
    noisy = [_noisy(each, level.fraction, trials) for each, level in zip(exact, parts.levels, strict=True)]
    return np.stack([each / size for each, size in zip(noisy, parts.sizes, strict=True)])


def of_choice(plan: ExponentialPlan, counts: NDArray[np.int64], trials: Trials) -> Shares:
    """Do what `exponential_frequency` does, on counts by class."""
    chosen = [choose_many(plan.costs(column), RATE, size=trials.runs, entropy=trials.entropy) for column in counts.T]
    return np.asarray(np.stack([np.asarray(each) for each in chosen], axis=1) / plan.people)


def _noisy(exact: NDArray[np.int64], rate: Fraction, trials: Trials) -> NDArray[np.int64]:
    """Add noise for each run and question."""
    shape = (trials.runs, exact.shape[-1])
    return np.asarray(exact + laplace_draws(rate, shape[0] * shape[1], trials.entropy).reshape(shape))
