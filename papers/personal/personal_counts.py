"""Measure errors of the share of people who say yes, by each method within personal budgets and by the answer 0.

An error is the absolute difference from the true share, the literature's relative frequency error.
Reads: public or made-up people, entropy. Writes: nothing. Never: protected data; errors are counted against truth.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from papers.personal.personal_data import LEAST, Asked, Law, roster_of
from papers.personal.personal_methods import Shares, Trials, estimates, of_sample
from thresher.personal.roster import Roster
from thresher.personal.sampling import sampling_plan

_SWEEP = 10


@dataclass(frozen=True, slots=True)
class CountError:
    """One method on one set of questions: mean absolute error, its spread over runs, root of the mean square.

    `predicted_sd` is what the method says beforehand, for questions that half of the people say yes to (for rare
    answers, one in a hundred); None if it says nothing. `parts` is how many it makes, in all rounds.
    """

    data: str
    law: str
    method: str
    error: float
    spread: float
    root_mean_square: float
    predicted_sd: float | None
    parts: int


@dataclass(frozen=True, slots=True)
class SweepError:
    """Sampling at one threshold: the mean absolute error."""

    data: str
    law: str
    threshold: float
    error: float


@dataclass(frozen=True, slots=True)
class Lean:
    """The mean estimate of a share if budgets depend on answers."""

    method: str
    estimate: float
    spread: float
    truth: float


def count_errors(data: Asked, law: Law, trials: Trials) -> list[CountError]:
    """Measure all methods on all questions, with budgets of a law that is independent of the answers."""
    found = []
    for one in estimates(roster_of(law, data.people), data.answers, trials):
        trials.progress(f"{data.name}, {law.name}, {one.method}")
        off = one.shares - data.shares
        error, spread = mean_and_spread(np.abs(off).mean(axis=1))
        square = float(np.sqrt((off**2).mean()))
        predicted = None if np.isnan(one.predicted_sd) else one.predicted_sd
        found.append(CountError(data.name, law.name, one.method, error, spread, square, predicted, one.parts))
    return found


def sweep_errors(data: Asked, law: Law, trials: Trials) -> list[SweepError]:
    """Measure sampling at thresholds up to the largest budget (figures 2 and 3)."""
    roster, found = roster_of(law, data.people), []
    for threshold in thresholds_of(law):
        trials.progress(f"{data.name}, {law.name}, sampling at {float(threshold):g}")
        shares = of_sample(sampling_plan(roster, threshold), data.answers, trials)
        error = float(np.abs(shares - data.shares).mean())
        found.append(SweepError(data.name, law.name, float(threshold), error))
    return found


def thresholds_of(law: Law) -> tuple[Fraction, ...]:
    """Return the least budget, and tenths of the largest."""
    least, most = (Fraction(end).limit_denominator(1_000) for end in (LEAST, law.most))
    return tuple(sorted({least, *(most * i / _SWEEP for i in range(1, _SWEEP + 1))}))


def leans(roster: Roster, data: Asked, trials: Trials) -> list[Lean]:
    """Measure the mean estimate of the only question by each method."""
    (truth,) = data.shares.tolist()
    trials.progress(data.name)
    return [
        Lean(one.method, *mean_and_spread(one.shares[:, 0]), truth) for one in estimates(roster, data.answers, trials)
    ]


def mean_and_spread(values: Shares) -> tuple[float, float]:
    """Return the mean and the standard deviation over runs, which is 0 for a single run."""
    return float(values.mean()), float(values.std(ddof=1)) if values.size > 1 else 0.0
