"""The ProBE family behind the engine, FOR COMPARISON ONLY: its promise about false alarms does not hold (`probe.md`).

Every condition is looked at by itself, the miss rate shared out between them, and where too many false alarms are
estimated the question is denied after it was paid for. `certified` asks the same for a fraction and keeps its word.
Reads: a question, a wish, and, inside `run`, sealed aggregates. Writes: nothing. Never: a source, a ledger.
"""

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from thresher.accounting import CommonSpending, GroupSpending, Spending
from thresher.amounts import Epsilon
from thresher.config import decimal_text
from thresher.decisions.giving_back import MOST_LISTED
from thresher.decisions.measured import need_of, protected, slacks_of
from thresher.decisions.probe import naive, planned, probe, probe_ent, probe_naive
from thresher.decisions.probe_answer import ESTIMATE, Look, ProbeAnswer
from thresher.decisions.probe_widths import Widths, widths_of
from thresher.decisions.probe_words import alarms, explained_probe, promised
from thresher.decisions.promise import counting
from thresher.decisions.question_limit import largest_loss, limit_name, question_limit
from thresher.decisions.rules import Terms, affordable
from thresher.decisions.trees import Tree, holds, numbered
from thresher.decisions.wishes import Wish
from thresher.errors import ArgumentError, BugError, TooDearError
from thresher.noise import Entropy
from thresher.plan import ABOVE, BELOW, UNCERTAIN, Guarantee, OldPlan, Release
from thresher.question import Exact, Need, Question, group_keys, grouping_of

# Beyond this a slack is as good as infinite; the array functions clamp there too.
_FAR = 1 << 40


