"""From the text of a personal question to its plan: what is asked, who is on the roster, and what each class has left.

Reads: public tables, the ledger. Writes: nothing. Never: private rows; a class in a message to an analyst.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from thresher.accounting import Region, RegionLosses, account_loss
from thresher.amounts import NANO, Amount, Epsilon
from thresher.config import Declarations, Table
from thresher.errors import ArgumentError
from thresher.ledger import Book
from thresher.personal.class_sizes import class_sizes, own_budgets_of
from thresher.personal.count_plan import CountPlan, plan_count
from thresher.personal.planning import weighted_read
from thresher.personal.verdict_plan import VerdictPlan, plan_verdicts
from thresher.question import PublicTable, Question, group_keys, grouping_of
from thresher.question.conditions import ALWAYS
from thresher.sql import ask

PersonalPlan = CountPlan | VerdictPlan


@dataclass(frozen=True, slots=True)
class PersonalDesk:
    """Where personal questions are planned: declarations, public tables, and the ledger for what is left."""

    declared: Declarations
    public: Mapping[str, PublicTable]
    book: Book | None = None

    def plan(self, sql: str, *, share: Amount | None, rates: Mapping[str, Amount | None]) -> PersonalPlan:
        """The plan of a count, or, if the text has HAVING, of a decision. With a ledger, it draws on what is left."""
        question = ask(sql, self.declared, self.public, may_count=True)
        sizes = class_sizes(question.table, self.public)
        spent = None if self.book is None else spent_shares(question.table, self.book.losses(question.table.account))
        read = weighted_read(question, sizes, share, spent)
        said = {**question.options, **{name: rate for name, rate in rates.items() if rate is not None}}
        used = {"key", "miss_rate", "false_alarm_rate"} if question.decides else {"key", "confidence"}
        for name, rate in said.items():
            if name not in used:
                what = "a personal decision" if question.decides else "a personal count"
                raise ArgumentError(name, rate, f"{what} has no use for it", "Leave it out")
            if name in question.options and name != "key" and rates[name] is not None:
                raise ArgumentError(name, rate, "the question's text says it already", "Say it in one place")
        if question.decides:
            return plan_verdicts(read, said.get("miss_rate"), said.get("false_alarm_rate"))
        return plan_count(read, said.get("confidence"))


def only_decision(plan: PersonalPlan, personal: object, others: Sequence[object]) -> VerdictPlan:
    """The plan, if it decides, is meant to be personal, and comes without options of other mechanisms."""
    if personal is not True:
        raise ArgumentError("share", "passed", "it is a share of people's own budgets", "Pass personal=True as well")
    if any(other is not None for other in others):
        rule = "a personal decision has a share and two rates, and no other options"
        raise ArgumentError("personal", True, rule, "Leave the others out")
    if isinstance(plan, CountPlan):
        raise ArgumentError("sql", plan.read.question.text, "it decides nothing", "Add HAVING, or use personal_count")
    return plan


def only_count(plan: PersonalPlan) -> CountPlan:
    """The plan, if it counts."""
    if isinstance(plan, VerdictPlan):
        rule = "it has HAVING, which decides"
        raise ArgumentError("sql", plan.read.question.text, rule, "Use decide(personal=True), or leave HAVING out")
    return plan


@dataclass(frozen=True, slots=True)
class ClassLeft:
    """What a class of budgets has left: for the curator."""

    budget: Epsilon
    people: int
    spent_share: Epsilon

    @property
    def left(self) -> Epsilon:
        """Of each person's own budget, rounded down."""
        return Epsilon.from_nano(self.budget.nano * (NANO - min(NANO, self.spent_share.nano)) // NANO)


def classes_left(table: Table, public: Mapping[str, PublicTable], book: Book) -> list[ClassLeft]:
    """Every class that may lose something, with its public size."""
    own, sizes = own_budgets_of(table), class_sizes(table, public)
    found = zip(own.codes, sizes, spent_shares(table, book.losses(table.account)), strict=True)
    return [ClassLeft(Epsilon.from_nano(own.nano(code)), people, spent) for code, people, spent in found]


def spent_shares(table: Table, losses: Sequence[RegionLosses]) -> list[Epsilon]:
    """The share of their own budgets that people of each class may have lost, wherever they are; never too small."""
    own = own_budgets_of(table)
    budget = table.columns[own.column]
    by_class = Question(table, (budget,), tuple((code,) for code in own.codes), ALWAYS, True, "")
    columns, keys = grouping_of(by_class).columns, group_keys(by_class) or []
    if not losses:
        return [Epsilon(0)] * len(keys)
    return [account_loss(losses, within=Region.at(columns, key)).loss for key in keys]
