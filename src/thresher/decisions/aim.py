"""What a mechanism is to reach: derived once from a question and its options, before anything is read.

A promise about false alarms is one about misses of the complement: the finished formula is negated here, once, and the
answer is turned back in `decision_plan.py`. Mechanisms know one direction only.
Reads: a question, options, declarations. Writes: nothing. Never: data.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from thresher.accounting import CommonSpending, Grouping
from thresher.amounts import NANO, Amount, Epsilon
from thresher.decisions.decision_options import Options, named_epsilon
from thresher.decisions.margin import parts_apart
from thresher.decisions.uncertain_region import UncertainRegion
from thresher.errors import ArgumentError, BugError
from thresher.noise.arguments import checked_confidence
from thresher.question import Aggregate, Atom, Formula, Need, Question, grouping_of, negated, sensitivity

# (how far a condition may be off, by how much one unit moves it), in steps of its weighted sum.
Tolerance = tuple[int, int]
# Where no limit is declared, one question may cost this part of the table's budget.
_SHARE = 10
# A range that is guessed is not smaller than this.
_LEAST_RANGE = 1000
# With fewer groups than this there is one look, at a half width.
FEWEST_FOR_LEVELS = 5
_USUAL_CONFIDENCE = Fraction(98, 100)


@dataclass(frozen=True, slots=True)
class Aim:
    """Rates and widths that are to be kept, for how many groups, and at what cost at most.

    first_rate, second_rate    the error that is bounded first, and the other
    tolerances     of each condition that somebody wrote
    asked_width    whether the tolerances were asked for, and not taken from the range
    limit          for one group; None where nothing limits it
    widest         the public range of the margins, in units: it sets the first, cheapest look; None if none is declared
    farthest       the largest threshold, in units: thresholds are public
    delta          the chance that a statement about all groups together may fail
    insists        the asker named a confidence, so wants that statement or a refusal
    levels, first_epsilon    how to climb, where looks are at fixed levels
    """

    first_rate: Fraction
    second_rate: Fraction
    tolerances: tuple[Tolerance, ...]
    asked_width: bool = True
    groups: int = 0
    limit: Epsilon | None = None
    widest: Fraction | None = None
    farthest: Fraction = Fraction(0)
    delta: Fraction = 1 - _USUAL_CONFIDENCE
    insists: bool = False
    levels: int = 4
    first_epsilon: Epsilon | None = None

    @property
    def finest(self) -> int | None:
        """The sharpest half width that is worth a look; None leaves it to the mechanism."""
        return min(slack // spread for slack, spread in self.tolerances) if self.asked_width else None

    @property
    def reach(self) -> Fraction:
        """The range of the margins as declared, or ten times the largest threshold."""
        return self.widest or max(Fraction(_LEAST_RANGE), 10 * self.farthest)

    def limited(self, max_epsilon: Amount, confidence: Amount | None) -> "Aim":
        """The same within a limit on epsilon, with a certificate wanted at this confidence, if any is named."""
        limit = named_epsilon(max_epsilon, "max_epsilon")
        if not limit:
            raise ArgumentError("max_epsilon", max_epsilon, "it must be above zero", "Pass 1, say")
        delta = self.delta if confidence is None else 1 - checked_confidence(confidence)
        return replace(self, limit=limit, delta=delta, insists=confidence is not None)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its options, and all that planning derives from them, once.

    measured    the formula whose margins are measured: the complement, if false alarms are bounded first
    apart       the parts of it of which one unit moves one part only
    """

    question: Question
    options: Options
    measured: Formula
    sensitivities: Mapping[Atom, int]
    apart: tuple[Formula, ...]
    need: Need
    grouping: Grouping
    # How many groups a unit pays for at once.
    times: int
    aim: Aim
    # So many times as wide as asked for: what the same question would cost is asked with other widths.
    widened: Fraction = Fraction(1)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return tuple(self.sensitivities)

    @property
    def written(self) -> tuple[Atom, ...]:
        """The conditions that somebody wrote; all of them if none was."""
        return tuple(atom for atom in self.sensitivities if atom.written) or self.atoms

    def cost_of(self, epsilon: Epsilon) -> CommonSpending:
        """What is reserved if every group may lose this much."""
        return CommonSpending(self.grouping, epsilon)

    def for_one_unit(self, epsilon: Epsilon) -> Epsilon:
        """What it comes to for one unit, which may be in several groups."""
        return epsilon * self.times

    def scaled(self, times: Fraction) -> "Asked":
        """The same with an uncertain region so many times as wide."""
        region = (self.options.region or UncertainRegion()).scaled(self.widened * times)
        tolerances = _tolerances(self.question, self.written_spreads, region)
        return replace(self, aim=replace(self.aim, tolerances=tolerances), widened=self.widened * times)

    def looser(self) -> "Asked":
        """The same with twice the rate of the error that is bounded first."""
        return replace(self, aim=replace(self.aim, first_rate=2 * self.aim.first_rate))

    @property
    def written_spreads(self) -> dict[Atom, int]:
        return {atom: self.sensitivities[atom] for atom in self.written}