@dataclass(frozen=True, slots=True)
class ProbePlan(OldPlan):
    """Which groups satisfy a formula, by noisy looks at each condition. To be compared with, not to be relied on."""

    question: Question
    wish: Wish
    tree: Tree
    widths: Widths
    # What is known beforehand: all looks of `naive`, the first one at each condition of the others.
    looks: tuple[Look, ...]
    limit: Epsilon
    need: Need
    cost: CommonSpending
    epsilon: Epsilon
    guarantee: Guarantee
    shows_levels: bool = True

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
        """Unseal, look at each condition. Nothing but what follows from noisy slacks comes out, a denial included."""
        if exact is None:
            raise BugError("a decision about data was run without data")
        held = slacks_of(self.need, self.widths.atoms, exact)
        slacks = np.stack([np.clip(held[atom], -_FAR, _FAR).astype(np.int64) for atom in self.widths.atoms])
        found = self._found(slacks, entropy)
        lost = self._lost(found)
        return self._release(found, lost, entropy.stamp), lost

    def _found(self, slacks: np.ndarray[Any, np.dtype[np.int64]], entropy: Entropy) -> ProbeAnswer:
        asked = slacks, self.tree, self.widths.sensitivities, self.widths.steps, self.wish.miss_rate
        if self.wish.mechanism == "naive":
            return naive(*asked, region=1, max_epsilon=self.limit, entropy=entropy)
        method = {"probe-naive": probe_naive, "probe": probe, "probe-ent": probe_ent}[self.wish.mechanism]
        return method(*asked, self.wish.false_alarm_rate, region=1, max_epsilon=self.limit, entropy=entropy)

    def _lost(self, found: ProbeAnswer) -> Spending:
        """What each group really lost, which the release shows; a denied question is charged as well."""
        keys = group_keys(self.question) if len(self.question.groups) <= MOST_LISTED else None
        if keys is None or len(set(found.nano.tolist())) == 1:
            return CommonSpending(self.cost.grouping, found.epsilon)
        return GroupSpending(self.cost.grouping, tuple(zip(keys, found.epsilons, strict=True)))

    def _release(self, found: ProbeAnswer, lost: Spending, stamp: str) -> Release:
        question, charged = self.question, largest_loss(lost)
        denied = self._denied(found, charged)
        guarantee = self.guarantee
        if denied:
            sentence = f"Nothing is promised: the question was denied. {alarms(self.wish)}"
            guarantee = replace(guarantee, miss_rate="1", sentence=sentence)
        return Release(
            question=question.text,
            mechanism=self.wish.mechanism,
            keys=tuple(column.name for column in question.keys),
            groups=tuple(question.labels()),
            verdicts=self._verdicts(found),
            epsilons=found.epsilons,
            half_width=guarantee.half_width,
            guarantee=guarantee,
            planned_epsilon=self.epsilon,
            spent_epsilon=charged,
            denied=denied,
            stamp=stamp,
            notes=self.notes,
        )

    def _verdicts(self, found: ProbeAnswer) -> tuple[str, ...]:
        """Above where the noisy values themselves meet the formula, uncertain where only the moved line does."""
        if found.reported is None:
            return (UNCERTAIN,) * len(self.question.groups)
        nobody = np.zeros(len(self.question.groups), dtype=np.bool_)
        # A condition that was not looked at could change nothing any more.
        seen = {i: np.asarray(found.noisy[i] >= 0) if i in found.noisy else nobody for i in range(len(self.looks))}
        above = holds(self.tree, seen) & found.reported
        words = np.where(above, ABOVE, np.where(found.reported, UNCERTAIN, BELOW))
        return tuple(words.tolist())

    def _denied(self, found: ProbeAnswer, charged: Epsilon) -> str:
        """Why there is no answer, in the question's words; empty if there is one."""
        denial = found.denial
        if denial is None:
            return ""
        condition = self.widths.atoms[denial.atom].text
        why = f"phase {denial.phase}, at {condition}, would take a group's loss above its limit of {self.limit}"
        if denial.reason == ESTIMATE:
            last = [made for made in found.estimates if (made.atom, made.phase) == (denial.atom, denial.phase)][-1]
            why = (
                f"after phase {denial.phase}, {last.false_alarms:.1f} false alarms are estimated for {condition} and "
                f"{last.allowed:.1f} are allowed"
            )
        return f"{why}; {charged} is charged for what was looked at"

    def identity_text(self) -> str:
        """What makes it the same question: its normal form, how it is decided, and what it is asked about."""
        said = {
            "data": self.question.table.fingerprint(),
            "false_alarm_rate": decimal_text(self.wish.false_alarm_rate),
            "look": {"limit": self.limit.to_json(), "widths": list(self.widths.steps)},
            "mechanism": self.wish.mechanism,
            "miss_rate": decimal_text(self.wish.miss_rate),
            "question": self.question.text,
            "unit": protected(self.question.table),
        }
        return json.dumps(said, sort_keys=True)

    def cost_of(self, terms: Terms, times: Fraction) -> Epsilon:
        """What is known beforehand, on other terms or with an uncertain region so many times as wide."""
        widths = widths_of(self.question, self.wish, self.widths.atoms, times)
        looks = _looks(self.wish.mechanism, self.tree, widths, terms)
        return largest_loss(CommonSpending(self.cost.grouping, _first(self.wish.mechanism, looks)))

    def affordable(self, limit: Epsilon) -> str | None:
        """What to change so that it keeps within a limit, in words."""
        if self.wish.mechanism != "naive" and self.cost_of(self.wish.terms, Fraction(1)) <= limit:
            return f"With max_epsilon={limit} it may be denied more often"
        try:
            return affordable(self.cost_of, self.wish.terms, limit)
        except ArgumentError:
            # A region wide enough cannot be looked at, so there is nothing to propose.
            return None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know beside the promise: first of all, not to rely on it."""
        told = counting(self.question.table)
        return (f"for comparison only. {alarms(self.wish)}", *self.question.notes, *([told] if told else []))

    def __repr__(self) -> str:
        return f"<ProbePlan, for comparison only: {len(self.question.groups)} groups, epsilon {self.epsilon}>"

    def __str__(self) -> str:
        return explained_probe(self.question, self.wish, self.widths, self.looks, self.epsilon, self.guarantee)

    def document(self) -> dict[str, Any]:
        """The plan for JSON."""
        return {
            "question": self.question.text,
            "mechanism": self.wish.mechanism,
            "comparison_only": True,
            "bound": self.wish.terms.bound,
            "groups": len(self.question.groups),
            "conditions": [atom.text for atom in self.widths.atoms],
            "epsilon": self.epsilon.to_json(),
            "looks": [
                {
                    "condition": self.widths.atoms[look.atom].text,
                    "half_width": self.widths.in_own_units(look.atom),
                    "miss_rate": decimal_text(look.share),
                    "epsilon": look.epsilon.to_json(),
                }
                for look in self.looks
            ],
            "half_width_in_units": self.guarantee.half_width,
            "guarantee": {name: getattr(self.guarantee, name) for name in Guarantee.__slots__},
            "notes": list(self.notes),
        }


def plan_probe(question: Question, wish: Wish) -> ProbePlan:
    """Priced before data: `naive` by what it takes, the others by the limit, which is all that bounds them."""
    if isinstance(question.formula, bool):
        raise BugError("a formula without conditions was to be looked at")
    tree, atoms = numbered(question.formula)
    widths, grouping = widths_of(question, wish, atoms, Fraction(1)), grouping_of(question)
    looks = _looks(wish.mechanism, tree, widths, wish.terms)
    first = _first(wish.mechanism, looks)
    limit = first if wish.mechanism == "naive" else question_limit(question, wish)
    cost = CommonSpending(grouping, limit)
    guarantee, need = promised(question, wish, widths), need_of(question)
    plan = ProbePlan(question, wish, tree, widths, looks, limit, need, cost, largest_loss(cost), guarantee)
    if first > limit:
        # It would be denied before anything is drawn.
        dear = largest_loss(CommonSpending(grouping, first))
        raise TooDearError(limit_name(question, wish), dear, plan.epsilon, plan.affordable(plan.epsilon))
    return plan


def _looks(method: str, tree: Tree, widths: Widths, terms: Terms) -> tuple[Look, ...]:
    try:
        return planned(method, tree, widths.sensitivities, widths.steps, terms.miss_rate, region=1)
    except ArgumentError as refused:
        rule = f"{method} looks at each condition by itself, in its own steps: {refused.rule}"
        raise ArgumentError("uncertain_region", widths.told, rule, "Pass mechanism=certified") from None


def _first(method: str, looks: tuple[Look, ...]) -> Epsilon:
    """What is taken at once, or not at all: every look of the first phase, but of ProBE-Ent one look after another."""
    try:
        return looks[0].epsilon if method == "probe-ent" else Epsilon.total(look.epsilon for look in looks)
    except ArgumentError as refused:
        raise ArgumentError(
            "uncertain_region", "all conditions together", refused.rule, "Ask for a wider one"
        ) from None
