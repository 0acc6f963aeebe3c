"""`show="values"`: a plan that measures the numbers behind a verdict, together where that is cheaper.

The default measures one margin for each group, which is cheaper and tells nothing but the verdict. Proof: `values.md`.
Reads: a question, a wish, and, inside `run`, sealed aggregates. Writes: nothing. Never: a source, a ledger.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from thresher.accounting import CommonSpending, Spending
from thresher.amounts import Epsilon
from thresher.decisions.constant import ConstantPlan, needs_no_data
from thresher.decisions.implicants import Sets, primes
from thresher.decisions.measured import protected
from thresher.decisions.measures import Literal, Measured, measured
from thresher.decisions.promise import counting
from thresher.decisions.rules import Terms, affordable
from thresher.decisions.signatures import signatures
from thresher.decisions.trees import Tree, numbered
from thresher.decisions.uncertain_region import UncertainRegion
from thresher.decisions.values_look import Cut, answers_of, combined, judged, noisy_readings
from thresher.decisions.values_planner import Strategy, Task, planned
from thresher.decisions.values_shown import Display, displays
from thresher.decisions.values_text import explained, promised
from thresher.decisions.verdicts import MISSES, SEEN_ABOVE, SEEN_BELOW, SEEN_BETWEEN
from thresher.decisions.wishes import Wish
from thresher.errors import BugError
from thresher.noise import Entropy, least_distance
from thresher.plan import ABOVE, BELOW, UNCERTAIN, Guarantee, OldPlan, Release
from thresher.question import Aggregate, Atom, Exact, Need, Question, grouping_of, sensitivity

NAME = "values"
_WORDS = {SEEN_ABOVE: ABOVE, SEEN_BETWEEN: UNCERTAIN, SEEN_BELOW: BELOW}


@dataclass(frozen=True, slots=True)
class Measurement:
    """What is measured, how verdicts follow from it, and what is shown: all of it known before anything is read."""

    tree: Tree
    found: Measured
    strategy: Strategy
    cuts: Mapping[int, Cut]
    displays: tuple[Display, ...]

    @property
    def literals(self) -> dict[int, Literal]:
        return dict(enumerate(self.found.literals))


@dataclass(frozen=True, slots=True)
class ValuesPlan(OldPlan):
    """Which groups satisfy a formula, and the noisy numbers that say so."""

    question: Question
    wish: Wish
    measurement: Measurement
    need: Need
    cost: CommonSpending
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

    recall = staticmethod(Release.from_bytes)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Release, Spending]:
        """Unseal, add noise to every reading, and make all else of the noisy ones."""
        if exact is None:
            raise BugError("a decision about data was run without data")
        took = self.measurement
        readings = noisy_readings(took.strategy, self.need, exact, entropy)
        answers = answers_of(took.strategy).items()
        numbers = {member: (combined(answer, readings[i]), answer.over) for member, (i, answer) in answers}
        verdict = judged(took.tree, took.literals, took.cuts, numbers, self.wish.terms.bound)
        question = self.question
        release = Release(
            question=question.text,
            mechanism=NAME,
            keys=tuple(column.name for column in question.keys),
            groups=tuple(question.labels()),
            verdicts=tuple(_WORDS[one] for one in verdict.tolist()),
            epsilons=(took.strategy.epsilon,) * len(question.groups),
            half_width=self.guarantee.half_width,
            guarantee=self.guarantee,
            planned_epsilon=self.epsilon,
            spent_epsilon=self.epsilon,
            bound=self.wish.terms.bound,
            values=tuple(display.shown(readings) for display in took.displays),
            stamp=entropy.stamp,
            notes=self.notes,
        )
        return release, self.cost

    def identity_text(self) -> str:
        """What makes it the same question: its normal form, what is measured at which rates, and of which data."""
        strategy = self.measurement.strategy
        blocks = zip(strategy.blocks, strategy.epsilons, strict=True)
        said = {
            "data": self.question.table.fingerprint(),
            "false_alarm_rate": self.guarantee.false_alarm_rate,
            "look": [[block.kind, list(block.members), epsilon.to_json()] for block, epsilon in blocks],
            "cuts": [[place, cut.short, cut.certain] for place, cut in self.measurement.cuts.items()],
            "bound": self.wish.terms.bound,
            "mechanism": NAME,
            "miss_rate": self.guarantee.miss_rate,
            "question": self.question.text,
            "unit": protected(self.question.table),
        }
        return json.dumps(said, sort_keys=True)

    def cost_of(self, terms: Terms, times: Fraction) -> Epsilon:
        """What the question would cost on other terms, or if its uncertain region were so many times as wide."""
        task = task_of(self.question, terms, self.wish.region.scaled(times))[0]
        return largest(CommonSpending(self.cost.grouping, planned(task).epsilon))

    def affordable(self, limit: Epsilon) -> str | None:
        """What to change so that it keeps within a limit, in words."""
        return affordable(self.cost_of, self.wish.terms, limit)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know beside the promise."""
        told = counting(self.question.table)
        measured_ones = {one.measure for one in (self.measurement.found.literals[p] for p in self.measurement.cuts)}
        unread = [
            f"{atom.text} makes no difference to the answer and is not measured"
            for atom, one in zip(self.question.atoms, self.measurement.found.literals, strict=True)
            if atom.written and one.measure not in measured_ones
        ]
        return (*self.question.notes, *([told] if told else []), *unread)

    def __repr__(self) -> str:
        return f"<ValuesPlan: {len(self.question.groups)} groups, epsilon {self.epsilon}>"

    def __str__(self) -> str:
        took = self.measurement
        halved = self.cost_of(self.wish.terms, Fraction(1, 2))
        return explained(self.question, took.found, took.strategy, self.epsilon, halved, self.guarantee, self.notes)

    def document(self) -> dict[str, Any]:
        """The plan for JSON."""
        strategy = self.measurement.strategy
        return {
            "question": self.question.text,
            "mechanism": NAME,
            "bound": self.wish.terms.bound,
            "groups": len(self.question.groups),
            "conditions": [atom.text for atom in self.question.atoms],
            "shown": [display.text for display in self.measurement.displays],
            "epsilon": self.epsilon.to_json(),
            "epsilon_with_half_the_region": self.cost_of(self.wish.terms, Fraction(1, 2)).to_json(),
            "half_width_in_units": self.guarantee.half_width,
            "measured": [
                {"kind": block.kind, "readings": len(block.readings), "epsilon": epsilon.to_json()}
                for block, epsilon in zip(strategy.blocks, strategy.epsilons, strict=True)
            ],
            "guarantee": {name: getattr(self.guarantee, name) for name in Guarantee.__slots__},
            "notes": list(self.notes),
        }


