"""A stored answer made sharper later, by refining its noise: only the difference is paid. Proof beside.

Three things can come of asking: the noise is refined from the level it has to a higher one (charged the difference); or
the noisy margins that are there already are read with another line (nothing is read, nothing is charged); or the stored
answer keeps what is asked for as it is, and is given again.
Reads: a question, an earlier answer, and, inside `run`, sealed aggregates. Writes: nothing.
Never: fresh noise for a second look; a second refinement of one answer. Proof: `refining.md`.
"""

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.accounting import CommonSpending, Spending
from thresher.amounts import Amount, Epsilon
from thresher.decisions.deciding import exact_margins, measured
from thresher.decisions.earlier import Earlier
from thresher.decisions.measured import need_of, protected
from thresher.decisions.promise import counting, wide_regions
from thresher.decisions.refinement_steps import AS_IT_IS, REFINE, Step, cost_of, for_one_unit, step_to
from thresher.decisions.refining_words import explained, kept_by
from thresher.decisions.threshold_shift import judged
from thresher.decisions.uncertain_region import RegionLike
from thresher.decisions.verdicts import (
    FALSE_ALARMS,
    MISSES,
    SEEN_ABOVE,
    SEEN_BELOW,
    SEEN_BETWEEN,
    faced,
    few_digits,
    mirrored,
)
from thresher.decisions.wishes import Wish, wish
from thresher.errors import ArgumentError
from thresher.noise import Entropy, history_shift, refine
from thresher.plan import ABOVE, BELOW, UNCERTAIN, Guarantee, OldPlan, Release
from thresher.question import Exact, Need, Question, grouping_of

_WORDS = {SEEN_ABOVE: ABOVE, SEEN_BETWEEN: UNCERTAIN, SEEN_BELOW: BELOW}


