"""What a step of a stream costs: in its own step only, in every window around it, or for ever.

    event    who is protected is a unit in one step. Steps are regions of their own, so a stream that runs for ever
             has lost its largest step
    window   a unit in any `length` steps on end. Each step is charged for as many, so that the largest step is what any
             such window can have lost
    unit     a unit in all steps. Losses add up without end, and the budget ends

Reads: arguments. Writes: nothing. Never: a step for less than it takes. Proof: `steps.md`.
"""

from thresher.accounting.events import CommonSpending, Grouping
from thresher.accounting.losses import STEP
from thresher.accounting.regions import Region
from thresher.amounts import Epsilon, whole_number
from thresher.errors import ArgumentError


def step_spending(step: int, epsilon: Epsilon, protected_steps: int | None) -> CommonSpending:
    """What a step that costs a unit `epsilon` takes from an account that protects a unit in so many steps on end.

    1 protects events, None protects a unit for ever.
    """
    if whole_number(step, "step") < 0:
        raise ArgumentError("step", step, "steps are counted from 0", "Pass 0 or more")
    if protected_steps is None:
        return CommonSpending(Grouping((), Region.everything(), 1, ()), epsilon)
    length = whole_number(protected_steps, "protected_steps")
    if length < 1:
        raise ArgumentError("protected_steps", length, "one step at least is protected", "Pass 1 for events")
    when = Region.where([(STEP, ">=", step), (STEP, "<", step + 1)])
    return CommonSpending(Grouping((), when, 1, (STEP,)), epsilon * length)
