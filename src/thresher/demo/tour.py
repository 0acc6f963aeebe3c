"""The tour: price a question, ask it, compare with the truth, ask again for nothing, be refused politely.

Reads: the made-up hospital. Writes: its ledger. Never: the truth about anything that is not made up.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from thresher.decisions import DecisionPlan, look
from thresher.demo.hospital import build
from thresher.engine import open_engine
from thresher.errors import BudgetError, BugError
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
REGION, SHARPER_REGION = "COUNT(*)=60, AVG(age)=1", "COUNT(*)=30, AVG(age)=0.5"
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


def tour(folder: Path, entropy: Entropy | None = None) -> Tour:
    """Build the hospital in `folder` and walk through."""
    source_of_noise = entropy or SystemEntropy()
    hospital = build(folder)
    with open_engine(hospital.declarations) as engine:
        plan = engine.plan(QUESTION, miss_rate=MISS_RATE, false_alarm_rate=FALSE_ALARM_RATE, uncertain_region=REGION)
        sharper = engine.plan(
            QUESTION, miss_rate=MISS_RATE, false_alarm_rate=FALSE_ALARM_RATE, uncertain_region=SHARPER_REGION
        )
        if not isinstance(plan, DecisionPlan):
            raise BugError("the tour's question is not a constant")
        before = engine.balance(plan)
        answer = engine.answer(plan, entropy=source_of_noise)
        after = engine.balance(plan)
        again = engine.answer(plan, entropy=source_of_noise)
        after_again = engine.balance(plan)
        try:
            engine.answer(sharper, entropy=source_of_noise)
        except BudgetError as refused:
            refusal = str(refused)
        else:
            raise BugError("the tour's budget is meant to run out")
    truth = tuple(_truth(*hospital.truth[str(name)]) for (name,) in answer.groups)
    # Groups that meet the condition by nothing at all: nowhere are misses more likely.
    worst = look(np.zeros(TRIALS, dtype=np.int64), plan.shift, source_of_noise)
    missed = int((~worst.reported).sum())
    return Tour(plan, before, answer, truth, after, again, after_again, refusal, missed)


def _truth(patients: int, mean_age: float) -> Truth:
    return Truth(patients, mean_age, (patients > 1500 and mean_age > 65) or (patients > 1000 and mean_age < 5))
