"""The plan of a decision, made from a question and its options: what to read, cost, promise, and how to decide.

Reads: a question, options, and, inside `run`, sealed aggregates. Writes: nothing. Never: a source, a ledger.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from thresher.accounting import CommonSpending, GroupSpending, Spending
from thresher.amounts import Epsilon
from thresher.decisions.aim import Asked, asked_of, limits_of
from thresher.decisions.decision_options import Options
from thresher.decisions.look import Look, Mechanism
from thresher.decisions.margin import TrueMargins, slacks_of
from thresher.decisions.mechanisms import mechanism_for
from thresher.decisions.outlooks import Outlook, outlooks
from thresher.decisions.promise import wide_regions
from thresher.decisions.verdicts import Verdicts, opposite, words
from thresher.decisions.words import MOST_LISTED, coarser, priced, questioned, widths
from thresher.errors import BugError
from thresher.guarantee import ABOVE, BELOW, UNCERTAIN, Guarantee
from thresher.noise import Entropy
from thresher.plan import Plan, Statements, subject_of
from thresher.question import Atom, Exact, Identity, Question, group_keys, identity_of
from thresher.question.identity import columns_used, formula_facts, rows_facts
from thresher.release import MeasuredMargins, Release

FAMILY = "decision"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionPlan(Plan[Release]):
    """The plan of a decision by noisy looks at the margin of each group."""

    asked: Asked
    mechanism: Mechanism
    look: Look

    @property
    def question(self) -> Question:
        return self.asked.question

    def recall(self, body: bytes, key: str) -> Release:
        return Release.from_bytes(body, key)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Release, Spending]:
        """Unseal what was read, take margins and look. Only noisy margins, and what follows from them, are released."""
        seen = self.look.decide(truth_of(self.asked, exact), entropy)
        lost = self._lost(seen)
        return self._release(seen, lost, entropy.stamp), lost

    def _lost(self, seen: Verdicts) -> Spending:
        """Return what each group really lost: the level at which it stopped, which the release shows."""
        asked = self.asked
        keys = group_keys(asked.question) if len(asked.question.groups) <= MOST_LISTED else None
        if keys is None or len(seen.levels) == 1:
            return asked.cost_of(seen.loss)
        return GroupSpending(asked.grouping, tuple(zip(keys, seen.epsilons, strict=True)))

    def _release(self, seen: Verdicts, lost: Spending, stamp: str) -> Release:
        question, turned = self.question, not self.asked.options.misses_first
        latest = seen.noisy[:0] if seen.latest is None else seen.latest
        noisy, latest = (opposite(margins) if turned else margins for margins in (seen.noisy, latest))
        return Release(
            question=question.text,
            mechanism=self.mechanism.name,
            keys=tuple(column.name for column in question.keys),
            groups=tuple(question.labels()),
            verdicts=words(-seen.verdict if turned else seen.verdict),
            epsilons=seen.epsilons,
            guarantee=self.look.promise(self.asked, seen),
            planned_epsilon=self.epsilon,
            spent_epsilon=largest_loss(lost),
            noisy=tuple(noisy.tolist()),
            steps=tuple(seen.steps.tolist()) if self.shows_levels else (),
            scale=seen.scale,
            bound=self.asked.options.bound,
            latest=tuple(latest.tolist()),
            certificate=seen.certificate,
            count_bound=seen.count_bound,
            charged=lost.amount if isinstance(lost, CommonSpending) and np.ptp(seen.stopped) else None,
            measured=self._measured(seen),
            denied=seen.denied,
            stamp=stamp,
            notes=self.notes,
        )

    def _measured(self, seen: Verdicts) -> MeasuredMargins | None:
        """Return what a refinement needs of this measurement."""
        if not self.look.refinable:
            return None
        exact = {epsilon: self.look.exact_level(epsilon) for epsilon in dict.fromkeys(seen.epsilons)}
        highest = max(exact.values())
        return MeasuredMargins(
            parts=self.identity.parts,
            scale=self.look.scale,
            exact=tuple(exact.items()),
            threshold=threshold_of(self.asked),
            steps=self.look.steps_at(highest, self.asked.aim.first_rate),
            top=max(self.look.top, *exact),
            fixed=self.look.fixed,
        )

    def price(self, asked: Asked) -> Epsilon:
        """Return what the question would cost one unit with other widths or rates."""
        return asked.for_one_unit(self.mechanism.look(asked).epsilon)

    def affordable(self, limit: Epsilon) -> str | None:
        """Return what to change so that the question costs at most `limit`, in words."""
        return self.look.affordable(self.asked, self.price, limit)

    def outlooks(self) -> tuple[Outlook, ...]:
        """Return what groups would lose at several distances from the threshold: simulated, without data."""
        return outlooks(self.look, len(self.question.groups)) if self.look.each_group_stops else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a person should know beside the promise."""
        clear, wide = Fraction(self.look.clear, self.look.scale), tuple[str, ...]()
        # Other looks do not measure one margin, so each condition has a half width by itself.
        if self.look.refinable:
            wide = (*coarser(self.asked, self.look), *wide_regions(self.asked, self.look.half_width, clear))
        return (*self.question.notes, *wide, *self.look.warnings)

    def __repr__(self) -> str:
        return f"<DecisionPlan: {len(self.question.groups)} groups, epsilon {self.epsilon}>"

    def explanation(self) -> Statements:
        notes = [note for note in self.notes if note not in self.look.warnings]

        return [
            *[("WARNING", warning) for warning in self.look.warnings],
            *questioned(self.question),
            *widths(self.asked, self.look.kept(self.asked), usual=self._usual_width()),
            ("promise", self.guarantee.sentence),
            *priced(self.asked, self.look.epsilon, back=self.shows_levels and len(self.look.ladder()) != 1),
            *[("note", note) for note in notes],
        ]

    def _usual_width(self) -> str:
        if self.asked.options.region is not None:
            return ""
        if self.look.follows_limit:
            return "The finest that the limit on the cost allows."
        return "A default width; the option uncertain_region names another."

    def details(self) -> Statements:
        why = [("because", self.look.told)] if self.look.told else []
        return [
            ("understood", self.question.text),
            ("mechanism", f"{self.mechanism.name}: {self.look.how}"),
            *why,
            *self.look.details(self.asked, self.price),
        ]

    def document(self) -> dict[str, Any]:
        """Return the plan for JSON."""
        asked, look = self.asked, self.look
        return {
            "question": self.question.text,
            "mechanism": self.mechanism.name,
            "bound": asked.options.bound,
            "groups": len(self.question.groups),
            "conditions": [atom.text for atom in self.question.atoms],
            "epsilon": self.epsilon.to_json(),
            **look.document(asked, self.price),
            "half_width_in_units": self.guarantee.document()["half_width"],
            "regime": look.told,
            "ladder": [level.document(look.scale) for level in look.ladder()],
            "outlook": [outlook.document() for outlook in self.outlooks()],
            "guarantee": self.guarantee.document(),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantPlan(Plan[Release]):
    """The plan of a free answer without data: the formula holds always or never, or a rate of half or more."""

    question: Question
    options: Options

    def recall(self, body: bytes, key: str) -> Release:
        return Release.from_bytes(body, key)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Release, Spending | None]:  # noqa: ARG002
        """Return the same verdict for each group, from the formula alone."""
        question, nothing = self.question, Epsilon(0)
        verdict = UNCERTAIN if not isinstance(question.formula, bool) else ABOVE if question.formula else BELOW
        release = Release(
            question=question.text,
            mechanism="none",
            keys=tuple(column.name for column in question.keys),
            groups=tuple(question.labels()),
            verdicts=(verdict,) * len(question.groups),
            epsilons=(nothing,) * len(question.groups),
            guarantee=self.guarantee,
            planned_epsilon=nothing,
            spent_epsilon=nothing,
            bound=self.options.bound,
            notes=question.notes,
        )
        return release, None

    @property
    def notes(self) -> tuple[str, ...]:
        return self.question.notes

    def affordable(self, limit: Epsilon) -> None:
        """Return None: the answer is free."""

    def explanation(self) -> Statements:
        return [("question", self.question.text), ("epsilon", "0"), ("promise", self.guarantee.sentence)]

    def document(self) -> dict[str, Any]:
        """Return the plan for JSON."""
        return {
            "question": self.question.text,
            "groups": len(self.question.groups),
            "epsilon": "0",
            "guarantee": self.guarantee.document(),
        }


