"""What a mechanism has to reach: derived once from a question and its options, before anything is read.

A promise about false alarms is one about misses of the complement: the finished formula is negated here, once, and the
answer is turned back in `decision_plan.py`. Mechanisms know one direction only.
Reads: a question, options, declarations. Writes: nothing. Never: data.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from thresher.accounting import CommonSpending, Grouping
from thresher.amounts import Amount, Epsilon
from thresher.decisions.decision_options import Options, named_epsilon
from thresher.decisions.default_width import default_width
from thresher.decisions.margin import parts_apart
from thresher.decisions.uncertain_region import UncertainRegion
from thresher.errors import ArgumentError, BugError
from thresher.noise.arguments import checked_confidence
from thresher.question import Aggregate, Atom, Formula, Need, Question, grouping_of, negated, sensitivity

# The half width of a condition, and by how much one unit moves it, in steps of its weighted sum.
Tolerance = tuple[int, int]
# Where no limit is declared, one question may cost the tenth part of the table's budget.
_SHARE = 10
# Where no range is declared, at least this one is taken.
_LEAST_RANGE = 1000
_USUAL_CONFIDENCE = Fraction(98, 100)


@dataclass(frozen=True, slots=True)
class Aim:
    """The rates and widths to keep, for how many groups, and the most that it may cost.

    first_rate, second_rate    the rate of the error that is bounded first, and of the other
    tolerances     of each condition in the question's text
    asked_width    whether the tolerances were asked for, and do not follow from the range
    limit          the most that one group may cost; None if there is no limit
    widest         the public range of the margins, in units: it sets the first, cheapest look; None if none is declared
    farthest       the largest threshold, in units: thresholds are public
    delta          the probability with which a statement about all groups together may fail
    insists        whether a confidence was asked for: without that statement the question is refused
    levels, first_epsilon    how to climb, where looks are at fixed levels
    usual          the half width where none is asked for, in units: it follows from the thresholds
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
    usual: int = 1

    @property
    def finest(self) -> int | None:
        """Return the finest half width that is worth a look; None leaves it to the mechanism."""
        return min(slack // spread for slack, spread in self.tolerances) if self.asked_width else None

    @property
    def width(self) -> int:
        """Return the half width asked for, or the usual one, in units."""
        return self.usual if self.finest is None else self.finest

    @property
    def reach(self) -> Fraction:
        """Return the range of the margins as declared, or ten times the largest threshold."""
        return self.widest or max(Fraction(_LEAST_RANGE), 10 * self.farthest)

    def limited(self, max_epsilon: Amount, confidence: Amount | None) -> "Aim":
        """Return the aim within a limit on epsilon; with a confidence, a certificate is insisted on."""
        limit = named_epsilon(max_epsilon, "max_epsilon")
        if not limit:
            raise ArgumentError("max_epsilon", max_epsilon, "it must be above zero", "Pass 1, say")
        delta = self.delta if confidence is None else 1 - checked_confidence(confidence)
        return replace(self, limit=limit, delta=delta, insists=confidence is not None)


@dataclass(frozen=True, slots=True)
class Asked:
    """Hold a question with its options, and what planning derives from them.

    measured    the formula whose margins are measured: the complement, if false alarms are bounded first
    apart       those of its ANDs and ORs in which one unit moves one part only
    times       how many groups a unit pays for at once
    widened     how many times as wide the half widths are as asked for: this is how other widths are priced
    """

    question: Question
    options: Options
    measured: Formula
    sensitivities: Mapping[Atom, int]
    apart: tuple[Formula, ...]
    need: Need
    grouping: Grouping
    times: int
    aim: Aim
    widened: Fraction = Fraction(1)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return tuple(self.sensitivities)

    @property
    def written(self) -> tuple[Atom, ...]:
        """Return the conditions in the question's text; all conditions if none of them is there."""
        return tuple(_written(self.sensitivities))

    def cost_of(self, epsilon: Epsilon) -> CommonSpending:
        """Return what is reserved if each group may lose this much."""
        return CommonSpending(self.grouping, epsilon)

    def for_one_unit(self, epsilon: Epsilon) -> Epsilon:
        """Return what a cost for each group comes to for one unit, which may be in several groups."""
        return epsilon * self.times

    def scaled(self, times: Fraction) -> "Asked":
        """Return the question with half widths this many times as wide."""
        region = (self.options.region or UncertainRegion()).scaled(self.widened * times)
        tolerances = _tolerances(self.question, self.written_spreads, region)
        return replace(self, aim=replace(self.aim, tolerances=tolerances), widened=self.widened * times)

    def looser(self) -> "Asked":
        """Return the question with twice the rate of the error that is bounded first."""
        return replace(self, aim=replace(self.aim, first_rate=2 * self.aim.first_rate))

    @property
    def written_spreads(self) -> dict[Atom, int]:
        """Return the conditions in the question's text, and by how much one unit moves each."""
        return _written(self.sensitivities)


def asked_of(question: Question, options: Options, *, widths: bool = True) -> Asked:
    """Return all that follows from a question and its options. Half widths of unknown aggregates are refused.

    `widths`: whether half widths are needed; those that were not asked for then follow from the range.
    """
    if isinstance(question.formula, bool):
        raise BugError("planning was asked to measure a formula without conditions")
    table, region = question.table, options.region or UncertainRegion()
    region.check([atom.aggregate for atom in question.atoms if atom.written])
    measured = question.formula if options.misses_first else negated(question.formula)
    formula = replace(question, formula=measured)
    spreads = {atom: sensitivity(atom, table) for atom in formula.atoms}
    grouping = grouping_of(question)
    one_group = set(grouping.columns) <= set(grouping.fixed_columns)
    times = 1 if one_group else grouping.max_groups_per_unit
    # The first look needs to tell only the largest group from an empty one.
    widest = None if table.count_range is None else Fraction(table.count_range, table.rows_per_unit)
    aim = Aim(
        *options.rates,
        _tolerances(question, _written(spreads), region) if widths else (),
        asked_width=options.region is not None,
        usual=default_width(question, _written(spreads)),
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
    """Return the name of the limit that ends the measuring of a question."""
    named = (name for name, limit in limits_of(question, options).items() if limit is not None)
    usual = f"tenth of the budget of {question.table.name}, which is the limit where none is declared"
    return next(named, usual)


def limits_of(question: Question, options: Options) -> dict[str, Epsilon | None]:
    """Return what one question may cost, by the name of the limit."""
    of_table = f"max_epsilon_per_question of {question.table.name}"
    return {"max_epsilon": options.max_epsilon, of_table: question.table.max_epsilon_per_question}


def _limit(question: Question, options: Options, times: int) -> Epsilon:
    """Return the limit for one group: a unit that is in `times` groups loses no more than the limit on a question."""
    table = question.table
    most = options.max_epsilon or table.max_epsilon_per_question or Epsilon.from_nano(table.budget.nano // _SHARE)
    return Epsilon.from_nano(most.nano // times)


def _written(spreads: Mapping[Atom, int]) -> dict[Atom, int]:
    """Return the conditions in the question's text; all conditions if none of them is there."""
    return {atom: spread for atom, spread in spreads.items() if atom.written} or dict(spreads)


def _need(question: Question) -> Need:
    """Return the need of each aggregate of the formula, once."""
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
