"""Offer the ProBE family as mechanisms of the engine: each condition is measured by itself.

Reads: what was asked, slacks inside `decide`. Writes: nothing. Never: a promise about false alarms.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from thresher.amounts import Epsilon
from thresher.config import decimal_text
from thresher.decisions.aim import Asked, limit_name
from thresher.decisions.look import Look, Mechanism, Price, cheaper
from thresher.decisions.margin import TrueMargins
from thresher.decisions.probe.probe import answered, prices_of
from thresher.decisions.probe.probe_answer import ESTIMATE, ConditionLook, ProbeAnswer
from thresher.decisions.promise import counted_rows, unit_in
from thresher.decisions.uncertain_region import UncertainRegion
from thresher.decisions.verdicts import SEEN_ABOVE, SEEN_BELOW, SEEN_BETWEEN, Level, Verdicts
from thresher.errors import ArgumentError, TooDearError
from thresher.guarantee import Guarantee, few_digits, units_of
from thresher.noise import Entropy
from thresher.plan import Statements
from thresher.question import Atom
from thresher.question.trees import Tree, holds, numbered

# The default of `naive`, as a share of the public range; the other methods have the default of all mechanisms.
_NAIVE_SHARE = Fraction(12, 100)
_NOT_KEPT = (
    "ProBE's bound on false alarms does not hold: with 92 of 574 groups exactly at the line, answers accepted at "
    "10 % have 16 % false alarms; see docs/mechanisms.md"
)
_NAIVE = "Nothing is promised about false alarms; see docs/mechanisms.md"


@dataclass(frozen=True, slots=True)
class ConditionLooks(Look):
    """Measurements of conditions, for comparison: do not rely on them.

    firsts    what is known beforehand: all looks of `naive`, and the first look at each condition of the others
    steps     the half width of each condition, in steps of its slack
    """

    method: str
    asked: Asked
    tree: Tree
    steps: tuple[int, ...]
    firsts: tuple[ConditionLook, ...]
    epsilon: Epsilon
    scale: int = 1
    clear: int = 0
    told: str = ""
    # Without annotations, so that they are not fields.
    shows_levels = True
    refinable = False

    @property
    def warnings(self) -> tuple[str, ...]:
        return (f"for comparison only. {self._alarms}. mechanism=certified keeps its promise",)

    @property
    def how(self) -> str:
        """Return how the method decides, in plain words."""
        return _HOW[self.method]

    def kept(self, asked: Asked) -> list[Fraction]:  # noqa: ARG002 - the form of all looks
        """Return the half width of each condition: each keeps its own."""
        return [Fraction(steps) for steps in self.steps]

    @property
    def half_width(self) -> Fraction:
        """Return the widest half width of all conditions, in privacy units."""
        spreads = self.asked.sensitivities.values()
        return max(Fraction(step, spread) for step, spread in zip(self.steps, spreads, strict=True))

    def ladder(self) -> tuple[Level, ...]:
        """Return nothing: no level is common to all conditions."""
        return ()

    def decide(self, truth: TrueMargins, entropy: Entropy | None = None) -> Verdicts:
        """Measure each condition. Groups whose noisy slacks meet the formula are above.

        Other groups that are reported are uncertain, and the rest are below.
        """
        slacks = truth.slacks
        answer = answered(
            self.method,
            (slacks, self.tree, list(self.asked.sensitivities.values()), self.steps),
            (self.asked.aim.first_rate, self.asked.aim.second_rate),
            region=1,
            max_epsilon=self.epsilon,
            entropy=entropy,
        )
        levels = sorted(set(answer.nano.tolist()))
        groups = slacks.shape[1]
        return Verdicts(
            verdict=self._verdict(answer, groups),
            noisy=np.empty(0, dtype=np.int64),
            stopped=np.searchsorted(levels, answer.nano),
            steps=np.zeros(groups, dtype=np.int64),
            levels=tuple(Epsilon.from_nano(nano) for nano in levels),
            scale=1,
            worst=self.epsilon,
            denied=self._denied(answer),
        )

    def promise(self, asked: Asked, seen: Verdicts | None = None) -> Guarantee:
        """Promise the miss rate only. The false-alarm rate is given as 1, because the one asked for is not kept."""
        facts = {
            "answered": "" if self.method == "naive" else ", and the question answered all the same,",
            "alarms": self._alarms,
        }
        missed = asked.aim.first_rate
        if seen is not None and seen.denied:
            facts["denied"], missed = "yes", Fraction(1)
        rows = counted_rows(asked.question)
        return Guarantee("comparison", missed, Fraction(1), self.half_width, None, "misses", rows, facts)

    def details(self, asked: Asked, price: Price) -> Statements:  # noqa: ARG002 - the form of all looks
        """Return how the method decides and what it may cost."""
        cost = f"{asked.for_one_unit(self.epsilon)}, for one measurement of each condition"
        if self.method != "naive":
            cost = (
                f"at most {asked.for_one_unit(self.epsilon)}, which is the limit; a question that is denied is "
                "charged for what was measured"
            )
        widest = f"{few_digits(self.half_width)} {units_of(unit_in(asked.question.table))}"
        return [
            *[("measured", self._first_line(look)) for look in self.firsts],
            ("half width", f"{widest}, the widest of all conditions"),
            ("epsilon", cost),
        ]

    def document(self, asked: Asked, price: Price) -> dict[str, Any]:  # noqa: ARG002 - likewise
        """Return the first looks, for JSON."""
        looks = [
            {
                "condition": asked.atoms[look.atom].text,
                "half_width": self._in_own_units(look.atom),
                "miss_rate": decimal_text(look.share),
                "epsilon": look.epsilon.to_json(),
            }
            for look in self.firsts
        ]
        return {"comparison_only": True, "looks": looks}

    def affordable(self, asked: Asked, price: Price, limit: Epsilon) -> str | None:  # noqa: ARG002 - likewise
        """Return advice for a lower limit: the question may be denied more often. `naive` has a price like others."""
        first = asked.for_one_unit(_first(self.method, self.firsts))
        if self.method != "naive" and first <= limit:
            return f"With max_epsilon={limit} it may be denied more often"
        try:
            return cheaper(asked, lambda other: other.for_one_unit(_first_price(self.method, other)), limit)
        except ArgumentError:
            # The scale of so wide a region is not drawn, so there is no advice.
            return None

    @property
    def _alarms(self) -> str:
        return _NAIVE if self.method == "naive" else _NOT_KEPT

    def _verdict(self, answer: ProbeAnswer, groups: int) -> np.ndarray[Any, np.dtype[np.int8]]:
        if answer.reported is None:
            return np.full(groups, SEEN_BETWEEN, dtype=np.int8)
        # A condition that was not measured could not change the answer.
        none = np.zeros(groups, dtype=np.bool_)
        seen = {i: np.asarray(answer.noisy[i] >= 0) if i in answer.noisy else none for i in range(len(self.steps))}
        above = holds(self.tree, seen) & answer.reported
        return np.where(above, SEEN_ABOVE, np.where(answer.reported, SEEN_BETWEEN, SEEN_BELOW)).astype(np.int8)

    def _denied(self, answer: ProbeAnswer) -> str:
        """Return why there is no answer, in the question's words; empty if there is one."""
        denial = answer.denial
        if denial is None:
            return ""
        condition = self.asked.atoms[denial.atom].text
        why = f"phase {denial.phase}, at {condition}, would take a group's loss above its limit of {self.epsilon}"
        if denial.reason == ESTIMATE:
            place = (denial.atom, denial.phase)
            last = [estimate for estimate in answer.estimates if (estimate.atom, estimate.phase) == place][-1]
            why = (
                f"after phase {denial.phase}, {last.false_alarms:.1f} false alarms are estimated for {condition} and "
                f"{last.allowed:.1f} are allowed"
            )
        return f"{why}; {self.asked.for_one_unit(answer.epsilon)} is charged for what was looked at"

    def _in_own_units(self, place: int) -> str:
        """Return the half width of a condition in its own units; of an average, for a group of `count_range` rows."""
        return _own_units(self.asked, self.asked.atoms[place], self.steps[place])

    def _first_line(self, look: ConditionLook) -> str:
        text = self.asked.atoms[look.atom].text
        return f"{text}: half width {self._in_own_units(look.atom)}, miss rate {float(look.share):.4g}, {look.epsilon}"