def plan_decision(question: Question, options: Options) -> DecisionPlan | ConstantPlan:
    """Return the plan of the least epsilon that keeps the options. Touches no data."""
    mechanism = mechanism_for(options)
    if (free := constant_plan(question, options, both_rates=mechanism.keeps_both_rates)) is not None:
        return free
    learned = mechanism.width_optional and options.region is None
    asked = asked_of(question, options, widths=not learned)
    look = mechanism.look(asked)
    cost = asked.cost_of(look.epsilon)
    return DecisionPlan(
        family=FAMILY,
        account=question.table.account,
        subject=subject_of(question.table),
        identity=decision_identity(asked, FAMILY, {"look": "margin", "scale": look.scale}),
        need=asked.need,
        cost=cost,
        epsilon=asked.for_one_unit(look.epsilon),
        guarantee=look.promise(asked),
        limits=limits_of(question, options),
        written_key=question.options.get("key"),
        shows_levels=look.shows_levels,
        asked=asked,
        mechanism=mechanism,
        look=look,
    )


def constant_plan(question: Question, options: Options, *, both_rates: bool = False) -> ConstantPlan | None:
    """Return the plan of a question whose answer does not depend on the data; None for all others.

    `both_rates`: no rate makes the answer free, because the mechanism keeps the other rate too.
    """
    if isinstance(question.formula, bool) or not question.groups:
        because = "Always true, no data needed" if question.formula else "Always false, no data needed"
        if not question.groups:
            because = "No declared group can be in the answer"
        # Without a condition there is no threshold, so nothing can be wrong.
        question = question if isinstance(question.formula, bool) else replace(question, formula=True)
        return _constant(question, options, because, (Fraction(0), Fraction(0)))
    if both_rates or not options.free:
        return None
    if options.region is not None:
        options.region.check([atom.aggregate for atom in question.atoms if atom.written])
    if options.misses_first:
        because = (
            "A miss rate of half or more needs no data: all groups are reported as uncertain, and nothing is promised "
            "about false alarms"
        )
        return _constant(question, options, because, (Fraction(0), Fraction(1)))
    because = (
        "A false alarm rate of half or more needs no data: no group is reported, and nothing is promised about misses"
    )
    return _constant(question, options, because, (Fraction(1), Fraction(0)))