def asked_of(question: Question, options: Options, *, widths: bool = True) -> Asked:
    """All that follows from a question and its options. Refuses widths for aggregates that it does not have.

    `widths`: whether half widths are needed, from the range where none were asked for.
    """
    if isinstance(question.formula, bool):
        raise BugError("a formula without conditions was to be measured")
    table, region = question.table, options.region or UncertainRegion()
    region.check([atom.aggregate for atom in question.atoms if atom.written])
    measured = question.formula if options.misses_first else negated(question.formula)
    formula = replace(question, formula=measured)
    spreads = {atom: sensitivity(atom, table) for atom in formula.atoms}
    grouping = grouping_of(question)
    apart = set(grouping.columns) <= set(grouping.fixed_columns)
    times = 1 if apart else grouping.max_groups_per_unit
    written = {atom: spread for atom, spread in spreads.items() if atom.written} or spreads
    # The first look needs to tell apart no more than the largest group from an empty one.
    widest = None if table.count_range is None else Fraction(table.count_range, table.rows_per_unit)
    aim = Aim(
        *options.rates,
        _tolerances(question, written, region) if widths else (),
        asked_width=options.region is not None,
        groups=len(question.groups),
        limit=_limit(question, options, times),
        widest=widest,
        farthest=_farthest(spreads),
        delta=1 - (options.confidence or _USUAL_CONFIDENCE),
        insists=options.confidence is not None,
        levels=options.levels,
        first_epsilon=options.first_epsilon,
    )
    return Asked(question, options, measured, spreads, parts_apart(formula), _need(formula), grouping, times, aim)


def limit_name(question: Question, options: Options) -> str:
    """Which limit one question is held to."""
    if options.max_epsilon is not None:
        return "max_epsilon"
    if question.table.max_epsilon_per_question is not None:
        return f"max_epsilon_per_question of {question.table.name}"
    return f"tenth of the budget of {question.table.name}, which is the limit where none is declared"


def limits_of(question: Question, options: Options) -> dict[str, Epsilon | None]:
    """What one question may cost, by the name of the limit."""
    of_table = f"max_epsilon_per_question of {question.table.account}"
    return {"max_epsilon": options.max_epsilon, of_table: question.table.max_epsilon_per_question}


def _limit(question: Question, options: Options, times: int) -> Epsilon:
    """For each group, so that one unit, which may be in several groups, loses no more than the limit on a question."""
    table = question.table
    most = options.max_epsilon or table.max_epsilon_per_question or Epsilon.from_nano(table.budget.nano // _SHARE)
    return Epsilon.from_nano(int(most.fraction / times * NANO))


def _need(question: Question) -> Need:
    """Every aggregate of the formula, once."""
    aggregates: dict[Aggregate, None] = dict.fromkeys(
        aggregate for atom in question.atoms for aggregate, _ in atom.weights
    )
    return Need(question.table, question.keys, question.groups, question.where, tuple(aggregates))


def _farthest(spreads: Mapping[Atom, int]) -> Fraction:
    return max(
        Fraction(abs(line), spread)
        for atom, spread in spreads.items()
        for line in (atom.at_least if isinstance(atom.at_least, tuple) else (atom.at_least,))
    )


def _tolerances(question: Question, spreads: Mapping[Atom, int], region: UncertainRegion) -> tuple[Tolerance, ...]:
    return tuple((region.slack_of(atom, question.table, spread), spread) for atom, spread in spreads.items())
