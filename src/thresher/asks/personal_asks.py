"""The asks about a table with personal budgets: a count or sum for each group, or, with HAVING, a decision about it.

Reads: public tables; the ledger, if the question draws on what is left of the budgets. Writes: nothing. Never: private
rows; a class of budgets in a message to an analyst.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from thresher.amounts import Amount
from thresher.asks.desk import Desk
from thresher.asks.merging import IN_TEXT, merged
from thresher.errors import ArgumentError
from thresher.personal.budget_classes import ClassLeft, class_sizes, classes_left, spent_shares
from thresher.personal.personal_counts import CountPlan, plan_count
from thresher.personal.personal_verdicts import VerdictPlan, plan_verdicts
from thresher.personal.weighted_read import PersonalOptions, PersonalPlan, weighted_read
from thresher.sql.read_question import ask

Planned = TypeVar("Planned", bound=PersonalPlan[Any])
_COUNT = ("confidence", "leftovers", "share")
_DECISION = ("false_alarm_rate", "leftovers", "miss_rate", "share")


@dataclass(frozen=True, slots=True)
class PersonalAsk(Generic[Planned]):
    """A personal question: a decision if its text has HAVING, and otherwise a count.

    `must` is the kind of plan that the caller can use; a text that makes another one is refused.
    """

    sql: str
    options: Mapping[str, Any]
    must: type[Planned]

    def plan(self, desk: Desk) -> Planned:
        """Return the plan: each person may lose `share` of their own budget, or of what is left of it."""
        question = ask(self.sql, desk.declared, desk.public, options=IN_TEXT, may_count=True)
        about, allowed = ("a personal decision", _DECISION) if question.decides else ("a personal count", _COUNT)
        written = {name: value for name, value in question.options.items() if name != "key"}
        given = merged(written, self.options, allowed, about, PersonalOptions.__annotations__)
        sizes, spent = class_sizes(question.table, desk.public), None
        if given.get("leftovers"):
            spent = spent_shares(question.table, desk.book().losses(question.table.account))
        read = weighted_read(question, sizes, given, spent)
        plan = plan_verdicts(read) if question.decides else plan_count(read)
        if isinstance(plan, self.must):
            return plan
        if question.decides:
            fix = "Use decide(personal=True), or leave HAVING out"
            raise ArgumentError("sql", question.text, "a count has no HAVING", fix)
        raise ArgumentError("sql", question.text, "a decision needs HAVING", "Add HAVING, or use personal_count")


def personal_decision(
    sql: str, options: Mapping[str, Any], share: Amount | None, *, personal: bool
) -> PersonalAsk[VerdictPlan]:
    """Return the ask of a personal decision. A `share` without `personal=True` is refused."""
    if personal is not True:
        rule = "it applies to tables in which each person has a budget of their own"
        raise ArgumentError("share", share, rule, "Pass personal=True as well")
    return PersonalAsk(sql, {**options, "share": share}, VerdictPlan)


def personal_question(sql: str, options: Mapping[str, Any]) -> PersonalAsk[PersonalPlan[Any]]:
    """Return the ask of a count or a decision, whichever the text is."""
    return PersonalAsk(sql, options, PersonalPlan)


def personal_count(sql: str, options: Mapping[str, Any]) -> PersonalAsk[CountPlan]:
    """Return the ask of a count."""
    return PersonalAsk(sql, options, CountPlan)


def classes_left_of(desk: Desk, name: str) -> list[ClassLeft]:
    """Return what each class of personal budgets of a declared table has left. For the curator only."""
    table = desk.table(name)
    return classes_left(table, desk.public, desk.book().losses(table.account))
