"""Plan `show="values"`: measure the numbers behind a verdict, together if that is cheaper. Proof: `values_plan.md`.

Reads: a question, options, and, inside `run`, sealed aggregates. Writes: nothing. Never: a source, a ledger.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from thresher.accounting import Spending
from thresher.amounts import Epsilon
from thresher.decisions.aim import Asked, asked_of, limits_of
from thresher.decisions.decision_options import Options
from thresher.decisions.decision_plan import ConstantPlan, constant_plan, decision_identity
from thresher.decisions.look import cheaper
from thresher.decisions.values.measures import FormulaNumbers, numbers_behind
from thresher.decisions.values.values_look import Cut, answers_of, combined_readings, noisy_readings, values_judged
from thresher.decisions.values.values_planner import Strategy, Task, strategy_for
from thresher.decisions.values.values_shown import Display, displays
from thresher.decisions.values.values_text import promised, values_details
from thresher.decisions.verdicts import words
from thresher.decisions.words import priced, questioned, widths
from thresher.errors import BugError
from thresher.noise import Entropy, least_distance
from thresher.plan import Plan, Statements, subject_of
from thresher.question import Aggregate, Exact, Need, Question
from thresher.question.implicants import Sets, primes
from thresher.question.signatures import signatures
from thresher.question.trees import Tree, numbered
from thresher.release import Release

FAMILY = "values"


@dataclass(frozen=True, slots=True)
class Measurement:
    """What is measured, how verdicts follow from it, and what is shown. All is known before anything is read."""

    tree: Tree
    formula: FormulaNumbers
    strategy: Strategy
    cuts: Mapping[int, Cut]
    displays: tuple[Display, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuesPlan(Plan[Release]):
    """A plan that answers which groups satisfy a formula, with the noisy numbers behind the verdicts."""

    asked: Asked
    measurement: Measurement

    @property
    def question(self) -> Question:
        return self.asked.question

    def recall(self, body: bytes, key: str) -> Release:
        return Release.from_bytes(body, key)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Release, Spending | None]:
        """Unseal, add noise to every reading, and make everything else of the noisy readings."""
        if exact is None or not isinstance(self.need, Need):
            raise BugError("a decision about data was run without data")
        measurement = self.measurement
        readings = noisy_readings(measurement.strategy, self.need, exact, entropy)
        answers = answers_of(measurement.strategy).items()
        numbers = {member: (combined_readings(answer, readings[i]), answer.over) for member, (i, answer) in answers}
        verdict = values_judged(measurement.tree, measurement.formula.literals, measurement.cuts, numbers)
        question, turned = self.question, not self.asked.options.misses_first
        release = Release(
            question=question.text,
            mechanism=FAMILY,
            keys=tuple(column.name for column in question.keys),
            groups=tuple(question.labels()),
            verdicts=words(-verdict if turned else verdict),
            epsilons=(measurement.strategy.epsilon,) * len(question.groups),
            guarantee=self.guarantee,
            planned_epsilon=self.epsilon,
            spent_epsilon=self.epsilon,
            bound=self.asked.options.bound,
            values=tuple(display.shown(readings) for display in measurement.displays),
            stamp=entropy.stamp,
            notes=self.notes,
        )
        return release, self.cost

    def affordable(self, limit: Epsilon) -> str | None:
        """Return advice on how to keep within a limit, if there is any."""
        return cheaper(self.asked, price, limit)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader should know beside the promise."""
        literals = self.measurement.formula.literals
        measures = {literals[place].measure for place in self.measurement.cuts}
        needless = [
            f"{atom.text} makes no difference to the answer and is not measured"
            for atom, literal in zip(self.asked.atoms, literals, strict=True)
            if atom.written and literal.measure not in measures
        ]
        return (*self.question.notes, *needless)

    def __repr__(self) -> str:
        return f"<ValuesPlan: {len(self.question.groups)} groups, epsilon {self.epsilon}>"

    def explanation(self) -> Statements:
        asked, literals = self.asked, self.measurement.formula.literals
        slacks = [Fraction(literals[i].slack) for i in range(len(asked.atoms))]
        return [
            *questioned(self.question),
            *widths(
                asked,
                slacks,
                usual="" if asked.options.region else "A default width; the option uncertain_region names another.",
            ),
            ("shown", "the noisy numbers behind the verdicts; verdicts alone can be cheaper"),
            ("promise", self.guarantee.sentence),
            *priced(asked, self.measurement.strategy.epsilon),
            *(("note", note) for note in self.notes),
        ]

    def details(self) -> Statements:
        measurement, halved = self.measurement, price(self.asked.scaled(Fraction(1, 2)))
        return values_details(self.asked, measurement.formula, measurement.strategy, halved, self.guarantee)

    def document(self) -> dict[str, Any]:
        """Return the plan for JSON."""
        strategy = self.measurement.strategy
        return {
            "question": self.question.text,
            "mechanism": FAMILY,
            "bound": self.asked.options.bound,
            "groups": len(self.question.groups),
            "conditions": [atom.text for atom in self.question.atoms],
            "shown": [display.text for display in self.measurement.displays],
            "epsilon": self.epsilon.to_json(),
            "epsilon_with_half_the_region": price(self.asked.scaled(Fraction(1, 2))).to_json(),
            "half_width_in_units": self.guarantee.document()["half_width"],
            "measured": [
                {"kind": block.kind, "readings": len(block.readings), "epsilon": epsilon.to_json()}
                for block, epsilon in zip(strategy.blocks, strategy.epsilons, strict=True)
            ],
            "guarantee": self.guarantee.document(),
            "notes": list(self.notes),
        }


