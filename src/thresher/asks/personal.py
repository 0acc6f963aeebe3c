"""A question to a table of own budgets: a count or sum for each group, or, with HAVING, a decision about it.

Reads: public tables; the ledger, if the question draws on what is left. Writes: nothing. Never: private rows; a class
of budgets in a message to an analyst.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

from thresher.amounts import Amount
from thresher.asks.desk import Desk
from thresher.asks.merging import IN_TEXT, merged
from thresher.errors import ArgumentError
from thresher.personal.class_losses import ClassLeft, classes_left, spent_shares
from thresher.personal.class_sizes import class_sizes
from thresher.personal.count_plan import CountPlan, plan_count
from thresher.personal.planning import PersonalOptions, weighted_read
from thresher.personal.verdict_plan import VerdictPlan, plan_verdicts
from thresher.sql import ask

PersonalPlan = CountPlan | VerdictPlan
_COUNT = ("confidence", "leftovers", "share")
_DECISION = ("false_alarm_rate", "leftovers", "miss_rate", "share")


class PersonalWishes(TypedDict, total=False):
    """The options of a personal question; `confidence` of a count, the two rates of a decision."""

    share: Amount | None
    leftovers: bool | None
    confidence: Amount | None
    miss_rate: Amount | None
    false_alarm_rate: Amount | None


@dataclass(frozen=True, slots=True)
class PersonalAsk:
    """A personal question: a decision if its text has HAVING, and else a count."""

    sql: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def plan(self, desk: Desk) -> PersonalPlan:
        """Return the plan: everybody may lose `share` of their own budget, or of the `leftovers` of it."""
        question = ask(self.sql, desk.declared, desk.public, options=IN_TEXT, may_count=True)
        about, allowed = ("a personal decision", _DECISION) if question.decides else ("a personal count", _COUNT)
        written = {name: value for name, value in question.options.items() if name != "key"}
        options = PersonalOptions(**merged(written, self.options, allowed, about, PersonalWishes.__annotations__))
        sizes, spent = class_sizes(question.table, desk.public), None
        if options.leftovers:
            spent = spent_shares(question.table, desk.book().losses(question.table.account))
        read = weighted_read(question, sizes, options, spent)
        return plan_verdicts(read) if question.decides else plan_count(read)


class PersonalCountAsk(PersonalAsk):
    """A personal question that must not decide."""

    def plan(self, desk: Desk) -> CountPlan:
        """Return the plan of a count."""
        plan = PersonalAsk.plan(self, desk)
        if isinstance(plan, CountPlan):
            return plan
        rule = "it has HAVING, which decides"
        raise ArgumentError("sql", plan.read.question.text, rule, "Use decide(personal=True), or leave HAVING out")


class PersonalDecisionAsk(PersonalAsk):
    """A personal question that must decide."""

    def plan(self, desk: Desk) -> VerdictPlan:
        """Return the plan of a decision."""
        plan = PersonalAsk.plan(self, desk)
        if isinstance(plan, VerdictPlan):
            return plan
        raise ArgumentError("sql", plan.read.question.text, "it decides nothing", "Add HAVING, or use personal_count")


def personal_decision(
    sql: str, options: Mapping[str, Any], share: Amount | None, *, personal: bool
) -> PersonalDecisionAsk:
    """Return the ask of a decision that was passed a `share`, or that it is `personal`."""
    if personal is not True:
        raise ArgumentError("share", share, "it is a share of people's own budgets", "Pass personal=True as well")
    return PersonalDecisionAsk(sql, {**options, "share": share})


def classes_left_of(desk: Desk, name: str) -> list[ClassLeft]:
    """Return what each class of budgets of a declared table has left. For the curator."""
    table = desk.table(name)
    return classes_left(table, desk.public, desk.book().losses(table.account))
