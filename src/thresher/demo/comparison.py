"""The same question by every mechanism, many times over, on the made-up hospital: price, loss and errors side by side.

Reads: plans, and the truth, which is made up. Writes: nothing. Never: a ledger; nothing here is about real patients.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from thresher.decisions import DecisionPlan, ProbePlan
from thresher.noise import Entropy
from thresher.question import Exact
from thresher.release import Release

RUNS = 20
Counts = Mapping[tuple[str, str], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Compared:
    """One mechanism, over many runs: means of the largest loss, a group's loss, min-entropies, rates and widths."""

    mechanism: str
    worst_epsilon: float
    largest_epsilon: float
    mean_epsilon: float
    box_min_entropy: float
    cone_min_entropy: float
    missed: float
    false_alarms: float
    half_width: float
    clear_distance: float


@dataclass(frozen=True, slots=True)
class Probed:
    """ProBE on the same question: runs answered and denied, and the mean of what each kind was charged."""

    method: str
    answered: int
    denied: int
    epsilon_answered: float | None
    epsilon_denied: float | None


def probed(name: str, plan: ProbePlan, truth: Counts, entropy: Entropy) -> Probed:
    """What the published state of the art would have paid, on the truth, over and over."""
    exact = _exact(plan, truth)
    releases = [plan.run(exact, entropy)[0] for _ in range(RUNS)]
    paid = {said: [float(r.spent_epsilon) for r in releases if bool(r.denied) is said] for said in (False, True)}
    means = [sum(amounts) / len(amounts) if amounts else None for amounts in paid.values()]
    return Probed(name, len(paid[False]), len(paid[True]), *means)


def compared(
    name: str, plan: DecisionPlan, truth: Counts, qualifies: Mapping[tuple[str, str], bool], entropy: Entropy
) -> Compared:
    """Run a plan on the truth, over and over."""
    exact = _exact(plan, truth)
    seen = [_figures(plan.run(exact, entropy)[0], qualifies) for _ in range(RUNS)]
    return Compared(name, float(plan.epsilon), *np.mean(seen, axis=0).tolist())


def _figures(release: Release, qualifies: Mapping[tuple[str, str], bool]) -> tuple[float, ...]:
    reported = {(str(disease), str(gender)) for disease, gender in release.positives}
    right, wrong = ({name for name, holds in qualifies.items() if holds is said} for said in (True, False))
    losses = [float(epsilon) for epsilon in release.epsilons]
    return (
        max(losses),
        sum(losses) / len(losses),
        release.min_entropy["box"].normalised_low,
        release.min_entropy["cone"].normalised_low,
        len(right - reported) / len(right),
        len(wrong & reported) / len(wrong),
        float(release.half_width),
        float(release.guarantee.clear_distance),
    )


def _exact(plan: DecisionPlan | ProbePlan, truth: Counts) -> Exact:
    """What a source would have read: patients, or their ages added up, for each group asked about."""

    def row(disease: str, gender: str) -> Iterator[int]:
        patients, ages = truth[disease, gender]
        for aggregate in plan.need.aggregates:
            yield ages if aggregate.measure == "total" else patients

    rows = [list(row(str(disease), str(gender))) for disease, gender in plan.question.labels()]
    return Exact(np.array(rows, dtype=np.int64))
