"""A question and a wish become a frozen plan: what to read, what it costs, what is promised, how to decide.

Reads: a question, a wish, and, inside `run`, sealed aggregates. Writes: nothing. Never: a source, a ledger.
"""

import hashlib
import json
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.accounting import CommonSpending, GroupSpending, Spending
from thresher.amounts import Epsilon
from thresher.config import decimal_text
from thresher.decisions.certified import CertifiedLadder
from thresher.decisions.constant import ConstantPlan, needs_no_data
from thresher.decisions.exclusive import parts_apart
from thresher.decisions.explanation import explained
from thresher.decisions.giving_back import MOST_LISTED
from thresher.decisions.half_widths import half_widths
from thresher.decisions.margin import margins
from thresher.decisions.measured import need_of, protected, sensitivities, slacks_of
from thresher.decisions.outlook import Outlook, outlooks
from thresher.decisions.prices import Prices, prices
from thresher.decisions.probing import ProbePlan, plan_probe
from thresher.decisions.promise import counting, promise, wide_regions
from thresher.decisions.question_limit import largest_loss, question_limit
from thresher.decisions.reaching import explained_reaching
from thresher.decisions.regimes import FEWEST_FOR_LEVELS
from thresher.decisions.rules import LADDERS, REACHING, Rule, Terms, affordable, decided, priced, regime
from thresher.decisions.three_way import ThreeWayLadder
from thresher.decisions.threshold_shift import Shift
from thresher.decisions.verdicts import SEEN_ABOVE, SEEN_BELOW, SEEN_BETWEEN, Verdicts
from thresher.decisions.wishes import PROBE, Wish
from thresher.errors import BugError
from thresher.noise import Entropy
from thresher.plan import ABOVE, BELOW, UNCERTAIN, Guarantee, OldPlan, Release
from thresher.question import Atom, Exact, Need, Question, group_keys, grouping_of

# A range that is guessed is not smaller than this.
_LEAST_RANGE = 1000
_WORDS = {SEEN_ABOVE: ABOVE, SEEN_BETWEEN: UNCERTAIN, SEEN_BELOW: BELOW}


