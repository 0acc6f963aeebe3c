"""Walk through the hospital: price a question, ask it, compare with the truth, ask again free, and be refused.

Reads: the made-up hospital. Writes: its ledger. Never: the truth about anything that is not made up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from thresher.decisions.decision_plan import DecisionPlan
from thresher.decisions.look import ReachingLook
from thresher.decisions.margin import TrueMargins
from thresher.decisions.mechanisms import mechanism_named
from thresher.demo.hospital import build
from thresher.engine import Engine, open_engine
from thresher.errors import BudgetError, BugError, TooDearError
from thresher.ledger import Balance
from thresher.noise import Entropy, SystemEntropy
from thresher.release import Release

QUESTION = """\
SELECT disease, gender
FROM patients JOIN diseases ON patients.disease = diseases.name
WHERE diseases.type <> 'acute'
GROUP BY disease, gender
HAVING (COUNT(*) > 750 AND AVG(age) > 65)
    OR (COUNT(*) > 500 AND AVG(age) < 5)"""
MISS_RATE, FALSE_ALARM_RATE = "0.05", "0.10"
REGION, SHARPER_REGION = "COUNT(*)=60, AVG(age)=1", "COUNT(*)=3, AVG(age)=0.05"
# Mechanisms that choose their half width are asked for a lower miss rate instead.
SHARPER_MISS_RATE = "0.01"
# Who names a confidence insists on a share of the list, up to the limit on the cost.
CONFIDENCE = "0.98"
# The mechanisms that measure one number for each group; the first is the default.
MECHANISMS = ("certified", "three-way", "tslm", "tslm-zone", "ppwlm", "dppwlm")
TRIALS = 1_000_000
_LINES, _FAR_BELOW = 40, 2000


@dataclass(frozen=True, slots=True)
class DiseaseTruth:
    """Hold the truth about a group, which is shown only because it is made up."""

    patients: int
    mean_age: float
    qualifies: bool


@dataclass(frozen=True, slots=True)
class Trials:
    """Hold the number of groups that were tried exactly at the threshold, and how many of them were missed."""

    tried: int
    missed: int


@dataclass(frozen=True, slots=True)
class Tour:
    """Hold everything that the tour shows."""

    plan: DecisionPlan
    before: Balance
    answer: Release
    truth: tuple[DiseaseTruth, ...]
    after: Balance
    again: Release
    after_again: Balance
    refusal: str
    trials: Trials


def tour(
    folder: Path,
    entropy: Entropy | None = None,
    mechanism: str = MECHANISMS[0],
    progress: Callable[[str], None] = lambda _: None,
) -> Tour:
    """Build the hospital in `folder`, ask it the questions, and return what there is to show."""
    source_of_noise = entropy or SystemEntropy()
    progress("building a hospital")
    hospital = build(folder)
    with open_engine(hospital.declarations) as engine:
        plan, sharper = _planned(engine, mechanism), _planned(engine, mechanism, sharper=True)
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
            refusal = ""
        truth = tuple(_truth(*hospital.truth[str(name), str(gender)]) for name, gender in answer.groups)
        progress("trying the worst case")
        missed = _missed(plan, source_of_noise)
    return Tour(plan, before, answer, truth, after, again, after_again, refusal, missed)


def _planned(engine: Engine, mechanism: str, *, sharper: bool = False) -> DecisionPlan:
    reaching = mechanism_named(mechanism).width_optional
    plan = engine.plan(
        QUESTION,
        miss_rate=SHARPER_MISS_RATE if sharper and reaching else MISS_RATE,
        false_alarm_rate=FALSE_ALARM_RATE,
        uncertain_region=None if reaching else SHARPER_REGION if sharper else REGION,
        mechanism=mechanism,
        confidence=CONFIDENCE if reaching else None,
    )
    if not isinstance(plan, DecisionPlan):
        raise BugError("the tour's question is not a constant")
    return plan


def _missed(plan: DecisionPlan, entropy: Entropy) -> Trials:
    """Try groups exactly at the threshold, and count those that are not reported."""
    if not isinstance(plan.look, ReachingLook):
        seen = plan.look.decide(TrueMargins.of(np.zeros(TRIALS, dtype=np.int64)), entropy)
        return Trials(TRIALS, int((~seen.reported).sum()))
    # As many groups as were asked about: a tenth of them at the threshold, the rest far below.
    groups = len(plan.question.groups)
    at_line = groups // 10
    known = TrueMargins.of(np.array([0] * at_line + [-_FAR_BELOW] * (groups - at_line)))
    missed = sum(int((~plan.look.decide(known, entropy).reported[:at_line]).sum()) for _ in range(_LINES))
    return Trials(_LINES * at_line, missed)


def _truth(patients: int, ages: int) -> DiseaseTruth:
    mean_age = ages / patients
    return DiseaseTruth(patients, mean_age, (patients > 750 and mean_age > 65) or (patients > 500 and mean_age < 5))
