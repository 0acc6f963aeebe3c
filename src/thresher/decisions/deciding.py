"""A question and a wish become a frozen plan: what to read, what it costs, what is promised, how to decide.

Reads: a question, a wish, and, inside `run`, sealed aggregates. Writes: nothing. Never: a source, a ledger.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from thresher.accounting import CommonSpending, Spending
from thresher.amounts import Epsilon
from thresher.config import Table
from thresher.decisions.constant import ConstantPlan
from thresher.decisions.explanation import counting, explained, promise, wide_regions
from thresher.decisions.margin import Whole, margins
from thresher.decisions.threshold_shift import Shift, look, priced_shift
from thresher.decisions.wishes import UncertainRegion, Wish
from thresher.errors import BugError
from thresher.noise import Entropy
from thresher.plan import ABOVE, BELOW, UNCERTAIN, Guarantee, Release
from thresher.question import (
    Aggregate,
    Atom,
    Exact,
    Need,
    Question,
    grouping_of,
    largest_value,
    sensitivity,
)

_ROOM = 1 << 62
_MOST_DOUBLINGS = 10


@dataclass(frozen=True, slots=True)
class DecisionPlan:
    """Which groups satisfy a formula, by one noisy look at their margins."""

    question: Question
    wish: Wish
    shift: Shift
    need: Need
    cost: Spending
    epsilon: Epsilon
    guarantee: Guarantee
    shows_levels: bool = False

    @property
    def account(self) -> str:
        return self.question.table.name

    @property
    def written_key(self) -> str | None:
        return self.question.options.get("key")

    @property
    def limits(self) -> dict[str, Epsilon | None]:
        of_table = f"max_epsilon_per_question of {self.account}"
        return {"max_epsilon": self.wish.max_epsilon, of_table: self.question.table.max_epsilon_per_question}

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Release, Spending]:
        """Unseal, take margins, look once. Nothing but noisy margins and what follows from them comes out."""
        if exact is None or isinstance(self.question.formula, bool):
            raise BugError("a decision about data was run without data")
        slacks, spreads = _slacks(self.need, self.question.atoms, exact), _sensitivities(self.question)
        held = margins(self.question.formula, slacks, spreads, self.shift.scale)
        seen = look(held, self.shift, entropy)
        verdicts = np.where(seen.certain & seen.reported, ABOVE, np.where(seen.reported, UNCERTAIN, BELOW))
        return self._release(tuple(verdicts.tolist()), tuple(seen.noisy.tolist()), entropy.stamp), self.cost

    def _release(self, verdicts: tuple[str, ...], noisy: tuple[int, ...], stamp: str) -> Release:
        question = self.question
        return Release(
            question=question.text,
            mechanism=self.wish.mechanism,
            keys=tuple(column.name for column in question.keys),
            groups=tuple(question.labels()),
            verdicts=verdicts,
            epsilons=(self.shift.epsilon,) * len(verdicts),
            half_width=self.guarantee.half_width,
            guarantee=self.guarantee,
            planned_epsilon=self.epsilon,
            spent_epsilon=self.epsilon,
            noisy=noisy,
            scale=self.shift.scale,
            stamp=stamp,
            notes=self.notes,
        )

    def identity(self) -> str:
        """What makes it the same question: its normal form, how it is decided, and what it is asked about."""
        shift = self.shift
        said = {
            "data": self.question.table.fingerprint(),
            "false_alarm_rate": self.guarantee.false_alarm_rate,
            "look": [shift.epsilon.to_json(), shift.scale, shift.steps, shift.certain, shift.clear],
            "mechanism": self.wish.mechanism,
            "miss_rate": self.guarantee.miss_rate,
            "question": self.question.text,
            "unit": protected(self.question.table),
        }
        return json.dumps(said, sort_keys=True)

    def cost_of(self, times: Fraction) -> Epsilon:
        """What the question would cost if its uncertain region were so many times as wide."""
        return _charged(
            self.question, _priced(self.question, self.wish, self.wish.region.scaled(times)).epsilon
        ).epsilon

    def affordable(self, limit: Epsilon) -> str | None:
        """The least doubling of the uncertain region that keeps within a limit, in words."""
        for times in (2**i for i in range(1, _MOST_DOUBLINGS + 1)):
            cost = self.cost_of(Fraction(times))
            if cost <= limit:
                return f"With {times} times the uncertain region it would cost {cost}"
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know beside the promise."""
        told = counting(self.question.table)
        return (*self.question.notes, *([told] if told else []), *wide_regions(self.question, self.shift))

    def __repr__(self) -> str:
        return f"<DecisionPlan: {len(self.question.groups)} groups, epsilon {self.epsilon}>"

    def __str__(self) -> str:
        return explained(
            self.question, self.wish, self.shift, self.epsilon, self.cost_of(Fraction(1, 2)), self.guarantee
        )

    def document(self) -> dict[str, Any]:
        """The plan for JSON."""
        return {
            "question": self.question.text,
            "mechanism": self.wish.mechanism,
            "groups": len(self.question.groups),
            "conditions": [atom.text for atom in self.question.atoms],
            "epsilon": self.epsilon.to_json(),
            "epsilon_with_half_the_region": self.cost_of(Fraction(1, 2)).to_json(),
            "half_width_in_units": self.guarantee.half_width,
            "guarantee": {name: getattr(self.guarantee, name) for name in Guarantee.__slots__},
            "notes": list(self.notes),
        }