def _look(method: str, asked: Asked) -> Look:
    """Return the look of a method, priced before data: `naive` by its cost, the others by the limit."""
    if not asked.options.misses_first:
        rule = "methods that look at each condition by itself bound misses only"
        raise ArgumentError("bound", asked.options.bound, rule, "Leave it out, or pass mechanism=certified")
    tree, _ = numbered(asked.measured)
    steps = _steps(method, asked)
    firsts = _firsts(method, asked, tree, steps)
    first, limit = _first(method, firsts), asked.aim.limit or Epsilon(0)
    look = ConditionLooks(method, asked, tree, steps, firsts, first if method == "naive" else limit)
    if first > look.epsilon:
        # It would be denied before anything is drawn.
        most, dear = asked.for_one_unit(limit), asked.for_one_unit(first)
        hint = look.affordable(asked, lambda _: most, most)
        raise TooDearError(limit_name(asked.question, asked.options), dear, most, hint)
    return look


def _first_price(method: str, asked: Asked) -> Epsilon:
    tree, _ = numbered(asked.measured)
    return _first(method, _firsts(method, asked, tree, _steps(method, asked)))


def _steps(method: str, asked: Asked) -> tuple[int, ...]:
    """Return the half width of each condition in steps; an added condition is as wide, in units, as the widest."""
    region = asked.options.region or UncertainRegion()
    if method == "naive" and asked.options.region is None:
        region = UncertainRegion(share=_NAIVE_SHARE)
    region, table = region.scaled(asked.widened), asked.question.table
    wished = {atom: region.slack_of(atom, table, spread) for atom, spread in asked.written_spreads.items()}
    for atom, steps in wished.items():
        if steps < 1:
            rule = f"methods that measure each condition by itself need one step of {atom.aggregate} at least"
            raise ArgumentError("uncertain_region", atom.text, rule, "Pass a wider one, or mechanism=certified")
    widest = max(Fraction(steps, asked.sensitivities[atom]) for atom, steps in wished.items())
    return tuple(wished.get(atom, max(1, int(widest * spread))) for atom, spread in asked.sensitivities.items())