@dataclass(frozen=True, slots=True)
class RefinementPlan(OldPlan):
    """A sharper look at the groups of an earlier answer, or another reading of it."""

    question: Question
    earlier: Earlier
    wish: Wish
    step: Step
    need: Need | None
    cost: Spending | None
    epsilon: Epsilon
    guarantee: Guarantee
    shows_levels: bool = False

    @property
    def key_is_fixed(self) -> bool:
        return True

    @property
    def account(self) -> str:
        return self.question.table.name

    @property
    def written_key(self) -> str:
        """The only key it may be stored under: it follows from that of the earlier answer."""
        return self.earlier.next_key

    @property
    def limits(self) -> dict[str, Epsilon | None]:
        of_table = f"max_epsilon_per_question of {self.account}"
        return {"max_epsilon": self.wish.max_epsilon, of_table: self.question.table.max_epsilon_per_question}

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know beside the promise."""
        if self.step.kind == AS_IT_IS:
            return self.earlier.release.notes
        told = counting(self.question.table)
        return (*self.question.notes, *([told] if told else []), *wide_regions(self.question, self.step.shift))

    recall = staticmethod(Release.from_bytes)

    def run(self, exact: Exact | None, entropy: Entropy) -> tuple[Release, Spending | None]:
        """The earlier noise is what was released less what is true; it is refined, and never drawn anew."""
        if self.step.kind == AS_IT_IS:
            return self.earlier.release, None
        margins = self._sharpened(exact, entropy) if self.step.kind == REFINE else self.earlier.seen
        return self._release(self.earlier.shown(margins), entropy.stamp), self.cost

    def _sharpened(self, exact: Exact | None, entropy: Entropy) -> NDArray[np.int64]:
        earlier, scale, level = self.earlier, self.step.shift.scale, self.step.shift.epsilon
        held = exact_margins(earlier.asked, need_of(earlier.asked), scale, exact)
        noise = earlier.seen - held
        for epsilon, places in earlier.places.items():
            if epsilon < level:
                noise[places] = refine(noise[places], earlier.exact[epsilon], level, scale, entropy)
        return np.asarray(held + noise)

    def _lines(self) -> tuple[int | NDArray[np.int64], int | NDArray[np.int64]]:
        """Where the lines are: for all groups alike, or for each by what was seen of it."""
        shift, earlier = self.step.shift, self.earlier
        if not self.step.given_seen:
            return shift.steps, shift.certain
        seen, (missed, alarmed) = faced(earlier.shown(earlier.seen), shift.bound), self.wish.terms.rates
        low, high = np.empty_like(seen), np.empty_like(seen)
        for epsilon, places in earlier.places.items():
            levels = earlier.exact[epsilon], shift.epsilon
            low[places] = history_shift(seen[places], *levels, missed, shift.scale) - 1
            high[places] = history_shift(mirrored(seen[places]), *levels, alarmed, shift.scale) - 1
        return low, high

    def _release(self, noisy: NDArray[np.int64], stamp: str) -> Release:
        question, earlier, shift = self.question, self.earlier, self.step.shift
        steps, certain = self._lines()
        verdict = judged(faced(noisy, shift.bound), steps, certain)
        charged, refined = earlier.release.charged, self.step.kind == REFINE
        levels = {epsilon: max(epsilon, shift.epsilon) if refined else epsilon for epsilon in earlier.exact}
        return Release(
            question=question.text,
            mechanism="refined",
            keys=earlier.release.keys,
            groups=earlier.release.groups,
            verdicts=tuple(_WORDS[seen] for seen in (-verdict if shift.bound == FALSE_ALARMS else verdict).tolist()),
            epsilons=tuple(levels[epsilon] for epsilon in earlier.release.epsilons),
            half_width=self.guarantee.half_width,
            guarantee=self.guarantee,
            planned_epsilon=self.epsilon,
            spent_epsilon=self.epsilon,
            noisy=tuple(noisy.tolist()),
            scale=shift.scale,
            steps=() if isinstance(steps, int) else tuple(steps.tolist()),
            bound=shift.bound,
            refines=earlier.key,
            charged=None if charged is None else max(charged, shift.epsilon) if refined else charged,
            measured=measured(question),
            # Once known, noise stays known.
            stamp=earlier.release.stamp or stamp,
            notes=self.notes,
        )

    def identity_text(self) -> str:
        """What makes it this refinement: the answer it goes on from, how far, and how it is judged."""
        shift, earlier = self.step.shift, self.earlier
        said = {
            "data": self.question.table.fingerprint(),
            "false_alarm_rate": self.guarantee.false_alarm_rate,
            "look": ["refined", *shift.identity(), shift.bound, self.step.given_seen],
            "mechanism": "refined",
            "miss_rate": self.guarantee.miss_rate,
            "question": self.question.text,
            "refines": {"fixed": self.step.fixed, "key": earlier.key, "place": earlier.place + 1, "root": earlier.root},
            "unit": protected(self.question.table),
        }
        return json.dumps(said, sort_keys=True)

    def affordable(self, limit: Epsilon) -> str | None:
        """The half width that so much would pay for, in words."""
        rates = self.wish.miss_rate, self.wish.false_alarm_rate
        if not limit or self.earlier.moved or rates != self.earlier.rates:
            return None
        within = replace(self.wish, max_epsilon=limit)
        try:
            step = step_to(self.question, self.earlier, within, {"max_epsilon"}, given_seen=self.step.given_seen)
        except ArgumentError:
            return None
        return f"With max_epsilon={limit} and nothing else the half width would be {few_digits(step.shift.half_width)}"

    @property
    def anew(self) -> Epsilon:
        """What a first look with the same half width and rates would cost."""
        return for_one_unit(CommonSpending(grouping_of(self.question), self.step.anew))

    def __repr__(self) -> str:
        return f"<RefinementPlan: of {self.earlier.key}, {self.step.kind}, epsilon {self.epsilon}>"

    def __str__(self) -> str:
        told = explained(self.question, self.earlier, self.wish, self.step, self.guarantee)
        prices = self._priced()
        lines = [*told, *prices, ("promise", self.guarantee.sentence), *(("note", note) for note in self.notes)]
        return "\n".join(f"{label:<12}{text}" for label, text in lines) + "\n"

    def _priced(self) -> list[tuple[str, str]]:
        if self.step.kind != REFINE:
            return [("epsilon", "0: nothing is read, nothing is charged")]
        return [
            ("level", f"{self.step.shift.epsilon} afterwards, which is what all looks together lose"),
            ("epsilon", f"{self.epsilon}: the difference only"),
            (
                "anew",
                f"asked with a new key it would cost {self.anew}, and its rates would hold whatever was seen here",
            ),
            (
                "rows",
                f"they must be those of key {self.earlier.key}: if they changed, declare a new version, and ask anew",
            ),
        ]

    def document(self) -> dict[str, Any]:
        """The plan for JSON."""
        return {
            "question": self.question.text,
            "refines": self.earlier.key,
            "key": None if self.cost is None else self.written_key,
            "does": self.step.kind,
            "bound": self.step.shift.bound,
            "groups": len(self.question.groups),
            "levels": [epsilon.to_json() for epsilon in self.earlier.release.levels],
            "level": None if self.cost is None else self.step.shift.epsilon.to_json(),
            "epsilon": self.epsilon.to_json(),
            "epsilon_asked_anew": self.anew.to_json(),
            "given_seen": self.step.given_seen,
            "half_width_in_units": self.guarantee.half_width,
            "guarantee": {name: getattr(self.guarantee, name) for name in Guarantee.__slots__},
            "notes": list(self.notes),
        }


def plan_refinement(
    question: Question,
    earlier: Earlier,
    *,
    miss_rate: Amount | None = None,
    false_alarm_rate: Amount | None = None,
    uncertain_region: RegionLike | None = None,
    max_epsilon: Amount | None = None,
    given_seen: bool = False,
) -> RefinementPlan:
    """The least level that keeps the wish, and what it costs beyond what was paid. Touches no data.

    What is left out is as in the earlier answer. `max_epsilon` alone asks for the sharpest look that it pays for.
    `given_seen`: the rates hold given everything that was seen, which costs more than asking anew.
    """
    passed = {
        "miss_rate": miss_rate,
        "false_alarm_rate": false_alarm_rate,
        "uncertain_region": uncertain_region,
        "max_epsilon": max_epsilon,
    }
    said = {name for name, value in passed.items() if value is not None} | (passed.keys() & question.options.keys())
    wished = _wished(question, earlier, passed)
    if not isinstance(given_seen, bool):
        raise ArgumentError("given_seen", given_seen, "it is True or False", "Pass True, or leave it out")
    step = step_to(question, earlier, wished, said, given_seen=given_seen)
    guarantee = earlier.release.guarantee
    if step.kind != AS_IT_IS:
        guarantee = kept_by(question, earlier, wished, step)
    if step.kind != REFINE:
        return RefinementPlan(question, earlier, wished, step, None, None, Epsilon(0), guarantee)
    cost = cost_of(question, earlier, step.shift.epsilon)
    return RefinementPlan(question, earlier, wished, step, need_of(question), cost, for_one_unit(cost), guarantee)


def _wished(question: Question, earlier: Earlier, passed: dict[str, Any]) -> Wish:
    """The options, checked; rates that nobody names stay what they were."""
    release = earlier.release
    bounds = {release.bound, release.bound.replace("_", "-")}
    then = {"bound": bounds, "mechanism": {release.mechanism}, "key": {earlier.key}}
    for name, value in question.options.items():
        if name not in passed and value not in then.get(name, ()):
            rule = f"a refinement keeps the {name} of the answer that it goes on from"
            raise ArgumentError(name, value, rule, "Leave it out of the question's text")
    written = {name: value for name, value in question.options.items() if name in passed}
    rates = dict(zip(("miss_rate", "false_alarm_rate"), earlier.rates, strict=True))
    kept = {name: rate for name, rate in rates.items() if passed[name] is None and name not in written}
    wished = wish(**{**passed, **kept}, mechanism="tslm", bound=release.bound, written=written)
    if wished.terms.free:
        name = "miss_rate" if release.bound == MISSES else "false_alarm_rate"
        raise ArgumentError(name, wished.terms.rates[0], "half or more needs no data", "Pass a rate below one half")
    wished.region.check([atom.aggregate for atom in question.atoms if atom.written])
    return wished
