"""A question about a table of own budgets as a plan: read by class of budget, weighted, charged as shares.

    question + class sizes (public) ─► class weights ─► need by group and class ─► one noisy weighted sum a group

Reads: declarations, a question, public sizes, what the ledger says is spent. Writes: nothing. Never: a row before the
charge is on disk; a choice that depends on one. What nobody loses more than: `class_weights.md`.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from thresher.accounting import GroupSpending, Spending
from thresher.amounts import NANO, Amount, Epsilon, exact_fraction
from thresher.config import OwnBudgets
from thresher.errors import ArgumentError, BugError
from thresher.noise import Entropy
from thresher.personal.class_sizes import own_budgets_of
from thresher.personal.class_weights import ClassWeights, class_weights
from thresher.plan import OldPlan
from thresher.question import (
    AllOf,
    Atom,
    Exact,
    Need,
    Question,
    Within,
    columns_of,
    group_keys,
    grouping_of,
    sensitivity,
)

# Of each person's own budget, if nothing is said: four such questions use it up.
USUAL_SHARE = Fraction(1, 4)
_MOST_CELLS = 1_000_000


@dataclass(frozen=True, slots=True)
class WeightedRead:
    """What is read and charged for a question: the same for a count and for a decision."""

    question: Question
    weights: ClassWeights
    share: Epsilon
    # Whether it draws on what earlier questions left, and not on the whole budgets.
    leftovers: bool = False

    @property
    def own(self) -> OwnBudgets:
        return own_budgets_of(self.question.table)

    @property
    def atom(self) -> Atom:
        return self.question.atoms[0]

    @property
    def active(self) -> list[int]:
        """The codes of the classes that are read."""
        return [code for code, weight in zip(self.own.codes, self.weights.weights, strict=True) if weight]

    @property
    def unit(self) -> Fraction:
        """So many weights are one of what is counted; below 0 if less is asked for."""
        return self.weights.mean * self.atom.steps * (1 if self.atom.upwards else -1)

    @property
    def need(self) -> Need:
        asked, active = self.question, self.active
        budget = asked.table.columns[self.own.column]
        inside = AllOf((asked.where, Within(budget.name, active[0], None)))
        groups = tuple((*group, code) for group in asked.groups for code in active)
        aggregates = tuple(aggregate for aggregate, _ in self.atom.weights)
        return Need(asked.table, (*asked.keys, budget), groups, inside, aggregates)

    @property
    def cost(self) -> Spending:
        """For each class that is read, the share of its own budget that is lost."""
        asked, active = self.question, self.active
        budget = asked.table.columns[self.own.column]
        by_class = replace(asked, keys=(budget,), groups=tuple((code,) for code in active))
        keys, shares = group_keys(by_class), [share for share in self.weights.shares if share]
        if keys is None:
            raise BugError("budgets are numbers of a grid")
        return GroupSpending(grouping_of(by_class), tuple(zip(keys, shares, strict=True)))

    @property
    def largest_share(self) -> Epsilon:
        return max(self.weights.shares)

    def identity(self, how: dict[str, str]) -> str:
        """What makes it the same question. Not what is left: asked again, it is the stored answer."""
        table = self.question.table
        said = {
            "question": self.question.text,
            "mechanism": "weighted",
            "look": "personal",
            "share": self.share.to_json(),
            "leftovers": self.leftovers,
            "roster": hashlib.sha256(repr(self.weights.sizes).encode()).hexdigest()[:32],
            "data": table.fingerprint(),
            "unit": None if table.contribution is None else table.contribution.unit,
            **how,
        }
        return json.dumps(said)

    def sums(self, exact: Exact | None, entropy: Entropy) -> list[int]:
        """The noisy weighted sum of each group."""
        if exact is None:
            raise BugError("a personal question needs data")
        each = np.array([weight for _, weight in self.atom.weights], dtype=object)
        cells = exact.unseal().astype(object) @ each
        shape = (len(self.question.groups), len(self.active))
        return self.weights.released(cells.reshape(shape), entropy)


@dataclass(frozen=True, slots=True)
class ReadPlan(OldPlan):
    """What a plan for a count and one for a decision share: all that follows from what is read."""

    read: WeightedRead
    shows_levels: ClassVar[bool] = False

    @property
    def account(self) -> str:
        return self.read.question.table.account

    @property
    def need(self) -> Need:
        return self.read.need

    @property
    def cost(self) -> Spending:
        return self.read.cost

    @property
    def epsilon(self) -> Epsilon:
        """The largest share of anybody's own budget."""
        return self.read.largest_share

    @property
    def limits(self) -> dict[str, Epsilon | None]:
        return {}

    @property
    def written_key(self) -> str | None:
        return self.read.question.options.get("key")

    def affordable(self, limit: Epsilon) -> str | None:
        told = f"Pass share={limit}, or" if limit else "Nothing is left for some: pass"
        return f"{told} leftovers=True to draw on what each class has left"


def weighted_read(
    question: Question, sizes: Sequence[int], share: Amount | None, spent: Sequence[Epsilon] | None = None
) -> WeightedRead:
    """What a question reads; `spent` are shares of classes that are gone, if it is to draw on what is left."""
    own, part = own_budgets_of(question.table), _share(share)
    _check_asked(question, own)
    nano = [own.nano(code) for code in own.codes]
    gone = [Fraction(0)] * len(nano) if spent is None else [amount.fraction for amount in spent]
    left = [budget * max(Fraction(0), 1 - lost) for budget, lost in zip(nano, gone, strict=True)]
    allowed = [part.fraction * most / NANO for most in left]
    if len(question.groups) * len(nano) > _MOST_CELLS:
        cells = f"{len(question.groups):,} groups in {len(nano):,} classes of budgets"
        raise ArgumentError("sql", cells, f"{_MOST_CELLS:,} cells are the most", "Ask about fewer groups")
    table, each = question.table, sensitivity(question.atoms[0], question.table)
    one_group = {column.name for column in question.keys} <= set(table.fixed_columns)
    groups = 1 if table.contribution is None or one_group else table.contribution.max_groups
    weights = class_weights(nano, allowed, sizes, each * groups, each)
    return WeightedRead(question, weights, part, spent is not None)


def _share(share: Amount | None) -> Epsilon:
    part = exact_fraction(USUAL_SHARE if share is None else share, "share")
    if not 0 < part <= 1 or (part * NANO).denominator != 1:
        rule = "it is a share of each person's own budget, above 0, at most 1, with nine decimals at most"
        raise ArgumentError("share", share, rule, "Pass 0.25, say")
    return Epsilon(part)


def _check_asked(question: Question, own: OwnBudgets) -> None:
    """One count or sum, and nothing about budgets, which are the curator's to see."""
    if isinstance(question.formula, bool) or not question.groups:
        rule = "its answer does not depend on the data"
        raise ArgumentError("sql", question.text, rule, "Ask about groups and thresholds that rows may reach")
    if len(question.atoms) != 1 or question.atoms[0].per_row:
        rule = "with budgets of their own, people are asked for one COUNT or SUM at a time"
        raise ArgumentError("sql", question.text, rule, "Keep one condition, without AVG")
    atom = question.atoms[0]
    named = {column.name for column in question.keys} | columns_of(question.where)
    for aggregate, _ in atom.weights:
        named |= columns_of(aggregate.where) | ({aggregate.column} if aggregate.column else set())
    banded = {name for name in named if getattr(question.table.columns[name].kind, "of", None) == own.column}
    if own.column in named or banded:
        raise ArgumentError("sql", own.column, "what people allow is not asked about", "Leave the column out")