def plan_values(question: Question, wish: Wish) -> ValuesPlan | ConstantPlan:
    """The least epsilon that was found at which the numbers keep the wish. Touches no data."""
    if isinstance(question.formula, bool) or not question.groups:
        return ConstantPlan(question)
    wish.region.check([atom.aggregate for atom in question.atoms if atom.written])
    if wish.terms.free:
        return ConstantPlan(question, wish.terms.bound, needs_no_data(wish.terms))
    task, tree, others = task_of(question, wish.terms, wish.region)
    strategy, found, table = planned(task), task.measured, question.table
    cuts = _cuts(found, strategy, others, wish.terms.rates[1])
    shown = displays(question.atoms, found, strategy, table, wish.terms.rates[0])
    measurement = Measurement(tree, found, strategy, cuts, shown)
    readings = [reading for block in strategy.blocks for reading in block.readings]
    read: dict[Aggregate, None] = dict.fromkeys(aggregate for one in readings for aggregate, _ in one.weights)
    need = Need(table, question.keys, question.groups, question.where, tuple(read))
    cost = CommonSpending(grouping_of(question), strategy.epsilon)
    widths, clear = _distances(found, strategy, cuts)
    return ValuesPlan(question, wish, measurement, need, cost, largest(cost), promised(question, wish, widths, clear))


def task_of(question: Question, terms: Terms, region: UncertainRegion) -> tuple[Task, Tree, Sets]:
    """What the planner is asked, the formula over numbers, and the sets along which the other error adds up."""
    if isinstance(question.formula, bool):
        raise BugError("a constant formula has no numbers")
    tree, atoms = numbered(question.formula)
    found = measured(atoms, _slacks(atoms, question, region), question.table)
    known = primes(tree)
    first, other = known.implicants, known.implicates
    if terms.bound != MISSES:
        first, other = other, first
    return Task(found, signatures(found.filters, question.table, question.where), first, terms.rates[0]), tree, other


def largest(spending: CommonSpending) -> Epsilon:
    """What it comes to for one unit, which may be in several groups."""
    return max(amount for loss in spending.losses() for _, amount in loss.regions())


def _slacks(atoms: tuple[Atom, ...], question: Question, region: UncertainRegion) -> list[int]:
    """The half width of each condition in steps; one that nobody wrote has the widest of the others, in units."""
    table = question.table
    spreads = [sensitivity(atom, table) for atom in atoms]
    slacks = {i: region.slack_of(atom, table) for i, atom in enumerate(atoms) if atom.written}
    widest = max(Fraction(slack, spreads[i]) for i, slack in slacks.items())
    return [slacks.get(i, int(widest * spread)) for i, spread in enumerate(spreads)]


def _cuts(found: Measured, strategy: Strategy, others: Sets, rate: Fraction) -> dict[int, Cut]:
    """For each condition that makes a difference; the other rate is divided by the largest set it is in."""
    answers = answers_of(strategy)
    cuts = {}
    for place in sorted({place for members in others for place in members}):
        literal = found.literals[place]
        block, answer = answers[literal.measure]
        share = rate / max(len(members) for members in others if place in members)
        cuts[place] = Cut(literal.slack, least_distance(answer.noise, strategy.epsilons[block].fraction, share))
    return cuts


def _distances(found: Measured, strategy: Strategy, cuts: Mapping[int, Cut]) -> tuple[Fraction, Fraction]:
    """The widest half width, and the distance from which the other rate holds for reports too, in privacy units."""
    answers, widths, clear = answers_of(strategy), [], []
    for place, cut in cuts.items():
        measure = found.literals[place].measure
        spread, whole = found.measures[measure].sensitivity, answers[measure][1].over == 1
        widths.append(Fraction(cut.short, spread))
        clear.append(Fraction(cut.short + cut.certain + (0 if whole else 1), spread))
    return max(widths), max(clear)
