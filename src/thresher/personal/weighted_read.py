"""Plan a question about a table with own budgets: read by class of budget, weighted, charged as shares.

    question + class sizes (public) ─► class weights ─► need by group and class ─► one noisy weighted sum a group

Reads: declarations, a question, public sizes, what the ledger says is spent. Writes: nothing. Never: a row before the
charge is on disk; a choice that depends on a row. Proof that nobody loses more than they allow: `class_weights.md`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypedDict

import numpy as np

from thresher.accounting import GroupSpending
from thresher.amounts import NANO, Amount, Epsilon, exact_fraction
from thresher.config import Column, OwnBudgets, decimal_text
from thresher.errors import ArgumentError, BugError
from thresher.guarantee import Guarantee
from thresher.noise import Entropy
from thresher.personal.budget_classes import own_budgets_of
from thresher.personal.class_weights import ClassWeights, class_weights
from thresher.personal.personal_release import INDEPENDENT
from thresher.plan import Given_co, Plan, Statements, subject_of
from thresher.question import (
    AllOf,
    Atom,
    Exact,
    Identity,
    Need,
    Question,
    Within,
    group_keys,
    grouping_of,
    sensitivity,
)
from thresher.question.identity import columns_used, formula_facts, identity_of, rows_facts, with_bands

# The default share of each person's own budget: four such questions use it up.
USUAL_SHARE = Fraction(1, 4)
_MOST_CELLS = 1_000_000


class PersonalOptions(TypedDict, total=False):
    """The options of a personal question.

    share               the share of each person's own budget, or of what is left of it
    leftovers           take the share of what earlier questions left, not of the whole budgets
    confidence          of a count: the probability that a number lies within its half width
    miss_rate, false_alarm_rate    of a decision
    """

    share: Amount | None
    leftovers: bool | None
    confidence: Amount | None
    miss_rate: Amount | None
    false_alarm_rate: Amount | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedRead:
    """What is read and charged for a question: the same for a count and for a decision.

    options     the options that were given
    active      the codes of the classes that are read
    unit        how many weights are one unit of what is counted; negative where the condition is "less than"
    share       the share of each person's own budget that the question may use
    """

    question: Question
    atom: Atom
    weights: ClassWeights
    options: Mapping[str, Any]
    share: Epsilon
    active: tuple[int, ...]
    unit: Fraction
    need: Need
    cost: GroupSpending

    @property
    def leftovers(self) -> bool:
        return bool(self.options.get("leftovers"))

    @property
    def predicted_sd(self) -> str:
        """Return the forecast standard deviation of a number: noise and unequal weights together."""
        return f"{self.weights.predicted_sd / float(self.atom.steps):.4g}"

    @property
    def facts(self) -> dict[str, str]:
        """Return the facts of a promise that say how a number is weighted, and what each person loses at most."""
        budget = "what they have left of their own budget" if self.leftovers else "their own budget"
        return {"aggregate": self.atom.aggregate, "budget": budget, "share": str(self.share)}

    @property
    def _places(self) -> int:
        """Return the denominator in which numbers are shown: three decimals more than the grid has."""
        return int(10 ** (2 + len(str(math.ceil(self.atom.steps)))))

    def sums(self, exact: Exact | None, entropy: Entropy) -> list[int]:
        """Return the noisy weighted sum of each group."""
        if exact is None:
            raise BugError("a personal question needs data")
        each = np.array([weight for _, weight in self.atom.weights], dtype=object)
        cells = exact.unseal().astype(object) @ each
        shape = (len(self.question.groups), len(self.active))
        return self.weights.released(cells.reshape(shape), entropy)

    def decimals(self, weighted: int) -> str:
        """Return a weighted sum in the units of what is counted."""
        return decimal_text(Fraction(round(self._places * weighted / self.unit), self._places))

    def width(self, weights: int) -> Fraction:
        """Return a distance in the same units, rounded up, with room for the rounding of the number it is about."""
        return Fraction(math.ceil(self._places * weights / abs(self.unit) + Fraction(1, 2)), self._places)

    def charge(self, family: str, guarantee: Guarantee) -> dict[str, Any]:
        """Return the fields of a plan of this family that follow from what is read."""
        return {
            "family": family,
            "account": self.question.table.account,
            "subject": subject_of(self.question.table),
            "identity": _identity(self, family),
            "need": self.need,
            "cost": self.cost,
            "epsilon": max(share for _, share in self.cost.amounts),
            "guarantee": guarantee,
            "written_key": self.question.options.get("key"),
            "read": self,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalPlan(Plan[Given_co]):
    """A count or a decision with its price. `epsilon` is the largest share that anybody loses of their own budget."""

    read: WeightedRead

    def affordable(self, limit: Epsilon) -> str | None:
        """Name the share that everybody can still pay."""
        if self.read.leftovers:
            return "Plan the question again: other questions were paid since it was planned"
        fits = f"Pass share={limit}, or" if limit else "Nothing is left for some people: pass"
        return f"{fits} leftovers=True to draw on what each class has left"

    @property
    def price_in_words(self) -> str:
        # Of the whole budget also where the question draws on what is left of it.
        return f"each person up to {self.epsilon} of their own budget"

    def own_statements(self) -> Statements:
        """Return the statements of this kind of plan only."""
        return []

    def explanation(self) -> Statements:
        read = self.read
        return [
            ("question", read.question.text),
            ("share", f"each person loses at most {read.share} of {read.facts['budget']}"),
            *self.own_statements(),
            ("predicted", f"standard deviation {read.predicted_sd}, of the noise {read.weights.noise_sd:.4g}"),
            ("promise", self.guarantee.sentence),
            ("assumption", INDEPENDENT),
        ]


def _identity(read: WeightedRead, family: str) -> Identity:
    """Return the identity: a question asked again is the stored answer, whatever is left of the budgets by then."""
    question, own = read.question, own_budgets_of(read.question.table)
    rows, budgets = rows_facts(question), {"budget_column": own.column, "roster": list(read.weights.sizes)}
    asked = {
        "text": question.text,
        **rows,
        **budgets,
        "formula": formula_facts(question.formula),
        "options": as_given(read.options),
    }
    noise = {"weights": list(read.weights.weights), "grid": str(read.weights.grid), "reach": read.weights.reach}
    measured = {**rows, **budgets, **noise, "formula": formula_facts(question.formula, thresholds=False)}
    return identity_of(family, question.table, columns_used(question) | {own.column}, asked, measured)


def as_given(options: Mapping[str, Any]) -> dict[str, str | bool]:
    """Return the options that were given, each number in one form."""
    return {
        name: value if isinstance(value, bool) else decimal_text(exact_fraction(value, name))
        for name, value in options.items()
        if value not in (None, False)
    }


def weighted_read(
    question: Question, sizes: Sequence[int], options: Mapping[str, Any], spent: Sequence[Epsilon] | None = None
) -> WeightedRead:
    """Return what a question reads; `spent` are the shares that classes have lost, if it draws on what is left."""
    own, share = own_budgets_of(question.table), _share(options.get("share"))
    _check_asked(question, own)
    nano = [own.nano(code) for code in own.codes]
    lost = [Fraction(0)] * len(nano) if spent is None else [amount.fraction for amount in spent]
    left = [budget * max(Fraction(0), 1 - part) for budget, part in zip(nano, lost, strict=True)]
    allowed = [share.fraction * most / NANO for most in left]
    if len(question.groups) * len(nano) > _MOST_CELLS:
        cells = f"{len(question.groups):,} groups in {len(nano):,} classes of budgets"
        raise ArgumentError(
            "sql", cells, f"groups times classes may be at most {_MOST_CELLS:,}", "Ask about fewer groups"
        )
    table, atom = question.table, question.atoms[0]
    each = sensitivity(atom, table)
    one_group = {column.name for column in question.keys} <= set(table.fixed_columns)
    groups = 1 if table.contribution is None or one_group else table.contribution.max_groups
    weights = class_weights(nano, allowed, sizes, each * groups, each)
    active = tuple(code for code, weight in zip(own.codes, weights.weights, strict=True) if weight)
    budget = table.columns[own.column]
    return WeightedRead(
        question=question,
        atom=atom,
        weights=weights,
        options=options,
        share=share,
        active=active,
        unit=weights.mean * atom.steps * (1 if atom.upwards else -1),
        need=_need(question, atom, budget, active),
        cost=_cost(question, weights, budget, active),
    )


def _need(question: Question, atom: Atom, budget: Column, active: Sequence[int]) -> Need:
    """Return the need: the rows of the classes that are read, group by group and class by class."""
    inside = AllOf((question.where, Within(budget.name, active[0], None)))
    groups = tuple((*group, code) for group in question.groups for code in active)
    aggregates = tuple(aggregate for aggregate, _ in atom.weights)
    return Need(question.table, (*question.keys, budget), groups, inside, aggregates)


def _cost(question: Question, weights: ClassWeights, budget: Column, active: Sequence[int]) -> GroupSpending:
    """Return the cost: for each class that is read, the share of its own budget that is lost."""
    by_class = replace(question, keys=(budget,), groups=tuple((code,) for code in active))
    keys, shares = group_keys(by_class), [share for share in weights.shares if share]
    if keys is None:
        raise BugError("budgets are numbers of a grid")
    return GroupSpending(grouping_of(by_class), tuple(zip(keys, shares, strict=True)))


def _share(share: Amount | None) -> Epsilon:
    part = exact_fraction(USUAL_SHARE if share is None else share, "share")
    if not 0 < part <= 1 or (part * NANO).denominator != 1:
        rule = "it must be a share of each person's own budget, above 0 and at most 1, with at most nine decimals"
        raise ArgumentError("share", share, rule, "Pass 0.25, say")
    return Epsilon(part)


def _check_asked(question: Question, own: OwnBudgets) -> None:
    """Refuse what is not one count or sum, and what asks about budgets, which only the curator sees."""
    if isinstance(question.formula, bool) or not question.groups:
        rule = "its answer does not depend on the data"
        raise ArgumentError("sql", question.text, rule, "Ask about groups and thresholds that rows can reach")
    if len(question.atoms) != 1 or question.atoms[0].per_row:
        rule = "where people have budgets of their own, a question has one COUNT or SUM"
        raise ArgumentError("sql", question.text, rule, "Keep one condition, without AVG")
    if own.column in with_bands(columns_used(question), question.table):
        raise ArgumentError("sql", own.column, "no question may be about what people allow", "Leave this column out")