@dataclass(frozen=True, slots=True)
class DecisionPlan(OldPlan):
    """Which groups satisfy a formula, by noisy looks at their margins."""

    question: Question
    wish: Wish
    rule: Rule
    need: Need
    cost: CommonSpending
    epsilon: Epsilon
    guarantee: Guarantee

    @property
    def account(self) -> str:
        return self.question.table.name

    @property
    def written_key(self) -> str | None:
        return self.question.options.get("key")

    @property
    def shows_levels(self) -> bool:
        return self.wish.mechanism in (*LADDERS, *REACHING) and not isinstance(self.rule, Shift)

    @property
    def limits(self) -> dict[str, Epsilon | None]:
        of_table = f"max_epsilon_per_question of {self.account}"
        return {"max_epsilon": self.wish.max_epsilon, of_table: self.question.table.max_epsilon_per_question}

    recall = staticmethod(Release.from_bytes)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Release, Spending]:
        """Unseal, take margins, look. Nothing but noisy margins and what follows from them comes out."""
        seen = decided(exact_margins(self.question, self.need, self.rule.scale, exact), self.rule, entropy)
        lost = self._lost(seen)
        return self._release(seen, lost, entropy.stamp), lost

    def _lost(self, seen: Verdicts) -> Spending:
        """What each group really lost: the level at which it stopped, which the release shows."""
        keys = group_keys(self.question) if len(self.question.groups) <= MOST_LISTED else None
        if keys is None or len(seen.levels) == 1:
            return CommonSpending(self.cost.grouping, seen.loss)
        return GroupSpending(self.cost.grouping, tuple(zip(keys, seen.epsilons, strict=True)))

    def _release(self, seen: Verdicts, lost: Spending, stamp: str) -> Release:
        question, guarantee = self.question, self.guarantee
        if self.wish.terms.best_effort or self.wish.mechanism in REACHING:
            guarantee = promise(question, self.wish, self.rule, seen)
        return Release(
            question=question.text,
            mechanism=self.wish.mechanism,
            keys=tuple(column.name for column in question.keys),
            groups=tuple(question.labels()),
            verdicts=tuple(_WORDS[verdict] for verdict in seen.verdict.tolist()),
            epsilons=seen.epsilons,
            half_width=guarantee.half_width,
            guarantee=guarantee,
            planned_epsilon=self.epsilon,
            spent_epsilon=largest_loss(lost),
            noisy=tuple(seen.noisy.tolist()),
            steps=tuple(seen.steps.tolist()) if self.shows_levels else (),
            scale=seen.scale,
            bound=seen.bound,
            latest=() if seen.latest is None else tuple(seen.latest.tolist()),
            certificate=None if seen.certificate is None else seen.certificate.document(),
            charged=lost.amount if isinstance(lost, CommonSpending) and np.ptp(seen.stopped) else None,
            measured=measured(question),
            stamp=stamp,
            notes=self.notes,
        )

    def identity_text(self) -> str:
        """What makes it the same question: its normal form, how it is decided, and what it is asked about."""
        said = {
            "data": self.question.table.fingerprint(),
            "false_alarm_rate": decimal_text(self.wish.false_alarm_rate),
            "look": self.rule.identity(),
            "mechanism": self.wish.mechanism,
            "miss_rate": decimal_text(self.wish.miss_rate),
            "question": self.question.text,
            "unit": protected(self.question.table),
        }
        return json.dumps(said, sort_keys=True)

    def cost_of(self, terms: Terms, times: Fraction) -> Epsilon:
        """What the question would cost on other terms, or if its uncertain region were so many times as wide."""
        rule = _priced(self.question, self.wish, terms, times)
        return largest_loss(CommonSpending(self.cost.grouping, rule.epsilon))

    def affordable(self, limit: Epsilon) -> str | None:
        """What to change so that it keeps within a limit, in words."""
        if isinstance(self.rule, CertifiedLadder | ThreeWayLadder):
            return f"With max_epsilon={limit} it would look less closely" if limit else None
        return affordable(self.cost_of, self.wish.terms, limit)

    def prices(self) -> Prices | None:
        """What one look would cost in other ways; None for a single condition, or where no range is declared."""
        if len([atom for atom in self.question.atoms if atom.written]) < 2 or self.question.table.count_range is None:
            return None
        return prices(self.question, self.wish)

    def outlooks(self) -> tuple[Outlook, ...]:
        """What groups would lose, by their distance from the line: simulated, on no data. None for a single look."""
        return outlooks(self.rule, len(self.question.groups)) if self.wish.mechanism in LADDERS else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know beside the promise."""
        told = counting(self.question.table)
        return (*self.question.notes, *([told] if told else []), *wide_regions(self.question, self.rule))

    def __repr__(self) -> str:
        return f"<DecisionPlan: {len(self.question.groups)} groups, epsilon {self.epsilon}>"

    def __str__(self) -> str:
        if not isinstance(self.rule, CertifiedLadder | ThreeWayLadder):
            halved = self.cost_of(self.wish.terms, Fraction(1, 2))
            return explained(self.question, self.wish, self.rule, self.epsilon, halved, self.guarantee, self.outlooks())
        told = told_regime(self.question, self.wish)
        return explained_reaching(
            self.question, self.wish, self.rule, self.epsilon, told, self.guarantee, self.prices()
        )

    def _of_the_region(self) -> dict[str, Any]:
        """What follows from the uncertain region, where one is asked for."""
        if isinstance(self.rule, CertifiedLadder | ThreeWayLadder):
            return {}
        return {
            "epsilon_with_half_the_region": self.cost_of(self.wish.terms, Fraction(1, 2)).to_json(),
            "half_widths": [width.document() for width in half_widths(self.question, self.wish, self.rule)],
        }

    def document(self) -> dict[str, Any]:
        """The plan for JSON."""
        return {
            "question": self.question.text,
            "mechanism": self.wish.mechanism,
            "bound": self.wish.terms.bound,
            "groups": len(self.question.groups),
            "conditions": [atom.text for atom in self.question.atoms],
            "epsilon": self.epsilon.to_json(),
            **self._of_the_region(),
            "half_width_in_units": self.guarantee.half_width,
            "regime": told_regime(self.question, self.wish),
            "prices": None if (beside := self.prices()) is None else beside.document(),
            "ladder": [level.document(self.rule.scale) for level in self.rule.ladder()],
            "outlook": [outlook.document() for outlook in self.outlooks()],
            "guarantee": {name: getattr(self.guarantee, name) for name in Guarantee.__slots__},
            "notes": list(self.notes),
        }


def exact_margins(question: Question, need: Need, scale: int, exact: Exact | None) -> NDArray[np.int64]:
    """The true margins of all groups: for a `run` only, which adds noise to them."""
    if exact is None or isinstance(question.formula, bool):
        raise BugError("a decision about data was run without data")
    slacks, apart = slacks_of(need, question.atoms, exact), parts_apart(question)
    return margins(question.formula, slacks, sensitivities(question), scale, apart)


def measured(question: Question) -> dict[str, Any] | None:
    """Of a single condition, its threshold and what it is a threshold of; such a threshold may be moved later."""
    atom = question.formula
    if not isinstance(atom, Atom):
        return None
    what = repr((question.where, [column.name for column in question.keys], atom.weights))
    at_least = list(atom.at_least) if isinstance(atom.at_least, tuple) else atom.at_least
    return {"at_least": at_least, "of": hashlib.sha256(what.encode()).hexdigest()[:32]}


def protected_by(identity: str) -> tuple[str | None] | None:
    """The unit that an earlier plan's identity names, in a tuple; None if that was no plan's."""
    try:
        said = json.loads(identity)
        return (said["unit"],) if "look" in said or "diagnostic" in said else None
    except (ValueError, KeyError, TypeError):
        return None


AnyPlan = DecisionPlan | ConstantPlan | ProbePlan


def plan_decision(question: Question, wish: Wish) -> AnyPlan:
    """The least epsilon that keeps the wish. Touches no data."""
    if isinstance(question.formula, bool) or not question.groups:
        return ConstantPlan(question)
    wish.region.check([atom.aggregate for atom in question.atoms if atom.written])
    if wish.mechanism == "tslm-zone":
        _ = wish.terms.two_rates
    if wish.terms.free:
        return ConstantPlan(question, wish.terms.bound, needs_no_data(wish.terms))
    if wish.mechanism in PROBE:
        return plan_probe(question, wish)
    rule = _priced(question, wish, wish.terms, Fraction(1))
    cost = CommonSpending(grouping_of(question), rule.epsilon)
    guarantee = promise(question, wish, rule)
    return DecisionPlan(question, wish, rule, need_of(question), cost, largest_loss(cost), guarantee)


def _priced(question: Question, wish: Wish, terms: Terms, times: Fraction) -> Rule:
    return priced(wish.mechanism, _known(question, wish, terms), _tolerances(question, wish, times))


def told_regime(question: Question, wish: Wish) -> str:
    """Which promise the number of groups allows, and why; empty for mechanisms that make one kind only."""
    if wish.mechanism not in REACHING:
        return ""
    terms, tolerances = _known(question, wish, wish.terms), _tolerances(question, wish, Fraction(1))
    return regime(wish.mechanism, terms, tolerances).told


def _known(question: Question, wish: Wish, terms: Terms) -> Terms:
    """The terms with what the question and the declarations say."""
    table = question.table
    # The first look of a ladder needs to tell apart no more than the largest group from an empty one.
    widest = None if table.count_range is None else Fraction(table.count_range, table.rows_per_unit)
    if wish.mechanism not in REACHING:
        return replace(terms, widest=widest)
    finest = (
        min(slack // spread for slack, spread in _tolerances(question, wish, Fraction(1))) if wish.region_said else None
    )
    limit = question_limit(question, wish)
    widest = widest or _guessed_range(question)
    return replace(terms, widest=widest, groups=len(question.groups), limit=limit, finest=finest)


def _guessed_range(question: Question) -> Fraction:
    """Where no range is declared, ten times the largest threshold, in privacy units: thresholds are public."""
    lines = [
        Fraction(abs(line), spread)
        for atom, spread in sensitivities(question).items()
        for line in (atom.at_least if isinstance(atom.at_least, tuple) else (atom.at_least,))
    ]
    return max(Fraction(_LEAST_RANGE), 10 * max(lines))


def _tolerances(question: Question, wish: Wish, times: Fraction) -> list[tuple[int, int]]:
    """How far each condition may be off, and by how much one unit moves it; none where nobody asked."""
    spreads, region = sensitivities(question), wish.region.scaled(times)
    wished = {atom: spread for atom, spread in spreads.items() if atom.written} or spreads
    if wish.mechanism in REACHING and not wish.region_said and len(question.groups) >= FEWEST_FOR_LEVELS:
        return []
    return [(region.slack_of(atom, question.table), spread) for atom, spread in wished.items()]