def _firsts(method: str, asked: Asked, tree: Tree, steps: tuple[int, ...]) -> tuple[ConditionLook, ...]:
    try:
        return prices_of(method, tree, list(asked.sensitivities.values()), steps, asked.aim.first_rate, region=1)
    except ArgumentError as refused:
        regions = ", ".join(f"{atom.text}: {_own_units(asked, atom, steps[i])}" for i, atom in enumerate(asked.atoms))
        rule = f"{method} measures each condition by itself, in its own steps: {refused.rule}"
        raise ArgumentError("uncertain_region", regions, rule, "Pass mechanism=certified") from None


def _first(method: str, looks: tuple[ConditionLook, ...]) -> Epsilon:
    """Return the cost of what is measured first: all looks of the first phase; for ProBE-Ent the first look only."""
    try:
        return looks[0].epsilon if method == "probe-ent" else Epsilon.total(look.epsilon for look in looks)
    except ArgumentError as refused:
        raise ArgumentError("uncertain_region", "all conditions together", refused.rule, "Pass a wider one") from None


def _own_units(asked: Asked, atom: Atom, steps: int) -> str:
    rows = asked.question.table.count_range or 1 if atom.per_row else 1
    return few_digits(Fraction(steps) / (atom.steps * rows))


_HOW = {
    "naive": "one noisy measurement of each condition, with the miss rate divided evenly",
    "probe-naive": "two phases of measurements of each condition, with the miss rate divided evenly",
    "probe": "two phases of measurements of each condition, with the miss rate divided by what conditions cost",
    "probe-ent": "measures each condition in turn, more finely at levels chosen for min-entropy",
}
MECHANISMS: Mapping[str, Mechanism] = {name: Mechanism(name, partial(_look, name)) for name in _HOW}