def protected(table: Table) -> str | None:
    """The column that names who is protected; None if every row is a unit of its own."""
    return None if table.contribution is None else table.contribution.unit


def protected_by(identity: str) -> tuple[str | None] | None:
    """The unit that an earlier plan's identity names, in a tuple; None if that was no plan's."""
    try:
        said = json.loads(identity)
        return (said["unit"],) if "look" in said else None
    except (ValueError, KeyError, TypeError):
        return None


def plan_decision(question: Question, wish: Wish) -> DecisionPlan | ConstantPlan:
    """The least epsilon that keeps the wish. Touches no data."""
    if isinstance(question.formula, bool) or not question.groups:
        return ConstantPlan(question)
    atoms = question.atoms
    wish.region.check([atom.aggregate for atom in atoms if atom.written])
    shift = _priced(question, wish, wish.region)
    charged = _charged(question, shift.epsilon)
    aggregates: dict[Aggregate, None] = dict.fromkeys(aggregate for atom in atoms for aggregate, _ in atom.weights)
    need = Need(question.table, question.keys, question.groups, question.where, tuple(aggregates))
    return DecisionPlan(question, wish, shift, need, charged.cost, charged.epsilon, promise(question, wish, shift))


@dataclass(frozen=True, slots=True)
class _Charge:
    cost: CommonSpending
    epsilon: Epsilon


def _charged(question: Question, epsilon: Epsilon) -> _Charge:
    """Every group at one epsilon, and what that comes to for one unit."""
    cost = CommonSpending(grouping_of(question), epsilon)
    return _Charge(cost, max(amount for loss in cost.losses() for _, amount in loss.regions()))


def _priced(question: Question, wish: Wish, region: UncertainRegion) -> Shift:
    spreads = _sensitivities(question)
    wished = {atom: spread for atom, spread in spreads.items() if atom.written} or spreads
    tolerances = [(region.slack_of(atom, question.table), spread) for atom, spread in wished.items()]
    return priced_shift(wish.miss_rate, wish.false_alarm_rate, tolerances)


def _sensitivities(question: Question) -> dict[Atom, int]:
    return {atom: sensitivity(atom, question.table) for atom in question.atoms}


def _slacks(need: Need, atoms: Sequence[Atom], exact: Exact) -> Mapping[Atom, Whole]:
    """By how much each atom holds, group by group. Wide integers where the declarations allow large sums."""
    values = exact.unseal()
    place = {aggregate: i for i, aggregate in enumerate(need.aggregates)}
    slacks: dict[Atom, Whole] = {}
    for atom in atoms:
        wide = 16 * largest_value(atom, need.table) >= _ROOM
        kind = object if wide else np.int64
        # Only the columns of this atom: another's sums may be wider than 64 bits.
        weighted = sum(weight * values[:, place[aggregate]].astype(kind) for aggregate, weight in atom.weights)
        slacks[atom] = weighted - np.array(atom.at_least, dtype=kind)
    return slacks