def _constant(question: Question, options: Options, because: str, rates: tuple[Fraction, Fraction]) -> ConstantPlan:
    nothing = Fraction(0)
    return ConstantPlan(
        family=FAMILY,
        account=question.table.account,
        subject=subject_of(question.table),
        identity=Identity("", "", {}),
        need=None,
        cost=None,
        epsilon=Epsilon(0),
        guarantee=Guarantee("free", *rates, nothing, nothing, options.bound, None, {"because": because}),
        written_key=question.options.get("key"),
        question=question,
        options=options,
    )


def decision_identity(
    asked: Asked, family: str, noise: Mapping[str, Any], wished: Mapping[str, Any] | None = None
) -> Identity:
    """Return what makes two questions the same, and two measurements. `wished` stands in place of the given options."""
    question, options = asked.question, asked.options
    facts: dict[str, Any] = {
        "text": question.text,
        "options": dict(options.given if wished is None else wished),
        "groups": [list(group) for group in question.groups],
        "thresholds": [atom.at_least for atom in question.atoms],
    }
    if options.region is not None and options.region.measured_by_range(asked.written):
        facts["count_range"] = question.table.count_range
    one = isinstance(asked.measured, Atom)
    measured = {
        **rows_facts(question),
        "formula": formula_facts(asked.measured, thresholds=not one),
        "noise": {"law": "discrete laplace", "sensitivities": list(asked.sensitivities.values()), **noise},
    }
    return identity_of(family, question.table, columns_used(question), facts, measured)


def truth_of(asked: Asked, exact: Exact | None) -> TrueMargins:
    """Return what was read, as slacks and margins. For a `run` only, which adds noise to them."""
    if exact is None:
        raise BugError("a decision that needs data was run without data")
    slacks = slacks_of(asked.need, asked.atoms, exact)
    return TrueMargins(asked.measured, slacks, asked.sensitivities, asked.apart)


def threshold_of(asked: Asked) -> int | tuple[int, ...] | None:
    """Return the threshold of a single condition, in steps: a refinement may move it. None for several conditions."""
    return asked.measured.at_least if isinstance(asked.measured, Atom) else None


def largest_loss(spending: Spending) -> Epsilon:
    """Return what a spending comes to for one unit, which may be in several groups."""
    return max(amount for loss in spending.losses() for _, amount in loss.regions())
