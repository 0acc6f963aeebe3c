"""The tour: price a question, ask it, compare with the truth, ask again for nothing, be refused politely.

Reads: the made-up hospital. Writes: its ledger. Never: the truth about anything that is not made up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from thresher.decisions import MECHANISMS, DecisionPlan, Shift, decided
from thresher.demo.comparison import Compared, compared
from thresher.demo.hospital import Hospital, build
from thresher.engine import Engine, open_engine
from thresher.errors import BudgetError, BugError, TooDearError
from thresher.ledger import Balance
from thresher.noise import Entropy, SystemEntropy
from thresher.plan import Release

QUESTION = """\
SELECT disease
FROM patients JOIN diseases ON patients.disease = diseases.name
WHERE diseases.type = 'viral'
GROUP BY disease
HAVING (COUNT(*) > 1500 AND AVG(age) > 65)
    OR (COUNT(*) > 1000 AND AVG(age) < 5)"""
MISS_RATE, FALSE_ALARM_RATE = "0.05", "0.10"
REGION, SHARPER_REGION = "COUNT(*)=60, AVG(age)=1", "COUNT(*)=25, AVG(age)=0.4"
TRIALS = 1_000_000


@dataclass(frozen=True, slots=True)
class Truth:
    """What is so about a disease. Shown only because it is made up."""

    patients: int
    mean_age: float
    qualifies: bool


@dataclass(frozen=True, slots=True)
class Tour:
    """Everything the tour has to show."""

    plan: DecisionPlan
    before: Balance
    answer: Release
    truth: tuple[Truth, ...]
    after: Balance
    again: Release
    after_again: Balance
    refusal: str
    missed_of_trials: int
    # At the line itself, where the naive look promises nothing; None where that is the worst case already.
    missed_at_the_line: int | None
    comparison: tuple[Compared, ...]


def tour(
    folder: Path,
    entropy: Entropy | None = None,
    mechanism: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Tour:
    """Build the hospital in `folder` and walk through."""
    source_of_noise = entropy or SystemEntropy()
    progress("building a hospital")
    hospital = build(folder)
    with open_engine(hospital.declarations) as engine:
        plan, sharper = _planned(engine, mechanism, REGION), _planned(engine, mechanism, SHARPER_REGION)
        before = engine.balance(plan)
        answer = engine.answer(plan, entropy=source_of_noise, progress=progress)
        after = engine.balance(plan)
        again = engine.answer(plan, entropy=source_of_noise)
        after_again = engine.balance(plan)
        try:
            engine.answer(sharper, entropy=source_of_noise)
        except (BudgetError, TooDearError) as refused:
            refusal = str(refused)
        else:
            raise BugError("the tour's budget is meant to run out")
        truth = tuple(_truth(*hospital.truth[str(name)]) for (name,) in answer.groups)
        progress("trying the worst case a million times")
        worst = plan.rule.sure if isinstance(plan.rule, Shift) else 0
        missed = _missed(plan, worst, source_of_noise)
        at_the_line = _missed(plan, 0, source_of_noise) if worst else None
        progress("asking every mechanism a hundred times")
        comparison = _compared(engine, hospital, source_of_noise)
    return Tour(plan, before, answer, truth, after, again, after_again, refusal, missed, at_the_line, comparison)


def _planned(engine: Engine, mechanism: str | None, region: str, *, best_effort: bool | None = None) -> DecisionPlan:
    plan = engine.plan(
        QUESTION,
        miss_rate=MISS_RATE,
        false_alarm_rate=FALSE_ALARM_RATE,
        uncertain_region=region,
        mechanism=mechanism,
        best_effort=best_effort,
    )
    if not isinstance(plan, DecisionPlan):
        raise BugError("the tour's question is not a constant")
    return plan


def _missed(plan: DecisionPlan, margin: int, entropy: Entropy) -> int:
    """Groups that meet the condition by so much and are not reported. Where a promise begins, most are."""
    return int((~decided(np.full(TRIALS, margin, dtype=np.int64), plan.rule, entropy).reported).sum())


def _compared(engine: Engine, hospital: Hospital, entropy: Entropy) -> tuple[Compared, ...]:
    plans = {name: _planned(engine, name, REGION) for name in sorted(MECHANISMS, key=_ORDER.index)}
    plans["dppwlm best effort"] = _planned(engine, "dppwlm", REGION, best_effort=True)
    qualifies = {str(name): _truth(*hospital.truth[str(name)]).qualifies for (name,) in plans["tslm"].question.labels()}
    return tuple(compared(name, plan, hospital.truth, qualifies, entropy) for name, plan in plans.items())


_ORDER = ("nlm", "tslm", "tslm-zone", "ppwlm", "dppwlm")


def _truth(patients: int, ages: int) -> Truth:
    mean_age = ages / patients
    return Truth(patients, mean_age, (patients > 1500 and mean_age > 65) or (patients > 1000 and mean_age < 5))