def plan_values(question: Question, options: Options) -> ValuesPlan | ConstantPlan:
    """Plan at the least epsilon that the search finds for these options. Reads no data."""
    if (free := constant_plan(question, options)) is not None:
        return free
    asked = asked_of(question, options)
    task, tree, others = task_of(asked)
    strategy, formula, table = strategy_for(task), task.formula, question.table
    cuts = _cuts(formula, strategy, others, options.rates[1])
    shown = displays(asked.atoms, formula, strategy, table, options.rates[0])
    readings = [reading for block in strategy.blocks for reading in block.readings]
    read: dict[Aggregate, None] = dict.fromkeys(aggregate for one in readings for aggregate, _ in one.weights)
    return ValuesPlan(
        family=FAMILY,
        account=table.account,
        subject=subject_of(table),
        identity=decision_identity(asked, FAMILY, {"look": "values"}),
        need=Need(table, question.keys, question.groups, question.where, tuple(read)),
        cost=asked.cost_of(strategy.epsilon),
        epsilon=asked.for_one_unit(strategy.epsilon),
        guarantee=promised(asked, *_distances(formula, strategy, cuts)),
        limits=limits_of(question, options),
        written_key=question.options.get("key"),
        asked=asked,
        measurement=Measurement(tree, formula, strategy, cuts, shown),
    )


def price(asked: Asked) -> Epsilon:
    """Return what the numbers behind a question cost one unit."""
    return asked.for_one_unit(strategy_for(task_of(asked)[0]).epsilon)


def task_of(asked: Asked) -> tuple[Task, Tree, Sets]:
    """Return the planner's task, the formula over numbers, and the sets along which the other error adds up."""
    question = asked.question
    tree, atoms = numbered(asked.measured)
    formula, known = numbers_behind(atoms, _slacks(asked), question.table), primes(tree)
    filters = signatures(formula.filters, question.table, question.where)
    return Task(formula, filters, known.implicants, asked.aim.first_rate), tree, known.implicates


def _slacks(asked: Asked) -> list[int]:
    """Return the half width of each condition in steps; an added condition is as wide, in units, as the widest."""
    tolerances = zip(asked.written_spreads, asked.aim.tolerances, strict=True)
    slacks = {atom: slack for atom, (slack, _) in tolerances}
    widest = max(Fraction(slack, asked.sensitivities[atom]) for atom, slack in slacks.items())
    return [slacks.get(atom, int(widest * spread)) for atom, spread in asked.sensitivities.items()]


def _cuts(formula: FormulaNumbers, strategy: Strategy, others: Sets, rate: Fraction) -> dict[int, Cut]:
    """Return a cut for each condition that makes a difference: its share is the rate over its largest set's size."""
    answers = answers_of(strategy)
    cuts = {}
    for place in sorted({place for members in others for place in members}):
        literal = formula.literals[place]
        block, answer = answers[literal.measure]
        share = rate / max(len(members) for members in others if place in members)
        cuts[place] = Cut(literal.slack, least_distance(answer.noise, strategy.epsilons[block].fraction, share))
    return cuts


def _distances(formula: FormulaNumbers, strategy: Strategy, cuts: Mapping[int, Cut]) -> tuple[Fraction, Fraction]:
    """Return the widest half width, and the distance beyond which the other rate also bounds reports, in units."""
    answers, widths, clear = answers_of(strategy), [], []
    for place, cut in cuts.items():
        measure = formula.literals[place].measure
        spread, whole = formula.measures[measure].sensitivity, answers[measure][1].over == 1
        widths.append(Fraction(cut.short, spread))
        clear.append(Fraction(cut.short + cut.certain + (0 if whole else 1), spread))
    return max(widths), max(clear)
